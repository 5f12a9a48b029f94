"""One of outbox-bench's worlds, served by scripted relays over sockets: what does the real daemon have of it?

    .venv/bin/python3 Benchmarks/outbox_town.py [--seed N] [--seconds 240]

The world's relays are one program; relays that nothing answers at are closed ports, relays that refuse readers say so,
and the others have the world's limit of events for a REQ. For each of `selection = "greedy"`, "direct" and "learned" a
Roost reads the week before the last one for some minutes, is restarted, which makes the learning one count what came,
and then reads the last week. Told is the share of what the relays hold of the last week that the relays delivered that
stay open (a relay that is only visited does not count), that all relays delivered, and what outbox-bench says of the
same world without sockets.

Exit: 0 when the order of the three is the same by sockets as without, 1 when not.
"""

import argparse
import collections
import contextlib
import json
import subprocess
import sys
import tempfile
import threading
import time

from nostr_sdk import Keys

import bus
import follows
import habits
import measure
import roostd
import soak_relays

WEEK = 7 * 86_400
MODES = ("greedy", "direct", "learned")
COUNTED = 75  # seconds after a start until a learning Roost has counted what came
WORKERS = """
[worker.event-store]
role = "event-store"

[worker.outbox-planner]
role = "outbox-planner"
selection = "{mode}"
indexers = [{indexer}]
allow-private-relays = true

[worker.relay-connector]
role = "relay-connector"
relays = []
ephemeral = true
"""


class Closed(follows.Place):
    """A relay that lets nobody read."""

    async def answer(self, connection, name, filters):
        await self.refuse(connection, name, "restricted: members only")


class World:
    """What outbox-bench prints of a world, with keys, addresses and signatures."""

    def __init__(self, seed):
        done = subprocess.run([measure.PRODUCTS / "outbox-bench", "town", "--seeds", "1", "--first", str(seed)],
                              check=True, capture_output=True, text=True)
        lines = [line.split("\t") for line in done.stdout.splitlines()]
        self.now = int(time.time()) - 60
        self.simulated = {line[1]: float(line[2]) for line in lines if line[0] == "planner"}
        self.lists = [[int(name) for name in line[2].split(",") if name] for line in lines if line[0] == "author"]
        self.told = [(int(author), int(minutes), [int(name) for name in held.split(",")])
                     for _, author, minutes, held in (line for line in lines if line[0] == "event")]
        named = {name for some in self.lists for name in some} | {name for *_, held in self.told for name in held}
        self.places = {int(number): (Closed if kind == "closed" else follows.Place)(
            f"relay {number}", [], int(number), int(maximum) or habits.Relay.cap)
            for _, number, kind, maximum in (line for line in lines if line[0] == "relay")
            if kind != "dead" and int(number) in named}
        self.indexer = follows.Place("indexer", [], seed)
        self.keys = [Keys.generate() for _ in self.lists]

    def fill(self):
        """Lists and notes; the relays have their addresses by now."""
        for keys, some in zip(self.keys, self.lists):
            urls = [self.places[name].url if name in self.places else f"ws://127.77.{name // 256}.{name % 256}:9"
                    for name in some]
            self.indexer.events.append(follows.signed(keys, 10_002, self.now - 9 * WEEK, [["r", url] for url in urls]))
        self.last = set()
        for number, (author, minutes, held) in enumerate(self.told):
            at = self.now - 60 * minutes
            note = follows.signed(self.keys[author], 1, at, text=f"note {number}")
            for name in held:
                if name in self.places:
                    self.places[name].events.append(note)
            if at > self.now - WEEK:
                self.last.add(note["id"])

    @property
    def authors(self):
        return [keys.public_key().to_hex() for keys in self.keys]


class Observer(threading.Thread):
    """Observes something, and keeps the ids of what comes."""

    def __init__(self, path, wanted):
        super().__init__(daemon=True)
        self.path, self.wanted, self.ids = path, wanted, set()

    def run(self):
        with contextlib.suppress(OSError, ConnectionError), bus.connected(self.path, name="observer") as client:
            client.ask("store.observe", {"filters": [self.wanted]})
            while True:
                _, flags, _, payload = client.next()
                if flags & bus.MORE:
                    event = json.loads(payload).get("event")
                    if event:
                        self.ids.add(event["id"])


@contextlib.contextmanager
def roost(world, mode, state):
    """A Roost that chooses in this way, and a client."""
    workers = WORKERS.format(mode=mode, indexer=json.dumps(world.indexer.url))
    with roostd.running(workers, state) as daemon, bus.connected(daemon.socket) as client:
        for name in ("event-store", "outbox-planner", "relay-connector"):
            client.wait_for_ready(name)
        yield daemon, client


def read(world, mode, seconds):
    """What one way of choosing has of the last week: from relays that stay open, and from all."""
    for place in world.places.values():
        place.sent = collections.Counter()
    before = {"authors": world.authors, "kinds": [1], "since": world.now - 2 * WEEK, "until": world.now - WEEK - 1}
    last = {"authors": world.authors, "kinds": [1], "since": world.now - WEEK, "until": world.now}
    with tempfile.TemporaryDirectory(prefix="roost-town-") as state:
        with roost(world, mode, state) as (daemon, _):
            Observer(daemon.socket, before).start()
            time.sleep(seconds)
        with roost(world, mode, state) as (daemon, client):
            Observer(daemon.socket, before).start()
            time.sleep(COUNTED)
            observer = Observer(daemon.socket, last)
            observer.start()
            time.sleep(seconds)
            stops = client.call("plan.route", filters=[last])["stops"]
    stay = {stop["relay"] for stop in stops if not any(why.startswith("visited") for why in stop["why"])}
    urls = {place.url.rstrip("/"): place for place in world.places.values()}
    open_there = [urls[url.rstrip("/")] for url in stay if url.rstrip("/") in urls]
    had = set().union(*(place.sent for place in open_there)) if open_there else set()
    return len(had & world.last) / len(world.last), len(observer.ids & world.last) / len(world.last), len(open_there)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=240)
    options = parser.parse_args()
    world = World(options.seed)
    town = soak_relays.Town([*world.places.values(), world.indexer])
    town.start()
    town.do(town.listen())
    world.fill()
    print(f"world {options.seed}: {len(world.keys)} people, {len(world.places)} relays that answer, "
          f"{len(world.told)} events, {len(world.last)} of the last week", flush=True)
    print("\n| selection | relays that stay open | of the week by these | by all | simulated |\n|---|---|---|---|---|")
    found = {}
    for mode in MODES:
        found[mode], whole, count = read(world, mode, options.seconds)
        print(f"| {mode} | {count} | {100 * found[mode]:.1f} % | {100 * whole:.1f} % | "
              f"{100 * world.simulated[mode]:.1f} % |", flush=True)
    orders = [sorted(MODES, key=some.get) for some in (found, world.simulated)]
    print(f"\nthe order is {'the same' if orders[0] == orders[1] else 'another'}: {', '.join(reversed(orders[0]))}")
    sys.exit(0 if orders[0] == orders[1] else 1)


if __name__ == "__main__":
    main()
