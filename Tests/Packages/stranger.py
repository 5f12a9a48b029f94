"""What a local relay gives a client that does not log in: stranger.py ws|wss ADDRESS

It prints the status of /metrics, and whether a request for events is answered with a demand to log in (NIP-42).
"""
import os
import socket
import ssl
import sys

HOST = "localhost"


def connection():
    """A connection to the relay, with TLS if it is asked for. The certificate is made by the test itself."""
    plain = socket.create_connection((sys.argv[2], 4869), timeout=20)
    if sys.argv[1] == "ws":
        return plain
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context.wrap_socket(plain, server_hostname=HOST)


def read(stream, is_enough):
    """What comes until it is enough, or the relay closes."""
    got = b""
    while not is_enough(got):
        more = stream.recv(65536)
        if not more:
            break
        got += more
    return got


with connection() as stream:
    stream.sendall(f"GET /metrics HTTP/1.1\r\nHost: {HOST}:4869\r\nConnection: close\r\n\r\n".encode())
    status = read(stream, lambda got: b"\r\n" in got).split(b" ")[1].decode()
with connection() as stream:
    stream.sendall(
        f"GET / HTTP/1.1\r\nHost: {HOST}:4869\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode())
    read(stream, lambda got: b"\r\n\r\n" in got)
    request, mask = b'["REQ","a",{"limit":1}]', os.urandom(4)
    stream.sendall(
        bytes([0x81, 0x80 | len(request)]) + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(request)))
    answer = read(stream, lambda got: b'"EOSE"' in got or b'"CLOSED"' in got)
login = "login" if b'["CLOSED","a","auth-required' in answer and b'["EVENT"' not in answer else "no login"
print(f"metrics {status}, {login}")
