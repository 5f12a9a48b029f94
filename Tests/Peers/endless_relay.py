#!/usr/bin/env python3
"""A relay of the standard library alone that answers every REQ with so many events, as
fast as they are taken, and EOSE.

    endless_relay.py COUNT

Listens on 127.0.0.1 until standard input ends; prints its URL first. The events differ in their ids only, and their
signatures are not valid: the connector does not look.
"""

import base64
import hashlib
import json
import socket
import struct
import sys
import threading

KEY_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455
TEXT = 0x81
CLOSE = 8


def message(text):
    """An unmasked text frame, as servers send them."""
    payload = text.encode()
    length = bytes([len(payload)]) if len(payload) < 126 else struct.pack(">BH", 126, len(payload))
    return bytes([TEXT]) + length + payload


def event(number):
    return {"id": f"{number:064x}", "pubkey": "a" * 64, "created_at": 1700000000, "kind": 1, "tags": [],
            "content": "the quick brown fox jumps over the lazy dog", "sig": "b" * 128}


def next_message(stream):
    """Opcode and payload of the client's next frame; none after its end."""
    head = stream.read(2)
    if len(head) < 2:
        return CLOSE, b""
    length = head[1] & 127
    if length == 126:
        (length,) = struct.unpack(">H", stream.read(2))
    mask = stream.read(4)
    return head[0] & 15, bytes(byte ^ mask[index % 4] for index, byte in enumerate(stream.read(length)))


def serve(connection, count):
    stream = connection.makefile("rb")
    key = ""
    while (line := stream.readline().decode().strip()):
        name, _, value = line.partition(":")
        if name.lower() == "sec-websocket-key":
            key = value.strip()
    accept = base64.b64encode(hashlib.sha1((key + KEY_SUFFIX).encode()).digest()).decode()
    connection.sendall(("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                        f"Sec-WebSocket-Accept: {accept}\r\n\r\n").encode())
    while True:
        opcode, payload = next_message(stream)
        if opcode == CLOSE:
            return
        if opcode != 1:
            continue
        words = json.loads(payload)
        if words[0] == "REQ":
            for number in range(count):
                connection.sendall(message(json.dumps(["EVENT", words[1], event(number)])))
            connection.sendall(message(json.dumps(["EOSE", words[1]])))


def attend(connection, count):
    try:
        serve(connection, count)
    except OSError:
        pass  # The other side has left in the middle of it.


def accept_all(listener, count):
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=attend, args=(connection, count), daemon=True).start()


def main():
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"ws://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    threading.Thread(target=accept_all, args=(listener, int(sys.argv[1])), daemon=True).start()
    sys.stdin.read()


main()
