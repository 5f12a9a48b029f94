#!/usr/bin/env python3
"""Asks Roost one question: client.py [METHOD [JSON]], by default supervisor.status. The socket is $ROOST_SOCKET.

As a module it is a connection, `Roost`; job.py beside it has a job done over one. Standard library only."""
import json, os, socket, struct, sys

HEADER = struct.Struct("<IBBHIIQQIHHQ")  # length version type flags destination source id re ttl attempt method trace
TOTALS = struct.Struct("<QQ")  # frames bytes, since WELCOME
HELLO, REGISTRY, PING, PONG, CREDIT, GOODBYE, FATAL = 1, 4, 5, 6, 7, 9, 10
REQUEST, RESPONSE, ERROR, PROGRESS, EVENT, GAP = 16, 17, 18, 20, 24, 29
MORE, RAW = 1, 256  # flags: not the last part of this answer; no JSON
WINDOW = {"frames": 64, "bytes": 1 << 20}  # what the hub may send before it hears of more

class Roost:
    """A connection. One question at a time."""

    def __init__(self, name):
        self.connection = socket.socket(socket.AF_UNIX)
        path = os.environ.get("ROOST_SOCKET", "run/roost.sock")
        try: self.connection.connect(path)
        except OSError as error:
            sys.exit(f"no Roost at {path} ({error.strerror}): 'make run' starts one; $ROOST_SOCKET says where")
        self.stream = self.connection.makefile("rb")  # reads whole frames
        self.id, self.sent, self.taken = 0, [0, 0], [WINDOW["frames"], WINDOW["bytes"]]
        self.send(HELLO, json.dumps({"role": "client", "name": name, "window": WINDOW}).encode())
        welcome = json.loads(self.receive()[3])
        self.methods, self.limit = welcome["registry"]["methods"], welcome["frameLimit"]
        self.granted = welcome["window"]["frames"], welcome["window"]["bytes"]

    def send(self, type, payload=b"", id=0, re=0, method=0):
        head = HEADER.pack(44 + len(payload), 1, type, 0, 0, 0, id, re, 0, 0, method, 0)
        self.connection.sendall(head + payload)

    def receive(self):
        """Reads a frame, and deals with it if it is about the connection: type, flags, re and payload."""
        head = self.stream.read(HEADER.size)
        if len(head) < HEADER.size: sys.exit("Roost has closed the connection")
        length, _, type, flags, _, _, id, re, *_ = HEADER.unpack(head)
        payload = self.stream.read(length - 44)
        if type == PING: self.send(PONG, re=id)
        if type in (GOODBYE, FATAL): sys.exit(payload.decode() or "Roost is stopping")
        if type == REGISTRY: self.methods = json.loads(payload)["methods"]
        if type == CREDIT: self.granted = TOTALS.unpack(payload)
        if type in (PROGRESS, EVENT, GAP) or type == RESPONSE and flags & MORE:  # these were sent on our credit
            self.taken = [self.taken[0] + 1, self.taken[1] + len(payload)]
            self.send(CREDIT, TOTALS.pack(*self.taken))
        return type, flags, re, payload

    def ask(self, method, payload):
        """Gives each part of the answer, the terminal one last."""
        if method not in self.methods: sys.exit(f"nobody here serves {method}")
        if 44 + len(payload) > self.limit: sys.exit(f"{method}: {len(payload)} bytes do not fit into a frame")
        while any(sent >= granted for sent, granted in zip(self.sent, self.granted)): self.receive()  # until CREDIT
        self.sent = [self.sent[0] + 1, self.sent[1] + len(payload)]
        self.id += 1
        self.send(REQUEST, payload, id=self.id, method=self.methods[method]["number"])
        number = self.id
        while True:
            type, flags, re, payload = self.receive()
            if re != number: continue  # of an earlier question whose answer was left
            if type == ERROR: raise Refused(method, json.loads(payload))
            if type == RESPONSE: yield {"rawBytes": len(payload)} if flags & RAW else json.loads(payload or b"null")
            if type == RESPONSE and not flags & MORE: return

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
