#!/usr/bin/env python3
"""A relay of the standard library alone that answers every REQ with so many events, as fast as they are taken.
Then comes EOSE.

    endless_relay.py COUNT [CERTIFICATE.pem]

Listens on 127.0.0.1 until standard input ends; prints its URL first. With a certificate, the key behind it in the file,
it is a relay at wss://localhost. The events differ in their ids only, and their signatures are not valid: the connector
does not look.
"""

import json
import socket
import ssl
import sys
import threading

from relay_wire import CLOSE, TEXT, message, next_message, shake_hands


def event(number):
    return {"id": f"{number:064x}", "pubkey": "a" * 64, "created_at": 1700000000, "kind": 1, "tags": [],
            "content": "the quick brown fox jumps over the lazy dog", "sig": "b" * 128}


def serve(connection, count):
    stream = shake_hands(connection)
    while True:
        opcode, payload = next_message(stream)
        if opcode == CLOSE:
            return
        if opcode != TEXT & 15:
            continue
        words = json.loads(payload)
        if words[0] == "REQ":
            for number in range(count):
                connection.sendall(message(json.dumps(["EVENT", words[1], event(number)])))
            connection.sendall(message(json.dumps(["EOSE", words[1]])))


def attend(connection, count, context):
    try:
        serve(context.wrap_socket(connection, server_side=True) if context else connection, count)
    except OSError:
        pass  # The other side has left in the middle of it.


def accept_all(listener, count, context):
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=attend, args=(connection, count, context), daemon=True).start()


def main():
    context = None
    if len(sys.argv) > 2:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2])
    listener = socket.create_server(("127.0.0.1", 0))
    scheme = "wss://localhost" if context else "ws://127.0.0.1"
    print(f"{scheme}:{listener.getsockname()[1]}", flush=True)
    threading.Thread(target=accept_all, args=(listener, int(sys.argv[1]), context), daemon=True).start()
    sys.stdin.read()


main()
