"""Jobs (NIP-90): how long one takes from its submission until the submitter has the result, with everything on this
machine; how long the tracker takes to be where it was with ten thousand jobs under way; how many answers of providers a
second go through its machine and its ledger, each on disk.

The yardstick is nostr-dvm as the provider: an ordinary client of the local relay, asked by the same tracker.
"""

import contextlib
import itertools
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time

import bus
import endtoend
import measure
import roostd

WORKERS = """
[worker.event-store]
role = "event-store"

[worker.signer]
role = "signer"

[worker.outbox-planner]
role = "outbox-planner"

[worker.local-relay]
role = "local-relay"
listen = ["127.0.0.1:{port}"]

[worker.dvm-tracker]
role = "dvm-tracker"

[worker.dvm-provider]
role = "dvm-provider"
"""
OURS, YARDSTICK = "dvm-tracker and dvm-provider", "nostr-dvm 1.1.8"
NOSTR_DVM_PYTHON = measure.ROOT / ".venv-nostr-dvm" / "bin" / "python3"
JOBS, OPEN = 50, 10_000
ENDS = ("delivered", "settled", "failed", "expired", "cancelled")


@contextlib.contextmanager
def running():
    """A client of a roostd that has all that jobs need, and the URL of its relay."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with roostd.running(WORKERS.format(port=port)) as daemon, bus.connected(daemon.socket) as client:
        for worker in ("event-store", "signer", "outbox-planner", "local-relay", "dvm-tracker", "dvm-provider"):
            client.wait_for_ready(worker)
        yield client, f"ws://127.0.0.1:{port}"


@contextlib.contextmanager
def nostr_dvm(url):
    """nostr-dvm with one task, at this relay: its key."""
    script = measure.ROOT / "Tests" / "Peers" / "nostr_dvm_peer.py"
    with tempfile.TemporaryDirectory(prefix="nostr-dvm-") as folder, subprocess.Popen(
            [NOSTR_DVM_PYTHON, script, url, folder, "plain"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True) as process:
        try:
            key = next(line for line in process.stdout if line.startswith("provider ")).split()[1]
            # It prints what it does; a full pipe would stop it.
            threading.Thread(target=process.stdout.read, daemon=True).start()
            yield key
        finally:
            process.stdin.close()
            process.kill()


def milliseconds(client, wanted):
    """How long one job takes until its result is here."""
    start = time.perf_counter()
    job = client.call("job.submit", **wanted)
    number = client.ask("job.follow", {"job": job["id"]})
    while True:
        kind, flags, answered, payload = client.next()
        if kind in (bus.ERROR, bus.FATAL):
            raise RuntimeError(payload.decode())
        if kind != bus.RESPONSE or answered != number:
            continue
        told = json.loads(payload or "null")
        if told and told.get("state") in ENDS:
            if "result" not in told:
                raise RuntimeError(f"a job of kind {wanted['kind']} is {told['state']}: {told.get('reason')}")
            taken = 1000 * (time.perf_counter() - start)
            while flags & bus.MORE:
                kind, flags, answered, _ = client.next()
            return taken


def results(rounds):
    """From the submission to the result, ours and the yardstick in turn."""
    numbers = itertools.count()

    def job(kind, *params, **more):
        """A job like no other: of two requests with the same words in one second one is dated back."""
        number = str(next(numbers))
        return {"kind": kind, "params": [*params, ["number", number]], "key": number, **more}

    found = {OURS: []}
    with contextlib.ExitStack() as stack:
        client, url = stack.enter_context(running())
        kinds = {OURS: lambda: job(5302, ["search", "nostr"])}
        if NOSTR_DVM_PYTHON.exists() and endtoend.has_sdk():
            key = stack.enter_context(nostr_dvm(url))
            kinds[YARDSTICK] = lambda: job(
                5050, ["lang", "en"], inputs=[{"data": "what is the time?", "type": "text"}], providers=[key],
                reach="local")
            found[YARDSTICK] = []
        else:
            print(f"skipped: {YARDSTICK}: not installed (Scripts/python-environment.sh)", file=sys.stderr)
        for make in kinds.values():
            milliseconds(client, make())  # the accounts are made
        for _ in range(rounds):
            for name, make in kinds.items():
                times = [milliseconds(client, make()) for _ in range(JOBS)]
                found[name].append(measure.percentile(times, 0.5))
    for name, times in found.items():
        yield measure.result("job", name, "ms", times)


def ledger(rounds):
    """What the tracker's machine and ledger take, without processes."""
    restored, answers = [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="roost-jobs-") as folder:
            command = [pathlib.Path(measure.PRODUCTS) / "job-bench", folder, str(OPEN)]
            told = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=300).stdout)
        restored.append(told["restore_ms"])
        answers.append(told["answers_per_s"])
    yield measure.result("jobs-restored", "dvm-tracker", "ms", restored)
    yield measure.result("job-answers", "dvm-tracker", "events/s", answers)


def run(rounds):
    """All results."""
    yield from results(rounds)
    yield from ledger(min(rounds, 3))
