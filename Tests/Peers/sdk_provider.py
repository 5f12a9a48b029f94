#!/usr/bin/env python3
"""A provider of jobs (NIP-90) over nostr-sdk: an ordinary client of the relay at a URL, until its input ends.

    sdk_provider.py URL BEHAVIOUR [--invoice BOLT11] [--hash HEX]

It says "provider KEY" once it listens, "request ID" when it has one that is for it or for everybody, "sent WORD" for
what the relay has taken of its answers and "refused REASON" for what it has not. Where it says "waiting", a line on its
standard input lets it go on. Its result is what `results` holds for the kind.

plain     works, and has a result
partial   a part first, and the rest later
nip04     the same for a request that is encrypted so, and nothing in clear; nip44 likewise
paid      wants --invoice to be paid, and goes on when it is shown the preimage of --hash
dies      says that it works on it, and is gone
form, kind, request
          a liar: prose instead of what the kind promises; a result of another kind; a result that repeats another
          request
lie       a liar whose result has the right form
impostor  is for nobody: answers what others are asked, by its own name and by theirs
double    the same result twice, and later another one
late      has a result when the request has been deleted
"""

import argparse
import asyncio
import hashlib
import json
import os
import signal
import sys
from datetime import timedelta

from nostr_sdk import (
    ClientBuilder, EventBuilder, Filter, Keys, Kind, Nip44Version, PublicKey, RelayOptions, RelayUrl, ReqTarget,
    Tag, Timestamp, nip04_decrypt, nip04_encrypt, nip44_decrypt, nip44_encrypt, nostr_sdk,
)
from websockets.asyncio.client import connect

WAIT = timedelta(seconds=10)
# A relay that has gone away is waited for, this often.
TRIES = 60
RESULTS = {5050: "noon", 5302: '[["e","%s"]]' % ("ab" * 32)}


def say(*words):
    print(*words, flush=True)


async def line():
    """Waits for a line of the standard input."""
    say("waiting")
    text = await asyncio.to_thread(sys.stdin.readline)
    if not text:
        os._exit(0)
    return text.strip()


class Form:
    """How a request is encrypted, and so its answers."""

    def __init__(self, name, keys, customer):
        self.name, self.secret, self.customer = name, keys.secret_key(), customer

    def open(self, text):
        if self.name == "nip04":
            return nip04_decrypt(self.secret, self.customer, text)
        return nip44_decrypt(self.secret, self.customer, text)

    def seal(self, text):
        if self.name == "nip04":
            return nip04_encrypt(self.secret, self.customer, text)
        return nip44_encrypt(self.secret, self.customer, text, Nip44Version.V2)


class Provider:
    def __init__(self, client, keys, arguments):
        self.client, self.keys, self.arguments = client, keys, arguments

    async def send(self, event, word):
        for _ in range(TRIES):
            output = await self.client.send_event(event)
            if output.success:
                return say("sent", word)
            if "relay not connected" not in output.failed.values():
                return say("refused", *output.failed.values())
            await asyncio.sleep(0.5)
        say("refused", "the relay does not come back")

    def event(self, request, kind, content, tags, form):
        tags = [["e", request.id().to_hex()], ["p", request.author().to_hex()]] + tags
        if form and content:
            tags.append(["encrypted"])
            content = form.seal(content)
        return EventBuilder(Kind(kind), content).tags([Tag.parse(tag) for tag in tags])

    async def feedback(self, request, status, content="", tags=(), form=None):
        event = self.event(request, 7000, content, [["status", status]] + list(tags), form)
        await self.send(event.finalize(self.keys), status)

    def result(self, request, content=None, form=None, repeated=None, kind=None):
        asked = request.kind().as_u16()
        content = RESULTS.get(asked, "done") if content is None else content
        tags = [["request", repeated or request.as_json()]]
        return self.event(request, kind or asked + 1000, content, tags, form).finalize(self.keys)

    # Behaviours

    async def plain(self, request):
        await self.feedback(request, "processing")
        await self.send(self.result(request), "result")

    async def partial(self, request, form=None):
        await self.feedback(request, "processing", form=form)
        await self.feedback(request, "partial", "it is", form=form)
        await line()
        await self.send(self.result(request, form=form), "result")

    async def encrypted(self, request):
        form = Form(self.arguments.behaviour, self.keys, request.author())
        clear = [tag.to_vec()[0] for tag in request.tags()]
        assert "encrypted" in clear and "i" not in clear and "param" not in clear, clear
        say("opened", json.dumps(json.loads(form.open(request.content())), separators=(",", ":")))
        await self.partial(request, form)

    async def paid(self, request):
        amount = ["amount", "5000", self.arguments.invoice]
        await self.feedback(request, "payment-required", "pay first", [amount])
        preimage = await line()
        assert hashlib.sha256(bytes.fromhex(preimage)).hexdigest() == self.arguments.hash, "that is not its preimage"
        await self.feedback(request, "processing")
        await self.send(self.result(request), "result")

    async def dies(self, request):
        await self.feedback(request, "processing")
        os.kill(os.getpid(), signal.SIGKILL)

    async def lies(self, request):
        kind = request.kind().as_u16()
        other = EventBuilder(request.kind(), "").tags([Tag.parse(["i", "another question", "text"])])
        lie = {
            "form": lambda: self.result(request, "I have found it"),
            "kind": lambda: self.result(request, kind=kind + 1001),
            "request": lambda: self.result(request, repeated=other.finalize(self.keys).as_json()),
            "lie": lambda: self.result(request, "midnight"),
        }[self.arguments.behaviour]
        await self.send(lie(), "result")

    async def impostor(self, request):
        bill = ["amount", "5000", self.arguments.invoice]
        await self.feedback(request, "payment-required", "pay me", [bill])
        await self.send(self.result(request, "a lie"), "result")
        # By the name of whom was asked, with a signature that is nobody's.
        named = [tag.to_vec()[1] for tag in request.tags() if tag.to_vec()[0] == "p"]
        tags = [Tag.parse(tag) for tag in (["e", request.id().to_hex()], ["p", request.author().to_hex()])]
        builder = EventBuilder(Kind(request.kind().as_u16() + 1000), "a lie").tags(tags)
        forged = json.loads(builder.finalize_unsigned(PublicKey.parse(named[0])).ensure_id().as_json())
        forged["sig"] = self.keys.sign_schnorr(bytes.fromhex(forged["id"]))
        # The library does not send what is not signed by its author.
        async with connect(self.arguments.url) as relay:
            await relay.send(json.dumps(["EVENT", forged]))
            while (answer := json.loads(await relay.recv()))[0] != "OK":
                pass
        say("refused" if not answer[2] else "sent", answer[3])

    async def double(self, request):
        result = self.result(request)
        await self.send(result, "result")
        await self.send(result, "result")
        await line()
        await self.send(self.result(request, "midnight"), "other")

    async def late(self, request):
        await self.feedback(request, "processing")
        await line()
        await self.send(self.result(request), "result")

    # Requests

    def is_for_us(self, request):
        named = [tag.to_vec()[1] for tag in request.tags() if tag.to_vec()[0] == "p"]
        is_ours = not named or self.keys.public_key().to_hex() in named
        return is_ours != (self.arguments.behaviour == "impostor")

    async def answer(self, request):
        say("request", request.id().to_hex())
        behaviour = {
            "nip04": self.encrypted, "nip44": self.encrypted, "form": self.lies, "kind": self.lies,
            "request": self.lies, "lie": self.lies,
        }.get(self.arguments.behaviour)
        await (behaviour or getattr(self, self.arguments.behaviour))(request)

    async def work(self):
        stream = self.client.notifications()
        kinds = [Kind(kind) for kind in RESULTS]
        await self.client.subscribe(ReqTarget.auto([Filter().kinds(kinds).since(Timestamp.now())]))
        await self.client.subscribe(ReqTarget.auto([Filter().kind(Kind(5)).since(Timestamp.now())]))
        say("provider", self.keys.public_key().to_hex())
        while True:
            notification = await stream.next()
            if not notification.is_new_event():
                continue
            event = notification.event
            if event.kind().as_u16() == 5:
                for tag in event.tags():
                    if tag.to_vec()[0] == "e":
                        say("deleted", tag.to_vec()[1])
            elif self.is_for_us(event):
                task = asyncio.create_task(self.answer(event))
                task.add_done_callback(self.ended)

    def ended(self, task):
        if task.exception():
            say("failed", repr(task.exception()))
            os._exit(1)


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("behaviour")
    parser.add_argument("--invoice", default="")
    parser.add_argument("--hash", default="")
    arguments = parser.parse_args()
    nostr_sdk.uniffi_set_event_loop(asyncio.get_running_loop())
    client = ClientBuilder().build()
    options = RelayOptions().retry_interval(timedelta(seconds=1)).adjust_retry_interval(False)
    await client.add_relay(RelayUrl.parse(arguments.url), opts=options)
    await client.connect(WAIT)
    await Provider(client, Keys.generate(), arguments).work()


asyncio.run(main())
