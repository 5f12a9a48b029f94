"""Links in gift wraps: how fast link-feed opens them, how soon a post is with its recipient, what a long conversation
costs to open, the memory of 100,000 posts, and how soon a contact's post comes through a flood by strangers.

    python3 Benchmarks/links.py [ROUNDS]
    python3 Benchmarks/links.py flood [WRAPS]

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

A flood: a contact posts every 250 ms from another Roost, over a LocalRelay, while 100,000 gift wraps of strangers with
links come, each by a key of its own: once 1,000 in a second, and once by `roost import`, which is faster than wraps are
opened, so that most of them wait. Both go to the store and not through the relay, where the sender stalls at this load.
The time is that from the contact's `links.post` until `links.show` has the post, which is asked every 10 ms. There are
figures for posts before the flood (the yardstick), while it comes, and while it waits.
"""

import contextlib
import json
import subprocess
import sys
import tempfile
import threading
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
FLOOD, EVERY, CALM = 100_000, 0.25, 60  # gift wraps by strangers; seconds between posts, and posts before the flood
LOOK, SHOWN = 0.01, 8  # seconds between looks, and posts of a look
ALL, WHOLE = 1_000, 0.25  # posts of a look at all of them, and seconds between these
CALM_TIME, COMES, WAITS = "before a flood", "while it comes", "while it waits"
WAYS = {"1,000 a second": 1_000, "imported": None}
IN_FLIGHT = 64
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


def neighbours(stack, *secret):
    """Two Roosts with a relay between them, the public keys of their accounts, and the relay's URL."""
    local = measure.ROOT / "Benchmarks" / "yardsticks" / "localrelay.py"
    url, _ = stack.enter_context(relay.other(endtoend.PYTHON, local))
    houses = [House(stack, [url]) for _ in range(2)]
    people = [line.split(" ", 1) for line in script("keys", url, *secret).splitlines()]
    for house, (secret, event) in zip(houses, people):
        house.account(secret)
        published(house.client, json.loads(event))
    return houses, [json.loads(event)["pubkey"] for _, event in people], url


def posting(rounds):
    """Posts from one Roost to another."""
    ours, theirs = [], []
    with contextlib.ExitStack() as stack:
        houses, (_, key), url = neighbours(stack)
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


class Watch(threading.Thread):
    """Looks again and again which posts of a conversation are shown: the moment of each. A post that comes late is not
    among the newest, so now and then it looks at all."""

    def __init__(self, daemon, conversation):
        super().__init__(daemon=True)
        self.socket, self.conversation = daemon.socket, conversation
        self.seen, self.ended = {}, threading.Event()

    def run(self):
        with bus.connected(self.socket) as client:
            whole = 0
            while not self.ended.wait(LOOK):
                is_whole = time.monotonic() > whole
                self.look(client, ALL if is_whole else SHOWN)
                if is_whole:
                    whole = time.monotonic() + WHOLE

    def look(self, client, limit):
        """Notes which of the newest posts are there now."""
        parts, _ = client.exchange("links.show", {"conversation": self.conversation, "limit": limit})
        moment, urls = time.perf_counter(), [json.loads(part)["url"] for part in parts]
        for url in urls:
            self.seen.setdefault(url, moment)


class Contact:
    """Posts every 250 ms, and knows when."""

    def __init__(self, house, recipient):
        self.house, self.recipient, self.sent = house, recipient, {}

    def post(self):
        """One post; it is in the publish queue when this returns."""
        url, begin = f"https://example.com/{len(self.sent)}", time.perf_counter()
        self.sent[url] = begin
        parts = {"account": "alice", "to": self.recipient, "url": url, "waitMilliseconds": 0}
        self.house.client.exchange("links.post", parts)
        time.sleep(max(0, begin + EVERY - time.perf_counter()))

    def took(self, watch, since, until):
        """Milliseconds of the posts between two moments, each until it was shown; all must be."""
        deadline = time.monotonic() + PATIENCE
        while missing := self.sent.keys() - watch.seen.keys():
            if time.monotonic() > deadline or not watch.is_alive():
                raise RuntimeError(f"{len(missing)} posts of the contact did not come")
            time.sleep(LOOK)
        return [1_000 * (watch.seen[url] - begin) for url, begin in self.sent.items() if since <= begin < until]


def publish(house, path, rate):
    """Publishes the events of a file, so many in a second."""
    with bus.connected(house.daemon.socket) as client, open(path, encoding="utf-8") as file:
        begin, open_count = time.monotonic(), 0
        for number, line in enumerate(file):
            time.sleep(max(0, begin + number / rate - time.monotonic()))
            client.ask("store.publish", line.encode())
            open_count += 1
            while open_count >= IN_FLIGHT or not client.may_ask():
                client.receive(bus.RESPONSE)
                open_count -= 1
        for _ in range(open_count):
            client.receive(bus.RESPONSE)


def flooded(made, rate):
    """Milliseconds of a contact's posts before a flood, while it comes and while it waits, and the seconds of each; and
    the memory of link-feed after that."""
    count = made.count("\n") - 1
    with contextlib.ExitStack() as stack:
        houses, keys, _ = neighbours(stack, made[:made.index("\n")])
        house, pid = houses[1], roostd.child_named(houses[1].daemon.pid, OURS)
        house.client.call("links.contact", publicKey=keys[0], name="friend")
        house.reader.close()  # of the topic: it would have 100,000 notices
        file = stack.enter_context(tempfile.NamedTemporaryFile("w", suffix=".jsonl"))
        file.write(made[made.index("\n") + 1:])
        file.flush()
        contact, watch = Contact(houses[0], keys[1]), Watch(house.daemon, keys[0])
        watch.start()
        start = time.perf_counter()
        for _ in range(CALM):
            contact.post()
        moments = {}

        def send():
            if rate:
                publish(house, file.name, rate)
            else:
                house.store(file.name)
            moments["sent"] = time.perf_counter()

        begin = time.perf_counter()
        sending = threading.Thread(target=send)
        sending.start()
        while house.client.call("links.status")["accounts"][0]["wraps"] < count + CALM:
            if time.perf_counter() > begin + PATIENCE:
                raise RuntimeError("the flood did not end in time")
            contact.post()
        end = time.perf_counter()
        sending.join()
        house.wait_for_wraps(count + len(contact.sent))
        sent = min(moments["sent"], end)
        spans = {CALM_TIME: (start, begin), COMES: (begin, sent), WAITS: (sent, end)}
        found = {name: (contact.took(watch, *span), span[1] - span[0]) for name, span in spans.items()}
        watch.ended.set()
        watch.join()
        return found, relay.private_megabytes(pid)


def flood(count=FLOOD):
    """A contact's posts while strangers send a flood."""
    made, kept = script("make", count, count, HOUR, 0), []
    for way, rate in WAYS.items():
        found, memory = flooded(made, rate)
        kept.append(memory)
        for span, (times, seconds) in found.items():
            name = f"{span}, {way}"
            for share, figure in ((0.5, "links-flood-p50"), (0.99, "links-flood-p99")) if times else ():
                more = {"posts": len(times), "seconds": round(seconds, 1)}
                yield measure.result(figure, name, "ms", [measure.percentile(times, share)], **more)
    yield measure.result("links-flood-memory", OURS, "MB", kept)


def run(rounds):
    """All figures of links."""
    if not endtoend.has_sdk():
        print(f"skipped: links: {YARDSTICK} is not in .venv (Scripts/python-environment.sh)", file=sys.stderr)
        return
    yield from opening(rounds)
    yield from posting(rounds)
    yield from many()
    yield from flood()


if __name__ == "__main__":
    arguments = sys.argv[1:]
    is_flood = arguments[:1] == ["flood"]
    numbers = [int(number) for number in arguments[is_flood:]]
    for line in flood(*numbers) if is_flood else run(*(numbers or [3])):
        print(json.dumps(line))
