#!/usr/bin/env python3
"""What nostr-sdk takes to page through a relay: `page.py URL COUNT [DIRECTORY]`, in the environment .venv.

A loop of `fetch_events` of kind 1, each with the oldest second of the page before as `until`, until a page brings
nothing new. The client verifies each event. With a directory it also writes each to its database there, LMDB, which the
Python package calls by way of Python. Prints one line of JSON: seconds from the first request to the last answer,
processor seconds, the most private memory in bytes, and the number of requests.
"""

import asyncio
import datetime
import json
import pathlib
import sys
import threading
import time

from nostr_sdk import ClientBuilder, Filter, Kind, NostrLmdb, RelayUrl, ReqTarget, nostr_sdk

PAGE = 500


class Memory(threading.Thread):
    """Looks at this process's private memory ten times a second."""

    def __init__(self):
        super().__init__(daemon=True)
        self.most = 0

    def look(self):
        rollup = pathlib.Path("/proc/self/smaps_rollup").read_text(encoding="ascii")
        self.most = max(self.most, 1024 * sum(
            int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Private_")))

    def run(self):
        while True:
            self.look()
            time.sleep(0.1)


async def paged(client):
    """The ids of everything, and how many requests it took."""
    ids, requests, until = set(), 0, None
    while True:
        wanted = Filter().kind(Kind(1)).limit(PAGE)
        if until is not None:
            wanted = wanted.until(until)
        events = await client.fetch_events(ReqTarget.auto([wanted]), timeout=datetime.timedelta(seconds=60))
        requests += 1
        known = len(ids)
        ids.update(event.id().to_hex() for event in events)
        if len(ids) == known:
            return ids, requests
        until = min((event.created_at() for event in events), key=lambda time: time.as_secs())


async def main():
    url, count, directory = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    builder = ClientBuilder()
    if directory:
        # Without this a callback from the library's own threads finds no loop.
        nostr_sdk.uniffi_set_event_loop(asyncio.get_running_loop())
        builder = builder.database(await NostrLmdb.open(directory[0]))
    client = builder.build()
    await client.add_relay(RelayUrl.parse(url))
    await client.try_connect(datetime.timedelta(seconds=10))
    memory = Memory()
    memory.start()
    start, used = time.perf_counter(), time.process_time()
    ids, requests = await paged(client)
    seconds, used = time.perf_counter() - start, time.process_time() - used
    memory.look()
    kept = await client.database().count(Filter().kind(Kind(1))) if directory else count
    if len(ids) != count or kept != count:
        raise SystemExit(f"page.py: {len(ids)} events came and {kept} are kept, instead of {count}")
    print(json.dumps({"seconds": seconds, "cpuSeconds": used, "memory": memory.most, "requests": requests}))
    await client.shutdown()


asyncio.run(main())
