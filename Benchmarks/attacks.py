"""What hostile clients do to a local relay. Each attack is a function of a crowd of connections, a time in seconds and
what it may use; it ends when the time is over or it has done what it came for."""

import itertools
import json
import os
import random
import socket
import struct
import time
import zlib

import visitor
from visitor import CLOSE, PING, TEXT, frame, message

KEYS = [f"{number:064x}" for number in range(1, 20_001)]
DEFLATE = ("Sec-WebSocket-Extensions: permessage-deflate",)


def upgraded(crowd, count, fields=(), reads=True, seconds=30):
    """So many that were let in; without those that were not."""
    first = visitor.head(crowd.port, fields=fields)
    come = []
    for number in range(count):
        come.append(crowd.come(first, reads=True))
        if number % 64 == 63:
            crowd.wait(seconds, lambda: all(one.is_upgraded or one.is_over for one in come))
    crowd.wait(seconds, lambda: all(one.is_upgraded or one.is_over for one in come))
    for one in come:
        one.reads = reads
    return [one for one in come if not one.is_over]


def flood(crowd, seconds, visitors, make, ahead=1 << 16):
    """Each of them sends as fast as it is taken."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for one in visitors:
            if not one.is_over:
                while len(one.output) < ahead:
                    one.send(make())
        crowd.turn(0)
        if all(one.is_over for one in visitors):
            return


def again(crowd, seconds, first, data=b"", at_once=64):
    """Connections in turn, each of which sends this, and waits for its end."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for _ in range(at_once - len(crowd.visitors)):
            crowd.come(first + data)
        crowd.turn(0.001)


def garbage(crowd, seconds, _):
    """Bytes of no protocol, of TLS and of others."""
    end = time.monotonic() + seconds
    starts = [lambda: os.urandom(300), lambda: b"\x16\x03\x01\x02\x00\x01" + os.urandom(500),
              lambda: b"SSH-2.0-OpenSSH_9.2\r\n", lambda: b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", lambda: b"\r\n" * 500,
              lambda: b"GET / HTTP/1.1\nHost: a\n\n", lambda: b"\0" * 4_096]
    while time.monotonic() < end:
        for _ in range(64 - len(crowd.visitors)):
            crowd.come(random.choice(starts)())
        crowd.turn(0.001)


def garbage_messages(crowd, seconds, _):
    """WebSockets that say nonsense until they are closed, and come again."""
    texts = [b"", b"x", b"{}", b"[]", b'["REQ"]', b'["REQ","a",{"kinds":1}]', b'["EVENT",{}]', b"[" * 5_000,
             b'["REQ","a",{"ids":[' + b'"' * 3_000, bytes(2_000), b'["HELLO"]', b'["CLOSE"]', b'["AUTH","x"]']
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for one in upgraded(crowd, 16):
            for _ in range(150):
                one.send(frame(random.choice(texts)))
        crowd.wait(min(5, end - time.monotonic()), lambda: not crowd.visitors)


def huge(crowd, seconds, _):
    """Heads without an end, announcements of exabytes, messages beyond the bound."""
    end = time.monotonic() + seconds
    starts = [b"GET / HTTP/1.1\r\nX: " + b"x" * (1 << 20), b"GET /" + b"y" * (1 << 20),
              b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 100_000]
    enormous = struct.pack(">BBQ", 0x81, 0xFF, 1 << 62) + bytes(4) + b"x" * 70_000
    messages = [enormous, frame(b"[" + b" " * 600_000 + b"]"), frame(b'["REQ","' + b"x" * 520_000 + b'",{}]')]
    while time.monotonic() < end:
        for start in starts:
            crowd.come(start)
        for one, data in zip(upgraded(crowd, len(messages)), messages):
            one.send(data)
        crowd.wait(5, lambda: not crowd.visitors)
        crowd.leave()


def byte_by_byte(crowd, seconds, _):
    """A thousand clients that send a byte at a time: the head, then a request, then it again."""
    sent = visitor.head(crowd.port) + message("REQ", "a", {"limit": 1}) * 1_000
    places = {crowd.come(b""): 0 for _ in range(200)}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for one in places:
            if not one.is_over and not one.output:
                one.send(sent[places[one]:places[one] + 1])
                places[one] += 1
        crowd.turn(0)


def requests(crowd, seconds, _):
    """Requests as fast as they go, under ever new names and without an end."""
    numbers = itertools.count()
    flood(crowd, seconds, upgraded(crowd, 50), lambda: message("REQ", f"{next(numbers) % 250}", {"limit": 500}))


def never_reading(crowd, seconds, _):
    """Three hundred that ask for everything and read nothing."""
    visitors = upgraded(crowd, 300, reads=False)
    for one in visitors:
        for number in range(100):
            one.send(message("REQ", f"{number}", {}))
    crowd.wait(seconds)
    for one in visitors:
        one.reads = True
    crowd.wait(5, lambda: not crowd.visitors)


def subscriptions(crowd, seconds, resources):
    """A hundred thousand subscriptions of four hundred clients, each to one author."""
    standing(crowd, seconds, resources, lambda number: {"authors": [KEYS[number % len(KEYS)]], "limit": 1})


def subscriptions_to_all(crowd, seconds, resources):
    """As many, each to everything that comes."""
    standing(crowd, seconds, resources, lambda number: {"limit": 0})


def standing(crowd, seconds, resources, wanted):
    """So many subscriptions, 250 to a client, and then silence."""
    count = resources["subscriptions"]
    numbers = iter(range(count))
    begin = time.monotonic()
    visitors = upgraded(crowd, count // 250)
    for one in visitors:
        for name in range(250):
            one.send(message("REQ", f"{name}", wanted(next(numbers))))
        crowd.turn(0)
    crowd.wait(max(seconds, 1), lambda: False)
    crowd.answers["seconds"] += int(time.monotonic() - begin)


def filter_bombs(crowd, seconds, _):
    """The largest requests that are taken: 32 filters, ten thousand values, words, no limit."""
    def bomb():
        shape = random.randrange(4)
        if shape == 0:
            filters = [{"authors": random.sample(KEYS, 230)} for _ in range(32)]
        elif shape == 1:
            filters = [{"#t": [f"topic{number}" for number in range(300)],
                        "kinds": list(range(10))} for _ in range(32)]
        elif shape == 2:
            filters = [{"search": " ".join(f"w{random.randrange(30)}" for _ in range(32))} for _ in range(32)]
        else:
            filters = [{"since": number, "kinds": list(range(300))} for number in range(32)]
        return message("REQ", "bomb", *filters)
    flood(crowd, seconds, upgraded(crowd, 20), bomb, ahead=1)


def large_standing(crowd, seconds, _):
    """Subscriptions of thousands of authors that stay: four hundred of three hundred kilobytes."""
    for one in upgraded(crowd, 40):
        for name in range(10):
            keys = random.sample(KEYS, 4_700)
            one.send(message("REQ", f"{name}", {"authors": keys, "limit": 1}))
        crowd.turn(0)
    crowd.wait(seconds)


def deflate_bombs(crowd, seconds, _):
    """Compressed messages that would be hundreds of times as long, or take long to unpack."""
    def packed(text, level=9):
        engine = zlib.compressobj(level, wbits=-15)
        return (engine.compress(text) + engine.flush(zlib.Z_SYNC_FLUSH))[:-4]

    zeros = packed(bytes(100 << 20))
    large = packed(b'["REQ","a",{"ids":["' + b"0" * 510_000 + b'"]}]')
    finals = (b"\x01\x00\x00\xff\xff" * 100_000)[:500_000]
    again_and_again = [frame(data, reserved=4) for data in (zeros[:500_000], large, finals, os.urandom(1_000))]
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for one, data in zip(upgraded(crowd, 16, DEFLATE), itertools.cycle(again_and_again)):
            for _ in range(20):
                one.send(data)
        crowd.wait(2, lambda: not crowd.visitors)
        crowd.leave()


def handshakes(crowd, seconds, resources):
    """Upgrades in turn, each left at once."""
    first = visitor.head(crowd.port)
    count, deadline = resources["handshakes"], time.monotonic() + max(seconds, resources["patience"])
    linger = struct.pack("ii", 1, 0)
    for _ in range(count):
        with socket.socket() as one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            one.settimeout(30)
            try:
                one.connect(("127.0.0.1", crowd.port))
                one.sendall(first)
                crowd.count(one.recv(4_096)[9:12].decode("latin-1") or "cut")
            except OSError as fault:
                crowd.count(type(fault).__name__)
        if time.monotonic() > deadline:
            return


def half_open(crowd, seconds, _):
    """Heads that never end, thousands at a time."""
    first = visitor.head(crowd.port)[:-2]
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for _ in range(min(100, 3_000 - len(crowd.visitors))):
            crowd.come(first)
        crowd.turn(0.001)


def pipelined(crowd, seconds, _):
    """Many requests of HTTP behind each other."""
    one = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{crowd.port}\r\nAccept: application/nostr+json\r\n\r\n".encode()
    again(crowd, seconds, one * 1_000)


def pages(crowd, seconds, _):
    """The page and the figures, as often as they are to be had."""
    host = f"Host: 127.0.0.1:{crowd.port}\r\n\r\n"
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for _ in range(64 - len(crowd.visitors)):
            crowd.come(f"GET {random.choice(['/', '/metrics'])} HTTP/1.1\r\n{host}".encode())
        crowd.turn(0.001)


def fragments(crowd, seconds, _):
    """Messages in pieces of one byte, and messages that never end."""
    visitors = upgraded(crowd, 20)
    for one in visitors[:10]:
        one.send(frame(b"[", is_final=False))
    for one in visitors[10:]:
        one.send(frame(b"[" + b" " * 200_000, is_final=False))
    empty, blank = frame(b"", 0, is_final=False) * 200, frame(b" ", 0, is_final=False) * 200
    flood(crowd, seconds, visitors, lambda: random.choice((empty, blank)))


def wrong_frames(crowd, seconds, _):
    """Frames without a mask, with reserved bits, with unknown opcodes, long controls, bad closes, bad UTF-8."""
    wrong = [frame(b"[]", is_masked=False), frame(b"[]", reserved=2), frame(b"[]", 3), frame(bytes(200), PING),
             frame(b"\x03", CLOSE), frame(struct.pack(">H", 1005), CLOSE), frame(b"\xff\xfe", TEXT), frame(b"", 0),
             frame(b"a", is_final=False) + frame(b"b"), frame(b"", PING, is_final=False)]
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for one, data in zip(upgraded(crowd, 20), itertools.cycle(wrong)):
            one.send(data)
        crowd.wait(5, lambda: not crowd.visitors)
        crowd.leave()


def pings(crowd, seconds, _):
    """Pings as fast as they go, of which the pongs are read by some and not by others."""
    readers, deaf = upgraded(crowd, 10), upgraded(crowd, 10, reads=False)
    ping = frame(bytes(125), PING) * 100
    flood(crowd, seconds, readers + deaf, lambda: ping)


def close_races(crowd, seconds, resources):
    """Connections that are closed in the middle of everything, in every way."""
    events = resources["events"]
    end, reset = time.monotonic() + seconds, struct.pack("ii", 1, 0)
    while time.monotonic() < end:
        for one in upgraded(crowd, 30):
            for number in range(20):
                one.send(message("REQ", f"{number}", {"limit": 100}) + frame(b'["EVENT",' + next(events) + b"]"))
            one.send(message("CLOSE", "3") + frame(struct.pack(">H", 1000), CLOSE) + message("REQ", "late", {}))
        crowd.turn(0)
        for one in list(crowd.visitors.values()):
            way = random.randrange(3)
            if way == 0:
                one.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
            if way < 2:
                one.end(None)
        crowd.wait(1, lambda: not crowd.visitors)
        crowd.leave()


def events(crowd, seconds, resources):
    """Good events as fast as they go."""
    made = resources["events"]
    flood(crowd, seconds, upgraded(crowd, 20), lambda: frame(b'["EVENT",' + next(made) + b"]"))


def forgeries(crowd, seconds, resources):
    """Events whose signature is another's: each costs a verification."""
    made, last = resources["events"], [None]

    def forged():
        event = json.loads(next(made))
        last[0], event["sig"] = event["sig"], last[0] or "0" * 128
        return message("EVENT", event)
    flood(crowd, seconds, upgraded(crowd, 20), forged)


def duplicates(crowd, seconds, resources):
    """The same event again and again."""
    one = frame(b'["EVENT",' + next(resources["events"]) + b"]") * 20
    flood(crowd, seconds, upgraded(crowd, 20), lambda: one)


def large_events(crowd, seconds, resources):
    """Events of half a megabyte, which are none."""
    event = json.loads(next(resources["events"]))
    numbers = itertools.count()

    def large():
        event["id"] = f"{next(numbers):064x}"
        event["content"] = "x" * 500_000
        return message("EVENT", event)
    flood(crowd, seconds, upgraded(crowd, 20), large, ahead=1)


def counts(crowd, seconds, _):
    """COUNT of everything, and of ten thousand values."""
    wide = message("COUNT", "c", *({"authors": random.sample(KEYS, 230)} for _ in range(32)))
    words = message("COUNT", "c", *({"search": f"w{number} w{number + 1}"} for number in range(32)))
    plain = message("COUNT", "c", {})
    flood(crowd, seconds, upgraded(crowd, 20), lambda: random.choice((wide, words, plain)), ahead=1)


def reconciliations(crowd, seconds, _):
    """NEG-OPEN of everything under ever new names, and NEG-MSG without a wait."""
    numbers = itertools.count()

    def one():
        name = f"{next(numbers) % 12}"
        return message("NEG-OPEN", name, {}, "6100000200") + message("NEG-MSG", name, "6100000200") * 3
    flood(crowd, seconds, upgraded(crowd, 20), one, ahead=1 << 12)


def authentications(crowd, seconds, resources):
    """AUTH with events that are none of its."""
    made = resources["events"]
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for one in upgraded(crowd, 16):
            for _ in range(120):
                one.send(frame(b'["AUTH",' + next(made) + b"]"))
        crowd.wait(5, lambda: not crowd.visitors)
        crowd.leave()


def wrong_names(crowd, seconds, _):
    """Other hosts, and pages of unknown origins that ask and publish all the same."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for host in ("evil.example", f"127.0.0.1.evil.example:{crowd.port}", "", "a" * 5_000, "[::1", "127.0.0.1, b"):
            crowd.come(visitor.head(crowd.port, host=host or "\t"))
        for origin in ("https://evil.example", "null", "x" * 9_000, "file://", "http://127.0.0.1.evil.example"):
            one = crowd.come(visitor.head(crowd.port, fields=(f"Origin: {origin}",)))
            one.send(message("REQ", "a", {}) + message("COUNT", "a", {}) + message("NEG-OPEN", "a", {}, "6100000200"))
        crowd.wait(0.2)
        crowd.leave()


def connections(crowd, seconds, resources):
    """More connections than there may be, which stay."""
    upgraded(crowd, resources["connections"], seconds=60)
    crowd.wait(seconds)


ALL = [garbage, garbage_messages, huge, byte_by_byte, half_open, pipelined, pages, wrong_names, wrong_frames, fragments,
       pings, close_races, deflate_bombs, requests, filter_bombs, large_standing, counts, reconciliations,
       authentications, never_reading, events, forgeries, duplicates, large_events, handshakes, connections,
       subscriptions, subscriptions_to_all]
