#!/usr/bin/env python3
"""monstr as an ordinary client of the relay at a URL; ends with 0 when all is as a client expects.

    monstr_client.py URL

Over one connection each: reads what the relay says of itself, publishes, asks for what is stored, is told of what
comes, deletes, and answers the challenge that gift wraps take.
"""

import asyncio
import sys

from monstr.client.client import Client
from monstr.encrypt import Keys
from monstr.event.event import Event


def signed(keys, text, kind=1, tags=()):
    event = Event(kind=kind, content=text, pub_key=keys.public_key_hex(), tags=[list(tag) for tag in tags])
    event.sign(keys.private_key_hex())
    return event


async def main(url):
    alice, bob = Keys(), Keys()
    answers, live, challenges = asyncio.Queue(), asyncio.Queue(), asyncio.Queue()
    writer = Client(url, on_ok=lambda client, event_id, success, message: answers.put_nowait((event_id, success)))
    reader = Client(url, on_auth=lambda client, challenge: challenges.put_nowait(challenge))

    async def put(event):
        writer.publish(event)
        assert await answers.get() == (event.id, True)

    async with writer, reader:
        await reader.get_relay_information()
        about = reader.relay_information
        assert about and 1 in about["supported_nips"], about
        note = signed(alice, "by monstr")
        await put(note)
        found = await reader.query({"authors": [alice.public_key_hex()]})
        assert [one.id for one in found] == [note.id], found
        reader.subscribe(
            "live", handlers=[lambda client, name, event: live.put_nowait(event.id)],
            filters={"authors": [alice.public_key_hex()]},
            eose_func=lambda client, name, events: live.put_nowait(events[0].id))
        assert await live.get() == note.id
        other = signed(alice, "live")
        await put(other)
        assert await live.get() == other.id
        await put(signed(alice, "", 5, [["e", note.id]]))
        assert not await reader.query({"ids": [note.id]})
        wraps = [signed(Keys(), "sealed", 1059, [["p", keys.public_key_hex()]]) for keys in (alice, bob)]
        for wrap in wraps:
            await put(wrap)
        # Who asks is told to show himself first; among other kinds the rest is answered at once.
        assert not await reader.query({"kinds": [1, 1059], "#p": [alice.public_key_hex()]})
        await reader.auth(alice, await challenges.get())
        found = await reader.query({"kinds": [1059]})
        assert [one.id for one in found] == [wraps[0].id], found


asyncio.run(asyncio.wait_for(main(sys.argv[1]), 60))
