"""From bytes to a syntax tree: encodings, line ends and what Python's parser gives up on.

Whatever is wrong with the text ends as one PythonSyntaxError with file, line and column.
"""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from collections.abc import Sequence

from pypto_tmpl.ir import Span
from pypto_tmpl.ir.wire.unpack import is_binary_dump
from pypto_tmpl.language.diagnostics import ParserError, ParserSyntaxError, PythonSyntaxError
from pypto_tmpl.language.source import Source, SourceMap

_TOO_DEEP = "the text is nested too deeply"
_DEEP_HINT = "bind parts of the expression to names of their own"


def decode(data: bytes, filename: str) -> str:
    """The text of a source file: byte order mark and coding line as Python reads them, else UTF-8."""
    if is_binary_dump(data):
        what = "it is a binary dump (.msgpack), and a text is expected"
        raise syntax_error(what, filename, 1, 1, hint="read it with ir.deserialize_from_file")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError as error:
        raise _undecodable(data, 0, str(error), filename) from None
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        what = f"the byte 0x{data[error.start]:02x} is no {encoding} text"
        raise _undecodable(data, error.start, what, filename) from None
    except (LookupError, ValueError) as error:
        raise _undecodable(data, 0, str(error), filename) from None


def _undecodable(data: bytes, at: int, what: str, filename: str) -> PythonSyntaxError:
    """The error at a byte, with the lines as far as they are UTF-8."""
    before = _one_line_end(data[:at].decode("utf-8", "replace")).split("\n")
    lines = _one_line_end(data.decode("utf-8", "replace")).split("\n")
    hint = "save the file as UTF-8"
    return syntax_error(what, filename, len(before), len(before[-1]) + 1, lines, hint)


def _one_line_end(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def parse_source(text: str, filename: str, source_map: SourceMap | None = None) -> Source:
    """The syntax tree of ``text`` with its lines; CR LF and CR end lines, a byte order mark is dropped."""
    text = _one_line_end(text.removeprefix("\ufeff"))
    lines = text.split("\n")
    if "\0" in text:
        raise _at_character(text, text.index("\0"), "a null byte", filename, lines)
    return Source(filename, text, _parse(text, filename, lines), lines, source_map)


def _parse(text: str, filename: str, lines: list[str]) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes in strings, which dumps do not have
            return ast.parse(text, filename)
    except SyntaxError as error:
        line = min(max(error.lineno or 1, 1), len(lines))
        column = max(error.offset or 1, 1)
        raise syntax_error(error.msg or "invalid syntax", filename, line, column, lines) from None
    except (RecursionError, MemoryError):
        line = 1 + max(range(len(lines)), key=lambda i: len(lines[i]))
        raise syntax_error(_TOO_DEEP, filename, line, 1, lines, hint=_DEEP_HINT) from None
    except UnicodeEncodeError as error:
        raise _at_character(text, error.start, "a lone surrogate", filename, lines) from None
    except (ValueError, OverflowError) as error:
        raise syntax_error(str(error), filename, 1, 1, lines) from None


def as_parser_error(source: Source, node: ast.AST, error: Exception) -> ParserError:
    """The diagnostic for what reading ``node`` raised: an IR invariant, or the end of the stack."""
    span = source.span(node)
    if isinstance(error, RecursionError):
        where = (span.begin_line, span.begin_column)
        return syntax_error(_TOO_DEEP, span.filename, *where, source.lines_of(span), hint=_DEEP_HINT)
    return ParserSyntaxError(str(error), span, source_lines=source.lines_of(span))


def _at_character(text: str, index: int, what: str, filename: str, lines: list[str]) -> PythonSyntaxError:
    line = text.count("\n", 0, index) + 1
    column = index - (text.rfind("\n", 0, index) + 1) + 1
    return syntax_error(f"{what} cannot stand in source text", filename, line, column, lines)


def syntax_error(
    what: str,
    filename: str,
    line: int,
    column: int,
    lines: Sequence[str] | None = None,
    hint: str | None = None,
) -> PythonSyntaxError:
    """A PythonSyntaxError that tracebacks can show too."""
    message = f"Failed to compile code from {filename}: {what}"
    error = PythonSyntaxError(message, Span(filename, line, column), hint=hint, source_lines=lines)
    error.msg, error.filename, error.lineno, error.offset = message, filename, line, column
    error.text = lines[line - 1] if lines and line <= len(lines) else None
    return error
