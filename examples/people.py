#!/usr/bin/env python3
"""The feed of one's own account: people.py [PERSON]. PERSON is a key of 64 hexadecimal digits or a name such as
bob@example.com, and is followed first. Then the last texts of the people whom the account follows, with the names of
their authors, and each new one as it comes. Standard library only; the connection is that of client.py beside it."""
import json, sys, time

from client import Refused, Roost

NAMES = {}  # of authors, ready for a terminal; asked for once each

def answer(roost, method, **arguments):
    """The parts of an answer."""
    return roost.ask(method, json.dumps(arguments).encode())

def person(roost, text):
    """The key that a text means."""
    if len(text) == 64 and not set(text) - set("0123456789abcdef"): return text
    return list(answer(roost, "name.resolve", name=text))[-1]["pubkey"]

def name(roost, key):
    """What an author is called here; no relay is asked for it."""
    if len(NAMES) >= 1000: NAMES.clear()
    if key not in NAMES:
        for page in answer(roost, "people.profiles", keys=[key], policy="cache-only"):
            for profile in (page or {}).get("profiles", []): NAMES[key] = profile["shownName"]
    return NAMES.get(key, key[:12] + "…")

def main():
    roost = Roost("people.py")
    if len(sys.argv) > 1:
        # Only what is to be different is said: the worker makes it so on the newest version of the list.
        edit = {"kind": 3, "changes": [{"add": ["p", person(roost, sys.argv[1])]}]}
        edited = list(answer(roost, "people.edit", **edit))[-1]
        # The version is on its way to the store, and the feed goes by it.
        for part in answer(roost, "store.observe", filters=[{"ids": [edited["id"]]}], policy="cache-only"):
            if "event" in part: break
        print("followed" if edited["isNew"] else "followed already", "-", edited["after"], "people", flush=True)
    after = {}
    while True:
        try:
            for part in answer(roost, "people.feed", kinds=[1], **after):
                if part is None: continue
                if "seq" in part: after = {"afterSeq": part["seq"]}  # from here on, should the answer end
                if "isFeedState" in part: print("--", part.get("people", 0), "people --", flush=True)
                elif "isStoredEnd" in part: print("-- what follows is new --", flush=True)
                else:
                    event = part["event"]
                    # With escapes: the text is a stranger's, and must not drive the terminal.
                    print(f"{name(roost, event['pubkey'])}: {json.dumps(event['content'])}", flush=True)
        except Refused as refused:
            # The worker has died, or is started again: once more.
            if refused.refusal.get("outcome") != "unknown" and refused.refusal.get("code") != "unavailable": raise
            time.sleep(1)

if __name__ == "__main__":
    try: main()
    except Refused as refused: sys.exit(str(refused))
    except KeyboardInterrupt: pass
