"""What the reader raises: what is wrong, where, the source line with a caret, and what to do (spec, 15)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import ClassVar

from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.ir import InternalError, Span
from pypto_tmpl.language.error_codes import ErrorCategory, ErrorCode, get_error_code
from pypto_tmpl.language.renderer import ErrorRenderer

BUG_CLASS_EXCEPTIONS = (InternalError, AssertionError)
"""What tells of a mistake in the reader, not in the text."""

_TRAILING_SPAN = re.compile(r" \[[^\[\]]*:\d+:\d+\]$")

_SHOWN_WIDTH = 120  # a dump's lines reach thousands of characters; the part around the caret is enough


class ParserError(PyptoTmplError):
    """Text that cannot be read; ``related`` holds the errors of other functions of the same text.

    ``span`` is a dict with ``filename``, ``line``, ``column``, ``begin_line`` and ``begin_column``, or None.
    """

    slug: ClassVar[str] = "E000"
    concerns_values: bool = (
        False  # it says that types or values do not fit, which only a run would suffer from
    )

    def __init__(
        self,
        message: str,
        span: Span | dict[str, object] | None = None,
        hint: str | None = None,
        note: str | None = None,
        source_lines: Sequence[str] | None = None,
    ) -> None:
        self.message = message
        self.span = _span_dict(span)
        self.hint = hint
        self.note = note
        self.source_lines = source_lines
        self.related: tuple[ParserError, ...] = ()
        notes = [f"{title}: {text}" for title, text in (("hint", hint), ("note", note)) if text]
        super().__init__(message, where=_where(self.span), notes=notes)

    def __str__(self) -> str:
        return "\n\n".join(self._text(error) for error in (self, *self.related))

    def without_slug(self) -> str:
        """The text of the error, source line and caret included, where its class's name stands before it."""
        return str(self).removeprefix(f"error[{self.error_slug}]: ")

    @staticmethod
    def _text(error: ParserError) -> str:
        head, *rest = PyptoTmplError.__str__(error).split("\n")
        where = rest[:1] if error.where else []
        notes = rest[len(where) :]
        return "\n".join([head, *where, *_excerpt(error.span, error.source_lines), *notes])


class ParserSyntaxError(ParserError):
    """A construct that is written wrongly."""

    slug = "E001"


class PythonSyntaxError(ParserSyntaxError, SyntaxError):
    """Text that Python itself cannot parse."""


class ProgramCountError(ParserError, ValueError):
    """Text with no function or program, or with several."""


class MissingSourceError(ParserError, ValueError):
    """A kernel source that does not exist."""


class ParserTypeError(ParserError):
    """A type, an annotation or an operand that does not fit."""

    slug = "E101"
    concerns_values = True


class UndefinedVariableError(ParserError):
    """A name that nothing defines."""

    slug = "E200"


class SSAViolationError(ParserError):
    """A second definition of a name where ``strict_ssa`` allows one."""

    slug = "E201"

    def __init__(
        self, message: str, span: Span | None = None, previous_span: Span | None = None, **more: object
    ) -> None:
        super().__init__(message, span, **more)  # type: ignore[arg-type]
        self.previous_span = _span_dict(previous_span)


class InvalidOperationError(ParserError, ValueError):
    """An op that does not exist, or that does not take what it was given."""

    slug = "E300"
    concerns_values = True


class UnsupportedFeatureError(ParserError):
    """Python that is not part of the language."""

    slug = "E301"


class BufferTextError(UnsupportedFeatureError):
    """Text of a program whose tiles are buffers, which is for people: its program is in the companion."""


class ScopeIsolationError(ParserError):
    """Kept for programs that name it; never raised."""


class PassedOverError(ParserError):
    """A statement that needs what one with an error would have given; nothing more is said of it."""

    concerns_values = True


def concise_error_message(exc: Exception, strip_trailing_span: bool = False) -> str:
    """What is wrong, in one line; ``strip_trailing_span`` leaves out a position at its end."""
    text = exc.message if isinstance(exc, ParserError) else str(exc)
    first = text.splitlines()[0] if text else type(exc).__name__
    return _TRAILING_SPAN.sub("", first) if strip_trailing_span else first


def several(errors: Sequence[ParserError]) -> ParserError:
    """One error that tells of all: the first of the text, with the others as its ``related``."""
    found = [inner for error in errors for inner in (error, *error.related)]
    first, *others = sorted(found, key=lambda error: int(str((error.span or {}).get("line", 0))))
    for error in others:
        error.related = ()
    first.related = tuple(others)
    return first


def _span_dict(span: Span | dict[str, object] | None) -> dict[str, object] | None:
    if span is None or isinstance(span, dict):
        return span
    line, column = span.begin_line, span.begin_column
    return {
        "filename": span.filename,
        "line": line,
        "column": column,
        "begin_line": line,
        "begin_column": column,
    }


def _where(span: dict[str, object] | None) -> str:
    return f"{span['filename']}:{span['line']}:{span['column']}" if span else ""


def _excerpt(span: dict[str, object] | None, lines: Sequence[str] | None) -> Iterable[str]:
    """The source line of ``span`` with a caret below, cut to what fits a screen."""
    if span is None or lines is None:
        return
    number, column = span["line"], span["column"]
    if not (isinstance(number, int) and isinstance(column, int) and 1 <= number <= len(lines)):
        return
    shown = "".join(c if c.isprintable() else " " for c in lines[number - 1])
    at = min(max(column - 1, 0), len(shown))
    start = max(0, at - _SHOWN_WIDTH // 2) if len(shown) > _SHOWN_WIDTH else 0
    end = start + _SHOWN_WIDTH
    before, after = "..." if start else "", "..." if end < len(shown) else ""
    margin = " " * len(str(number))
    yield f" {margin} |"
    yield f" {number} | {before}{shown[start:end]}{after}"
    yield f" {margin} | {' ' * (len(before) + at - start)}^"


__all__ = [
    "BUG_CLASS_EXCEPTIONS",
    "ErrorCategory",
    "ErrorCode",
    "ErrorRenderer",
    "InvalidOperationError",
    "MissingSourceError",
    "ParserError",
    "ParserSyntaxError",
    "ParserTypeError",
    "PassedOverError",
    "ProgramCountError",
    "PythonSyntaxError",
    "SSAViolationError",
    "ScopeIsolationError",
    "UndefinedVariableError",
    "UnsupportedFeatureError",
    "concise_error_message",
    "get_error_code",
    "several",
]
