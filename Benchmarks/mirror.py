#!/usr/bin/env python3
"""Lets a Roost keep what one author wrote alive on five relays, and judges what they have afterwards.

    .venv/bin/python3 Benchmarks/mirror.py [--events 50000] [--missing 0.01] [--seed N] [--sync]

Three relays (nostr-sdk's LocalRelay) lack one event in a hundred each, one is empty, and one refuses everything by
policy. The Roost has all events. It compares and repairs twice; then each relay is asked for every event, by id. With
--sync, nostr-sdk's own client first compares the three relays with the same events, without sending any.

Told are: how long a round took; the bytes between the connector and each relay, beside the bytes of sending all events;
what the second round sent. Exit: 0 when every event is at each relay that takes it, and the second round sent nothing.
"""

import argparse
import asyncio
import contextlib
import datetime
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

import nostr_sdk
from nostr_sdk import EventBuilder, Keys, Kind, Timestamp

import bus
import measure
import roostd
import visitor

PEERS = measure.ROOT / "Tests" / "Peers"
WORKERS = """
[worker.event-store]
role = "event-store"

[worker.signer]
role = "signer"

[worker.outbox-planner]
role = "outbox-planner"
indexers = []

[worker.relay-connector]
role = "relay-connector"
relays = {relays}

[worker.mirror]
role = "mirror"
scrub = "0s"
keep-follows = "0s"
"""


class Meter:
    """Passes bytes between a connector and a relay, and counts them; `sent` counts EVENT messages to the relay."""

    def __init__(self, url):
        self.port = int(url.rsplit(":", 1)[1])
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"ws://127.0.0.1:{self.listener.getsockname()[1]}"
        self.up = self.down = 0
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            here, _ = self.listener.accept()
            there = socket.create_connection(("127.0.0.1", self.port))
            for side in (here, there):
                side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for source, sink, name in ((here, there, "up"), (there, here, "down")):
                threading.Thread(target=self.copy, args=(source, sink, name), daemon=True).start()

    def copy(self, source, sink, name):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                setattr(self, name, getattr(self, name) + len(data))
                sink.sendall(data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)

    def take(self):
        """The bytes since the last call."""
        count, self.up, self.down = self.up + self.down, 0, 0
        return count


@contextlib.contextmanager
def peer(interpreter, script, *arguments):
    """A relay of Tests/Peers, and its URL."""
    process = subprocess.Popen(
        [interpreter, PEERS / script, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1", "RUST_LOG": "error"})
    try:
        yield process.stdout.readline().strip()
    finally:
        process.stdin.close()
        process.kill()
        process.wait()


def written(events, path):
    """A file of events, one a line."""
    path.write_text("".join(f"{event}\n" for event in events))
    return path


class Asker:
    """Asks a relay for events by id."""

    def __init__(self, url):
        port = int(url.rsplit(":", 1)[1])
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.sendall(visitor.head(port))
        self.stream = self.socket.makefile("rb")
        while self.stream.readline() not in (b"\r\n", b""):
            pass

    def held(self, ids):
        found = set()
        for start in range(0, len(ids), 400):
            some, name = ids[start:start + 400], f"ids {start}"
            self.socket.sendall(visitor.message("REQ", name, {"ids": some, "limit": len(some)}))
            while True:
                opcode, size = visitor.frame_head(self.stream)
                payload = self.stream.read(size)
                if opcode != visitor.TEXT:
                    continue
                words = json.loads(payload)
                if words[0] == "EVENT":
                    found.add(words[2]["id"])
                elif words[:2] == ["EOSE", name]:
                    break
                elif words[:2] == ["CLOSED", name]:
                    raise RuntimeError(f"the relay refuses to answer: {words}")
            self.socket.sendall(visitor.message("CLOSE", name))
        return found


def peak(pid):
    """The most memory that a process has had, in megabytes."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return 0


def await_fetched(client):
    """Waits until the mirror has compared each relay for what it lacks itself."""
    while True:
        entries = client.call("mirror.status")["entries"]
        if entries and all(not entry["isFetching"] and "end" in entry for entry in entries):
            return
        time.sleep(1)


def scrub(daemon):
    """One round, by the command line: its seconds and what it printed."""
    begin = time.monotonic()
    output = subprocess.run(
        [measure.PRODUCTS / "roost", "mirror", "scrub"], env={**os.environ, "ROOST_SOCKET": str(daemon.socket)},
        capture_output=True, text=True, check=True).stdout
    return time.monotonic() - begin, output


async def synchronise(urls, events, author):
    """nostr-sdk's client with all events in its own database: how long `sync` takes to find what relays lack."""
    sys.path.append(str(PEERS))
    from local_relay import Memory
    database = Memory()
    for event in events:
        await database.save_event(nostr_sdk.Event.from_json(event))
    client = nostr_sdk.ClientBuilder().database(database).build()
    for url in urls:
        await client.add_relay(nostr_sdk.RelayUrl.parse(url))
    await client.connect()
    options = nostr_sdk.SyncOptions().direction(nostr_sdk.SyncDirection.UP).dry_run()
    begin = time.monotonic()
    output = await client.sync(nostr_sdk.Filter().author(author), opts=options)
    return time.monotonic() - begin, output


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=50_000)
    parser.add_argument("--missing", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    parser.add_argument("--sync", action="store_true")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    chance, keys, now = random.Random(options.seed), Keys.generate(), int(time.time())
    events = [
        EventBuilder(Kind(1), f"note {number} " + "word " * chance.randrange(60))
        .custom_created_at(Timestamp.from_secs(now - 700 * number - 60)).finalize(keys).as_json()
        for number in range(options.events)]
    ids = [json.loads(event)["id"] for event in events]
    size = sum(len(event) for event in events)
    with tempfile.TemporaryDirectory(prefix="roost-mirror-") as name, contextlib.ExitStack() as stack:
        folder = pathlib.Path(name)
        python = sys.executable
        have = [[event for event in events if chance.random() >= options.missing] for _ in range(3)]
        files = [written(some, folder / f"{number}.jsonl") for number, some in enumerate(have)]
        urls = [stack.enter_context(peer(python, "local_relay.py", "--cap", "500", file)) for file in files]
        urls.append(stack.enter_context(peer(python, "local_relay.py", "--cap", "500")))
        (folder / "log.answer").write_text("false blocked: not on the list")
        refusing = stack.enter_context(peer(python, "answering_relay.py", folder / "log"))
        if options.sync:
            meters = [Meter(url) for url in urls[:3]]
            seconds, output = asyncio.run(synchronise([meter.url for meter in meters], events, keys.public_key()))
            used = [f"{100 * meter.take() / size:.2f} %" for meter in meters]
            print(f"nostr-sdk: {seconds:.1f} s, bytes of all: {used}; it would send {len(output.report.local)} events",
                  flush=True)
        meters = [Meter(url) for url in (*urls, refusing)]
        config = WORKERS.format(relays=json.dumps([meter.url for meter in meters]))
        with roostd.running(config, folder / "state") as daemon, bus.connected(daemon.socket) as client:
            for worker in ("event-store", "signer", "outbox-planner", "relay-connector", "mirror"):
                client.wait_for_ready(worker)
            environment = {**os.environ, "ROOST_SOCKET": str(daemon.socket)}
            everything = written(events, folder / "all.jsonl")
            roost = measure.PRODUCTS / "roost"
            subprocess.run([roost, "import", everything], env=environment, check=True, capture_output=True)
            subprocess.run(
                [roost, "key", "import", "author", "--no-passphrase"], input=keys.secret_key().to_hex() + "\n",
                env=environment, check=True, capture_output=True, text=True)
            await_fetched(client)
            [meter.take() for meter in meters]
            print(f"{options.events} events, {size / 1e6:.1f} MB; at the relays {[len(some) for some in have]}, 0",
                  flush=True)
            seconds, output = scrub(daemon)
            used = [meter.take() for meter in meters]
            print(f"first round: {seconds:.1f} s; bytes of all: {[f'{100 * count / size:.2f} %' for count in used]}; "
                  f"memory of the mirror {peak(roostd.child_named(daemon.pid, 'mirror')):.0f} MB", flush=True)
            print(output, flush=True)
            log = (folder / "log").read_text().count("\n")
            seconds, output = scrub(daemon)
            used = [meter.take() for meter in meters]
            print(f"second round: {seconds:.1f} s; bytes of all: {[f'{100 * count / size:.2f} %' for count in used]}; "
                  f"{output.splitlines()[-1]}", flush=True)
            is_quiet = (folder / "log").read_text().count("\n") == log and "\n0 copies" in output
            status = subprocess.run([roost, "mirror", "status"], env=environment, capture_output=True, text=True)
            print(status.stdout)
        counts = [len(Asker(url).held(ids)) for url in urls]
        print(f"an independent count: {counts} of {len(ids)} at the four relays that take them; the fifth was sent "
              f"{log}")
        sys.exit(0 if is_quiet and all(count == len(ids) for count in counts) else 1)


if __name__ == "__main__":
    main()
