#!/usr/bin/env python3
"""Sends and receives gift wraps with nostr-sdk and with monstr, as a line asks for, until standard input ends.

    {"ask":"send","wraps":[…],"relays":["ws://…"]}   →   {"ok":{}}     or     {"error":"why not"}

COMMANDS below is the list. The peer has one key in nostr-sdk and one in monstr, and a third, mallory's, that forges.
Links are written here as docs/workers/link-feed.md says, with nothing of Roost.
"""

import asyncio
import base64
import hashlib
import json
import os
import sys
import time
from datetime import timedelta

from monstr.client.client import Client as MonstrClient, QueryTimeoutException
from monstr.encrypt import Keys as MonstrKeys
from monstr.event.event import Event as MonstrEvent
from monstr.giftwrap import GiftWrap
from monstr.signing.signing import BasicKeySigner
from nostr_sdk import (
    ClientBuilder, Event, EventBuilder, Filter, Keys, Kind, Nip44Version, PublicKey, RelayUrl, ReqTarget,
    SignerAuthenticator, Tag, Timestamp, UnwrappedGift, nip17_make_private_msg, nip44_decrypt, nip44_encrypt,
    nip59_make_gift_wrap, nip59_make_seal, nostr_sdk,
)

WAIT = timedelta(seconds=10)
LINK, MESSAGE, SEAL, WRAP, INBOXES = 44001, 14, 13, 1059, 10050

sdk, mallory, monstr = Keys.generate(), Keys.generate(), MonstrKeys()


def public(keys):
    return keys.public_key().to_hex()


def tags(lists):
    return [Tag.parse(tag) for tag in lists]


# Making gift wraps

def rumor_of(keys, kind, content, tag_lists, at=None):
    builder = EventBuilder(Kind(kind), content).tags(tags(tag_lists))
    if at is not None:
        builder = builder.custom_created_at(Timestamp.from_secs(at))
    return builder.finalize_unsigned(keys.public_key()).ensure_id()


def wrap_text(seal, to, at):
    """A gift wrap around any text, by a key of its own, dated as asked for."""
    once, receiver = Keys.generate(), PublicKey.parse(to)
    builder = EventBuilder(Kind(WRAP), nip44_encrypt(once.secret_key(), receiver, seal, Nip44Version.V2))
    builder = builder.tags(tags([["p", to]])).custom_created_at(Timestamp.from_secs(at))
    return builder.finalize(once)


def wrapped(keys, rumor, to, at=None):
    """By the library's own builder, which dates it back at random; with a date, layer by layer."""
    if at is None:
        return nip59_make_gift_wrap(keys, PublicKey.parse(to), rumor)
    return wrap_text(nip59_make_seal(keys, PublicKey.parse(to), rumor).as_json(), to, at)


def conversation(one, other):
    return hashlib.sha256(":".join(sorted([one, other])).encode()).hexdigest()


def payload(keys, to, **members):
    return json.dumps({"conversation_id": conversation(public(keys), to), **members})


def answer(rumor, wrap):
    return {"id": rumor.id().to_hex(), "wrap": wrap.as_json(), "wrapId": wrap.id().to_hex()}


async def who():
    return {"sdk": public(sdk), "monstr": monstr.public_key_hex()}


async def post(to, url, note=None, at=None, wrapAt=None):
    content = payload(sdk, to, root_id=os.urandom(16).hex(), kind="root", url=url, note=note)
    rumor = rumor_of(sdk, LINK, content, [["p", to]], at)
    return answer(rumor, wrapped(sdk, rumor, to, wrapAt))


async def reply(to, post, note, at=None, wrapAt=None):
    content = payload(sdk, to, root_id=post, kind="reply", note=note, timestamp=int(time.time()))
    rumor = rumor_of(sdk, LINK, content, [["p", to], ["e", post, "", "root"]], at)
    return answer(rumor, wrapped(sdk, rumor, to, wrapAt))


async def content(to, text):
    """A rumor of links with any content."""
    rumor = rumor_of(sdk, LINK, text, [["p", to]])
    return answer(rumor, wrapped(sdk, rumor, to))


async def untagged(to, text, at=None):
    """The same without a tag that names the recipient, as sessions have it."""
    rumor = rumor_of(sdk, LINK, text, [], at)
    return answer(rumor, wrapped(sdk, rumor, to))


async def message(to, text):
    return {"wrap": nip17_make_private_msg(sdk, PublicKey.parse(to), text).as_json()}


async def forge(to):
    """Wraps that say they are by this peer's key, and are not; and one that is too large to be opened."""
    now, text = int(time.time()), "i am not who i say"

    def rumor_by(keys):
        return rumor_of(keys, LINK, payload(keys, to, root_id="", kind="root", url="https://forged.example", note=text),
                        [["p", to]])

    # The author's own seal, signed by another key: the id is right, the content can be decrypted.
    seal = json.loads(nip59_make_seal(sdk, PublicKey.parse(to), rumor_by(sdk)).as_json())
    other = json.loads(nip59_make_seal(mallory, PublicKey.parse(to), rumor_by(mallory)).as_json())
    signed = wrap_text(json.dumps({**seal, "sig": other["sig"]}), to, now)
    # A good seal of mallory around the author's rumor.
    sealed = nip44_encrypt(mallory.secret_key(), PublicKey.parse(to), rumor_by(sdk).as_json(), Nip44Version.V2)
    claimed = wrap_text(EventBuilder(Kind(SEAL), sealed).finalize(mallory).as_json(), to, now)
    message = rumor_of(sdk, MESSAGE, text, [["p", to]])
    sealed = nip44_encrypt(mallory.secret_key(), PublicKey.parse(to), message.as_json(), Nip44Version.V2)
    said = wrap_text(EventBuilder(Kind(SEAL), sealed).finalize(mallory).as_json(), to, now)
    bare = wrap_text(rumor_by(sdk).as_json(), to, now)
    noise = base64.b64encode(b"\2" + os.urandom(200_000)).decode()
    once = Keys.generate()
    large = EventBuilder(Kind(WRAP), noise).tags(tags([["p", to]])).finalize(once)
    return {"wraps": [one.as_json() for one in (signed, claimed, said, bare, large)]}


async def history(to, count, path, width):
    """So many posts by ten keys in a file. `width` wraps have one second, then one, then `width` again: an answer of
    any other length ends within a second. The posts share seconds too."""
    began, authors, counts = time.monotonic(), [Keys.generate() for _ in range(10)], {}
    start, second = int(time.time()) - 86_400 * 90, 0
    with open(path, "w", encoding="utf-8") as file:
        for number in range(count):
            if number % (width + 1) in (0, width):
                second += 1
            keys = authors[number % len(authors)]
            text = payload(keys, to, root_id="", kind="root", url=f"https://example.com/{number}", note=str(number))
            rumor = rumor_of(keys, LINK, text, [["p", to]], start + number // 50)
            file.write(wrapped(keys, rumor, to, start + second).as_json() + "\n")
            counts[public(keys)] = counts.get(public(keys), 0) + 1
    return {"counts": counts, "seconds": time.monotonic() - began}


# nostr-sdk as the client

async def client_of(relays, keys=None):
    builder = ClientBuilder()
    if keys:
        builder = builder.authenticator(SignerAuthenticator(keys))
    client = builder.build()
    for relay in relays:
        await client.add_relay(RelayUrl.parse(relay))
    await client.connect(WAIT)
    return client


async def send(wraps, relays):
    client = await client_of(relays, sdk)
    for text in wraps:
        output = await client.send_event(Event.from_json(text))
        assert len(output.success) == len(relays) and not output.failed, output
    await client.shutdown()
    return {}


async def inboxes(relays):
    """Lists of relays for gift wraps of both keys."""
    lists = [["relay", relay] for relay in relays]
    mine = EventBuilder(Kind(INBOXES), "").tags(tags(lists)).finalize(sdk)
    other = EventBuilder(Kind(INBOXES), "").tags(tags(lists)).finalize(Keys.parse(monstr.private_key_hex()))
    return await send([mine.as_json(), other.as_json()], relays)


async def fetch(relay, count):
    """What is wrapped for this key at a relay, once there are so many."""
    client = await client_of([relay], sdk)
    filter = Filter().kind(Kind(WRAP)).pubkey(sdk.public_key())
    for _ in range(100):
        found = list(await client.fetch_events(ReqTarget.auto([filter]), WAIT))
        if len(found) >= count:
            break
        await asyncio.sleep(0.2)
    await client.shutdown()
    return {"opened": [opened(UnwrappedGift.from_gift_wrap(sdk, event), event) for event in found]}


def opened(gift, wrap):
    rumor = json.loads(gift.rumor().as_json())
    fields = {name: rumor[name] for name in ("id", "pubkey", "kind", "content", "tags", "created_at")}
    return {"sender": gift.sender().to_hex(), "wrapper": wrap.author().to_hex(), **fields}


def layers(keys, wrap):
    """The seal and the rumor in a gift wrap, decrypted layer by layer."""
    seal = json.loads(nip44_decrypt(keys.secret_key(), wrap.author(), wrap.content()))
    author = PublicKey.parse(seal["pubkey"])
    return seal, json.loads(nip44_decrypt(keys.secret_key(), author, seal["content"]))


def checked(keys, wrap):
    """A rumor of the newer form of linkstr, if every layer and every member is as that form has it."""
    recipient = public(keys)
    assert json.loads(wrap.as_json())["tags"] == [["p", recipient]], "the wrap names its recipient only"
    seal, rumor = layers(keys, wrap)
    Event.from_json(json.dumps(seal)).verify()
    assert seal["kind"] == SEAL and seal["tags"] == [] and seal["pubkey"] == rumor["pubkey"], seal
    fields = [0] + [rumor[name] for name in ("pubkey", "created_at", "kind", "tags", "content")]
    text = json.dumps(fields, separators=(",", ":"), ensure_ascii=False)
    assert hashlib.sha256(text.encode()).hexdigest() == rumor["id"], "the id is the hash"
    assert "sig" not in rumor and rumor["kind"] == LINK, rumor
    if rumor["pubkey"] == public(sdk) or any(tag[0] == "p" for tag in rumor["tags"]):
        return None
    assert rumor["tags"] == [], rumor["tags"]
    names = []
    said = json.loads(rumor["content"], object_pairs_hook=lambda pairs: names.extend(pairs) or dict(pairs))
    assert len(names) == len(said), "a member occurs twice"
    assert said["conversation_id"] and said["timestamp"] == rumor["created_at"], said
    wanted = {"conversation_id", "root_id", "kind", "timestamp"}
    if said["kind"] == "session_create":
        assert set(said) == wanted | {"session_name", "member_pubkeys"}, said
        assert said["root_id"] and said["session_name"].strip(), said
        members = said["member_pubkeys"]
        assert rumor["pubkey"] in members and len(set(members)) == len(members), members
        assert all(PublicKey.parse(key).to_hex() == key for key in members), "lower-case hexadecimal"
    else:
        assert said["kind"] == "root" and said["root_id"] == "", said
        assert set(said) - {"note"} == wanted | {"url"} and said["url"].startswith("https://"), said
    return {"id": rumor["id"], "pubkey": rumor["pubkey"], "wrapper": wrap.author().to_hex(), "to": recipient, **said}


async def sessions(relay, secret, count):
    """The rumors of sessions by others at a relay for this peer's two keys and a third, once there are so many wraps of
    them; each wrap has a key of its own."""
    holders = [sdk, Keys.parse(monstr.private_key_hex()), Keys.parse(secret)]
    for _ in range(100):
        copies = []
        for keys in holders:
            client = await client_of([relay], keys)
            filter = Filter().kind(Kind(WRAP)).pubkey(keys.public_key())
            found = list(await client.fetch_events(ReqTarget.auto([filter]), WAIT))
            await client.shutdown()
            copies += [checked(keys, event) for event in found]
        copies = [copy for copy in copies if copy]
        if len(copies) >= count:
            break
        await asyncio.sleep(0.2)
    assert len({copy["wrapper"] for copy in copies}) == len(copies), "a key is used twice"
    return {"copies": copies}


# monstr as the client

async def monstr_send(to, text, relay):
    note = MonstrEvent(kind=MESSAGE, content=text, pub_key=monstr.public_key_hex(), tags=[["p", to]])
    wrap, _ = await GiftWrap(BasicKeySigner(monstr)).wrap(note, to)
    answers = asyncio.Queue()
    client = MonstrClient(relay, on_ok=lambda client, id, success, message: answers.put_nowait((id, success, message)))
    async with client:
        client.publish(wrap)
        said = await answers.get()
        assert said[:2] == (wrap.id, True), said
    return {}


async def monstr_fetch(relay, count):
    challenges = asyncio.Queue()
    client = MonstrClient(relay, on_auth=lambda client, challenge: challenges.put_nowait(challenge))
    filter = {"kinds": [WRAP], "#p": [monstr.public_key_hex()]}
    async with client:
        try:
            found = await client.query(filter, timeout=1)
        except QueryTimeoutException:
            # It does not read the CLOSED of a relay that wants AUTH, and waits on.
            await client.auth(monstr, await challenges.get())
        for _ in range(100):
            found = await client.query(filter)
            if len(found) >= count:
                break
            await asyncio.sleep(0.2)
    rumors = [await GiftWrap(BasicKeySigner(monstr)).unwrap(wrap) for wrap in found]
    return {"opened": [
        {"sender": rumor.pub_key, "wrapper": wrap.pub_key, "id": rumor.id, "pubkey": rumor.pub_key, "kind": rumor.kind,
         "content": rumor.content, "tags": rumor.data()["tags"], "created_at": rumor.data()["created_at"]}
        for wrap, rumor in zip(found, rumors)]}


COMMANDS = {
    "who": who, "inboxes": inboxes, "post": post, "reply": reply, "content": content,
    "untagged": untagged, "sessions": sessions, "message": message,
    "forge": forge, "history": history, "send": send, "fetch": fetch, "monstr-send": monstr_send,
    "monstr-fetch": monstr_fetch,
}


async def main():
    nostr_sdk.uniffi_set_event_loop(asyncio.get_running_loop())
    while line := await asyncio.to_thread(sys.stdin.readline):
        wanted = json.loads(line)
        try:
            told = {"ok": await asyncio.wait_for(COMMANDS[wanted.pop("ask")](**wanted), 240)}
        except Exception as error:
            told = {"error": repr(error)}
        print(json.dumps(told), flush=True)
    # The library's threads are not waited for.
    os._exit(0)


asyncio.run(main())
