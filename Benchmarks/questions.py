"""Ten questions as clients ask them, of the store behind the bus and of SQLite in this process, with a table of events
and one of tags as relays commonly have them."""

import collections
import json
import random
import sqlite3
import time

import measure

FIRST_SECOND, EVENTS_A_SECOND = 1_700_000_000, 4  # as archive-bench makes them
SAMPLES, SAMPLE = 20, 200


def filters(events):
    """Ten filters as clients ask them, of values that exist, new ones each time."""
    def one(name):
        return random.choice(events)[name]

    def tag(name):
        return next(value[1] for value in random.choice(events)["tags"] if value[0] == name)

    authors = sorted({event["pubkey"] for event in events})
    moment = one("created_at")
    return {
        "the feed of 100 authors": {"authors": random.sample(authors, 100), "kinds": [1], "limit": 50},
        "the feed of 400 authors": {"authors": random.sample(authors, 400), "kinds": [1, 6, 30023], "limit": 100},
        "notes of one author": {"authors": [one("pubkey")], "kinds": [1], "limit": 20},
        "mentions": {"kinds": [1, 6, 7, 9735], "#p": [tag("p")], "limit": 50},
        "a thread": {"kinds": [1], "#e": [tag("e")], "limit": 100},
        "an id": {"ids": [one("id")]},
        "twenty ids": {"ids": [one("id") for _ in range(20)]},
        "a topic": {"kinds": [1], "#t": [tag("t")], "limit": 50},
        "an hour": {"kinds": [1], "since": moment, "until": moment + 3600, "limit": 100},
        "a topic of one author": {"authors": [one("pubkey")], "#t": [tag("t")], "limit": 20},
    }


class PlainSQLite:
    """The same events in a table, their tags in another, with the indexes that such relays have."""

    COLUMNS = {"ids": "id", "authors": "pubkey", "kinds": "kind"}

    def __init__(self, path, database):
        self.connection = sqlite3.connect(path)
        run = self.connection.execute
        run("PRAGMA journal_mode = OFF")
        run("PRAGMA synchronous = OFF")
        run("ATTACH ? AS source", (str(database),))
        run("CREATE TABLE event (number INTEGER PRIMARY KEY, id TEXT, pubkey TEXT, time INTEGER, kind INTEGER,"
            " json BLOB)")
        run("CREATE TABLE tag (name TEXT, value TEXT, time INTEGER, event INTEGER)")
        run("INSERT INTO event SELECT seq, json ->> 'id', json ->> 'pubkey', time, kind, json FROM source.event")
        run("INSERT INTO tag SELECT t.value ->> 0, t.value ->> 1, e.time, e.seq"
            " FROM source.event e, json_each(e.json, '$.tags') t")
        run("CREATE UNIQUE INDEX by_id ON event (id)")
        run("CREATE INDEX by_author ON event (pubkey, kind, time)")
        run("CREATE INDEX by_kind ON event (kind, time)")
        run("CREATE INDEX by_value ON tag (value, name, time)")
        self.connection.commit()
        run("ANALYZE main")

    def answer(self, wanted):
        """The events a filter matches, newest first."""
        clauses, values, source = [], [], "event"
        for name, column in self.COLUMNS.items():
            if name in wanted:
                clauses.append(f"{column} IN ({','.join('?' * len(wanted[name]))})")
                values += wanted[name]
        for name, bound in (("since", ">="), ("until", "<=")):
            if name in wanted:
                clauses.append(f"event.time {bound} ?")
                values.append(wanted[name])
        for name in wanted:
            if name.startswith("#"):
                source = "tag CROSS JOIN event ON event.number = tag.event"
                clauses.append("tag.value = ? AND tag.name = ?")
                values += [wanted[name][0], name[1:]]
        order = "tag.time" if source != "event" else "event.time"
        return self.connection.execute(
            f"SELECT json FROM {source} WHERE {' AND '.join(clauses)} ORDER BY {order} DESC LIMIT ?",
            (*values, wanted.get("limit", -1))).fetchall()


def sample(client, stored):
    """Events from all ages of the store."""
    events = []
    for part in range(1, SAMPLES + 1):
        until = FIRST_SECOND + stored * part // SAMPLES // EVENTS_A_SECOND
        parts, _ = client.exchange("store.query", {"filters": [{"until": until, "limit": SAMPLE}]})
        events += map(json.loads, parts)
    return events


def ask_all(client, plain, events, rounds):
    """Milliseconds of each question by its name, through the bus and of SQLite; the answers are as long in both."""
    ours, theirs = collections.defaultdict(list), collections.defaultdict(list)
    for _ in range(rounds):
        for name, wanted in filters(events).items():
            start = time.perf_counter()
            parts, _ = client.exchange("store.query", {"filters": [wanted]})
            middle = time.perf_counter()
            rows = plain.answer(wanted)
            ours[name].append(1000 * (middle - start))
            theirs[name].append(1000 * (time.perf_counter() - middle))
            if len(parts) != len(rows):
                raise RuntimeError(f"{name}: {len(parts)} events, and {len(rows)} in SQLite: {wanted}")
    return ours, theirs


def run(client, plain, events, rounds):
    """The figures of all ten together, and the median of each."""
    ours, theirs = ask_all(client, plain, events, rounds)
    for program, answers in (("event-store", ours), ("SQLite", theirs)):
        everything = [value for values in answers.values() for value in values]
        yield measure.result("query-p50", program, "ms", [measure.percentile(everything, 0.5)])
        yield measure.result("query-p99", program, "ms", [measure.percentile(everything, 0.99)])
        yield measure.result("query-worst", program, "ms", [max(measure.percentile(v, 0.99) for v in answers.values())],
                             questions={name: [round(measure.percentile(values, share), 3) for share in (0.5, 0.99)]
                                        for name, values in answers.items()})
