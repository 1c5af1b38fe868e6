"""Differences of scripts as hunks, in the form that ``git apply`` takes."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

CONTEXT = 3
_NO_END = "\\ No newline at end of file"


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that differ with lines around them; each begins with a blank, ``-`` or ``+``.

    ``old`` and ``new`` are the numbers of the first line on either side, from 1.
    """

    old: int
    new: int
    lines: tuple[str, ...]

    @property
    def header(self) -> str:
        """The line that says where the hunk is."""
        olds = sum(line[0] in " -" for line in self.lines)
        news = sum(line[0] in " +" for line in self.lines)
        return f"@@ -{_range(self.old, olds)} +{_range(self.new, news)} @@"

    @property
    def change(self) -> tuple[str, ...]:
        """The lines from the first that differs to the last: what is the same where it recurs."""
        differing = [number for number, line in enumerate(self.lines) if line[0] in "-+"]
        return self.lines[differing[0] : differing[-1] + 1]

    @property
    def first_line(self) -> int:
        """The number of the first differing line in the old text, or of the one that new lines precede."""
        common = next(number for number, line in enumerate(self.lines) if line[0] != " ")
        return max(1, self.old + common)

    def changed_lines(self) -> tuple[list[int], list[int]]:
        """The numbers of the lines that are gone from the old text, and of those that are new."""
        gone, came = [], []
        old, new = self.old, self.new
        for line in self.lines:
            if line[0] == "-":
                gone.append(old)
            elif line[0] == "+":
                came.append(new)
            old, new = old + (line[0] != "+"), new + (line[0] != "-")
        return gone, came


def _range(start: int, count: int) -> str:
    return f"{start if count else start - 1},{count}"


@dataclass(frozen=True)
class FilePatch:
    """What makes one file of another; ``name`` is what the patch calls both."""

    name: str
    old: str | None
    new: str | None

    @cached_property
    def hunks(self) -> list[Hunk]:
        """The differences in order."""
        old, new = (_lines(text) for text in (self.old, self.new))
        return [
            _hunk(old, new, group)
            for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(CONTEXT)
        ]

    def head(self) -> list[str]:
        """The lines above the hunks."""
        name = f"{self.name}\t" if " " in self.name else self.name
        lines = [f"diff --git a/{self.name} b/{self.name}"]
        lines += ["new file mode 100644"] if self.old is None else []
        lines += ["deleted file mode 100644"] if self.new is None else []
        lines.append("--- /dev/null" if self.old is None else f"--- a/{name}")
        lines.append("+++ /dev/null" if self.new is None else f"+++ b/{name}")
        return lines

    def text(self, hunks: Iterable[Hunk] | None = None) -> str:
        """The patch, of all hunks or of some of them."""
        return "\n".join([*self.head(), *(hunk_text(hunk) for hunk in hunks or self.hunks)]) + "\n"


def hunk_text(hunk: Hunk) -> str:
    """A hunk with its header."""
    return "\n".join([hunk.header, *_marked(hunk.lines)])


def _marked(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield line.removesuffix("\n")
        if not line.endswith("\n"):
            yield _NO_END


def _lines(text: str | None) -> list[str]:
    """Lines with their ends, which for patches are LF alone: another end is part of the line."""
    parts = (text or "").split("\n")
    return [f"{part}\n" for part in parts[:-1]] + parts[-1:] * bool(parts[-1])


def _hunk(old: list[str], new: list[str], group: Sequence[tuple[str, int, int, int, int]]) -> Hunk:
    lines: list[str] = []
    for tag, old_start, old_end, new_start, new_end in group:
        if tag == "equal":
            lines += [f" {line}" for line in old[old_start:old_end]]
        else:
            lines += [f"-{line}" for line in old[old_start:old_end]]
            lines += [f"+{line}" for line in new[new_start:new_end]]
    return Hunk(group[0][1] + 1, group[0][3] + 1, tuple(lines))


@dataclass(frozen=True, slots=True)
class Change:
    """The same change of several files: every file with its hunk, in order."""

    places: tuple[tuple[FilePatch, Hunk], ...]

    @property
    def first(self) -> tuple[FilePatch, Hunk]:
        """The file and hunk that stand for all."""
        return self.places[0]

    @property
    def file_count(self) -> int:
        """How many files make the change."""
        return len({patch.name for patch, _ in self.places})


def grouped(patches: Iterable[FilePatch]) -> list[Change]:
    """All hunks, those that make the same change put together; changes of most files come first."""
    found: dict[tuple[str, ...], list[tuple[FilePatch, Hunk]]] = {}
    for patch in patches:
        for hunk in patch.hunks:
            found.setdefault(hunk.change, []).append((patch, hunk))
    changes = [Change(tuple(places)) for places in found.values()]
    return sorted(changes, key=lambda change: -change.file_count)


def patch_name(path: Path, folder: Path) -> str:
    """What a patch calls a file: its path from the folder that the patch is applied in."""
    here = Path.cwd()
    base = here if folder.is_relative_to(here) else folder
    return path.relative_to(base).as_posix()
