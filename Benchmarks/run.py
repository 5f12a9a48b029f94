#!/usr/bin/env python3
"""Measures everything and prints the report; `make bench` calls it after it has built the programs for release.

    python3 Benchmarks/run.py [--rounds 7] [--seconds 1] [--restarts 20] [--idle-seconds 20] [--stored N] [--skip hub]

About twenty minutes. Rounds of different programs are interleaved, and medians are compared, so a neighbour's noise
falls on all alike. Results are kept in Benchmarks/results, one file a run.
"""

import argparse
import os
import time

import batches
import edits
import endtoend
import events
import executor
import feeds
import gate
import hub
import jobs
import lines
import links
import measure
import pages
import profiles
import publish
import push
import push_privacy
import relay
import report
import restart
import sockets

PARTS = ["hub", "lines", "executor", "events", "batches", "gate", "publish", "endtoend", "pages", "profiles", "relay",
         "jobs", "feeds", "edits", "links", "push", "push-privacy", "restart", "sockets"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each load of a hub")
    parser.add_argument("--restarts", type=int, default=20)
    parser.add_argument("--idle-seconds", type=float, default=20.0)
    parser.add_argument("--stored", type=int, default=1_000_000, help="events in the full archive")
    parser.add_argument("--skip", action="append", default=[], choices=PARTS)
    options = parser.parse_args()

    measure.build_yardsticks()
    measure.RESULTS.mkdir(exist_ok=True)
    path = measure.RESULTS / time.strftime("%Y%m%dT%H%M%S.jsonl", time.gmtime())
    parts = {
        "hub": lambda: hub.run(options.rounds, options.seconds),
        "lines": lambda: lines.run(options.rounds),
        "executor": lambda: executor.run(options.rounds),
        "events": lambda: events.run(options.rounds, options.stored),
        "batches": lambda: batches.run(options.rounds),
        "gate": lambda: gate.run(options.rounds, options.stored),
        "publish": lambda: publish.run(options.rounds),
        "endtoend": lambda: endtoend.run(options.rounds, options.idle_seconds),
        "pages": lambda: pages.run(options.rounds, options.idle_seconds),
        "profiles": lambda: profiles.run(options.rounds),
        "relay": lambda: relay.run(options.rounds),
        "jobs": lambda: jobs.run(options.rounds),
        "feeds": lambda: feeds.run(options.rounds),
        "edits": lambda: edits.run(options.rounds),
        "links": lambda: links.run(options.rounds),
        "push": lambda: push.run(options.rounds),
        "push-privacy": push_privacy.run,
        "restart": lambda: restart.run(options.restarts, options.idle_seconds),
        "sockets": lambda: sockets.run(options.rounds),
    }
    loads = []
    with path.open("w", encoding="utf-8") as file:
        for name, part in parts.items():
            if name not in options.skip:
                loads.append(os.getloadavg()[0])
                measure.write(part(), file)
    report.report(measure.read([path]))
    print(f"\n{os.cpu_count()} processors, load before each part {', '.join(f'{load:.1f}' for load in loads)}; kept in "
          f"{path.relative_to(measure.ROOT)}")


if __name__ == "__main__":
    main()
