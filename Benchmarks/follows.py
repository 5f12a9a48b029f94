#!/usr/bin/env python3
"""Lets a Roost read a thousand people at the thirty relays where they write, and judges what it has.

    .venv/bin/python3 Benchmarks/follows.py [--follows 1000] [--relays 30] [--seed N] [--restarts 3] [--patience 420]

The relays are one program (`habits.py`): each sends 500 events to a filter at most; some flap, one is dead, and one is
an indexer that has everybody's relay list. Supervisor, connector, store, planner and local relay are real, with one
relay configured that has the follow list and a few notes. It is read twice, each time by a Roost of its own: by
`roost observe --follows`, and by a client of the local relay that subscribes to the authors for a week. Meanwhile
connector, planner and store are killed.

Told are: when the first event came, when all of the week was there, and of each relay how many events it sent more than
once; and how many people the relays that do not flap were asked for twice, from the beginning of the week on.

Exit: 0 when every event that the relays have came, 1 when one is missing.
"""

import argparse
import collections
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from nostr_sdk import EventBuilder, Keys, Kind, Tag, Timestamp

import bus
import endtoend
import habits
import measure
import roostd
import soak_relays
import visitor

WEEK = 7 * 86_400
APART = 8  # seconds between two restarts
WORKERS = """
[worker.event-store]
role = "event-store"

[worker.outbox-planner]
role = "outbox-planner"
indexers = [{indexer}]
allow-private-relays = true

[worker.relay-connector]
role = "relay-connector"
relays = [{own}]
ephemeral = true

[worker.local-relay]
role = "local-relay"
listen = ["127.0.0.1:{port}"]
"""


class Place(habits.Capped):
    """A relay that keeps what it was asked."""

    def __init__(self, name, events, seed, cap=500):
        super().__init__(name, events, seed, cap)
        self.filters, self.sent = [], collections.Counter()

    async def answer(self, connection, name, filters):
        self.filters += filters
        await super().answer(connection, name, filters)

    def found(self, filters):
        return super().found([{**wanted, "authors": set(wanted["authors"])} if "authors" in wanted else wanted
                              for wanted in filters])

    async def send(self, connection, name, event):
        self.sent[event["id"]] += 1
        await super().send(connection, name, event)


class Flapping(Place, habits.Flapping):
    """The same, and it hangs up."""


def signed(keys, kind, at, tags=(), text=""):
    builder = EventBuilder(Kind(kind), text).tags([Tag.parse(list(tag)) for tag in tags])
    return json.loads(builder.custom_created_at(Timestamp.from_secs(at)).finalize(keys).as_json())


class World:
    """People, their relays, and what they wrote in a week."""

    def __init__(self, follows, relays, seed):
        self.random, self.now = random.Random(seed), int(time.time())
        self.me = Keys.generate()
        self.people = [Keys.generate() for _ in range(follows)]
        self.places = [(Flapping if number % 10 == 9 else Place)(f"relay {number}", [], seed + number)
                       for number in range(relays)]
        self.dead = relays  # one more, which nobody serves
        self.indexer, self.own = Place("indexer", [], seed), Place("own", [], seed)
        weights = [1 / (1 + number) for number in range(relays + 1)]
        self.homes = []
        for _ in self.people:
            count = self.random.choice((1, 2, 2, 3, 3, 4))
            self.homes.append(list(dict.fromkeys(self.random.choices(range(relays + 1), weights, k=count))))
        self.expected = set()

    def fill(self):
        """Lists and notes; the relays have their addresses by now."""
        urls = [place.url for place in self.places] + ["ws://127.0.0.1:1"]
        for keys, home in zip(self.people, self.homes):
            self.indexer.events.append(
                signed(keys, 10_002, self.now - 2 * WEEK, [["r", urls[number]] for number in home]))
            count = min(int(self.random.lognormvariate(1, 1.3)), 300)
            for number in range(count):
                note = signed(keys, 1, self.now - self.random.randrange(WEEK - 600), text=f"note {number}")
                served = [number for number in home if number != self.dead]
                for number in served:
                    self.places[number].events.append(note)
                if served:
                    self.expected.add(note["id"])
        self.own.events.append(
            signed(self.me, 3, self.now - WEEK, [["p", keys.public_key().to_hex()] for keys in self.people]))

    @property
    def all(self):
        return [*self.places, self.indexer, self.own]

    def forget(self):
        for place in self.all:
            place.filters, place.sent = [], collections.Counter()
            place.is_calm = False


class Reader(threading.Thread):
    """Takes what comes, and notes when."""

    def __init__(self, expected):
        super().__init__(daemon=True)
        self.expected, self.missing = expected, set(expected)
        self.begin, self.first, self.last = time.monotonic(), None, None
        self.repeats = 0

    def took(self, event):
        now = time.monotonic()
        if event["id"] in self.missing:
            self.first = self.first or now
            self.last = now
            self.missing.discard(event["id"])
        elif event["id"] in self.expected:
            self.repeats += 1


class Command(Reader):
    """`roost observe --follows`."""

    def __init__(self, world, daemon, _):
        super().__init__(world.expected)
        self.process = subprocess.Popen(
            [measure.PRODUCTS / "roost", "observe", "--follows", world.me.public_key().to_hex(), "--kind", "1",
             "--since", str(world.now - WEEK), "--json"],
            env={**os.environ, "ROOST_SOCKET": str(daemon.socket)}, stdout=subprocess.PIPE, text=True)

    def run(self):
        for line in self.process.stdout:
            value = json.loads(line)
            if "event" in value:
                self.took(value["event"])

    def end(self):
        self.process.terminate()
        self.process.wait()


class Client(Reader):
    """A client of the local relay."""

    def __init__(self, world, _, port):
        super().__init__(world.expected)
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.sendall(visitor.head(port))
        self.stream = self.socket.makefile("rb")
        while self.stream.readline() not in (b"\r\n", b""):
            pass
        authors = [keys.public_key().to_hex() for keys in world.people]
        self.socket.sendall(visitor.message(
            "REQ", "home", {"authors": authors, "kinds": [1], "since": world.now - WEEK}))

    def run(self):
        try:
            while True:
                opcode, size = visitor.frame_head(self.stream)
                payload = self.stream.read(size)
                if opcode == visitor.PING:
                    self.socket.sendall(visitor.frame(payload, opcode=10))
                if opcode == visitor.TEXT:
                    message = json.loads(payload)
                    if message[0] == "EVENT":
                        self.took(message[2])
                    elif message[0] not in ("EOSE", "AUTH"):
                        print(f"the relay said {message}", flush=True)
        except (OSError, ConnectionError):
            pass

    def end(self):
        self.socket.close()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def read(world, kind, restarts, patience):
    """One Roost that reads; what it was like. Whether nothing is missing."""
    world.forget()
    port = free_port()
    quoted = {name: json.dumps(place.url) for name, place in (("own", world.own), ("indexer", world.indexer))}
    with tempfile.TemporaryDirectory(prefix="roost-follows-") as state, \
            roostd.running(WORKERS.format(port=port, **quoted), state) as daemon, \
            bus.connected(daemon.socket) as client:
        for name in ("event-store", "outbox-planner", "relay-connector", "local-relay"):
            client.wait_for_ready(name)
        endtoend.wait_for_relays(client, 1)
        reader = kind(world, daemon, port)
        reader.start()
        deadline, killed = time.monotonic() + patience, []
        while (reader.missing or len(killed) < restarts) and time.monotonic() < deadline:
            time.sleep(0.5)
            if len(killed) < restarts and time.monotonic() > reader.begin + APART * (len(killed) + 1):
                name = ("relay-connector", "outbox-planner", "event-store")[len(killed) % 3]
                os.kill(roostd.child_named(daemon.pid, name), signal.SIGKILL)
                killed.append(name)
        reader.end()
    sent = sum(sum(place.sent.values()) for place in world.places)
    unique = sum(len(place.sent) for place in world.places)
    again = collections.Counter()
    for place in world.places:
        if isinstance(place, Flapping):
            continue  # It hangs up in the middle of a page, which is asked for again.
        asked = collections.Counter(
            author for wanted in place.filters
            if "until" not in wanted and wanted.get("limit") != 0 and wanted.get("since", 0) < world.now - WEEK + 60
            for author in wanted.get("authors", ()))
        again.update({place.name: sum(count - 1 for count in asked.values())})
    first = f"{reader.first - reader.begin:.2f} s" if reader.first else "never"
    last = f"{reader.last - reader.begin:.1f} s" if reader.last else "never"
    print(f"{kind.__name__}: the first event after {first}, the last after {last}; {len(reader.missing)} of "
          f"{len(reader.expected)} missing, {reader.repeats} shown again; killed: {', '.join(killed) or 'nobody'}")
    print(f"  relays: {sum(len(place.dials) for place in world.places)} dials so far, "
          f"{sum(len(place.filters) for place in world.places)} filters, {sent} events sent, "
          f"{100 * (sent - unique) / max(1, unique):.1f} % of them again; "
          f"asked twice for the whole week: {sum(again.values())} times", flush=True)
    if reader.missing:
        by_place = collections.Counter(
            place.name for place in world.places for event in place.events if event["id"] in reader.missing)
        print(f"  missing at {dict(by_place)}")
    return not reader.missing


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--follows", type=int, default=1_000)
    parser.add_argument("--relays", type=int, default=30)
    parser.add_argument("--restarts", type=int, default=3)
    parser.add_argument("--patience", type=int, default=420, help="seconds until everything must be there")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    world = World(options.follows, options.relays, options.seed)
    town = soak_relays.Town(world.all)
    town.start()
    town.do(town.listen())
    world.fill()
    print(f"{len(world.people)} people, {len(world.places)} relays, {len(world.expected)} events", flush=True)
    are_whole = [read(world, kind, options.restarts, options.patience) for kind in (Command, Client)]
    sys.exit(0 if all(are_whole) else 1)


if __name__ == "__main__":
    main()
