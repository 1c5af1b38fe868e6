"""Names for what went wrong that do not depend on the program: ops, kinds of errors, kinds of messages."""

from __future__ import annotations

import re
import traceback
from pathlib import Path

from pypto_tmpl.errors import PyptoTmplError

_OP = re.compile(r"\bpl\.((?:tile|tensor|system|array|pld|prefetch)(?:\.\w+)+)\(")
_HEADS = ("for ", "while ", "if ", "with ", "return", "pl.yield_", "else")
_QUOTED = re.compile(r"'[^']*'|`[^`]*`|\"[^\"]*\"")
_NAME = re.compile(r"\b[A-Za-z_]+\w*\d\w*\b")
_NUMBER = re.compile(r"\b(0x[0-9a-f]+|\d+(\.\d+)?)\b")


def op_of(statement: str) -> str:
    """The op that a printed statement calls, or its first word; "" for no statement."""
    found = _OP.search(statement)
    if found is not None:
        return found[1]
    head = next((head for head in _HEADS if statement.startswith(head)), "")
    if head:
        return head.strip()
    if "self." in statement or "pl.submit(" in statement:
        return "call"
    return "assignment" if "=" in statement else ""


def text_of(error: BaseException) -> str:
    """The error as text, with its notes."""
    text = str(error) if isinstance(error, PyptoTmplError) else f"{type(error).__name__}: {error}"
    return "\n".join([text, *getattr(error, "__notes__", ())])


def kind_of(error: BaseException, folder: str = "") -> str:
    """The class of an error and its message without what belongs to the program, or the path of a folder."""
    what = error.what if isinstance(error, PyptoTmplError) else str(error)
    return f"{type(error).__name__}: {message_kind(what.replace(folder, '') if folder else what)}"


def message_kind(message: str) -> str:
    """The first line of a message with ``_`` for quoted names, names with numbers, and numbers."""
    first = message.strip().splitlines()[0] if message.strip() else ""
    for pattern in (_QUOTED, _NAME, _NUMBER):
        first = pattern.sub("_", first)
    return first[:120]


def crash_place(error: BaseException) -> str:
    """The innermost function of a package that a traceback leads to, ``module.function``."""
    frames = traceback.extract_tb(error.__traceback__)
    inner = frames[-1] if frames else None
    where = f" in {Path(inner.filename).stem}.{inner.name}" if inner is not None else ""
    return f"{type(error).__name__}{where}"
