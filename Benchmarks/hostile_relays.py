#!/usr/bin/env python3
"""Sets an honest relay beside hostile ones of the same connector, and prints how it fares: how many of its events are
stored a second with and without them, how long publishes to it wait, how many of its pings are answered, and the memory
of the workers.

    python3 Benchmarks/hostile_relays.py [--seconds 10] [--rate 300] [--only NAME]…

The honest relay sends so many live events a second, and pings four times a second; one publish after another goes to it
meanwhile. The aims are a ratio of 0.8 and a p99 of 1000 ms. Relays and workers share the machine's processors: what an
honest relay loses is partly that.
"""

import argparse
import base64
import collections
import contextlib
import hashlib
import itertools
import json
import socket
import struct
import threading
import time

import bus
import events
import hostile
import measure
import roostd
import visitor
from visitor import CLOSE, PING, TEXT

PONG = 10
WORKERS = """
[worker.event-store]
role = "event-store"
start-deadline = "1m"

[worker.signer]
role = "signer"

[worker.outbox-planner]
role = "outbox-planner"
enabled = false

[worker.relay-connector]
role = "relay-connector"
relays = []
ephemeral = true
connect-timeout = "2s"
"""
WATCHED = ("relay-connector", "event-store", "roostd")
FLOODED, FLAPPING, LARGE = 60_000, 30, 10 << 20
PINGS_A_SECOND = 4
PUBLISHED_A_SECOND = 40


class Session:
    """One connection that was accepted and upgraded, blocking."""

    def __init__(self, connection):
        self.connection = connection
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.stream = connection.makefile("rb", buffering=1 << 16)
        self.lock = threading.Lock()
        key = b""
        while (line := self.stream.readline().strip()):
            if line.lower().startswith(b"sec-websocket-key:"):
                key = line.split(b":", 1)[1].strip()
        digest = hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
        self.connection.sendall(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: " + base64.b64encode(digest) + b"\r\n\r\n")

    def send(self, data):
        """Sends bytes, and waits until they are taken."""
        with self.lock:
            self.connection.sendall(data)

    def say(self, *parts):
        """Sends a message of Nostr's."""
        self.send(framed(json.dumps(parts, separators=(",", ":")).encode()))

    def receive(self):
        """The next frame: opcode and payload; answers pings."""
        while True:
            opcode, size = visitor.frame_head(self.stream)
            mask = self.stream.read(4)
            payload = self.stream.read(size)
            if len(payload) < size:
                raise ConnectionError("cut")
            payload = bytes(byte ^ mask[index & 3] for index, byte in enumerate(payload))
            if opcode == PING:
                self.send(framed(payload, PONG))
            else:
                return opcode, payload

    def request(self):
        """Waits for a REQ; its subscription."""
        while True:
            opcode, payload = self.receive()
            if opcode == CLOSE:
                raise ConnectionError("closed")
            if opcode == TEXT and payload.startswith(b'["REQ"'):
                return json.loads(payload)[1]


def framed(payload, opcode=TEXT):
    """One frame of a server's."""
    return visitor.frame(payload, opcode, is_masked=False)


def listening(count=1):
    """Sockets that listen on free ports."""
    return [socket.create_server(("127.0.0.1", 0), backlog=128) for _ in range(count)]


def url(listener):
    """How it is dialled."""
    return f"ws://127.0.0.1:{listener.getsockname()[1]}"


def relays(listeners, behave, counts):
    """Serves each connection of each listener by `behave(session, counts)` until it is over."""
    def serve(connection):
        with contextlib.suppress(OSError, ConnectionError, struct.error), connection:
            counts["connections"] += 1
            behave(Session(connection), counts)

    def accept(listener):
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    for listener in listeners:
        threading.Thread(target=accept, args=(listener,), daemon=True).start()


def serving(listeners, behave):
    """The body of a process with such relays."""
    def body(is_over):
        counts = collections.Counter()
        relays(listeners, behave, counts)
        while not is_over():
            time.sleep(0.02)
        return dict(counts)
    return body


# What the hostile ones do


def flooding(lines):
    """Sends events as fast as they are taken, the same ones again when all have been sent."""
    def behave(session, counts):
        name = json.dumps(session.request()).encode()
        session.say("EOSE", json.loads(name))
        batches = [b"".join(framed(b'["EVENT",' + name + b"," + line + b"]") for line in lines[start:start + 100])
                   for start in range(0, len(lines), 100)]
        for batch in itertools.cycle(batches):
            session.send(batch)
            counts["events"] += 100
    return behave


def stalling(session, _):
    """Begins a message, and neither ends it nor reads or says anything more."""
    session.request()
    session.send(framed(b'["EVENT","')[:6])
    time.sleep(3_600)


def large(session, counts):
    """Sends events of 10 MB, one after another."""
    name = session.request()
    event = {"id": "0" * 64, "pubkey": "1" * 64, "created_at": 1, "kind": 1, "tags": [], "content": "x" * LARGE,
             "sig": "2" * 128}
    data = framed(json.dumps(["EVENT", name, event]).encode())
    while True:
        session.send(data)
        counts["events"] += 1


def flapping(session, _):
    """Says NOTICE and EOSE, and hangs up."""
    name = session.request()
    session.say("NOTICE", "busy")
    session.say("EOSE", name)


def honest(lines, rate):
    """The relay that is measured: live events at a rate, pings, an OK for each event."""
    def behave(session, counts):
        started = threading.Event()
        name = []

        def read():
            with contextlib.suppress(OSError, ConnectionError):
                while True:
                    opcode, payload = session.receive()
                    if opcode == PONG:
                        counts["pongs"] += 1
                    elif payload.startswith(b'["REQ"'):
                        name.append(json.loads(payload)[1])
                        session.say("EOSE", name[-1])
                        started.set()
                    elif payload.startswith(b'["EVENT"'):
                        session.say("OK", json.loads(payload)[1]["id"], True, "")

        threading.Thread(target=read, daemon=True).start()
        started.wait()
        subscription = json.dumps(name[0]).encode()
        begin, sent, pinged = time.monotonic(), 0, 0
        while True:
            elapsed = time.monotonic() - begin
            while pinged < elapsed * PINGS_A_SECOND:
                session.send(framed(b"there?", PING))
                pinged += 1
                counts["pings"] += 1
            while sent < min(elapsed * rate, len(lines)):
                session.send(framed(b'["EVENT",' + subscription + b"," + lines[sent] + b"]"))
                sent += 1
                counts["sent"] += 1
            time.sleep(0.002)
    return behave


# The measurement


class Campaign:
    """A roostd, its connector, and the wishes of a planner, which this is."""

    def __init__(self, daemon, planner, client, options):
        self.daemon, self.planner, self.client, self.options = daemon, planner, client, options
        self.version = 0
        self.alone = None
        names = [name for name in WATCHED if name != "roostd"]
        self.pids = {name: roostd.child_named(daemon.pid, name) for name in names} | {"roostd": daemon.pid}

    def desire(self, urls):
        """These relays, and no others, are asked for what is new."""
        self.version += 1
        wishes = [{"key": address, "relay": address, "filters": [{"kinds": [1]}], "isLive": True} for address in urls]
        self.planner.call("relay.desire", generation=1, version=self.version, changed=wishes, removed=[])

    def publish(self, address, lines, seconds):
        """One publish after another; milliseconds of each, and what went wrong."""
        waits, faults = [], collections.Counter()
        end = time.monotonic() + seconds
        for line in lines:
            start = time.monotonic()
            if start >= end:
                break
            try:
                self.client.call("relay.publish", relay=address, event=json.loads(line))
            except RuntimeError as fault:
                faults[str(fault)[:90]] += 1
            waits.append(1000 * (time.monotonic() - start))
            time.sleep(max(0, 1 / PUBLISHED_A_SECOND - (time.monotonic() - start)))
        return waits, faults

    def stored(self, lines):
        """How many of these are in the store."""
        ids = [json.loads(line)["id"] for line in lines]
        return sum(self.client.call("store.count", filters=[{"ids": ids[start:start + 200]}])["count"]
                   for start in range(0, len(ids), 200))

    def run(self, name, lines, own, listeners, behave):
        """One row of the table."""
        seconds, rate = self.options.seconds, self.options.rate
        memory = hostile.Memory(self.pids)
        home = listening()
        beside = [url(listener) for listener in listeners]
        with hostile.child(serving(listeners, behave)) as end_hostile:
            if beside:
                self.desire(beside)
                for address in beside:  # what it was in the row before is forgotten
                    self.client.call("relay.retry", relay=address)
                time.sleep(2)  # they are at it
            memory.start()
            with hostile.child(serving(home, honest(lines, rate))) as end_honest:
                self.desire([*beside, url(home[0])])
                begin = time.monotonic()
                waits, faults = self.publish(url(home[0]), own, seconds)
                elapsed = time.monotonic() - begin
                count = self.stored(lines[:int(elapsed * rate)])
                counts = end_honest()
            did = end_hostile()
        self.desire([])
        home[0].close()
        self.row(name, count / elapsed, waits, faults, counts, did, memory.end())

    def row(self, name, rate, waits, faults, counts, did, most):
        self.alone = self.alone or rate
        shares = "/".join(f"{measure.percentile(waits or [0], share):.0f}" for share in (0.5, 0.99, 1))
        megabytes = "/".join(f"{most[watched]:.0f}" for watched in WATCHED)
        print(f"{name:16} {rate:6.0f} events/s  ratio {rate / max(self.alone, 1):.2f}  publish {shares} ms "
              f"({len(waits)})  pings {counts.get('pongs', 0)}/{counts.get('pings', 0)}  {megabytes} MB", flush=True)
        if did:
            print(f"    the others: {did}", flush=True)
        if faults:
            print(f"    FAULTS: {dict(faults)}", flush=True)
        for worker in WATCHED[:-1]:
            pid = roostd.child_named(self.daemon.pid, worker)
            if pid != self.pids[worker]:
                print(f"    {worker} WAS RESTARTED", flush=True)
                self.pids[worker] = pid


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rate", type=int, default=300)
    parser.add_argument("--only", action="append", default=[])
    options = parser.parse_args()
    # The same relays in all rows: a connector dials 64 at most by their names.
    floods, stalls, fats, flaps = (listening(count) for count in (1, 1, 1, FLAPPING))
    trials = [("nothing", []), ("one floods", floods), ("one stalls", stalls), ("one of 10 MB", fats),
              ("thirty flap", flaps), ("all of them", floods + stalls + fats + flaps), ("nothing again", [])]
    chosen = [trial for trial in trials if not options.only or trial[0] in options.only or trial[0] == "nothing"]
    each, own = int(options.rate * options.seconds * 2), int(PUBLISHED_A_SECOND * options.seconds * 2)
    lines = events.archive_bench("make", 0, FLOODED + len(trials) * (each + own))
    ways = {listener.getsockname()[1]: way for way, listeners in (
        (flooding(lines[:FLOODED]), floods), (stalling, stalls), (large, fats), (flapping, flaps))
        for listener in listeners}
    rest = iter(lines[FLOODED:])
    with roostd.running(WORKERS) as daemon, bus.connected(daemon.socket) as client:
        for name in ("event-store", "signer", "relay-connector"):
            client.wait_for_ready(name)
        token = client.call("supervisor.attach", role="outbox-planner", name="outbox-planner")["token"]
        with bus.connected(daemon.socket, role="outbox-planner", name="outbox-planner", token=token) as planner:
            campaign = Campaign(daemon, planner, client, options)
            print("beside the honest relay; publish p50/p99/longest; most PSS of " + "/".join(WATCHED))
            for name, listeners in chosen:
                campaign.run(
                    name, list(itertools.islice(rest, each)), list(itertools.islice(rest, own)), listeners,
                    lambda session, counts: ways[session.connection.getsockname()[1]](session, counts))


if __name__ == "__main__":
    main()
