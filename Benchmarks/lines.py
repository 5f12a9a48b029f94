"""Small calls by lines of JSON: the client for Python (clients/python) over `roost bus`, beside the same calls by the
same language over the socket (bus.py), one after the other: a question that the store answers, as programs have them,
and one that roostd answers itself, so that all of the difference is the way."""

import sys
import time

import bus
import gate
import measure
import roostd

COUNT = 10_000
WANTED = {"filters": [{"ids": ["0" * 64]}]}

sys.path.insert(0, str(measure.ROOT / "clients" / "python"))
import roost  # noqa: E402


def rate(call):
    """Calls a second."""
    call()
    begin = time.monotonic()
    for _ in range(COUNT):
        call()
    return COUNT / (time.monotonic() - begin)


def run(rounds):
    """The results of both ways, for both questions."""
    rates = {}
    with roostd.running(gate.WORKER) as daemon, bus.connected(daemon.socket) as frames:
        frames.wait_for_ready("event-store")
        program = str(measure.PRODUCTS / "roost")
        with roost.Roost("benchmarks", socket=str(daemon.socket), program=program) as lines:
            ways = {
                ("calls-by-lines", "roost bus"): lambda: lines.store.count(**WANTED),
                ("calls-by-lines", "frames, in Python"): lambda: frames.call("store.count", **WANTED),
                ("calls-by-lines-roostd", "roost bus"): lines.supervisor.version,
                ("calls-by-lines-roostd", "frames, in Python"): lambda: frames.call("supervisor.version"),
            }
            for _ in range(rounds):
                for way, call in ways.items():
                    rates.setdefault(way, []).append(rate(call))
    return [measure.result(figure, program, "calls/s", values) for (figure, program), values in rates.items()]
