"""Small calls by lines of JSON: the client for Python (clients/python) over `roost bus`, beside the same calls by the
same language over the socket (bus.py). One call after the other, answered by roostd itself, so that all of the
difference is the way."""

import sys
import time

import bus
import measure
import roostd

COUNT = 10_000
METHOD = "supervisor.version"

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
    """The results of both ways."""
    by_lines, by_frames = [], []
    with roostd.running() as daemon:
        client = roost.Roost("benchmarks", socket=str(daemon.socket), program=str(measure.PRODUCTS / "roost"))
        with client, bus.connected(daemon.socket) as binary:
            for _ in range(rounds):
                by_lines.append(rate(client.supervisor.version))
                by_frames.append(rate(lambda: binary.call(METHOD)))
    return [measure.result("calls-by-lines", "roost bus", "calls/s", by_lines),
            measure.result("calls-by-lines", "frames, in Python", "calls/s", by_frames)]
