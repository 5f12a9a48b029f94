"""From a relay to an application, through every process: how many stored events a second, verified and kept; and what
many open connections cost while nothing happens.

    canned relay ─ WebSocket ─▶ relay-connector ─▶ roostd ─▶ event-store ─▶ roostd ─▶ an application that observes

Both sides ask the same relay of ours (yardsticks/canned.c), which says prepared frames as fast as it is read. The time
is that from the planner's wish until the application has the last event. The yardstick is nostr-sdk, in its Python
package: from the request until the list is in memory, verified and kept nowhere.

On a machine with other work several processes get a larger share than one. So processor time is told beside the clock;
there is more of it on our side by design, since an event is copied by roostd twice, stored and indexed.
"""

import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import bus
import events
import gate
import idle
import measure
import roostd

COUNT = 20_000
CONNECTIONS = 100
PING_SECONDS = 50  # each connection is pinged after 45 s of silence: once in this time
PYTHON = measure.ROOT / ".venv" / "bin" / "python3"
YARDSTICK = "nostr-sdk 0.45.1"
PLANNER = """
[worker.outbox-planner]
role = "outbox-planner"
enabled = false
"""
OTHERS = ("signer", "outbox-planner")  # that rest with store and connector, as far as they are built


def connector(urls):
    """The settings of a connector with these relays."""
    return f'\n[worker.relay-connector]\nrole = "relay-connector"\nrelays = {json.dumps(urls)}\n'


@contextlib.contextmanager
def canned(path, *options):
    """The relay with the events of a file; its URL."""
    process = subprocess.Popen([measure.YARDSTICKS / "canned", path, *options], stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.communicate()


def wait_for_relays(client, count):
    """Waits until so many relays are connected."""
    deadline = time.monotonic() + 30
    while sum(relay["state"] == "open" for relay in client.call("relay.list")["relays"]) < count:
        if time.monotonic() > deadline:
            raise RuntimeError("the relays were not connected in time")
        time.sleep(0.05)


def attached(daemon, client):
    """The planner, played by this process."""
    token = client.call("supervisor.attach", role="outbox-planner", name="outbox-planner")["token"]
    return bus.connected(daemon.socket, role="outbox-planner", name="outbox-planner", token=token)


def passed(url):
    """Seconds from the wish until the application has everything, and processor seconds of roostd and its workers."""
    workers = ("event-store", "relay-connector")
    with roostd.running(gate.WORKER + connector([url]) + PLANNER) as daemon, bus.connected(daemon.socket) as client:
        for worker in workers:
            client.wait_for_ready(worker)
        wait_for_relays(client, 1)
        pids = [daemon.pid, *(roostd.child_named(daemon.pid, worker) for worker in workers)]
        command = [measure.YARDSTICKS / "observe", '{"kinds":[1]}', str(COUNT), daemon.socket]
        with attached(daemon, client) as planner, subprocess.Popen(
                command, stdout=subprocess.PIPE, text=True) as application:
            if application.stdout.readline() != "ready\n":
                raise RuntimeError("the application does not observe")
            before = sum(map(measure.cpu_seconds, pids))
            start = time.monotonic_ns()
            planner.call("relay.desire", generation=1, version=1, removed=[], changed=[
                {"key": "bench", "relay": url, "filters": [{"kinds": [1]}], "isLive": True}])
            end = int(application.communicate(timeout=60)[0])
        used = sum(map(measure.cpu_seconds, pids)) - before
        stored = client.call("store.count", filters=[{"kinds": [1]}])["count"]
        if stored != COUNT:
            raise RuntimeError(f"{stored} events were stored, not {COUNT}")
        return (end - start) / 1e9, used


def fetched(url):
    """Seconds until nostr-sdk has everything in memory, and its processor seconds."""
    command = [PYTHON, measure.ROOT / "Benchmarks" / "yardsticks" / "fetch.py", url, str(COUNT)]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True, timeout=120).stdout)
    return answer["seconds"], answer["cpuSeconds"]


def has_sdk():
    """Whether the yardstick is installed."""
    command = [PYTHON, "-c", "import nostr_sdk"]
    return PYTHON.exists() and subprocess.run(command, capture_output=True, check=False).returncode == 0


def compared(url, signed, rounds):
    """Ours, nostr-sdk and bare signatures in turn."""
    sides = {"roostd and workers": lambda: passed(url)}
    if has_sdk():
        sides[YARDSTICK] = lambda: fetched(url)
    else:
        print(f"skipped: {YARDSTICK}: not in .venv (Scripts/python-environment.sh)", file=sys.stderr)
    times, in_c = {name: [] for name in sides}, []
    for _ in range(rounds):
        in_c.append(gate.verify_on_two_cores(signed))
        for name, side in sides.items():
            times[name].append(side())
    for name, found in times.items():
        yield measure.result("relay-to-application", name, "events/s", [COUNT / seconds for seconds, _ in found])
        yield measure.result("relay-to-application-cpu", name, "events/CPU s", [COUNT / used for _, used in found])
    yield measure.result("relay-to-application", "signatures in C, two cores", "events/s", in_c)


@contextlib.contextmanager
def resting(urls):
    """The whole system, connected with these relays: its processes by name."""
    others = [name for name in OTHERS if (measure.PRODUCTS / name).exists()]
    settings = "".join(f'\n[worker.{name}]\nrole = "{name}"\n' for name in others)
    with roostd.running(gate.WORKER + connector(urls) + settings) as daemon, bus.connected(daemon.socket) as client:
        names = ("event-store", "relay-connector", *others)
        for name in names:
            client.wait_for_ready(name)
        wait_for_relays(client, len(urls))
        yield {"roostd": daemon.pid, **{name: roostd.child_named(daemon.pid, name) for name in names}}


def at_rest(url, seconds):
    """What many connections cost, idle; without one, for comparison, only memory is looked at."""
    urls = [f"{url}/{number}" for number in range(CONNECTIONS)]
    for program, relays, length in (("no relay", [], 0.1), ("100 relays", urls, max(seconds, PING_SECONDS))):
        with resting(relays) as family:
            found = list(idle.run([family], length))
        for entry in found:
            if entry["program"] == "relay-connector" and (relays or entry["figure"] != "idle-wakeups"):
                figure = entry["figure"].replace("idle", "connected")
                yield {**entry, "figure": figure, "program": program}
    whole = (("system-wakeups", "idle-wakeups", "/s"), ("system-memory", "idle-memory", "MB"),
             ("system-pss", "idle-pss", "MB"))
    for figure, of, unit in whole:
        yield measure.result(figure, "all processes", unit, [sum(e["median"] for e in found if e["figure"] == of)])


def run(rounds, idle_seconds):
    """All results."""
    with tempfile.TemporaryDirectory(prefix="roost-endtoend-") as name:
        signed = pathlib.Path(name) / "signed.jsonl"
        signed.write_bytes(b"\n".join(events.archive_bench("make", 0, COUNT)) + b"\n")
        with canned(signed) as url:
            yield from compared(url, signed, rounds)
            yield from at_rest(url, idle_seconds)
