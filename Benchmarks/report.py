#!/usr/bin/env python3
"""One table of what was measured: our figure, the yardstick, the ratio, the aim, and whether it is met.

    python3 Benchmarks/report.py [FILE…]      results, one line of JSON each; without FILE the newest in Benchmarks/results

A figure that one side did not measure shows a dash and "not measured": an aim is met by a measurement or not at all.
Exit: 0 every aim that was measured is met, 1 one is missed, 2 there is nothing to report.
"""

import json
import pathlib
import sys

import measure

HEADINGS = ("figure", "ours", "yardstick", "program", "ratio", "aim", "verdict")


def amount(entry):
    """A median with its unit and its spread, for people."""
    if entry is None:
        return "–"
    digits = 0 if entry["median"] >= 1000 else 1
    low, high = min(entry["rounds"]), max(entry["rounds"])
    spread = f" ({low:,.{digits}f} … {high:,.{digits}f})" if len(entry["rounds"]) > 1 else ""
    return f"{entry['median']:,.{digits}f} {entry['unit']}{spread}"


def is_met(aim, ratio):
    """Whether a ratio reaches its aim; both bounds belong to "met"."""
    return ratio >= aim["aim"] if aim["better"] == "higher" else ratio <= aim["aim"]


def row(aim, results):
    """The cells of one line of the table, and whether the aim was missed; nothing if neither side was measured."""
    ours = results.get((aim["figure"], aim["ours"]))
    yardstick = results.get((aim["figure"], aim["yardstick"]))
    if ours is None and yardstick is None:
        return None
    ratio = measure.ratio(ours, yardstick)
    sign = "≥" if aim["better"] == "higher" else "≤"
    verdict = "not measured" if ratio is None else "met" if is_met(aim, ratio) else "MISSED"
    return (aim["title"], amount(ours), amount(yardstick), aim["yardstick"],
            "–" if ratio is None else f"{ratio:.2f}", f"{sign} {aim['aim']:g}", verdict)


def table(rows):
    """Rows as text, each column as wide as its widest cell."""
    rows = [HEADINGS, *rows]
    widths = [max(len(cells[column]) for cells in rows) for column in range(len(HEADINGS))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip() for cells in rows)


def report(results):
    """Prints the table; returns the exit code."""
    aims = json.loads((pathlib.Path(__file__).parent / "aims.json").read_text(encoding="utf-8"))
    rows = [cells for cells in (row(aim, results) for aim in aims) if cells]
    if not rows:
        print("report: no results; run 'make bench'", file=sys.stderr)
        return 2
    print(table(rows))
    return 1 if any(cells[-1] == "MISSED" for cells in rows) else 0


def main():
    paths = sys.argv[1:] or sorted(measure.RESULTS.glob("*.jsonl"))[-1:]
    sys.exit(report(measure.read(paths)))


if __name__ == "__main__":
    main()
