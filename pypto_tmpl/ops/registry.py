"""The registry of ops as users of ``ir`` ask it: by name, with expressions for operands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.ops.calls import OpCallError, call
from pypto_tmpl.ops.loader import load_table


def is_op_registered(op_name: str) -> bool:
    """Whether the op table has an op of that name."""
    return op_name in load_table()


def get_op(op_name: str) -> ir.Op:
    """The op of that name; UnknownOpError where there is none."""
    return ir.Op(load_table()[op_name].name)


def keyword_names(op_name: str) -> tuple[str, ...]:
    """The keywords of an op, none for a name that the table does not have."""
    entry = load_table().get(op_name)
    return () if entry is None else entry.kwarg_names


def create_op_call(
    op_name: str,
    args: Sequence[ir.Expr],
    kwargs: Mapping[str, Any] | ir.Span | None = None,
    span: ir.Span | None = None,
) -> ir.Call:
    """The call of an op with the type that its operands give; ``create_op_call(name, args, span)`` works too.

    Raises: UnknownOpError, and OpCallError for operands or keywords that the op does not take.
    """
    if isinstance(kwargs, ir.Span):
        kwargs, span = None, kwargs
    for place, arg in enumerate(args):
        if not isinstance(arg, ir.Expr):
            raise OpCallError(f"{op_name}: args[{place}] is an expression, not {arg!r}")
    names = load_table()[op_name].kwarg_names
    for key in kwargs or ():
        if key not in names:
            listed = ", ".join(names) or "none"
            raise OpCallError(f"{op_name}: it has no keyword {key!r}; its keywords: {listed}")
    return call(op_name, *args, span=span, **dict(kwargs or {}))
