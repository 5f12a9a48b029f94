"""Reads a QR code out of what a terminal shows, by another library (zxing-cpp).

    qr_reader.py FILE [--light]

FILE is the text that was written to the terminal: half blocks, with or without colours of the palette of 256. Each
character is two pixels, one above the other. Without colours letters are light on a dark ground; with --light the other
way round, as on a terminal with a light ground. Lines without a block or a painted ground are left out.

Prints what the code says; exit 1 without one.
"""

import re
import sys

import zxingcpp

SCALE = 6
ESCAPE = re.compile("\x1b\\[([0-9;]*)m")


def grey(number):
    """How light a colour of the palette is, for the two that are used."""
    return {16: 0, 231: 255}[number]


def pixels(text, ink, ground):
    rows = []
    for line in text.replace("\r", "").split("\n"):
        if not any(mark in line for mark in ("█", "▀", "▄", "48;5;")):
            continue
        upper, lower, colours, place = [], [], (ink, ground), 0
        while place < len(line):
            found = ESCAPE.match(line, place)
            if found:
                numbers = [int(number or 0) for number in found.group(1).split(";")]
                if numbers == [0]:
                    colours = (ink, ground)
                elif numbers[:2] == [38, 5] and numbers[3:5] == [48, 5]:
                    colours = (grey(numbers[2]), grey(numbers[5]))
                place = found.end()
                continue
            front, back = colours
            upper.append(front if line[place] in "█▀" else back)
            lower.append(front if line[place] in "█▄" else back)
            place += 1
        rows += [upper, lower]
    return rows


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    rows = pixels(text, *((0, 255) if "--light" in sys.argv else (255, 0)))
    width = max(map(len, rows), default=0)
    if not width:
        return 1
    # Around the code is the ground of the terminal.
    edge = 0 if "--light" not in sys.argv else 255
    wide = [[edge] * (width + 8)] * 4 + [[edge] * 4 + row + [edge] * (width - len(row) + 4) for row in rows]
    wide += [[edge] * (width + 8)] * 4
    image = bytes(grey for row in wide for _ in range(SCALE) for grey in row for _ in range(SCALE))
    view = memoryview(image).cast("B", shape=[len(wide) * SCALE, (width + 8) * SCALE])
    found = zxingcpp.read_barcodes(view)
    for code in found:
        print(code.format.name, code.text)
    return 0 if found else 1


sys.exit(main())
