"""What reading and verifying an event costs, beside JSONDecoder and a plain loop in C over the same library; and what
storing one costs in an empty archive and in a full one."""

import json
import shutil
import subprocess
import tempfile

import measure

EVENTS = measure.ROOT / "Tests" / "Peers" / "events.jsonl"


def run(rounds, stored):
    """One process of ours and one in C in each round, in turn."""
    ours, plain = {}, {}
    for _ in range(rounds):
        for answers, command in ((ours, [measure.PRODUCTS / "event-bench", EVENTS, "1"]),
                                 (plain, [measure.YARDSTICKS / "verify", EVENTS, "1"])):
            answer = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
            for name, values in answer.items():
                answers.setdefault(name, []).extend(values if isinstance(values, list) else [values])
    yield measure.result("scan", "ScannedEvent", "events/s", [1e9 / value for value in ours["scan"]])
    yield measure.result("scan", "JSONDecoder", "events/s", [1e9 / value for value in ours["decode"]])
    yield measure.result("identify", "EventVerifier", "events/s", [1e9 / value for value in ours["identify"]])
    yield measure.result("verify", "EventVerifier", "events/s", [1e9 / value for value in ours["verify"]])
    yield measure.result("verify", "loop in C", "events/s", [1e9 / value for value in plain["verify"]])
    parsed = [1e9 / value for value in plain["verifyParsed"]]
    yield measure.result("verify", "loop in C, keys parsed", "events/s", parsed)
    empty, full = [], []
    for rows, answers in ((0, empty), (stored, full)):
        folder = tempfile.mkdtemp(prefix="roost-bench-")
        try:
            output = subprocess.run([measure.PRODUCTS / "archive-bench", folder, str(rows), "20000"], check=True,
                                    capture_output=True, text=True).stdout
            answers.append(json.loads(output.splitlines()[-1])["cpuMicroseconds"])
        finally:
            shutil.rmtree(folder)
    yield measure.result("store-cpu", "full archive", "events/CPU s", [1e6 / value for value in full])
    yield measure.result("store-cpu", "empty archive", "events/CPU s", [1e6 / value for value in empty])
