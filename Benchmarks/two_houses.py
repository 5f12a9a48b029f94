#!/usr/bin/env python3
"""Two Roosts of one owner, one of which dials the other, and whether they are the same afterwards.

    .venv/bin/python3 Benchmarks/two_houses.py [--events 10000] [--partitions 5] [--seed N]

The home is reached at one address; the laptop has it among its `peers`. Both publish at one relay. While the laptop is
off the home takes events: what the owner wrote, what names the owner, gift wraps; a part is published. Then both take
events while the line between them is cut and mended at random. What each has is read by `roost export` and compared.

Told are the sets, the time until they are the same, the bytes on the line, and what a relay was sent twice. Exit: 0
when the sets are equal each time, what one has published the other knows, and nothing was published by both.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time

from nostr_sdk import EventBuilder, Keys, Kind, Tag, Timestamp

import bus
import measure
import mirror
import mirror_world
import roostd

# The mirror's table is the last of those.
WORKERS = mirror.WORKERS + """peers = {peers}

[worker.ephemeral-connector]
role = "relay-connector"
ephemeral = true

[worker.local-relay]
role = "local-relay"
listen = ["127.0.0.1:{port}"]
hosts = ["127.0.0.2"]
"""


class Line:
    """The line between the houses, which can be cut; counts its bytes."""

    def __init__(self, port):
        self.port, self.is_cut, self.bytes, self.open = port, False, 0, []
        self.listener = socket.create_server(("127.0.0.2", port))
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            here, _ = self.listener.accept()
            if self.is_cut:
                here.close()
                continue
            there = socket.create_connection(("127.0.0.1", self.port))
            self.open += [here, there]
            for source, sink in ((here, there), (there, here)):
                threading.Thread(target=self.copy, args=(source, sink), daemon=True).start()

    def copy(self, source, sink):
        with contextlib.suppress(OSError):
            while piece := source.recv(1 << 16):
                self.bytes += len(piece)
                sink.sendall(piece)
        for side in (source, sink):
            with contextlib.suppress(OSError):
                side.shutdown(socket.SHUT_RDWR)

    def cut(self):
        self.is_cut = True
        for side in self.open:
            with contextlib.suppress(OSError):
                side.shutdown(socket.SHUT_RDWR)
        self.open = []

    def mend(self):
        self.is_cut = False


class House:
    """A Roost with its state, and a relay of its own."""

    def __init__(self, folder, name, port, peers, relay, author):
        self.state, self.workers = folder / name, WORKERS.format(
            relays=json.dumps([relay]), port=port, peers=json.dumps(peers))
        self.author, self.stack = author, None

    def start(self):
        self.stack = contextlib.ExitStack()
        self.daemon = self.stack.enter_context(roostd.running(self.workers, self.state))
        self.client = self.stack.enter_context(bus.connected(self.daemon.socket))
        for worker in ("event-store", "signer", "outbox-planner", "relay-connector", "local-relay", "mirror"):
            self.client.wait_for_ready(worker)
        if not self.client.call("signer.accounts")["accounts"]:
            subprocess.run(
                [measure.PRODUCTS / "roost", "key", "import", "me", "--no-passphrase"], env=self.environment,
                input=self.author.secret_key().to_hex() + "\n", text=True, capture_output=True, check=True)

    @property
    def environment(self):
        return {**os.environ, "ROOST_SOCKET": str(self.daemon.socket)}

    def stop(self):
        self.stack.close()

    def take(self, events):
        """Stores events that are not published."""
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            file.write("\n".join(events) + "\n")
            file.flush()
            subprocess.run([measure.PRODUCTS / "roost", "import", file.name], env=self.environment, check=True,
                           capture_output=True)

    def publish(self, events, relays=None):
        for event in events:
            wanted = {"event": json.loads(event), **({"relays": relays} if relays else {})}
            self.client.call("plan.publish", **wanted)

    def has(self):
        me = self.author.public_key().to_hex()
        return mirror_world.exported(self.daemon, {"authors": [me]}), mirror_world.exported(
            self.daemon, {"#p": [me], "kinds": [1, 7, 1059]})

    def learned(self, ids, relay):
        """How many of these publications are known as taken by a relay."""
        parts = [part for at in range(0, len(ids), 50)
                 for part in self.client.exchange("plan.publications", {"ids": ids[at:at + 50]})[0]]
        return sum(any(target["relay"] == relay and target["state"] == "confirmed" for target in found["targets"])
                   for found in map(json.loads, parts))

    def sync(self, wait=60):
        """Has all compared now; `wait`: for so many seconds while a comparison is under way already."""
        deadline = time.monotonic() + wait
        while True:
            with contextlib.suppress(RuntimeError):
                return self.client.call("mirror.sync")
            if time.monotonic() >= deadline:
                return None
            time.sleep(0.2)

    def peer(self):
        return self.client.call("mirror.status")["peers"][0]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def same(houses, seconds, line):
    """Waits until both have the same, by what each exports; the seconds that took."""
    started, before = time.monotonic(), line.bytes
    while True:
        one, other = (house.has() for house in houses)
        if one == other:
            return time.monotonic() - started, line.bytes - before, [len(part) for part in one]
        if time.monotonic() - started > seconds:
            print("not the same:", [(len(a - b), len(b - a)) for a, b in zip(one, other)],
                  [house.client.call("mirror.status") for house in houses])
            return None
        time.sleep(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--partitions", type=int, default=5)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    options = parser.parse_args()
    chance, author = random.Random(options.seed), Keys.generate()
    print("seed", options.seed)
    me, others = Tag.parse(["p", author.public_key().to_hex()]), [Keys.generate() for _ in range(50)]
    number = iter(range(1 << 40))

    def made(count):
        """Events as they come: a half is the owner's, two fifths name him, a tenth are gift wraps."""
        events = []
        for _ in range(count):
            draw, at = chance.random(), Timestamp.from_secs(int(time.time()) - chance.randrange(400 * 86_400))
            keys, kind, tags = ((author, 1, []) if draw < 0.5 else (chance.choice(others), 1, [me]) if draw < 0.9
                                else (Keys.generate(), 1_059, [me]))
            builder = EventBuilder(Kind(kind), f"{next(number)}").tags(tags).custom_created_at(at)
            events.append(builder.finalize(keys).as_json())
        return events

    def notes(count):
        return [EventBuilder(Kind(1), f"published {next(number)}").finalize(author).as_json() for _ in range(count)]

    faults = []
    with tempfile.TemporaryDirectory(prefix="roost-houses-") as name, mirror.peer(
            sys.executable, "local_relay.py") as relay:
        port, folder = free_port(), pathlib.Path(name)
        # The same relay for both, each by a way of its own.
        meters = [mirror.Meter(relay) for _ in range(2)]
        home = House(folder, "home", port, [], meters[0].url, author)
        laptop = House(folder, "laptop", free_port(), [f"ws://127.0.0.2:{port}"], meters[1].url, author)
        line = Line(port)
        home.start()
        laptop.start()
        laptop.take(made(200))
        laptop.sync()
        print("at first:", same((home, laptop), 120, line))
        laptop.stop()
        published, named = notes(200), notes(20)
        home.publish(published)
        home.publish(named, [meters[0].url])
        home.take(made(options.events))
        laptop.start()
        found = same((home, laptop), 300, line)
        print(f"one was off while the other took {options.events} events:", found)
        faults += [] if found else ["not the same after one was off"]
        ids = [json.loads(event)["id"] for event in published + named]
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and (told := laptop.learned(ids, meters[0].url)) < len(ids):
            time.sleep(0.5)
        print(f"published by one: {len(ids)}; known to the other as taken by that relay: {told}")
        faults += [] if told == len(ids) else ["publications are not known"]
        before = meters[1].up
        laptop.publish(published)
        time.sleep(3)
        sent, size = meters[1].up - before, sum(map(len, published))
        print(f"published by the other again: {sent} bytes went to the relay, of {size}")
        faults += [] if sent < size / 10 else ["published twice"]
        for round_ in range(options.partitions):
            line.cut()
            for house in (home, laptop):
                house.take(made(options.events // 20))
            time.sleep(chance.random() * 3)
            line.mend()
            laptop.sync(wait=0)
            if chance.random() < 0.7:
                time.sleep(chance.random())
                line.cut()
                home.take(made(options.events // 20))
                time.sleep(chance.random() * 2)
                line.mend()
            laptop.sync()
            found = same((home, laptop), 300, line)
            print(f"partition {round_ + 1}:", found)
            faults += [] if found else [f"not the same after partition {round_ + 1}"]
        print(f"in all {line.bytes / 1e6:.1f} MB on the line")
        laptop.stop()
        home.stop()
    print("faults:", faults or "none")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
