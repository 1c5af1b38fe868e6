"""Delta debugging: the smallest program that edits lead to and that still has the same fault."""

from __future__ import annotations

import ast
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial

from pypto_tmpl.hunt.blame import TRACED, blamed
from pypto_tmpl.hunt.compilers import Compiler
from pypto_tmpl.hunt.examine import SECONDS as TIME_LIMIT
from pypto_tmpl.hunt.examine import Examined, examine
from pypto_tmpl.hunt.findings import Finding
from pypto_tmpl.hunt.programs.drawing import HuntedProgram
from pypto_tmpl.hunt.shrinking import edits

SECONDS = 90.0
_BY_THE_CLOCK = 4.0  # times as long: others may use the machine, and a compiler that hangs uses no time of it


@dataclass(slots=True)
class _Shrinking:
    """The smallest program so far, the texts that were tried, and how long it may take: processor time."""

    program: HuntedProgram
    finding: Finding
    compiler: Compiler
    seconds: float
    limit: float
    tried: set[str] = field(default_factory=set)
    began: float = field(default_factory=time.monotonic)
    used: float = field(default_factory=lambda: _processor_time())

    def is_over(self) -> bool:
        by_the_clock = time.monotonic() - self.began
        return _processor_time() - self.used > self.seconds or by_the_clock > _BY_THE_CLOCK * self.seconds

    def take(self, candidates: Iterator[ast.Module]) -> bool:
        """Make the first program that has the fault the smallest one; whether there was one."""
        for tree in candidates:
            if self.is_over():
                return False
            try:
                text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
            except (AttributeError, TypeError, ValueError):
                continue
            if text not in self.tried:
                self.tried.add(text)
                if self.has_fault(replace(self.program, text=text)):
                    self.program = replace(self.program, text=text)
                    return True
        return False

    def has_fault(self, program: HuntedProgram) -> bool:
        found = examine(program, self.compiler, like=self.finding, seconds=self.limit)
        return is_same(found, self.finding)

    def statements(self) -> bool:
        """Leave out statements, half of all at once, then ever fewer; whether any could go."""
        size, has_shrunk = max(edits.statement_count(self.program.text) // 2, 1), False
        while size and not self.is_over():
            if self.take(edits.without_statements(ast.parse(self.program.text), size)):
                has_shrunk = True
                size = min(size, max(edits.statement_count(self.program.text), 1))
            else:
                size //= 2
        return has_shrunk

    def repeat(self, edit: edits.Edit) -> bool:
        """Apply an edit as long as it helps."""
        has_shrunk = False
        while self.take(edit(ast.parse(self.program.text))):
            has_shrunk = True
        return has_shrunk


def shrunk(
    program: HuntedProgram,
    finding: Finding,
    compiler: Compiler,
    seconds: float = SECONDS,
    limit: float = TIME_LIMIT,
) -> Examined:
    """A program that is as small as edits make it in so much processor time, with the finding's signature.

    The one that was given where no smaller one has. Each program that is tried may take ``limit`` seconds,
    those of the hunt: what took too long there takes too long here.
    """
    work = _Shrinking(program, finding, compiler, seconds, limit)
    steps = [work.statements]
    steps += [
        partial(work.repeat, edit)
        for edit in (
            edits.unwrapped,
            edits.without_variables,
            edits.simpler_expressions,
            edits.without_results,
            edits.without_parameters,
            edits.smaller_numbers,
            edits.smaller_shapes,
        )
    ]
    has_shrunk = True
    while has_shrunk and not work.is_over():
        has_shrunk = False
        for step in steps:
            has_shrunk = step() or has_shrunk
    for candidate in (work.program, program):
        found = examine(candidate, compiler, seconds=limit)
        if is_same(found, finding) or candidate is program:
            break
    if found.finding is None:
        found.keep(finding)
    else:
        found.finding = blamed(found)
    return found


def _processor_time() -> float:
    """Seconds that this process, and the compilers that it has run, have computed."""
    return sum(os.times()[:4])


def is_same(found: Examined, wanted: Finding) -> bool:
    """Whether a program has the fault: the same stage, the same wrong, the same op."""
    if found.finding is None or not found.finding.is_like(wanted):
        return False
    finding = blamed(found) if wanted.wrong in TRACED else found.finding
    return finding.op == wanted.op
