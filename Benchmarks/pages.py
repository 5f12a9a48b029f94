"""Stored events page by page: a relay of ours that sends at most 500 events to a filter (yardsticks/canned.c), and a
connector that has to page; what many quiet relays cost; and what the connector's machines and the store's coverage
take.

The time of paging is that from the planner's wish until the connector reports it as stored, which is when the last
event is verified and committed. The yardstick is nostr-sdk, in its Python package, in a loop of `until`: it verifies,
and keeps nothing. (With its LMDB, which that package calls by way of Python, it takes minutes.)
"""

import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

import bus
import endtoend
import events
import gate
import idle
import measure
import roostd

COUNT, CAP = 20_000, 500
FAR = 50  # milliseconds to the first event, of a relay that is far away
AT_ONCE = (1, 4, 8)
SINGLES = 100  # interests of one author each
QUIET, SPACING = 200, 0.1
WORKERS = ("event-store", "relay-connector")
SIGNED = measure.ROOT / "Tests" / "Peers" / "events.jsonl"


class Memory(threading.Thread):
    """The most private memory of some processes together, megabytes."""

    def __init__(self, pids):
        super().__init__(daemon=True)
        self.pids, self.most, self.is_over = pids, 0.0, threading.Event()

    def run(self):
        while not self.is_over.wait(0.1):
            self.most = max(self.most, sum(map(gate.private_mebibytes, self.pids)) * 1.048576)

    def end(self):
        """Megabytes."""
        self.is_over.set()
        self.join()
        return self.most


@contextlib.contextmanager
def planned(url, keys=""):
    """A roostd with store and connector, whose planner this is: daemon, client, planner."""
    settings = endtoend.connector([url] if isinstance(url, str) else url) + keys + endtoend.PLANNER
    with roostd.running(gate.WORKER + settings) as daemon, bus.connected(daemon.socket) as client:
        for worker in WORKERS:
            client.wait_for_ready(worker)
        with endtoend.attached(daemon, client) as planner:
            yield daemon, client, planner


def desire(planner, version, wishes, base=None):
    """Adds wishes, or sends all of them."""
    more = {"base": base} if base is not None else {}
    planner.call("relay.desire", generation=1, version=version, changed=wishes, removed=[], **more)


def wait_until_stored(daemon, keys, timeout=300):
    """Waits until the connector reports all of these as stored; pages that ended."""
    waiting, pages = set(keys), {}
    with bus.connected(daemon.socket) as follower:
        follower.socket.settimeout(timeout)
        number = follower.ask("relay.follow", {})
        while waiting:
            kind, flags, answered, payload = follower.next()
            if kind in (bus.ERROR, bus.FATAL):
                raise RuntimeError(payload.decode())
            if kind != bus.RESPONSE or answered != number or not flags & bus.MORE:
                continue
            for report in json.loads(payload)["requests"]:
                if report["state"] == "refused":
                    raise RuntimeError(f"{report['key']} is refused: {report.get('reason')}")
                if report["state"] == "stored":
                    waiting.discard(report["key"])
                    pages[report["key"]] = report.get("pages", 0)
        return sum(pages.values())


def paged(url, filter_lists, keys=""):
    """Seconds until everything is stored, processor seconds, most private memory, and pages."""
    with planned(url, keys) as (daemon, client, planner):
        endtoend.wait_for_relays(client, 1)
        pids = [daemon.pid, *(roostd.child_named(daemon.pid, worker) for worker in WORKERS)]
        memory = Memory(pids)
        memory.start()
        before = sum(map(measure.cpu_seconds, pids))
        start = time.monotonic()
        wishes = [{"key": f"bench-{number}", "relay": url, "filters": filters, "isLive": False, "stored": "all"}
                  for number, filters in enumerate(filter_lists)]
        desire(planner, 1, wishes)
        pages = wait_until_stored(daemon, [wish["key"] for wish in wishes])
        seconds = time.monotonic() - start
        used = sum(map(measure.cpu_seconds, pids)) - before
        return seconds, used, memory.end(), pages, client.call("store.count", filters=[{"kinds": [1]}])["count"]


def ours(url):
    """Everything by one filter."""
    seconds, used, memory, _, count = paged(url, [[{"kinds": [1]}]])
    if count != COUNT:
        raise RuntimeError(f"{count} events were stored, not {COUNT}")
    return seconds, used, memory


def theirs(url):
    """The same by nostr-sdk, kept nowhere."""
    command = [endtoend.PYTHON, measure.ROOT / "Benchmarks" / "yardsticks" / "page.py", url, str(COUNT)]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True, timeout=600).stdout)
    return answer["seconds"], answer["cpuSeconds"], answer["memory"] / 1e6


def compared(url, rounds):
    """Both in turn."""
    sides = {"roostd and workers": ours}
    if endtoend.has_sdk():
        sides[endtoend.YARDSTICK] = theirs
    else:
        print(f"skipped: {endtoend.YARDSTICK}: not in .venv (Scripts/python-environment.sh)", file=sys.stderr)
    found = {name: [] for name in sides}
    for _ in range(rounds):
        for name, side in sides.items():
            found[name].append(side(url))
    for name, times in found.items():
        yield measure.result("paged", name, "events/s", [COUNT / seconds for seconds, _, _ in times])
        yield measure.result("paged-cpu", name, "events/CPU s", [COUNT / used for _, used, _ in times])
        yield measure.result("paged-memory", name, "MB", [memory for _, _, memory in times])


def by_author(url, authors, rounds):
    """A thousand authors at a relay that is far away, with so many pages at a time; and authors one by one."""
    eight = [{"authors": authors[number::8], "kinds": [1]} for number in range(8)]
    for figure, filters in (("paged-authors", [{"authors": authors, "kinds": [1]}]), ("paged-authors-8", eight)):
        rates = {at_once: [] for at_once in AT_ONCE}
        for _ in range(rounds):
            for at_once, found in rates.items():
                seconds, _, _, _, count = paged(url, [filters], f"pages-at-once = {at_once}\n")
                if count != COUNT:
                    raise RuntimeError(f"{count} events were stored, not {COUNT}")
                found.append(COUNT / seconds)
        for at_once, found in rates.items():
            yield measure.result(figure, f"{at_once} at once", "events/s", found)
    seconds, _, _, pages, _ = paged(url, [[{"authors": [author], "kinds": [1]}] for author in authors[:SINGLES]])
    yield measure.result("paged-singles", "roostd and workers", "REQ/s", [pages / seconds], authors=SINGLES)


def quiet(url, seconds):
    """Many relays that say nothing, connected one after another, each with a live subscription."""
    urls = [f"{url}/{number}" for number in range(QUIET)]
    with planned(urls, 'connect = "on-demand"\n') as (daemon, client, planner):
        keys = []
        for number, relay in enumerate(urls, start=1):
            keys.append(f"quiet-{number}")
            desire(planner, number, [{"key": keys[-1], "relay": relay, "filters": [{"kinds": [7]}], "isLive": True}],
                   base=number - 1 if number > 1 else None)
            time.sleep(SPACING)
        wait_until_stored(daemon, keys)
        endtoend.wait_for_relays(client, QUIET)
        family = {"roostd": daemon.pid, **{name: roostd.child_named(daemon.pid, name) for name in WORKERS}}
        for entry in idle.run([family], max(seconds, endtoend.PING_SECONDS)):
            if entry["program"] == "relay-connector":
                yield {**entry, "figure": entry["figure"].replace("idle", "quiet"), "program": f"{QUIET} relays"}


def machines(rounds):
    """What the connector's machines take alone, and what the store's coverage does."""
    answers = {}
    for _ in range(rounds):
        output = subprocess.run([measure.PRODUCTS / "session-bench", SIGNED], check=True, capture_output=True).stdout
        for name, value in json.loads(output).items():
            answers.setdefault(name, []).append(1e9 / value)
    for name, rates in answers.items():
        yield measure.result(f"machine-{name}", "relay-connector", "messages/s", rates)
    with tempfile.TemporaryDirectory(prefix="roost-coverage-") as name:
        answer = json.loads(events.archive_bench("cover", pathlib.Path(name) / "events.db", 1_000_000)[-1])
    yield measure.result("coverage-bytes", "event-store", "bytes a key", [answer["bytes"] / answer["keys"]])
    yield measure.result("coverage-written", "event-store", "keys/s", answer["first"])
    yield measure.result("coverage-again", "event-store", "keys/s", answer["again"])


def run(rounds, idle_seconds):
    """All results."""
    yield from machines(rounds)
    with tempfile.TemporaryDirectory(prefix="roost-pages-") as name:
        signed = pathlib.Path(name) / "signed.jsonl"
        # Each run of archive-bench has 500 authors of its own.
        lines = [line for first in (0, COUNT // 2) for line in events.archive_bench("make", first, COUNT // 2)]
        authors = sorted({json.loads(line)["pubkey"] for line in lines})
        signed.write_bytes(b"\n".join(lines) + b"\n")
        with endtoend.canned(signed, "--cap", str(CAP)) as url:
            yield from compared(url, rounds)
            yield from quiet(url, idle_seconds)
        with endtoend.canned(signed, "--cap", str(CAP), "--delay", str(FAR)) as url:
            yield from by_author(url, authors, min(rounds, 3))
