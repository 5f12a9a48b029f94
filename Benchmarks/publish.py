"""The publish queue: events accepted in a second, each on disk before its answer, and how long one takes; and then how
long it is until the first relay has it. The yardstick is the disk's own fsync.

Where acceptance alone is measured, relays are addresses at which nobody listens. The first OK is that of a relay of
ours that says OK at once (yardsticks/canned.c), so that the time is that of planner, roostd and connector: from the
answer "accepted" until a follower of the publication (`plan.follow`) is told that the relay has it, which is when that
is written down. Beside it the same with nostr-sdk's LocalRelay, which verifies the event first.
"""

import collections
import contextlib
import itertools
import json
import os
import pathlib
import statistics
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

[worker.outbox-planner]
role = "outbox-planner"
"""
RELAYS = [f"ws://127.0.0.1:{port}" for port in (1, 2, 3)]
IN_FLIGHT = 200
LOAD = 4_000
ALONE = 300
SYNCS = 300
TOGETHER = 16  # publications under way at once, where the first OK of each is awaited
LOCAL_RELAY = f"to LocalRelay of {endtoend.YARDSTICK}"


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


@contextlib.contextmanager
def local_relay():
    """nostr-sdk's relay, empty; its URL."""
    script = measure.ROOT / "Tests" / "Peers" / "local_relay.py"
    process = subprocess.Popen(
        [endtoend.PYTHON, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.communicate()


def first_oks(client, url, lines, in_flight):
    """Milliseconds from each acceptance until its follower hears that the relay has it, so many under way at a time."""
    queue, under_way = collections.deque(json.loads(line) for line in lines), 0
    publishing, following, times = {}, {}, []
    while queue or under_way:
        while queue and under_way < in_flight and client.may_ask():
            event = queue.popleft()
            publishing[client.ask("plan.publish", {"event": event, "relays": [url]})] = event["id"]
            under_way += 1
        kind, flags, number, payload = client.next()
        if kind in (bus.ERROR, bus.FATAL):
            raise RuntimeError(payload.decode())
        if kind != bus.RESPONSE:
            continue
        if number in publishing:
            accepted = time.perf_counter()
            following[client.ask("plan.follow", {"id": publishing.pop(number)})] = accepted
        elif not flags & bus.MORE:
            under_way -= 1
        elif number in following and json.loads(payload)["targets"][0]["state"] == "confirmed":
            times.append(1000 * (time.perf_counter() - following.pop(number)))
    if following:
        raise RuntimeError(f"{len(following)} publications ended without an OK")
    return times


@contextlib.contextmanager
def planner():
    """A client of a new roostd with all that publishing needs, and the folder of its state."""
    with tempfile.TemporaryDirectory(prefix="roost-publish-") as name:
        with roostd.running(WORKERS, pathlib.Path(name) / "state") as daemon, bus.connected(daemon.socket) as client:
            for worker in ("event-store", "relay-connector", "outbox-planner"):
                client.wait_for_ready(worker)
            yield client, name


def acceptance(rounds):
    """How many are accepted in a second, and how long one takes."""
    lines = iter(events.archive_bench("make", 0, rounds * (LOAD + ALONE) + 1))
    accepted, alone, syncs = [], [], []
    with planner() as (client, folder):
        # The first one waits until the planner knows its relays.
        one_by_one(client, list(itertools.islice(lines, 1)))
        for _ in range(rounds):
            syncs += sync_milliseconds(folder)
            accepted.append(LOAD / publish_all(client, list(itertools.islice(lines, LOAD))))
            alone += one_by_one(client, list(itertools.islice(lines, ALONE)))
    yield measure.result("accepted", "outbox-planner", "events/s", accepted)
    yield measure.result("accepted", "fsyncs of the disk", "events/s", [1000 / statistics.median(syncs)])
    yield measure.result("accepted-p50", "outbox-planner", "ms", [measure.percentile(alone, 0.5)])
    yield measure.result("accepted-p50", "one fsync", "ms", [measure.percentile(syncs, 0.5)])


def delivery(rounds):
    """From accepted to the first OK, with one publication and with several under way."""
    found = collections.defaultdict(list)
    with contextlib.ExitStack() as stack:
        client, folder = stack.enter_context(planner())
        empty = stack.enter_context(tempfile.NamedTemporaryFile())
        relays = {"outbox-planner": stack.enter_context(endtoend.canned(empty.name))}
        if endtoend.has_sdk():
            relays[LOCAL_RELAY] = stack.enter_context(local_relay())
        figures = (("first-ok-p50", 1), ("first-ok-16-p50", TOGETHER))
        lines = iter(events.archive_bench("make", 0, len(relays) * (1 + rounds * len(figures) * ALONE)))
        for url in relays.values():
            first_oks(client, url, itertools.islice(lines, 1), 1)  # connects
        for _ in range(rounds):
            sync = measure.percentile(sync_milliseconds(folder), 0.5)
            for figure, in_flight in figures:
                found[figure, "one fsync"].append(sync)
                for name, url in relays.items():
                    times = first_oks(client, url, itertools.islice(lines, ALONE), in_flight)
                    found[figure, name].append(measure.percentile(times, 0.5))
    for (figure, name), times in found.items():
        yield measure.result(figure, name, "ms", times)


def run(rounds):
    """All results."""
    yield from acceptance(rounds)
    yield from delivery(rounds)
