#!/usr/bin/env python3
"""From kill -9 of a child to its replacement running, for the supervisors people know.

    python3 Benchmarks/restart.py [--rounds 20] [--only NAME]

The child is a small C program that sends "PID NANOSECONDS" as its first act, so both ends of the interval are on the same
monotonic clock and no interpreter's start is in it. Before each kill the child is left alone for 1.2 to 6.2 seconds, a
different time each round: supervisors look around in turns, the longest of which is circus's five seconds, and a wait that
varies less than that would meet one part of the turn again and again. Each supervisor runs with its defaults, and circus
also with a turn of one second.

Prints one line of JSON for each supervisor. A supervisor that is not installed is named on standard error and left out.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time

import measure

SETTLE_SECONDS = (1.2, 6.2)
START_DEADLINE_SECONDS = 30
BIN = measure.ROOT / ".venv" / "bin"


def supervisord(folder, child):
    """Configuration and command of supervisord; `startsecs` stays at 1, its default."""
    config = folder / "supervisord.conf"
    config.write_text(
        f"[supervisord]\nnodaemon=true\nlogfile={folder}/log\npidfile={folder}/pid\nchildlogdir={folder}\n"
        f"[program:beacon]\ncommand={child}\nautorestart=true\n")
    return [BIN / "supervisord", "-c", config]


def circus(check_delay):
    """Configuration and command of circusd with one `check_delay`."""
    def prepare(folder, child):
        config = folder / "circus.ini"
        delay = f"check_delay = {check_delay}\n" if check_delay else ""
        config.write_text(
            f"[circus]\n{delay}endpoint = ipc://{folder}/c\npubsub_endpoint = ipc://{folder}/p\n"
            f"[watcher:beacon]\ncmd = {child}\nnumprocesses = 1\nmax_retry = -1\n")
        return [BIN / "circusd", config]
    return prepare


SUPERVISORS = {
    "supervisord 4.3.0": supervisord,
    "circus 0.19.0": circus(None),
    "circus 0.19.0, check_delay 1": circus(1),
}


@contextlib.contextmanager
def beacon_socket(folder):
    """Where children report; the folder's path must be short, a socket's name has 107 bytes."""
    with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as inbox:
        inbox.bind(str(folder / "b"))
        inbox.settimeout(START_DEADLINE_SECONDS)
        yield inbox


def receive(inbox):
    """Pid and start of the next child that reports."""
    pid, nanoseconds = inbox.recv(64).split()
    return int(pid), int(nanoseconds)


def measure_restarts(prepare, rounds, generator):
    """Milliseconds from the kill to the replacement's first act, one for each round; and the idle manager's memory."""
    with tempfile.TemporaryDirectory(prefix="rr-") as name:
        folder = pathlib.Path(name)
        with beacon_socket(folder) as inbox:
            command = prepare(folder, f"{measure.YARDSTICKS / 'beacon'} {folder / 'b'}")
            manager = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder,
                start_new_session=True)
            try:
                pid, _ = receive(inbox)
                times = []
                for _ in range(rounds):
                    time.sleep(generator.uniform(*SETTLE_SECONDS))
                    killed = time.monotonic_ns()
                    os.kill(pid, signal.SIGKILL)
                    pid, started = receive(inbox)
                    times.append((started - killed) / 1e6)
                return times, measure.resident_kilobytes(manager.pid)
            finally:
                stop(manager)


def stop(manager):
    """Ends a manager for certain, with whatever it started in its session; the child dies with its parent anyway."""
    manager.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        manager.wait(timeout=5)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(manager.pid, signal.SIGKILL)
    manager.wait()


def run(rounds, only=None, seed=None):
    """Results of every installed supervisor."""
    seed = random.randrange(1 << 32) if seed is None else seed
    results = []
    for name, prepare in SUPERVISORS.items():
        if only and only not in name:
            continue
        program = BIN / ("supervisord" if name.startswith("supervisord") else "circusd")
        if not program.exists():
            print(f"skipped: {name}: not in .venv (Scripts/python-environment.sh)", file=sys.stderr)
            continue
        times, memory = measure_restarts(prepare, rounds, random.Random(seed))
        results.append(measure.result("restart", name, "ms", times, seed=seed))
        results.append(measure.result("manager-memory", name, "KiB", [memory]))
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--only", help="measure supervisors whose name contains this")
    parser.add_argument("--seed", type=int)
    options = parser.parse_args()
    measure.build_yardsticks()
    for line in run(options.rounds, options.only, options.seed):
        print(json.dumps(line))


if __name__ == "__main__":
    main()
