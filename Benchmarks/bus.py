"""A blocking client of roostd, as docs/protocol.md describes it: as much as the measurements ask for."""

import contextlib
import json
import socket
import struct

HEADER = struct.Struct("<IBBHIIQQIHHQ")
LENGTH_OF_NOTHING = HEADER.size - 4
HELLO, WELCOME, REGISTRY, FATAL, REQUEST, RESPONSE, ERROR = 1, 2, 4, 10, 16, 17, 18


class Client:
    """One connection in the role `client`; requests one at a time."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(path))
        self.stream = self.socket.makefile("rb")
        self.last_id = 0
        self.send(HELLO, {"role": "client", "name": "benchmarks"})
        self.registry = self.receive(WELCOME)["registry"]

    def close(self):
        self.stream.close()
        self.socket.close()

    def send(self, kind, value, method=0, number=0):
        payload = json.dumps(value).encode()
        length = LENGTH_OF_NOTHING + len(payload)
        self.socket.sendall(HEADER.pack(length, 1, kind, 0, 0, 0, number, 0, 0, 0, method, 0) + payload)

    def receive(self, *kinds):
        """The payload of the next frame of one of these kinds; raises what the hub refuses."""
        while True:
            head = self.stream.read(HEADER.size)
            if len(head) < HEADER.size:
                raise ConnectionError("roostd closed the connection")
            length, _, kind, *_ = HEADER.unpack(head)
            payload = self.stream.read(length - LENGTH_OF_NOTHING)
            if kind in (ERROR, FATAL):
                raise RuntimeError(payload.decode())
            if kind == REGISTRY:
                self.registry = json.loads(payload)
            if kind in kinds:
                return json.loads(payload)

    def call(self, method, **arguments):
        """The answer to one request."""
        self.last_id += 1
        self.send(REQUEST, arguments, self.registry["methods"][method]["number"], self.last_id)
        return self.receive(RESPONSE)

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
def connected(path):
    """A client for the length of a block."""
    with contextlib.closing(Client(path)) as client:
        yield client
