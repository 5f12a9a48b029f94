#!/usr/bin/env python3
"""Bytes of a relay's wire for the one event in a hundred that the store lacks: by reconciliation (NIP-77), and by
paging through all.

    python3 Benchmarks/reconcile.py [--events 100000] [--products .build/release]

The relay is nostr-sdk's LocalRelay. It answers one REQ with everything, so the bytes of paging are the least that any
client needs: each event once. What the relay has sent is counted by the connector, message by message; what the
connector has sent is counted by the reconciliation itself.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
import time

import bus
import endtoend
import events
import measure
import roostd

WORKERS = """
[worker.event-store]
role = "event-store"

[worker.relay-connector]
role = "relay-connector"
ephemeral = true
"""
SHARE = 100  # one event in so many is missing


def received(client, url):
    """Bytes of all messages of the relay."""
    return next(relay["bytes"] for relay in client.call("relay.list")["relays"] if relay["relay"] == url)


def measured(client, url, method, **arguments):
    """The end of the answer, the bytes that the relay sent for it, and the seconds it took."""
    before = next((relay["bytes"] for relay in client.call("relay.list")["relays"] if relay["relay"] == url), 0)
    start = time.perf_counter()
    end = client.call(method, relay=url, **arguments)
    return end, received(client, url) - before, time.perf_counter() - start


def run(count):
    """Reconciles, then pages."""
    lines = events.archive_bench("make", 0, count)
    times = [json.loads(line)["created_at"] for line in lines]
    with tempfile.TemporaryDirectory(prefix="roost-reconcile-") as name:
        folder = pathlib.Path(name)
        (folder / "all.jsonl").write_bytes(b"\n".join(lines))
        (folder / "stored.jsonl").write_bytes(
            b"\n".join(line for number, line in enumerate(lines) if number % SHARE != SHARE // 2))
        script = measure.ROOT / "Tests" / "Peers" / "local_relay.py"
        relay = subprocess.Popen(
            [endtoend.PYTHON, script, folder / "all.jsonl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            url = relay.stdout.readline().strip()
            with roostd.running(WORKERS, folder / "state") as daemon, bus.connected(daemon.socket) as client:
                for worker in ("event-store", "relay-connector"):
                    client.wait_for_ready(worker)
                subprocess.run(
                    [measure.PRODUCTS / "roost", "import", folder / "stored.jsonl", "--socket", daemon.socket],
                    check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                stored = client.call("store.count", filters=[{}])["count"]
                result, synced, seconds = measured(
                    client, url, "relay.reconcile", filter={}, since=min(times), until=max(times))
                if result["end"] != "complete":
                    raise RuntimeError(f"the reconciliation ended as {result}")
                counts = result["counts"]
                now = client.call("store.count", filters=[{}])["count"]
                if now != stored + counts["fetched"] or counts["unavailable"]:
                    raise RuntimeError(f"{stored} events and then {now}: {counts}")
                end, paged, paging = measured(client, url, "relay.request", filters=[{}])
        finally:
            relay.terminate()
            relay.communicate()
    yield f"{end['events']} events at the relay, {stored} in the store, {counts['fetched']} came"
    sent = counts["sentBytes"]
    yield f"reconciled  {synced + sent:>12,} bytes, of them {sent:,} sent  {seconds:.1f} s"
    yield f"paged       {paged:>12,} bytes  {paging:.1f} s"
    yield f"share       {100 * (synced + sent) / paged:.2f} %"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--products", type=pathlib.Path, default=measure.PRODUCTS, help="the folder of the programs")
    options = parser.parse_args()
    measure.PRODUCTS = options.products.resolve()
    for line in run(options.events):
        print(line, flush=True)


if __name__ == "__main__":
    main()
