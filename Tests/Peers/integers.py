#!/usr/bin/env python3
"""Computes with Python's integers, a line in and a line out, until standard input ends.

A line in is an operation and hexadecimal numbers; a line out is one number, or "none". Modulo p, the field of
secp256k1: add, subtract, negate, multiply, square, invert, root. Modulo n, the order of its group: reduce; products,
a sum of a · b over pairs; split FIRST SIGN SECOND SIGN, which gives FIRST + SECOND · λ with signs 0 and 1.
A peer for the tests, of the standard library alone.
"""

import sys

P = 2**256 - 2**32 - 977
N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141


def third_root(modulus):
    """A number that is not 1, and whose third power is."""
    base = 2
    while pow(base, (modulus - 1) // 3, modulus) == 1:
        base += 1
    return pow(base, (modulus - 1) // 3, modulus)


def image(scalar):
    """The x coordinate of the point G times a scalar."""
    total, power = None, (0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
                          0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8)
    while scalar:
        if scalar & 1:
            total = power if total is None else added(total, power)
        power, scalar = added(power, power), scalar >> 1
    return total[0]


def added(left, right):
    """The sum of two points, which are not opposite."""
    if left == right:
        slope = 3 * left[0] ** 2 * pow(2 * left[1], -1, P)
    else:
        slope = (right[1] - left[1]) * pow(right[0] - left[0], -1, P)
    x = (slope**2 - left[0] - right[0]) % P
    return x, (slope * (left[0] - x) - left[1]) % P


def root(value):
    """The square root that is a power, if it is a root."""
    found = pow(value, (P + 1) // 4, P)
    return found if found * found % P == value else None


BETA = third_root(P)
LAMBDA = third_root(N)
if image(LAMBDA) != BETA * image(1) % P:
    LAMBDA = LAMBDA * LAMBDA % N


def split(first, first_sign, second, second_sign):
    """What two halves with signs are together."""
    return ((-1) ** first_sign * first + (-1) ** second_sign * second * LAMBDA) % N


OPERATIONS = {
    "add": lambda a, b: (a + b) % P,
    "subtract": lambda a, b: (a - b) % P,
    "negate": lambda a: -a % P,
    "multiply": lambda a, b: a * b % P,
    "square": lambda a: a * a % P,
    "invert": lambda a: pow(a, -1, P) if a else 0,
    "root": root,
    "reduce": lambda a: a % N,
    "products": lambda *pairs: sum(a * b for a, b in zip(pairs[::2], pairs[1::2])) % N,
    "split": split,
    "beta": lambda: BETA,
}


for line in sys.stdin:
    operation, *numbers = line.split()
    result = OPERATIONS[operation](*(int(number, 16) for number in numbers))
    print("none" if result is None else f"{result:064x}", flush=True)
