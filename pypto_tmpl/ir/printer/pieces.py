"""Pieces of text: generators that a flat loop runs, so that the depth of the IR costs no Python stack.

A piece is a string, a variable (its name is chosen when all variables of the function are known) or a
generator of further pieces.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.ir.base import IRNode, Type
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.leaves import Var
from pypto_tmpl.ir.scalar_types import ScalarType
from pypto_tmpl.ir.unfolded import MAX_PARTS, unfolded_size


class PrintError(PyptoTmplError, ValueError):
    """IR that has no text; the message names the class or the attribute key."""

    slug = "unprintable"


class Role(Enum):
    """What a variable stands for where it is not a plain value."""

    EXTENT = "extent"  # free ones are dynamic dimensions
    SIGNATURE = "signature"  # an extent of a parameter or result: a dynamic dimension
    BASE = "base"  # of a MemRef: a bare name if assigned in the body, else a string
    QUOTED = "quoted"  # always a string
    LABEL = "label"  # inside a string or comment, where nothing is bound


@dataclass(frozen=True, slots=True)
class Mention:
    """An occurrence of a variable other than as a plain value."""

    var: Var
    role: Role


Leaf: TypeAlias = "str | Var | Mention"
Piece: TypeAlias = "Leaf | Iterator[Piece]"
Pieces: TypeAlias = Iterator[Piece]


MANY = 1_000_000
"""Parts of a text from which on it is worth finding out how many there will be."""


MAX_CHARACTERS = 2**28
"""Every line of a block is indented as far as the block is deep, so depth alone makes long texts."""

COUNTED_AT_ONCE = 1_000
"""Parts of a text after which its characters are counted."""


def check_size(node: IRNode | Type) -> None:
    """PrintError for a node that shares so much that its text would fill the memory."""
    if unfolded_size(node) > MAX_PARTS:
        raise PrintError(
            f"the text would have over {MAX_PARTS} parts: what is shared is written at every use"
        )


def flatten(pieces: Pieces, on_many: Callable[[], None]) -> list[Leaf]:
    """Run the generators, depth first, and return the leaves; ``on_many`` is called once there are many."""
    leaves: list[Leaf] = []
    append = leaves.append
    stack: list[Pieces] = [pieces]
    is_small, counted, characters = True, 0, 0
    while stack:
        if len(leaves) > counted + COUNTED_AT_ONCE:
            characters += sum(len(leaf) for leaf in leaves[counted:] if isinstance(leaf, str))
            counted = len(leaves)
            if characters > MAX_CHARACTERS:
                raise PrintError(
                    f"the text would have over {MAX_CHARACTERS} characters: blocks nest too deeply"
                )
            if is_small and counted > MANY:
                is_small = False
                on_many()
        for piece in stack[-1]:
            if type(piece) is str or isinstance(piece, (str, Var, Mention)):
                append(piece)
            else:
                stack.append(piece)
                break
        else:
            stack.pop()
    return leaves


def is_index_scalar(node: Type) -> bool:
    """Whether this is the type of an index."""
    return isinstance(node, ScalarType) and node.dtype == DataType.INDEX


def joined(pieces: Iterable[Piece], separator: str = ", ") -> Pieces:
    """The pieces with a separator between them."""
    for index, piece in enumerate(pieces):
        if index:
            yield separator
        yield piece


def bracketed(pieces: Iterable[Piece]) -> Pieces:
    """The pieces as a list display."""
    yield "["
    yield joined(pieces)
    yield "]"


def option(name: str, value: Piece) -> Pieces:
    """``name=value``."""
    yield name + "="
    yield value


def float_text(value: float) -> str:
    """17 significant digits, ``.0`` added where it would read as an int (spec: DSL, 12.5).

    Infinities and NaN are literals that overflow: a bare ``inf`` would read as a variable.
    """
    if value != value:
        return "(1e999 - 1e999)"
    if value in (float("inf"), float("-inf")):
        return "1e999" if value > 0 else "-1e999"
    text = format(value, ".17g")
    return text if "." in text or "e" in text else text + ".0"


def number_text(value: int | float) -> str:
    """A number without its dtype."""
    return float_text(value) if isinstance(value, float) else str(value)


def string_text(value: str, quote: str) -> str:
    """A Python string literal in the given quotes, on one line."""
    escaped = "".join(_ESCAPES.get(char) or _escaped(char) for char in value.replace("\\", "\\\\"))
    return quote + escaped.replace(quote, "\\" + quote) + quote


_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _escaped(char: str) -> str:
    if char.isprintable():
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


_LINE_ENDS = re.compile(r"\r\n|\r|\n")


def comment_text(line: str) -> str:
    """A line as a comment can hold it: source text has no NUL and no half of a surrogate pair."""
    return line.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode("utf-8").rstrip()


def lines_of(text: str) -> list[str]:
    """Lines as the Python tokenizer counts them."""
    return _LINE_ENDS.split(text)
