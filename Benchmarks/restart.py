"""From kill -9 of a child to its replacement, for roostd and for the supervisors people
know; what each costs while idle.

roostd's child is a relay-connector without relays, a real worker in Swift, and its replacement counts once a client of
the bus is told that it takes work. The others' child is a small C program that sends "PID NANOSECONDS" as its first
act: they know nothing of READY. So ours is the longer way. Both ends of each interval are on the same monotonic clock.

Before each kill the child is left alone for 1.2 to 6.2 seconds, a different time each round: supervisors look around in
turns, the longest of which is circus's five seconds, and a wait that varies less than that would meet one part of
the turn again and again. All supervisors run at once, each killed in a thread of its own: they sleep nearly all the
time. Each has its defaults, and circus also runs with a turn of one second. A supervisor that is not installed is
named on standard error and left out.
"""

import concurrent.futures
import contextlib
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time

import bus
import idle
import measure
import roostd

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


class Ours:
    """roostd with one connector, seen by a client of its bus."""

    def __init__(self, daemon, client):
        self.pid = daemon.pid
        self.client = client
        self.endpoint = client.wait_for_ready("relay-connector")
        self.worker = roostd.child_named(daemon.pid, "relay-connector")

    def kill(self):
        """Milliseconds from the kill to READY."""
        killed = time.monotonic_ns()
        os.kill(self.worker, signal.SIGKILL)
        self.endpoint = self.client.wait_for_ready("relay-connector", other_than=self.endpoint)
        ready = time.monotonic_ns()
        self.worker = roostd.child_named(self.pid, "relay-connector")
        return (ready - killed) / 1e6


class Other:
    """Another supervisor with one beacon."""

    def __init__(self, manager, inbox):
        self.pid = manager.pid
        self.inbox = inbox
        self.worker, _ = self.receive()

    def receive(self):
        """Pid and start of the next child that reports."""
        pid, nanoseconds = self.inbox.recv(64).split()
        return int(pid), int(nanoseconds)

    def kill(self):
        """Milliseconds from the kill to the replacement's first act."""
        killed = time.monotonic_ns()
        os.kill(self.worker, signal.SIGKILL)
        self.worker, started = self.receive()
        return (started - killed) / 1e6


@contextlib.contextmanager
def beacon_socket(folder):
    """Where children report; the folder's path must be short, a socket's name has 107 bytes."""
    with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as inbox:
        inbox.bind(str(folder / "b"))
        inbox.settimeout(START_DEADLINE_SECONDS)
        yield inbox


def stop(manager):
    """Ends a manager for certain, with whatever it started in its session; the child dies with its parent anyway."""
    manager.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        manager.wait(timeout=5)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(manager.pid, signal.SIGKILL)
    manager.wait()


@contextlib.contextmanager
def other(prepare):
    """A running supervisor of others."""
    with tempfile.TemporaryDirectory(prefix="rr-") as name, contextlib.ExitStack() as stack:
        folder = pathlib.Path(name)
        inbox = stack.enter_context(beacon_socket(folder))
        manager = subprocess.Popen(
            prepare(folder, f"{measure.YARDSTICKS / 'beacon'} {folder / 'b'}"), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder, start_new_session=True)
        stack.callback(stop, manager)
        yield Other(manager, inbox)


@contextlib.contextmanager
def everyone():
    """All that is installed, by name, running and with a child each."""
    with contextlib.ExitStack() as stack:
        daemon = stack.enter_context(roostd.running(roostd.WORKER))
        supervisors = {"roostd": Ours(daemon, stack.enter_context(bus.connected(daemon.socket)))}
        for name, prepare in SUPERVISORS.items():
            if not (BIN / ("supervisord" if name.startswith("supervisord") else "circusd")).exists():
                print(f"skipped: {name}: not in .venv (Scripts/python-environment.sh)", file=sys.stderr)
                continue
            supervisors[name] = stack.enter_context(other(prepare))
        yield supervisors


def kill_repeatedly(supervisor, rounds, generator):
    """One time in milliseconds for each round."""
    times = []
    for _ in range(rounds):
        time.sleep(generator.uniform(*SETTLE_SECONDS))
        times.append(supervisor.kill())
    return times


def run(rounds, idle_seconds, seed=None):
    """Results of every supervisor: idle first, all together, then the restarts."""
    seed = random.randrange(1 << 32) if seed is None else seed
    with everyone() as supervisors, concurrent.futures.ThreadPoolExecutor(len(supervisors)) as pool:
        families = [{name: supervisor.pid} for name, supervisor in supervisors.items()]
        families[0]["relay-connector"] = supervisors["roostd"].worker
        yield from idle.run(families, idle_seconds)
        futures = {name: pool.submit(kill_repeatedly, supervisor, rounds, random.Random(seed))
                   for name, supervisor in supervisors.items()}
        for name, future in futures.items():
            yield measure.result("restart", name, "ms", future.result(), seed=seed)
