#!/usr/bin/env python3
"""Measures everything and prints the report; `make bench` calls it.

    python3 Benchmarks/run.py [--rounds 7] [--seconds 1] [--restarts 20] [--skip restart]

Rounds of different programs are interleaved, and medians are compared, so a neighbour's noise falls on all alike. Results are
kept in Benchmarks/results, one file a run.
"""

import argparse
import time

import hub
import measure
import report
import restart


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each throughput round")
    parser.add_argument("--restarts", type=int, default=20)
    parser.add_argument("--skip", action="append", default=[], choices=["hub", "restart"])
    options = parser.parse_args()

    measure.build_yardsticks()
    measure.RESULTS.mkdir(exist_ok=True)
    path = measure.RESULTS / time.strftime("%Y%m%dT%H%M%S.jsonl", time.gmtime())
    with path.open("w", encoding="utf-8") as file:
        if "hub" not in options.skip:
            measure.write(hub.run(options.rounds, options.seconds), file)
        if "restart" not in options.skip:
            measure.write(restart.run(options.restarts), file)
    report.report(measure.read([path]))


if __name__ == "__main__":
    main()
