#!/usr/bin/env python3
"""A relay of the standard library alone that writes down each event it is sent, and answers as it is told.

    answering_relay.py [--port PORT] LOG

Listens on 127.0.0.1 until standard input ends; prints its URL first. LOG gets a line with the id of each event, before
the answer goes out. The answer is what LOG.answer says at that time: `true WORDS` or `false WORDS` for an OK, `silent`
for none, `close` for the end of the connection, `unread` for an OK while no REQ gets an answer; without that file
`true`.
"""

import argparse
import json
import os
import socket
import sys
import threading

from relay_wire import CLOSE, message, next_message, shake_hands


def answer_now(log):
    try:
        with open(log + ".answer", encoding="utf-8") as file:
            return file.read().strip() or "true"
    except FileNotFoundError:
        return "true"


def serve(connection, log, output):
    stream = shake_hands(connection)
    while (frame := next_message(stream))[0] != CLOSE:
        words = json.loads(frame[1]) if frame[0] == 1 else [""]
        if words[0] == "REQ" and answer_now(log) != "unread":
            connection.sendall(message(json.dumps(["EOSE", words[1]])))
        if words[0] != "EVENT":
            continue
        os.write(output, (words[1]["id"] + "\n").encode())
        verdict, _, reason = answer_now(log).partition(" ")
        if verdict == "close":
            return
        if verdict != "silent":
            connection.sendall(message(json.dumps(["OK", words[1]["id"], verdict in ("true", "unread"), reason])))


def attend(connection, log, output):
    try:
        serve(connection, log, output)
    except OSError:
        pass  # The other side has left in the middle of it.
    finally:
        connection.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("log")
    arguments = parser.parse_args()
    output = os.open(arguments.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    listener = socket.create_server(("127.0.0.1", arguments.port))
    print(f"ws://127.0.0.1:{listener.getsockname()[1]}", flush=True)

    def accept_all():
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=attend, args=(connection, arguments.log, output), daemon=True).start()

    threading.Thread(target=accept_all, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()
