"""The hub: frames a second from one client to another, by wall clock and by the hub's own processor time; the round trip."""

import contextlib
import json
import pathlib
import subprocess
import tempfile
import time

import measure

PAYLOAD_BYTES = 700  # a small Nostr event with its frame


@contextlib.contextmanager
def yardstick_hub():
    """The hub in C: its pid and its socket."""
    with tempfile.TemporaryDirectory(prefix="roost-hub-") as folder:
        socket = pathlib.Path(folder) / "hub.sock"
        process = subprocess.Popen([measure.YARDSTICKS / "hub", socket])
        try:
            deadline = time.monotonic() + 5
            while not socket.exists():
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError("the hub in C did not start")
                time.sleep(0.01)
            yield process.pid, socket
        finally:
            process.terminate()
            process.wait()


def tool(name, *arguments):
    """The line of JSON that a program of yardsticks/ prints."""
    run = subprocess.run([measure.YARDSTICKS / name, *map(str, arguments)], check=True, capture_output=True, text=True)
    return json.loads(run.stdout)


def throughput_round(pid, socket, seconds):
    """Frames a second: by wall clock, and by the processor time of the hub."""
    before = measure.cpu_seconds(pid)
    answer = tool("flood", "--payload", PAYLOAD_BYTES, "--seconds", seconds, socket)
    used = measure.cpu_seconds(pid) - before
    # The first tenth of a second is work too, though flood does not count it.
    per_second = answer["framesPerSecond"]
    share = min(used / (answer["seconds"] + 0.1), 1)
    return per_second, per_second / share


def run(rounds, seconds):
    """Results of every program, its rounds interleaved with those of the others."""
    wall, processor, median, high = [], [], [], []
    with yardstick_hub() as (pid, socket):
        for _ in range(rounds):
            by_wall, by_processor = throughput_round(pid, socket, seconds)
            wall.append(by_wall)
            processor.append(by_processor)
            answer = tool("pingpong", "--payload", PAYLOAD_BYTES)
            median.append(answer["p50Microseconds"])
            high.append(answer["p99Microseconds"])
    return [
        measure.result("hub-throughput", "hub in C", "frames/s", wall, payloadBytes=PAYLOAD_BYTES),
        measure.result("hub-throughput-cpu", "hub in C", "frames/CPU s", processor, payloadBytes=PAYLOAD_BYTES),
        measure.result("round-trip-p50", "blocking C", "µs", median, payloadBytes=PAYLOAD_BYTES),
        measure.result("round-trip-p99", "blocking C", "µs", high, payloadBytes=PAYLOAD_BYTES),
    ]
