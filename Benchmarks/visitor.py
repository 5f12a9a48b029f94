"""Clients of a relay at the level of bytes, many in one process: what they send may be as wrong as an attack likes, and
what they are answered is counted by its kind.

A frame of a client's is masked with zeros, which is lawful and costs nothing.
"""

import collections
import contextlib
import json
import select
import socket
import struct
import time

TEXT, CLOSE, PING = 1, 8, 9
KEY = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13"


def head(port, path="/", host=None, fields=()):
    """A request for an upgrade."""
    lines = [f"GET {path} HTTP/1.1", f"Host: {host or f'127.0.0.1:{port}'}", "Upgrade: websocket",
             "Connection: Upgrade", KEY, *fields, "", ""]
    return "\r\n".join(lines).encode()


def frame_head(stream):
    """Opcode and size of the next frame of a stream; raises ConnectionError where it ends."""
    start = stream.read(2)
    if len(start) < 2:
        raise ConnectionError("cut")
    size = start[1] & 127
    if size >= 126:
        size = int.from_bytes(stream.read(2 if size == 126 else 8), "big")
    return start[0] & 15, size


def frame(payload, opcode=TEXT, is_final=True, reserved=0, is_masked=True):
    """One frame around some bytes."""
    first = (0x80 if is_final else 0) | reserved << 4 | opcode
    mask = 0x80 if is_masked else 0
    size = len(payload)
    if size < 126:
        start = struct.pack(">BB", first, mask | size)
    elif size < 65_536:
        start = struct.pack(">BBH", first, mask | 126, size)
    else:
        start = struct.pack(">BBQ", first, mask | 127, size)
    return start + (bytes(4) if is_masked else b"") + payload


def message(*parts):
    """A message of Nostr's in a frame."""
    return frame(json.dumps(parts, separators=(",", ":")).encode())


class Visitor:
    """One connection, never blocking. `crowd` counts what comes; `on_text`, if set, is given each message."""

    def __init__(self, crowd, first, reads=True):
        self.crowd = crowd
        self.reads = reads
        self.output = bytearray(first)
        self.input = bytearray()
        self.is_upgraded = False
        self.is_over = False
        self.on_text = None
        self.socket = socket.socket()
        self.socket.setblocking(False)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if not reads:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        self.socket.connect_ex(("127.0.0.1", crowd.port))

    def send(self, data):
        """Adds to what goes out."""
        self.output += data

    def write(self):
        """Writes what goes; false when the other side is gone."""
        try:
            while self.output:
                del self.output[:self.socket.send(self.output[:1 << 18])]
        except BlockingIOError:
            pass
        except OSError:
            return self.end("cut")
        return True

    def read(self):
        """Reads what has come."""
        try:
            data = self.socket.recv(1 << 18)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.end("cut" if self.is_upgraded or not self.input else None)
            return
        self.input += data
        if not self.is_upgraded:
            self.take_head()
        if self.is_upgraded:
            self.take_frames()

    def take_head(self):
        """The status of the answer, and what is behind its head."""
        end = self.input.find(b"\r\n\r\n")
        if end < 0:
            return
        status = bytes(self.input[9:12]).decode("latin-1")
        self.crowd.count(status)
        if status != "101":
            self.end(None)
            return
        del self.input[:end + 4]
        self.is_upgraded = True

    def take_frames(self):
        """Counts what is whole."""
        place, data = 0, self.input
        while len(data) - place >= 2:
            size, start = data[place + 1] & 127, place + 2
            if size >= 126:
                width = 2 if size == 126 else 8
                if len(data) - start < width:
                    break
                size, start = int.from_bytes(data[start:start + width], "big"), start + width
            if len(data) - start < size:
                break
            self.take(data[place] & 15, bytes(data[start:start + size]))
            place = start + size
            if self.is_over:
                return
        del data[:place]

    def take(self, opcode, payload):
        """One frame."""
        if opcode == TEXT:
            self.crowd.count(kind(payload))
            if self.on_text:
                self.on_text(payload)
        elif opcode == CLOSE:
            self.end(f"close {int.from_bytes(payload[:2], 'big')}")
        elif opcode == PING:
            self.send(frame(payload, 10))

    def end(self, why):
        """It is over, by their doing or ours (None)."""
        if not self.is_over:
            self.is_over = True
            if why:
                self.crowd.count(why)
            self.crowd.left(self)
            self.socket.close()
        return False


def kind(payload):
    """What a message is, with the prefix of its reason: "OK false rate-limited", "CLOSED error", "EVENT"."""
    label = payload[2:payload.find(b'"', 2)].decode("latin-1")
    if label in ("EVENT", "EOSE", "NEG-MSG", "AUTH", "COUNT"):
        return label
    with contextlib.suppress(ValueError):
        parts = json.loads(payload)
        reason = str(parts[-1]).split(":")[0]
        if label == "OK":
            return "OK true" if parts[2] else f"OK false {reason}"
        return f"{label} {reason}"
    return label


class Crowd:
    """Some connections of one process, and what they were answered."""

    def __init__(self, port):
        self.port = port
        self.answers = collections.Counter()
        self.visitors = {}
        self.poll = select.epoll()

    def count(self, answer):
        """One more of these."""
        self.answers[answer] += 1

    def come(self, first=None, reads=True):
        """A new connection, which begins with these bytes; with the request for an upgrade, unless said."""
        visitor = Visitor(self, head(self.port) if first is None else first, reads)
        self.visitors[visitor.socket.fileno()] = visitor
        self.poll.register(visitor.socket.fileno(), select.EPOLLIN | select.EPOLLOUT | select.EPOLLET)
        return visitor

    def left(self, visitor):
        """Forgets one."""
        self.visitors.pop(visitor.socket.fileno(), None)

    def turn(self, seconds=0.01):
        """Writes and reads whatever goes."""
        for descriptor, events in self.poll.poll(seconds):
            visitor = self.visitors.get(descriptor)
            if visitor is None:
                continue
            if events & (select.EPOLLIN | select.EPOLLHUP | select.EPOLLERR) and visitor.reads:
                visitor.read()
        for visitor in list(self.visitors.values()):
            if visitor.output:
                visitor.write()
            if visitor.reads and not visitor.is_over:
                visitor.read()

    def wait(self, seconds, until=lambda: False):
        """Goes on for a time, or until something holds."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not until():
            self.turn()

    def leave(self):
        """Everybody goes."""
        for visitor in list(self.visitors.values()):
            visitor.end(None)


class Honest:
    """A client as it should be: one connection, blocking, with a deadline for each answer."""

    def __init__(self, port, patience=60):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=patience)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.stream = self.socket.makefile("rb", buffering=1 << 16)
        self.asked = 0
        self.socket.sendall(head(port))
        self.status = self.stream.readline().decode("latin-1")
        while self.stream.readline() not in (b"\r\n", b""):
            pass
        if " 101 " not in self.status:
            raise ConnectionError(self.status.strip() or "cut")

    def close(self):
        """Leaves."""
        self.stream.close()
        self.socket.close()

    def receive(self):
        """The next message, as bytes."""
        while True:
            opcode, size = frame_head(self.stream)
            payload = self.stream.read(size)
            if opcode == TEXT:
                return payload
            if opcode == CLOSE:
                raise ConnectionError(f"close {int.from_bytes(payload[:2], 'big')}")
            if opcode == PING:
                self.socket.sendall(frame(payload, 10))

    def request(self, wanted):
        """How many events a REQ brings before its EOSE; raises what a CLOSED says."""
        self.asked += 1
        name = f"honest{self.asked}"
        self.socket.sendall(message("REQ", name, wanted))
        event, count = f'["EVENT","{name}",'.encode(), 0
        while True:
            answer = self.receive()
            if answer.startswith(event):
                count += 1
            elif answer.startswith(b'["EOSE"'):
                self.socket.sendall(message("CLOSE", name))
                return count
            elif answer.startswith(b'["CLOSED"'):
                raise ConnectionError(answer.decode())

    def publish(self, event):
        """Sends an event, and raises what a refusal says."""
        self.socket.sendall(frame(b'["EVENT",' + event + b"]"))
        while True:
            answer = self.receive()
            if answer.startswith(b'["OK"'):
                if b",true," not in answer:
                    raise ConnectionError(answer.decode())
                return
