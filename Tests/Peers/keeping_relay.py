#!/usr/bin/env python3
"""A relay of the standard library alone that keeps what it is sent, answers filters, and tells what comes.

    keeping_relay.py [--port PORT] [EVENTS.jsonl]

Listens on 127.0.0.1 until standard input ends; prints its URL first, and then a line for each REQ: its filters, as they
came. It verifies nothing and replaces nothing: what its clients do is looked at.
"""

import argparse
import json
import socket
import sys
import threading

from relay_wire import CLOSE, message, next_message, shake_hands


def matches(event, wanted):
    """Whether an event meets a filter (NIP-01)."""
    for name, values in wanted.items():
        if name.startswith("#"):
            good = any(tag[0] == name[1:] and tag[1] in values for tag in event["tags"] if len(tag) > 1)
        elif name in ("ids", "authors", "kinds"):
            good = event[{"ids": "id", "authors": "pubkey", "kinds": "kind"}[name]] in values
        elif name == "since":
            good = event["created_at"] >= values
        elif name == "until":
            good = event["created_at"] <= values
        else:
            good = True
        if not good:
            return False
    return True


class Relay:
    def __init__(self, events):
        self.events = {event["id"]: event for event in events}
        self.subscriptions = {}  # by connection, then by name: filters
        self.lock = threading.Lock()

    def attend(self, connection):
        try:
            stream = shake_hands(connection)
            self.subscriptions[connection] = {}
            while (frame := next_message(stream))[0] != CLOSE:
                if frame[0] == 1:
                    with self.lock:
                        self.receive(connection, json.loads(frame[1]))
        except OSError:
            pass  # The other side has left in the middle of it.
        finally:
            self.subscriptions.pop(connection, None)

    def receive(self, connection, words):
        if words[0] == "REQ":
            print(json.dumps(words[2:]), flush=True)
            self.subscriptions[connection][words[1]] = words[2:]
            for event in self.stored(words[2:]):
                self.send(connection, ["EVENT", words[1], event])
            self.send(connection, ["EOSE", words[1]])
        elif words[0] == "CLOSE":
            self.subscriptions[connection].pop(words[1], None)
        elif words[0] == "NEG-OPEN":
            self.send(connection, ["NEG-ERR", words[1], "blocked: this relay does not compare"])
        elif words[0] == "EVENT":
            self.keep(words[1])
            self.send(connection, ["OK", words[1]["id"], True, ""])

    def stored(self, filters):
        found = {}
        for wanted in filters:
            some = sorted((event for event in self.events.values() if matches(event, wanted)),
                          key=lambda event: (-event["created_at"], event["id"]))
            found.update((event["id"], event) for event in some[:wanted.get("limit", len(some))])
        return sorted(found.values(), key=lambda event: (-event["created_at"], event["id"]))

    def keep(self, event):
        if event["id"] in self.events:
            return
        self.events[event["id"]] = event
        for connection, subscriptions in list(self.subscriptions.items()):
            for name, filters in subscriptions.items():
                if any(matches(event, wanted) for wanted in filters):
                    self.send(connection, ["EVENT", name, event])

    @staticmethod
    def send(connection, words):
        try:
            connection.sendall(message(json.dumps(words)))
        except OSError:
            pass  # Its own thread hears of it.


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("events", nargs="?")
    arguments = parser.parse_args()
    events = []
    if arguments.events:
        with open(arguments.events, encoding="utf-8") as lines:
            events = [json.loads(line) for line in lines]
    relay = Relay(events)
    listener = socket.create_server(("127.0.0.1", arguments.port))
    print(f"ws://127.0.0.1:{listener.getsockname()[1]}", flush=True)

    def accept_all():
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=relay.attend, args=(connection,), daemon=True).start()

    threading.Thread(target=accept_all, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()
