"""The registry of ops as users of ``ir`` ask it: by name, with expressions for operands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from pypto_tmpl import ir
from pypto_tmpl.errors import PyptoTmplError
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


@dataclass(frozen=True, slots=True)
class OpMemorySpec:
    """The memory spaces that an op takes and gives."""

    inputs: tuple[tuple[ir.MemorySpace, ...], ...]
    """For each operand the spaces that it may be in, the preferred one first; none where any will do."""
    output: ir.MemorySpace | None
    """The space of the result, where it is always the same."""


def get_op_memory_spec(op_name: str) -> OpMemorySpec | None:
    """The spaces of an op's operands and result, None where the op takes and gives values of any space."""
    facts = load_table().facts(get_op(op_name).name)
    output = ir.MemorySpace.__members__.get(facts.result_memory or "")
    return OpMemorySpec(facts.operand_memory, output) if any(facts.operand_memory) or output else None


def get_op_arg_effect(op_name: str, arg_index: int, **kwargs: Any) -> ir.ArgEffect:
    """What a call of the op with these keywords does to the storage of an operand: it reads, unless declared.

    Raises: UnknownOpError; IndexError for an operand that the op does not have.
    """
    entry = load_table()[op_name]
    if not 0 <= arg_index < len(entry.operands):
        raise IndexError(f"{op_name} has {len(entry.operands)} operands, there is no operand {arg_index}")
    rule = load_table().facts(op_name).effects.get(arg_index)
    return ir.ArgEffect.Read if rule is None else rule.of_call(entry, kwargs)


class WriteChannelError(PyptoTmplError, NotImplementedError):
    """The way by which an op writes was asked for."""

    slug = "write-channel"


def get_op_write_channel(op_name: str) -> NoReturn:
    """Refused: the table does not say by which way (``WriteChannel``) an op's writes reach global memory.

    Raises: UnknownOpError; WriteChannelError, rather than to give a channel that PyPTO may not have.
    """
    note = "get_op_arg_effect tells whether an operand is written"
    raise WriteChannelError(f"{get_op(op_name).name}: its write channel is not known", notes=[note])


def op_has_declared_arg_effect(op_name: str, arg_index: int) -> bool:
    """Whether the op declares what it does to the storage of that operand."""
    return arg_index in load_table().facts(get_op(op_name).name).effects


def op_has_declared_arg_effects(op_name: str) -> bool:
    """Whether the op declares its effects on operands, be it that there are none."""
    return load_table().facts(get_op(op_name).name).declares_effects
