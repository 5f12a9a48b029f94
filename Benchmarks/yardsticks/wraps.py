#!/usr/bin/env python3
"""Links in gift wraps for `Benchmarks/links.py`, in the environment .venv.

    wraps.py make COUNT AUTHORS FROM TO     the recipient's secret key in the first line, then a gift wrap in each: a
                                            link (v1) to it, by the authors in turn, FROM to TO seconds old
    wraps.py open                           reads that from standard input, and opens each wrap
    wraps.py keys URL [SECRET]              prints two keys, each with its list of relays for gift wraps (kind 10050);
                                            the second one is SECRET
    wraps.py trip URL COUNT                 one client sends gift wraps to another over this relay, one after another

`open` measures `UnwrappedGift.from_gift_wrap` and the rumor as JSON; the wraps were read as events before. `trip`
measures from the link until the receiver has opened its wrap. Both print one line of JSON.
"""

import asyncio
import datetime
import json
import multiprocessing
import os
import sys
import time

from nostr_sdk import (
    ClientBuilder, Event, EventBuilder, Filter, Keys, Kind, PublicKey, RelayUrl, ReqTarget, Tag, Timestamp,
    UnwrappedGift, nip59_make_gift_wrap)

LINK = 44_001


def link(author, recipient, number, at):
    """The rumor of a post."""
    content = json.dumps({
        "conversation_id": "0" * 64, "root_id": f"{number:032X}", "kind": "root",
        "url": f"https://example.com/articles/{number}", "note": f"number {number}: have a look at this"})
    builder = EventBuilder(Kind(LINK), content).tags([Tag.parse(["p", recipient])])
    return builder.custom_created_at(Timestamp.from_secs(at)).finalize_unsigned(author.public_key())


def wrapped(task):
    """The text of one gift wrap."""
    secret, recipient, number, at = task
    author = Keys.parse(secret)
    return nip59_make_gift_wrap(author, PublicKey.parse(recipient), link(author, recipient, number, at)).as_json()


def make(count, authors, oldest, newest):
    recipient = Keys.generate()
    key, first = recipient.public_key().to_hex(), int(time.time()) - oldest
    secrets = [Keys.generate().secret_key().to_hex() for _ in range(authors)]
    tasks = (
        (secrets[number % authors], key, number, first + number * (oldest - newest) // count)
        for number in range(count))
    print(recipient.secret_key().to_hex())
    with multiprocessing.Pool(os.cpu_count()) as pool:
        for text in pool.imap(wrapped, tasks, chunksize=100):
            print(text)


def opened():
    recipient = Keys.parse(sys.stdin.readline().strip())
    wraps = [Event.from_json(line) for line in sys.stdin]
    start, used = time.perf_counter(), time.process_time()
    for wrap in wraps:
        UnwrappedGift.from_gift_wrap(recipient, wrap).rumor().as_json()
    print(json.dumps({"seconds": time.perf_counter() - start, "cpuSeconds": time.process_time() - used}))


def keys(url, secret=None):
    for made in (Keys.generate(), Keys.parse(secret) if secret else Keys.generate()):
        event = EventBuilder(Kind(10_050), "").tags([Tag.parse(["relay", url])]).finalize(made)
        print(made.secret_key().to_hex(), event.as_json())


async def connected(url):
    client = ClientBuilder().build()
    await client.add_relay(RelayUrl.parse(url))
    await client.connect(datetime.timedelta(seconds=10))
    return client


async def trip(url, count):
    alice, bob = Keys.generate(), Keys.generate()
    key = bob.public_key().to_hex()
    sender, receiver = await connected(url), await connected(url)
    stream = receiver.notifications()
    await receiver.subscribe(ReqTarget.auto([Filter.from_json(json.dumps({"kinds": [1059], "#p": [key], "limit": 0}))]))
    await asyncio.sleep(1)  # The subscription has no answer that can be waited for here.
    took = []
    for number in range(count):
        start = time.perf_counter()
        wrap = nip59_make_gift_wrap(alice, bob.public_key(), link(alice, key, number, int(time.time())))
        sending = asyncio.ensure_future(sender.send_event(wrap))
        while True:
            notification = await asyncio.wait_for(stream.next(), 10)
            if notification.is_new_event() and notification.event.id() == wrap.id():
                break
        UnwrappedGift.from_gift_wrap(bob, notification.event).rumor().as_json()
        took.append(1_000 * (time.perf_counter() - start))
        await sending
    print(json.dumps({"milliseconds": took}))


COMMANDS = {
    "make": lambda *numbers: make(*map(int, numbers)),
    "open": opened,
    "keys": keys,
    "trip": lambda url, count: asyncio.run(trip(url, int(count))),
}
COMMANDS[sys.argv[1]](*sys.argv[2:])
