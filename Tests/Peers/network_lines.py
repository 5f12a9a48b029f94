#!/usr/bin/env python3
"""Clients of relays at wss://, by the `websockets` package: does what a line asks for, and answers with a line, until
standard input ends.

    ["open", URL, ADDRESS, AUTHORITY.pem]   →   {"ok": [NUMBER, SERIAL]}     or     {"error": "what went wrong"}

Lines and answers are JSON. ADDRESS is dialled, whatever the URL's host is; the certificate has to be for that host and
signed by that authority. SERIAL is the certificate's. COMMANDS below is the list. A peer for the tests: other people's
TLS and WebSocket.
"""

import http.client
import json
import socket
import ssl
import sys
from urllib.parse import urlsplit

from websockets.sync.client import connect

PATIENCE = 20
connections = []


def secure(url, address, authority):
    """A connection with TLS on it."""
    parts = urlsplit(url)
    plain = socket.create_connection((address, parts.port), PATIENCE)
    return ssl.create_default_context(cafile=authority).wrap_socket(plain, server_hostname=parts.hostname)


def open_relay(url, address, authority):
    stream = secure(url, address, authority)
    serial = stream.getpeercert()["serialNumber"]
    stream.close()
    parts = urlsplit(url)
    plain = socket.create_connection((address, parts.port), PATIENCE)
    connection = connect(
        url, sock=plain, ssl=ssl.create_default_context(cafile=authority), server_hostname=parts.hostname,
        open_timeout=PATIENCE, proxy=None, compression=None)
    connections.append(connection)
    return [len(connections) - 1, serial]


def open_plain(url, address):
    """A client that does not encrypt: what it is answered."""
    parts = urlsplit(url)
    with socket.create_connection((address, parts.port), PATIENCE) as plain:
        connect("ws" + url[3:], sock=plain, open_timeout=PATIENCE, proxy=None)
    return ["it was let in"]


def say(number, text):
    connections[number].send(text)
    return []


def hear(number):
    """The next message, without waiting long for one: none is None."""
    try:
        return [connections[number].recv(timeout=PATIENCE)]
    except TimeoutError:
        return [None]


def get(url, address, authority, accept):
    """An HTTP answer: its status and its body."""
    parts = urlsplit(url)
    client = http.client.HTTPSConnection(parts.hostname, parts.port, timeout=PATIENCE)
    client.sock = secure(url, address, authority)
    client.request("GET", parts.path or "/", headers={"Accept": accept, "Connection": "close"})
    answer = client.getresponse()
    return [str(answer.status), answer.read().decode()]


COMMANDS = {"open": open_relay, "open-plain": open_plain, "say": say, "hear": hear, "get": get}

for line in sys.stdin:
    name, *arguments = json.loads(line)
    try:
        print(json.dumps({"ok": COMMANDS[name](*arguments)}), flush=True)
    except Exception as error:  # noqa: BLE001: whatever it is, the test is told
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}), flush=True)
