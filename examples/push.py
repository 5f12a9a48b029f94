#!/usr/bin/env python3
"""Asks a push relay: a device is registered, or somebody is woken.

  push.py RELAY KEYFILE register PLATFORM TOKEN     PLATFORM is ios, android or webpush (TOKEN: the subscription, JSON)
  push.py RELAY KEYFILE wake RECIPIENT [TYPE]       TYPE is noise_connect unless it is named
  push.py RELAY KEYFILE wake-state WAKE-ID

RELAY is an address such as http://127.0.0.1:4870; KEYFILE has a key's 32 bytes, and is made if it is not there.
It needs the package cryptography, and $PUSH_AUDIENCE if the relay takes version 2 of the signature alone."""
import hashlib, json, os, sys, time, urllib.error, urllib.request
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

LETTERS = "ybndrfg8ejkmcpqxot1uwisza345h769"

def z_base_32(data):
    """Five bits a letter, the first bit first; zeroes behind the last."""
    bits = "".join(f"{byte:08b}" for byte in data)
    bits += "0" * (-len(bits) % 5)
    return "".join(LETTERS[int(bits[at : at + 5], 2)] for at in range(0, len(bits), 5))

class PushRelay:
    def __init__(self, address, seed, audience=None):
        self.address, self.audience = address, audience
        self.secret = Ed25519PrivateKey.from_private_bytes(seed)
        self.name = z_base_32(self.secret.public_key().public_bytes_raw())

    def signature(self, method, path, body, timestamp):
        """The header fields of a request; without an audience in version 1."""
        message = f"{method}:{path}:{timestamp}:{hashlib.sha256(body).hexdigest()}"
        fields = {"X-Pubky-Pubkey": self.name, "X-Pubky-Timestamp": str(timestamp)}
        if self.audience:
            message = f"pubky-push/2:{self.audience}:{message}"
            fields |= {"X-Pubky-Version": "2", "X-Pubky-Audience": self.audience}
        return fields | {"X-Pubky-Signature": self.secret.sign(message.encode()).hex()}

    def ask(self, method, path, body=None):
        """The answer's status and body. What is signed is what is sent, byte for byte."""
        data = b"" if body is None else json.dumps(body).encode()
        fields = self.signature(method, path, data, int(time.time())) | {"Content-Type": "application/json"}
        request = urllib.request.Request(self.address + "/v1" + path, data or None, fields, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer: return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def register(self, platform, token, **more):
        return self.ask("POST", "/register", {"platform": platform, "token": token} | more)

    def wake(self, recipient, type="noise_connect", **more):
        return self.ask("POST", "/wake", {
            "recipient_pubkey": recipient, "sender_pubkey": self.name, "wake_type": type,
            "nonce": os.urandom(16).hex()} | more)

if __name__ == "__main__":
    if len(sys.argv) < 5: sys.exit(__doc__)
    address, file, command, *words = sys.argv[1:]
    if not os.path.exists(file):
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as made: made.write(os.urandom(32))
    with open(file, "rb") as kept: relay = PushRelay(address, kept.read(), os.environ.get("PUSH_AUDIENCE"))
    print(f"I am {relay.name}", file=sys.stderr)
    try:
        if command == "register": status, answer = relay.register(*words)
        elif command == "wake": status, answer = relay.wake(*words)
        elif command == "wake-state": status, answer = relay.ask("GET", "/wake/" + words[0])
        else: sys.exit(__doc__)
    except urllib.error.URLError as error: sys.exit(f"{address} does not answer: {error.reason}")
    print(json.dumps(answer))
    sys.exit(0 if status == 200 else 1)
