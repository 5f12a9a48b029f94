"""Calls methods through examples/generated.py, which knows them from docs/methods.json alone: each with right
arguments, with a member that it does not have, and with a member of the wrong type. Prints a line of JSON for each call
that was not as the document says, and the number of methods called."""
import json, os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples"))
from client import Refused
from generated import Client

client, wrong, called = Client("generated_client.py"), [], 0
WRONG = {"string": 7, "boolean": "yes", "array": {}, "object": [], "integer": "many", "number": "many"}

def note(method, **what):
    wrong.append(dict(method=method, **what))

def wrong_member(method):
    """Arguments in which one member has the wrong type; None where there is none, or any type will do."""
    form = client.methods[method]["arguments"]
    schema = form.get("schema", {})
    schema = client.definitions.get(schema.get("$ref", "").removeprefix("#/definitions/"), schema)
    for name, member in sorted(schema.get("properties", {}).items()):
        member = client.definitions.get(member.get("$ref", "").removeprefix("#/definitions/"), member)
        if member.get("type"): return {name: WRONG[member["type"]]}

def call(method, **arguments):
    """Right arguments: what comes has the form that the document says. Wrong ones are refused, and nothing is done."""
    global called
    called += 1
    described = client.methods[method]
    try:
        parts, answer = client.call(method, arguments)
        form = described.get("parts", {"form": "nothing"})
        for part in parts:
            for text in client.problems(part, form, "part"): note(method, text=text)
        for text in client.problems(answer, described["answer"], "answer"): note(method, text=text)
    except (Refused, ValueError) as error:
        note(method, right=arguments, error=str(error))
        parts, answer = [], None
    bad = [{**arguments, "nonsense": 1}, wrong_member(method)]
    if described["arguments"]["form"] == "event": bad = [{"kind": 1}]
    for case in filter(None, bad):
        if described["arguments"]["form"] == "json":
            try: client.call(method, case); note(method, wrong=case, error="the schema allows it")
            except ValueError: pass
        try: client.ask(method, case); note(method, wrong=case, error="it was taken")
        except Refused as refused:
            refusal = refused.refusal
            if refusal["code"] not in ("bad-request", "invalid") or refusal.get("outcome") != "not-started":
                note(method, wrong=case, refusal=refusal)
    return answer

call("supervisor.status")
if call("supervisor.version")["protocolVersion"] != 1: note("supervisor.version", error="another protocol")
call("supervisor.why", worker="event-store")
call("supervisor.doctor")
call("supervisor.logs", lines=3)
call("supervisor.log-level", category="*", level="info")
call("supervisor.dead-letters", action="list")
call("supervisor.reload", dryRun=True)
call("supervisor.restart", worker="dvm-provider")
account = call("signer.generate", name="alice")
call("signer.accounts")
event = call("signer.sign", account="alice", event={"kind": 1, "content": "hello"})["event"]
sealed = call("signer.nip44.encrypt", account="alice", peer=account["npub"], text="a secret")
call("signer.nip44.decrypt", account="alice", peer=account["npub"], text=sealed["text"])
call("store.publish", **event)
call("store.query", filters=[{"kinds": [1]}], limit=5)
call("store.count", filters=[{"authors": [account["publicKey"]]}])
call("store.seen", id=event["id"])
call("store.status")
call("store.observes.list")
call("store.coverage", filters=[{"kinds": [1]}])
call("plan.relays")
call("plan.route", event={"kind": 1, "pubkey": account["publicKey"]})
call("plan.publications", limit=10)
call("plan.status")
call("job.list", limit=10)
call("job.status")
call("dvm.status")
call("dvm.jobs", limit=1)
for line in wrong: print(json.dumps(line))
print(f"called {called}")
