#!/usr/bin/env python3
"""Asks Roost one question: client.py [METHOD [JSON]], by default supervisor.status. The socket is $ROOST_SOCKET."""
import json, os, socket, struct, sys

HEADER = struct.Struct("<IBBHIIQQIHHQ")  # length version type flags destination source id re ttl attempt method trace
HELLO, WELCOME, FATAL, REQUEST, RESPONSE, ERROR, MORE = 1, 2, 10, 16, 17, 18, 1

def send(type, payload, id=0, method=0):
    connection.sendall(HEADER.pack(44 + len(payload), 1, type, 0, 0, 0, id, 0, 0, 0, method, 0) + payload)

def receive():
    length, _, type, flags, *_ = HEADER.unpack(stream.read(48))
    return type, flags, json.loads(stream.read(length - 44) or "null")

name, arguments = (sys.argv[1:] + ["supervisor.status", "{}"][len(sys.argv) - 1 :])[:2]
connection = socket.socket(socket.AF_UNIX)
connection.connect(os.environ.get("ROOST_SOCKET", "run/roost.sock"))
stream = connection.makefile("rb")  # reads whole frames
send(HELLO, json.dumps({"role": "client", "name": "client.py"}).encode())
type, _, welcome = receive()
if type == FATAL: sys.exit(json.dumps(welcome))
if name not in (methods := welcome["registry"]["methods"]): sys.exit(f"there is no method {name}")
send(REQUEST, arguments.encode(), id=1, method=methods[name]["number"])
while (frame := receive())[0] not in (ERROR, FATAL):
    if frame[0] == RESPONSE: print(json.dumps(frame[2], indent=2))
    if frame[0] == RESPONSE and not frame[1] & MORE: sys.exit(0)
sys.exit(json.dumps(frame[2]))
