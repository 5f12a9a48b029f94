"""The publish queue: events accepted in a second, each on disk before its answer, and how long one takes; the yardstick
is the disk's own fsync. Relays are addresses at which nobody listens, so that acceptance alone is measured."""

import itertools
import json
import os
import pathlib
import statistics
import tempfile
import time

import bus
import events
import measure
import roostd

WORKERS = """
[worker.event-store]
role = "event-store"

[worker.relay-connector]
role = "relay-connector"
ephemeral = true

[worker.outbox-planner]
role = "outbox-planner"
"""
RELAYS = [f"ws://127.0.0.1:{port}" for port in (1, 2, 3)]
IN_FLIGHT = 200
LOAD = 4_000
ALONE = 300
SYNCS = 300


def sync_milliseconds(folder):
    """How long the disk takes to make 4 KiB safe, each time, in a file that does not grow: a log that is used again."""
    path = pathlib.Path(folder) / "sync"
    times = []
    with path.open("wb", buffering=0) as file:
        file.write(bytes(4_096 * SYNCS))
        os.fsync(file.fileno())
        file.seek(0)
        for number in range(SYNCS):
            start = time.perf_counter()
            file.write(number.to_bytes(2, "little") * 2_048)
            os.fdatasync(file.fileno())
            times.append(1000 * (time.perf_counter() - start))
    return times


def publish_all(client, lines):
    """Seconds until all were accepted, so many asked for at a time."""
    queue = iter(lines)
    waiting, accepted = 0, 0
    start = time.perf_counter()
    while accepted < len(lines):
        while waiting < IN_FLIGHT and client.may_ask():
            line = next(queue, None)
            if line is None:
                break
            client.ask("plan.publish", {"event": json.loads(line), "relays": RELAYS})
            waiting += 1
        kind, _, _, payload = client.next()
        if kind in (bus.ERROR, bus.FATAL):
            raise RuntimeError(payload.decode())
        if kind == bus.RESPONSE:
            waiting -= 1
            accepted += 1
    return time.perf_counter() - start


def one_by_one(client, lines):
    """Milliseconds of each acceptance, one after another."""
    times = []
    for line in lines:
        start = time.perf_counter()
        client.exchange("plan.publish", json.dumps({"event": json.loads(line), "relays": RELAYS}).encode())
        times.append(1000 * (time.perf_counter() - start))
    return times


def run(rounds):
    """All results."""
    lines = iter(events.archive_bench("make", 0, rounds * (LOAD + ALONE) + 1))
    accepted, alone, syncs = [], [], []
    with tempfile.TemporaryDirectory(prefix="roost-publish-") as name:
        with roostd.running(WORKERS, pathlib.Path(name) / "state") as daemon, bus.connected(daemon.socket) as client:
            for worker in ("event-store", "relay-connector", "outbox-planner"):
                client.wait_for_ready(worker)
            # The first one waits until the planner knows its relays.
            one_by_one(client, list(itertools.islice(lines, 1)))
            for _ in range(rounds):
                syncs += sync_milliseconds(name)
                accepted.append(LOAD / publish_all(client, list(itertools.islice(lines, LOAD))))
                alone += one_by_one(client, list(itertools.islice(lines, ALONE)))
    yield measure.result("accepted", "outbox-planner", "events/s", accepted)
    yield measure.result("accepted", "fsyncs of the disk", "events/s", [1000 / statistics.median(syncs)])
    yield measure.result("accepted-p50", "outbox-planner", "ms", [measure.percentile(alone, 0.5)])
    yield measure.result("accepted-p50", "one fsync", "ms", [measure.percentile(syncs, 0.5)])
