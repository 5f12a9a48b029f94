"""The proxy of links_page.py: the browser has no other way out, so what it asks for is known.

It passes on what goes to the page's own address, answers for the hosts of SITES itself, and records everything else,
which gets nothing. A name under REBOUND leads to the page's own server, as a name does that its owner has bound anew.
"""

import socket
import socketserver
import threading
from urllib.parse import urlsplit

HEAD_BYTE_MAXIMUM = 65_536
WAIT_SECONDS = 30
REBOUND = "rebound.example"
# Whom the browsers ask on their own account, in spite of the settings that forbid it: domains of those who make them.
# The page's policy allows none of them.
BROWSERS_OWN = (
    ".gvt1.com", ".google.com", ".googleapis.com", ".gstatic.com", ".mozilla.com", ".mozilla.net", ".mozilla.org",
    ".firefox.com",
)

# Tries everything that a page of another origin has, and writes into its title what came of it.
ATTACK = """<!DOCTYPE html><title>trying</title><iframe id="frame" src="%(page)s/"></iframe><script>
const outcome = {};
const read = async (name, options) => {
  try { outcome[name] = (await (await fetch("%(page)s/", options)).text()).length; } catch { outcome[name] = 0; }
};
const socket = new Promise((resolve) => {
  const live = new WebSocket("%(socket)s/live");
  live.onopen = () => live.send('{"id":1,"method":"links.status","arguments":{}}');
  live.onmessage = () => resolve("answered");
  live.onclose = () => resolve("closed");
  live.onerror = () => resolve("closed");
});
(async () => {
  await read("fetch", { credentials: "include" });
  await read("blind", { credentials: "include", mode: "no-cors" });
  outcome.socket = await socket;
  outcome.script = await new Promise((resolve) => {
    const script = document.createElement("script");
    [script.src, script.type] = ["%(page)s/links.js", "module"];
    [script.onload, script.onerror] = [() => resolve("run"), () => resolve("refused")];
    document.head.append(script);
  });
  try { outcome.frame = document.getElementById("frame").contentDocument?.body.textContent.length ?? 0; }
  catch { outcome.frame = 0; }
  document.title = "tried " + JSON.stringify(outcome);
})();
</script>"""


class Proxy:
    """`asked` is the list of hosts that were asked for and are not the page's own."""

    def __init__(self, page):
        self.page = urlsplit(page)
        self.asked = []
        self.sites = {"other.example"}
        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), self.handler(), bind_and_activate=False)
        self.server.daemon_threads = True
        self.server.server_bind()
        self.server.server_activate()
        self.port = self.server.server_address[1]
        # The same site with another port: cookies do not tell ports apart.
        self.near = socketserver.ThreadingTCPServer(("127.0.0.1", 0), self.near_handler())
        self.near.daemon_threads = True
        for server in (self.server, self.near):
            threading.Thread(target=server.serve_forever, daemon=True).start()

    @property
    def near_address(self):
        return f"http://127.0.0.1:{self.near.server_address[1]}"

    def attack(self):
        host = self.page.netloc
        return (ATTACK % {"page": f"http://{host}", "socket": f"ws://{host}"}).encode()

    def is_own(self, host, port):
        return (host, port) in {
            (self.page.hostname, self.page.port), ("127.0.0.1", self.near.server_address[1]),
        }

    def handler(self):
        proxy = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                self.request.settimeout(WAIT_SECONDS)
                try:
                    proxy.serve(self.request)
                except OSError:
                    pass

        return Handler

    def near_handler(self):
        proxy = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                self.request.settimeout(WAIT_SECONDS)
                try:
                    if read_head(self.request):
                        self.request.sendall(page_answer(proxy.attack()))
                except OSError:
                    pass

        return Handler

    def serve(self, client):
        head, rest = read_head(client)
        if not head:
            return
        method, target = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")[:2]
        if method == "CONNECT":
            host, _, port = target.rpartition(":")
            if self.is_own(host, int(port)):
                return self.tunnel(client, (host, int(port)), b"HTTP/1.1 200 ok\r\n\r\n", rest)
            return self.refuse(client, host)
        parts = urlsplit(target)
        if parts.hostname in self.sites:
            return client.sendall(page_answer(self.attack()))
        if parts.hostname == REBOUND:
            return self.forward(client, head, target, (self.page.hostname, self.page.port))
        if self.is_own(parts.hostname, parts.port or 80):
            return self.forward(client, head, target, (parts.hostname, parts.port or 80))
        self.refuse(client, parts.hostname)

    def refuse(self, client, host):
        if not host.endswith(BROWSERS_OWN):
            self.asked.append(host)
        client.sendall(b"HTTP/1.1 502 not here\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

    def forward(self, client, head, target, address):
        """One request and its answer; the connections are closed after it, so that each request is seen."""
        parts = urlsplit(target)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        lines = head.rstrip(b"\r\n").split(b"\r\n")
        kept = [line for line in lines[1:] if not line.lower().startswith((b"connection:", b"proxy-connection:"))]
        method = lines[0].split(b" ")[0]
        with socket.create_connection(address, timeout=WAIT_SECONDS) as server:
            first = method + b" " + path.encode() + b" HTTP/1.1"
            server.sendall(b"\r\n".join([first, *kept, b"Connection: close", b"", b""]))
            answer, body = read_head(server)
            lines = answer.rstrip(b"\r\n").split(b"\r\n")
            fields = [line for line in lines if not line.lower().startswith(b"connection:")]
            client.sendall(b"\r\n".join([*fields, b"Connection: close", b"", b""]) + body)
            lengths = [int(line.split(b":")[1]) for line in lines if line.lower().startswith(b"content-length:")]
            length = lengths[0] if lengths else None
            missing = None if length is None else length - len(body)
            while missing is None or missing > 0:
                part = server.recv(65_536)
                if not part:
                    return
                client.sendall(part)
                missing = None if missing is None else missing - len(part)

    def tunnel(self, client, address, answer, rest):
        with socket.create_connection(address, timeout=WAIT_SECONDS) as server:
            client.sendall(answer)
            if rest:
                server.sendall(rest)
            for end in (client, server):
                end.settimeout(None)
            back = threading.Thread(target=pump, args=(server, client), daemon=True)
            back.start()
            pump(client, server)
            back.join(WAIT_SECONDS)


def pump(source, target):
    try:
        while part := source.recv(65_536):
            target.sendall(part)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def read_head(connection):
    """The head of a request or of an answer, and what came behind it."""
    data = b""
    while b"\r\n\r\n" not in data and len(data) < HEAD_BYTE_MAXIMUM:
        part = connection.recv(4_096)
        if not part:
            return b"", b""
        data += part
    head, _, rest = data.partition(b"\r\n\r\n")
    return head + b"\r\n\r\n", rest


def page_answer(body):
    head = f"HTTP/1.1 200 ok\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + body
