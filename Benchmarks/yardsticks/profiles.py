#!/usr/bin/env python3
"""Profiles for `Benchmarks/profiles.py`, in the environment .venv.

    profiles.py make COUNT          prints signed profiles (kind 0), one line of JSON each
    profiles.py fetch URL COUNT     reads keys from standard input, one a line, and fetches their profiles

`fetch` connects, and then measures one `fetch_events` of nostr-sdk from the request until the list is there: kind 0 of
all these authors, 500 to a filter, since the relay sends 500 events to one at most. It prints one line of JSON.
"""

import asyncio
import datetime
import json
import sys
import time

from nostr_sdk import ClientBuilder, EventBuilder, Filter, Keys, Kind, PublicKey, RelayUrl, ReqTarget, Timestamp

AUTHORS = 500  # of a filter


def make(count):
    for number in range(count):
        content = json.dumps({
            "name": f"person{number}", "display_name": f"Person Number {number}", "about": "words " * 40,
            "picture": f"https://pictures.example/{number:032x}.jpg", "nip05": f"person{number}@people.example",
            "lud16": f"person{number}@wallet.example", "website": "https://people.example"})
        builder = EventBuilder(Kind(0), content).custom_created_at(Timestamp.from_secs(1_700_000_000 + number))
        print(builder.finalize(Keys.generate()).as_json())


async def fetch(url, count):
    keys = [PublicKey.parse(line.strip()) for line in sys.stdin]
    client = ClientBuilder().build()
    await client.add_relay(RelayUrl.parse(url))
    await client.try_connect(datetime.timedelta(seconds=10))
    filters = [Filter().kind(Kind(0)).authors(keys[start:start + AUTHORS]) for start in range(0, len(keys), AUTHORS)]
    start = time.perf_counter()
    events = await client.fetch_events(
        ReqTarget.auto(filters), timeout=datetime.timedelta(seconds=60), max_events=count + 1)
    seconds = time.perf_counter() - start
    if len(events) != count:
        raise SystemExit(f"profiles.py: {len(events)} profiles instead of {count}")
    print(json.dumps({"seconds": seconds}))
    await client.shutdown()


if sys.argv[1] == "make":
    make(int(sys.argv[2]))
else:
    asyncio.run(fetch(sys.argv[2], int(sys.argv[3])))
