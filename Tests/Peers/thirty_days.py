#!/usr/bin/env python3
"""Fills the ring of figures of a stopped local relay (`figures.db`) with thirty days, as no test can wait for them.

    thirty_days.py figures.db NOW

NOW is in seconds since 1970. The relay has made the file before. A day and a half are missing, as if Roost had been
stopped. The form of a record is in Workers/LocalRelay/StatusPages/FigureSample.swift.
"""

import math
import random
import sqlite3
import struct
import sys

PERIOD, PLACES, MISSING = 300, 8_640, -(1 << 63)
FIGURES = [
    "storedEvents", "newEvents", "clients", "openRelays", "wantedRelays", "medianLatency", "slowLatency", "refusals",
    "connectFailures", "queued", "unpublished", "mirrored", "lackingCopies", "askedJobs", "servedJobs", "memory",
]


def record(at, figures):
    head = struct.pack("<BBxxIq", 1, len(FIGURES), PERIOD, at)
    body = head + b"".join(struct.pack("<q", figures.get(name, MISSING)) for name in FIGURES)
    checksum = 0xCBF29CE484222325
    for byte in body:
        checksum = (checksum ^ byte) * 0x100000001B3 & (1 << 64) - 1
    return body + struct.pack("<Q", checksum)


def samples(now, dice):
    stored, latency = 180_000, 90.0
    for index in range(PLACES - 1):
        at = now - now % PERIOD - (PLACES - 1 - index) * PERIOD + 2
        day = math.sin(2 * math.pi * (at % 86_400) / 86_400 - 1.9)
        new = max(0, int(24 + 22 * day + dice.gauss(0, 6)))
        stored += new
        latency += (100 - latency) * 0.05 + dice.gauss(0, 9)
        if PLACES * 2 // 5 <= index < PLACES * 2 // 5 + 432:
            continue
        outage = 5_000 < index < 5_060
        wanted = 12
        yield at, {
            "storedEvents": stored, "newEvents": new, "clients": max(0, round(2 + 2 * day + dice.gauss(0, 0.6))),
            "openRelays": 2 if outage else wanted - (dice.random() < 0.15), "wantedRelays": wanted,
            "medianLatency": max(8, int(latency)), "slowLatency": max(30, int(latency * 4 + dice.expovariate(1 / 120))),
            "refusals": dice.randrange(4) if dice.random() < 0.06 else 0,
            "connectFailures": 9 if outage else int(dice.random() < 0.05),
            "queued": 14 if outage else int(dice.random() < 0.04) * dice.randrange(1, 4),
            "unpublished": index // 3_000, "mirrored": min(1_000, 300 + index // 3), "lackingCopies": 0,
            "askedJobs": int(index % 700 < 30), "servedJobs": int(index % 300 < 9),
            "memory": int((330 + 40 * day + dice.gauss(0, 4)) * (1 << 20)),
        }


def main():
    path, now = sys.argv[1], int(sys.argv[2])
    with sqlite3.connect(path) as database:
        database.executemany(
            "INSERT OR REPLACE INTO sample (place, record) VALUES (?, ?)",
            [(at // PERIOD % PLACES, record(at, figures)) for at, figures in samples(now, random.Random(7))])
    database.close()


if __name__ == "__main__":
    main()
