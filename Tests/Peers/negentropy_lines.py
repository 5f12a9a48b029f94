#!/usr/bin/env python3
"""Reconciles (NIP-77) by nostr-sdk, a line in and a line out, until standard input ends.

A line in is a JSON list of texts, a command and its arguments; a line out is {"ok": [texts]} or {"error": text}. A
record is "TIME ID".

    relay COUNT       a LocalRelay that holds COUNT events, many of one second; gives their records
    ask HEX           sends that relay a message, the first one as NEG-OPEN; gives its answer
    sync RECORD…      has nostr-sdk's client reconcile these records with whoever asks here; gives "ask", HEX
    answer HEX        answers it; gives "ask", HEX, or "done" and what the client has found, as "have ID" and "need ID"

The client knows relays only: a small server of ours stands in for one, and passes on what it is sent. A peer for the
tests: other people's reading of the NIP.
"""

import asyncio
import json
import random
import sys

import websockets
from nostr_sdk import (
    Client, EventBuilder, EventId, Filter, Keys, Kind, LocalRelayBuilder, NegentropyItem, RateLimit, RelayUrl,
    SyncDirection, SyncOptions, Timestamp,
)


class Asking:
    """Asks a LocalRelay, which answers."""

    def __init__(self):
        self.relay = self.socket = None

    async def hold(self, count):
        self.relay = LocalRelayBuilder().rate_limit(RateLimit(max_reqs=500, notes_per_minute=1_000_000)).build()
        await self.relay.run()
        self.socket = await websockets.connect(str(await self.relay.url()), max_size=None)
        keys, records = Keys.generate(), []
        for number in range(int(count)):
            time = Timestamp.from_secs(1_700_000_000 + random.randrange(1 + int(count) // 8))
            event = EventBuilder(Kind(1), str(number)).custom_created_at(time).finalize(keys)
            await self.socket.send(f'["EVENT",{event.as_json()}]')
            answer = json.loads(await self.socket.recv())
            if answer[2] is not True:
                raise RuntimeError(f"the relay does not take an event: {answer}")
            records.append(f"{time.as_secs()} {event.id().to_hex()}")
        self.verb = ["NEG-OPEN", "x", {}]
        return records

    async def ask(self, message):
        await self.socket.send(json.dumps(self.verb + [message]))
        self.verb = ["NEG-MSG", "x"]
        while True:
            answer = json.loads(await self.socket.recv())
            if answer[0] == "NEG-MSG":
                return [answer[2]]
            if answer[0] in ("NEG-ERR", "NOTICE"):
                raise RuntimeError(f"the relay refuses: {answer}")


class Answering:
    """Has the client ask, and answers."""

    def __init__(self):
        self.asked, self.answers = asyncio.Queue(), asyncio.Queue()

    async def serve(self, socket):
        async for text in socket:
            message = json.loads(text)
            if message[0] in ("NEG-OPEN", "NEG-MSG"):
                await self.asked.put(["ask", message[-1]])
                await socket.send(json.dumps(["NEG-MSG", message[1], await self.answers.get()]))

    async def sync(self, *records):
        items = []
        for record in records:
            time, id = record.split()
            items.append(NegentropyItem(id=EventId.parse(id), timestamp=Timestamp.from_secs(int(time))))
        server = await websockets.serve(self.serve, "127.0.0.1", 0, max_size=None)
        url = RelayUrl.parse(f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        self.task = asyncio.create_task(self.run(url, items, server))
        return await self.asked.get()

    async def run(self, url, items, server):
        try:
            client = Client()
            await client.add_relay(url)
            await client.connect()
            relay = await client.relay(url)
            found = await relay.sync(Filter(), items, SyncOptions().direction(SyncDirection.BOTH).dry_run())
            ids = [f"have {id.to_hex()}" for id in found.local] + [f"need {id.to_hex()}" for id in found.remote]
            await self.asked.put(["done"] + ids)
            await client.shutdown()
            server.close()
        except Exception as error:
            await self.asked.put(["failed", f"{type(error).__name__}: {error}"])

    async def answer(self, message):
        await self.answers.put(message)
        return await self.asked.get()


async def main():
    asking, answering = Asking(), Answering()
    commands = {"relay": asking.hold, "ask": asking.ask, "sync": answering.sync, "answer": answering.answer}
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.buffer.readline):
        command, *arguments = json.loads(line)
        try:
            answer = {"ok": list(await asyncio.wait_for(commands[command](*arguments), 60))}
        except Exception as error:  # nostr-sdk has a type of its own for every module
            answer = {"error": f"{type(error).__name__}: {error}"}
        sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
        sys.stdout.buffer.flush()


asyncio.run(main())
