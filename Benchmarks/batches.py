"""What signatures of 100 authors cost in batches, beside a plain loop in C over libsecp256k1 with keys kept; and a plot
of it, docs/batch-verification.svg."""

import json
import math
import statistics
import subprocess

import events
import measure

AIMED = ["16", "64", "256", "1024"]
PLOT = measure.ROOT / "docs" / "batch-verification.svg"
LEFT, TOP, WIDTH, HEIGHT = 70, 40, 560, 300
COLOURS = {"keys known": "#1f77b4", "keys new": "#ff7f0e", "loop in C": "#555"}


def run(rounds):
    """One process of ours and one in C in each round, in turn."""
    ours, plain = [], []
    for _ in range(rounds):
        ours.append(json.loads(output(measure.PRODUCTS / "batch-bench")))
        plain += json.loads(output(measure.YARDSTICKS / "verify", events.EVENTS, "1"))["verifyParsed"]
    loop = [1e9 / value for value in plain]
    rates = {name: {size: [1e9 / answer[key][size] for answer in ours] for size in ours[0][key]}
             for name, key in (("keys known", "known"), ("keys new", "new"))}
    for size in AIMED:
        yield measure.result(f"batch-{size}", "loop in C, keys parsed", "signatures/s", loop)
        for name, sizes in rates.items():
            yield measure.result(f"batch-{size}", name, "signatures/s", sizes[size])
    for program, key in (("two threads", "twoThreads"), ("one thread", "oneThread")):
        yield measure.result("batch-two", program, "signatures/s", [1e9 / answer[key] for answer in ours])
    draw(rates, statistics.median(loop))


def output(*command):
    """What a command prints."""
    return subprocess.run(command, check=True, capture_output=True).stdout


def draw(rates, loop):
    """Writes the plot: signatures a second over the size of a batch."""
    medians = {name: {int(size): statistics.median(values) for size, values in sizes.items()}
               for name, sizes in rates.items()}
    sizes = list(medians["keys known"])
    step = 10_000
    highest = step * math.ceil(max(max(line.values()) for line in medians.values()) / step)

    def place(size, rate):
        across = math.log2(size / sizes[0]) / math.log2(sizes[-1] / sizes[0])
        return f"{LEFT + across * WIDTH:.1f}", f"{TOP + (1 - rate / highest) * HEIGHT:.1f}"

    parts = [words(LEFT, 22, "Signatures verified a second on one core, by the size of a batch; 100 authors", "start")]
    for rate in range(0, highest + 1, 2 * step):
        y = place(sizes[0], rate)[1]
        parts.append(f'<path d="M{LEFT} {y}H{LEFT + WIDTH}" stroke="#ddd"/>')
        parts.append(words(LEFT - 6, float(y) + 4, f"{rate:,}", "end"))
    parts += [words(place(size, 0)[0], TOP + HEIGHT + 18, f"{size:,}", "middle") for size in sizes]
    lines = medians | {"loop in C": dict.fromkeys(sizes, loop)}
    for number, (name, line) in enumerate(lines.items()):
        points = " ".join(",".join(place(size, rate)) for size, rate in line.items())
        parts.append(f'<polyline points="{points}" fill="none" stroke="{COLOURS[name]}" stroke-width="2"/>')
        y = TOP + 10 + 20 * number
        parts.append(f'<rect x="{LEFT + 20}" y="{y}" width="14" height="4" fill="{COLOURS[name]}"/>')
        label = "libsecp256k1 in C, one by one" if name == "loop in C" else f"batches, {name}"
        parts.append(words(LEFT + 40, y + 6, label, "start"))
    width, height = LEFT + WIDTH + 30, TOP + HEIGHT + 30
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">'
            f'<rect width="{width}" height="{height}" fill="#fff"/>')
    PLOT.write_text("\n".join([head, *parts, "</svg>"]) + "\n", encoding="utf-8")


def words(x, y, text, anchor):
    """A text at a place."""
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="#222">{text}</text>'
