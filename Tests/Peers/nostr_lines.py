#!/usr/bin/env python3
"""Does with nostr-sdk what a line asks for, and answers with a line, until standard input ends.

    ["nip44-encrypt", SECRET, PUBLIC, TEXT]   →   {"ok": [PAYLOAD]}     or     {"error": "what nostr-sdk said"}

All arguments and results are strings; keys are hexadecimal digits. COMMANDS below is the list. A peer for the tests:
other people's reading of the NIPs.
"""

import json
import sys

from nostr_sdk import (
    EncryptedSecretKey, Event, Keys, KeySecurity, Nip44Version, PublicKey, SecretKey, UnsignedEvent, UnwrappedGift,
    nip04_decrypt, nip04_encrypt, nip44_decrypt, nip44_encrypt, nip59_make_gift_wrap,
)


def sign(secret, template):
    return UnsignedEvent.from_json(template).sign(Keys.parse(secret)).as_json()


def verify(text):
    return "valid" if Event.from_json(text).verify() else "invalid"


def wrap(secret, public, rumor):
    unsigned = UnsignedEvent.from_json(rumor)
    return nip59_make_gift_wrap(Keys.parse(secret), PublicKey.parse(public), unsigned).as_json()


def unwrap(secret, text):
    gift = UnwrappedGift.from_gift_wrap(Keys.parse(secret), Event.from_json(text))
    return gift.sender().to_hex(), gift.rumor().as_json()


def encrypt_key(secret, password, log_n):
    return EncryptedSecretKey(SecretKey.parse(secret), password, int(log_n), KeySecurity.MEDIUM).to_bech32()


COMMANDS = {
    "sign": sign,
    "verify": verify,
    "wrap": wrap,
    "unwrap": unwrap,
    "encrypt-key": encrypt_key,
    "decrypt-key": lambda text, password: EncryptedSecretKey.from_bech32(text).decrypt(password).to_hex(),
    "nip04-encrypt": lambda secret, public, text: nip04_encrypt(SecretKey.parse(secret), PublicKey.parse(public), text),
    "nip04-decrypt": lambda secret, public, text: nip04_decrypt(SecretKey.parse(secret), PublicKey.parse(public), text),
    "nip44-encrypt": lambda secret, public, text: nip44_encrypt(
        SecretKey.parse(secret), PublicKey.parse(public), text, Nip44Version.V2),
    "nip44-decrypt": lambda secret, public, text: nip44_decrypt(SecretKey.parse(secret), PublicKey.parse(public), text),
}


def main():
    for line in sys.stdin.buffer:
        command, *arguments = json.loads(line)
        try:
            result = COMMANDS[command](*arguments)
            answer = {"ok": list(result) if isinstance(result, tuple) else [result]}
        except Exception as error:  # nostr-sdk has a type of its own for every module
            answer = {"error": f"{type(error).__name__}: {error}"}
        sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
        sys.stdout.buffer.flush()


main()
