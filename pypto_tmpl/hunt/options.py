"""What a hunt is told."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, field

from pypto_tmpl.errors import PyptoTmplError, allowed_note
from pypto_tmpl.hunt.compilers import CommandCompiler, Compiler, OurPasses
from pypto_tmpl.hunt.examine import SECONDS
from pypto_tmpl.hunt.programs.drawing import HuntedProgram
from pypto_tmpl.hunt.programs.kinds import KINDS, draw_program
from pypto_tmpl.hunt.shrinking.shrink import SECONDS as SHRINKING

_SERIES = 1_000_000
_BATCH = 8  # what takes so little time is not sent alone


class HuntError(PyptoTmplError, ValueError):
    """A hunt cannot begin, or go on, as it was asked for."""

    slug = "hunt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How programs are drawn, compiled and judged.

    ``programs`` are drawn at most, ``seconds`` is how long new ones are begun; None is no end. The same
    ``seed`` and ``kinds`` draw the same programs. Each may take ``time_limit`` seconds to be compiled and
    judged, and ``shrink_seconds`` to be made smaller. Faults whose signatures ``ignored`` has patterns for
    (``*`` is any text) are counted, and no more.

    Programs go to workers ``batch`` at a time; by default each alone if the compiler is a command, which
    takes its time. Up to ``jobs`` worker processes, by default as many as there are cores, do the work, or
    any ``executor`` of ``concurrent.futures``. Raises HuntError for a kind that there is not.
    """

    compiler: Compiler = field(default_factory=OurPasses)
    kinds: tuple[str, ...] = tuple(KINDS)
    seed: int = 1
    programs: int | None = None
    seconds: float | None = None
    time_limit: float = SECONDS
    shrink_seconds: float = SHRINKING
    ignored: tuple[str, ...] = ()
    jobs: int | None = None
    executor: Executor | None = None
    batch: int | None = None

    def __post_init__(self) -> None:
        for kind in self.kinds:
            if kind not in KINDS:
                note = allowed_note("kinds", list(KINDS), kind)
                raise HuntError(f"there are no programs of the kind {kind!r}", notes=[note])
        if not self.kinds:
            raise HuntError("no kind of programs is asked for", notes=[allowed_note("kinds", list(KINDS))])

    def program(self, number: int) -> HuntedProgram:
        """The program of a number: kinds take turns."""
        turn, place = divmod(number, len(self.kinds))
        return draw_program(self.kinds[place], self.seed * _SERIES + turn)

    def number(self, program: HuntedProgram) -> int:
        """The number that a program was drawn by."""
        turn = program.seed - self.seed * _SERIES
        return turn * len(self.kinds) + self.kinds.index(program.kind)

    def batches(self, start: int) -> Iterator[range]:
        """The numbers of the programs from ``start`` on, in batches."""
        size = self.batch or (1 if isinstance(self.compiler, CommandCompiler) else _BATCH)
        while self.programs is None or start < self.programs:
            end = start + size if self.programs is None else min(start + size, self.programs)
            yield range(start, end)
            start = end
