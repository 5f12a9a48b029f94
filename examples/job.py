#!/usr/bin/env python3
"""Has Roost do a job and prints its result; without arguments the first of these.

    job.py 5302 --param search=hello
    job.py 5050 --input 'text=Why is the sky blue?' --provider npub1… --bid 5000

What is submitted goes on without this program; started again with the same --key it gets the same job.
Whose job it is says --as; it has to where this machine has several accounts, which 'roost key list' shows.
The socket is $ROOST_SOCKET. Standard library, and client.py beside this file."""
import argparse, json, os, re, sys, time, uuid

sys.dont_write_bytecode = True  # nothing of the next line is left beside the examples
from client import Refused, Roost

def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    pair = lambda text: text.split("=", 1) if "=" in text else parser.error(f"{text!r} is no NAME=VALUE")
    several = {"type": pair, "action": "append", "default": []}
    parser.add_argument("kind", type=int, help="5000 to 5999")
    parser.add_argument("--input", **several, metavar="TYPE=DATA", help="text=…, url=…, event=ID, job=JOB")
    parser.add_argument("--param", **several, metavar="NAME=VALUE")
    parser.add_argument("--output", metavar="TYPE", help="the MIME type wanted of the result")
    parser.add_argument("--bid", type=int, metavar="MILLISATOSHI", help="most to be paid")
    parser.add_argument("--provider", action="append", metavar="KEY", help="who is asked; else whoever likes")
    parser.add_argument("--as", dest="account", metavar="ACCOUNT", help="whose job it is: a name or a key")
    parser.add_argument("--key", default=str(uuid.uuid4()), help="your own name for the job")
    given = parser.parse_args(sys.argv[1:] or ["5302", "--param", "search=hello"])
    inputs = [{"type": type, "data": data} for type, data in given.input]
    wanted = {"kind": given.kind, "key": given.key, "inputs": inputs, "params": given.param,
              "output": given.output, "bid": given.bid, "providers": given.provider, "account": given.account}
    return {name: value for name, value in wanted.items() if value is not None}

def found(content):
    """The ids of a result that is a list of tags e, as a search's is; else none."""
    try: tags = json.loads(content)
    except ValueError: return []
    isID = lambda text: isinstance(text, str) and re.fullmatch("[0-9a-f]{64}", text)
    isTag = lambda tag: isinstance(tag, list) and len(tag) > 1 and tag[0] == "e" and isID(tag[1])
    return [tag[1] for tag in tags] if isinstance(tags, list) and all(map(isTag, tags)) else []

def shown(text):
    """A stranger's text: on a terminal without what drives it."""
    if not sys.stdout.isatty(): return text
    return "".join(char if char.isprintable() or char == "\n" else f"\\x{ord(char):02x}" for char in text)

def patiently(ask):
    """The parts of an answer, asked for again while the tracker is away: it knows its jobs when it is back."""
    for seconds in [0, 0.2, 0.5, 1, 2, 5, 10, None]:
        try:
            yield from ask()
            return
        except Refused as refused:
            if seconds is None or refused.refusal["code"] not in ("unavailable", "worker-died", "gone"): raise
            time.sleep(seconds)

def run(wanted):
    roost = Roost("job.py")
    ask = lambda method, arguments: roost.ask(method, json.dumps(arguments).encode())
    (job,) = patiently(lambda: ask("job.submit", wanted))  # the same key is the same job, however often it is asked for
    said = None
    for change in patiently(lambda: ask("job.follow", {"job": job["id"]})):  # the whole job at each change of anything
        if not change or "state" not in change: continue
        job, state = change, " ".join(filter(None, [change["state"], change.get("reason")]))
        if state != said: print(state, file=sys.stderr)
        said = state
        if "result" in job: break  # of one that is to be paid the end may be far
    if "result" not in job: sys.exit(f"the job is {job['state']}: {job.get('reason', 'no result')}")
    content = job["result"]["content"]
    ids = found(content)
    if not ids: return print(shown(content))  # the result itself
    for event in ask("store.query", {"filters": [{"ids": ids}]}):
        if "sig" in event: print(shown(json.dumps(event["content"], ensure_ascii=False)[:100]))  # last: their number

try: run(arguments())
except Refused as refused: sys.exit(str(refused))
except BrokenPipeError: os._exit(1)  # nobody reads on: | head
