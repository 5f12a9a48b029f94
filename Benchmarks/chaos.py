#!/usr/bin/env python3
"""Kills, stops, holds and starts everything of a Roost at random while it works, and counts what was lost.

    python3 Benchmarks/chaos.py [--kills 1000] [--seed N] [--only BLOW]… [--products DIRECTORY]

A quarter of an hour with a thousand kills. Meanwhile an account publishes in three ways (a client of the local relay,
`plan.publish`, the command `roost publish`), strangers hand events to the local relay, jobs are submitted, and
observers go on by seq after every break. Two of nostr-sdk's relays take what is published. What was accepted is written
down here. At the end, with everything at rest: every accepted event is in the store and, of the account's, at both
relays; every job has ended, once; no seq was given twice, and no observer missed anything.

It measures no aim, so `make bench` leaves it out; `make chaos` runs it. Exit: 0 nothing lost, 1 something was.
"""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import bus
import endtoend
import measure
import roostd
import visitor

WORKERS = ("event-store", "signer", "outbox-planner", "relay-connector", "local-relay", "dvm-tracker", "dvm-provider")
ENDS = ("delivered", "settled", "failed", "expired", "cancelled")
# What is done to it, and in how many of a hundred cases.
BLOWS = {"kill": 66, "burst": 8, "daemon": 6, "everything": 3, "stuck": 6, "pause": 4, "held": 5, "stopped": 2}
HELD = 5  # seconds for which a connector is held while the planner starts without it
REST = 180  # seconds for everything to come to its end after the last blow


class Tally:
    """What was accepted, and what was odd. Used by all threads."""

    def __init__(self):
        self.lock = threading.Lock()
        self.accepted = collections.defaultdict(dict)  # by way: id -> note of the answer
        self.jobs = {}  # by key: the id of the job
        self.refused = collections.Counter()
        self.odd = []

    def accept(self, way, name, note=""):
        with self.lock:
            self.accepted[way][name] = note

    def refuse(self, way, words):
        with self.lock:
            self.refused[f"{way}: {words[:90]}"] += 1

    def find_odd(self, words):
        with self.lock:
            self.odd.append(words)
        print(f"ODD: {words}", flush=True)


class House:
    """A roostd that is started again whenever it dies."""

    def __init__(self, folder, relays):
        self.folder = pathlib.Path(folder)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.port = listener.getsockname()[1]
        config = self.folder / "supervisor.conf"
        keys = {"relay-connector": f"relays = {json.dumps(relays)}",
                "local-relay": f'listen = ["127.0.0.1:{self.port}"]'}
        workers = "".join(
            f'[worker.{name}]\nrole = "{name}"\nstuck-after = "3s"\nstable-after = "100ms"\n'
            f'breaker-restarts = 1000\nbreaker-window = "24h"\n{keys.get(name, "")}\n' for name in WORKERS)
        config.write_text(
            f'[supervisor]\nprogram-directories = ["{measure.PRODUCTS}"]\n'
            f'state-directory = "{self.folder / "state"}"\n{workers}')
        config.chmod(0o600)
        self.command = [measure.PRODUCTS / "roostd", "--config", config]
        self.socket = self.folder / "run" / "roost.sock"
        self.output = (self.folder / "output").open("ab")
        self.process = None
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.DEVNULL, stdout=self.output, stderr=self.output, cwd=self.folder)

    def family(self):
        """The workers' processes, by name."""
        found = {}
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError, ValueError):
                before, after = stat.read_text().rsplit(")", 1)
                name = before.split("(", 1)[1]
                match = next((worker for worker in WORKERS if worker[:15] == name), None)
                if match and int(after.split()[1]) == self.process.pid:
                    found[match] = int(stat.parent.name)
        return found

    def command_line(self, *words, **options):
        """`roost` with these words."""
        return subprocess.run(
            [measure.PRODUCTS / "roost", *words, "--socket", self.socket], capture_output=True, text=True, **options)

    def client(self):
        return contextlib.closing(bus.Client(self.socket))

    def wait(self, names=WORKERS, seconds=60):
        """Until these take work."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError, ConnectionError, RuntimeError):
                with self.client() as client:
                    for name in names:
                        client.wait_for_ready(name, timeout=max(0.1, deadline - time.monotonic()))
                    return
            time.sleep(0.1)
        raise RuntimeError(f"not all of {names} are ready: {self.command_line('status').stdout}")

    def end(self):
        self.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=30)


class Load(threading.Thread):
    """Work that goes on until it is told to end, over a connection that is made again and again."""

    def __init__(self, house, tally, over):
        super().__init__(daemon=True)
        self.house, self.tally, self.over = house, tally, over

    def run(self):
        while not self.over.is_set():
            try:
                self.work()
            except (OSError, ConnectionError, EOFError, ValueError, KeyError):
                time.sleep(0.2)  # It was cut off in the middle, or there is nobody. KeyError: no such method yet.


class Client(Load):
    """A client of the local relay that sends an event until it has an OK for it. `make` gives the next one."""

    def __init__(self, house, tally, over, way, make):
        super().__init__(house, tally, over)
        self.way, self.make, self.event = way, make, None

    def work(self):
        with contextlib.closing(visitor.Honest(self.house.port, patience=60)) as client:
            while not self.over.is_set():
                self.event = self.event or self.make()
                name = json.loads(self.event)["id"]
                client.socket.sendall(visitor.frame(b'["EVENT",' + self.event + b"]"))
                while (answer := json.loads(client.receive()))[0] != "OK" or answer[1] != name:
                    pass
                if answer[2]:
                    self.tally.accept(self.way, name, answer[3])
                    self.event = None
                else:
                    self.tally.refuse(self.way, answer[3])
                    time.sleep(0.1)


class Publisher(Load):
    """Publishes over the bus, the same event until it is accepted."""

    def __init__(self, house, tally, over, make):
        super().__init__(house, tally, over)
        self.make, self.event = make, None

    def work(self):
        with self.house.client() as client:
            client.socket.settimeout(60)
            while not self.over.is_set():
                self.event = self.event or self.make()
                try:
                    client.exchange("plan.publish", b'{"event":' + self.event + b"}")
                    self.tally.accept("plan.publish", json.loads(self.event)["id"])
                    self.event = None
                except RuntimeError as refusal:
                    self.tally.refuse("plan.publish", json.loads(str(refusal)).get("message", str(refusal)))
                    time.sleep(0.1)


class Typist(Load):
    """`roost publish`, one after the other."""

    def work(self):
        made = self.house.command_line(
            "publish", "--content", f"typed {time.monotonic_ns()}", "--no-wait", "--json", timeout=60)
        if made.returncode == 0:
            for line in made.stdout.splitlines():
                self.tally.accept("roost publish", json.loads(line)["id"])
        else:
            self.tally.refuse("roost publish", f"{made.returncode} " + made.stderr.strip().replace("\n", " "))
        time.sleep(0.5)


class Customer(Load):
    """Submits jobs, each under a key, until the key's job is known."""

    def __init__(self, house, tally, over):
        super().__init__(house, tally, over)
        self.count, self.key = 0, None

    def work(self):
        with self.house.client() as client:
            client.socket.settimeout(60)
            while not self.over.is_set():
                if self.key is None:
                    self.count += 1
                    self.key = f"chaos-{self.count}"
                try:
                    job = client.call("job.submit", kind=5302, key=self.key, params=[["search", f"word{self.count}"]])
                    known = self.tally.jobs.setdefault(self.key, job["id"])
                    if known != job["id"]:
                        self.tally.find_odd(f"{self.key} has two jobs: {known} and {job['id']}")
                    self.key = None
                    time.sleep(0.3)
                except RuntimeError as refusal:
                    self.tally.refuse("job.submit", json.loads(str(refusal)).get("message", str(refusal)))
                    time.sleep(0.2)


class Observer(Load):
    """Observes everything, after the last seq that it had."""

    def __init__(self, house, tally, over):
        super().__init__(house, tally, over)
        self.seen, self.last, self.breaks = {}, 0, -1

    def work(self):
        with self.house.client() as client:
            self.breaks += 1
            client.socket.settimeout(5)
            number = client.ask("store.observe", {"filters": [{}], "policy": "cache-only", "afterSeq": self.last})
            while not self.over.is_set():
                try:
                    kind, flags, answered, payload = client.next()
                except TimeoutError:
                    return  # A read that was cut short cannot be gone on with: the next connection goes on by seq.
                is_part = kind == bus.RESPONSE and flags & bus.MORE
                if answered == number and is_part:
                    self.take(json.loads(payload))
                elif kind == bus.FATAL or answered == number and kind in (bus.RESPONSE, bus.ERROR):
                    time.sleep(0.1)
                    return

    def take(self, item):
        if "event" not in item or "seq" not in item:
            return
        name, seq = item["event"]["id"], item["seq"]
        if self.seen.setdefault(seq, name) != name:
            self.tally.find_odd(f"seq {seq} was given to {self.seen[seq]} and to {name}")
        if seq <= self.last:
            self.tally.find_odd(f"seq {seq} came after {self.last}")
        self.last = max(self.last, seq)


class Blows:
    """Does harm, one thing after another."""

    def __init__(self, house, chance, names):
        self.house, self.chance, self.count = house, chance, collections.Counter()
        self.names, self.weights = names, [BLOWS[name] for name in names]

    def strike(self):
        blow = self.chance.choices(self.names, self.weights)[0]
        family = self.house.family()
        if not family:
            return time.sleep(0.2)
        self.count[blow] += 1
        getattr(self, blow)(family)
        time.sleep(self.chance.uniform(0.1, 0.9))

    def send(self, pid, number):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)

    def kill(self, family):
        self.send(self.chance.choice(list(family.values())), signal.SIGKILL)

    def burst(self, family):
        for pid in self.chance.sample(list(family.values()), min(3, len(family))):
            self.send(pid, signal.SIGKILL)

    def daemon(self, family):
        self.send(self.house.process.pid, signal.SIGKILL)
        self.house.process.wait()
        time.sleep(self.chance.uniform(0, 0.5))
        self.house.start()

    def everything(self, family):
        for pid in [self.house.process.pid, *family.values()]:
            self.send(pid, signal.SIGKILL)
        self.house.process.wait()
        self.house.start()

    def stuck(self, family):
        self.send(self.chance.choice(list(family.values())), signal.SIGSTOP)

    def pause(self, family):
        pid = self.chance.choice(list(family.values()))
        self.send(pid, signal.SIGSTOP)
        time.sleep(1)
        self.send(pid, signal.SIGCONT)

    def held(self, family):
        """The connector is held, and the planner starts without it."""
        self.house.command_line("hold", "relay-connector", timeout=60)
        self.send(self.house.family().get("outbox-planner", 0) or family.get("signer"), signal.SIGKILL)
        time.sleep(HELD)
        self.house.command_line("hold", "--release", "relay-connector", timeout=60)

    def stopped(self, family):
        name = self.chance.choice(WORKERS)
        self.house.command_line("stop", name, timeout=60)
        self.send(self.house.family().get("outbox-planner", 0) or family.get("signer"), signal.SIGKILL)
        time.sleep(HELD)
        self.house.command_line("start", name, timeout=60)


def maker(keys, words):
    """Gives signed events, one after the other, to any thread."""
    import nostr_sdk
    lock, count = threading.Lock(), [0]

    def make():
        with lock:
            count[0] += 1
            number = count[0]
        author = keys or nostr_sdk.Keys.generate()
        return nostr_sdk.EventBuilder(nostr_sdk.Kind(1), f"{words} {number}").finalize(author).as_json().encode()
    return make


@contextlib.contextmanager
def relays(count):
    """nostr-sdk's relays: their URLs."""
    script = measure.ROOT / "Tests" / "Peers" / "local_relay.py"
    processes = [subprocess.Popen([endtoend.PYTHON, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                 for _ in range(count)]
    try:
        yield [process.stdout.readline().strip() for process in processes]
    finally:
        for process in processes:
            process.terminate()
            process.communicate()


def missing_at(port, names):
    """Which of these events a relay does not have."""
    names, missing = list(names), set()
    for start in range(0, len(names), 200):
        with contextlib.closing(visitor.Honest(port)) as client:
            batch = names[start:start + 200]
            client.socket.sendall(visitor.message("REQ", "all", {"ids": batch}))
            found = set()
            while (answer := json.loads(client.receive()))[0] == "EVENT":
                found.add(answer[2]["id"])
            missing |= set(batch) - found
    return missing


def missing_in_store(house, names):
    """Which of these events the store does not have."""
    names, missing = list(names), set()
    with house.client() as client:
        for start in range(0, len(names), 200):
            batch = names[start:start + 200]
            parts, _ = client.exchange("store.query", {"filters": [{"ids": batch}]})
            missing |= set(batch) - {json.loads(part)["id"] for part in parts}
    return missing


def await_rest(house, tally):
    """Waits until nothing is queued and no job is under way; what is not."""
    deadline = time.monotonic() + REST
    while True:
        with house.client() as client:
            status = client.call("plan.status")
            parts, _ = client.exchange("job.list", {"limit": 10_000})
        queued = sum(status["publications"].get(state, 0) for state in ("optimistic", "partial"))
        open_jobs = [job for part in parts for job in [json.loads(part)] if job["state"] not in ENDS]
        if (not queued and not open_jobs) or time.monotonic() > deadline:
            return queued, open_jobs
        time.sleep(1)


def judge(house, tally, observers, urls):
    """Says what became of everything; whether nothing was lost."""
    queued, open_jobs = await_rest(house, tally)
    own = {name for way in ("ws by the account", "plan.publish", "roost publish") for name in tally.accepted[way]}
    everything = own | set(tally.accepted["ws by strangers"])
    lost = missing_in_store(house, everything)
    unsent = {url: missing_at(int(url.rsplit(":", 1)[1]), own) for url in urls}
    bad = len(lost) + sum(map(len, unsent.values())) + len(tally.odd) + len(open_jobs) + bool(queued)
    print("accepted: " + ", ".join(f"{len(names)} {way}" for way, names in tally.accepted.items())
          + f", {len(tally.jobs)} jobs")
    print(f"not in the store: {len(lost)}; still queued: {queued}; jobs that have not ended: {len(open_jobs)}")
    for url, names in unsent.items():
        notes = collections.Counter(tally.accepted[way].get(name, "?")[:80] for name in names
                                    for way in tally.accepted if name in tally.accepted[way])
        print(f"not at {url}: {len(names)} {dict(notes) or ''}")
    for observer in observers:
        passed_over = everything - set(observer.seen.values())
        print(f"an observer, {observer.breaks} breaks: {len(observer.seen)} events, missed {len(passed_over)}")
        bad += len(passed_over)
    with house.client() as client:
        parts, _ = client.exchange("job.list", {"limit": 10_000})
        states = collections.Counter(json.loads(part)["state"] for part in parts)
        unknown = set(tally.jobs.values()) - {json.loads(part)["id"] for part in parts}
    print(f"jobs: {dict(states)}, unknown {len(unknown)}")
    for words, count in tally.refused.most_common(12):
        print(f"refused {count} times: {words}")
    return bad + len(unknown) == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    parser.add_argument("--only", action="append", choices=list(BLOWS), help="nothing but this is done")
    parser.add_argument("--products", type=pathlib.Path, help="where the programs are, instead of .build/release")
    options = parser.parse_args()
    if options.products:
        measure.PRODUCTS = options.products.resolve()
    import nostr_sdk
    keys, chance = nostr_sdk.Keys.generate(), random.Random(options.seed)
    tally, over, seen = Tally(), threading.Event(), threading.Event()
    with tempfile.TemporaryDirectory(prefix="roost-chaos-") as folder, relays(2) as urls:
        house = House(folder, urls)
        try:
            house.wait()
            house.command_line("key", "import", "chaos", "--no-passphrase",
                               input=keys.secret_key().to_hex() + "\n", check=True)
            own, foreign = maker(keys, "own"), maker(None, "foreign")
            loads = [Client(house, tally, over, "ws by the account", own), Publisher(house, tally, over, own),
                     Client(house, tally, over, "ws by strangers", foreign), Typist(house, tally, over),
                     Customer(house, tally, over)]
            observers = [Observer(house, tally, seen) for _ in range(2)]
            for load in loads + observers:
                load.start()
            blows, begin = Blows(house, chance, options.only or list(BLOWS)), time.monotonic()
            while sum(blows.count.values()) < options.kills:
                blows.strike()
                if sum(blows.count.values()) % 100 == 0:
                    print(f"{dict(blows.count)}; accepted {sum(map(len, tally.accepted.values()))}", flush=True)
            over.set()
            print(f"seed {options.seed}: {sum(blows.count.values())} blows in {time.monotonic() - begin:.0f} s: "
                  f"{dict(blows.count)}", flush=True)
            for name in WORKERS:
                house.command_line("start", name, timeout=60)
                house.command_line("hold", "--release", name, timeout=60)
            house.wait(seconds=120)
            for load in loads:
                load.join(timeout=90)
            is_good = judge(house, tally, observers, urls)
            seen.set()
            print(house.command_line("doctor").stdout)
            if not is_good:
                kept = pathlib.Path(tempfile.mkdtemp(prefix="roost-chaos-kept-"))
                subprocess.run(["cp", "-a", f"{folder}/.", kept], check=False)
                print(f"SOMETHING WAS LOST; the folder is kept as {kept}")
            return 0 if is_good else 1
        finally:
            house.end()


if __name__ == "__main__":
    sys.exit(main())
