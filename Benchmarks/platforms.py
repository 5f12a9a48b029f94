"""Platforms that take every push, for the push relay's figures: Debian's nginx, HTTP/2 and real TLS, on loopback; and
the keys and certificates that a relay needs for them."""

import contextlib
import hashlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import time

import measure

TOPIC, KEY_ID, TEAM_ID = "app.example.wallet", "FAKEKEY123", "FAKETEAM12"
CONFIGURATION = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/nginx.err;
events {{ worker_connections 4096; }}
http {{
  http2_max_concurrent_streams 1000;
  keepalive_requests 1000000000;
  keepalive_timeout 1h;
  client_body_buffer_size 64k;
  client_body_temp_path {folder}/bodies;
  proxy_temp_path {folder}/proxied;
  ssl_certificate {folder}/both.pem;
  ssl_certificate_key {folder}/both.pem;
  log_format apns '$msec $status $uri';
  log_format fcm escape=json '$msec $status $request_body';
  {fate}
  upstream late {{ server 127.0.0.1:{late}; keepalive 1000; }}
  server {{
    listen 127.0.0.1:{apns} ssl http2;
    access_log {folder}/apns.log apns buffer=64k flush=1s;
    location / {{
      add_header apns-id $http_apns_id always;
      if ($fate = 503) {{ return 503 '{{"reason":"ServiceUnavailable"}}'; }}
      {answer}
    }}
  }}
  server {{
    listen 127.0.0.1:{fcm} ssl;
    default_type application/json;
    location /token {{ return 200 '{{"access_token":"fake","expires_in":3600,"token_type":"Bearer"}}'; }}
    location / {{
      access_log {folder}/fcm.log fcm buffer=64k flush=1s;
      proxy_pass http://127.0.0.1:{plain};
    }}
  }}
  server {{
    listen 127.0.0.1:{plain};
    access_log off;
    location / {{ return 200 '{{"name":"projects/bench/messages/1"}}'; }}
  }}
}}
"""
LATE = """
      proxy_pass http://late;
      proxy_http_version 1.1;
      proxy_set_header Connection "";"""

NO_ERRORS = 'map "" $fate { default 200; }'


def nginx():
    """Where nginx is; None where it is not. Debian has it where only root looks."""
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/sbin")


def free_ports(count):
    """Ports that were free a moment ago, none twice."""
    with contextlib.ExitStack() as stack:
        listeners = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [listener.getsockname()[1] for listener in listeners]


@contextlib.contextmanager
def pinned(core):
    """What is started in the block runs on one processor."""
    before = os.sched_getaffinity(0)
    if core in before and len(before) > 1:
        os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def write_keys(folder):
    """A certificate for localhost with its key, a key for APNs, one for a service account."""
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], check=True, cwd=folder, stderr=subprocess.DEVNULL)

    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30", "-subj",
            "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", "key.pem", "-out",
            "certificate.pem")
    openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "apple.p8")
    openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", "rsa.pem")
    parts = [(folder / name).read_text() for name in ("certificate.pem", "key.pem")]
    (folder / "both.pem").write_text("".join(parts))
    for name in ("apple.p8", "rsa.pem", "key.pem", "both.pem"):
        (folder / name).chmod(0o600)


class Platforms:
    """Where APNs and FCM are, and what came to them."""

    def __init__(self, folder, apns, fcm):
        self.folder, self.apns, self.fcm = folder, apns, fcm
        account = {"type": "service_account", "project_id": "bench", "private_key": (folder / "rsa.pem").read_text(),
                   "client_email": "bench@example.org", "token_uri": f"https://localhost:{fcm}/token"}
        path = folder / "google.json"
        path.write_text(json.dumps(account))
        path.chmod(0o600)

    def settings(self, apns=None):
        """Keys of the relay's part of supervisor.conf; `apns` stands for another port."""
        return "\n".join([
            f'apns-key-file = "{self.folder}/apple.p8"', f'apns-key-id = "{KEY_ID}"', f'apns-team-id = "{TEAM_ID}"',
            f'apns-topic = "{TOPIC}"', f'apns-url = "https://localhost:{apns or self.apns}"',
            f'fcm-account-file = "{self.folder}/google.json"', f'fcm-url = "https://localhost:{self.fcm}"',
            f'ca-file = "{self.folder}/certificate.pem"'])

    def forget(self):
        """Forgets what came."""
        time.sleep(1.1)  # until nginx has written what it holds
        for name in ("apns.log", "fcm.log"):
            if (path := self.folder / name).exists():
                os.truncate(path, 0)

    def arrivals(self, name="apns", status=200):
        """(Seconds since 1970, token) of what was answered so, in order."""
        time.sleep(1.1)
        found = []
        for line in (self.folder / f"{name}.log").read_text().splitlines():
            at, answer, rest = line.split(" ", 2)
            if int(answer) == status:
                token = rest.removeprefix("/3/device/") if name == "apns" else TOKEN.search(rest)[1]
                found.append((float(at), token))
        return sorted(found)


TOKEN = re.compile(r'token\\":\\"([^"\\]+)')


def token(recipient, is_google=False):
    """The token that push-bench registers a recipient with."""
    mark = hashlib.sha256(f"token {recipient}".encode()).hexdigest()
    return f"fcm:{mark}{mark}" if is_google else mark


@contextlib.contextmanager
def running(folder, late_milliseconds=0, errors=None, core=0):
    """APNs and FCM for the length of a block, on processor `core`."""
    folder = pathlib.Path(folder)
    write_keys(folder)
    with contextlib.ExitStack() as stack:
        stack.enter_context(pinned(core))
        late = 1
        if late_milliseconds:
            process = stack.enter_context(subprocess.Popen(
                [measure.YARDSTICKS / "slowly", str(late_milliseconds)], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, text=True))
            stack.callback(process.stdin.close)
            late = int(process.stdout.readline())
        apns, fcm, plain = free_ports(3)
        (folder / "nginx.conf").write_text(CONFIGURATION.format(
            folder=folder, apns=apns, fcm=fcm, plain=plain, late=late,
            fate=f'split_clients "$request_id" $fate {{ {errors} 503; * 200; }}' if errors else NO_ERRORS,
            answer=LATE if late_milliseconds else "return 200;"))
        process = subprocess.Popen([nginx(), "-c", folder / "nginx.conf", "-e", folder / "nginx.err"])
        stack.callback(lambda: (process.terminate(), process.wait(timeout=30)))
        wait_for(apns, process, folder)
        yield Platforms(folder, apns, fcm)


def wait_for(port, process, folder):
    """Waits until somebody listens."""
    deadline = time.monotonic() + 10
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"nginx did not start: {(folder / 'nginx.err').read_text()}")
        time.sleep(0.02)


@contextlib.contextmanager
def black_hole():
    """A port at which connections are taken and nothing is ever said."""
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listener:
        yield listener.getsockname()[1]
