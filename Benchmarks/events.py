"""What reading and verifying an event costs, beside JSONDecoder and a plain loop in C over the same library; and what
storing one costs in an empty archive and in a full one."""

import json
import pathlib
import subprocess
import tempfile

import measure

MEASURED, LOOKED = 20_000, 2_000
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
    one, two = ([1e9 / value for value in ours[name]] for name in ("verifyOne", "verifyTwo"))
    yield measure.result("verify-two", "two threads", "events/s", two)
    yield measure.result("verify-two", "one thread", "events/s", one)
    empty, full = [], []
    with tempfile.TemporaryDirectory(prefix="roost-bench-") as folder:
        large = pathlib.Path(folder) / "large.db"
        filled = json.loads(archive_bench("fill", large, stored)[-1])
        for number in range(rounds):
            for answers, database in ((empty, pathlib.Path(folder) / f"{number}.db"), (full, large)):
                answers.append(json.loads(archive_bench("store", database, MEASURED)[-1])["cpuMicroseconds"])
        looked = json.loads(archive_bench("look", large, LOOKED)[-1])
    yield measure.result("store-cpu", "full archive", "events/CPU s", [1e6 / value for value in full])
    yield measure.result("store-cpu", "empty archive", "events/CPU s", [1e6 / value for value in empty])
    yield measure.result("index-cpu", "words", "µs of CPU an event", [filled["indexMicroseconds"]])
    yield measure.result("lookup", "in memory", "µs", [measure.percentile(looked["recent"], 0.99)])
    yield measure.result("lookup", "from the database", "µs", [measure.percentile(looked["old"], 0.99)])
    yield measure.result("words", "archive", "µs", [measure.percentile(looked["words"], 0.5)])


def archive_bench(*arguments):
    """The output of archive-bench, in lines."""
    command = [measure.PRODUCTS / "archive-bench", *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True).stdout.splitlines()
