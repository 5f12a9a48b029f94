"""Uses clients/python against a running Roost as a program would. Says `kill` and `start` where it wants roostd killed
and started, and waits for a line each; says `done` at the end."""
import json, os, struct, sys, threading

from roost import Missed, Refused, Roost

program = os.environ["ROOST_PROGRAM"]
roost = Roost("python-client", program=program)

def refusal(body):
    try:
        body()
    except Refused as refused:
        return refused
    raise AssertionError("it was not refused")

def ask(word):
    print(word, flush=True)
    assert sys.stdin.readline().strip() == word

def calls():
    status = roost.supervisor.status()
    assert any(client["name"] == "python-client" for client in status["clients"]), status
    assert roost.supervisor.log_level(category="*", level="info")
    account = roost.signer.generate(name="alice")
    for number in range(150):
        signed = roost.signer.sign(account="alice", event={"kind": 1, "content": f"hällo {number}"})
        roost.store.publish(signed["event"])
    assert roost.store.count(filters=[{"authors": [account["publicKey"]]}])["count"] == 150
    refused = refusal(lambda: roost.store.count(filters=7))
    assert (refused.code, refused.outcome) == ("bad-request", "not-started"), refused
    assert "did you mean 'filters'" in refusal(lambda: roost.store.count(filter=[])).message
    assert refusal(lambda: roost.call("store.cuont")).code == "unknown-method"
    assert refusal(lambda: roost.call("example.slow", {"milliseconds": 60000}, timeout=0.1)).code == "expired"
    return signed["event"]

def streams():
    stream = roost.store.query(filters=[{"kinds": [1]}])
    events = []
    for event in stream:
        events.append(event["content"])
        # Another request inside the loop: what of the stream comes meanwhile stays within its window.
        assert roost.store.seen(id=event["id"])["relays"] == []
        assert len(stream._answer.lines) <= 65, len(stream._answer.lines)
    assert sorted(events) == sorted(f"hällo {number}" for number in range(150))
    assert stream.result["count"] == 150, stream.result
    for event in roost.store.query(filters=[{"kinds": [1]}]):
        break  # The answer is given up.
    assert not roost._line.answers, roost._line.answers
    with roost.store.observe(filters=[{"kinds": [1]}], policy="cache-only") as observed:
        assert next(observed)["event"]["kind"] == 1
    said = []
    for _ in range(100):
        assert roost.call("example.progress", {"parts": 3}, on_progress=said.append) == {"parts": 3}
        if said:
            break  # The hub may drop progress.
    assert said[-1]["text"] in ("1", "2", "3"), said

def raw(event):
    text = json.dumps(event).encode()
    outcome = roost.store.offer(struct.pack("<I", len(text)) + text)
    assert isinstance(outcome, bytes) and struct.unpack_from("<I", outcome) == (1,), outcome  # a duplicate

def cancelling():
    slow = roost.stream("example.slow", {"milliseconds": 60000})
    threading.Timer(0.1, slow.close).start()
    assert list(slow) == []
    threads, counts = [], []
    for _ in range(8):
        threads.append(threading.Thread(
            target=lambda: counts.extend(roost.store.count(filters=[{}])["count"] for _ in range(20))))
        threads[-1].start()
    for thread in threads:
        thread.join()
    assert counts == [150] * 160

def subscribing():
    with roost.subscribe("supervisor.events") as events:
        roost.supervisor.restart(worker="example")
        assert next(events)["worker"] == "example"
    assert "did you mean" in refusal(lambda: roost.subscribe("supervisor.event")).message

def deaths():
    slow = roost.stream("example.slow", {"milliseconds": 60000})
    events = roost.subscribe("supervisor.events")
    ask("kill")
    refused = refusal(lambda: list(slow))
    assert (refused.code, refused.outcome) == ("disconnected", "unknown"), refused
    ask("start")
    assert roost.store.count(filters=[{}])["count"] == 150
    assert any(isinstance(event, Missed) and event.count is None for event in events)
    while any(worker["state"] != "ready" for worker in roost.supervisor.status()["workers"]):
        next(events)
    slow = roost.stream("example.slow", {"milliseconds": 60000})
    os.kill(roost._line.process.pid, 9)
    refused = refusal(lambda: list(slow))
    assert (refused.code, refused.outcome) == ("disconnected", "unknown"), refused
    assert roost.store.count(filters=[{}])["count"] == 150
    roost.close()
    assert roost.store.count(filters=[{}])["count"] == 150

def without_roost():
    away = refusal(lambda: Roost(program=program, socket="/nonexistent/roost.sock").store.status())
    assert (away.code, away.outcome) == ("no-supervisor", "not-started"), (away.code, away.outcome)
    assert refusal(lambda: Roost(program="/nonexistent/roost").store.status()).code == "no-supervisor"

event = calls()
streams()
raw(event)
cancelling()
subscribing()
deaths()
without_roost()
roost.close()
print("done", flush=True)
