"""The two tasks of a hunt, plain functions of plain data: judging programs, and shrinking one."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from pypto_tmpl.hunt.blame import blamed
from pypto_tmpl.hunt.compilers import Compiler
from pypto_tmpl.hunt.examine import examine
from pypto_tmpl.hunt.findings import Coverage, Finding
from pypto_tmpl.hunt.programs.drawing import HuntedProgram
from pypto_tmpl.hunt.report.fault import Fault, fault_of
from pypto_tmpl.hunt.shrinking.shrink import shrunk
from pypto_tmpl.ir.collector import collector_paused


@dataclass(slots=True)
class Batch:
    """What became of some programs: findings with the programs, and what the programs were made of."""

    count: int = 0
    found: list[tuple[HuntedProgram, Finding]] = field(default_factory=list)
    coverage: Coverage = field(default_factory=Coverage)
    seconds: float = 0.0


def judge_batch(
    programs: Sequence[HuntedProgram],
    compiler: Compiler,
    seconds: float,
    well_known: Collection[tuple[str, str]] = (),
) -> Batch:
    """Compile and judge programs.

    ``well_known`` are passes, and what is wrong after them, of which enough is known: the statement of one
    more fault like that is not looked for.
    """
    batch = Batch()
    began = time.process_time()
    for program in programs:
        with collector_paused():
            found = examine(program, compiler, seconds=seconds)
            batch.count += 1
            batch.coverage.add(found.coverage)
            finding = found.finding
            if finding is not None:
                is_known = (finding.pass_name, finding.wrong) in well_known
                batch.found.append((program, finding if is_known else blamed(found)))
    batch.seconds = time.process_time() - began
    return batch


def shrink_fault(
    program: HuntedProgram, finding: Finding, compiler: Compiler, seconds: float, limit: float
) -> Fault:
    """The fault in the smallest program that has it, with the files of its folder."""
    with collector_paused():
        return fault_of(shrunk(program, finding, compiler, seconds, limit), program, compiler.name)
