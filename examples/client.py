#!/usr/bin/env python3
"""Asks Roost one question: client.py [METHOD [JSON]], by default supervisor.status. The socket is $ROOST_SOCKET.

As a module it is a connection, `Roost`; job.py beside it has a job done over one. Standard library only."""
import collections, json, os, socket, struct, sys

HEADER = struct.Struct("<IBBHIIQQIHHQ")  # length version type flags destination source id re ttl attempt method trace
TOTALS = struct.Struct("<QQ")  # frames bytes, since WELCOME
HELLO, REGISTRY, PING, PONG, CREDIT, GOODBYE, FATAL = 1, 4, 5, 6, 7, 9, 10
REQUEST, RESPONSE, ERROR, CANCEL, PROGRESS, EVENT, GAP = 16, 17, 18, 19, 20, 24, 29
MORE, RAW = 1, 256  # flags: not the last part of this answer; no JSON
WINDOW = {"frames": 64, "bytes": 1 << 20}  # what the hub may send before it hears of more

def open_socket():
    """Connects. At a place that nobody named, only we ourselves or root may serve, which is looked at first."""
    connection, path = socket.socket(socket.AF_UNIX), os.environ.get("ROOST_SOCKET") or "run/roost.sock"
    try: connection.connect(path)
    except OSError as error:
        sys.exit(f"no Roost at {path} ({error.strerror}): 'make run' starts one; $ROOST_SOCKET says where")
    uid = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1]
    if not os.environ.get("ROOST_SOCKET") and uid not in (os.geteuid(), 0):
        sys.exit(f"{path} is served by uid {uid}; if you mean it: ROOST_SOCKET={path}")
    return connection

class Roost:
    """A connection. Questions may be asked inside the loop over an answer: each answer is granted by itself, and of one
    that is not taken 64 parts or 256 KiB wait here, and as much in the hub."""

    def __init__(self, name):
        self.connection = open_socket()
        self.stream = self.connection.makefile("rb")  # reads whole frames
        self.id, self.sent, self.taken = 0, [0, 0], [WINDOW["frames"], WINDOW["bytes"]]
        self.answers = {}  # of questions under way: what has come and was not taken
        hello = {"role": "client", "name": name, "window": WINDOW, "answerGrants": True}
        self.send(HELLO, json.dumps(hello).encode())
        welcome = json.loads(self.receive())
        self.window = welcome["answerWindow"]["frames"], welcome["answerWindow"]["bytes"]
        self.methods, self.limit = welcome["registry"]["methods"], welcome["frameLimit"]
        self.granted = welcome["window"]["frames"], welcome["window"]["bytes"]

    def send(self, type, payload=b"", id=0, re=0, method=0):
        head = HEADER.pack(44 + len(payload), 1, type, 0, 0, 0, id, re, 0, 0, method, 0)
        self.connection.sendall(head + payload)

    def receive(self):
        """Reads a frame: one about the connection is dealt with, a part of an answer is put to that answer."""
        head = self.stream.read(HEADER.size)
        if len(head) < HEADER.size: sys.exit("Roost has closed the connection")
        length, _, type, flags, _, _, id, re, *_ = HEADER.unpack(head)
        payload = self.stream.read(length - 44)
        if type == PING: self.send(PONG, re=id)
        if type in (GOODBYE, FATAL): sys.exit(payload.decode() or "Roost is stopping")
        if type == REGISTRY: self.methods = json.loads(payload)["methods"]
        if type == CREDIT: self.granted = TOTALS.unpack(payload)
        if type in (PROGRESS, EVENT, GAP):  # these were sent on the connection's credit
            self.taken = [self.taken[0] + 1, self.taken[1] + len(payload)]
            self.send(CREDIT, TOTALS.pack(*self.taken))
        if type in (RESPONSE, ERROR) and re in self.answers: self.answers[re].append((type, flags, payload))
        return payload

    def ask(self, method, payload):
        """Gives each part of the answer, the terminal one last."""
        if method not in self.methods: sys.exit(f"nobody here serves {method}")
        if 44 + len(payload) > self.limit: sys.exit(f"{method}: {len(payload)} bytes do not fit into a frame")
        while any(sent >= granted for sent, granted in zip(self.sent, self.granted)): self.receive()  # until CREDIT
        self.sent = [self.sent[0] + 1, self.sent[1] + len(payload)]
        self.id += 1
        number, (frames, size) = self.id, self.window
        self.send(REQUEST, payload, id=number, method=self.methods[method]["number"])
        waiting = self.answers[number] = collections.deque()
        try:
            while True:
                while not waiting: self.receive()
                type, flags, payload = waiting.popleft()
                if type == ERROR: raise Refused(method, json.loads(payload))
                if flags & MORE:
                    frames, size = frames + 1, size + len(payload)
                    self.send(CREDIT, TOTALS.pack(frames, size), re=number)
                yield {"rawBytes": len(payload)} if flags & RAW else json.loads(payload or b"null")
                if not flags & MORE: return
        except GeneratorExit:  # the loop was left: what still comes of it is dropped
            try:
                self.send(CANCEL, re=number)
                self.send(CREDIT, TOTALS.pack(*[(1 << 64) - 1] * 2), re=number)
            except OSError: pass  # Roost has gone, and the answer with it
        finally: del self.answers[number]

class Refused(Exception):
    """What was asked is refused; with its code, its message and whether anything was done."""

    def __init__(self, method, refusal):
        super().__init__(f"{method}: {refusal['message']} ({refusal['code']})")
        self.refusal = refusal

if __name__ == "__main__":
    name, arguments = (sys.argv[1:] + ["supervisor.status", "{}"][len(sys.argv) - 1 :])[:2]
    try:
        for part in Roost("client.py").ask(name, arguments.encode()): print(json.dumps(part, indent=2))
    except Refused as refused:
        sys.exit(json.dumps(refused.refusal))
