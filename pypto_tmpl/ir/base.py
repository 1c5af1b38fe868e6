"""Roots of the IR class hierarchy."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, fields
from enum import Enum
from typing import Annotated, Any, TypeVar

from pypto_tmpl.ir.span import Span

DYNAMIC_DIM = -1


class FieldRole(Enum):
    """How structural comparison treats a field; given as ``Annotated[..., DEFINITION]``."""

    COMPARED = "compared"
    DEFINITION = "definition"  # binds variables: the two sides pair up
    IGNORED = "ignored"


DEFINITION = FieldRole.DEFINITION
IGNORED = FieldRole.IGNORED


class InternalError(RuntimeError):
    """An invariant of the IR does not hold (upstream's ``pypto.InternalError``)."""


_set = object.__setattr__


def set_fields(node: object, **values: object) -> None:
    """Set fields of a frozen node that is being constructed."""
    for name, value in values.items():
        _set(node, name, value)


@dataclass(slots=True)
class _Above:
    """What nodes offer as methods and modules over them do, which say so when they are loaded."""

    text: Callable[..., str]
    equal: Callable[[object, object], bool]
    hash: Callable[[object], int]


def _not_loaded(*_: object) -> Any:
    raise InternalError("the package pypto_tmpl.ir is not loaded as a whole")


_above = _Above(_not_loaded, _not_loaded, _not_loaded)


def provide_text(text: Callable[..., str]) -> None:
    """Say what prints nodes and types."""
    _above.text = text


def provide_equality(equal: Callable[[object, object], bool], hash: Callable[[object], int]) -> None:
    """Say what compares types and views by structure."""
    _above.equal, _above.hash = equal, hash


def equal(a: object, b: object) -> bool:
    """Structural equality."""
    return _above.equal(a, b)


def hash_of(value: object) -> int:
    """The hash that goes with structural equality."""
    return _above.hash(value)


T = TypeVar("T")


def node_tuple(values: Any, kind: type[T] | tuple[type[T], ...], field: str, owner: object) -> tuple[T, ...]:
    """``values`` as a tuple after checking that each is a ``kind``; a TypeError as of ``check_kind`` else."""
    if not isinstance(values, Iterable):
        what = f"{type(owner).__name__}.{field}"
        raise TypeError(f"{what} must be a list of {_kind_name(kind)}, got {type(values).__name__}")
    found = tuple(values)
    for i, value in enumerate(found):
        if not isinstance(value, kind) or value is True or value is False:
            check_kind(value, kind, f"{field}[{i}]", owner)
    return found


def check_kind(value: object, kind: type | tuple[type, ...], field: str, owner: object) -> None:
    """Raise TypeError naming the class of ``owner`` and ``field`` unless ``value`` is a ``kind``.

    A bool is none of the integers.
    """
    if not isinstance(value, kind) or ((value is True or value is False) and kind is not bool):
        what = f"{type(owner).__name__}.{field}"
        raise TypeError(f"{what} must be {_kind_name(kind)}, got {type(value).__name__}")


def check_int64(value: int, what: str) -> None:
    """Raise ValueError unless ``value`` is a signed 64-bit integer; ``what`` begins the message."""
    _check_bits(value, -(2**63), 2**63, f"{what} an int64")


def check_uint64(value: int, what: str) -> None:
    """Raise ValueError unless ``value`` is an unsigned 64-bit integer; ``what`` begins the message."""
    _check_bits(value, 0, 2**64, f"{what} an unsigned 64-bit integer")


def _check_bits(value: int, low: int, end: int, what: str) -> None:
    if not low <= value < end:
        # Python refuses to write out numbers of thousands of digits.
        shown = str(value) if value.bit_length() <= 128 else f"one of {value.bit_length()} bits"
        raise ValueError(f"{what}, got {shown}")


def _kind_name(kind: type | tuple[type, ...]) -> str:
    kinds = kind if isinstance(kind, tuple) else (kind,)
    return " or ".join("None" if k is type(None) else k.__name__ for k in kinds)


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class IRNode:
    """Base of all nodes; nodes are compared by identity."""

    span: Annotated[Span, IGNORED]

    def same_as(self, other: object) -> bool:
        """True when ``other`` is this very object."""
        return self is other

    def as_python(self, prefix: str = "pl", concise: bool = False, format: bool = False) -> str:
        """Text of the node in the language (``python_print``)."""
        return _above.text(self, prefix, concise, format)

    def __str__(self) -> str:
        return self.as_python()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {self.span}>"


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class Type:
    """Base of all types; not a node. Types are equal when they are structurally equal."""

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Type) and equal(self, other))

    def __hash__(self) -> int:
        return hash_of(self)

    def as_python(self, prefix: str = "pl", concise: bool = False, format: bool = False) -> str:
        """Text of the type in the language (``python_print``)."""
        return _above.text(self, prefix, concise, format)

    def __str__(self) -> str:
        return self.as_python()

    def __repr__(self) -> str:
        inner = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self))
        return f"{type(self).__name__}({inner})"


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class Expr(IRNode):
    """Base of expressions: nodes that have a value of ``type``."""

    type: Type

    def extent_parts(self) -> tuple[Hashable, tuple[Expr, ...]] | None:
        """What two equal extents share and the parts in which they agree; None where only identity counts."""
        return None


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class Stmt(IRNode):
    """Base of statements; ``leading_comments`` holds comment lines without their ``#``."""

    leading_comments: Annotated[tuple[str, ...], IGNORED]


def set_expr_fields(expr: Expr, span: Span | None, type: Type, **values: object) -> None:
    """Set the fields of an expression that is being constructed, with span and type checked."""
    check_kind(span, Span, "span", expr)
    check_kind(type, Type, "type", expr)
    _set(expr, "span", span)
    _set(expr, "type", type)
    for name, value in values.items():
        _set(expr, name, value)


def set_stmt_fields(stmt: Stmt, span: Span | None, **values: object) -> None:
    """Set the fields of a statement that is being constructed, with the span checked; it has no comments."""
    check_kind(span, Span, "span", stmt)
    _set(stmt, "span", span)
    _set(stmt, "leading_comments", ())
    for name, value in values.items():
        _set(stmt, name, value)


def attach_leading_comments(stmt: Stmt, comments: Iterable[str]) -> Stmt:
    """``stmt`` with the comments in front of it replaced; raises ValueError for a statement sequence."""
    found = node_tuple(comments, str, "leading_comments", stmt)
    if found and type(stmt).__name__ == "SeqStmts":
        raise ValueError("a SeqStmts carries no leading comments; attach them to its first statement")
    set_fields(stmt, leading_comments=found)
    return stmt
