"""What a pass changed in the text of a program, function by function."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

from pypto_tmpl.debug.report.ir_sections import Section

MOST_PAIRS = 250_000  # of lines that are tried in one block: larger ones are paired in order
_SSA_SUFFIX = re.compile(r"__(?:ssa|iter|rv|phi|idx|tmp)_v\d+\b|__tile(?:_\d+)?\b|_\d+\b")
_ASSIGNMENT = re.compile(r"\s*(\w+)(?:: .*?)? = (pl(?:\.\w+)+|\w+)?")

Tag = Literal["equal", "change", "delete", "insert"]


class Block(NamedTuple):
    """Lines that are equal, changed one to one, gone or new: numbers of lines in both, from 0."""

    tag: Tag
    before: int
    before_end: int
    after: int
    after_end: int


@dataclass(frozen=True, slots=True)
class SectionChange:
    """A function of two stages; the index of its section is None where it is gone, or new."""

    name: str
    before: int | None
    after: int | None
    blocks: tuple[Block, ...]

    @property
    def is_changed(self) -> bool:
        """True unless both stages have the same lines."""
        return any(block.tag != "equal" for block in self.blocks)

    def counts(self) -> tuple[int, int]:
        """How many lines are new and how many are gone; a changed line is both."""
        changed = [block for block in self.blocks if block.tag != "equal"]
        return (
            sum(block.after_end - block.after for block in changed),
            sum(block.before_end - block.before for block in changed),
        )


def section_changes(before: Sequence[Section], after: Sequence[Section]) -> list[SectionChange]:
    """The functions of two stages, matched by name, in the order of the later one; those gone come last."""
    left = dict(_numbered(before))
    changes = []
    for key, index in _numbered(after):
        old = left.pop(key, None)
        old_lines = () if old is None else before[old].lines
        changes.append(SectionChange(key[0], old, index, tuple(line_blocks(old_lines, after[index].lines))))
    gone = [(key[0], index) for key, index in left.items()]
    return changes + [
        SectionChange(name, index, None, tuple(line_blocks(before[index].lines, ()))) for name, index in gone
    ]


def _numbered(sections: Sequence[Section]) -> Iterator[tuple[tuple[str, int], int]]:
    """A key for each section: its name, and how often that came before."""
    seen: dict[str, int] = {}
    for index, section in enumerate(sections):
        yield (section.name, seen.setdefault(section.name, 0)), index
        seen[section.name] += 1


def line_blocks(before: Sequence[str], after: Sequence[str]) -> Iterator[Block]:
    """Blocks that lead from one text to the other, in order and without gaps.

    Lines that are not equal are one changed line where they assign variables of one name, SSA suffixes
    aside, by the same operator.
    """
    for tag, b0, b1, a0, a1 in _matched(before, after):
        if tag == "equal":
            yield Block("equal", b0, b1, a0, a1)
        elif tag == "replace":
            yield from _paired(before, after, (b0, b1, a0, a1))
        else:
            yield Block("delete" if tag == "delete" else "insert", b0, b1, a0, a1)


def _paired(before: Sequence[str], after: Sequence[str], span: tuple[int, int, int, int]) -> Iterator[Block]:
    b0, b1, a0, a1 = span
    if b1 - b0 == a1 - a0 or (b1 - b0) * (a1 - a0) > MOST_PAIRS:
        yield from _in_order(span)
        return
    keys = [_key(line) for line in before[b0:b1]], [_key(line) for line in after[a0:a1]]
    for tag, x0, x1, y0, y1 in _matched(*keys):
        block = (b0 + x0, b0 + x1, a0 + y0, a0 + y1)
        if tag == "equal":
            yield Block("change", *block)
        else:
            yield from _in_order(block)


def _in_order(span: tuple[int, int, int, int]) -> Iterator[Block]:
    """Pair lines as they come; what one side has more is gone or new."""
    b0, b1, a0, a1 = span
    paired = min(b1 - b0, a1 - a0)
    b, a = b0 + paired, a0 + paired
    if paired:
        yield Block("change", b0, b, a0, a)
    if b < b1:
        yield Block("delete", b, b1, a, a)
    if a < a1:
        yield Block("insert", b, b, a, a1)


def _key(line: str) -> Hashable:
    """What lines share that are versions of one another."""
    found = _ASSIGNMENT.match(line)
    if found is None:
        return line.split("(")[0].strip()
    return _SSA_SUFFIX.sub("", found[1]), (found[2] or "").rpartition(".")[2]


def _matched(
    before: Sequence[Hashable], after: Sequence[Hashable]
) -> Iterator[tuple[str, int, int, int, int]]:
    """The codes of ``difflib``; equal ends are taken first, since most of a text stays as it is."""
    shorter = min(len(before), len(after))
    head = next((n for n in range(shorter) if before[n] != after[n]), shorter)
    rest = shorter - head
    tail = next((n for n in range(rest) if before[-1 - n] != after[-1 - n]), rest)
    b1, a1 = len(before) - tail, len(after) - tail
    if head:
        yield "equal", 0, head, 0, head
    middle = SequenceMatcher(None, before[head:b1], after[head:a1], autojunk=False)
    for tag, x0, x1, y0, y1 in middle.get_opcodes():
        yield tag, head + x0, head + x1, head + y0, head + y1
    if tail:
        yield "equal", b1, len(before), a1, len(after)
