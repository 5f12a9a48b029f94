#!/usr/bin/env python3
"""The feed of a thousand follows: how long an event takes from a relay to its reader, and what one more follow asks.

    .venv/bin/python3 Benchmarks/feeds.py [--follows 1000] [--relays 10] [--rounds 1] [--seed N] [--products DIRECTORY]

    relay (habits.py) ─ WebSocket ─▶ relay-connector ─▶ event-store ─▶ people ─▶ a client that reads people.feed
                                                            └──────────────────▶ one that observes one author

Both clients are of one Roost, and events of both kinds come in turn, one at a time. The yardstick is `store.observe` of
one author whom the feed does not show. Each figure is a median over the events of a round.

With one round it also follows one person more while the feed runs, and prints each REQ that relays get for it.
"""

import argparse
import asyncio
import json
import pathlib
import random
import statistics
import subprocess
import sys
import threading
import time

import bus
import endtoend
import measure
import roostd

FOLLOWS = 1_000
EVENTS = 60  # of each kind in a round
WORKERS = """
[worker.event-store]
role = "event-store"

[worker.signer]
role = "signer"

[worker.people]
role = "people"

[worker.outbox-planner]
role = "outbox-planner"
indexers = [{indexers}]
allow-private-relays = true

[worker.relay-connector]
role = "relay-connector"
relays = [{own}]
ephemeral = true
"""
NAMES = ("event-store", "signer", "people", "outbox-planner", "relay-connector")


class Loop(threading.Thread):
    """The relays' event loop."""

    def __init__(self):
        super().__init__(daemon=True)
        self.loop = asyncio.new_event_loop()
        self.start()

    def run(self):
        self.loop.run_forever()

    def do(self, task):
        """Runs a coroutine there, and waits for it."""
        return asyncio.run_coroutine_threadsafe(task, self.loop).result(60)


class World:
    """People who write to some relays, and one who follows them."""

    def __init__(self, follows, relays, seed):
        import follows as places  # pylint: disable=import-outside-toplevel
        from nostr_sdk import Keys  # pylint: disable=import-outside-toplevel
        self.signed = places.signed
        self.random, self.now = random.Random(seed), int(time.time())
        self.me, self.other, self.later = Keys.generate(), Keys.generate(), Keys.generate()
        self.people = [Keys.generate() for _ in range(follows)]
        self.own = places.Place("own", [], seed)
        self.places = [places.Place(f"relay {number}", [], seed + number) for number in range(relays)]
        self.loop = Loop()
        for place in [self.own, *self.places]:
            self.loop.do(place.listen())
        self.homes = {}
        for keys in [*self.people, self.later]:
            self.homes[keys.public_key().to_hex()] = self.random.sample(range(relays), min(2, relays))

    def lists(self):
        """Who writes where, and whom one follows."""
        for key, home in self.homes.items():
            keys = next(keys for keys in [*self.people, self.later] if keys.public_key().to_hex() == key)
            yield self.signed(keys, 10_002, self.now - 90_000, [["r", self.places[number].url] for number in home])
        yield self.follows(self.people, self.now - 80_000)

    def follows(self, people, at):
        """A follow list."""
        return self.signed(self.me, 3, at, [["p", keys.public_key().to_hex()] for keys in people])


def publish(client, event):
    """Stores an event without any relay."""
    client.exchange("store.publish", event)


class Reader(threading.Thread):
    """Reads an answer that never ends; notes when each event came."""

    def __init__(self, socket, method, **arguments):
        super().__init__(daemon=True)
        self.client = bus.Client(socket)
        self.came, self.parts = {}, 0
        self.is_live = threading.Event()
        self.changed = threading.Condition()
        self.number = self.client.ask(method, arguments)
        self.start()

    def run(self):
        while True:
            kind, _, answered, payload = self.client.next()
            if answered != self.number:
                continue
            if kind == bus.ERROR:
                print(payload.decode(), file=sys.stderr)
                return
            if kind != bus.RESPONSE:
                continue
            value = json.loads(payload)
            if value.get("isStoredEnd"):
                self.is_live.set()
            if "event" in value:
                with self.changed:
                    self.came[value["event"]["id"]] = time.monotonic()
                    self.changed.notify_all()

    def wait_for(self, name, seconds=20):
        """When an event came."""
        with self.changed:
            if not self.changed.wait_for(lambda: name in self.came, seconds):
                raise RuntimeError("an event did not come")
            return self.came[name]


def arrival(world, reader, place, event):
    """Seconds from a relay to a reader."""
    begin = time.monotonic()
    world.loop.do(place.publish(event))
    return reader.wait_for(event["id"]) - begin


def settled(world, seconds=3.0, patience=120):
    """Waits until no relay gets a REQ any more."""
    deadline = time.monotonic() + patience
    last, since = -1, time.monotonic()
    while time.monotonic() < deadline and time.monotonic() - since < seconds:
        asks = sum(place.asks for place in [world.own, *world.places])
        if asks != last:
            last, since = asks, time.monotonic()
        time.sleep(0.1)


def asked(world, patience=180):
    """Waits until each relay has a subscription: a connector dials eight new relays a minute."""
    deadline = time.monotonic() + patience
    while not all(place.open_count for place in world.places):
        if time.monotonic() > deadline:
            raise RuntimeError("not all relays were asked in time")
        time.sleep(0.2)


def rounds(world, daemon, count):
    """Medians of both, in milliseconds, of each round."""
    with bus.connected(daemon.socket) as client:
        for name in NAMES:
            client.wait_for_ready(name)
        for event in world.lists():
            publish(client, event)
        feed = Reader(daemon.socket, "people.feed", account=world.me.public_key().to_hex(), kinds=[1], limit=0)
        observer = Reader(daemon.socket, "store.observe", filters=[
            {"authors": [world.other.public_key().to_hex()], "kinds": [1]}], relays=[world.own.url])
        for reader in (feed, observer):
            reader.is_live.wait(60)
        asked(world)
        settled(world)
        print(f"{sum(place.asks for place in [world.own, *world.places])} REQs until the feed of "
              f"{len(world.people)} was settled", file=sys.stderr)
        for number in range(count):
            fed, observed = [], []
            for turn in range(EVENTS):
                keys = world.random.choice(world.people)
                place = world.places[world.homes[keys.public_key().to_hex()][0]]
                now = int(time.time())
                fed.append(arrival(world, feed, place, world.signed(keys, 1, now, text=f"{number} {turn}")))
                observed.append(arrival(
                    world, observer, world.own, world.signed(world.other, 1, now, text=f"{number} {turn}")))
            yield statistics.median(fed) * 1e3, statistics.median(observed) * 1e3
        if count == 1:
            one_more(world, client, feed)


def one_more(world, client, feed):
    """Follows one person more, and prints what relays get for it."""
    settled(world, 20)
    for place in [world.own, *world.places]:
        place.filters, place.asks = [], 0
    publish(client, world.follows([*world.people, world.later], world.now))
    event = world.signed(world.later, 1, int(time.time()), text="later")
    home = [world.places[number] for number in world.homes[world.later.public_key().to_hex()]]
    settled(world)
    for place in [world.own, *world.places]:
        if place.asks:
            is_home = " (the new person's)" if place in home else ""
            print(f"{place.name}{is_home}: {place.asks} REQs, " + "; ".join(
                f"{len(wanted.get('authors', []))} authors of kinds {wanted.get('kinds')}"
                + (f", limit {wanted['limit']}" if "limit" in wanted else "")
                + (f", since {int(time.time()) - wanted['since']} s" if "since" in wanted else "")
                for wanted in place.filters))
    print(f"the new person's event after {arrival(world, feed, home[0], event) * 1e3:.1f} ms")


def measured(count, follows, relays, seed):
    """All results."""
    world = World(follows, relays, seed)
    settings = WORKERS.format(own=json.dumps(world.own.url), indexers="")
    with roostd.running(settings) as daemon:
        medians = list(rounds(world, daemon, count))
    yield measure.result("feed-arrival", f"people.feed of {follows:,}", "ms", [fed for fed, _ in medians])
    yield measure.result("feed-arrival", "store.observe of one author", "ms", [observed for _, observed in medians])


def run(count):
    """All results, from a process that has nostr-sdk, which signs the events; none without it."""
    if not endtoend.has_sdk():
        print(f"skipped: feeds: {endtoend.YARDSTICK} is not in .venv", file=sys.stderr)
        return
    command = [endtoend.PYTHON, __file__, "--rounds", str(count), "--json"]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=1_200).stdout
    yield from map(json.loads, output.splitlines())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--follows", type=int, default=FOLLOWS)
    parser.add_argument("--relays", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print results as they are kept")
    parser.add_argument("--products", type=pathlib.Path, help="where the programs are, if not in .build/release")
    options = parser.parse_args()
    if options.products:
        measure.PRODUCTS = options.products
    for result in measured(options.rounds, options.follows, options.relays, options.seed):
        print(json.dumps(result) if options.json else f"{result['program']}: {result['median']:.2f} {result['unit']}")


if __name__ == "__main__":
    main()
