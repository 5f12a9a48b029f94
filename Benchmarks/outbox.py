"""Which relays to read from: runs outbox-bench, prints its tables as Markdown and draws the plots of docs/.

    python3 Benchmarks/outbox.py [--seeds N] [--saved FOLDER]

A run of 24 seeds takes some minutes. Its lines are saved in Benchmarks/results/outbox; with --saved they are read from
there and nothing is run. Intervals are 95 % of the mean over the seeds' worlds (Student's t), differences are paired:
in the same worlds.
"""

import argparse
import collections
import concurrent.futures
import math
import pathlib
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "Benchmarks" / "results" / "outbox"
RUNS = {
    "gate": ["gate"],
    "7": ["window", "--days", "7"],
    "365": ["window", "--days", "365"],
    "1095": ["window", "--days", "1095"],
    "7n": ["window", "--days", "7", "--no-paging"],
    "365n": ["window", "--days", "365", "--no-paging"],
    "time": ["time"],
}
MEASURES = ["recall", "median", "zero", "oracle", "wasted", "duplicates", "cumulative", "at2", "at5", "at10"]
OURS = "learned, full"
ALONE = "learned, 20 alone"
COLOURS = ["#1b6ca8", "#5aa9e6", "#d1495b", "#edae49", "#66a182", "#8d6a9f", "#777777"]
# Student's t for 95 %, by degrees of freedom; more are as good as normal.
STUDENT = {5: 2.571, 9: 2.262, 11: 2.201, 19: 2.093, 23: 2.069, 29: 2.045}


def run(name, seeds):
    program = ROOT / ".build" / "release" / "outbox-bench"
    done = subprocess.run(
        [program, *RUNS[name], "--seeds", str(seeds)], check=True, capture_output=True, text=True, timeout=3600
    )
    (RESULTS / f"{name}.txt").write_text(done.stdout)


def read(folder, name):
    """By contender and measure: for each seed the mean of the sessions from the second on, and all sessions."""
    found = collections.defaultdict(lambda: collections.defaultdict(lambda: collections.defaultdict(list)))
    for line in (folder / f"{name}.txt").read_text().splitlines():
        parts = line.split("\t")
        if parts[0] == "score":
            for measure, value in zip(MEASURES, parts[5:], strict=False):
                found[parts[3]][measure][int(parts[2])].append(float(value))
    return found


def later(by_seed):
    return [statistics.fmean(sessions[1:]) for _, sessions in sorted(by_seed.items())]


def interval(values):
    if len(values) < 2:
        return statistics.fmean(values), 0.0
    student = STUDENT.get(len(values) - 1, 2.0)
    return statistics.fmean(values), student * statistics.stdev(values) / math.sqrt(len(values))


def percent(values):
    mean, half = interval(values)
    return f"{100 * mean:.1f} ± {100 * half:.1f}"


def difference(ours, theirs):
    return percent([one - other for one, other in zip(ours, theirs, strict=True)])


def print_gate(folder):
    recalls = collections.defaultdict(list)
    for line in (folder / "gate.txt").read_text().splitlines():
        _, _, name, recall = line.split("\t")
        recalls[name].append(float(recall))
    print("\n| gate, 1 year | recall % |\n|---|---|")
    for name, values in sorted(recalls.items(), key=lambda item: -statistics.fmean(item[1])):
        print(f"| {name} | {percent(values)} |")


def print_windows(windows):
    print("\n| recall % | 7 days | 1 year | 3 years | share of near-oracle, 7 days | 1 year | 3 years |")
    print("|---|---|---|---|---|---|---|")
    for name in windows["7"]:
        cells = [percent(later(window[name]["recall"])) for window in windows.values()]
        cells += [percent(later(window[name]["oracle"])) for window in windows.values()]
        print(f"| {name} | {' | '.join(cells)} |")
    for ours in (OURS, ALONE):
        print(f"\n| {ours}: more than, in points | 7 days | 1 year | 3 years |\n|---|---|---|---|")
        for name in windows["7"]:
            if not name.startswith("learned"):
                cells = [
                    difference(later(window[ours]["recall"]), later(window[name]["recall"]))
                    for window in windows.values()
                ]
                print(f"| {name} | {' | '.join(cells)} |")


def print_details(windows):
    week, year = windows["7"], windows["365"]
    print("\n| 7 days | median author | at 0 | at 2 s | at 5 s | at 10 s | wasted dials | duplicates | 1 year, kept |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, measures in week.items():
        cells = [percent(later(measures[measure])) for measure in ("median", "zero", "at2", "at5", "at10")]
        mean, half = interval(later(measures["wasted"]))
        cells += [f"{mean:.1f} ± {half:.1f}", percent(later(measures["duplicates"]))]
        cells += [percent(later(year[name]["cumulative"]))]
        print(f"| {name} | {' | '.join(cells)} |")


def print_without_paging(folder):
    print("\n| without paging | 7 days | 1 year |\n|---|---|---|")
    week, year = read(folder, "7n"), read(folder, "365n")
    for name in week:
        if not name.startswith("learned"):
            print(f"| {name} | {percent(later(week[name]['recall']))} | {percent(later(year[name]['recall']))} |")


def text(x, y, words, size=12, anchor="start", colour="#222"):
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" text-anchor="{anchor}" fill="{colour}">'
        f"{words.replace('&', '&amp;')}</text>"
    )


def save(name, width, height, parts):
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif">'
        f'<rect width="{width}" height="{height}" fill="#fff"/>'
    )
    (ROOT / "docs" / name).write_text("\n".join([head, *parts, "</svg>"]) + "\n")


def draw_recall(windows):
    names = list(windows["7"])
    left, top, step, width = 190, 50, 46, 860
    scale = (width - left - 30) / 100
    parts = [text(left, 22, "Recall, % of what relays hold (bars: 95 % of the mean)", 14)]
    for number, label in enumerate(["7 days", "1 year", "3 years"]):
        parts.append(f'<rect x="{left + 90 * number}" y="30" width="10" height="10" fill="{COLOURS[number]}"/>')
        parts.append(text(left + 90 * number + 14, 39, label, 11))
    for row, name in enumerate(names):
        y = top + row * step
        parts.append(text(left - 8, y + 24, name, 12, "end"))
        for number, window in enumerate(windows.values()):
            mean, half = interval(later(window[name]["recall"]))
            bar = y + 4 + 13 * number
            parts.append(
                f'<rect x="{left}" y="{bar}" width="{100 * mean * scale:.1f}" height="11" fill="{COLOURS[number]}"/>'
            )
            low, high = left + 100 * (mean - half) * scale, left + 100 * (mean + half) * scale
            parts.append(f'<path d="M{low:.1f} {bar + 5.5}H{high:.1f}" stroke="#000"/>')
            parts.append(text(high + 4, bar + 10, f"{100 * mean:.0f}", 10))
    save("outbox-recall.svg", width, top + step * len(names) + 10, parts)


def draw_learning(week):
    shown = [OURS, "learned, no census", "learned, 20 and census", ALONE, "direct", "Welshman + Thompson"]
    left, top, width, height, low = 60, 40, 760, 330, 0.80
    parts = [text(left, 22, "Share of the near-oracle by session, %, window of 7 days", 14)]

    def place(session, share):
        return left + session * 62, top + (1 - share) / (1 - low) * height

    for share in (0.8, 0.85, 0.9, 0.95, 0.97, 1.0):
        y = place(0, share)[1]
        parts.append(f'<path d="M{left} {y:.1f}H{left + 434}" stroke="#ccc"/>')
        parts.append(text(left - 6, y + 4, f"{100 * share:.0f}", 11, "end"))
    for number, name in enumerate(shown):
        sessions = list(zip(*week[name]["oracle"].values(), strict=True))
        points = [place(session, statistics.fmean(values)) for session, values in enumerate(sessions)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[number]}" stroke-width="2"/>')
        parts.append(f'<rect x="520" y="{top + 22 * number}" width="14" height="4" fill="{COLOURS[number]}"/>')
        parts.append(text(540, top + 22 * number + 6, name, 12))
    for session in range(8):
        parts.append(text(place(session, low)[0], top + height + 16, str(session + 1), 11, "middle"))
    save("outbox-learning.svg", width, top + height + 30, parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=24)
    parser.add_argument("--saved", type=pathlib.Path)
    arguments = parser.parse_args()
    folder = arguments.saved or RESULTS
    if not arguments.saved:
        RESULTS.mkdir(parents=True, exist_ok=True)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda name: run(name, arguments.seeds), RUNS))
    windows = {name: read(folder, name) for name in ("7", "365", "1095")}
    print_gate(folder)
    print_windows(windows)
    print_details(windows)
    print_without_paging(folder)
    print("\n| follows, relays | mode | full choice, ms | slowest, ms | one list, ms | of a full choice, % |")
    print("|---|---|---|---|---|---|")
    for line in (folder / "time.txt").read_text().splitlines():
        _, follows, relays, mode, *times = line.split("\t")
        print(f"| {follows}, {relays} | {mode} | {' | '.join(f'{float(time):.4g}' for time in times)} |")
    draw_recall(windows)
    draw_learning(windows["7"])


if __name__ == "__main__":
    main()
