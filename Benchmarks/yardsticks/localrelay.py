#!/usr/bin/env python3
"""Runs nostr-sdk's LocalRelay on a free port of 127.0.0.1 until standard input ends; prints its URL.

With its own database in memory, as it comes by default. Only its rate limit is lifted, which would be 60 events a
minute.
"""

import asyncio
import sys

from nostr_sdk import LocalRelayBuilder, RateLimit


async def main():
    limit = RateLimit(max_reqs=100_000, notes_per_minute=100_000_000)
    relay = LocalRelayBuilder().addr("127.0.0.1").rate_limit(limit).build()
    await relay.run()
    print(await relay.url(), flush=True)
    await asyncio.to_thread(sys.stdin.read)
    relay.shutdown()


asyncio.run(main())
