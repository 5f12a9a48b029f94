#!/usr/bin/env python3
"""A worker that serves example.echo, and example.slow in five parts. supervisor.conf needs

    [role.example]
    serves = ["example.*"]
    callable-by = ["client"]

then: `roost attach example` prints a token; ROOST_TOKEN=… examples/worker.py; roost call example.echo '{"a":1}'
"""
import json, os, signal, socket, struct, time

# length version type flags destination source id re ttl attempt method trace
HEADER = struct.Struct("<IBBHIIQQIHHQ")
HELLO, READY, CREDIT, PING, PONG, DRAIN, GOODBYE, FATAL, REQUEST, RESPONSE = 1, 3, 7, 5, 6, 8, 9, 10, 16, 17
MORE = 1  # flag: not the last part of this answer
WINDOW = {"frames": 64, "bytes": 1 << 20}  # what the hub may send before it hears of more

signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it quietly; a request in hand goes to whoever comes next
connection = socket.socket(socket.AF_UNIX)
connection.connect(os.environ.get("ROOST_SOCKET") or "run/roost.sock")
uid = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1]
if not os.environ.get("ROOST_SOCKET") and uid not in (os.geteuid(), 0): raise SystemExit(f"a socket of uid {uid}")
stream = connection.makefile("rb")  # reads whole frames

def send(type, payload=b"", flags=0, to=0, re=0, attempt=0, method=0):
    connection.sendall(HEADER.pack(44 + len(payload), 1, type, flags, to, 0, 0, re, 0, attempt, method, 0) + payload)

def receive():
    _, _, type, _, _, source, id, _, _, attempt, method, _ = header = HEADER.unpack(stream.read(48))
    return type, source, id, attempt, method, stream.read(header[0] - 44) if header[0] > 44 else b""

hello = {"role": "example", "name": "example", "token": os.environ["ROOST_TOKEN"], "window": WINDOW}
send(HELLO, json.dumps(hello | {"methods": ["example.echo", "example.slow"]}).encode())
names, frames, size = {}, WINDOW["frames"], WINDOW["bytes"]
while True:
    type, source, id, attempt, method, payload = receive()
    if type in (2, 4):  # WELCOME, and REGISTRY when it changes: the numbers behind the names
        registry = json.loads(payload)
        names = {m["number"]: name for name, m in registry.get("registry", registry)["methods"].items()}
        if type == 2: send(READY)
    elif type == PING: send(PONG, re=id)
    elif type in (DRAIN, GOODBYE): break  # nothing is ever half done here, so it may leave at once
    elif type == FATAL: raise SystemExit(payload.decode())
    elif type == REQUEST:  # the answer goes to who asked, under the id it was asked with, for this very attempt
        if names[method] == "example.slow":
            for number in range(5):
                send(RESPONSE, json.dumps(number).encode(), MORE, source, id, attempt, method)
                time.sleep(0.2)
        send(RESPONSE, payload, 0, source, id, attempt, method)
        frames, size = frames + 1, size + len(payload)  # totals since WELCOME: room for one request more
        send(CREDIT, struct.pack("<QQ", frames, size))
send(GOODBYE)
