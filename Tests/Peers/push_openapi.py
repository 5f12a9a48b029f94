"""What schemathesis is told of the push relay: who signs, and what a document in OpenAPI cannot say."""
import base64
import hashlib
import json
import os
import time

import requests
import schemathesis
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

LETTERS = "ybndrfg8ejkmcpqxot1uwisza345h769"


def zbase32(data):
    bits = "".join(f"{byte:08b}" for byte in data)
    bits += "0" * (-len(bits) % 5)
    return "".join(LETTERS[int(bits[at:at + 5], 2)] for at in range(0, len(bits), 5))


class Key:
    def __init__(self, name):
        self.secret = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(name.encode()).digest())
        self.name = zbase32(self.secret.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))


class Caller:
    """Who asks, and from where. Limits are for each key and each network, so another one comes after a few requests."""

    REQUESTS = 8

    def __init__(self):
        self.number, self.keys = 0, {}

    def key(self, place):
        if place not in self.keys:
            self.keys[place] = Key(f"caller {place}")
        return self.keys[place]

    @property
    def present(self):
        return self.key(self.number // self.REQUESTS)

    @property
    def first(self):
        """The one that asked first: the test has registered it."""
        return self.key(0)

    @property
    def address(self):
        place = self.number // self.REQUESTS
        return f"198.18.{place // 256 % 256}.{place % 256}"

    def went_on(self):
        self.number += 1


CALLER, FRIEND = Caller(), Key("friend")
# A point of P-256: the base point, uncompressed.
POINT = bytes.fromhex(
    "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
    "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")


def base64url(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class Signature(requests.auth.AuthBase):
    """Signs what is sent, byte for byte."""

    def __call__(self, request):
        body = request.body or b""
        if isinstance(body, str):
            body = body.encode()
        path = request.path_url.removeprefix("/v1")
        now = str(int(time.time()))
        message = f"{request.method}:{path}:{now}:{hashlib.sha256(body).hexdigest()}"
        key = CALLER.present
        request.headers["X-Pubky-Pubkey"] = key.name
        request.headers["X-Pubky-Timestamp"] = now
        request.headers["X-Pubky-Signature"] = key.secret.sign(message.encode()).hex()
        request.headers["X-Forwarded-For"] = CALLER.address
        CALLER.went_on()
        return request


# That of X25519 (RFC 7748, 6.1: Alice's key).
SEALING = "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"


def ticket():
    claims = f'{{"v":1,"iss":"{FRIEND.name}","sub":"*","exp":{int(time.time()) + 3600}}}'
    text = base64url(claims.encode())
    return f"{text}.{base64url(FRIEND.secret.sign(b'pubky-push-ticket/1:' + text.encode()))}"


def amend_wake(body):
    """The sender is who signs, the recipient a key, the payload no larger than every platform takes."""
    body["sender_pubkey"] = CALLER.present.name
    body["recipient_pubkey"] = CALLER.first.name
    if body.get("payload"):
        body["payload"] = body["payload"][:1024]
    if body.get("ticket") is not None:
        body["recipient_pubkey"], body["ticket"] = FRIEND.name, ticket()


def amend_registration(body):
    """Keys that are points, at a host that is everybody's, and no code, since none was sent."""
    body.pop("challenge", None)
    if body.get("enc_pubkey") is not None:
        body["enc_pubkey"] = SEALING
    token, subscription = body.get("token"), {"endpoint": "https://push.example.org/a"}
    if isinstance(token, dict):
        token.update(subscription)
        token.get("keys", token)["p256dh"] = base64url(POINT)
    elif body.get("platform") == "webpush":
        keys = {"p256dh": base64url(POINT), "auth": base64url(bytes(16))}
        body["token"] = json.dumps(subscription | {"keys": keys})


def amend_contacts(body):
    """Keys that are keys, each in one list."""
    for list_name in ("allow", "block"):
        if body.get(list_name):
            body[list_name] = [Key(list_name + text).name for text in body[list_name]]


def amend_selection(body):
    if body.get("device_id") is not None:
        body.pop("relay_id", None)


AMENDMENTS = {
    "wake": amend_wake, "register": amend_registration, "writeContacts": amend_contacts,
    "unregister": amend_selection, "unregisterByPost": amend_selection,
}


def is_as_documented(case):
    return case.meta is None or case.meta.generation.mode == schemathesis.GenerationMode.POSITIVE


@schemathesis.hook
def before_call(context, case, kwargs):
    """Mends what is right by the document and wrong for a reason that it cannot say."""
    name = case.operation.definition.raw.get("operationId")
    if not is_as_documented(case) or name not in AMENDMENTS:
        return
    if isinstance(case.body, dict):
        AMENDMENTS[name](case.body)
    if name == "unregister" and case.query:
        if "device_id" in case.query:
            case.query.pop("relay_id", None)
        if case.query:
            # Named in the query is named.
            case.body = {}


if os.environ.get("PUSH_SIGNED") == "1":
    schemathesis.auth.set_from_requests(Signature())
