#!/usr/bin/env python3
"""What nostr-sdk takes to have a relay's events in memory, verified: `fetch.py URL COUNT`, in the environment .venv.

Connects, and then measures one `fetch_events` of kind 1 from the request until the list is there. Prints one line of
JSON.
"""

import asyncio
import datetime
import json
import sys
import time

from nostr_sdk import Client, ClientBuilder, Filter, Kind, RelayUrl, ReqTarget


async def main():
    url, count = sys.argv[1], int(sys.argv[2])
    client = ClientBuilder().build()
    await client.add_relay(RelayUrl.parse(url))
    await client.try_connect(datetime.timedelta(seconds=10))
    start, used = time.perf_counter(), time.process_time()
    events = await client.fetch_events(
        ReqTarget.auto([Filter().kind(Kind(1))]), timeout=datetime.timedelta(seconds=60), max_events=count + 1)
    seconds, used = time.perf_counter() - start, time.process_time() - used
    if len(events) != count:
        raise SystemExit(f"fetch.py: {len(events)} events instead of {count}")
    print(json.dumps({"seconds": seconds, "cpuSeconds": used}))
    await client.shutdown()


asyncio.run(main())
