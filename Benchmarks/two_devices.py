#!/usr/bin/env python3
"""Two devices edit one follow list, while relays go away and everything of Roost is killed.

    .venv/bin/python3 Benchmarks/two_devices.py [--edits 1000] [--seed N] [--no-kills] [--products DIRECTORY]

One device is a Roost (`roost follow`, `roost unfollow`); the other is nostr-sdk, which reads the newest list of the
relays that it reaches, changes one entry, and writes the whole list. Three LocalRelays of nostr-sdk are behind lines
that are cut at random, two at a time at most. Before an edit in eight a worker is killed, and roostd some times.

At the end all relays are reached again. Exit: 0 when exactly what was added and not removed is in Roost's list and in
the newest one at the relays.

An edit by nostr-sdk counts when a relay, asked by author and kind after the write, gives its version as the newest, or
a newer one with the edit. A relay that has a version of the same second with a lower id says OK as well, but never
shows the edit to a client that reads lists: Roost may have seen it before it was replaced, or never learn of it. So
nostr-sdk then makes the edit again, three times at most. If no relay shows it then, it is uncertain: its person is not
edited again, and does not count at the end. The report says how many these are; with more than one edit in a hundred
the trial proves little, and fails.
"""

import argparse
import asyncio
import contextlib
import datetime
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from nostr_sdk import (
    ClientBuilder, EventBuilder, Filter, Keys, Kind, RelayUrl, ReqTarget, Tag, Timestamp)

import bus
import measure
import roostd

VICTIMS = ("people", "event-store", "outbox-planner", "relay-connector", "signer")
PEOPLE = 300
SETTLED = 90  # seconds, at most, until both agree at the end
ATTEMPTS = 3  # at an edit that no relay shows
UNCERTAIN = 0.01  # of the edits, at most, may be uncertain
UNKNOWN = "unknown"  # what became of an edit


def workers(urls):
    """The configuration: no worker is given up, however often it is killed."""
    patient = 'stable-after = "100ms"\nbreaker-restarts = 1000\nbreaker-window = "24h"\n'
    text = "".join(f'\n[worker.{name}]\nrole = "{name}"\n{patient}' for name in VICTIMS)
    return text.replace('role = "relay-connector"\n', f'role = "relay-connector"\nrelays = {json.dumps(urls)}\n')


class Line:
    """A LocalRelay behind a line that can be cut; the relay keeps its events."""

    def __init__(self, stack):
        command = [sys.executable, measure.ROOT / "Tests" / "Peers" / "local_relay.py"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "RUST_LOG": "error", "PYTHONUNBUFFERED": "1"})
        stack.callback(self.process.kill)
        host, port = self.process.stdout.readline().strip().removeprefix("ws://").rstrip("/").split(":")
        self.inner = host, int(port)
        self.is_cut, self.ends = False, []
        self.listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        self.url = f"ws://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        """Takes connections; a cut line drops them."""
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            if self.is_cut:
                near.close()
                continue
            far = socket.create_connection(self.inner)
            self.ends += [near, far]
            for source, target in ((near, far), (far, near)):
                threading.Thread(target=self.copy, args=(source, target), daemon=True).start()

    @staticmethod
    def copy(source, target):
        """Carries bytes one way until either side ends."""
        with contextlib.suppress(OSError):
            while some := source.recv(65_536):
                target.sendall(some)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def cut(self):
        """The relay is away from now on."""
        self.is_cut = True
        for end in self.ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self.ends = []


class Device:
    """The device with nostr-sdk."""

    def __init__(self, keys, lines):
        self.keys, self.lines, self.repeated = keys, lines, 0

    async def newest(self, client, relay=None):
        """The newest list of the relays that are reached, or of one; None without one."""
        filters = [Filter().author(self.keys.public_key()).kind(Kind(3))]
        wanted = ReqTarget.single(relay, filters) if relay else ReqTarget.auto(filters)
        lists = await client.fetch_events(wanted, timeout=datetime.timedelta(seconds=5))
        return min(lists, key=self.order, default=None)

    @staticmethod
    def order(event):
        """The newest version is first; of one second, the one with the lower id (NIP-01)."""
        return -event.created_at().as_secs(), event.id().to_hex()

    async def shows(self, client, relay, written, person, adds):
        """Whether a relay gives this version as the newest, or a newer one with the edit."""
        found = await self.newest(client, relay)
        if found is None or self.order(found) > self.order(written):
            return False
        return found.id() == written.id() or adds == any(tag.to_vec()[1] == person for tag in found.tags())

    async def connected(self, body):
        """Does something with a client that is connected to all relays within reach."""
        client = ClientBuilder().build()
        for line in self.lines:
            if not line.is_cut:
                await client.add_relay(RelayUrl.parse(line.url))
        await client.connect()
        try:
            return await body(client)
        finally:
            await client.shutdown()

    def entries(self):
        """Whom the newest list has."""
        event = asyncio.run(self.connected(self.newest))
        return {tag.to_vec()[1] for tag in event.tags()} if event else set()

    def edit(self, person, adds):
        """Writes the list with one entry more or less. Whether a relay shows the edit; UNKNOWN: it was written, and
        no relay shows it. None: nothing was to be changed."""

        async def body(client):
            for attempt in range(ATTEMPTS):
                event = await self.newest(client)
                if adds == bool(event and any(tag.to_vec()[1] == person for tag in event.tags())):
                    # What was written before is in a version of the other device.
                    return True if attempt else None
                written = await self.write(client, event, person, adds)
                for relay in await client.relays():
                    if await self.shows(client, relay, written, person, adds):
                        return True
                self.repeated += 1
            return UNKNOWN

        return asyncio.run(self.connected(body))

    async def write(self, client, event, person, adds):
        """Writes the next version of the list, dated later."""
        tags = [tag for tag in event.tags() if tag.to_vec()[1] != person] if event else []
        if adds:
            tags.append(Tag.parse(["p", person]))
        at = max(int(time.time()), event.created_at().as_secs() + 1 if event else 0)
        while at > time.time():
            await asyncio.sleep(0.05)
        made = EventBuilder(Kind(3), event.content() if event else "").tags(tags)
        signed = made.custom_created_at(Timestamp.from_secs(at)).finalize(self.keys)
        await client.send_event(signed)
        return signed


class Roost:
    """The device with Roost."""

    def __init__(self, daemon, keys):
        self.environment = {**os.environ, "ROOST_SOCKET": str(daemon.socket)}
        with bus.connected(daemon.socket) as client:
            for worker in VICTIMS:
                client.wait_for_ready(worker)
            accounts = client.call("signer.accounts")["accounts"]
        if not any(account["name"] == "alice" for account in accounts):
            self.run("key", "import", "alice", "--no-passphrase", secret=keys.secret_key().to_hex() + "\n")

    def run(self, *arguments, secret=None):
        """A command."""
        return subprocess.run(
            [measure.PRODUCTS / "roost", *arguments], env=self.environment, input=secret, capture_output=True,
            text=True, timeout=120, check=False)

    def entries(self):
        """Whom its list has."""
        shown = self.run("lists", "show", "follows", "--as", "alice", "--json")
        return {tag[1] for tag in json.loads(shown.stdout)["tags"] if tag[0] == "p"} if shown.returncode == 0 else set()

    def edit(self, person, adds, *flags):
        """Whether the edit was made, or None if there was nothing to change; and the code of a refusal."""
        done = self.run("follow" if adds else "unfollow", person, "--as", "alice", "--no-wait", "--json", *flags)
        if done.returncode != 0:
            return False, json.loads(done.stderr)["code"]
        return json.loads(done.stdout)["isNew"] or None, None


class Trial:
    """The edits of one run."""

    def __init__(self, options, lines, keys):
        self.options, self.lines, self.keys = options, lines, keys
        self.random = random.Random(options.seed)
        self.device = Device(keys, lines)
        self.people = [Keys.generate().public_key().to_hex() for _ in range(PEOPLE)]
        self.expected, self.uncertain, self.done, self.log, self.refusals = set(), set(), 0, [], {}
        counted = ("device", "roost", "refused", "killed", "roostd killed", "cut", "nothing", "uncertain")
        self.counts = dict.fromkeys(counted, 0)

    def disturb(self, daemon):
        """Cuts or mends a line, and kills a worker, now and then."""
        line = self.random.choice(self.lines)
        if self.random.random() < 0.15:
            if line.is_cut:
                line.is_cut = False
            elif sum(other.is_cut for other in self.lines) < 2:
                line.cut()
                self.counts["cut"] += 1
        if not self.options.no_kills and self.random.random() < 0.12:
            with contextlib.suppress(RuntimeError, ProcessLookupError):
                os.kill(roostd.child_named(daemon.pid, self.random.choice(VICTIMS)), signal.SIGKILL)
                self.counts["killed"] += 1

    def one(self, roost):
        """One edit, by either device."""
        absent = [person for person in self.people if person not in self.expected | self.uncertain]
        present = sorted(self.expected - self.uncertain)
        adds = bool(absent) and (self.random.random() < 0.55 or not present)
        person = self.random.choice(absent if adds else present)
        if self.random.random() < 0.5:
            who, is_done = "device", self.device.edit(person, adds)
            self.counts["uncertain" if is_done == UNKNOWN else "device" if is_done else "nothing"] += 1
        else:
            flags = ["--yes"] + (["--from-here"] if self.random.random() < 0.1 else [])
            who, (is_done, refusal) = "roost", roost.edit(person, adds, *flags)
            self.counts["roost" if is_done else "refused" if refusal else "nothing"] += 1
            if refusal:
                self.refusals[refusal] = self.refusals.get(refusal, 0) + 1
        if is_done == UNKNOWN:
            self.uncertain.add(person)
        elif is_done:
            (self.expected.add if adds else self.expected.discard)(person)
        self.log.append((self.done, who, person[:8], "+" if adds else "-", is_done))
        if self.random.random() < 0.5:
            time.sleep(self.random.random())

    def run(self, state):
        """All edits. Returns whether the lists are right at the end."""
        configuration = workers([line.url for line in self.lines])
        while True:
            with roostd.running(configuration, state) as daemon:
                roost = Roost(daemon, self.keys)
                share = self.options.edits // 4 + self.random.randrange(self.options.edits // 4 + 1)
                until = self.options.edits if self.options.no_kills else min(self.done + share, self.options.edits)
                while self.done < until:
                    self.disturb(daemon)
                    self.one(roost)
                    self.done += 1
                    if self.done % 50 == 0:
                        print(self.done, self.counts, f"{len(self.expected)} entries", file=sys.stderr)
                if self.done >= self.options.edits:
                    return self.judge(roost)
                os.kill(daemon.pid, signal.SIGKILL)
                self.counts["roostd killed"] += 1
                time.sleep(2)

    def judge(self, roost):
        """Compares the lists, which have some time to agree."""
        for line in self.lines:
            line.is_cut = False
        expected = self.expected - self.uncertain
        deadline = time.monotonic() + SETTLED
        while True:
            here, there = roost.entries(), self.device.entries()
            is_right = here == there and here - self.uncertain == expected
            if is_right or time.monotonic() > deadline:
                break
            time.sleep(1)
        print(f"{self.done} edits, {self.counts}, refused: {self.refusals}")
        print(f"{self.device.repeated} writes by nostr-sdk were shown by no relay; "
              f"{len(self.uncertain)} people are uncertain, and do not count")
        for name, found in (("Roost's list", here), ("the newest list at the relays", there)):
            missing, further = expected - found, found - self.uncertain - expected
            print(f"{name}: {len(found - self.uncertain)} entries instead of {len(expected)}: {len(missing)} missing, "
                  f"{len(further)} too many")
            for person in missing | further:
                print(*(entry for entry in self.log if entry[2] == person[:8]), sep="\n")
        if here != there:
            print(f"the lists differ in {len(here ^ there)} entries")
        if len(self.uncertain) > UNCERTAIN * self.done:
            print("too many people are uncertain: the trial proves little")
            return False
        return is_right


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edits", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--no-kills", action="store_true", help="nothing is killed")
    parser.add_argument("--products", type=lambda text: pathlib.Path(text).resolve(), default=measure.PRODUCTS)
    options = parser.parse_args()
    measure.PRODUCTS = options.products
    print(f"seed {options.seed}")
    with contextlib.ExitStack() as stack:
        lines = [Line(stack) for _ in range(3)]
        state = stack.enter_context(tempfile.TemporaryDirectory(prefix="roost-devices-"))
        sys.exit(0 if Trial(options, lines, Keys.generate()).run(state) else 1)


if __name__ == "__main__":
    main()
