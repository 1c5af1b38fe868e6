"""Changes to the text of a dump: characters, tokens, lines, and expressions of its syntax tree."""

from __future__ import annotations

import ast
import random
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from fuzz.words import CHARACTERS, LITERALS, TOKENS, WRAPPERS

DEPTHS = [1, 1, 1, 2, 3, 30, 150, 1000, 5000]

_TOKEN = re.compile(r"\w+|[^\w\s]|\s+")

Mutation = Callable[[random.Random, str, str], str]


def mutated_text(rng: random.Random, text: str, other: str) -> str:
    """``text`` after one to four changes, most of which leave it Python; some take pieces from ``other``."""
    is_raw = rng.random() < 0.3
    for _ in range(rng.choice([1, 1, 1, 2, 2, 3, 4])):
        if is_raw:
            text = rng.choice(_RAW)(rng, text, other)
            continue
        for _ in range(5):
            changed = rng.choice(_STRUCTURED)(rng, text, other)
            if changed != text and _is_python(changed):
                text = changed
                break
    return text


def _is_python(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return True


def _place(rng: random.Random, text: str) -> int:
    return rng.randint(0, len(text))


def change_characters(rng: random.Random, text: str, other: str) -> str:
    """Insert, replace, remove or repeat at one place."""
    at = _place(rng, text)
    size = rng.choice([0, 0, 1, 1, 2, 5, 50])
    new = "".join(rng.choices(CHARACTERS, k=rng.choice([0, 1, 1, 1, 2, 4])))
    if rng.random() < 0.1:
        new = text[at : at + size] * rng.choice([2, 3, 1000])
    return text[:at] + new + text[at + size :]


def change_encoding(rng: random.Random, text: str, other: str) -> str:
    """Other line ends, a byte order mark, or a coding line."""
    choice = rng.randrange(4)
    if choice == 0:
        return text.replace("\n", rng.choice(["\r\n", "\r", "\n\n", "\x0c\n", "\\\n", ";"]))
    if choice == 1:
        return "\ufeff" * rng.choice([1, 1, 2]) + text
    if choice == 2:
        name = rng.choice(
            ["utf-8", "latin-1", "utf-16", "utf-7", "rot13", "hex", "idna", "nothing", "\0", "cp1252"]
        )
        return f"# -*- coding: {name} -*-\n{text}"
    return text[: _place(rng, text)]


def change_tokens(rng: random.Random, text: str, other: str) -> str:
    """Replace, remove, repeat or swap tokens."""
    tokens = _TOKEN.findall(text)
    if not tokens:
        return text
    at = rng.randrange(len(tokens))
    choice = rng.randrange(5)
    if choice == 0:
        tokens[at] = rng.choice(TOKENS)
    elif choice == 1:
        tokens[at] = rng.choice(_TOKEN.findall(other) or [""])
    elif choice == 2:
        del tokens[at : at + rng.choice([1, 1, 2, 10])]
    elif choice == 3:
        tokens.insert(at, rng.choice([tokens[at], " " + rng.choice(TOKENS) + " "]))
    else:
        to = rng.randrange(len(tokens))
        tokens[at], tokens[to] = tokens[to], tokens[at]
    return "".join(tokens)


def rename(rng: random.Random, text: str, other: str) -> str:
    """Give every occurrence of a word another spelling, that of another word of the text included."""
    words = list(dict.fromkeys(re.findall(r"[A-Za-z_]\w*", text)))
    if not words:
        return text
    new = rng.choice([*rng.choices(words, k=3), *rng.choices(TOKENS, k=2), "class", "\u6f22", "x" * 3000])
    return re.sub(rf"\b{rng.choice(words)}\b", lambda _: new, text)


def change_lines(rng: random.Random, text: str, other: str) -> str:
    """Remove, repeat, move, indent or join lines, or take some from the other text."""
    lines = text.split("\n")
    at, to = rng.randrange(len(lines)), rng.randrange(len(lines))
    size = rng.choice([1, 1, 1, 2, 5, 20])
    piece = lines[at : at + size]
    choice = rng.randrange(7)
    if choice == 0:
        del lines[at : at + size]
    elif choice == 1:
        lines[at:at] = piece * rng.choice([1, 1, 2, 100])
    elif choice == 2:
        del lines[at : at + size]
        lines[to:to] = piece
    elif choice == 3:
        lines[at : at + size] = [" " * rng.choice([1, 2, 4, 8, 400]) + line for line in piece]
    elif choice == 4:
        lines[at : at + size] = [line[rng.choice([1, 4]) :] for line in piece]
    elif choice == 5:
        lines[at : at + size] = ["".join(piece)]
    else:
        others = other.split("\n")
        start = rng.randrange(len(others))
        lines[at : at + rng.choice([0, 1])] = others[start : start + size]
    return "\n".join(lines)


@dataclass(frozen=True)
class _Spot:
    """A piece of the source that the syntax tree knows: where it is and what kind of node it is."""

    start: int
    end: int
    kind: type[ast.AST]


@lru_cache(maxsize=64)
def _spots(text: str) -> Sequence[_Spot]:
    """Expressions, keywords and statements of a text that parses and is ASCII; else nothing."""
    try:
        is_plain = text.isascii() and not set("\r\f") & set(text)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text) if is_plain else ast.Module([], [])
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return ()
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    found = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.expr, ast.keyword, ast.stmt, ast.arg)) and node.end_lineno is not None:
            start = starts[node.lineno - 1] + node.col_offset
            end = starts[node.end_lineno - 1] + (node.end_col_offset or 0)
            found.append(_Spot(start, end, type(node)))
    return found


def change_expressions(rng: random.Random, text: str, other: str) -> str:
    """Replace an expression by a literal or by another expression, or nest it deeply."""
    spots = [spot for spot in _spots(text) if issubclass(spot.kind, ast.expr)]
    if not spots:
        return text
    constants = [spot for spot in spots if spot.kind is ast.Constant]
    spot = rng.choice(constants if constants and rng.random() < 0.5 else spots)
    here = text[spot.start : spot.end]
    choice = rng.randrange(4)
    if choice == 0:
        new = rng.choice(LITERALS)
    elif choice == 1:
        source = other if rng.random() < 0.3 else text
        donors = [found for found in _spots(source) if issubclass(found.kind, ast.expr)] or [spot]
        donor = rng.choice([found for found in donors if found.kind is spot.kind] or donors)
        new = source[donor.start : donor.end]
    elif choice == 2:
        before, after = rng.choice(WRAPPERS)
        depth = rng.choice(DEPTHS)
        new = before * depth + here + after * depth
    else:
        new = rng.choice([f"{here}, {here}", f"*{here}", f"**{here}", f"{here}={here}", f"({here} := 1)", ""])
    return text[: spot.start] + new + text[spot.end :]


def change_arguments(rng: random.Random, text: str, other: str) -> str:
    """Remove, repeat, rename or move keywords, and move whole statements."""
    spots = [spot for spot in _spots(text) if issubclass(spot.kind, (ast.keyword, ast.stmt, ast.arg))]
    if not spots:
        return text
    spot = rng.choice(spots)
    here = text[spot.start : spot.end]
    same = [found for found in spots if issubclass(found.kind, ast.stmt) == issubclass(spot.kind, ast.stmt)]
    donor = rng.choice(same)
    new = rng.choice(
        [
            f"{here}, {here}",
            text[donor.start : donor.end],
            f"{here}, {text[donor.start : donor.end]}",
            f"{rng.choice(TOKENS)}={here.partition('=')[2] or here}",
            "pass",
            "",
        ]
    )
    return text[: spot.start] + new + text[spot.end :]


def nest_statements(rng: random.Random, text: str, other: str) -> str:
    """Put the rest of a block under many headers."""
    lines = text.split("\n")
    at = rng.randrange(len(lines))
    indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    header = rng.choice(
        ["if True:", "for i in pl.range(2):", "while True:", "with pl.at():", "else:", "def f():"]
    )
    depth = rng.choice([1, 1, 2, 15, 25, 99, 150])
    end = next((i for i in range(at, len(lines)) if not lines[i].startswith(indent)), len(lines))
    headers = [indent + " " * level + header for level in range(depth)]
    lines[at:end] = [*headers, *(" " * depth + line for line in lines[at:end])]
    return "\n".join(lines)


_RAW: list[Mutation] = [change_characters, change_encoding, change_tokens, change_lines, nest_statements]
_STRUCTURED: list[Mutation] = [
    change_expressions,
    change_expressions,
    change_expressions,
    change_arguments,
    change_arguments,
    change_tokens,
    change_lines,
    rename,
    nest_statements,
]
