"""What an idle WebSocket costs a server, and how fast it sends: ten thousand connections, each of which has had a
message there and back, and a million messages of 600 bytes to one client, taken as bytes and by our own client."""

import json
import subprocess

import measure


def run(rounds):
    """Each round is one server, and its clients in other processes."""
    memory, bare, ours = [], [], []
    for _ in range(rounds):
        program = measure.PRODUCTS / "websocket-bench"
        answer = json.loads(subprocess.run([program], check=True, capture_output=True).stdout)
        memory.append(answer["bytesPerIdleConnection"])
        bare.append(answer["messagesPerSecond"])
        ours.append(answer["messagesPerSecondOurs"])
    yield measure.result("socket-memory", "WebSocketServer", "B", memory)
    yield measure.result("socket-flood", "WebSocketServer", "messages/s", bare)
    yield measure.result("socket-flood", "read by our client", "messages/s", ours)
