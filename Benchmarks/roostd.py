"""A roostd of release build, in a folder of its own, for the length of a measurement."""

import contextlib
import os
import pathlib
import socket as sockets
import subprocess
import tempfile
import time

import bus
import measure

# Restarts come every few seconds here, and each worker is well before it is killed: neither the doubling of the wait
# nor the breaker is what is measured. The first wait stays at its default.
WORKER = """
[worker.relay-connector]
role = "relay-connector"
relays = []
stable-after = "100ms"
breaker-restarts = 1000
breaker-window = "24h"
"""
ROLE = """
[role.bench]
serves = ["bench.*"]
may-call = ["bench.*"]
callable-by = ["client"]
"""


class Daemon:
    """A running roostd: its process and its socket."""

    def __init__(self, process, socket):
        self.process = process
        self.socket = socket
        self.pid = process.pid

    def token(self):
        """A one-time token for a worker of role `bench`."""
        with bus.connected(self.socket) as client:
            return client.call("supervisor.attach", role="bench", name="bench")["token"]

    def environment(self):
        """The environment of a load that attaches one worker."""
        return {**os.environ, "ROOST_TOKEN": self.token()}


def child_named(parent, name):
    """The pid of the child whose program has this name; waits for it."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                before, after = stat.read_text().rsplit(")", 1)
                if int(after.split()[1]) == parent and before.split("(", 1)[1] == name[:15]:
                    return int(stat.parent.name)
        time.sleep(0.01)
    raise RuntimeError(f"no child of {parent} is called {name}")


def is_listening(path):
    """Whether a socket takes connections; it has its name a moment before."""
    with contextlib.closing(sockets.socket(sockets.AF_UNIX)) as probe:
        return probe.connect_ex(str(path)) == 0


@contextlib.contextmanager
def running(workers="", state=None):
    """roostd with the role `bench` and these workers; `state` is a directory that outlives it."""
    with tempfile.TemporaryDirectory(prefix="roost-bench-") as name:
        folder = pathlib.Path(name)
        config = folder / "supervisor.conf"
        settings = f'program-directories = ["{measure.PRODUCTS}"]\nstate-directory = "{state or folder / "state"}"\n'
        config.write_text(f"[supervisor]\n{settings}{ROLE}{workers}")
        config.chmod(0o600)
        with (folder / "output").open("wb") as output:
            process = subprocess.Popen(
                [measure.PRODUCTS / "roostd", "--config", config], stdin=subprocess.DEVNULL, stdout=output,
                stderr=output, cwd=folder)
        try:
            socket = folder / "run" / "roost.sock"
            deadline = time.monotonic() + 10
            while not is_listening(socket):
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"roostd did not start: {(folder / 'output').read_text()}")
                time.sleep(0.01)
            yield Daemon(process, socket)
        finally:
            process.terminate()
            process.wait(timeout=30)
