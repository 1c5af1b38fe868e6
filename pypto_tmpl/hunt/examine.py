"""From a program to what is wrong with it: drawn or given, compiled, judged."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from pypto_tmpl import ir
from pypto_tmpl.hunt.compilers import CompilationError, Compiler
from pypto_tmpl.hunt.findings import Coverage, Finding
from pypto_tmpl.hunt.judge import Judge, WrongError
from pypto_tmpl.hunt.limits import OutOfTimeError, time_limit
from pypto_tmpl.hunt.programs.drawing import HuntedProgram
from pypto_tmpl.hunt.running import Tensors
from pypto_tmpl.ir.stage_names import FRONTEND, LAST

SECONDS = 30.0


@dataclass(slots=True)
class Examined:
    """What became of a program: the finding, None if nothing is wrong, and what is needed to explain it.

    ``stages`` are the good ones in order and, last, the wrong one if there is one.
    """

    program: HuntedProgram
    finding: Finding | None = None
    stages: list[tuple[str, ir.Program]] = field(default_factory=list)
    inputs: Tensors = field(default_factory=dict)
    expected: Tensors = field(default_factory=dict)
    coverage: Coverage = field(default_factory=Coverage)

    def keep(self, finding: Finding) -> None:
        """Take over what was found before in the program, and does not show again."""
        self.finding = replace(finding, detail=f"{finding.detail}\nIt did not show again.")
        self.stages = []


def examine(
    program: HuntedProgram, compiler: Compiler, *, like: Finding | None = None, seconds: float = SECONDS
) -> Examined:
    """Compile a program and judge its stages up to the first that is wrong.

    With ``like`` only the stage of that finding and the one before it are judged, and those behind it are not
    made. All of it may take ``seconds``.
    """
    found = Examined(program)
    seen: list[tuple[str, ir.Program]] = []
    try:
        with time_limit(seconds):
            _examine(found, compiler, like, seen)
    except OutOfTimeError as error:
        stage = seen[0][0] if seen else FRONTEND
        before = next((name for name, _ in reversed(found.stages) if name != stage), "")
        found.finding = Finding(stage, "time", str(error), before)
    finding = found.finding
    if seen and finding is not None and seen[0][0] == finding.stage and seen[0] not in found.stages:
        found.stages.append(seen[0])
    return found


def _examine(
    found: Examined, compiler: Compiler, like: Finding | None, seen: list[tuple[str, ir.Program]]
) -> None:
    """Judge the stages; ``seen`` then holds the last that was looked at."""
    judge: Judge | None = None

    def see(stage: str, node: ir.Program) -> None:
        assert judge is not None
        seen[:] = [(stage, node)]
        judge.see(stage, node)

    try:
        judge = Judge(found.program, like)
        found.stages, found.inputs, found.expected = judge.stages, judge.inputs, judge.expected
        found.coverage = judge.coverage
        until = LAST if like is None or like.stage == FRONTEND else like.stage
        compiler.compile(found.program, judge.node, see, until)
        judge.finish()
    except WrongError as error:
        found.finding = error.finding
    except CompilationError as error:
        assert judge is not None
        found.finding = judge.wrong(error.stage, error.wrong, error.detail, error.op).finding
