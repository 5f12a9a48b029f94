#!/usr/bin/env python3
"""A relay of the standard library alone that has limits, says them (NIP-11), and writes down what it is asked.

    counting_relay.py EVENTS.jsonl LOG

Listens on 127.0.0.1 until standard input ends; prints its URL first. LOG gets a line for each REQ, as JSON: its
`filters`, the number of `open` subscriptions of the connection with it, and the `broken` limit if it breaks one; such a
REQ is closed. A higher `limit` of a filter is lowered, as NIP-11 says. While a file LOG.hold is there, no REQ is
answered.
"""

import base64
import hashlib
import json
import os
import socket
import sys
import threading
import time

from relay_wire import CLOSE, KEY_SUFFIX, message, next_message

SUBSCRIPTIONS, FILTERS, LIMIT, MESSAGE = 8, 4, 500, 64 << 10
INFORMATION = json.dumps({
    "name": "counting", "supported_nips": [1, 11],
    "limitation": {"max_subscriptions": SUBSCRIPTIONS, "max_filters": FILTERS, "max_limit": LIMIT,
                   "max_message_length": MESSAGE},
}).encode()


class Relay:
    def __init__(self, path, log):
        self.lock = threading.Lock()
        self.log, self.hold = open(log, "a", encoding="utf-8", buffering=1), log + ".hold"
        self.by_author = {}
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                event = json.loads(line)
                self.by_author.setdefault(event["pubkey"], []).append(event)

    def stored(self, filters):
        found = {}
        for wanted in filters:
            authors = wanted.get("authors", self.by_author)
            some = [event for author in authors for event in self.by_author.get(author, [])
                    if event["kind"] in wanted.get("kinds", [event["kind"]])
                    and wanted.get("since", 0) <= event["created_at"] <= wanted.get("until", 1 << 62)]
            some.sort(key=lambda event: (-event["created_at"], event["id"]))
            found.update((event["id"], event) for event in some[:min(LIMIT, wanted.get("limit", LIMIT))])
        return sorted(found.values(), key=lambda event: (-event["created_at"], event["id"]))

    def attend(self, connection):
        try:
            self.serve(connection)
        except OSError:
            pass  # The other side has left in the middle of it.
        finally:
            connection.close()

    def serve(self, connection):
        stream = connection.makefile("rb")
        fields = {}
        while line := stream.readline().decode().strip():
            name, _, value = line.partition(":")
            fields[name.lower()] = value.strip()
        if "sec-websocket-key" not in fields:
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/nostr+json\r\nConnection: close\r\n"
                               b"Content-Length: %d\r\n\r\n%s" % (len(INFORMATION), INFORMATION))
            return
        digest = hashlib.sha1((fields["sec-websocket-key"] + KEY_SUFFIX).encode()).digest()
        connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                           b"Sec-WebSocket-Accept: %s\r\n\r\n" % base64.b64encode(digest))
        opened = set()
        while (frame := next_message(stream))[0] != CLOSE:
            words = json.loads(frame[1]) if frame[0] == 1 else [""]
            if words[0] == "CLOSE":
                opened.discard(words[1])
            elif words[0] == "REQ":
                opened.add(words[1])
                self.answer(connection, opened, words, len(frame[1]))

    def answer(self, connection, opened, words, byte_count):
        filters = words[2:]
        broken = ("subscriptions" if len(opened) > SUBSCRIPTIONS else "filters" if len(filters) > FILTERS else
                  "message" if byte_count > MESSAGE else None)
        with self.lock:
            self.log.write(json.dumps({"filters": filters, "open": len(opened), "broken": broken}) + "\n")
        if broken:
            opened.discard(words[1])
            connection.sendall(message(json.dumps(["CLOSED", words[1], f"error: too many: {broken}"])))
            return
        while os.path.exists(self.hold):
            time.sleep(0.05)
        for event in self.stored(filters):
            connection.sendall(message(json.dumps(["EVENT", words[1], event])))
        connection.sendall(message(json.dumps(["EOSE", words[1]])))


def main():
    relay = Relay(sys.argv[1], sys.argv[2])
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"ws://127.0.0.1:{listener.getsockname()[1]}", flush=True)

    def accept_all():
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=relay.attend, args=(connection,), daemon=True).start()

    threading.Thread(target=accept_all, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()
