"""Fifty relays in one program, each with habits of its own: `soak_relays.py` sets a connector beside them.

A relay has events; `obtainable` are those that a patient client can have, by the rule beside each habit. It counts
what it was asked: dials, REQs with their times, and the subscriptions that are open on each connection.
"""

import asyncio
import base64
import collections
import hashlib
import itertools
import json
import random
import struct
import time

import visitor
from visitor import CLOSE, PING, TEXT

PONG = 10
HUGE = 50 << 20
HIGHLIGHT = 9_802  # a kind that some refuse
DOCUMENTS = {
    "of 50 MB": b'{"name":"' + b"x" * HUGE + b'"}', "of garbage": b"\xff\x00<html>", "no object": b"[1,2]",
    "zeros": json.dumps({"limitation": {"max_limit": 0, "max_subscriptions": 0, "max_message_length": 0,
                                        "max_subid_length": 0}}).encode(),
    "negative": json.dumps({"limitation": {"max_limit": -5, "max_subscriptions": -1, "max_message_length": -9,
                                           "default_limit": -1}}).encode(),
    "enormous": json.dumps({"limitation": {"max_limit": 2**63 - 1, "max_subscriptions": 10**18}}).encode(),
}


def matches(event, wanted):
    """Whether a filter of authors, kinds and times matches. No event here has tags."""
    return (("authors" not in wanted or event["pubkey"] in wanted["authors"])
            and ("kinds" not in wanted or event["kind"] in wanted["kinds"])
            and not any(name.startswith("#") for name in wanted)
            and wanted.get("since", 0) <= event["created_at"] <= wanted.get("until", 1 << 62))


class Connection:
    """One client of a relay."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer
        self.open = {}  # subscriptions: name -> filters
        self.sent = 0

    async def frame(self, payload, opcode=TEXT):
        """Sends one frame, and waits while the client does not read."""
        self.writer.write(visitor.frame(payload, opcode, is_masked=False))
        await self.writer.drain()

    async def say(self, *parts):
        """Sends a message of Nostr's."""
        await self.frame(json.dumps(parts, separators=(",", ":")).encode())

    async def next(self):
        """Opcode and payload of the next frame."""
        head = await self.reader.readexactly(2)
        size = head[1] & 127
        if size > 125:
            size = int.from_bytes(await self.reader.readexactly(2 if size == 126 else 8), "big")
        mask = await self.reader.readexactly(4)
        payload = await self.reader.readexactly(size)
        long_mask = (mask * (size // 4 + 1))[:size]
        return head[0] & 15, (int.from_bytes(payload, "big") ^ int.from_bytes(long_mask, "big")).to_bytes(size, "big")


class Relay:
    """An honest relay without a bound: all of its events are obtainable."""

    cap = 1 << 30
    claims = True  # whether it says EOSE, which proves what it covers
    document = None

    def __init__(self, name, events, seed):
        self.name, self.events, self.random = name, events, random.Random(seed)
        self.live = []  # events added since the start
        self.dials, self.requests = [], collections.defaultdict(list)
        self.connections = set()
        self.server, self.url = None, ""
        self.is_calm = False  # at the end no relay hangs up any more
        self.refused = collections.Counter()
        self.asks = 0

    async def listen(self):
        """Begins to serve."""
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0, backlog=64)
        self.url = f"ws://127.0.0.1:{self.server.sockets[0].getsockname()[1]}"

    @property
    def open_count(self):
        """Subscriptions that clients hold open."""
        return sum(len(connection.open) for connection in self.connections)

    def obtainable(self):
        """What a client with patience can have."""
        return self.capped(self.events, self.cap) + self.live

    @staticmethod
    def capped(events, cap):
        """A second with more events than a page can be asked for by author and kind, and no finer."""
        groups = collections.defaultdict(list)
        for event in events:
            groups[event["created_at"], event["pubkey"], event["kind"]].append(event)
        return [event for group in groups.values()
                for event in sorted(group, key=lambda event: event["id"])[:cap]]

    # The wire

    async def serve(self, reader, writer):
        """One connection, from its first byte to its end."""
        connection = Connection(reader, writer)
        try:
            head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)).decode("latin-1")
            fields = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
            fields = {name.lower(): value for name, value in fields.items()}
            if "sec-websocket-key" not in fields:
                await self.tell_document(writer)
                return
            self.dials.append(time.monotonic())
            if not await self.admit(connection):
                return
            digest = hashlib.sha1((fields["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode())
            writer.write(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                         b"Sec-WebSocket-Accept: " + base64.b64encode(digest.digest()) + b"\r\n\r\n")
            self.connections.add(connection)
            await self.converse(connection)
        except (OSError, EOFError, asyncio.TimeoutError, asyncio.LimitOverrunError):
            pass
        finally:
            self.connections.discard(connection)
            writer.close()

    async def tell_document(self, writer):
        """NIP-11."""
        if self.document is None:
            writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
        else:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/nostr+json\r\nContent-Length: %d\r\n\r\n"
                         % len(self.document) + self.document)
        await writer.drain()

    async def admit(self, _):
        """Whether the connection is upgraded."""
        return True

    async def converse(self, connection):
        """Reads what the client says."""
        tasks = {}
        try:
            while True:
                opcode, payload = await connection.next()
                if opcode == PING:
                    await self.ping(connection, payload)
                elif opcode == CLOSE:
                    return
                elif opcode == TEXT:
                    message = json.loads(payload)
                    if message[0] == "REQ":
                        self.requests[id(connection)].append(time.monotonic())
                        self.asks += 1
                        connection.open[message[1]] = message[2:]
                        tasks[message[1]] = asyncio.create_task(self.guarded(connection, message[1], message[2:]))
                    elif message[0] == "CLOSE":
                        connection.open.pop(message[1], None)
                        if message[1] in tasks:
                            tasks.pop(message[1]).cancel()
        finally:
            for task in tasks.values():
                task.cancel()

    async def ping(self, connection, payload):
        """Answers a ping."""
        await connection.frame(payload, PONG)

    async def guarded(self, connection, name, filters):
        """Answers a REQ; a connection that ends meanwhile is no fault."""
        try:
            await self.answer(connection, name, filters)
        except OSError:
            pass

    async def refuse(self, connection, name, words):
        """CLOSED."""
        self.refused[words] += 1
        connection.open.pop(name, None)
        await connection.say("CLOSED", name, words)

    # The habits

    def found(self, filters):
        """The events of an answer, in its order."""
        chosen = {}
        for wanted in filters:
            some = sorted((event for event in self.events + self.live if matches(event, wanted)),
                          key=lambda event: (-event["created_at"], event["id"]))
            chosen |= {event["id"]: event for event in some[:min(self.cap, wanted.get("limit", self.cap))]}
        return sorted(chosen.values(), key=lambda event: (-event["created_at"], event["id"]))

    async def answer(self, connection, name, filters):
        """The answer to a REQ."""
        for event in self.found(filters):
            await self.send(connection, name, event)
        await connection.say("EOSE", name)

    async def send(self, connection, name, event):
        """One event of an answer."""
        connection.sent += 1
        await connection.say("EVENT", name, event)

    async def publish(self, event):
        """An event comes in: those who hold a subscription get it."""
        self.live.append(event)
        for connection in list(self.connections):
            for name, filters in list(connection.open.items()):
                if any(matches(event, wanted) for wanted in filters):
                    try:
                        await connection.say("EVENT", name, event)
                    except OSError:
                        break


class Capped(Relay):
    """Sends at most N events to a filter. Obtainable: of each second, author and kind the first N."""

    def __init__(self, name, events, seed, cap, said=False):
        super().__init__(name, events, seed)
        self.cap = cap
        if said:
            self.document = json.dumps({"limitation": {"max_limit": cap}}).encode()


class Documented(Relay):
    """Has an information document that is none. Obtainable: all."""

    def __init__(self, name, events, seed, document):
        super().__init__(name, events, seed)
        self.document = DOCUMENTS[document]


class Flapping(Capped):
    """Hangs up after some events, in the middle of a page, ever later. Obtainable: all."""

    async def send(self, connection, name, event):
        await super().send(connection, name, event)
        if not self.is_calm and connection.sent == 20 * len(self.dials):
            connection.writer.transport.abort()
            raise ConnectionError("flap")


class Leaving(Relay):
    """Closes each connection after some seconds. Obtainable: all."""

    async def converse(self, connection):
        try:
            await asyncio.wait_for(super().converse(connection), None if self.is_calm else 8 + 8 * len(self.dials))
        except asyncio.TimeoutError:
            await connection.frame(struct.pack(">H", 1001), CLOSE)


class Dead(Relay):
    """Refuses its first dials: by a cut, 503 and 429 in turn. Obtainable: all."""

    async def admit(self, connection):
        turn = len(self.dials)
        if turn > 3 or self.is_calm:
            return True
        if turn > 1:
            connection.writer.write(b"HTTP/1.1 503 Busy\r\n\r\n" if turn == 2 else
                                    b"HTTP/1.1 429 Slow\r\nRetry-After: 2\r\n\r\n")
            await connection.writer.drain()
        return False


class Refusing(Relay):
    """Refuses a REQ for highlights alone, with a word. Obtainable: all but these."""

    def __init__(self, name, events, seed, words):
        super().__init__(name, events, seed)
        self.words = words

    def obtainable(self):
        return [event for event in self.events + self.live if event["kind"] != HIGHLIGHT]

    async def answer(self, connection, name, filters):
        if all(HIGHLIGHT in wanted.get("kinds", []) for wanted in filters):
            await self.say_no(connection, name)
        else:
            await super().answer(connection, name, filters)

    async def say_no(self, connection, name):
        """The refusal."""
        await self.refuse(connection, name, self.words)


class Noticing(Refusing):
    """The same, by a NOTICE only: it never answers that REQ. Obtainable: all but these."""

    async def say_no(self, connection, name):
        await connection.say("NOTICE", self.words)


class Moody(Relay):
    """Refuses the first of its REQs with words that pass. Obtainable: all."""

    def __init__(self, name, events, seed, words, count):
        super().__init__(name, events, seed)
        self.words, self.count = words, count

    async def answer(self, connection, name, filters):
        if self.asks <= self.count:
            await self.refuse(connection, name, self.words)
        else:
            await super().answer(connection, name, filters)


class Crowded(Capped):
    """Allows few subscriptions, and refuses more. Obtainable: all."""

    def __init__(self, name, events, seed, places, is_noticed=False):
        super().__init__(name, events, seed, 50)
        self.places, self.is_noticed = places, is_noticed

    async def answer(self, connection, name, filters):
        if len(connection.open) <= self.places:
            await super().answer(connection, name, filters)
        elif self.is_noticed:
            connection.open.pop(name, None)
            self.refused["NOTICE"] += 1
            await connection.say("NOTICE", "ERROR: too many concurrent REQs")
        else:
            await self.refuse(connection, name, "rate-limited: too many subscriptions")


class Limiting(Capped):
    """Takes some REQs a second, and refuses more. Obtainable: all."""

    def __init__(self, name, events, seed, rate):
        super().__init__(name, events, seed, 50)
        self.rate = rate

    async def answer(self, connection, name, filters):
        now = time.monotonic()
        recent = sum(1 for times in self.requests.values() for at in times if at > now - 1)
        if recent > self.rate:
            await self.refuse(connection, name, "rate-limited: slow down")
        else:
            await super().answer(connection, name, filters)


class Early(Relay):
    """Says EOSE after a few events of an answer, and sends the rest behind it. Obtainable: all."""

    async def answer(self, connection, name, filters):
        found = self.found(filters)
        for event in found[:7]:
            await self.send(connection, name, event)
        await connection.say("EOSE", name)
        if any(wanted.get("limit") != 0 for wanted in filters):
            for event in found[7:]:
                await self.send(connection, name, event)


class Endless(Relay):
    """Never says EOSE. Obtainable: all, since an answer has all; and nothing is proven."""

    claims = False

    async def answer(self, connection, name, filters):
        for event in self.found(filters):
            await self.send(connection, name, event)


class Flooding(Capped):
    """Goes on behind the events with invented ones, without end. Obtainable: all, since they fit its first page."""

    def __init__(self, name, events, seed):
        super().__init__(name, events, seed, 100, said=True)

    async def answer(self, connection, name, filters):
        if all(wanted.get("limit") == 0 for wanted in filters):
            await connection.say("EOSE", name)
            return
        found = self.found(filters)
        for event in found:
            await self.send(connection, name, event)
        for number in itertools.count() if found else ():
            at = found[-1]["created_at"] - number
            invented = {**found[-1], "id": f"{self.random.getrandbits(256):064x}", "created_at": at}
            await self.send(connection, name, invented)
            await asyncio.sleep(0.001)


class Straying(Relay):
    """Sends what nobody asked for between the events. Obtainable: all that was asked for."""

    def __init__(self, name, events, seed, strangers):
        super().__init__(name, events, seed)
        self.strangers = strangers

    async def send(self, connection, name, event):
        await super().send(connection, name, event)
        await connection.say("EVENT", name, self.random.choice(self.strangers))
        await connection.say("EVENT", "nobody", self.random.choice(self.strangers))


class Repeating(Capped):
    """Sends each event three times. Obtainable: all."""

    async def send(self, connection, name, event):
        for _ in range(3):
            await super().send(connection, name, event)


class Shuffled(Capped):
    """Sends a page in no order. Obtainable: all."""

    def found(self, filters):
        found = super().found(filters)
        self.random.shuffle(found)
        return found


class Stalling(Capped):
    """Says nothing more in the middle of its first page, and answers no ping. Obtainable: all."""

    async def send(self, connection, name, event):
        if len(self.dials) == 1 and connection.sent == 10:
            await asyncio.sleep(3_600)
        await super().send(connection, name, event)

    async def ping(self, connection, payload):
        if len(self.dials) > 1:
            await super().ping(connection, payload)

    async def publish(self, event):
        if len(self.dials) > 1:
            await super().publish(event)
        else:
            self.live.append(event)


class Slow(Relay):
    """Sends some events a second. Obtainable: all."""

    async def send(self, connection, name, event):
        await asyncio.sleep(0.1)
        await super().send(connection, name, event)


class Garbled(Relay):
    """Sends what is no message between the events. Obtainable: all."""

    async def send(self, connection, name, event):
        await super().send(connection, name, event)
        if connection.sent % 10 == 0 and connection.sent < 300:
            await connection.frame(self.random.choice((b"[]", b"{", b'["EVENT"]', b'["EOSE",7]', b'["HELLO","you"]')))


class Future(Capped):
    """Has events of next year. Obtainable: all, these too."""
