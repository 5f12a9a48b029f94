"""What an await costs on the loop's executor, beside the same program on Swift's default one."""

import json
import subprocess

import measure


def run(rounds):
    """Both in each round, which is one process."""
    loop, pool = [], []
    for _ in range(rounds):
        answer = json.loads(subprocess.run([measure.PRODUCTS / "loop-bench"], check=True, capture_output=True).stdout)
        loop.append(answer["loopNanoseconds"])
        pool.append(answer["poolNanoseconds"])
    yield measure.result("await", "EventLoop", "ns", loop)
    yield measure.result("await", "default actor", "ns", pool)
