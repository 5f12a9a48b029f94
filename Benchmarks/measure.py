"""What every measurement here shares: building the yardsticks, medians, and the line of JSON that a result is.

A result is one line: {"figure": "hub-throughput", "program": "hub in C", "unit": "frames/s", "rounds":
[...], "median": ...}. A figure is a question; programs answer it; `aims.json` says which program's answer is
ours, which is the yardstick, and what ratio we aim at. Figures of one machine and one minute only: ratios
carry over, absolute values do not.
"""

import json
import os
import pathlib
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
YARDSTICKS = ROOT / ".build-yardsticks"
PRODUCTS = ROOT / ".build" / "release"
RESULTS = ROOT / "Benchmarks" / "results"


def build_yardsticks():
    """Compiles the C programs; quiet, and quick when nothing changed."""
    subprocess.run(["make", "--silent", "-C", ROOT / "Benchmarks" / "yardsticks"], check=True)


def result(figure, program, unit, rounds, **more):
    """One answer to one figure, as it is written and read again."""
    rounds = [round(value, 3) for value in rounds]
    return {"figure": figure, "program": program, "unit": unit, "rounds": rounds,
            "median": round(statistics.median(rounds), 3), **more}


def percentile(values, share):
    """The smallest value that this share of them does not exceed."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def write(results, file):
    """Appends results to an open file, one line each."""
    for line in results:
        file.write(json.dumps(line) + "\n")
    file.flush()


def read(paths):
    """All results of some files; of two answers of one program to one figure the later counts."""
    latest = {}
    for path in paths:
        for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
            if line.strip():
                entry = json.loads(line)
                latest[entry["figure"], entry["program"]] = entry
    return latest


def ratio(ours, yardstick):
    """How many times the yardstick our median is; nothing if either was not measured."""
    if ours is None or yardstick is None or not yardstick["median"]:
        return None
    return ours["median"] / yardstick["median"]


def cpu_seconds(pid):
    """Processor time a process has used, user and system."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
