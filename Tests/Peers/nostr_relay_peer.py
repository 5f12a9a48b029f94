#!/usr/bin/env python3
"""Runs nostr-relay on 127.0.0.1, on a free port, until it is killed, or its standard input ends.

    nostr_relay_peer.py [--auth] [--events FILE] DIRECTORY

Wants the interpreter of .venv-nostr-relay, and an empty DIRECTORY for its configuration and its database.

Prints one line, the relay's URL, once it takes connections and the events of FILE, one JSON object a line, are in it;
and later a line for each connection on which compression was agreed. A peer for the tests: a relay by other people,
which breaks rules as others out there do.
"""

import argparse
import asyncio
import json
import os
import socket
import sys
import threading

import uvicorn
import yaml
from nostr_relay.config import Config
from nostr_relay.storage import get_metadata, get_storage
from nostr_relay.web import create_app
from sqlalchemy.ext.asyncio import create_async_engine
from websockets.extensions.permessage_deflate import ServerPerMessageDeflateFactory


def configuration(directory, url, sends_challenges):
    """What its own configuration file says, but for the place, the address and the age of events."""
    return {
        # What it says of itself (NIP-11), with a character that would turn a terminal's text around.
        "relay_name": "python\u202e relay", "relay_description": "relay written in python",
        "sysop_pubkey": "4a" * 32, "sysop_contact": "mailto:a@b.example",
        # Seconds. By default it refuses what is older than a year, as the tests' events are.
        "oldest_event": 1 << 31,
        "storage": {
            "sqlalchemy.url": f"sqlite+aiosqlite:///{directory}/nostr.sqlite3",
            "num_concurrent_reqs": 10,
            "num_concurrent_adds": 2,
            "validators": [
                "nostr_relay.validators." + name
                for name in ("is_not_too_large", "is_signed", "is_recent", "is_not_hellthread")
            ],
        },
        # Whoever has not shown himself may do as much as who has: what is asked for is a challenge.
        "authentication": {
            "enabled": sends_challenges, "relay_urls": [url, url + "/"], "actions": {"save": "a", "query": "a"},
        },
        "logging": {"version": 1, "root": {"level": "CRITICAL"}},
    }


async def fill(path):
    """Makes its tables, and gives it the events as if they had been sent."""
    storage = get_storage()
    engine = create_async_engine(storage.db_url)
    async with engine.begin() as connection:
        await connection.run_sync(get_metadata().create_all)
    await engine.dispose()
    if not path:
        return
    await storage.setup()
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            _, is_new = await storage.add_event(json.loads(line))
            assert is_new, line
    await storage.close()


def tell_compression():
    """Prints a line whenever permessage-deflate is agreed."""
    agree = ServerPerMessageDeflateFactory.process_request_params

    def agree_and_tell(*arguments):
        agreed = agree(*arguments)
        print("permessage-deflate:", agreed[0], flush=True)
        return agreed

    ServerPerMessageDeflateFactory.process_request_params = agree_and_tell


class Server(uvicorn.Server):
    """Says where it is when it listens."""

    async def startup(self, sockets=None):
        await super().startup(sockets)
        print(self.url, flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--auth", action="store_true")
    parser.add_argument("--events")
    parser.add_argument("directory")
    arguments = parser.parse_args()
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"ws://127.0.0.1:{listener.getsockname()[1]}"
    path = os.path.join(arguments.directory, "nostr-relay.yaml")
    with open(path, "w", encoding="utf-8") as file:
        yaml.dump(configuration(arguments.directory, url, arguments.auth), file)
    application = create_app(path)
    asyncio.run(fill(arguments.events))
    tell_compression()
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    server = Server(uvicorn.Config(application, log_config=None))
    server.url = url
    server.run(sockets=[listener])


main()
