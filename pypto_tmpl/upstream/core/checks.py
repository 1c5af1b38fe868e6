"""Checks that raise what PyPTO's do: ValueError for its users, InternalError for its own invariants."""

from __future__ import annotations

from pypto_tmpl.ir import InternalError, Span


def check(condition: bool, message: str) -> None:
    """Raise ValueError with that message unless the condition holds."""
    if not condition:
        raise ValueError(message)


def internal_check(condition: bool, message: str) -> None:
    """Raise InternalError with that message unless the condition holds."""
    if not condition:
        raise InternalError(message)


def internal_check_span(condition: bool, message: str, span: Span) -> None:
    """As ``internal_check``; the message ends in the position, where that is known."""
    internal_check(condition, f"{message} [{span}]" if span.is_valid() else message)
