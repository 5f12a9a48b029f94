#!/usr/bin/env python3
"""Has nostr-sdk's own client fetch events from relays by NIP-77 into its own database, for `mirror_world.py --sync`.

    .venv/bin/python3 Benchmarks/nostr_sdk_sync.py [--by sync|ids] [--database lmdb|memory] < JOB.json

A process of its own: the library calls back from its own threads, and needs a loop that is set before anything of it is
made. JOB.json: {"secret": HEX, "folder": PATH, "filters": {CLASS: FILTER}, "relays": {CLASS: [URL]}}.

`sync` of nostr-sdk 0.45.1 takes the first hundred events that a relay has more, and fails at the next with
"subscription ID already exists". So it is called until it brings nothing new; but it also leaves comparisons open, and
some relays refuse further ones ("too many negentropy subscriptions"). With `--by ids` each relay is compared
once (a dry run), and what it has more is fetched by id, a hundred at once. A relay that fails in another way, as by not
answering, is not asked again.

One line of JSON comes out: {"seconds": S, "calls": N, "classes": {CLASS: [ID]}, "failed": {URL: WORDS}}. The seconds
are those of comparing and fetching; connecting and authenticating are not counted.
"""

import argparse
import asyncio
import json
import os
import pathlib
import sys
import time
from datetime import timedelta

import nostr_sdk

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "Tests" / "Peers"))
PASSING = "subscription ID already exists"
AT_ONCE = 100  # ids in one request
PATIENCE = timedelta(seconds=10)


class Fetcher:
    """A client, and what it does for one class after the other."""

    def __init__(self, client, database):
        self.client, self.database = client, database
        self.calls = 0

    async def compare(self, wanted, urls, is_dry):
        """One call of `sync`."""
        self.calls += 1
        options = nostr_sdk.SyncOptions().direction(nostr_sdk.SyncDirection.DOWN)
        return await self.client.sync(wanted, urls, options.dry_run() if is_dry else options)

    async def synchronise(self, wanted, urls):
        """Calls `sync` until nothing new comes; the relays that failed, with the words."""
        failed, before = {}, -1
        while urls and (now := len(await self.database.query(wanted))) > before:
            before = now
            output = await self.compare(wanted, urls, False)
            new = {str(url): words for url, words in output.failed.items() if words != PASSING}
            failed |= new
            urls = [url for url in urls if str(url) not in new]
        return failed

    async def fetch_by_id(self, wanted, urls):
        """Compares each relay once, and fetches what it has more; the relays that failed, with the words."""
        outputs = await asyncio.gather(*(self.compare(wanted, [url], True) for url in urls))
        missing = {}
        for url, output in zip(urls, outputs):
            for id in output.report.remote:
                missing.setdefault(id.to_hex(), (url, id))
        for url in urls:
            ids = [id for _, (place, id) in sorted(missing.items()) if place == url]
            for start in range(0, len(ids), AT_ONCE):
                self.calls += 1
                # What is fetched is stored in the client's database.
                some = nostr_sdk.Filter().ids(ids[start:start + AT_ONCE])
                await self.client.fetch_events(nostr_sdk.ReqTarget.single(url, [some]), timeout=PATIENCE)
        return {str(url): words for output in outputs for url, words in output.failed.items()}


async def synchronised(job, options):
    """What the job asks for."""
    nostr_sdk.uniffi_set_event_loop(asyncio.get_running_loop())
    if options.database == "lmdb":
        database = await nostr_sdk.NostrLmdb.open(str(pathlib.Path(job["folder"]) / f"lmdb-{options.by}"))
    else:
        from local_relay import Memory
        database = Memory()
    keys = nostr_sdk.Keys.parse(job["secret"])
    client = (nostr_sdk.ClientBuilder().authenticator(nostr_sdk.SignerAuthenticator(keys))
              .database(database).build())
    relays = {kind: [nostr_sdk.RelayUrl.parse(url) for url in urls] for kind, urls in job["relays"].items()}
    for url in sorted({url for urls in job["relays"].values() for url in urls}):
        await client.add_relay(nostr_sdk.RelayUrl.parse(url))
    await client.connect()
    # `sync` authenticates nowhere; a subscription does.
    target = nostr_sdk.ReqTarget.auto([nostr_sdk.Filter().author(keys.public_key()).kind(nostr_sdk.Kind(3)).limit(1)])
    await client.fetch_events(target, timeout=timedelta(seconds=3))
    fetcher, begin = Fetcher(client, database), time.monotonic()
    filters = {kind: nostr_sdk.Filter.from_json(json.dumps(wanted)) for kind, wanted in job["filters"].items()}
    way = fetcher.synchronise if options.by == "sync" else fetcher.fetch_by_id
    failed = {}
    for kind, wanted in filters.items():
        failed |= await way(wanted, [url for url in relays[kind] if str(url) not in failed])
    seconds = time.monotonic() - begin
    classes = {kind: [event.id().to_hex() for event in await database.query(wanted)]
               for kind, wanted in filters.items()}
    return {"seconds": seconds, "calls": fetcher.calls, "classes": classes, "failed": failed}


async def told(job, options):
    """Prints what came of the job, and ends."""
    print(json.dumps(await synchronised(job, options)), flush=True)
    # The library's threads still call back while a loop or the interpreter ends, which crashes now and then.
    os._exit(0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--by", choices=("sync", "ids"), default="sync")
    parser.add_argument("--database", choices=("lmdb", "memory"), default="lmdb")
    options = parser.parse_args()
    asyncio.run(told(json.load(sys.stdin), options))


if __name__ == "__main__":
    main()
