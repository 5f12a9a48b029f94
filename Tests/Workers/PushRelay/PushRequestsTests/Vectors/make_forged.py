#!/usr/bin/env python3
"""Makes forged.json: registrations with signatures about which libraries disagree, in the form of requests.json.

The kinds are those of "Taming the many EdDSAs" (Chalkias, Garillot, Nikolaenko, 2020) and of its ed25519-speccheck,
made for messages of ours, and keys of small order in all their spellings. Written by hand, so by none of the code
that is tested:

    python3 make_forged.py > forged.json
"""
import base64
import hashlib
import itertools
import json

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
NOW = 1_760_000_000
LETTERS = "ybndrfg8ejkmcpqxot1uwisza345h769"
BASE = (15112221349535400772501151409588531511454012693041857206046113283949847762202, 4 * pow(5, -1, P) % P)
ZERO = (0, 1)


def add(a, b):
    product = D * a[0] * b[0] * a[1] * b[1] % P
    x = (a[0] * b[1] + b[0] * a[1]) * pow(1 + product, -1, P)
    y = (a[1] * b[1] + a[0] * b[0]) * pow(1 - product, -1, P)
    return x % P, y % P


def times(number, point):
    result = ZERO
    while number:
        if number & 1:
            result = add(result, point)
        point, number = add(point, point), number >> 1
    return result


def encoded(point):
    return (point[1] | (point[0] & 1) << 255).to_bytes(32, "little")


def point_of(y):
    """A point with this y; None if there is none."""
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * pow(2, (P - 1) // 4, P) % P
    return (x, y) if x * x % P == square else None


def torsion():
    """The eight points of small order, the one at place n being n times the second."""
    for y in itertools.count(2):
        point = point_of(y)
        one = point and times(L, point)
        if one and times(4, one) != ZERO:
            return [times(number, one) for number in range(8)]


SMALL = torsion()
# One that is not reduced, and whose sign is that of nothing: a spelling of the point of order 2.
ODD = bytes([0xEC] + [0xFF] * 31)


def spellings():
    """Each spelling of a point of small order, with the point."""
    for point in SMALL:
        yield encoded(point), point
        for y in {point[1], point[1] + P}:
            for sign in (0, 1):
                text = (y | sign << 255).to_bytes(32, "little") if y < 2**255 else b""
                if text and text != encoded(point) and (point[0] == 0 or point[0] & 1 == sign):
                    yield text, point


def zbase32(data):
    bits = "".join(f"{byte:08b}" for byte in data)
    bits += "0" * (-len(bits) % 5)
    return "".join(LETTERS[int(bits[at:at + 5], 2)] for at in range(0, len(bits), 5))


def scalar(name):
    return int.from_bytes(hashlib.sha512(name.encode()).digest(), "little") % L


CASES = []


def case(name, expect, make):
    """`make` gives key and signature for a function of the hash, or None: then the body is another."""
    for spaces in itertools.count():
        body = b'{"platform":"ios","token":"' + b"0f" * 32 + b'","device_id":"' + str(len(CASES)).encode() + b'"}'
        body += b" " * spaces
        message = f"POST:/register:{NOW}:{hashlib.sha256(body).hexdigest()}".encode()

        def hashed(r, a):
            return int.from_bytes(hashlib.sha512(r + a + message).digest(), "little") % L

        made = make(hashed)
        if made is None:
            continue
        key, r, s = made
        fields = [["Content-Type", "application/json"], ["X-Pubky-Signature", (r + s.to_bytes(32, "little")).hex()],
                  ["X-Pubky-Timestamp", str(NOW)], ["X-Pubky-Pubkey", zbase32(key)]]
        CASES.append({
            "name": f"19 {name}", "seed": "", "now": NOW, "method": "POST", "target": "/v1/register", "fields": fields,
            "body": base64.b64encode(body).decode(), "rules": {}, "expect": expect,
        })
        return


def small_key(spelling, point):
    """The constant that anybody can make: S = 0 and R of small order."""
    def make(hashed):
        for r in SMALL:
            text = encoded(r)
            if add(r, times(hashed(text, spelling), point)) == ZERO:
                return spelling, text, 0
        return None
    return make


def right(r_torsion, a_torsion, *, cofactor_only=False, r_text=None, hashed_r=None, a_text=None, hashed_a=None,
          small_r=False, small_a=False, more=0):
    """A signature whose torsion cancels, or only does when it is multiplied by eight; `more` times L added to S."""
    a, r = (0 if small_a else scalar("key")), (0 if small_r else scalar("nonce"))

    def make(hashed):
        for first in SMALL if r_torsion is None else [SMALL[r_torsion]]:
            r_point = add(times(r, BASE), first)
            a_point = add(times(a, BASE), SMALL[a_torsion])
            text, key = r_text or encoded(r_point), a_text or encoded(a_point)
            number = hashed(hashed_r or text, hashed_a or key)
            cancels = add(first, times(number, SMALL[a_torsion])) == ZERO
            if cancels == cofactor_only or (r_torsion is None and first == ZERO):
                continue
            return key, text, (r + number * a) % L + more * L
        return None
    return make


def main():
    half = SMALL[4]
    case("0: A of small order, S = 0", "invalid_signature", small_key(encoded(SMALL[1]), SMALL[1]))
    case("1: A of small order, R mixed", "invalid_signature", right(None, 1, small_a=True))
    case("2: R of small order, A mixed", "invalid_signature", right(None, 1, small_r=True))
    case("3: A and R mixed, right with and without the cofactor", "ok", right(None, 1))
    case("4: A and R mixed, right with the cofactor only", "invalid_signature", right(None, 1, cofactor_only=True))
    case("5: A mixed, right with the cofactor only", "invalid_signature", right(0, 1, cofactor_only=True))
    case("6: S not below L", "invalid_signature", right(0, 0, more=1))
    case("7: S far above L", "invalid_signature", right(0, 0, more=14))
    for number, hashed in ((8, ODD), (9, encoded(half))):
        case(f"{number}: R not reduced, of small order", "invalid_signature",
             right(4, 1, small_r=True, r_text=ODD, hashed_r=hashed))
    for number, hashed in ((10, ODD), (11, encoded(half))):
        case(f"{number}: A not reduced, of small order", "invalid_signature",
             right(None, 4, small_a=True, a_text=ODD, hashed_a=hashed))
    case("the same key and nonce, signed as everybody does", "ok", right(0, 0))
    for text, point in spellings():
        case(f"key {text.hex()[:4]}…{text.hex()[-4:]} of small order", "invalid_signature", small_key(text, point))
    print(json.dumps({"audience": "push.example", "cases": CASES}, indent=1, ensure_ascii=True))


main()
