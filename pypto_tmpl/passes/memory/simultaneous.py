"""Copies that happen all at once, in an order in which none takes what another one still reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pypto_tmpl import ir
from pypto_tmpl.passes.base import PassError
from pypto_tmpl.passes.memory.buffers import Buffers

Copy = tuple[ir.Var, ir.Expr]


def in_order(
    copies: Sequence[Copy], buffers: Buffers, function: ir.Function, stmt: ir.Stmt
) -> Iterator[Copy]:
    """Pairs of destination and value, each behind those whose values it overwrites.

    Raises PassError where they go in a circle: that takes another buffer, which the plan has not got.
    """
    waiting = list(copies)
    while waiting:
        at = next((n for n, one in enumerate(waiting) if not _is_needed(one, waiting, buffers)), None)
        if at is None:
            names = ", ".join(f"{value} to {target}" for target, value in map(_named, waiting))
            what = f"copies go in a circle, and no buffer is planned to keep one of them meanwhile: {names}"
            raise PassError(what, function, stmt, variable=waiting[0][0])
        yield waiting.pop(at)


def _named(pair: Copy) -> tuple[str, str]:
    return repr(pair[0].name_hint), repr(getattr(pair[1], "name_hint", "a value"))


def _is_needed(one: Copy, waiting: Sequence[Copy], buffers: Buffers) -> bool:
    """Whether a copy would change what another one reads."""
    target, value = one
    moves = not buffers.are_one_place(target, value)
    for other in waiting:
        if other is one:
            continue
        if buffers.origin(other[1]) is target or moves and buffers.may_overlap(target, other[1]):
            return True
    return False
