#!/usr/bin/env python3
"""nostr-sdk as an ordinary client of the relay at a URL; ends with 0 when all is as a client expects.

    sdk_client.py URL publish|wraps|sync|reconnect

publish: publishing, what is stored and what comes, search, count, deletion. wraps: gift wraps, which are for their
recipient, who is asked to show himself. sync: what it lacks, by reconciliation. reconnect: says "ready" when it
listens, and ends when a note "after" has come, by this connection or by a later one.
"""

import asyncio
import json
import os
import sys
from datetime import timedelta

from nostr_sdk import (
    ClientBuilder, EventBuilder, Filter, Keys, Kind, RelayOptions, RelayUrl, ReqTarget, SignerAuthenticator, Tag,
    nip59_make_gift_wrap, nostr_sdk,
)

WAIT = timedelta(seconds=10)


async def connected(url, keys=None):
    builder = ClientBuilder()
    if keys:
        builder = builder.authenticator(SignerAuthenticator(keys))
    client = builder.build()
    await client.add_relay(RelayUrl.parse(url))
    await client.connect(WAIT)
    return client


def note(keys, text, kind=1, tags=()):
    return EventBuilder(Kind(kind), text).tags([Tag.parse(tag) for tag in tags]).finalize(keys)


async def send(client, event):
    output = await client.send_event(event)
    assert output.success and not output.failed, output


async def fetch(client, **fields):
    filter = Filter.from_json(json.dumps(fields))
    return [event.id().to_hex() for event in await client.fetch_events(ReqTarget.auto([filter]), WAIT)]


async def await_event(stream, event):
    while True:
        notification = await asyncio.wait_for(stream.next(), 10)
        if notification.is_new_event() and notification.event.id().to_hex() == event.id().to_hex():
            return


async def count(client, url, filter):
    """COUNT. The library begins to listen for the answer after it has asked: one that comes at once may be missed."""
    relay = await client.relay(RelayUrl.parse(url))
    for _ in range(5):
        try:
            return await relay.count_events(filter, timedelta(seconds=2))
        except nostr_sdk.NostrSdkError.Generic as error:
            assert "timeout" in str(error), error
    raise AssertionError("five times no answer to COUNT")


async def publish(url):
    keys = Keys.generate()
    writer, reader = await connected(url), await connected(url)
    stored = note(keys, "ostriches that are stored", tags=[["t", "birds"]])
    await send(writer, stored)
    author = keys.public_key().to_hex()
    assert await fetch(reader, authors=[author]) == [stored.id().to_hex()]
    assert await fetch(reader, authors=[author], **{"#t": ["birds"]}) == [stored.id().to_hex()]
    assert await fetch(reader, authors=[author], search="ostriches") == [stored.id().to_hex()]
    stream = reader.notifications()
    # What the client has seen already it does not call new.
    other = note(keys, "stored as well")
    await send(writer, other)
    await reader.subscribe(ReqTarget.auto([Filter().author(keys.public_key())]))
    await await_event(stream, other)
    live = note(keys, "live")
    await send(writer, live)
    await await_event(stream, live)
    assert await count(reader, url, Filter().author(keys.public_key())) == 3
    await send(writer, note(keys, "", 5, [["e", live.id().to_hex()]]))
    assert await fetch(reader, ids=[live.id().to_hex()]) == []
    output = await writer.send_event(live)
    assert not output.success and "blocked" in str(output.failed), output


async def wraps(url):
    alice, bob, carol = Keys.generate(), Keys.generate(), Keys.generate()
    nobody = await connected(url)
    made = {}
    for name, receiver in (("alice", alice), ("bob", bob)):
        rumor = EventBuilder(Kind(14), f"for {name}").finalize_unsigned(carol.public_key())
        made[name] = nip59_make_gift_wrap(carol, receiver.public_key(), rumor)
        await send(nobody, made[name])
    for name, keys, expected in (("alice", alice, ["alice"]), ("bob", bob, ["bob"]), ("carol", carol, [])):
        client = await connected(url, keys)
        assert await fetch(client, kinds=[1059]) == [made[one].id().to_hex() for one in expected], name
    try:
        assert await fetch(nobody, kinds=[1059]) == []
    except nostr_sdk.NostrSdkError as error:
        assert "auth" in str(error), error


async def sync(url):
    keys = Keys.generate()
    writer = await connected(url)
    for index in range(20):
        await send(writer, note(keys, str(index)))
    filter = Filter().author(keys.public_key())
    reader = await connected(url)
    output = await reader.sync(filter)
    assert len(output.report.received) == 20, output


async def reconnect(url):
    client = ClientBuilder().build()
    options = RelayOptions().retry_interval(timedelta(seconds=1)).adjust_retry_interval(False)
    await client.add_relay(RelayUrl.parse(url), opts=options)
    await client.connect(WAIT)
    stream = client.notifications()
    await client.subscribe(ReqTarget.auto([Filter().kind(Kind(1))]))
    print("ready", flush=True)
    while True:
        notification = await stream.next()
        if notification.is_new_event() and notification.event.content() == "after":
            return


async def main(url, part):
    nostr_sdk.uniffi_set_event_loop(asyncio.get_running_loop())
    parts = {"publish": publish, "wraps": wraps, "sync": sync, "reconnect": reconnect}
    await asyncio.wait_for(parts[part](url), 60)
    # The library's threads are not waited for.
    sys.stdout.flush()
    os._exit(0)


asyncio.run(main(*sys.argv[1:]))
