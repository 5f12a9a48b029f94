#!/usr/bin/env python3
"""Runs nostr-sdk's LocalRelay on 127.0.0.1, on a free port unless told one, until standard input ends.

    local_relay.py [--port PORT] [EVENTS.jsonl]

Prints one line, the relay's URL, once it takes connections and the events of the file, one JSON object a line, are in it.
A peer for the tests: a relay by other people, with other people's reading of the NIPs.
"""

import argparse
import asyncio
import sys

from nostr_sdk import Client, Event, LocalRelayBuilder, RateLimit, RelayUrl, nostr_sdk


async def load(url, path):
    """Publishes the file's events through a client of the same library, as anybody would."""
    client = Client()
    await client.add_relay(RelayUrl.parse(url))
    await client.connect()
    refused = 0
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            output = await client.send_event(Event.from_json(line))
            refused += 1 if output.failed else 0
    await client.disconnect()
    if refused:
        print(f"the relay refused {refused} events (expired, replaced, deleted)", file=sys.stderr)


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int)
    parser.add_argument("events", nargs="?")
    arguments = parser.parse_args()
    # Without this a callback from the library's own threads finds no loop.
    nostr_sdk.uniffi_set_event_loop(asyncio.get_running_loop())
    # By default it takes 60 events a minute.
    limit = RateLimit(max_reqs=500, notes_per_minute=1_000_000)
    builder = LocalRelayBuilder().addr("127.0.0.1").rate_limit(limit).max_filter_limit(100_000).default_filter_limit(100_000)
    if arguments.port:
        builder = builder.port(arguments.port)
    relay = builder.build()
    await relay.run()
    url = str(await relay.url())
    if arguments.events:
        await load(url, arguments.events)
    print(url, flush=True)
    await asyncio.to_thread(sys.stdin.read)
    relay.shutdown()


asyncio.run(main())
