#!/usr/bin/env python3
"""Makes requests.json: requests as phones send them, and as they must not be sent.

Signed by the `cryptography` package, so by none of the code that is tested:

    python3 make.py > requests.json

The bodies are bytes as bitkit-ios makes them (JSONSerialization: slashes escaped, members in no order), in base64 here.
"""
import base64
import hashlib
import json

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

NOW = 1_760_000_000
LETTERS = "ybndrfg8ejkmcpqxot1uwisza345h769"
ORDER = 2**252 + 27742317777372353535851937790883648493
AUDIENCE = "push.example"
IOS_TOKEN = "0f" * 32
NONCE = "00112233445566778899aabbccddeeff"


def zbase32(data):
    bits = "".join(f"{byte:08b}" for byte in data)
    bits += "0" * (-len(bits) % 5)
    return "".join(LETTERS[int(bits[at:at + 5], 2)] for at in range(0, len(bits), 5))


class Key:
    def __init__(self, name):
        self.seed = hashlib.sha256(name.encode()).digest()
        self.secret = Ed25519PrivateKey.from_private_bytes(self.seed)
        self.public = self.secret.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.name = zbase32(self.public)


ALICE, BOB, MALLORY = Key("alice"), Key("bob"), Key("mallory")
CASES = []


def case(name, body=b"", expect="ok", *, key=ALICE, method="POST", target="/v1/register", path=None, now=NOW,
         time=None, signed_body=None, audience=None, change=None, signature=None, **rules):
    """One case; `path`, `time` and `signed_body` are what is signed where that differs from what is sent."""
    text = str(NOW) if time is None else time
    signed = target.removeprefix("/v1") if path is None else path
    digest = hashlib.sha256(body if signed_body is None else signed_body).hexdigest()
    message = f"{method}:{signed}:{text}:{digest}"
    if audience is not None:
        message = f"pubky-push/2:{audience}:{message}"
    made = key.secret.sign(message.encode())
    fields = [
        ["Content-Type", "application/json"], ["X-Pubky-Signature", (signature or (lambda s: s.hex()))(made)],
        ["X-Pubky-Timestamp", text], ["X-Pubky-Pubkey", key.name],
    ]
    if audience is not None:
        fields += [["X-Pubky-Version", "2"], ["X-Pubky-Audience", audience]]
    if change is not None:
        fields = change(fields)
    CASES.append({
        "name": name, "seed": key.seed.hex(), "now": now, "method": method, "target": target, "fields": fields,
        "body": base64.b64encode(body).decode(), "rules": rules, "expect": expect,
    })


def without(name):
    return lambda fields: [field for field in fields if field[0] != name]


def twice(name):
    return lambda fields: fields + [field for field in fields if field[0] == name]


def instead(name, value):
    return lambda fields: [[field[0], value if field[0] == name else field[1]] for field in fields]


def flipped(made):
    return bytes([made[0] ^ 1] + list(made[1:])).hex()


def malleable(made):
    return (made[:32] + (int.from_bytes(made[32:], "little") + ORDER).to_bytes(32, "little")).hex()


def wake(**changes):
    members = {"recipient_pubkey": BOB.name, "wake_type": "noise_connect", "sender_pubkey": ALICE.name, "nonce": NONCE}
    members.update(changes)
    return json.dumps({name: value for name, value in members.items() if value is not None}).encode()


REGISTER = json.dumps({"platform": "ios", "token": IOS_TOKEN, "capabilities": ["wake", "payment_received"]}).encode()
SHUFFLED = (b'{"device_id":"ABCD\\/1","capabilities":["wake","payment_received"],"extra":{"a":[1,2.5,null]},'
            b'"token":"' + IOS_TOKEN.upper().encode() + b'","platform":"ios"}\n')


def valid():
    case("01 register, iOS", REGISTER)
    case("02 register, Android", json.dumps(
        {"platform": "android", "token": "fGc1:APA91b" + "aB-_9" * 30, "device_id": "pixel"}).encode())
    case("03 escaped slash, shuffled members, unknown ones, a newline behind", SHUFFLED)
    case("06 wake", wake(), target="/v1/wake")
    case("06 wake with payload, escaped as JSONSerialization does", wake(
        wake_type="payment_request", payload=base64.b64encode(bytes(range(251, 256)) * 40).decode()
    ).replace(b"/", b"\\/"), target="/v1/wake")
    case("08 delete by device", b'{"device_id":"pixel"}', method="DELETE")
    case("08 delete by relay's name", json.dumps({"relay_id": "ab" * 16}).encode(), method="DELETE")
    case("08 delete by query", method="DELETE", target="/v1/register?device_id=my%20phone")
    case("08 unregister", b"{}", target="/v1/unregister")
    case("10 version 2", wake(), target="/v1/wake", audience=AUDIENCE)
    case("10 version 2 where version 1 is refused", wake(), target="/v1/wake", audience=AUDIENCE, v1="reject")
    case("10 audience in the body", wake(audience=AUDIENCE), target="/v1/wake")
    case("14 signature in upper case", REGISTER, signature=lambda made: made.hex().upper())
    case("17 the prefixed path is signed, and taken", REGISTER, path="/v1/register", prefixed=True)
    case("20 waking oneself", wake(recipient_pubkey=ALICE.name), target="/v1/wake")
    case("16 the oldest time", REGISTER, now=NOW + 300)
    case("16 the newest time", REGISTER, now=NOW - 300)
    case("wake's state", method="GET", target="/v1/wake/" + "ab" * 16)
    case("contacts", json.dumps({"allow": [BOB.name], "block": [MALLORY.name], "policy": "contacts"}).encode(),
         method="PUT", target="/v1/contacts")


def head():
    for name in ("X-Pubky-Signature", "X-Pubky-Timestamp", "X-Pubky-Pubkey"):
        case(f"14 {name} missing", REGISTER, "invalid_signature", change=without(name))
        case(f"14 {name} twice", REGISTER, "invalid_signature", change=twice(name))
        case(f"14 {name} empty", REGISTER, "invalid_signature", change=instead(name, ""))
        case(f"14 {name} over-long", REGISTER, "invalid_signature", change=instead(name, "1" * 300))
    for name, made in (("127 digits", lambda made: made.hex()[:-1]), ("129 digits", lambda made: made.hex() + "0"),
                       ("no digits", lambda made: "g" * 128), ("one bit changed", flipped), ("S + L", malleable)):
        case(f"14 signature, {name}", REGISTER, "invalid_signature", signature=made)
    case("15 another body", REGISTER, "invalid_signature", signed_body=REGISTER + b" ")
    case("15 another path", REGISTER, "invalid_signature", path="/wake")
    case("15 another time", REGISTER, "invalid_signature", change=instead("X-Pubky-Timestamp", str(NOW + 1)))
    case("15 another key", REGISTER, "invalid_signature", change=instead("X-Pubky-Pubkey", BOB.name))
    case("15 another method", b"{}", "invalid_signature", target="/v1/unregister",
         signature=lambda made: ALICE.secret.sign(
             f"DELETE:/unregister:{NOW}:{hashlib.sha256(b'{}').hexdigest()}".encode()).hex())
    case("16 301 seconds old", REGISTER, "expired_timestamp", now=NOW + 301)
    case("16 301 seconds ahead", REGISTER, "expired_timestamp", now=NOW - 301)
    case("16 the year 5138", REGISTER, "expired_timestamp", time="99999999999")
    for text in (f"-{NOW}", f"+{NOW}", f"0{NOW}", f"{NOW}.0", f"{NOW}000", str(2**63), f"{NOW} ", "1e9"):
        case(f"16 time '{text}'", REGISTER, "invalid_signature", time=text)
    case("17 the prefixed path is signed, and not taken", REGISTER, "invalid_signature", path="/v1/register")
    for name, text in (("51", ALICE.name[:-1]), ("53", ALICE.name + "y"), ("upper case", ALICE.name.upper()),
                       ("prefix", "pk:" + ALICE.name), ("alphabet", "l" + ALICE.name[1:])):
        case(f"18 key, {name}", REGISTER, "invalid_signature", change=instead("X-Pubky-Pubkey", text))
    last = LETTERS.index(ALICE.name[-1]) & 16
    for other in range(1, 16):
        alias = ALICE.name[:-1] + LETTERS[last + other]
        case(f"18 key, alias {other}", REGISTER, "invalid_signature", change=instead("X-Pubky-Pubkey", alias))
    for number, point in enumerate((bytes([1] + [0] * 31), bytes(32), bytes([0xEC] + [0xFF] * 30 + [0x7F]),
                                    bytes([0xEE] + [0xFF] * 30 + [0x7F]), bytes([1] + [0] * 30 + [0x80]))):
        case(f"19 key {number} of small order", REGISTER, "invalid_signature",
             change=instead("X-Pubky-Pubkey", zbase32(point)), signature=lambda made: point.hex() + "00" * 32)
    case("10 version 2, another relay's", wake(), "invalid_signature", target="/v1/wake", audience="push.other")
    case("10 version 1 where it is refused", wake(), "invalid_signature", target="/v1/wake", v1="reject")
    case("10 version 2 without audience", wake(), "invalid_signature", target="/v1/wake", audience=AUDIENCE,
         change=without("X-Pubky-Audience"))
    case("10 version 2 stripped to 1", wake(), "invalid_signature", target="/v1/wake", audience=AUDIENCE,
         change=lambda fields: without("X-Pubky-Audience")(without("X-Pubky-Version")(fields)))
    case("10 another audience in the body", wake(audience="push.other"), "invalid_signature", target="/v1/wake")


def body():
    to = {"target": "/v1/wake"}
    case("20 another sender", wake(sender_pubkey=BOB.name), "invalid_signature", **to)
    case("20 no sender", wake(sender_pubkey=None), "invalid_request", **to)
    case("20 recipient malformed", wake(recipient_pubkey="pk:" + BOB.name), "invalid_request", **to)
    case("20 recipient of small order", wake(recipient_pubkey=zbase32(bytes(32))), "invalid_request", **to)
    for name, nonce in (("missing", None), ("odd", NONCE[:-1]), ("15 bytes", NONCE[:-2]), ("no digits", "z" * 32),
                        ("long", "a" * 10_000), ("a number", 7)):
        case(f"21 nonce, {name}", wake(nonce=nonce), "invalid_request", **to)
    for text in ("", "Noise", "a b", "a" * 65, "a\n"):
        case(f"wake_type {text[:8]!r}", wake(wake_type=text), "invalid_request", **to)
    for name, text in (("base64url", "-_8="), ("no padding", "YQ"), ("3,073 bytes",
                       base64.b64encode(bytes(3073)).decode()), ("white space", "YWE=\n")):
        case(f"26 payload, {name}", wake(payload=text), "invalid_payload", **to)
    case("39 ticket malformed", wake(ticket="abc"), "invalid_ticket", **to)
    for platform, token in (("ios", "0" * 63), ("ios", "0" * 65), ("ios", "0" * 202), ("ios", "g" * 64),
                            ("android", "a" * 31), ("android", "a" * 4097), ("android", "a" * 40 + "\n"),
                            ("android", "a" * 40 + "\0"), ("ios", "aB-_9:" * 20), ("webpush", "a" * 64)):
        case(f"22 token, {platform}, {len(token)} of {token[-1]!r}",
             json.dumps({"platform": platform, "token": token}).encode(), "invalid_token")
    case("22 platform unknown", json.dumps({"platform": "windows", "token": IOS_TOKEN}).encode(), "invalid_request")
    for name, text in (("UTF-8", b'{"platform":"\xff"}'), ("twice", b'{"a":1,"a":2}'), ("deep", b"[" * 10_000),
                       ("no number", b'{"a":1e400}'), ("array", b"[]"), ("empty", b""), ("mark", b"\xef\xbb\xbf{}"),
                       ("UTF-16", '{"a":1}'.encode("utf-16-le")), ("escaped twice", b'{"a":1,"\\u0061":2}'),
                       ("surrogate", b'{"a":"\\ud800"}'), ("two", b"{}{}"), ("zero", b'{"a":01}')):
        case(f"23 body, {name}", text, "invalid_request")
    case("24 16 KiB and a byte", b'{"a":"' + b"a" * 16_377 + b'"}', "payload_too_large")
    case("25 GET", b"", "method_not_allowed", method="GET")
    case("25 PUT", b"", "method_not_allowed", method="PUT", target="/v1/wake")
    for target in ("/register", "/v1/register/", "/v1//register", "/v1/wake/../register", "/v1/%72egister", "/v2/wake",
                   "/v1/register?x", "http://push.example/v1/register", "*", "", "/v1/wake?device_id=a"):
        case(f"25 target '{target}'", REGISTER, "not_found", target=target)
    case("contacts with one key in both", json.dumps({"allow": [BOB.name], "block": [BOB.name]}).encode(),
         "invalid_request", method="PUT", target="/v1/contacts")


valid()
head()
body()
print(json.dumps({"audience": AUDIENCE, "cases": CASES}, indent=1, ensure_ascii=True))
