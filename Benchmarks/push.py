#!/usr/bin/env python3
"""The push relay: signed wakes accepted a second, each verified and on disk before its answer, while they are
delivered; how fast a queue drains to APNs; how long a wake takes until APNs has it; and all that again with an APNs
that answers 50 ms late, one that refuses one push in a hundred, and one that says nothing, beside which FCM must not
suffer.

    push-bench ─ HTTP ─▶ push-relay under roostd ─ HTTP/2, TLS ─▶ nginx, which takes every push
    core 0               core 1                                   core 0

Limits are on, and keys are spread: each wake has a sender and an address of its own, and 10,000 recipients take turns.
The yardsticks: aioapns, posting to the same nginx from the same processor, with nothing to verify or to keep;
signatures of Ed25519 that OpenSSL verifies; the disk's own fsync. sygnal, the relay of Matrix, is not on PyPI.

On a machine with other work a process gets less than a processor, so figures per CPU second stand beside those by the
clock.

    python3 Benchmarks/push.py [--rounds 3]         the figures, one line of JSON each
    python3 Benchmarks/push.py --soak MINUTES       500 wakes a second, one push in a hundred refused; every minute what
                                                    the relay holds, and at the end whether all wakes are accounted for
    python3 Benchmarks/push.py --crowd [WAKES]      a million wakes, each by a key of its own to a key that nobody has;
                                                    every ten seconds what the relay holds, and whether that is bounded
"""

import argparse
import bisect
import collections
import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

import bus
import measure
import platforms
import publish
import roostd

OURS, AIOAPNS = "push-relay", "aioapns 4.0"
ED25519, FSYNC = "Ed25519 of OpenSSL, one core", "fsyncs of the disk"
PYTHON = measure.ROOT / ".venv" / "bin" / "python3"
WORKER = """
[worker.push-relay]
role = "push-relay"
listen = ["127.0.0.1:{port}"]
trusted-proxies = ["127.0.0.1"]
global-minute = 1_000_000
{settings}
"""
CLASS = """
[worker.push-relay.wake.{type}]
time-to-live = "{seconds}s"
"""
TYPES = ("noise_connect", "payment_received", "payment_request")
RECIPIENTS, LOAD, AT_ONCE, POSTS = 10_000, 20_000, 64, 20_000
PACE, PACED_SECONDS = 500, 8
CORE = 1


class Relay:
    """A push relay that takes requests."""

    def __init__(self, daemon, client, port):
        self.daemon, self.client, self.port = daemon, client, port
        self.pid = roostd.child_named(daemon.pid, "push-relay")

    def bench(self, *words):
        """What push-bench says; it runs beside the platforms."""
        with platforms.pinned(0):
            told = subprocess.run([measure.PRODUCTS / "push-bench", words[0], str(self.port), *words[1:]], check=True,
                                  stdout=subprocess.PIPE, timeout=7_200).stdout
        return json.loads(told)

    def used(self):
        """Processor seconds so far."""
        return measure.cpu_seconds(self.pid)

    def status(self):
        return self.client.call("push.status")

    def wait_until_empty(self, seconds=120):
        """Waits until no wake is under way."""
        deadline = time.monotonic() + seconds
        while (waiting := self.status()["waiting"]) > 0:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{waiting} wakes are still under way")
            time.sleep(0.05)

    def memory(self):
        """Resident megabytes."""
        for line in pathlib.Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1000
        return 0


@contextlib.contextmanager
def relay(settings, state, seconds=60, core=CORE):
    """roostd with a push relay on one processor, or on all."""
    port, = platforms.free_ports(1)
    text = WORKER.format(port=port, settings=settings)
    text += "".join(CLASS.format(type=kind, seconds=seconds) for kind in TYPES)
    with contextlib.ExitStack() as stack:
        with platforms.pinned(core) if core is not None else contextlib.nullcontext():
            daemon = stack.enter_context(roostd.running(text, state=state))
        client = stack.enter_context(bus.connected(daemon.socket))
        client.wait_for_ready("push-relay", timeout=120)
        yield Relay(daemon, client, port)


def registered(folder, google_every=0):
    """A state in which 10,000 recipients are registered, half of them at FCM if so asked; its folder."""
    state = folder / f"registered-{google_every}"
    with relay("", state) as ours:
        told = ours.bench("register", f"recipients={RECIPIENTS}", f"google-every={google_every}")
    if told["statuses"] != {"200": RECIPIENTS}:
        raise RuntimeError(f"recipients were not registered: {told['statuses']}")
    return state


@contextlib.contextmanager
def fresh(folder, state, settings, seconds=60):
    """A relay with a copy of a state: budgets are whole, and nothing is in its queue."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        copy = pathlib.Path(name) / "state"
        shutil.copytree(state, copy)
        with relay(settings, copy, seconds) as ours:
            yield ours


def expect(told, count):
    """Every wake was accepted, or there is no figure."""
    if told["statuses"] != {"200": count}:
        raise RuntimeError(f"wakes were refused: {told['statuses']}")


def accepted(folder, state, settings, found, name):
    """Wakes at full load."""
    with fresh(folder, state, settings) as ours:
        expect(ours.bench("wake", "count=500", "recipients=100"), 500)
        ours.wait_until_empty()
        before = ours.used()
        told = ours.bench("wake", f"count={LOAD}", f"at-once={AT_ONCE}", f"recipients={RECIPIENTS}")
        expect(told, LOAD)
        ours.wait_until_empty()
        found["push-accepted", name].append(told["answers_per_s"])
        found["push-accepted-p50", name].append(told["p50_ms"])
        found["push-accepted-p99", name].append(told["p99_ms"])
        found["push-accepted-cpu", name].append(LOAD / (ours.used() - before))
        found["push-memory", name].append(ours.memory())


def filled(folder, state):
    """A state with wakes in its queue, which no platform took."""
    state = pathlib.Path(shutil.copytree(state, folder / "filled"))
    with relay("", state, seconds=600) as ours:
        expect(ours.bench("wake", f"count={LOAD}", f"at-once={AT_ONCE}", f"recipients={RECIPIENTS}"), LOAD)
    return state


def drained(folder, state, there, found, name):
    """From the start of a relay whose queue is full: pushes a second, the first and the last tenth left out."""
    there.forget()
    with fresh(folder, state, there.settings(), seconds=600) as ours:
        ours.wait_until_empty()
        used = ours.used()
    times = [at for at, _ in there.arrivals()]
    if len(times) < LOAD:
        raise RuntimeError(f"{len(times)} of {LOAD} pushes came")
    found["push-drained", name].append(
        0.8 * len(times) / max(times[9 * len(times) // 10] - times[len(times) // 10], 1e-3))
    found["push-drained-cpu", name].append(len(times) / used)


def latencies(stamps, arrivals, is_google=lambda recipient: False):
    """Milliseconds from a wake's request to its arrival at the platform, as far as it arrived; wakes and pushes of one
    recipient come in the same order."""
    came = collections.defaultdict(list)
    for at, token in arrivals:
        came[token].append(at)
    found, last = [], {}
    for line in stamps.read_text().splitlines():
        recipient, sent = (int(word) for word in line.split())
        name = platforms.token(recipient, is_google(recipient))
        # The log's clock has milliseconds, and rounds down.
        index = max(bisect.bisect_left(came[name], sent / 1e6 - 0.001), last.get(name, -1) + 1)
        if index < len(came[name]):
            last[name] = index
            found.append(1000 * came[name][index] - sent / 1000)
    return found


def paced(folder, state, there, found, name, **how):
    """Wakes at a pace: from the request until the platform has the push."""
    settings, google = there.settings(how.get("apns")), how.get("google", False)
    there.forget()
    with fresh(folder, state, settings) as ours:
        expect(ours.bench("wake", "count=500", "recipients=100"), 500)
        if not how.get("apns"):
            ours.wait_until_empty()
        there.forget()
        stamps = folder / "stamps"
        told = ours.bench("wake", f"pace={PACE}", f"count={PACE * PACED_SECONDS}", f"recipients={RECIPIENTS}",
                          f"stamps={stamps}")
        expect(told, PACE * PACED_SECONDS)
        time.sleep(2)
    arrivals = there.arrivals("fcm" if google else "apns")
    times = latencies(stamps, arrivals, lambda recipient: google and recipient % 2 == 1)
    figure = "push-fcm" if google else "push-to-provider"
    found[f"{figure}-p50", name].append(measure.percentile(times, 0.5))
    found[f"{figure}-p99", name].append(measure.percentile(times, 0.99))


def aioapns(there, found):
    """The yardstick, from the processor on which the relay runs."""
    command = [PYTHON, measure.ROOT / "Benchmarks" / "yardsticks" / "apns.py", str(there.apns),
               there.folder / "certificate.pem", there.folder / "apple.p8", str(POSTS // 4), str(AT_ONCE)]
    with platforms.pinned(CORE):
        told = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=300).stdout)
    for figure in ("push-posts", "push-drained"):
        found[figure, AIOAPNS].append(told["posts_per_s"])
        found[f"{figure}-cpu", AIOAPNS].append(told["posts_per_cpu_s"])


def posts(there, found):
    """The relay's sender alone, to the same nginx."""
    command = [measure.PRODUCTS / "http2-bench", f"https://localhost:{there.apns}/3/device/{platforms.token(0)}",
               str(POSTS), str(AT_ONCE), there.folder / "certificate.pem"]
    before = sum(os.times()[2:4])
    with platforms.pinned(CORE):
        told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=300).stdout
    found["push-posts", OURS].append(float(re.search(r"(\d+) posts/s", told)[1]))
    found["push-posts-cpu", OURS].append(POSTS / (sum(os.times()[2:4]) - before))


def ed25519(found):
    """Signatures that OpenSSL's own measurement verifies in a second of processor time."""
    with platforms.pinned(CORE):
        told = subprocess.run(["openssl", "speed", "-seconds", "1", "ed25519"], check=True, capture_output=True,
                              text=True, timeout=60).stdout
    rate = float(told.strip().split()[-1])
    for figure in ("push-accepted", "push-accepted-cpu"):
        found[figure, ED25519].append(rate)


def healthy(folder, state, rounds, found):
    """Everything as it should be, and one push in a hundred refused; all in turn."""
    has_aioapns = PYTHON.exists() and subprocess.run(
        [PYTHON, "-c", "import aioapns"], capture_output=True, check=False).returncode == 0
    if not has_aioapns:
        print(f"skipped: {AIOAPNS}: not in .venv (Scripts/python-environment.sh)", file=sys.stderr)
    with contextlib.ExitStack() as stack:
        def place(name, **how):
            (folder / name).mkdir()
            return stack.enter_context(platforms.running(folder / name, **how))
        good, bad = place("good"), place("bad", errors="1%")
        full = filled(folder, state)
        for _ in range(rounds):
            ed25519(found)
            found["push-accepted", FSYNC].append(1000 / statistics.median(publish.sync_milliseconds(folder)))
            accepted(folder, state, good.settings(), found, OURS)
            accepted(folder, state, bad.settings(), found, "1 % errors")
            posts(good, found)
            if has_aioapns:
                aioapns(good, found)
            drained(folder, full, good, found, OURS)
            paced(folder, state, good, found, OURS)


def late(folder, state, rounds, found):
    """The same with an APNs that answers 50 ms late."""
    (folder / "late").mkdir()
    with platforms.running(folder / "late", late_milliseconds=50) as there:
        for _ in range(rounds):
            accepted(folder, state, there.settings(), found, "50 ms late")
            drained(folder, folder / "filled", there, found, "50 ms late")


def silent(folder, rounds, found):
    """FCM beside an APNs that answers, and beside one that takes connections and says nothing."""
    state = registered(folder, google_every=2)
    (folder / "both").mkdir()
    with platforms.running(folder / "both") as there, platforms.black_hole() as hole:
        for _ in range(rounds):
            paced(folder, state, there, found, "APNs answers", google=True)
            paced(folder, state, there, found, "APNs is silent", google=True, apns=hole)


UNITS = {"push-accepted": "wakes/s", "push-accepted-cpu": "wakes/CPU s", "push-posts": "posts/s",
         "push-posts-cpu": "posts/CPU s", "push-drained": "posts/s", "push-drained-cpu": "posts/CPU s",
         "push-memory": "MB"}


def run(rounds):
    """All results."""
    if platforms.nginx() is None or len(os.sched_getaffinity(0)) < 2:
        print("skipped: the push relay: it needs two processors and nginx (sudo apt-get install nginx-light)",
              file=sys.stderr)
        return
    rounds, found = min(rounds, 3), collections.defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="roost-push-") as name:
        folder = pathlib.Path(name)
        state = registered(folder)
        healthy(folder, state, rounds, found)
        late(folder, state, rounds, found)
        silent(folder, rounds, found)
    for (figure, program), values in found.items():
        yield measure.result(figure, program, UNITS.get(figure, "ms"), values)


# MARK: The soak

SOAK_SECONDS = 60  # between two looks
SOAK_LIMITS = "strangers-hour = 65_535\nrecipient-hour = 65_535\n"
# A prime, so that no sender meets one recipient often.
SOAK_SENDERS = 19_997


def look(ours, state):
    """What the relay holds: memory, descriptors, rows of the tables that strangers fill."""
    with contextlib.closing(sqlite3.connect(f"file:{next(state.rglob('push.db'))}?mode=ro", uri=True)) as file:
        rows = {table: file.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                for table in ("wake", "replay", "nonce", "status")}
        size = file.execute("PRAGMA page_count").fetchone()[0] * file.execute("PRAGMA page_size").fetchone()[0]
    return {"rss_mb": round(ours.memory(), 1), "fds": len(os.listdir(f"/proc/{ours.pid}/fd")),
            "cpu_s": round(ours.used(), 1), **rows, "file_mb": round(size / 1e6, 1)}


def soak(minutes):
    """Wakes at a pace for minutes; whether the relay stays as it was, and loses none."""
    with tempfile.TemporaryDirectory(prefix="roost-push-") as name, contextlib.ExitStack() as stack:
        folder = pathlib.Path(name)
        state = registered(folder)
        there = stack.enter_context(platforms.running(folder, errors="1%"))
        ours = stack.enter_context(relay(SOAK_LIMITS + there.settings(), state, core=None))
        count = 60 * PACE * minutes
        load = stack.enter_context(concurrent.futures.ThreadPoolExecutor()).submit(
            ours.bench, "wake", f"pace={PACE}", f"count={count}", f"recipients={RECIPIENTS}",
            f"senders={SOAK_SENDERS}", "repeated-every=50")
        seen = []
        while not load.done():
            concurrent.futures.wait([load], timeout=SOAK_SECONDS)
            seen.append(look(ours, state))
            print(json.dumps(seen[-1]), flush=True)
        told = load.result()
        ours.wait_until_empty()
        status = ours.status()
        posts = collections.Counter(line.split()[1] for line in (folder / "apns.log").read_text().splitlines())
        print(json.dumps({"load": told, "accepted": status["accepted"], "ended": status["ended"], "posts": posts}))
        flaws = []
        if told["statuses"] != {"200": count}:
            flaws.append(f"requests were refused: {told['statuses']}")
        if status["accepted"] != count or sum(status["ended"].values()) != count:
            flaws.append(f"{count} wakes were answered, {status['accepted']} accepted, {status['ended']} ended")
        half = seen[len(seen) // 2:]
        if half[-1]["rss_mb"] > 1.2 * half[0]["rss_mb"] or half[-1]["fds"] > half[0]["fds"] + 8:
            flaws.append("it holds more at the end than half-way")
        print("soak: " + ("; ".join(flaws) or "all wakes are accounted for, and nothing grows"))
        return 1 if flaws else 0


# MARK: The crowd

CROWD_SECONDS = 10  # between two looks


def crowd(count):
    """Wakes from and to keys that nobody has seen, as fast as they are answered; whether what is kept of them is
    bounded. The relay and who asks it share all processors: there is no platform beside them."""
    with tempfile.TemporaryDirectory(prefix="roost-push-") as name, contextlib.ExitStack() as stack:
        state = pathlib.Path(name) / "state"
        ours = stack.enter_context(relay("", state, core=None))
        load = stack.enter_context(concurrent.futures.ThreadPoolExecutor()).submit(
            ours.bench, "wake", f"count={count}", f"at-once={AT_ONCE}", "crowd=1")
        seen = [look(ours, state)]
        while not load.done():
            concurrent.futures.wait([load], timeout=CROWD_SECONDS)
            seen.append(look(ours, state))
            print(json.dumps(seen[-1]), flush=True)
        told = load.result()
        print(json.dumps({"load": told, "accepted": ours.status()["accepted"]}))
        flaws = []
        if told["statuses"] != {"200": count}:
            flaws.append(f"requests were refused: {told['statuses']}")
        half = seen[len(seen) // 2:]
        if half[-1]["rss_mb"] > 1.2 * half[0]["rss_mb"]:
            flaws.append("it holds more at the end than half-way")
        most = max(entry["rss_mb"] for entry in seen)
        print(f"crowd: {most} MB at most; " + ("; ".join(flaws) or "and no more at the end than half-way"))
        return 1 if flaws else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--soak", type=int, metavar="MINUTES")
    parser.add_argument("--crowd", type=int, metavar="WAKES", nargs="?", const=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    if options.soak:
        sys.exit(soak(options.soak))
    if options.crowd:
        sys.exit(crowd(options.crowd))
    measure.write(run(options.rounds), sys.stdout)


if __name__ == "__main__":
    main()
