#!/usr/bin/env python3
"""pynostr as an ordinary client of the relay at a URL; ends with 0 when all is as a client expects.

    pynostr_client.py URL

Publishes by one connection, asks for what is stored by another, and deletes. pynostr connects anew for each, and stays
until its time is over, as programs written with it do.
"""

import sys
import uuid

from pynostr.event import Event
from pynostr.filters import Filters, FiltersList
from pynostr.key import PrivateKey
from pynostr.relay_manager import RelayManager


def signed(key, text, kind=1, tags=()):
    event = Event(content=text, kind=kind, tags=[list(tag) for tag in tags])
    event.sign(key.hex())
    return event


def publish(url, event):
    manager = RelayManager(timeout=3)
    manager.add_relay(url)
    manager.publish_event(event)
    manager.run_sync()
    answers = []
    while manager.message_pool.has_ok_notices():
        answers.append(manager.message_pool.get_ok_notice())
    return answers


def fetch(url, **fields):
    manager = RelayManager(timeout=3)
    manager.add_relay(url)
    manager.add_subscription_on_all_relays(uuid.uuid1().hex, FiltersList([Filters(**fields)]))
    manager.run_sync()
    assert manager.message_pool.has_eose_notices() or manager.message_pool.has_events()
    found = []
    while manager.message_pool.has_events():
        found.append(manager.message_pool.get_event().event)
    return found


def main(url):
    key = PrivateKey()
    author = key.public_key.hex()
    event = signed(key, "by pynostr", tags=[["t", "birds"]])
    assert [(one.event_id, one.ok) for one in publish(url, event)] == [(event.id, True)]
    found = fetch(url, authors=[author], limit=10)
    assert [one.id for one in found] == [event.id], found
    assert found[0].verify() and found[0].content == "by pynostr"
    publish(url, signed(key, "", 5, [["e", event.id]]))
    assert [one.kind for one in fetch(url, authors=[author], limit=10)] == [5]


main(sys.argv[1])
