"""Macro files as text: where each macro stands and which names occur in it.

The table is checked without compiling any template: compiling all families takes about a second.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pypto_tmpl.errors import Diagnostic, Location
from pypto_tmpl.ops.sources import identifiers, read_text

_COMMENT = re.compile(r"\{#.*?#\}", re.DOTALL)
_BOUNDARY = re.compile(r"\{%[-+]?\s*(?:macro\s+(?P<name>\w+)\s*\(|(?P<end>endmacro)\b[^%]*%\})")
_IMPORT = re.compile(
    r"\{%[-+]?\s*from\s+[\"']ops/(?P<stem>\w+)\.py\.jinja[\"']\s+import\s+(?P<names>[\w\s,]+?)\s*[-+]?%\}"
)


@dataclass(frozen=True, slots=True)
class Macro:
    """One macro: its text as written and the names in it, comments left out."""

    name: str
    location: Location
    source: str
    names: frozenset[str]

    def line_of(self, name: str) -> Location:
        """The line on which the macro first has a name."""
        found = re.search(rf"(?<![\w.]){re.escape(name)}\b", self.source)
        lines = self.source.count("\n", 0, found.start()) if found else 0
        return Location(self.location.file, self.location.line + lines)


@dataclass(slots=True)
class MacroFile:
    """The macros of one family file, and those it imports from another as name → (stem, name)."""

    path: Path
    macros: dict[str, Macro] = field(default_factory=dict)
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)
    repeated: list[Macro] = field(default_factory=list)
    syntax: Diagnostic | None = None


def syntax_problem(path: Path, text: str) -> Diagnostic | None:
    """What Jinja has against a macro file."""
    import jinja2  # commands that read no table do without it

    try:
        jinja2.Environment().parse(text)
    except jinja2.TemplateSyntaxError as error:
        what = f"{path.name.partition('.')[0]}: not valid Jinja: {error.message}"
        return Diagnostic("template-syntax", what, str(Location(path, error.lineno)))
    return None


def scan_macros(path: Path) -> MacroFile:
    """Read a macro file and cut it into its macros."""
    text = read_text(path)
    code = _COMMENT.sub(lambda comment: re.sub(r"[^\n]", " ", comment[0]), text)
    file = MacroFile(path)
    for start, end, name in _macro_spans(code):
        location = Location(path, text.count("\n", 0, start) + 1)
        macro = Macro(name, location, text[start:end], frozenset(identifiers(code[start:end]) - {name}))
        if name in file.macros:
            file.repeated.append(macro)
        file.macros[name] = macro
    for statement in _IMPORT.finditer(code):
        names = re.sub(r"\s+with(out)?\s+context$", "", statement["names"])
        for item in names.split(","):
            name, _, local = item.strip().partition(" as ")
            file.imports[local.strip() or name] = (statement["stem"], name)
    return file


def reachable_macros(files: Mapping[str, MacroFile], stem: str, name: str) -> dict[tuple[str, str], Macro]:
    """The macro and all that it calls, in any file, by (stem, name)."""
    reached: dict[tuple[str, str], Macro] = {}
    pending = [(stem, name)]
    while pending:
        key = pending.pop()
        file = files.get(key[0])
        macro = file.macros.get(key[1]) if file is not None else None
        if file is None or macro is None or key in reached:
            continue
        reached[key] = macro
        pending += [(key[0], other) for other in sorted(macro.names & file.macros.keys())]
        pending += [file.imports[other] for other in sorted(macro.names & file.imports.keys())]
    return reached


def _macro_spans(code: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and name of the macros; one inside another is part of the outer."""
    open_macros: list[tuple[int, str]] = []
    for boundary in _BOUNDARY.finditer(code):
        if boundary["name"]:
            open_macros.append((boundary.start(), boundary["name"]))
        elif open_macros:
            start, name = open_macros.pop()
            if not open_macros:
                yield start, boundary.end(), name
