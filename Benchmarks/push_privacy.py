#!/usr/bin/env python3
"""Whether the push relay's answers take as long for who is registered as for who is not.

A stranger's wake is answered `queued` in every case, with the same bytes; the process tests see to that. What is left
is time, and a time is measured, not tested: thousands of wakes to registered keys, to keys that nobody has and to
such as have blocked the sender, in a random order by one connection that stays, after a warm-up, from forty senders.
Two kinds are compared by the two-sample test of Kolmogorov and Smirnov. After each wake the same connection asks for
/health at once, which is compared as well: what a wake leaves to do is seen there, if anywhere.

    D           the largest difference of both distributions
    p           how often chance alone makes one as large
    power       the smallest shift that this very test, with this noise and as many samples, would have found at
                alpha = 0.01 in nine of ten runs: found by shifting one of two samples drawn from all that was measured

Two controls stand beside: one kind divided at random, which must not differ, and the same with such a shift added to
one half, which must. Without the second a small D would say nothing.

    python3 Benchmarks/push_privacy.py [--count 4000] [--products .build/release]
"""

import argparse
import bisect
import contextlib
import ctypes
import ctypes.util
import hashlib
import json
import math
import os
import pathlib
import random
import socket
import statistics
import subprocess
import tempfile
import time

import bus
import measure
import roostd

ALPHA, POWER, DRAWS = 0.01, 0.9, 60
RECIPIENTS, SENDERS = 500, 40
WARM_UP = 500
WORKER = """
[worker.push-relay]
role = "push-relay"
listen = ["127.0.0.1:{port}"]
trusted-proxies = ["127.0.0.1"]
sender-minute = 10_000
sender-hour = 60_000
global-minute = 60_000
recipient-hour = 60_000
strangers-hour = 60_000
apns-key-file = "{folder}/apple.p8"
apns-key-id = "{key}"
apns-team-id = "{team}"
apns-topic = "{topic}"
apns-url = "https://localhost:{apns}"
ca-file = "{folder}/authority.pem"
"""


class Signer:
    """Keys of Ed25519, by libcrypto: Python has none of its own."""

    def __init__(self):
        self.library = ctypes.CDLL(ctypes.util.find_library("crypto") or "libcrypto.so.3")
        for name in ("EVP_PKEY_new_raw_private_key", "EVP_MD_CTX_new"):
            getattr(self.library, name).restype = ctypes.c_void_p

    def key(self, seed):
        """A key of 32 bytes: its handle, and its public half in z-base-32."""
        handle = ctypes.c_void_p(self.library.EVP_PKEY_new_raw_private_key(1087, None, seed, ctypes.c_size_t(32)))
        public, size = ctypes.create_string_buffer(32), ctypes.c_size_t(32)
        self.library.EVP_PKEY_get_raw_public_key(handle, public, ctypes.byref(size))
        return handle, zbase32(public.raw)

    def sign(self, handle, message):
        """128 hexadecimal digits."""
        context = ctypes.c_void_p(self.library.EVP_MD_CTX_new())
        signature, size = ctypes.create_string_buffer(64), ctypes.c_size_t(64)
        self.library.EVP_DigestSignInit(context, None, None, None, handle)
        length = ctypes.c_size_t(len(message))
        done = self.library.EVP_DigestSign(context, signature, ctypes.byref(size), message, length)
        self.library.EVP_MD_CTX_free(context)
        if done != 1:
            raise RuntimeError("libcrypto does not sign")
        return signature.raw.hex()

    def request(self, key, method, path, body):
        """A signed request from an address of its own, as bytes."""
        handle, name = key
        body, now = body.encode(), int(time.time())
        message = f"{method}:{path}:{now}:{hashlib.sha256(body).hexdigest()}"
        address = ".".join(str(byte) for byte in [10, *os.urandom(3)])
        return "\r\n".join([
            f"{method} /v1{path} HTTP/1.1", "Host: push.example", f"X-Forwarded-For: {address}",
            f"X-Pubky-Pubkey: {name}", f"X-Pubky-Timestamp: {now}",
            f"X-Pubky-Signature: {self.sign(handle, message.encode())}", "Content-Type: application/json",
            f"Content-Length: {len(body)}", "", ""]).encode() + body


def zbase32(octets):
    """52 characters."""
    number = int.from_bytes(octets, "big") << 4
    return "".join("ybndrfg8ejkmcpqxot1uwisza345h769"[number >> shift & 31] for shift in range(255, -1, -5))


class Connection:
    """One connection that stays."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, request):
        """Nanoseconds until the whole answer was there, its status and its body."""
        start = time.perf_counter_ns()
        self.socket.sendall(request)
        answer = self.socket.recv(1 << 16)
        while b"\r\n\r\n" not in answer or len(answer) < self.length(answer):
            more = self.socket.recv(1 << 16)
            if not more:
                raise RuntimeError(f"the relay closed: {answer!r}")
            answer += more
        end = time.perf_counter_ns()
        return end - start, int(answer[9:12]), answer.split(b"\r\n\r\n", 1)[1]

    @staticmethod
    def length(answer):
        """Bytes of the whole answer."""
        head = answer.split(b"\r\n\r\n", 1)[0]
        field = next(line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
        return len(head) + 4 + int(field.split(b":")[1])


# MARK: The relay and its platform

@contextlib.contextmanager
def fakes(folder):
    """`push-fakes`, and what it said of itself."""
    subprocess.run([measure.ROOT / "Tests" / "Peers" / "certificates.sh", folder], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with subprocess.Popen([measure.PRODUCTS / "push-fakes", f"{folder}/good.pem"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as process:
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.stdin.close()


@contextlib.contextmanager
def running():
    """A push relay under roostd that delivers to a fake of APNs: its port."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="roost-privacy-"))
        said = stack.enter_context(fakes(folder))
        key = pathlib.Path(folder) / "apple.p8"
        key.write_text(said["apns"]["key"])
        key.chmod(0o600)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        apns = said["apns"]
        worker = WORKER.format(port=port, folder=folder, key=apns["keyIdentifier"], team=apns["team"],
                               topic=apns["topic"], apns=said["ports"]["apns"])
        daemon = stack.enter_context(roostd.running(worker))
        caller = stack.enter_context(bus.connected(daemon.socket))
        caller.wait_for_ready("push-relay")
        yield port


def populate(signer, connection, senders):
    """Names of recipients by kind: registered ones, nobody's, and registered ones that have blocked all senders."""
    kinds = {"registered": [], "unregistered": [], "blocking": []}
    for kind, names in kinds.items():
        for _ in range(RECIPIENTS):
            key = signer.key(os.urandom(32))
            names.append(key[1])
            if kind == "unregistered":
                continue
            body = json.dumps({"platform": "ios", "token": os.urandom(32).hex(), "device_id": "phone"})
            _, status, text = connection.ask(signer.request(key, "POST", "/register", body))
            if kind == "blocking" and status == 200:
                body = json.dumps({"block": [name for _, name in senders]})
                _, status, text = connection.ask(signer.request(key, "PUT", "/contacts", body))
            if status != 200:
                raise RuntimeError(f"cannot be registered: {text!r}")
    return kinds


def samples(count):
    """Microseconds of `count` wakes of each kind, and of what was asked after each."""
    signer = Signer()
    with running() as port:
        connection = Connection(port)
        senders = [signer.key(os.urandom(32)) for _ in range(SENDERS)]
        kinds = populate(signer, connection, senders)
        order = [kind for kind in kinds for _ in range(count)]
        random.shuffle(order)
        order = random.choices(list(kinds), k=WARM_UP) + order
        wakes, after = ({kind: [] for kind in kinds} for _ in range(2))
        health = "GET /v1/health HTTP/1.1\r\nHost: push.example\r\nX-Forwarded-For: {}\r\n\r\n"
        for number, kind in enumerate(order):
            sender = random.choice(senders)
            body = json.dumps({"recipient_pubkey": random.choice(kinds[kind]), "wake_type": "noise_connect",
                               "sender_pubkey": sender[1], "nonce": os.urandom(16).hex()})
            request = signer.request(sender, "POST", "/wake", body)
            probe = health.format(".".join(str(byte) for byte in [11, *os.urandom(3)])).encode()
            spent, status, text = connection.ask(request)
            then, _, _ = connection.ask(probe)
            if status != 200:
                raise RuntimeError(f"a wake is answered {status}: {text!r}")
            if number >= WARM_UP:
                wakes[kind].append(spent / 1_000)
                after[kind].append(then / 1_000)
        return wakes, after


# MARK: The test

def distance(one, other):
    """D of Kolmogorov and Smirnov."""
    one, other = sorted(one), sorted(other)
    largest, i, j = 0.0, 0, 0
    while i < len(one) and j < len(other):
        value = min(one[i], other[j])
        i, j = bisect.bisect_right(one, value, i), bisect.bisect_right(other, value, j)
        largest = max(largest, abs(i / len(one) - j / len(other)))
    return largest


def chance(largest, count, other):
    """How often two samples of one distribution are so far apart (Stephens' form of the limit)."""
    size = math.sqrt(count * other / (count + other))
    x = (size + 0.12 + 0.11 / size) * largest
    if x < 0.2:
        return 1.0
    return min(1.0, max(0.0, 2 * sum((-1) ** (k - 1) * math.exp(-2 * k * k * x * x) for k in range(1, 101))))


def differ(one, other):
    """Whether the test says so at ALPHA."""
    return chance(distance(one, other), len(one), len(other)) < ALPHA


def detectable(one, other):
    """The smallest shift, in microseconds, that would have been found with POWER."""
    pool = one + other

    def share(shift):
        return sum(differ(random.choices(pool, k=len(one)), [value + shift for value in
                   random.choices(pool, k=len(other))]) for _ in range(DRAWS)) / DRAWS

    low, high = 0.0, 1.0
    while share(high) < POWER:
        low, high = high, 2 * high
        if high > 1e6:
            return high
    for _ in range(5):
        middle = (low + high) / 2
        low, high = (low, middle) if share(middle) >= POWER else (middle, high)
    return high


def line(title, one, other):
    """One comparison, printed; and as a result."""
    largest = distance(one, other)
    p = chance(largest, len(one), len(other))
    shift = detectable(one, other)
    medians = statistics.median(one), statistics.median(other)
    print(f"  {title:58} n {len(one)} + {len(other)}   medians {medians[0]:,.0f} and {medians[1]:,.0f} µs   "
          f"D {largest:.4f}   p {p:.3g}   {'DIFFER' if p < ALPHA else 'not told apart'}; "
          f"a shift of {shift:.1f} µs would have been found", flush=True)
    return measure.result("push-privacy", title, "p", [p], distance=round(largest, 5), count=len(one),
                          detectableMicroseconds=round(shift, 1))


def run(count=4_000):
    """Measures, prints, and gives the results."""
    wakes, after = samples(count)
    print("Answers of the push relay to strangers, by who the recipient is (two-sample test of Kolmogorov and Smirnov, "
          f"alpha {ALPHA}, power {POWER:.0%}):")
    results = []
    for other in ("unregistered", "blocking"):
        results.append(line(f"a wake, registered and {other}", wakes["registered"], wakes[other]))
    for other in ("unregistered", "blocking"):
        results.append(line(f"what is asked next, registered and {other}", after["registered"], after[other]))
    mixed = random.sample(wakes["registered"], count)
    half = count // 2
    results.append(line("control: one kind divided at random", mixed[:half], mixed[half:]))
    shift = 1.5 * results[-1]["detectableMicroseconds"]
    moved = [value + shift for value in mixed[half:]]
    results.append(line(f"control: the same, {shift:.1f} µs added to one half", mixed[:half], moved))
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=4_000, help="wakes of each kind")
    parser.add_argument("--products", type=pathlib.Path, default=measure.PRODUCTS)
    options = parser.parse_args()
    measure.PRODUCTS = options.products.resolve()
    run(options.count)


if __name__ == "__main__":
    main()
