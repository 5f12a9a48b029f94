"""What a process costs while nothing happens: how often it wakes, and the memory that is its own.

Wake-ups are voluntary context switches of all its threads: a process that sleeps and is woken has switched once.

Memory is counted three ways. "Among its own": a process's private pages, and its part of the pages that it shares with
others of its family (roostd with its worker; every other manager alone), as if nobody else on the machine used the same
libraries. The kernel's PSS divides by all who do, so it flatters a Swift program on a developer's machine. Private:
what is given back when it ends.
"""

import collections
import contextlib
import pathlib
import time

import measure

SETTLE_SECONDS = 3


def voluntary_switches(pid):
    """Voluntary context switches of each thread of a process so far."""
    found = {}
    for status in pathlib.Path(f"/proc/{pid}/task").glob("*/status"):
        with contextlib.suppress(OSError):  # a thread may end
            for line in status.read_text().splitlines():
                if line.startswith("voluntary_ctxt_switches:"):
                    found[status.parent.name] = int(line.split()[1])
    return found


def mappings(pid):
    """What a process has mapped: path, and kilobytes that are private and that are shared with anybody."""
    path, private, shared, found = "", 0, 0, []
    for line in [*pathlib.Path(f"/proc/{pid}/smaps").read_text().splitlines(), "0-0 end"]:
        words = line.split()
        if words[0].endswith(":"):
            if words[0].startswith("Private_"):
                private += int(words[1])
            elif words[0].startswith("Shared_"):
                shared += int(words[1])
            continue
        found.append((path, private, shared))
        path, private, shared = words[5] if len(words) > 5 else "", 0, 0
    return found


def proportional_megabytes(pid):
    """The kernel's PSS."""
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1000
    return 0


def memory(family):
    """Megabytes of each process of a family (name → pid) by figure."""
    maps = {name: mappings(pid) for name, pid in family.items()}
    users = collections.Counter(path for found in maps.values() for path in {path for path, _, _ in found})
    for name, found in maps.items():
        yield name, "idle-memory", sum(private + shared / users[path] for path, private, shared in found) / 1000
        yield name, "idle-private", sum(private for _, private, _ in found) / 1000
        yield name, "idle-pss", proportional_megabytes(family[name])


def run(families, seconds):
    """Results for families of processes (name → pid), all over the same time."""
    pids = {name: pid for family in families for name, pid in family.items()}
    time.sleep(SETTLE_SECONDS)
    before = {name: voluntary_switches(pid) for name, pid in pids.items()}
    begin = time.monotonic()
    time.sleep(seconds)
    elapsed = time.monotonic() - begin
    for name, pid in pids.items():
        after = voluntary_switches(pid)
        rate = sum(count - before[name].get(thread, 0) for thread, count in after.items()) / elapsed
        yield measure.result("idle-wakeups", name, "/s", [rate], seconds=seconds)
    for family in families:
        for name, figure, megabytes in memory(family):
            yield measure.result(figure, name, "MB", [megabytes])
