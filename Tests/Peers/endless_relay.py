#!/usr/bin/env python3
"""A relay of the standard library alone that answers every REQ with so many events, as fast as they are taken, and
EOSE; or with a NOTICE and nothing else, as some relays do when they cannot read a filter.

    endless_relay.py COUNT [CERTIFICATE.pem]
    endless_relay.py --notice WORDS

Listens on 127.0.0.1 until standard input ends; prints its URL first. With a certificate, the key behind it in the
file, it is a relay at wss://localhost. The events differ in their ids only, and their
signatures are not valid: the connector does not look.
"""

import base64
import hashlib
import json
import socket
import ssl
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


def answer(subscription, wanted):
    """What to send to a REQ: `wanted` is how many events, or the words of a NOTICE."""
    if isinstance(wanted, str):
        yield ["NOTICE", wanted]
        return
    for number in range(wanted):
        yield ["EVENT", subscription, event(number)]
    yield ["EOSE", subscription]


def serve(connection, wanted):
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
            for words in answer(words[1], wanted):
                connection.sendall(message(json.dumps(words)))


def attend(connection, wanted, context):
    try:
        serve(context.wrap_socket(connection, server_side=True) if context else connection, wanted)
    except OSError:
        pass  # The other side has left in the middle of it.


def accept_all(listener, wanted, context):
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=attend, args=(connection, wanted, context), daemon=True).start()


def main():
    wanted = sys.argv[2] if sys.argv[1] == "--notice" else int(sys.argv[1])
    context = None
    if len(sys.argv) > 2 and sys.argv[1] != "--notice":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2])
    listener = socket.create_server(("127.0.0.1", 0))
    scheme = "wss://localhost" if context else "ws://127.0.0.1"
    print(f"{scheme}:{listener.getsockname()[1]}", flush=True)
    threading.Thread(target=accept_all, args=(listener, wanted, context), daemon=True).start()
    sys.stdin.read()


main()
