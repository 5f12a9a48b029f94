"""The local relay as its clients see it, beside two others: nostr-sdk's LocalRelay and nostr-relay.

One client in C (yardsticks/client.c), the same for all, with events that were signed before. What precedes an OK:

    local-relay          the signature is verified, and the event is committed by the event-store: SQLite, WAL,
                         synchronous=NORMAL, which outlives the death of any process, and the last moments before a
                         power failure need not; over three processes
    nostr-sdk            the signature is verified, and the event is in the memory of the one process
    nostr-relay          the signature is verified, and the event is committed: SQLite, WAL, synchronous=NORMAL, in the
                         one process

Each round asks all in turn. What is measured of idle connections is the process that holds them, private memory.
"""

import collections
import contextlib
import json
import socket
import subprocess
import sys
import tempfile

import bus
import endtoend
import events
import gate
import idle
import measure
import roostd

OURS = "local-relay"
SDK = "LocalRelay of nostr-sdk 0.45.1, in memory"
NOSTR_RELAY = "nostr-relay 1.14, SQLite"
CLIENT = measure.YARDSTICKS / "client"
NOSTR_RELAY_PYTHON = measure.ROOT / ".venv-nostr-relay" / "bin" / "python3"
PEERS = measure.ROOT / "Tests" / "Peers"
WORKER = """
[worker.local-relay]
role = "local-relay"
listen = ["127.0.0.1:{port}"]
connections-maximum = 10_100
"""
IN_FLIGHT = 64
# LocalRelay closes a connection after 6,000 events; nostr-relay would take a minute for as many.
LOADS = {OURS: (5_000, 2_000), SDK: (5_000, 2_000), NOSTR_RELAY: (600, 200)}
READ, TRIPS, CONNECTIONS = 20_000, 100, 10_000


@contextlib.contextmanager
def ours():
    """A roostd with event-store and local-relay: its URL, and the pid of the process that serves."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with roostd.running(gate.WORKER + WORKER.format(port=port)) as daemon, bus.connected(daemon.socket) as caller:
        for worker in ("event-store", "local-relay"):
            caller.wait_for_ready(worker)
        yield f"ws://127.0.0.1:{port}", roostd.child_named(daemon.pid, "local-relay")


@contextlib.contextmanager
def other(*command):
    """A relay of other people's, until its input ends: the same."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip(), process.pid
        finally:
            process.stdin.close()
            process.kill()


@contextlib.contextmanager
def nostr_relay():
    """nostr-relay with a database in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="nostr-relay-") as folder:
        with other(NOSTR_RELAY_PYTHON, PEERS / "nostr_relay_peer.py", folder) as relay:
            yield relay


def relays():
    """What is there to be measured, by name."""
    found = {OURS: ours}
    if endtoend.has_sdk():
        found[SDK] = lambda: other(endtoend.PYTHON, measure.ROOT / "Benchmarks" / "yardsticks" / "localrelay.py")
    if NOSTR_RELAY_PYTHON.exists():
        found[NOSTR_RELAY] = nostr_relay
    for name in LOADS.keys() - found.keys():
        print(f"skipped: {name}: not installed (Scripts/python-environment.sh)", file=sys.stderr)
    return found


def client(measurement, url, *arguments):
    """What the client says of one measurement."""
    command = [CLIENT, measurement, url, *map(str, arguments)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=180).stdout)


def published(url, signed, first, count, in_flight):
    """Events a second, each answered with OK true."""
    answer = client("publish", url, signed, first, count, in_flight)
    if answer["refused"]:
        raise RuntimeError(f"{url} has refused {answer['refused']} of {count} events")
    return count / answer["seconds"]


def measured(name, url, signed, first):
    """One round with one relay: figures by name."""
    many, few = LOADS[name]
    yield "relay-accepted", published(url, signed, first, many, IN_FLIGHT)
    yield "relay-accepted-1", published(url, signed, first + many, few, 1)
    read = client("read", url, READ)
    yield "relay-delivered", read["events"] / read["seconds"]
    trips = client("trip", url, signed, first, TRIPS)["milliseconds"]
    yield "relay-trip", measure.percentile(trips, 0.5)


def loaded(rounds):
    """What many messages cost."""
    units = {"relay-accepted": "events/s", "relay-accepted-1": "events/s", "relay-delivered": "events/s",
             "relay-trip": "ms"}
    size = max(sum(load) for load in LOADS.values())
    found = collections.defaultdict(list)
    with contextlib.ExitStack() as stack:
        signed = stack.enter_context(tempfile.NamedTemporaryFile(prefix="roost-relay-"))
        signed.write(b"\n".join(events.archive_bench("make", 0, rounds * size)) + b"\n")
        signed.flush()
        running = {name: stack.enter_context(start()) for name, start in relays().items()}
        for number in range(rounds):
            for name, (url, _) in running.items():
                for figure, value in measured(name, url, signed.name, number * size):
                    found[figure, name].append(value)
    for (figure, name), values in found.items():
        yield measure.result(figure, name, units[figure], values)


def held(start):
    """Megabytes of a relay with idle connections, how many it held, and megabytes before."""
    with start() as (url, pid):
        before = private_megabytes(pid)
        command = [CLIENT, "idle", url, str(CONNECTIONS)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
            count = json.loads(holder.stdout.readline())["connections"]
            return private_megabytes(pid), count, before


def private_megabytes(pid):
    """Memory that is given back when the process ends."""
    return sum(private for _, private, _ in idle.mappings(pid)) / 1000


def idling():
    """What idle connections cost."""
    for name, start in relays().items():
        memory, count, before = held(start)
        if name == OURS and count < CONNECTIONS:
            raise RuntimeError(f"{name} holds {count} connections only")
        if count < CONNECTIONS:
            print(f"{name} holds {count:,} of {CONNECTIONS:,} connections", file=sys.stderr)
        yield measure.result("relay-idle", name, "MB", [memory], connections=count, before=before)


def run(rounds):
    """All results."""
    yield from loaded(rounds)
    yield from idling()


if __name__ == "__main__":
    measure.build_yardsticks()
    for line in run(int(sys.argv[1]) if len(sys.argv) > 1 else 3):
        print(line)
