"""The store behind the bus: what is taken in a second, how long one's own event takes beside a backfill, how long a
question takes among a million events, what listeners cost, how fast what is stored is given, and memory. The yardsticks
are loops in C over the same verification library, and SQLite asked directly."""

import collections
import contextlib
import itertools
import json
import os
import pathlib
import statistics
import struct
import subprocess
import tempfile
import time

import bus
import events
import measure
import questions
import roostd

WORKER = """
[worker.event-store]
role = "event-store"
"""
RECORD = struct.Struct("<B3xIIIQ")  # kind, relay, subscription, bytes, nanoseconds
RUN = 1_000  # events to a request
LOAD = 20_000
PUBLISHED, PUBLISH_PAUSE = 300, 0.002
QUESTIONS = 200
FILTERS, OBSERVED = 1_000, 5_000
OUTCOME_BYTES = 16  # of one that is not invalid


def runs(lines):
    """The payloads of store.import for these events."""
    for start in range(0, len(lines), RUN):
        yield b"".join(RECORD.pack(0, 0, 0, len(line), 1) + line for line in lines[start:start + RUN])


def import_all(client, lines):
    """Sends events as fast as credit allows; the answers added up."""
    total, waiting = collections.Counter(), 0
    queue = collections.deque(runs(lines))
    while queue or waiting:
        while queue and client.may_ask():
            client.ask("store.import", queue.popleft(), raw=True)
            waiting += 1
        kind, flags, _, payload = client.next()
        if kind in (bus.ERROR, bus.FATAL):
            raise RuntimeError(payload.decode())
        if kind == bus.RESPONSE and not flags & bus.MORE:
            waiting -= 1
            total.update({name: value for name, value in json.loads(payload).items() if isinstance(value, int)})
    if total["stored"] != len(lines):
        raise RuntimeError(f"not all was stored: {dict(total)}")


@contextlib.contextmanager
def store(state=None):
    """A roostd with an event-store, empty or in a directory that outlives it; a client of it, and the store's pid."""
    with roostd.running(WORKER, state) as daemon, bus.connected(daemon.socket) as client:
        client.wait_for_ready("event-store")
        yield daemon, client, roostd.child_named(daemon.pid, "event-store")


def timed(action):
    """Seconds an action takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def verify_on_two_cores(path):
    """Signatures a second that two processes in C verify: what nothing that checks them all can exceed."""
    command = [measure.YARDSTICKS / "verify", path, "1"]
    with contextlib.ExitStack() as stack:
        processes = [stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE)) for _ in range(2)]
        answers = [json.loads(process.communicate()[0]) for process in processes]
    return sum(1e9 / statistics.median(answer["verify"]) for answer in answers)


@contextlib.contextmanager
def importing(daemon, lines):
    """Another process that sends these meanwhile; yields a function that tells whether it is done."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            with bus.connected(daemon.socket) as client:
                import_all(client, lines)
            status = 0
        finally:
            os._exit(status)
    ended = []

    def is_done(options=os.WNOHANG):
        if not ended:
            pid, status = os.waitpid(child, options)
            if pid:
                ended.append(status)
                if status:
                    raise RuntimeError("the backfill failed")
        return bool(ended)

    try:
        yield is_done
    finally:
        is_done(0)


def publish(daemon, client, lines, bulk):
    """Milliseconds of each of one's own events, one after another, while a backfill runs; of all, if there is none."""
    latencies = []
    with importing(daemon, bulk) if bulk else contextlib.nullcontext(lambda: False) as is_done:
        for line in lines:
            latencies.append(1000 * timed(lambda: client.exchange("store.publish", line)))
            if is_done():
                break
            time.sleep(PUBLISH_PAUSE)
    return latencies


def observe(daemon, client, lines):
    """Seconds from the first event sent until the last was delivered to the last of 1,000 listeners; the deliveries."""
    sent = [json.loads(line) for line in lines]
    authors = sorted({event["pubkey"] for event in sent})[:400]
    mentioned = sorted({tag[1] for event in sent for tag in event["tags"] if tag[0] == "p"})[:300]
    topics = [f"topic{number}" for number in range(300)]
    wanted = [*({"authors": [author], "kinds": [1]} for author in authors), *({"#p": [key]} for key in mentioned),
              *({"#t": [topic]} for topic in topics)]
    if len(wanted) != FILTERS:
        raise RuntimeError(f"{len(wanted)} filters")
    values = collections.Counter(
        itertools.chain.from_iterable((event["pubkey"], *(tag[1] for tag in event["tags"])) for event in sent))
    expected = sum(values[value] for value in (*authors, *mentioned, *topics))
    asked, ends, delivered = 0, 0, 0
    while ends < FILTERS:
        while asked < FILTERS and client.may_ask():
            client.ask("store.observe", {"filters": [{**wanted[asked], "limit": 0}]})
            asked += 1
        ends += b"isStoredEnd" in client.next()[3]
    start = time.perf_counter()
    with importing(daemon, lines):
        while delivered < expected:
            kind, flags, _, _ = client.next()
            delivered += kind == bus.RESPONSE and flags & bus.MORE
        seconds = time.perf_counter() - start
    return seconds, delivered


def delivered_stored(rounds, daemon, stored):
    """What is stored, to one reader that asks for everything: events a second, in single parts and in pages."""
    count = min(stored, 100_000)
    for name, flags in (("single parts", []), ("pages", ["--pages"])):
        rates = []
        for _ in range(rounds):
            start = time.monotonic_ns()
            command = [measure.YARDSTICKS / "observe", *flags, "{}", str(count), daemon.socket]
            end = int(subprocess.run(command, check=True, capture_output=True, timeout=120).stdout.split()[-1])
            rates.append(count * 1e9 / (end - start))
        yield measure.result("stored-delivery", name, "events/s", rates)


def offer(client, run):
    """Offers a run of events; all of them must be new."""
    number = client.ask("store.offer", b"".join(struct.pack("<I", len(line)) + line for line in run), raw=True)
    while True:
        kind, _, answered, payload = client.next()
        if answered == number and kind == bus.RESPONSE:
            if any(payload[place] for place in range(0, len(payload), OUTCOME_BYTES)):
                raise RuntimeError("not all was stored")
            return
        if kind in (bus.ERROR, bus.FATAL):
            raise RuntimeError(payload.decode())


def offered(rounds, client):
    """Events of one's own stored in a second, each answered for: 64 in a run, and one after another."""
    for name, size, count in (("64 in a run", 64, 19_200), ("one in a run", 1, 3_000)):
        rates = []
        for _ in range(rounds):
            lines = events.archive_bench("make", 0, count)
            runs = [lines[start:start + size] for start in range(0, count, size)]
            rates.append(count / timed(lambda runs=runs: [offer(client, run) for run in runs]))
        yield measure.result("offer", name, "events/s", rates)


def private_mebibytes(pid):
    """Memory that only this process has."""
    rollup = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    return sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Private_")) / 1024


def run(rounds, stored):
    """All results; `stored` is how many events the large store has at first."""
    with tempfile.TemporaryDirectory(prefix="roost-gate-") as name:
        folder = pathlib.Path(name)
        database = folder / "state" / "event-store" / "events.db"
        database.parent.mkdir(parents=True)
        events.archive_bench("fill", database, stored)
        plain = questions.PlainSQLite(folder / "plain.db", database)
        lines = events.archive_bench("make", stored, (2 * rounds + 1) * LOAD)
        loads = [lines[start:start + LOAD] for start in range(0, len(lines), LOAD)]
        signed = folder / "signed.jsonl"
        signed.write_bytes(b"\n".join(loads[-1]) + b"\n")
        with store(folder / "state") as (daemon, client, pid):
            yield from questions.run(client, plain, questions.sample(client, stored), QUESTIONS)
            yield from delivered_stored(rounds, daemon, stored)
            yield from taken(rounds, client, loads, signed)
            yield measure.result("store-memory", "event-store", "MiB", [private_mebibytes(pid)])
        with store() as (daemon, client, _):
            yield from published(rounds, daemon, client)
        with store() as (_, client, _):
            yield from offered(rounds, client)
        yield from listened(rounds)


def taken(rounds, large, loads, signed):
    """What is stored in a second: in a store of its own each time, and in the large one."""
    empty, full, in_c = [], [], []
    for number in range(rounds):
        in_c.append(verify_on_two_cores(signed))
        with store() as (_, small, _):
            empty.append(LOAD / timed(lambda: import_all(small, loads[2 * number])))
        full.append(LOAD / timed(lambda: import_all(large, loads[2 * number + 1])))
    yield measure.result("ingest", "event-store", "events/s", empty)
    yield measure.result("ingest", "signatures in C, two cores", "events/s", in_c)
    yield measure.result("ingest-full", "event-store", "events/s", full)
    yield measure.result("ingest-full", "empty event-store", "events/s", empty)


def published(rounds, daemon, client):
    """How long one's own event takes, alone and beside a backfill."""
    alone, beside = [], []
    for _ in range(rounds):
        lines = events.archive_bench("make", 0, LOAD + 2 * PUBLISHED)
        beside += publish(daemon, client, lines[:PUBLISHED], lines[2 * PUBLISHED:])
        alone += publish(daemon, client, lines[PUBLISHED:2 * PUBLISHED], [])
    for share, figure in ((0.5, "publish-p50"), (0.99, "publish-p99")):
        yield measure.result(figure, "beside a backfill", "ms", [measure.percentile(beside, share)], count=len(beside))
        yield measure.result(figure, "alone", "ms", [measure.percentile(alone, share)], count=len(alone))


def listened(rounds):
    """What is stored in a second while a thousand filters are observed, and while none is; and what is delivered."""
    with_all, with_none, deliveries = [], [], []
    for _ in range(rounds):
        lines = events.archive_bench("make", 0, 2 * OBSERVED)
        with store() as (daemon, client, _):
            with_none.append(OBSERVED / timed(lambda: import_all(client, lines[OBSERVED:])))
            seconds, delivered = observe(daemon, client, lines[:OBSERVED])
            with_all.append(OBSERVED / seconds)
            deliveries.append(delivered / seconds)
    yield measure.result("fan-out", "1,000 filters", "events/s", with_all)
    yield measure.result("fan-out", "no filter", "events/s", with_none)
    yield measure.result("deliveries", "1,000 filters", "events/s", deliveries)
