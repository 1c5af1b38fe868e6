"""Arithmetic of integers, and of expressions whose parts are all constants."""

from __future__ import annotations

import math

from pypto_tmpl import ir
from pypto_tmpl.upstream.arith.known import Known


def gcd(a: int, b: int) -> int:
    """The greatest common divisor, 0 or more."""
    return math.gcd(a, b)


def lcm(a: int, b: int) -> int:
    """The least common multiple, 0 or more."""
    return math.lcm(a, b)


def floordiv(x: int, y: int) -> int:
    """The quotient rounded down; ValueError for a division by zero."""
    return x // _divisor(y)


def floormod(x: int, y: int) -> int:
    """What ``floordiv`` leaves, with the sign of ``y``; ValueError for a division by zero."""
    return x % _divisor(y)


def extended_euclidean(a: int, b: int) -> tuple[int, int, int]:
    """``(g, x, y)`` with ``a * x + b * y == g``, the greatest common divisor, 0 or more."""
    rows = (abs(a), 1, 0), (abs(b), 0, 1)
    while rows[1][0]:
        (g, x, y), (h, u, v) = rows
        times = g // h
        rows = (h, u, v), (g - times * h, x - times * u, y - times * v)
    g, x, y = rows[0]
    return g, -x if a < 0 else x, -y if b < 0 else y


def fold_const(expr: ir.Expr) -> ir.Expr:
    """The constant that an integer expression of constants is; any other expression simplified."""
    return Known().simplified(expr)


def _divisor(y: int) -> int:
    if y == 0:
        raise ValueError("division by zero")
    return y
