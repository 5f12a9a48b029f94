#!/usr/bin/env python3
"""One table of what was measured: our figure, the yardstick, the ratio, the aim, and whether it is met.

    python3 Benchmarks/report.py [FILE…]      results, one line of JSON each; without FILE the newest there is

An aim is a ratio to the yardstick ("≥ 0.5 ×") or an amount ("≤ 100 ms"); a line without one is there to be read. A
figure that one side did not measure shows a dash and "not measured": an aim is met by a measurement or not at all.
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
    digits = 0 if entry["median"] >= 100 else 2
    low, high = min(entry["rounds"]), max(entry["rounds"])
    spread = f" ({low:,.{digits}f} … {high:,.{digits}f})" if len(entry["rounds"]) > 1 else ""
    return f"{entry['median']:,.{digits}f} {entry['unit']}{spread}"


def judged(aim, ours, ratio):
    """The aim as text, and the verdict; by how much an aim was missed is part of it."""
    if "atMost" in aim:
        unit = f" {ours['unit']}" if ours else ""
        text, share = f"≤ {aim['atMost']:,g}{unit}", ours and ours["median"] / aim["atMost"]
    elif "atLeast" in aim:
        unit = f" {ours['unit']}" if ours else ""
        text, share = f"≥ {aim['atLeast']:,g}{unit}", ours and aim["atLeast"] / max(ours["median"], 1e-9)
    elif "ratioAtMost" in aim:
        text, share = f"≤ {aim['ratioAtMost']:g} ×", None if ratio is None else ratio / aim["ratioAtMost"]
    elif "ratioAtLeast" in aim:
        text, share = f"≥ {aim['ratioAtLeast']:g} ×", None if ratio is None else aim["ratioAtLeast"] / max(ratio, 1e-9)
    else:
        return "", ""
    if share is None:
        return text, "not measured"
    return text, "met" if share <= 1 else f"MISSED by {100 * (share - 1):.0f} %"


def rows_of(aim, results):
    """The lines of the table for one aim: one for each yardstick, or a single one; none if nobody was measured."""
    ours = results.get((aim["figure"], aim["ours"]))
    yardsticks = [name for name in aim["yardsticks"] if (aim["figure"], name) in results]
    if ours is None and not yardsticks:
        return
    for position, name in enumerate(yardsticks or [None]):
        yardstick = results.get((aim["figure"], name))
        ratio = measure.ratio(ours, yardstick)
        text, verdict = judged(aim, ours, ratio) if position == 0 else ("", "")
        yield (aim["title"] if position == 0 else "", amount(ours) if position == 0 else "",
               amount(yardstick) if yardstick else "–", name or "–", "–" if ratio is None else f"{ratio:.3g} ×",
               text, verdict)


def table(rows):
    """Rows as text, each column as wide as its widest cell."""
    rows = [HEADINGS, *rows]
    widths = [max(len(cells[column]) for cells in rows) for column in range(len(HEADINGS))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip() for cells in rows)


def report(results):
    """Prints the table; returns the exit code."""
    aims = json.loads((pathlib.Path(__file__).parent / "aims.json").read_text(encoding="utf-8"))
    rows = [cells for aim in aims for cells in rows_of(aim, results)]
    if not rows:
        print("report: no results; run 'make bench'", file=sys.stderr)
        return 2
    print(table(rows))
    return 1 if any(cells[-1].startswith("MISSED") for cells in rows) else 0


def main():
    paths = sys.argv[1:] or sorted(measure.RESULTS.glob("*.jsonl"))[-1:]
    sys.exit(report(measure.read(paths)))


if __name__ == "__main__":
    main()
