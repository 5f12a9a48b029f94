#!/usr/bin/env python3
"""Has a Roost fetch all that one author wrote and all that names it, from relays of every kind, and judges what it has.

    .venv/bin/python3 Benchmarks/mirror_world.py [--own 50000] [--naming 80000] [--wraps 1000] [--cap 500] [--seed N]
                                          [--sync]

Three relays are nostr-sdk's LocalRelay, with a cap of events for each filter, which also caps what they compare by
NIP-77 (0: none); one of them wants authentication. One is nostr-relay. Of the relays in Python, one sends 100 events at
most, one sends a page in no order, one has forgotten what is older than 30 days, one sends between the events what
was not asked for, and at one address nothing listens. Each event is at two relays. Two gift wraps in ten reach their
relays when the rest was fetched, dated two days back.

Told are the events that the Roost has of each class beside those that any of the relays would give, what
`mirror.status` says of it, the time, and the bytes between it and the relays, except the one with authentication. With
--sync, nostr-sdk's client with a database of its own fetches the same filters from the same relays first, in both ways
of `nostr_sdk_sync.py`: by NIP-77, which only the three LocalRelays speak. What these have is in parentheses. Exit: 0
when every event is there, the figures are those of the independent count, and gift wraps were asked for at their own
relays only.
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
import time

from nostr_sdk import EventBuilder, Keys, Kind, Tag, Timestamp

import bus
import habits
import measure
import mirror
import roostd
import visitor
from soak_relays import Town

NOSTR_RELAY_PYTHON = measure.ROOT / ".venv-nostr-relay" / "bin" / "python3"
DAY = 86_400
NAMING_KINDS = (1, 1, 1, 7, 7, 6, 9_735)
STALL = 600  # seconds without a new event, after which a run is given up


def matches(event, wanted):
    """Whether a filter of ids, authors, kinds, times and tags matches."""
    return (("ids" not in wanted or event["id"] in wanted["ids"])
            and ("authors" not in wanted or event["pubkey"] in wanted["authors"])
            and ("kinds" not in wanted or event["kind"] in wanted["kinds"])
            and wanted.get("since", 0) <= event["created_at"] <= wanted.get("until", 1 << 62)
            and all(any(tag[0] == name[1:] and tag[1] in values for tag in event["tags"] if len(tag) > 1)
                    for name, values in wanted.items() if name.startswith("#")))


class Ordered:
    """A relay whose events are sorted once; it looks at no more of them than a page needs."""

    def found(self, filters):
        if not hasattr(self, "sorted"):
            self.sorted = sorted(self.events, key=lambda event: (-event["created_at"], event["id"]))
        chosen = {}
        for wanted in filters:
            limit, count = min(self.cap, wanted.get("limit", self.cap)), 0
            for event in self.sorted:
                if count == limit or event["created_at"] < wanted.get("since", 0):
                    break
                if matches(event, wanted):
                    chosen[event["id"]] = event
                    count += 1
        return list(chosen.values())


class Capped(Ordered, habits.Capped):
    """100 events to a filter."""


class Shuffled(Ordered, habits.Shuffled):
    """Its pages are in no order."""

    def found(self, filters):
        found = Ordered.found(self, filters)
        self.random.shuffle(found)
        return found


class Straying(Ordered, habits.Straying):
    """Sends what nobody asked for."""


class Forgetting(Ordered, habits.Capped):
    """Has nothing that is older than 30 days."""

    def __init__(self, name, events, seed, cap):
        now = time.time()
        super().__init__(name, [event for event in events if event["created_at"] > now - 30 * DAY], seed, cap)


def population(options, chance, now):
    """The author's keys, and events as JSON by class."""
    author, others = Keys.generate(), [Keys.generate() for _ in range(300)]
    me = Tag.parse(["p", author.public_key().to_hex()])

    def event(keys, kind, age, tags=(), content=""):
        at = Timestamp.from_secs(int(now - age))
        return EventBuilder(Kind(kind), content).tags(list(tags)).custom_created_at(at).finalize(keys).as_json()

    def age(number, count):
        # More of it is recent, as with people.
        return 60 + 1_000 * DAY * (number / count) ** 2 + chance.random() * 1_000

    own = [event(author, 1, age(number, options.own), content=f"note {number} " + "word " * chance.randrange(60))
           for number in range(options.own)]
    naming = [event(chance.choice(others), chance.choice(NAMING_KINDS), age(number, options.naming), [me], f"{number}")
              for number in range(options.naming)]
    wraps = [event(Keys.generate(), 1_059, age(number, options.wraps) / 20, [me], "x" * chance.randrange(200, 900))
             for number in range(options.wraps * 8 // 10)]
    late = [event(Keys.generate(), 1_059, 2 * DAY - chance.randrange(3_600), [me], "late")
            for _ in range(options.wraps - len(wraps))]
    return author, own, naming, wraps, late, event


def send(url, events):
    """Publishes events at a relay; the number of those that it took."""
    port = int(url.rsplit(":", 1)[1])
    taken = 0
    with contextlib.closing(socket.create_connection(("127.0.0.1", port))) as connection:
        connection.sendall(visitor.head(port))
        stream = connection.makefile("rb")
        while stream.readline() not in (b"\r\n", b""):
            pass
        for event in events:
            connection.sendall(visitor.message("EVENT", json.loads(event)))
            while True:
                opcode, size = visitor.frame_head(stream)
                words = json.loads(stream.read(size)) if opcode == visitor.TEXT else stream.read(size) and [""]
                if words[0] == "OK":
                    taken += words[2]
                    break
    return taken


def exported(daemon, wanted):
    """The ids of stored events that match a filter, by the command line."""
    output = subprocess.run(
        [measure.PRODUCTS / "roost", "export", "--filter", json.dumps(wanted)],
        env={**os.environ, "ROOST_SOCKET": str(daemon.socket)}, capture_output=True, check=True).stdout
    return {json.loads(line)["id"] for line in output.splitlines()}


def synchronise(way, filters, relays, keys, folder, meters, expected, comparable):
    """Lets nostr-sdk's client fetch the same, in a process of its own, and prints what it has got: beside what is
    obtainable, and beside what is at relays that compare."""
    [meter.take() for meter in meters.values()]
    job = {"secret": keys.secret_key().to_hex(), "folder": str(folder), "filters": filters, "relays": relays}
    answer = json.loads(subprocess.run(
        [sys.executable, measure.ROOT / "Benchmarks" / "nostr_sdk_sync.py", "--by", way], input=json.dumps(job),
        stdout=subprocess.PIPE, text=True, check=True).stdout)
    got = {kind: f"{len(wanted.intersection(answer['classes'][kind]))} of {len(wanted)} ({len(wanted & comparable)})"
           for kind, wanted in expected.items()}
    print(f"nostr-sdk, by {way}: {answer['seconds']:.1f} s, {answer['calls']} calls, {got}; "
          f"{sum(meter.take() for meter in meters.values()) / 1e6:.1f} MB; failed {answer['failed']}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--own", type=int, default=50_000)
    parser.add_argument("--naming", type=int, default=80_000)
    parser.add_argument("--wraps", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    parser.add_argument("--cap", type=int, default=500)
    parser.add_argument("--sync", action="store_true")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    chance, now = random.Random(options.seed), int(time.time())
    author, own, naming, wraps, late, event = population(options, chance, now)
    me = author.public_key().to_hex()
    strangers = [json.loads(event(Keys.generate(), 1, 100, content="stray")) for _ in range(20)]
    with tempfile.TemporaryDirectory(prefix="roost-world-") as name, contextlib.ExitStack() as stack:
        folder = pathlib.Path(name)
        python = sys.executable
        cap = ["--cap", str(options.cap)] if options.cap else []
        # Which events each relay has: two relays an event, the slow ones fewer.
        places = {name: [] for name in ("local 1", "local 2", "local with AUTH", "nostr-relay", "cap 100", "no order",
                                        "30 days", "straying")}
        names, weights = list(places), (8, 8, 4, 2, 2, 2, 2, 2)
        for some in own, naming:
            for text in some:
                for place in {*chance.choices(names, weights, k=2)}:
                    places[place].append(text)
        for text in wraps:
            for place in {*chance.choices(("local 1", "local with AUTH"), k=2)}:
                places[place].append(text)
        files = {place: mirror.written(some, folder / f"{index}.jsonl")
                 for index, (place, some) in enumerate(places.items())}
        urls = {
            "local 1": stack.enter_context(mirror.peer(python, "local_relay.py", *cap, files["local 1"])),
            "local 2": stack.enter_context(mirror.peer(python, "local_relay.py", *cap, files["local 2"])),
            "local with AUTH": stack.enter_context(
                mirror.peer(python, "local_relay.py", *cap, "--auth", "read", files["local with AUTH"])),
        }
        (folder / "nostr-relay").mkdir()
        urls["nostr-relay"] = stack.enter_context(
            mirror.peer(NOSTR_RELAY_PYTHON, "nostr_relay_peer.py", "--events", files["nostr-relay"],
                        folder / "nostr-relay"))
        parsed = {place: [json.loads(text) for text in places[place]] for place in names[4:]}
        town = Town([
            Capped("cap 100", parsed["cap 100"], 1, 100), Shuffled("no order", parsed["no order"], 2, 300),
            Forgetting("30 days", parsed["30 days"], 3, 500), Straying("straying", parsed["straying"], 4, strangers)])
        town.start()
        town.do(town.listen())
        urls |= {relay.name: relay.url for relay in town.relays}
        given = {place: {json.loads(text)["id"] for text in places[place]} for place in names[:4]}
        given |= {relay.name: {found["id"] for found in relay.obtainable()} for relay in town.relays}
        # Authentication names the relay's own address.
        meters = {place: mirror.Meter(url) for place, url in urls.items() if place != "local with AUTH"}
        used = [meter.url for meter in meters.values()] + [urls["local with AUTH"]]
        with socket.create_server(("127.0.0.1", 0)) as closed:
            dead = f"ws://127.0.0.1:{closed.getsockname()[1]}"
        print({meter.url: place for place, meter in meters.items()}, used[-1], "AUTH", flush=True)
        lists = [event(author, 10_002, 30, [Tag.parse(["r", url]) for url in [*used[:6], dead]]),
                 event(author, 10_050, 30, [Tag.parse(["relay", url]) for url in (used[0], urls["local with AUTH"])])]
        send(urls["local 1"], lists)
        given["local 1"] |= {json.loads(text)["id"] for text in lists}
        classes = {"own": {"authors": [me]}, "named": {"#p": [me], "kinds": sorted(set(NAMING_KINDS))},
                   "wraps": {"#p": [me], "kinds": [1_059]}}
        obtainable = set().union(*given.values())
        expected = {
            "own": {json.loads(text)["id"] for text in own + lists} & obtainable,
            "named": {json.loads(text)["id"] for text in naming} & obtainable,
            "wraps": {json.loads(text)["id"] for text in wraps} & obtainable}
        print(f"{len(own)} own, {len(naming)} naming, {len(wraps)} wraps and {len(late)} late; relays: "
              f"{ {place: len(ids) for place, ids in given.items()} }; obtainable "
              f"{ {kind: len(ids) for kind, ids in expected.items()} }", flush=True)
        if options.sync:
            inboxes = [used[0], urls["local with AUTH"]]
            relays = {"own": [*used, dead], "named": [*used, dead], "wraps": inboxes}
            for way in "sync", "ids":
                synchronise(way, classes, relays, author, folder, meters, expected,
                            set().union(*(given[place] for place in names[:3])))
        workers = mirror.WORKERS.format(relays=json.dumps([*used, dead]))
        with roostd.running(workers, folder / "state") as daemon, bus.connected(daemon.socket) as client:
            for worker in ("event-store", "signer", "outbox-planner", "relay-connector", "mirror"):
                client.wait_for_ready(worker)
            subprocess.run(
                [measure.PRODUCTS / "roost", "key", "import", "author", "--no-passphrase"],
                input=author.secret_key().to_hex() + "\n", check=True, capture_output=True, text=True,
                env={**os.environ, "ROOST_SOCKET": str(daemon.socket)})
            begin, last, moved, whole = time.monotonic(), -1, time.monotonic(), None
            while time.monotonic() - moved < STALL:
                time.sleep(2)
                entries = {entry["kind"]: entry for entry in client.call("mirror.status")["entries"]}
                count = sum(entries[kind]["events"] for kind in classes if kind in entries)
                if count != last:
                    last, moved = count, time.monotonic()
                    print(f"  {moved - begin:6.1f} s {count}", flush=True)
                if count >= sum(map(len, expected.values())) and whole is None:
                    whole = time.monotonic() - begin
                # Gift wraps are asked for a moment later than the rest.
                if set(classes) <= set(entries) and all(
                        not entry["isFetching"] and "end" in entry for entry in entries.values()):
                    break
            print(f"all after {whole and round(whole, 1)} s, at rest after {time.monotonic() - begin:.1f} s; "
                  f"{sum(meter.take() for meter in meters.values()) / 1e6:.1f} MB", flush=True)
            place = urls["local 1"]
            print(f"late: {send(place, late)} of {len(late)} taken by the relay", flush=True)
            expected["wraps"] |= {json.loads(text)["id"] for text in late}
            fresh = [event(author, 1, 0, content="from elsewhere"),
                     event(Keys.generate(), 1, 0, [Tag.parse(["p", me])], "an answer")]
            send(place, fresh)
            expected["own"].add(json.loads(fresh[0])["id"])
            expected["named"].add(json.loads(fresh[1])["id"])
            begin, isWhole = time.monotonic(), False
            while not isWhole and time.monotonic() - begin < 180:
                time.sleep(1)
                have = {kind: exported(daemon, wanted) for kind, wanted in classes.items()}
                isWhole = all(expected[kind] <= have[kind] for kind in classes)
            print(f"late ones after {time.monotonic() - begin:.0f} s", flush=True)
            status = client.call("mirror.status")["entries"]
            figures = {entry["kind"]: entry["events"] for entry in status}
            for kind in classes:
                missing = expected[kind] - have[kind]
                at = {place: len(missing & ids) for place, ids in given.items() if missing & ids}
                print(f"{kind}: {len(have[kind])} here, {len(expected[kind])} obtainable, {len(missing)} missing {at}, "
                      f"{len(have[kind] - expected[kind])} more; mirror.status says {figures.get(kind)}", flush=True)
            print(subprocess.run([measure.PRODUCTS / "roost", "mirror", "status"], capture_output=True, text=True,
                                 env={**os.environ, "ROOST_SOCKET": str(daemon.socket)}).stdout)
        asked = {relay["relay"] for entry in status if entry["kind"] == "wraps" for relay in entry["relays"]}
        strange = asked - {used[0], urls["local with AUTH"]}
        if strange:
            print(f"gift wraps were asked for at {strange}, which are not on the list for direct messages")
        is_right = not strange and isWhole and all(figures.get(kind) == len(have[kind]) for kind in classes)
        sys.exit(0 if is_right else 1)


if __name__ == "__main__":
    main()
