"""How tightly the operators of Python bind, and which parentheses an expression does without.

Macros put parentheses around what they join by operators, since they cannot know what will stand around it.
Where the text of an expression is whole, those go that Python reads no other way without.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

# Binding strength, weakest first; calls, names and literals bind tightest.
(
    CHOICE, OR, AND, NOT, COMPARE, BIT_OR, BIT_XOR, BIT_AND, SHIFT, SUM, PRODUCT, SIGN, POWER, ATOM,
) = range(14)  # fmt: skip
_INSEPARABLE = -1  # of what needs its parentheses anywhere: a tuple, a function without a name

_BINARY = {
    "if": CHOICE, "else": CHOICE, "or": OR, "and": AND, "not": COMPARE, "in": COMPARE, "is": COMPARE,
    "==": COMPARE, "!=": COMPARE, "<": COMPARE, "<=": COMPARE, ">": COMPARE, ">=": COMPARE, "|": BIT_OR,
    "^": BIT_XOR, "&": BIT_AND, "<<": SHIFT, ">>": SHIFT, "+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT,
    "//": PRODUCT, "%": PRODUCT, "@": PRODUCT, "**": POWER,
}  # fmt: skip
_PREFIX = {"not": NOT, "+": SIGN, "-": SIGN, "~": SIGN}
_SEPARATORS = frozenset({",", ":", "="})  # an expression may begin behind these
_CLAUSES = frozenset({"lambda", "for", "yield", "await"})
_ENDS = frozenset({"", ")", "]", "}", ",", ":"})  # an expression may end before these
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_BEHIND_ITSELF = (CHOICE, COMPARE, POWER)  # operators that do not read from the left to the right in a row

_TOKEN = re.compile(
    r"""(?P<word>[^\W\d]\w*)|(?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)"""
    r"""|(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?P<sign>\*\*|//|<<|>>|[=!<>:]=|\S)""",
    re.DOTALL,
)
_GROUP = re.compile(r"\((?<![\w\])]\()")  # of no call


@dataclass(slots=True)
class _Bracket:
    """An open bracket, and what has been read in it.

    ``required`` is how tightly what stands in it has to bind because of what is before it, ``next_required``
    how tightly the next operand in it has to.
    """

    start: int
    is_group: bool
    required: int
    weakest: int = ATOM
    next_required: int = CHOICE
    has_operand: bool = False  # right before
    is_number: bool = False  # the operand right before

    def take_operator(self, word: str) -> None:
        """Read a sign, or a word that is no name."""
        binds = (_BINARY if self.has_operand else _PREFIX).get(word)
        if binds is not None:
            self.weakest = min(self.weakest, binds)
            is_sign = binds == SIGN and not self.has_operand  # of two in a row, one would be overlooked
            self.next_required = binds + (self.has_operand or is_sign)
        elif word == "." and self.has_operand:
            self.next_required = ATOM
        else:
            self.weakest = _INSEPARABLE
            self.next_required = CHOICE if word in _SEPARATORS else ATOM
        self.has_operand = False

    def does_without(self, after: str) -> bool:
        """Whether the bracket, read up to its end, need not be there, given the token after it."""
        if not self.is_group or not self.has_operand or (self.is_number and after == "."):
            return False
        return self.weakest >= max(self.required, _required(after))


@lru_cache(maxsize=4096)
def without_needless_parentheses(text: str) -> str:
    """The text of an expression without the parentheses that change nothing of how Python reads it."""
    if _GROUP.search(text) is None:
        return text
    whole, begin = "", 0
    for position in sorted(_needless(text)):
        whole, begin = whole + text[begin:position], position + 1
    return whole + text[begin:]


def without_brackets_of_tuple(text: str) -> str:
    """The text of a tuple as it may stand behind `=`: without parentheses that are around all of it."""
    depth = 0
    for match in _TOKEN.finditer(text):
        depth += (match[0] in _OPENING) - (match[0] in _CLOSING)
        if not depth:
            is_around_all = text.startswith("(") and match.end() == len(text)
            return text[1:-1] if is_around_all else text
    return text


def _needless(text: str) -> Iterator[int]:
    """The positions of parentheses that need not be."""
    tokens = [(str(match.lastgroup), match[0], match.start()) for match in _TOKEN.finditer(text)]
    following = [*(word for _, word, _ in tokens[1:]), ""]
    stack = [_Bracket(-1, False, CHOICE)]
    for (kind, word, start), after in zip(tokens, following, strict=True):
        bracket = stack[-1]
        if word in _OPENING:
            is_group = word == "(" and not bracket.has_operand
            stack.append(_Bracket(start, is_group, bracket.next_required))
        elif word in _CLOSING and len(stack) > 1:
            outer = stack[-2]
            if stack.pop().does_without(after):
                yield from (bracket.start, start)
                outer.weakest = min(outer.weakest, bracket.weakest)
            outer.has_operand, outer.is_number = True, False
        elif kind != "sign" and word not in _BINARY and word not in _PREFIX and word not in _CLAUSES:
            bracket.has_operand, bracket.is_number = True, kind == "number"
        else:
            bracket.take_operator(word)


def _required(after: str) -> int:
    """How tightly an operand has to bind because of what follows it."""
    if after in _ENDS:
        return CHOICE
    binds = _BINARY.get(after)
    return ATOM if binds is None else binds + (binds in _BEHIND_ITSELF)
