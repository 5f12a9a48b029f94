#!/usr/bin/env python3
"""Runs nostr-sdk's LocalRelay on 127.0.0.1, on a free port unless told one, until Ctrl-C or the
end of standard input.

    local_relay.py [--port PORT] [--auth read|write|both] [--cap EVENTS] [EVENTS.jsonl]

With --cap it sends so many events, at most, to one filter; without, all that match.

Prints one line, the relay's URL, once it takes connections and the events of the file, one JSON object a line, are in
it. A peer for the tests: a relay by other people, with other people's reading of the NIPs.
"""

import argparse
import asyncio
import os
import signal
import sys
import threading

from nostr_sdk import (
    DatabaseEventStatus, Event, LocalRelayBuilder, LocalRelayBuilderNip42, LocalRelayBuilderNip42Mode, NostrDatabase,
    NostrDatabaseFeatures, RateLimit, RejectedReason, SaveEventStatus, nostr_sdk,
)

# The relay gives this limit to a filter without one, and to one with a higher one: its builder's limits only lower it.
RELAY_LIMIT = 500


class Memory(NostrDatabase):
    """Every event, as it came: nothing is replaced or deleted. But the relay in front refuses what has expired, and
    does not give out what has expired in here (NIP-40).

    A query with the relay's own limit gives all that match, which the relay passes on: only so does it serve more than
    500 events to one filter. A smaller limit is the client's, and holds.
    """

    def __init__(self, cap=None):
        self.events = {}  # by id, as hexadecimal text
        self.cap = cap

    def backend(self):
        return "memory of local_relay.py"

    def features(self):
        return NostrDatabaseFeatures(
            persistent=False, event_expiration=False, full_text_search=False, request_to_vanish=False)

    async def save_event(self, event):
        id = event.id().to_hex()
        if id in self.events:
            return SaveEventStatus.rejected(RejectedReason.DUPLICATE)
        self.events[id] = event
        return SaveEventStatus.success()

    async def check_id(self, event_id):
        return DatabaseEventStatus.SAVED if event_id.to_hex() in self.events else DatabaseEventStatus.NOT_EXISTENT

    async def event_by_id(self, event_id):
        return self.events.get(event_id.to_hex())

    async def count(self, filter):
        return len(await self.query(filter))

    async def query(self, filter):
        """The newest first; of one second, the lower id (NIP-01)."""
        limit = filter.as_record().limit
        found = [event for event in self.events.values() if filter.match_event(event)]
        found.sort(key=lambda event: (-event.created_at().as_secs(), event.id().to_hex()))
        if limit is not None and limit < RELAY_LIMIT:
            return found[: min(limit, self.cap or limit)]
        return found[: self.cap]

    async def delete_events(self, filter):
        for event in await self.query(filter):
            del self.events[event.id().to_hex()]

    async def wipe(self):
        self.events.clear()


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int)
    parser.add_argument("--auth", choices=["read", "write", "both"])
    parser.add_argument("--cap", type=int)
    parser.add_argument("events", nargs="?")
    arguments = parser.parse_args()
    # Without this a callback from the library's own threads finds no loop.
    nostr_sdk.uniffi_set_event_loop(asyncio.get_running_loop())
    memory = Memory(arguments.cap)
    if arguments.events:
        with open(arguments.events, encoding="utf-8") as lines:
            for line in lines:
                await memory.save_event(Event.from_json(line))
    builder = LocalRelayBuilder().addr("127.0.0.1").database(memory)
    # By default it takes 60 events a minute.
    builder = builder.rate_limit(RateLimit(max_reqs=500, notes_per_minute=1_000_000))
    if arguments.auth:
        builder = builder.nip42(LocalRelayBuilderNip42(mode=LocalRelayBuilderNip42Mode[arguments.auth.upper()]))
    if arguments.port:
        builder = builder.port(arguments.port)
    relay = builder.build()
    await relay.run()
    print(await relay.url(), flush=True)
    # Ctrl-C is an end like any other. A thread that waits for standard input cannot be awaited then, nor asked to stop.
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    threading.Thread(target=lambda: (sys.stdin.read(), loop.call_soon_threadsafe(ended.set)), daemon=True).start()
    await ended.wait()
    relay.shutdown()
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main())
