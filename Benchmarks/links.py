"""Links in gift wraps: how fast link-feed opens them, how soon a post is with its recipient, what a long conversation
costs to open, and the memory of 100,000 posts.

    gift wraps ─▶ event-store ─▶ link-feed ─ signer.open ─▶ links.db ─▶ links.changes ─▶ an application

Opened: 10,000 gift wraps with links by 50 authors are in the store before the account is there. The time is that from
the moment when the signer has the account until an application has the notice of the last one; by then each is opened,
its seal is verified, and it is filed with `synchronous=FULL`. The yardstick is nostr-sdk in its Python package, on one
processor: the same wraps opened in memory, and kept nowhere. All processes of Roost have one processor as well, or two.

A post: between two Roosts with a LocalRelay of nostr-sdk between them, from `links.post` until the other one's
application has the notice. The yardstick is two clients of nostr-sdk with the same relay, which keep nothing.

A conversation: 100,000 older posts by 10 authors are filed. Then each of the ten conversations is opened: its newest
100 posts (`links.show`), and all 10,000 marked as read (`links.read`); and again, when all is read. Memory: the private
memory of the process `link-feed` after that.
"""

import contextlib
import json
import subprocess
import sys
import tempfile
import time

import bus
import endtoend
import measure
import platforms
import relay
import roostd

OURS, ONE, TWO = "link-feed", "one processor", "two processors"
YARDSTICK = "nostr-sdk 0.45.1"
SCRIPT = measure.ROOT / "Benchmarks" / "yardsticks" / "wraps.py"
CORE = 0
COUNT, AUTHORS = 10_000, 50
POSTS = 100  # in a round
MANY, WRITERS = 100_000, 10
HOUR, OLD, OLDEST = 3_600, 2 * 86_400, 30 * 86_400  # seconds; what is older than a day has no notice
AGAIN = 10  # openings of a conversation in which all is read
PATIENCE = 180  # seconds
WORKERS = """
[worker.event-store]
role = "event-store"

[worker.signer]
role = "signer"

[worker.outbox-planner]
role = "outbox-planner"
indexers = []
allow-private-relays = true

[worker.link-feed]
role = "link-feed"
relays = []
"""
READY = ("event-store", "signer", "outbox-planner", "link-feed", "relay-connector")


def script(*arguments, **more):
    """What the script of the yardstick prints."""
    command = [endtoend.PYTHON, SCRIPT, *map(str, arguments)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=600, **more).stdout


class House:
    """A Roost, a client, and one that reads the topic `links.changes`."""

    ROOST = measure.PRODUCTS / "roost"

    def __init__(self, stack, urls):
        self.daemon = stack.enter_context(roostd.running(WORKERS + endtoend.connector(urls)))
        self.client = stack.enter_context(bus.connected(self.daemon.socket))
        for worker in READY:
            self.client.wait_for_ready(worker)
        endtoend.wait_for_relays(self.client, len(urls))
        self.reader = stack.enter_context(bus.connected(self.daemon.socket))
        self.reader.subscribe("links.changes")
        self.pids = [self.daemon.pid, *(roostd.child_named(self.daemon.pid, name) for name in READY)]

    def store(self, path):
        """Puts the events of a file into the store."""
        command = [self.ROOST, "import", path, "--socket", self.daemon.socket]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=PATIENCE)

    def account(self, secret):
        """Makes an account; the moment when the signer has it."""
        command = [self.ROOST, "key", "import", "alice", "--no-passphrase", "--socket", self.daemon.socket]
        with bus.connected(self.daemon.socket) as watcher:
            watcher.subscribe("signer.changes")
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as importing:
                importing.stdin.write(secret + "\n")
                importing.stdin.close()
                watcher.receive(bus.EVENT)
                moment = time.monotonic()
        if importing.returncode != 0:
            raise RuntimeError("the account was not made")
        return moment

    def cpu_seconds(self):
        """Processor time of all processes."""
        return sum(map(measure.cpu_seconds, self.pids))

    def notices(self, count):
        """Waits for notices; what the hub could not send in time counts as well."""
        self.reader.socket.settimeout(PATIENCE)
        while count > 0:
            kind, _, _, payload = self.reader.next()
            if kind == bus.EVENT:
                count -= "notice" in json.loads(payload)
            elif kind == bus.GAP:
                count -= json.loads(payload)["dropped"]

    def wait_for_wraps(self, count):
        """Waits until so many wraps are opened; none may be refused."""
        deadline = time.monotonic() + PATIENCE
        while True:
            accounts = self.client.call("links.status")["accounts"]
            if accounts and accounts[0]["wraps"] >= count:
                break
            if time.monotonic() > deadline:
                raise RuntimeError(f"{count} gift wraps were not opened in time: {accounts}")
            time.sleep(0.1)
        if accounts[0]["refused"]:
            raise RuntimeError(f"{accounts[0]['refused']} gift wraps were refused")


@contextlib.contextmanager
def filled(made, core=None):
    """A Roost whose store has these wraps, on one processor or on all; it has no account."""
    with contextlib.ExitStack() as stack:
        with platforms.pinned(core) if core is not None else contextlib.nullcontext():
            house = House(stack, [])
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            file.write(made[made.index("\n") + 1:])
            file.flush()
            house.store(file.name)
        yield house


def opened(made, core=None):
    """Seconds until all wraps are opened, filed and told, and processor seconds of all processes."""
    with filled(made, core) as house:
        before = house.cpu_seconds()
        start = house.account(made[:made.index("\n")])
        house.notices(COUNT)
        seconds, used = time.monotonic() - start, house.cpu_seconds() - before
        house.wait_for_wraps(COUNT)
        return seconds, used


def by_nostr_sdk(made):
    """The same of nostr-sdk, on one processor."""
    with platforms.pinned(CORE):
        told = json.loads(script("open", input=made))
    return told["seconds"], told["cpuSeconds"]


def opening(rounds):
    """Wraps opened."""
    made = script("make", COUNT, AUTHORS, HOUR, 0)
    sides = {ONE: lambda: opened(made, CORE), TWO: lambda: opened(made), YARDSTICK: lambda: by_nostr_sdk(made)}
    found = {name: [] for name in sides}
    for _ in range(rounds):
        for name, side in sides.items():
            found[name].append(side())
    for name, times in found.items():
        yield measure.result("links-opened", name, "wraps/s", [COUNT / seconds for seconds, _ in times])
        yield measure.result("links-opened-cpu", name, "wraps/CPU s", [COUNT / used for _, used in times])


def published(client, event):
    """Publishes an event, and waits until a relay has it."""
    name = client.call("plan.publish", event=event)["id"]
    deadline = time.monotonic() + PATIENCE
    while True:
        parts, _ = client.exchange("plan.publications", {"ids": [name]})
        if any(json.loads(part)["state"] == "confirmed" for part in parts):
            return
        if time.monotonic() > deadline:
            raise RuntimeError("a list of relays was not published in time")
        time.sleep(0.05)


def post(sender, receiver, key, number):
    """Milliseconds from a post until the other one's notice."""
    start = time.perf_counter()
    asked = sender.client.ask("links.post", {
        "account": "alice", "to": key, "url": f"https://example.com/{number}", "note": "have a look"})
    receiver.notices(1)
    took = 1_000 * (time.perf_counter() - start)
    while True:
        kind, flags, answered, payload = sender.client.next()
        if kind in (bus.ERROR, bus.FATAL):
            raise RuntimeError(payload.decode())
        if kind == bus.RESPONSE and answered == asked and not flags & bus.MORE:
            return took


def posting(rounds):
    """Posts from one Roost to another."""
    local = measure.ROOT / "Benchmarks" / "yardsticks" / "localrelay.py"
    ours, theirs = [], []
    with contextlib.ExitStack() as stack:
        url, _ = stack.enter_context(relay.other(endtoend.PYTHON, local))
        houses = [House(stack, [url]) for _ in range(2)]
        people = [line.split(" ", 1) for line in script("keys", url).splitlines()]
        for house, (secret, event) in zip(houses, people):
            house.account(secret)
            published(house.client, json.loads(event))
        key = json.loads(people[1][1])["pubkey"]
        post(*houses, key, 0)
        for number in range(rounds):
            took = [post(*houses, key, 1 + number * POSTS + turn) for turn in range(POSTS)]
            ours.append(measure.percentile(took, 0.5))
            theirs.append(measure.percentile(json.loads(script("trip", url, POSTS))["milliseconds"], 0.5))
    yield measure.result("links-trip-p50", OURS, "ms", ours)
    yield measure.result("links-trip-p50", YARDSTICK, "ms", theirs)


def shown(client, conversation):
    """Milliseconds until a conversation is opened, and how many posts of it were unread."""
    start = time.perf_counter()
    parts, _ = client.exchange("links.show", {"conversation": conversation, "limit": 100})
    count = client.call("links.read", conversation=conversation)["count"]
    if len(parts) != 100:
        raise RuntimeError(f"{len(parts)} posts are shown, not 100")
    return 1_000 * (time.perf_counter() - start), count


def many():
    """Long conversations, and memory."""
    made = script("make", MANY, WRITERS, OLDEST, OLD)
    with filled(made) as house:
        house.account(made[:made.index("\n")])
        house.wait_for_wraps(MANY)
        rows = [json.loads(part) for part in house.client.exchange("links.list", {})[0]]
        pid = roostd.child_named(house.daemon.pid, OURS)
        first, again = [], []
        for row in rows:
            took, count = shown(house.client, row["id"])
            if count != MANY // WRITERS:
                raise RuntimeError(f"{count} posts were unread, not {MANY // WRITERS}")
            first.append(took)
            again += [shown(house.client, row["id"])[0] for _ in range(AGAIN)]
        memory = relay.private_megabytes(pid)
    yield measure.result("links-conversation-p50", "10,000 unread", "ms", [measure.percentile(first, 0.5)])
    yield measure.result("links-conversation-p50", "all read", "ms", [measure.percentile(again, 0.5)])
    yield measure.result("links-memory", OURS, "MB", [memory])


def run(rounds):
    """All figures of links."""
    if not endtoend.has_sdk():
        print(f"skipped: links: {YARDSTICK} is not in .venv (Scripts/python-environment.sh)", file=sys.stderr)
        return
    yield from opening(rounds)
    yield from posting(rounds)
    yield from many()


if __name__ == "__main__":
    for line in run(int(sys.argv[1]) if len(sys.argv) > 1 else 3):
        print(json.dumps(line))
