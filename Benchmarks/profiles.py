"""Profiles of people: how fast ten thousand come from a relay, how many are looked up in a second, and their memory.

    LocalRelay ─ WebSocket ─▶ relay-connector ─▶ event-store ─▶ people ─▶ an application

Cold: a Roost with nothing stored is asked for the profiles of 10,000 people (`people.profiles`), which one LocalRelay
of nostr-sdk has; the time is that until the application has the last one. There every event is verified, committed
and kept. The yardstick is nostr-sdk's own client, in its Python package, with the same authors and kind at the same
relay: it has the list in memory, verified and kept nowhere.

Look-ups: the same people again, 100 to a request, eight requests in flight, each person counted. Memory: the private
memory of the process `people` with all of them.
"""

import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import bus
import endtoend
import measure
import relay
import roostd

OURS = "roostd and workers"
YARDSTICK = "nostr-sdk 0.45.1"
SCRIPT = measure.ROOT / "Benchmarks" / "yardsticks" / "profiles.py"
COUNT = 10_000
A_CONNECTION = 5_000  # LocalRelay closes a connection after 6,000 events
KEYS, IN_FLIGHT, REQUESTS = 100, 8, 2_000  # to a request; at a time; in all
WORKERS = """
[worker.event-store]
role = "event-store"

[worker.signer]
role = "signer"

[worker.outbox-planner]
role = "outbox-planner"
indexers = []

[worker.people]
role = "people"
"""
READY = ("event-store", "signer", "outbox-planner", "people", "relay-connector")


@contextlib.contextmanager
def town():
    """A LocalRelay with the profiles: its URL, and the keys."""
    made = subprocess.run([endtoend.PYTHON, SCRIPT, "make", str(COUNT)], check=True, stdout=subprocess.PIPE).stdout
    keys = [json.loads(line)["pubkey"] for line in made.splitlines()]
    local = measure.ROOT / "Benchmarks" / "yardsticks" / "localrelay.py"
    with tempfile.NamedTemporaryFile(prefix="roost-profiles-") as file, relay.other(endtoend.PYTHON, local) as (url, _):
        pathlib.Path(file.name).write_bytes(made)
        for first in range(0, COUNT, A_CONNECTION):
            relay.published(url, file.name, first, A_CONNECTION, 64)
        yield url, keys


@contextlib.contextmanager
def roost(url):
    """A Roost with nothing stored and this one relay: a client, and the pid of `people`."""
    with roostd.running(WORKERS + endtoend.connector([url])) as daemon, bus.connected(daemon.socket) as client:
        for worker in READY:
            client.wait_for_ready(worker)
        endtoend.wait_for_relays(client, 1)
        yield client, roostd.child_named(daemon.pid, "people")


def cold(client, keys):
    """Seconds until the application has all profiles."""
    start = time.monotonic()
    number = client.ask("people.profiles", {"keys": keys, "maxAge": 3600})
    found, seconds = 0, 0
    while True:
        kind, flags, answered, payload = client.next()
        if kind in (bus.ERROR, bus.FATAL):
            raise RuntimeError(payload.decode())
        if kind == bus.RESPONSE and answered == number:
            if not flags & bus.MORE:
                break
            # As nostr-sdk's list, counted when it is here; what comes behind the last profile is no profile.
            found += payload.count(b'"state":"known"')
            if found >= COUNT and not seconds:
                seconds = time.monotonic() - start
    if found != COUNT:
        raise RuntimeError(f"{found} profiles instead of {COUNT}")
    return seconds, time.monotonic() - start


def looked_up(client, keys):
    """People a second whose profiles are in memory."""
    questions = [json.dumps({"keys": keys[start:start + KEYS], "policy": "cache-only"}).encode()
                 for start in range(0, len(keys), KEYS)]
    asked = ended = 0
    start = time.monotonic()
    while ended < REQUESTS:
        while asked < REQUESTS and asked - ended < IN_FLIGHT and client.may_ask():
            client.ask("people.profiles", questions[asked % len(questions)])
            asked += 1
        kind, flags, _, payload = client.next()
        if kind in (bus.ERROR, bus.FATAL):
            raise RuntimeError(payload.decode())
        ended += kind == bus.RESPONSE and not flags & bus.MORE
    return REQUESTS * KEYS / (time.monotonic() - start)


def fetched(url, keys):
    """Seconds until nostr-sdk has the profiles."""
    answer = subprocess.run(
        [endtoend.PYTHON, SCRIPT, "fetch", url, str(COUNT)], input="\n".join(keys), text=True, check=True,
        stdout=subprocess.PIPE, timeout=120).stdout
    return json.loads(answer)["seconds"]


def run(rounds):
    """All figures of profiles."""
    if not endtoend.has_sdk():
        print(f"skipped: profiles: {YARDSTICK} is not in .venv (Scripts/python-environment.sh)", file=sys.stderr)
        return
    ours, whole, others, rates, memory = [], [], [], [], []
    with town() as (url, keys):
        for _ in range(rounds):
            with roost(url) as (client, pid):
                first, last = cold(client, keys)
                ours.append(COUNT / first)
                whole.append(last)
                rates.append(looked_up(client, keys))
                memory.append(relay.private_megabytes(pid))
            others.append(COUNT / fetched(url, keys))
    yield measure.result("profiles-cold", OURS, "profiles/s", ours)
    yield measure.result("profiles-cold", YARDSTICK, "profiles/s", others)
    yield measure.result("profiles-asked", OURS, "s", whole)
    yield measure.result("profiles-look-ups", "people", "people/s", rates)
    yield measure.result("profiles-memory", "people", "MB", memory)


if __name__ == "__main__":
    measure.build_yardsticks()
    for line in run(3):
        print(json.dumps(line))
