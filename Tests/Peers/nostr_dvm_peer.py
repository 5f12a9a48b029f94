#!/usr/bin/env python3
"""nostr-dvm with one task of its own, a provider of jobs (NIP-90) at the relay at a URL, until its input ends.

    nostr_dvm_peer.py URL DIRECTORY BEHAVIOUR [--key HEX] [--invoice BOLT11] [--hash HEX]

Wants the interpreter of .venv-nostr-dvm, and a DIRECTORY for its database. What its framework sends is the framework's:
only what the task does, and what its Lightning wallet says, is ours. It says "provider KEY" once it listens, and
"request ID" when the task begins. Where it says "waiting", a line on its standard input lets it go on.

plain    the result "noon"
held     the same, but waits first
other    waits likewise, and has another result
told     tells how far it is, and that it has a part, as tasks of the framework do; and waits
fails    the task raises an error
paid     costs 5 satoshis: the framework asks its wallet (LNbits) for an invoice, which is --invoice, and whether it is
         paid, which it is when the preimage of --hash was shown
"""

import argparse
import asyncio
import hashlib
import http.server
import importlib.abc
import importlib.machinery
import json
import os
import sys
import threading
import types


class Unneeded(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Stands in for libraries about films, pictures and tables: the framework loads them, and this task needs none."""

    NAMES = {"bs4", "ffmpegio", "pandas", "pyupload", "tqdm", "yt_dlp"}

    class Module(types.ModuleType):
        __path__ = []

        def __getattr__(self, name):
            if name.startswith("__"):
                raise AttributeError(name)
            return type(name, (), {})

    def find_spec(self, name, path, target=None):
        if name.split(".")[0] in self.NAMES:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return self.Module(spec.name)

    def exec_module(self, module):
        pass


sys.meta_path.append(Unneeded())

from nostr_sdk import Keys, Kind  # noqa: E402
from nostr_dvm import dvm as dvm_module  # noqa: E402
from nostr_dvm.framework import DVMFramework  # noqa: E402
from nostr_dvm.tasks.generic_dvm import GenericDVM  # noqa: E402
from nostr_dvm.utils.admin_utils import AdminConfig  # noqa: E402
from nostr_dvm.utils.dvmconfig import DVMConfig  # noqa: E402
from nostr_dvm.utils.nip89_utils import NIP89Config  # noqa: E402
from nostr_dvm.utils.output_utils import send_job_status_reaction  # noqa: E402


def say(*words):
    print(*words, flush=True)


def read_line():
    say("waiting")
    text = sys.stdin.readline()
    if not text:
        os._exit(0)
    return text.strip()


class Wallet(http.server.BaseHTTPRequestHandler):
    """As much of LNbits as the framework asks for."""

    invoice, hash, is_paid = "", "", False

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert asked["out"] is False and asked["amount"] == 5, asked
        self.answer({"payment_request": self.invoice, "payment_hash": self.hash})

    def do_GET(self):
        self.answer({"paid": type(self).is_paid and self.path == "/api/v1/payments/" + self.hash})

    def answer(self, document):
        body = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass

    @classmethod
    def open(cls, arguments):
        cls.invoice, cls.hash = arguments.invoice, arguments.hash
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), cls)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        threading.Thread(target=cls.take, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}"

    @classmethod
    def take(cls):
        preimage = bytes.fromhex(read_line())
        assert hashlib.sha256(preimage).hexdigest() == cls.hash, "that is not its preimage"
        cls.is_paid = True


class Task(GenericDVM):
    def __init__(self, behaviour, *arguments, **named):
        self.behaviour = behaviour
        super().__init__(*arguments, **named)

    async def create_request_from_nostr_event(self, event, client=None, dvm_config=None):
        say("request", event.id().to_hex())
        self.request, self.client = event, client
        return await super().create_request_from_nostr_event(event, client, dvm_config)

    async def tell(self, status, text):
        await send_job_status_reaction(
            self.request.id().to_hex(), self.request.author().to_hex(), self.client, self.dvm_config, content=text,
            status=status)

    async def process(self, request_form):
        options = self.set_options(request_form)
        assert options["input"] == "what is the time?" and options["lang"] == "en", options
        if self.behaviour == "fails":
            raise ValueError("there is no clock")
        if self.behaviour == "told":
            await self.tell("processing", "half of it is done")
            await self.tell("partial", "it is")
        if self.behaviour in ("held", "other", "told"):
            await asyncio.to_thread(read_line)
        return "midnight" if self.behaviour == "other" else "noon"


def configured(arguments):
    config = DVMConfig()
    config.PRIVATE_KEY = arguments.key or Keys.generate().secret_key().to_hex()
    config.KIND = Kind(5050)
    # A list of its own each, because it compares and changes them.
    config.RELAY_LIST, config.ANNOUNCE_RELAY_LIST = [arguments.url], [arguments.url]
    config.LNBITS_URL = ""
    if arguments.behaviour == "paid":
        config.FIX_COST = 5
        config.LNBITS_URL, config.LNBITS_INVOICE_KEY = Wallet.open(arguments), "a key"
    return config


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("directory")
    parser.add_argument("behaviour")
    for name in ("--key", "--invoice", "--hash"):
        parser.add_argument(name, default="")
    arguments = parser.parse_args()
    # Its database is below where it stands.
    os.makedirs(arguments.directory + "/db", exist_ok=True)
    os.chdir(arguments.directory)
    config = configured(arguments)
    announcement = NIP89Config()
    announcement.DTAG = "clock"
    # Without it a generic task announces kind 5000, whatever it serves.
    announcement.KIND = config.KIND
    announcement.CONTENT = json.dumps(
        {"name": "Clock", "about": "Tells the time.", "supportsEncryption": True, "nip90Params": {}})
    admin = AdminConfig()
    admin.REBROADCAST_NIP89 = True
    handle = dvm_module.handle_notifications

    async def listen(client, handler):
        # By now it has subscribed; it listens when this has been given its turn.
        task = asyncio.create_task(handle(client, handler))
        await asyncio.sleep(0)
        say("provider", Keys.parse(config.PRIVATE_KEY).public_key().to_hex())
        await task

    dvm_module.handle_notifications = listen
    framework = DVMFramework()
    framework.add(
        Task(arguments.behaviour, name="Clock", dvm_config=config, nip89config=announcement, admin_config=admin))
    framework.run()


main()
