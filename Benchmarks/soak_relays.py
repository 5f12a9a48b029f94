#!/usr/bin/env python3
"""Lets a Roost observe authors at fifty scripted relays that flap, refuse, lie, stall and flood (`habits.py`), and
judges what it has at the end.

    .venv/bin/python3 Benchmarks/soak_relays.py [--seconds 600] [--seed N]

The relays are one program. Supervisor, connector, store and planner are real; a client observes two filters over all
relays. Now and then each relay gets a new event. Every twenty seconds, and at the end: no span that the store calls
covered lacks an event that the relay has. At the end the relays hang up no longer and each is tried again; then, within
three minutes: every obtainable event is in the store (habits.py says what is obtainable), and nothing else; the
subscriptions that the connector reports are those that the relays have open; no relay got more than 20 REQs a second
over ten seconds, and one more second's worth at once; dials were never closer than 0.2 s, and few; and the connector's
memory and descriptors have not grown since it was warm.

What the programs said is in Benchmarks/results/soak-relays-logs afterwards.

Exit: 0 all of it, 1 something of it not, which a sentence says.
"""

import argparse
import asyncio
import collections
import contextlib
import json
import os
import pathlib
import shutil
import sys
import threading
import time

from nostr_sdk import EventBuilder, Keys, Kind, Timestamp

import bus
import endtoend
import gate
import habits
import measure
import roostd

AUTHORS, HIGHLIGHTERS = 12, 3
KINDS = (1, 7, habits.HIGHLIGHT)
SETTLE = 180  # seconds after the last new event until everything must be there
CHECKED = 20  # seconds between two looks
LOGS = measure.RESULTS / "soak-relays-logs"
WARM = 0.3  # of the time, after which memory counts
GROWN = (1.10, 6.0)  # memory may grow by this factor and these megabytes besides
WORDS = ("restricted: members only", "blocked: you", "invalid: bad filter", "unsupported: kind", "mute: no",
         "auth-required: who are you", "pow: 28 bits", "error: out of memory", "we do not like this", "")
WORKERS = """
[worker.event-store]
role = "event-store"

[worker.signer]
role = "signer"

[worker.outbox-planner]
role = "outbox-planner"
"""


class Maker:
    """Signed events of some authors."""

    def __init__(self):
        self.keys = [Keys.generate() for _ in range(AUTHORS)]
        self.strangers = [Keys.generate() for _ in range(3)]
        self.authors = [keys.public_key().to_hex() for keys in self.keys]
        self.count = 0

    @property
    def filters(self):
        """What is observed: two filters that no planner makes one."""
        return [{"authors": self.authors, "kinds": list(KINDS[:2])},
                {"authors": self.authors[:HIGHLIGHTERS], "kinds": [habits.HIGHLIGHT]}]

    def make_next(self, at):
        """One event of any kind."""
        kind = KINDS[self.count % len(KINDS)]
        return self.make(at, kind, self.keys[self.count * 5 % (HIGHLIGHTERS if kind == habits.HIGHLIGHT else AUTHORS)])

    def make(self, at, kind, keys):
        """One event."""
        self.count += 1
        builder = EventBuilder(Kind(kind), f"soak {self.count}").custom_created_at(Timestamp.from_secs(at))
        return json.loads(builder.finalize(keys).as_json())

    def some(self, count, begin, step=37):
        """So many events backwards from `begin`, some of them in one second."""
        return [self.make_next(begin - (number - number % 3) * step) for number in range(count)]


def population(maker, now, seed):
    """The fifty relays."""
    def tied(count):
        at, first = now - 500_000, maker.keys[0]
        return [maker.make(at, 1, first) for _ in range(count)]

    kinds = [
        (habits.Relay, 120), (habits.Capped, 25, 1), (habits.Capped, 120, 3), (habits.Capped, 120, 7, True),
        (habits.Capped, 200, 20), (habits.Capped, 300, 50, True), (habits.Capped, 700, 500),
        *[(habits.Documented, 60, document) for document in habits.DOCUMENTS],
        *[(habits.Flapping, 200, 50)] * 3, *[(habits.Leaving, 100)] * 2, (habits.Dead, 60),
        *[(habits.Refusing, 90, words) for words in WORDS],
        (habits.Noticing, 90, "ERROR: bad req"), (habits.Noticing, 90, "could not parse"),
        (habits.Moody, 90, "error: shutting down", 1), (habits.Moody, 90, "try later", 2),
        (habits.Crowded, 200, 2), (habits.Crowded, 200, 3), (habits.Crowded, 200, 3, True),
        (habits.Limiting, 200, 4), (habits.Limiting, 200, 2),
        (habits.Early, 80), (habits.Endless, 60), (habits.Flooding, 50),
        (habits.Straying, 80, [maker.make(now - 900, 1, keys) for keys in maker.strangers]),
        (habits.Repeating, 120, 40), *[(habits.Shuffled, 200, 60)] * 2, *[(habits.Stalling, 100, 50)] * 2,
        (habits.Slow, 60), (habits.Garbled, 100), (habits.Future, 90, 30),
    ]
    relays = []
    for number, (habit, count, *more) in enumerate(kinds):
        events = maker.some(count, now - 3_600 - 7 * number)
        if habit is habits.Capped and more[0] < 50:
            events += tied(more[0] + 5)
        if habit is habits.Future:
            events += maker.some(10, now + 31_536_000)
        name = " ".join([habit.__name__, *(str(value) for value in more if not isinstance(value, list))])
        relays.append(habit(f"{number} {name}", events, seed + number, *more))
    return relays


class Town(threading.Thread):
    """The relays, on a thread of their own."""

    def __init__(self, relays):
        super().__init__(daemon=True)
        self.relays, self.loop = relays, asyncio.new_event_loop()

    def run(self):
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    def do(self, coroutine):
        """Runs something there; its result."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(60)

    async def listen(self):
        for relay in self.relays:
            await relay.listen()

    async def publish(self, pairs):
        for relay, event in pairs:
            await relay.publish(event)

    async def calm(self):
        for relay in self.relays:
            relay.is_calm = True

    async def state(self):
        """What the judge reads, at one moment."""
        return {relay.url: (relay.open_count, len(relay.connections)) for relay in self.relays}


class Observer(threading.Thread):
    """An application that observes, and takes what it is given."""

    def __init__(self, path, filters):
        super().__init__(daemon=True)
        self.path, self.filters = path, filters

    def run(self):
        with contextlib.suppress(OSError, ConnectionError), bus.connected(self.path, name="observer") as client:
            for wanted in self.filters:
                client.ask("store.observe", {"filters": [wanted]})
            while True:
                client.next()


class Judge:
    """What is known of the Roost, and what was found wrong."""

    def __init__(self, town, client, pid, filters):
        self.town, self.client, self.pid, self.filters = town, client, pid, filters
        self.stored, self.faults, self.samples = set(), [], []

    def find(self, words):
        """Something is wrong."""
        if words not in self.faults:
            self.faults.append(words)
            print(f"WRONG: {words}", flush=True)

    def look(self, ids):
        """Those of some events that are not stored."""
        def missing(some):
            if not some or self.client.call("store.count", filters=[{"ids": some}])["count"] == len(some):
                self.stored.update(some)
                return []
            if len(some) == 1:
                return some
            half = len(some) // 2
            return missing(some[:half]) + missing(some[half:])
        wanted = sorted(set(ids) - self.stored)
        return [name for start in range(0, len(wanted), 200) for name in missing(wanted[start:start + 200])]

    def missing(self):
        """Obtainable events that are not stored, by relay."""
        wanted = {relay: [event["id"] for event in relay.obtainable()] for relay in self.town.relays}
        lost = set(self.look({name for names in wanted.values() for name in names}))
        return {relay.name: sum(name in lost for name in names)
                for relay, names in wanted.items() if lost.intersection(names)}

    def check_coverage(self):
        """No span that is covered lacks an event of the relay: what is claimed is read first."""
        for relay in self.town.relays:
            have = relay.events + list(relay.live)
            parts, _ = self.client.exchange(
                "store.coverage", {"filters": self.filters, "relays": [relay.url], "inParts": True})
            claimed = []
            for answer in map(json.loads, parts):
                spans = [(span["since"], span["until"], span["checkedAt"]) for span in answer["intervals"]]
                claimed += [event["id"] for event in have
                            if spans and answer.get("part") and habits.matches(event, answer["part"])
                            and any(since <= event["created_at"] <= until for since, until, _ in spans)]
            if not relay.claims and claimed:
                self.find(f"{relay.name} never says EOSE, and {len(claimed)} of its events are claimed as covered")
            lost = self.look(claimed)
            if lost:
                self.find(f"of {relay.name} {len(lost)} events are claimed as covered and not stored, as {lost[0]}")

    def sample(self):
        """Memory and descriptors of the connector."""
        names = [os.readlink(name) for name in pathlib.Path(f"/proc/{self.pid}/fd").glob("*") if name.is_symlink()]
        sockets = sum(name.startswith("socket:") for name in names)
        self.samples.append((time.monotonic(), gate.private_mebibytes(self.pid) * 1.048576, len(names) - sockets,
                             sockets))

    def check_leaks(self, begin, end):
        """Memory is flat after it was warm; descriptors are those of the relays."""
        warm = [sample for sample in self.samples if sample[0] >= begin + WARM * (end - begin)]
        third = max(1, len(warm) // 3)
        early, late = ([sample[1] for sample in some] for some in (warm[:third], warm[-third:]))
        before, after = sorted(early)[len(early) // 2], sorted(late)[len(late) // 2]
        print(f"connector: {before:.1f} MB when warm, {after:.1f} MB at the end; "
              f"{self.samples[-1][3]} sockets and {self.samples[-1][2]} other descriptors", flush=True)
        if after > before * GROWN[0] + GROWN[1]:
            self.find(f"the connector's memory has grown from {before:.1f} MB to {after:.1f} MB")
        others = [sample[2] for sample in warm]
        if others[-1] > others[0] + 4:
            self.find(f"the connector's descriptors besides sockets have grown from {others[0]} to {others[-1]}")

    def check_slots(self):
        """The connector reports as many open subscriptions as the relays have, and has as many sockets."""
        deadline = time.monotonic() + 30
        while True:
            listed = {relay["relay"].rstrip("/"): relay for relay in self.client.call("relay.list")["relays"]}
            open_there = self.town.do(self.town.state())
            wrong = [(relay.name, listed[relay.url].get("subscriptionCount", 0), open_there[relay.url][0])
                     for relay in self.town.relays
                     if listed[relay.url].get("subscriptionCount", 0) != open_there[relay.url][0]]
            if not wrong or time.monotonic() > deadline:
                break
            time.sleep(1)
        for name, said, there in wrong:
            self.find(f"the connector has {said} subscriptions open at {name}, and the relay {there}")
        self.sample()
        connected = sum(count for _, count in open_there.values())
        if self.samples[-1][3] > connected + 8:
            self.find(f"the connector has {self.samples[-1][3]} sockets, and the relays {connected} connections")

    def check_pace(self, seconds):
        """REQs and dials are within their bounds."""
        for relay in self.town.relays:
            for times in relay.requests.values():
                most = max((sum(at < other <= at + 10 for other in times) for at in times), default=0)
                if most > 220:
                    self.find(f"{relay.name} got {most} REQs within ten seconds")
            gaps = [after - before for before, after in zip(relay.dials, relay.dials[1:])]
            if gaps and min(gaps) < 0.2:
                self.find(f"{relay.name} was dialled twice within {min(gaps):.3f} s")
            if len(relay.dials) > 15 + seconds / 10:
                self.find(f"{relay.name} was dialled {len(relay.dials)} times in {seconds:.0f} s")


def soak(town, maker, judge, seconds):
    """Lets the time pass, with new events and looks."""
    begin, number = time.monotonic(), 0
    looked = begin
    while time.monotonic() < begin + seconds:
        time.sleep(1)
        number += 1
        now = int(time.time())
        some = [relay for place, relay in enumerate(town.relays) if place % 10 == number % 10]
        town.do(town.publish([(relay, maker.make_next(now)) for relay in some]))
        judge.sample()
        if time.monotonic() > looked + CHECKED:
            looked = time.monotonic()
            judge.check_coverage()
            left = judge.missing()
            print(f"{time.monotonic() - begin:4.0f} s: {len(judge.stored)} events stored, {sum(left.values())} missing "
                  f"at {len(left)} relays; {judge.samples[-1][1]:.1f} MB", flush=True)
    return begin, time.monotonic()


def settle(town, judge):
    """The relays calm down, and each that is away is tried again."""
    town.do(town.calm())
    deadline = time.monotonic() + SETTLE
    while time.monotonic() < deadline:
        for relay in judge.client.call("relay.list")["relays"]:
            if relay["state"] != "open":
                judge.client.call("relay.retry", relay=relay["relay"])
        time.sleep(5)
        judge.sample()
        if not judge.missing():
            return
    for name, count in judge.missing().items():
        judge.find(f"of {name} {count} obtainable events are not stored")


def judged(town, maker, daemon, client, seconds):
    """Observes for so long, and judges."""
    start = time.monotonic()
    pid = roostd.child_named(daemon.pid, "relay-connector")
    judge = Judge(town, client, pid, maker.filters)
    Observer(daemon.socket, maker.filters).start()
    begin, end = soak(town, maker, judge, seconds)
    settle(town, judge)
    judge.check_coverage()
    judge.check_slots()
    judge.check_pace(time.monotonic() - start)
    judge.check_leaks(begin, end)
    strange = {event["id"] for relay in town.relays for event in getattr(relay, "strangers", ())}
    for name in strange - set(judge.look(strange)):
        judge.find(f"the event {name} is stored, which nobody asked for")
    if roostd.child_named(daemon.pid, "relay-connector") != pid:
        judge.find("the connector was restarted")
    return judge


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    LOGS.parent.mkdir(exist_ok=True)
    maker = Maker()
    relays = population(maker, int(time.time()), options.seed)
    town = Town(relays)
    town.start()
    town.do(town.listen())
    urls = [relay.url for relay in relays]
    with roostd.running(WORKERS + endtoend.connector(urls)) as daemon, bus.connected(daemon.socket) as client:
        for name in ("event-store", "outbox-planner", "relay-connector"):
            client.wait_for_ready(name)
        try:
            judge = judged(town, maker, daemon, client, options.seconds)
        finally:
            shutil.rmtree(LOGS, ignore_errors=True)
            shutil.copytree(daemon.socket.parent / "logs", LOGS)
    told = collections.Counter()
    for relay in relays:
        told.update({"dials": len(relay.dials), "REQs": relay.asks, "refusals": sum(relay.refused.values())})
    print(f"{len(relays)} relays, {len(judge.stored)} events; {dict(told)}")
    print("nothing is wrong" if not judge.faults else f"WRONG in {len(judge.faults)} ways: {judge.faults[0]}")
    sys.exit(1 if judge.faults else 0)


if __name__ == "__main__":
    main()
