#!/usr/bin/env python3
"""A server of HTTP/1.1 by the standard library, over TLS with a certificate. Listens on 127.0.0.1 until standard input
ends; prints its port first.

    http_peer.py [CERTIFICATE.pem [NAMES.json]]

    GET /hello          says hello
    GET /connections    how many connections were made to this server until now
    GET /status/N       answers with that status, and the number as its body
    GET /bytes/N        N bytes, with their length in front; /chunks/N: in chunks, without
    GET /gzip/N         N bytes, compressed
    GET /not-gzip       says that it is compressed, and is not
    GET /coded/NAME     says that it is encoded in that way
    GET /head/N         a head of N bytes
    GET /relay          an information document (NIP-11), for who accepts one; 406 for others
    GET /redirect       points to /hello
    GET /names/DOMAIN   the file of names (NIP-05); redirect.example points elsewhere, huge.example sends 10 MB
    POST /echo          the head and the body that came, as a JSON object; GET as well
"""

import gzip
import json
import ssl
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CONNECTIONS = [0]
LOCK = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        with LOCK:
            CONNECTIONS[0] += 1
        super().setup()

    def log_message(self, *arguments):
        pass

    def say(self, body, status=200, **fields):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        _, kind, *rest = self.path.split("/")
        word = rest[0] if rest else ""
        if kind == "hello":
            self.say(b"hello", Content_Type="text/plain")
        elif kind == "connections":
            self.say(str(CONNECTIONS[0]).encode())
        elif kind == "status":
            # These two have no body, and no length either.
            self.say(b"" if word in ("204", "304") else word.encode(), int(word))
        elif kind == "bytes":
            self.say(bytes(int(word)))
        elif kind == "chunks":
            self.chunks(int(word))
        elif kind == "gzip":
            self.say(gzip.compress(bytes(int(word))), Content_Encoding="gzip")
        elif kind == "not-gzip":
            self.say(b"no such thing", Content_Encoding="gzip")
        elif kind == "coded":
            self.say(b"whatever", Content_Encoding=word)
        elif kind == "head":
            self.say(b"", **{f"X-{number}": "x" * 1000 for number in range(int(word) // 1000)})
        elif kind == "relay":
            accepted = self.headers.get("Accept") == "application/nostr+json"
            self.say(b'{"name":"a peer","supported_nips":[1,11],"version":7}', 200 if accepted else 406)
        elif kind == "names" and not word.startswith(("redirect.", "huge.")):
            with open(sys.argv[2], "rb") as names:
                self.say(names.read())
        elif kind == "names" and word.startswith("huge."):
            self.say(b'{"names":{' + b" " * 10_000_000 + b"}}")
        elif kind in ("redirect", "names"):
            self.say(b"", 301, Location="https://elsewhere.example/\x1b[2J")
        else:
            self.echo(b"")

    def do_POST(self):
        self.echo(self.rfile.read(int(self.headers["Content-Length"])))

    def echo(self, body):
        fields = {name.lower(): value for name, value in self.headers.items()}
        self.say(json.dumps(
            {"method": self.command, "path": self.path, "fields": fields, "body": body.hex()}, sort_keys=True).encode())

    def chunks(self, count):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while count > 0:
            size = min(count, 1000)
            self.wfile.write(b"%x\r\n%s\r\n" % (size, bytes(size)))
            count -= size
        self.wfile.write(b"0\r\nX-Behind: it\r\n\r\n")


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request, client_address):
        pass  # The other side has left, or did not like what it saw.


def main():
    server = Server(("127.0.0.1", 0), Handler)
    if len(sys.argv) > 1:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1])
        # The handshake is the connection's own business, not the accepting thread's.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    print(server.server_address[1], flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


main()
