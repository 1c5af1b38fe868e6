"""What the namespaces are given and what they refuse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from pypto_tmpl import ir
from pypto_tmpl.ir.printer import type_text

Argument: TypeAlias = "ir.Expr | int | float | bool | str | None | ir.DataType | Enum | Sequence[Argument]"
"""An operand or keyword: a Python number is a literal of the text; an ``ir`` constant has its own dtype,
except an INDEX ConstInt, which is what an integer literal becomes."""


@dataclass(frozen=True, slots=True)
class CallContext:
    """Where a call stands."""

    span: ir.Span
    is_statement: bool = False  # nothing reads its value
    split: ir.SplitMode | None = None  # of the enclosing split_aiv region
    target: str = ""  # the name that the call is assigned to
    is_judged: bool = True  # a run may reach it, so that what its rules cannot prove is an error


class OpCallError(TypeError):
    """A call that the op does not take: which op, which operand, what it is and what it should be."""

    def __init__(self, message: str, hint: str | None = None, order: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        self.order = order  # of the parameters, for calls that are written out


class NoRuleOpCallError(OpCallError):
    """The op takes the call, and only an annotation can say of which type its result is."""


class UnknownOpCallError(OpCallError):
    """A name that no namespace has."""


def shown_argument(value: Argument) -> str:
    """An argument in a message: its type, and its value where it is a Python value."""
    if isinstance(value, ir.Expr):
        return type_text(value.type)
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}"
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, ir.DataType):
        return f"the dtype {value.name}"
    return repr(value)
