#!/usr/bin/env python3
"""Has Roost do a job and prints its result; without arguments the first of these.

    job.py 5302 --param search=hello
    job.py 5050 --input 'text=Why is the sky blue?' --provider npub1… --bid 5000

What is submitted goes on without this program; started again with the same --key it gets the same job.
The socket is $ROOST_SOCKET. Standard library only."""
import argparse, json, os, socket, struct, sys, uuid

HEADER = struct.Struct("<IBBHIIQQIHHQ")  # length version type flags destination source id re ttl attempt method trace
HELLO, WELCOME, FATAL, REQUEST, RESPONSE, ERROR, MORE = 1, 2, 10, 16, 17, 18, 1

class Roost:
    """A connection. One request at a time."""

    def __init__(self, path):
        self.connection = socket.socket(socket.AF_UNIX)
        self.connection.connect(path)
        self.stream = self.connection.makefile("rb")  # reads whole frames
        self.id = 0
        self.send(HELLO, {"role": "client", "name": "job.py", "window": {"frames": 4096, "bytes": 8 << 20}})
        type, _, welcome = self.receive()
        if type == FATAL: sys.exit(json.dumps(welcome))
        self.methods = welcome["registry"]["methods"]

    def send(self, type, value, method=0):
        payload = json.dumps(value).encode()
        self.connection.sendall(HEADER.pack(44 + len(payload), 1, type, 0, 0, 0, self.id, 0, 0, 0, method, 0) + payload)

    def receive(self):
        length, _, type, flags, *_ = HEADER.unpack(self.stream.read(48))
        return type, flags, json.loads(self.stream.read(length - 44) or "null")

    def ask(self, method, arguments):
        """Gives each part of the answer, the terminal one last."""
        if method not in self.methods: sys.exit(f"nobody here serves {method}")
        self.id += 1
        self.send(REQUEST, arguments, self.methods[method]["number"])
        while True:
            type, flags, value = self.receive()
            if type in (ERROR, FATAL): sys.exit(f"{method}: {value['message']} ({value['code']})")
            if type == RESPONSE: yield value
            if type == RESPONSE and not flags & MORE: return

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
    parser.add_argument("--key", default=str(uuid.uuid4()), help="your own name for the job")
    given = parser.parse_args(sys.argv[1:] or ["5302", "--param", "search=hello"])
    inputs = [{"type": type, "data": data} for type, data in given.input]
    wanted = {"kind": given.kind, "key": given.key, "inputs": inputs, "params": given.param,
              "output": given.output, "bid": given.bid, "providers": given.provider}
    return {name: value for name, value in wanted.items() if value is not None}

wanted = arguments()
roost = Roost(os.environ.get("ROOST_SOCKET", "run/roost.sock"))
(job,) = roost.ask("job.submit", wanted)
said = None
for job in roost.ask("job.follow", {"job": job["id"]}):  # the whole job at each change of anything
    if "state" not in job: continue
    state = " ".join(filter(None, [job["state"], job.get("reason")]))
    if state != said: print(state, file=sys.stderr)
    said = state
    if job["state"] in ("settled", "delivered", "failed", "expired", "cancelled"): break
if "result" not in job: sys.exit(f"the job is {job['state']}: {job.get('reason', 'no result')}")
content = job["result"]["content"]
try:
    ids = [tag[1] for tag in json.loads(content) if tag[0] == "e"]
except (ValueError, TypeError, IndexError):
    ids = []
if not ids:  # the result itself
    print(content)
    sys.exit()
roost = Roost(os.environ.get("ROOST_SOCKET", "run/roost.sock"))  # the answer above was left before its end
for event in roost.ask("store.query", {"filters": [{"ids": ids}]}):
    if "sig" in event: print(json.dumps(event["content"], ensure_ascii=False)[:100])  # the last part is their number
