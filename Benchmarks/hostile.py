#!/usr/bin/env python3
"""Attacks the local relay in every way of `attacks.py`, one after another, while an honest client goes on with its
work, and prints what the attackers were answered, how long the honest client waited, and the memory of the workers.

    python3 Benchmarks/hostile.py [--seconds 10] [--handshakes 1000000] [--subscriptions 100000] [--only NAME]…

Half an hour with everything. It measures no aim, so `make bench` leaves it out; `make hostile` runs it. The honest
client asks for ten events of one author and publishes one of its own, in turn, some hundred times a second. Attackers
and victims share the machine's processors: what an honest client waits is partly that.
"""

import argparse
import collections
import contextlib
import itertools
import json
import os
import pathlib
import signal
import threading
import time

import attacks
import bus
import events
import idle
import measure
import roostd
import visitor

PORT = 24_869
WORKERS = f"""
[worker.event-store]
role = "event-store"
start-deadline = "1m"

[worker.signer]
role = "signer"

[worker.outbox-planner]
role = "outbox-planner"

[worker.local-relay]
role = "local-relay"
listen = ["127.0.0.1:{PORT}"]
"""
WATCHED = ("local-relay", "event-store", "roostd")
STORED, HONEST, SPENT = 20_000, 40_000, 150_000
PAUSE = 0.005
SETTLE = 30  # seconds for the relay to be as before


@contextlib.contextmanager
def child(body):
    """Runs `body(stop)` in a process of its own, where `stop` is readable once it is to end; yields a function that
    ends it and gives what it returned."""
    answer_out, answer_in = os.pipe()
    stop_out, stop_in = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(answer_out)
        os.close(stop_in)
        os.set_blocking(stop_out, False)

        def is_over():
            with contextlib.suppress(BlockingIOError):
                return os.read(stop_out, 1) == b""
            return False

        try:
            with os.fdopen(answer_in, "wb") as output:
                output.write(json.dumps(body(is_over)).encode())
        finally:
            os._exit(0)
    os.close(answer_in)
    os.close(stop_out)
    answers = []

    def end():
        nonlocal stop_in
        if stop_in is not None:
            os.close(stop_in)
            stop_in = None
            with os.fdopen(answer_out, "rb") as source:
                text = source.read()
            os.waitpid(pid, 0)
            answers.append(json.loads(text) if text else {})
        return answers[0]

    try:
        yield end
    finally:
        end()


def honest(lines, author):
    """A client that asks and publishes until it is over: milliseconds of each, and what went wrong."""
    def body(is_over):
        asked, published, faults = [], [], collections.Counter()
        client, own = None, itertools.cycle(lines)  # beyond them what it publishes is there already
        while not is_over():
            start = time.perf_counter()
            try:
                client = client or visitor.Honest(PORT)
                start = time.perf_counter()
                count = client.request({"authors": [author], "kinds": [1], "limit": 10})
                asked.append(1000 * (time.perf_counter() - start))
                # What comes in between belongs to it as well.
                if count < 10:
                    faults[f"{count} events of 10"] += 1
                start = time.perf_counter()
                client.publish(next(own))
                published.append(1000 * (time.perf_counter() - start))
            except (OSError, ConnectionError) as fault:
                faults[f"{type(fault).__name__} {fault}"[:90]] += 1
                client = None
            time.sleep(PAUSE)
        return {"asked": asked, "published": published, "faults": faults, "used": len(published) + len(faults)}
    return body


class Memory(threading.Thread):
    """The most that each process took, megabytes of PSS."""

    def __init__(self, pids):
        super().__init__(daemon=True)
        self.pids, self.most, self.is_over = pids, dict.fromkeys(pids, 0.0), threading.Event()

    def run(self):
        while not self.is_over.wait(0.25):
            for name, pid in self.pids.items():
                with contextlib.suppress(OSError):
                    self.most[name] = max(self.most[name], idle.proportional_megabytes(pid))

    def end(self):
        self.is_over.set()
        self.join()
        return self.most


class Campaign:
    """A roostd under attack."""

    def __init__(self, daemon, lines, options):
        self.daemon, self.options = daemon, options
        self.honest_lines = collections.deque(lines[STORED:STORED + HONEST])
        self.spent = itertools.cycle(lines[STORED + HONEST:])
        self.author = json.loads(lines[0])["pubkey"]
        self.pids = {name: roostd.child_named(daemon.pid, name) for name in WATCHED[:2]} | {"roostd": daemon.pid}

    def attack(self, name, body):
        """One row of the table: an attack (None: nothing) beside the honest client."""
        memory, processor = Memory(self.pids), {pid: measure.cpu_seconds(pid) for pid in self.pids.values()}
        memory.start()
        begin = time.monotonic()
        with child(honest(list(self.honest_lines), self.author)) as end_honest:
            answers = body()
            found = end_honest()
        elapsed = time.monotonic() - begin
        for _ in range(min(found.get("used", 0), len(self.honest_lines) - 100)):
            self.honest_lines.popleft()
        most = memory.end()
        restarted = self.restarted()
        load = "/".join("?" if name in restarted else
                        f"{100 * (measure.cpu_seconds(pid) - processor[pid]) / elapsed:.0f}"
                        for name, pid in self.pids.items())
        self.row(name, answers, found, most, f"{elapsed:.0f} s, {load} %")
        for worker, pid in restarted.items():
            with bus.connected(self.daemon.socket) as client:
                why = " ".join(client.call("supervisor.why", worker=worker)["sentences"])
            print(f"    {worker} WAS RESTARTED: {why}", flush=True)
            self.pids[worker] = pid

    def restarted(self):
        """The workers that are not the process that they were."""
        now = {name: roostd.child_named(self.daemon.pid, name) for name in WATCHED[:2]}
        return {name: pid for name, pid in now.items() if self.pids[name] != pid}

    def row(self, name, answers, found, most, load):
        told = ", ".join(f"{count} × {answer}" for answer, count in collections.Counter(answers).most_common(9))
        waits = "  ".join(
            "/".join(f"{measure.percentile(found.get(what) or [0], share):.1f}" for share in (0.5, 0.99, 1))
            for what in ("asked", "published"))
        memory = "/".join(f"{most[watched]:.0f}" for watched in WATCHED)
        count = len(found.get("asked", []))
        print(f"{name:22} {count} asked  {waits} ms  {memory} MB  ({load})\n    {told}", flush=True)
        if found.get("faults"):
            print(f"    FAULTS of the honest client: {found['faults']}", flush=True)

    def run(self, attack):
        """An attack in a process of its own."""
        options = self.options
        resources = {"events": self.spent, "handshakes": options.handshakes, "subscriptions": options.subscriptions,
                     "connections": options.connections, "patience": options.patience}

        def body(_):
            crowd = visitor.Crowd(PORT)
            attack(crowd, options.seconds, resources)
            crowd.leave()
            return crowd.answers

        def attacked():
            with child(body) as end:
                return end()
        for _ in range(5_000):
            next(self.spent)
        self.attack(attack.__name__, attacked)
        self.settle()

    def settle(self):
        """Waits until the relay has nobody but us."""
        deadline = time.monotonic() + SETTLE
        with bus.connected(self.daemon.socket) as client:
            while time.monotonic() < deadline:
                try:
                    if client.call("local.status")["connections"] == 0:
                        return
                except RuntimeError as fault:
                    print(f"    {fault}", flush=True)
                time.sleep(0.2)
        print("    connections are still there", flush=True)


def stored(lines):
    """Puts events into the store through the relay, as many at once as it takes."""
    client = visitor.Honest(PORT)
    for start in range(0, len(lines), 500):
        batch = lines[start:start + 500]
        client.socket.sendall(b"".join(visitor.frame(b'["EVENT",' + line + b"]") for line in batch))
        for _ in batch:
            client.receive()
    client.close()


def signals(campaign, names):
    """Stops for a second, and kills, the workers behind the relay, and reloads the settings, under a flood."""
    def act(name, number):
        pid = roostd.child_named(campaign.daemon.pid, name)
        if number == signal.SIGKILL:
            os.kill(pid, number)
        else:
            os.kill(pid, signal.SIGSTOP)
            time.sleep(1)
            os.kill(pid, signal.SIGCONT)
        time.sleep(2)

    def body(_):
        crowd = visitor.Crowd(PORT)
        visitors = attacks.upgraded(crowd, 10)
        made = itertools.cycle(itertools.islice(campaign.spent, 20_000))
        attacks.flood(crowd, 12, visitors, lambda: visitor.frame(b'["EVENT",' + next(made) + b"]") + visitor.message(
            "REQ", "a", {"limit": 50}), ahead=1 << 12)
        return crowd.answers

    def reload(_):
        with bus.connected(campaign.daemon.socket) as client:
            for _ in range(20):
                client.call("supervisor.reload")
                time.sleep(0.1)

    steps = {"workers stopped": lambda name: act(name, signal.SIGSTOP),
             "workers killed": lambda name: act(name, signal.SIGKILL), "settings reloaded": reload}
    for word, step in steps.items():
        def disturbed():
            with child(body) as end:
                time.sleep(1)
                for name in names:
                    step(name)
                return end()
        campaign.attack(word, disturbed)
        campaign.settle()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--handshakes", type=int, default=1_000_000)
    parser.add_argument("--patience", type=float, default=600, help="seconds for all handshakes")
    parser.add_argument("--subscriptions", type=int, default=100_000)
    parser.add_argument("--connections", type=int, default=10_500)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--lines", help="a file of signed events, made if it is not there")
    options = parser.parse_args()
    chosen = [attack for attack in attacks.ALL if not options.only or attack.__name__ in options.only]

    count = STORED + HONEST + SPENT
    cache = pathlib.Path(options.lines) if options.lines else None
    lines = cache.read_bytes().splitlines() if cache and cache.exists() else events.archive_bench("make", 0, count)
    if cache and not cache.exists():
        cache.write_bytes(b"\n".join(lines) + b"\n")
    with roostd.running(WORKERS) as daemon, bus.connected(daemon.socket) as client:
        for name in ("event-store", "signer", "outbox-planner", "local-relay"):
            client.wait_for_ready(name)
        stored(lines[:STORED])
        campaign = Campaign(daemon, lines, options)
        print("attack; REQ p50/p99/longest  EVENT p50/p99/longest; most PSS and processor of " + "/".join(WATCHED))
        for name in ("nothing", "nothing again"):
            campaign.attack(name, lambda: time.sleep(options.seconds) or {})
        for attack in chosen:
            campaign.run(attack)
        if not options.only or "signals" in options.only:
            signals(campaign, ("event-store", "outbox-planner", "signer"))
        campaign.attack("nothing at the end", lambda: time.sleep(options.seconds) or {})


if __name__ == "__main__":
    main()
