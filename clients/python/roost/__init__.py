"""A client of the Nostr daemon Roost, over `roost bus`. Standard library only.

    from roost import Roost

    with Roost("my-program") as roost:
        print(roost.store.count(filters=[{"kinds": [1]}])["count"])
        for event in roost.store.query(filters=[{"kinds": [1]}], limit=10):
            print(event["content"])

`docs/python.md` of Roost describes it.
"""

from roost.client import Missed, Refused, Roost, Stream, Subscription

__all__ = ["Missed", "Refused", "Roost", "Stream", "Subscription"]
