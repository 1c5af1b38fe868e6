"""A script with all that is known of its text, so that nobody has to read the text to find out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from pypto_tmpl import ir
from pypto_tmpl.codegen.marks import LaunchNote
from pypto_tmpl.codegen.tracing import TraceSite, located_statements


@dataclass(frozen=True, slots=True)
class ScriptFunction:
    """A function of a script: its name, that of the IR, its kind, its first and last line."""

    name: str
    made_from: str
    kind: str
    first: int
    last: int


@dataclass(frozen=True)
class Script:
    """The text of a script and what the emitter knows of it; lines count from 1.

    ``names`` are those of the functions of the IR in the script, ``helpers`` the run-time helpers it carries;
    ``program_line`` is the first line of the program, which stands before these. ``statements`` are those
    that lines were made from, checks and records of one among them, not its body; ``heads`` are the lines
    that they are known by, ``spans`` say where they stand in the source. ``sites`` are the places whose
    values it records. ``notes`` are what launches ask of the run time, if the emitter was to note that.
    Without nodes, ``places`` tell the lines of a statement by its function and path, its head first.
    Between the places ``ready`` the text reads as black writes it: these are helpers, behind the program. The
    rest ``is_own`` if the project's templates alone have made it, without statements that a user wrote.
    """

    text: str
    names: Mapping[str, str]
    functions: tuple[ScriptFunction, ...]
    helpers: tuple[str, ...]
    program_line: int
    statements: Mapping[int, ir.Stmt] = field(repr=False)
    heads: Mapping[ir.Stmt, int] = field(repr=False)
    spans: Mapping[int, ir.Span] = field(repr=False)
    sites: tuple[TraceSite, ...] = ()
    notes: Mapping[ir.Stmt, LaunchNote] = field(default_factory=dict, repr=False)
    places: Mapping[tuple[str, str], tuple[int, ...]] = field(default_factory=dict, repr=False)
    ready: tuple[int, int] = (0, 0)
    is_own: bool = False

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines of the text, without what ends them."""
        return tuple(self.text.removesuffix("\n").split("\n"))

    @property
    def program(self) -> str:
        """The lines that are the program: its functions, not the helpers."""
        last = max((found.last for found in self.functions), default=0)
        return "".join(f"{line}\n" for line in self.lines[max(self.program_line - 1, 0) : last])

    @cached_property
    def sources(self) -> Mapping[str, str]:
        """``{"12": "kernel.py:34"}``: the source lines of the lines whose source is known."""
        return {str(line): f"{span.filename}:{span.begin_line}" for line, span in sorted(self.spans.items())}

    def function_at(self, line: int) -> ScriptFunction | None:
        """The function of the program that a line belongs to, None for a line of anything else."""
        return next((found for found in self.functions if found.first <= line <= found.last), None)

    def first_line(self, function: str) -> int:
        """The line on which a function of the IR begins, 0 if there is none."""
        return next((found.first for found in self.functions if found.made_from == function), 0)

    def without_ir(self, functions: Iterable[ir.Function]) -> Script:
        """The same without nodes, for another process, given the functions that it was made from."""
        lines = {stmt: [line] for stmt, line in self.heads.items()}
        for line, stmt in self.statements.items():
            if line not in lines.setdefault(stmt, []):
                lines[stmt].append(line)
        places = {
            (function.name, path): tuple(lines[stmt])
            for function in functions
            for path, stmt in located_statements(function.body)
            if stmt in self.heads
        }
        return replace(self, statements={}, heads={}, notes={}, places=places)
