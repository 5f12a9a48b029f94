"""The hub: frames and answered requests a second, by wall clock and by the hub's own
processor time; and the round trip.

The same load meets roostd and the hub in C in turn. roostd stands for a hub with a registry, access checks, credit and
redelivery; the one in C does none of that, so their ratio is the price of those.
"""

import contextlib
import json
import os
import pathlib
import subprocess
import tempfile
import time

import measure
import roostd

PAYLOAD_BYTES = 700  # a small Nostr event with its frame
WARM_UP_SECONDS = 0.1  # of each load: work too, though it is not counted


class Yardstick:
    """The hub in C, running."""

    def __init__(self, process, socket):
        self.pid = process.pid
        self.socket = socket

    def environment(self):
        """Nobody needs a token here."""
        return dict(os.environ)


@contextlib.contextmanager
def yardstick_hub():
    """The hub in C for the length of a block."""
    with tempfile.TemporaryDirectory(prefix="roost-hub-") as folder:
        socket = pathlib.Path(folder) / "hub.sock"
        process = subprocess.Popen([measure.YARDSTICKS / "hub", socket])
        try:
            deadline = time.monotonic() + 5
            while not socket.exists():
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError("the hub in C did not start")
                time.sleep(0.01)
            yield Yardstick(process, socket)
        finally:
            process.terminate()
            process.wait()


def tool(name, *arguments, environment=None):
    """The line of JSON that a program of yardsticks/ prints."""
    command = [measure.YARDSTICKS / name, *map(str, arguments)]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment, timeout=60, check=True)
    return json.loads(run.stdout)


def load(hub, name, *arguments):
    """A load's answer, and the share of one processor that the hub used for it."""
    flags = () if isinstance(hub, Yardstick) else ("--roostd",)
    environment = hub.environment()
    before = measure.cpu_seconds(hub.pid)
    answer = tool(name, *flags, "--payload", PAYLOAD_BYTES, *arguments, hub.socket, environment=environment)
    used = measure.cpu_seconds(hub.pid) - before
    return answer, min(used / (answer["seconds"] + WARM_UP_SECONDS), 1)


def hub_round(hub, seconds):
    """One round of everything a hub is asked: figure → value."""
    flood, flood_share = load(hub, "flood", "--seconds", seconds)
    ask, ask_share = load(hub, "ask", "--seconds", seconds)
    single, _ = load(hub, "ask", "--in-flight", 1, "--seconds", seconds)
    return {
        "hub-throughput": flood["framesPerSecond"],
        "hub-throughput-cpu": flood["framesPerSecond"] / flood_share,
        "hub-requests": ask["requestsPerSecond"],
        "hub-requests-cpu": ask["requestsPerSecond"] / ask_share,
        "round-trip-p50": single["p50Microseconds"],
        "round-trip-p99": single["p99Microseconds"],
    }


UNITS = {
    "hub-throughput": "frames/s", "hub-throughput-cpu": "frames/CPU s", "hub-requests": "requests/s",
    "hub-requests-cpu": "requests/CPU s", "round-trip-p50": "µs", "round-trip-p99": "µs",
}


def run(rounds, seconds):
    """Results of every program, its rounds interleaved with those of the others."""
    gathered = {}

    def note(program, values):
        for figure, value in values.items():
            gathered.setdefault((figure, program), []).append(value)

    with yardstick_hub() as yardstick, roostd.running() as daemon:
        for _ in range(rounds):
            note("hub in C", hub_round(yardstick, seconds))
            note("roostd", hub_round(daemon, seconds))
            blocking = tool("pingpong", "--payload", PAYLOAD_BYTES)
            note("blocking C", {"round-trip-p50": blocking["p50Microseconds"],
                                "round-trip-p99": blocking["p99Microseconds"]})
    for (figure, program), values in gathered.items():
        yield measure.result(figure, program, UNITS[figure], values, payloadBytes=PAYLOAD_BYTES)
