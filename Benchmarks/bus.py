"""A blocking client of roostd, as docs/protocol.md describes it: as much as the measurements ask for."""

import contextlib
import json
import socket
import struct

HEADER = struct.Struct("<IBBHIIQQIHHQ")
GRANT = struct.Struct("<QQ")
LENGTH_OF_NOTHING = HEADER.size - 4
HELLO, WELCOME, READY, REGISTRY, CREDIT, FATAL = 1, 2, 3, 4, 7, 10
REQUEST, RESPONSE, ERROR, CANCEL = 16, 17, 18, 19
EVENT, SUBSCRIBE, GAP = 24, 27, 29
MORE, RAW = 1, 256


class Client:
    """One connection, of a client unless said. It asks for one thing at a time (`call`) or for many (`ask`, `next`).

    A worker that `supervisor.attach` gave a token may ask what only its role may. It serves nothing."""

    WINDOW = (1024, 16 << 20)  # what the hub may send ahead: frames, bytes

    def __init__(self, path, role="client", name="benchmarks", token=None):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(path))
        self.stream = self.socket.makefile("rb", buffering=1 << 20)
        self.last_id = 0
        self.sent = self.taken = self.told = (0, 0)
        self.granted = (1, 1)
        window = {"frames": self.WINDOW[0], "bytes": self.WINDOW[1]}
        self.send(HELLO, {"role": role, "name": name, "window": window, **({"token": token} if token else {})})
        welcome = self.receive(WELCOME)
        self.registry = welcome["registry"]
        self.granted = (welcome["window"]["frames"], welcome["window"]["bytes"])
        if token:
            self.send(READY, b"")

    def close(self):
        self.stream.close()
        self.socket.close()

    def send(self, kind, value, method=0, number=0, flags=0):
        """One frame; a value that is not bytes goes as JSON."""
        payload = value if isinstance(value, bytes) else json.dumps(value).encode()
        length = LENGTH_OF_NOTHING + len(payload)
        self.socket.sendall(HEADER.pack(length, 1, kind, flags, 0, 0, number, 0, 0, 0, method, 0) + payload)
        return len(payload)

    def next(self):
        """The next frame: kind, flags, the request it answers, its payload. Parts and events return credit."""
        head = self.stream.read(HEADER.size)
        if len(head) < HEADER.size:
            raise ConnectionError("roostd closed the connection")
        length, _, kind, flags, _, _, _, answered, *_ = HEADER.unpack(head)
        payload = self.stream.read(length - LENGTH_OF_NOTHING)
        if kind == CREDIT:
            self.granted = GRANT.unpack(payload)
        elif kind == REGISTRY:
            self.registry = json.loads(payload)
        elif flags & MORE or kind in (EVENT, GAP):
            self.taken = (self.taken[0] + 1, self.taken[1] + len(payload))
            if any(2 * (self.taken[i] - self.told[i]) > self.WINDOW[i] for i in (0, 1)):
                self.told = self.taken
                self.send(CREDIT, GRANT.pack(self.taken[0] + self.WINDOW[0], self.taken[1] + self.WINDOW[1]))
        return kind, flags, answered, payload

    def receive(self, *kinds):
        """The payload of the next frame of one of these kinds; raises what the hub refuses."""
        while True:
            kind, _, _, payload = self.next()
            if kind in (ERROR, FATAL):
                raise RuntimeError(payload.decode())
            if kind in kinds:
                return json.loads(payload or "null")

    def may_ask(self):
        """Whether there is credit for a request."""
        return self.sent[0] < self.granted[0] and self.sent[1] < self.granted[1]

    def ask(self, method, value, raw=False):
        """Sends a request, for which there must be credit; its number."""
        self.last_id += 1
        number = self.registry["methods"][method]["number"]
        count = self.send(REQUEST, value, number, self.last_id, RAW if raw else 0)
        self.sent = (self.sent[0] + 1, self.sent[1] + count)
        return self.last_id

    def subscribe(self, topic):
        """Has the events of a topic sent from now on; `next` gives them."""
        self.last_id += 1
        self.send(SUBSCRIBE, b"", self.registry["topics"][topic], self.last_id)
        self.sent = (self.sent[0] + 1, self.sent[1])
        self.receive(RESPONSE)

    def cancel(self, number):
        """Gives a request up; its end may still come."""
        self.socket.sendall(HEADER.pack(LENGTH_OF_NOTHING, 1, CANCEL, 0, 0, 0, 0, number, 0, 0, 0, 0))

    def exchange(self, method, value):
        """The parts of the answer to one request, as bytes, and its end."""
        parts, number = [], self.ask(method, value)
        while True:
            kind, flags, answered, payload = self.next()
            if kind == FATAL or (kind == ERROR and answered == number):
                raise RuntimeError(payload.decode())
            if kind == RESPONSE and answered == number:
                if not flags & MORE:
                    return parts, json.loads(payload or "null")
                parts.append(payload)

    def call(self, method, **arguments):
        """The end of the answer to one request."""
        return self.exchange(method, arguments)[1]

    def ready_endpoint(self, worker):
        """The endpoint of a worker that takes work now; None while it does not."""
        for member in self.registry["members"]:
            if member["name"] == worker and member["isReady"]:
                return member["endpoint"]
        return None

    def wait_for_ready(self, worker, other_than=None, timeout=30):
        """Waits until `worker` takes work under an endpoint that is not `other_than`; returns it."""
        self.socket.settimeout(timeout)
        while (endpoint := self.ready_endpoint(worker)) in (None, other_than):
            self.receive(REGISTRY)
        self.socket.settimeout(None)
        return endpoint


@contextlib.contextmanager
def connected(path, **identity):
    """A client for the length of a block, or a worker: `role`, `name` and `token`."""
    with contextlib.closing(Client(path, **identity)) as client:
        yield client
