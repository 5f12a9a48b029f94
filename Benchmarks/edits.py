"""An edit of a follow list of 10,000 people: how long until it is accepted, which is when it is signed and on the disk.

    a client ─ people.edit ─▶ people ─▶ signer ─▶ people.db ─▶ the answer
                                                        └─▶ outbox-planner ─▶ a relay of ours (yardsticks/canned.c)

Each edit follows one person more. Two versions of one second would have no order, so an edit comes in each second; that
pause is not measured. The relays were asked before for the newest version, which is good for five minutes. The
yardstick is one fsync of the disk.
"""

import contextlib
import json
import random
import subprocess
import tempfile
import time

import bus
import endtoend
import measure
import publish
import roostd

ENTRIES = 10_000
EDITS = 20  # in a round
AT_ONCE = 4_000  # changes of one edit, which takes 4,096
WORKERS = """
[worker.event-store]
role = "event-store"

[worker.signer]
role = "signer"

[worker.people]
role = "people"

[worker.outbox-planner]
role = "outbox-planner"
indexers = []
"""
READY = ("event-store", "signer", "people", "outbox-planner", "relay-connector")


def edit(client, keys):
    """Follows these people; milliseconds until that is accepted."""
    changes = [{"add": ["p", key]} for key in keys]
    start = time.perf_counter()
    answer = client.call("people.edit", account="alice", kind=3, changes=changes)
    milliseconds = 1000 * (time.perf_counter() - start)
    if not answer["isNew"]:
        raise RuntimeError("an edit has changed nothing")
    return milliseconds


@contextlib.contextmanager
def roost():
    """A client of a new Roost with a list of 10,000 people, and the folder of its state."""
    with tempfile.TemporaryDirectory(prefix="roost-edits-") as name, tempfile.NamedTemporaryFile() as empty, \
            endtoend.canned(empty.name) as url, \
            roostd.running(WORKERS + endtoend.connector([url]), name + "/state") as daemon, \
            bus.connected(daemon.socket) as client:
        for worker in READY:
            client.wait_for_ready(worker)
        endtoend.wait_for_relays(client, 1)
        made = [measure.PRODUCTS / "roost", "key", "generate", "alice", "--no-passphrase", "--socket", daemon.socket]
        subprocess.run(made, check=True, stdout=subprocess.DEVNULL)
        yield client, name


def run(rounds):
    """An edit accepted, median of each round."""
    figures = random.Random(4869)
    with roost() as (client, folder):
        people = [f"{figures.getrandbits(256):064x}" for _ in range(ENTRIES + rounds * EDITS)]
        for start in range(0, ENTRIES, AT_ONCE):
            edit(client, people[start:min(start + AT_ONCE, ENTRIES)])
        times, syncs = [], []
        for number in range(rounds):
            syncs.append(measure.percentile(publish.sync_milliseconds(folder), 0.5))
            took = []
            for turn in range(EDITS):
                time.sleep(1.05 - time.time() % 1)
                took.append(edit(client, [people[ENTRIES + number * EDITS + turn]]))
            times.append(measure.percentile(took, 0.5))
    yield measure.result("edit-p50", "people", "ms", times)
    yield measure.result("edit-p50", "one fsync", "ms", syncs)


if __name__ == "__main__":
    measure.build_yardsticks()
    for line in run(3):
        print(json.dumps(line))
