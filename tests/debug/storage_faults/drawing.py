"""Drawing faults in plans: as many of each kind by one seed, every one of which has an effect.

What has an effect is decided by ``shadow``, not by what is to be tested.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from corpus_check import Tensors, load_program, prepared_inputs
from debug.storage_faults.kinds import KINDS, Change
from debug.storage_faults.shadow import Effect, WrongRead, effects

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.debug import Stage, find_stages
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.files import write_text

FAULTS_OF_A_KIND = 5
TRIES_IN_A_STAGE = 8
PLANNED = "after_AllocateMemoryAddr"


@dataclass(frozen=True, slots=True)
class PlannedStage:
    """A stage with addresses of a recorded program, the one before it, and what it is to compute."""

    program: str
    backend: str
    path: Path
    before: Path

    @property
    def label(self) -> str:
        return f"{self.program}/{self.backend}/{self.path.stem}"

    @property
    def corpus(self) -> Path:
        return self.path.parents[3]


@dataclass(frozen=True, slots=True)
class Fault:
    """A stage of a program with one tile that lies wrongly.

    ``variable`` is the tile, or one of the allocation, that was misplaced; ``text`` the stage with the fault.
    ``wrong`` are the reads that find other bytes, ``has_effect`` says whether something of them leaves the
    kernel.
    """

    number: int
    kind: str
    stage: PlannedStage
    function: str
    variable: str
    how: str
    text: str
    wrong: frozenset[WrongRead]
    has_effect: bool

    @property
    def name(self) -> str:
        return f"{self.number:02}_{self.kind}_{self.stage.program}"

    def write(self, directory: Path) -> None:
        """Write the stage before, and that with the fault."""
        before = self.stage.before
        write_text(directory / before.name, before.read_text(encoding="utf-8"))
        write_text(directory / self.stage.path.name, self.text)

    def program(self) -> ir.Program:
        """The stage with the fault, as its text is read."""
        return read(self.text)


def draw(seed: int, corpora: Sequence[Path], kinds: Sequence[str] = tuple(KINDS)) -> list[Fault]:
    """Five faults of each kind that have an effect; the same seed draws the same ones."""
    found: list[Fault] = []
    for kind in kinds:
        of_kind = _drawn(seed, corpora, kind)
        for fault in (one for one in of_kind if one.has_effect):
            found.append(replace(fault, number=len(found) + 1))
            if sum(one.kind == kind for one in found) == FAULTS_OF_A_KIND:
                break
        else:
            raise RuntimeError(f"seed {seed}: too few faults of kind {kind} have an effect")
    return found


def draw_harmless(seed: int, corpora: Sequence[Path], kinds: Sequence[str] = tuple(KINDS)) -> list[Fault]:
    """Changes of plans without any wrong read, up to five of each kind: nothing is to be told of these."""
    found: list[Fault] = []
    for kind in kinds:
        harmless = (one for one in _drawn(seed, corpora, kind) if not one.wrong)
        for fault, _ in zip(harmless, range(FAULTS_OF_A_KIND), strict=False):
            found.append(replace(fault, number=len(found) + 1))
    return found


def _drawn(seed: int, corpora: Sequence[Path], kind: str) -> Iterator[Fault]:
    """Changes of one kind, one of a stage at a time; programs that have had fewer come first."""
    random_ = random.Random(f"{seed} {kind}")
    stages = [stage for corpus in corpora for stage in planned_stages(corpus)]
    random_.shuffle(stages)
    used: Counter[str] = Counter()
    tried: set[tuple[str, str]] = set()
    for _ in range(TRIES_IN_A_STAGE):
        for stage in sorted(stages, key=lambda stage: used[stage.program]):
            changes = list(KINDS[kind](_read(stage.path))) if is_sound(stage) else []
            for change in random_.sample(changes, min(TRIES_IN_A_STAGE, len(changes))):
                key = (stage.label, f"{change.function} {change.how}")
                fault = None if key in tried else _fault(kind, stage, change)
                tried.add(key)
                if fault is not None:
                    yield fault
                    used[stage.program] += fault.has_effect
                    break


def _fault(kind: str, stage: PlannedStage, change: Change) -> Fault | None:
    try:
        text = ir.python_print(change.apply(), format=False)
        program = read(text)
    except PyptoTmplError:
        return None  # no program that a compiler would have dumped
    ways = effects(_function(program, change.function))
    return Fault(
        0,
        kind,
        stage,
        change.function,
        change.variable,
        change.how,
        text,
        frozenset(wrong for way in ways for wrong in way.wrong),
        all(way.leaves for way in ways),
    )


def planned_stages(corpus: Path) -> Iterator[PlannedStage]:
    """The stages of a corpus from AllocateMemoryAddr on that are there as text, of programs with goldens."""
    for path in sorted((corpus / "dumps").glob(f"*/*/*_{PLANNED}.py")):
        folder, program = path.parent, path.parent.parent.name
        if load_program(corpus / "programs" / f"{program}.py").golden is None:
            continue
        texts = [stage.text for stage in find_stages(folder) if stage.text is not None]
        for before, text in zip(texts, texts[1:], strict=False):
            if text.name >= path.name:
                yield PlannedStage(program, folder.name, text, before)


@cache
def is_sound(stage: PlannedStage) -> bool:
    """Whether the recorded plan is right: that is a program whose kernels read nothing wrong."""
    node = _read(stage.path)
    ways: list[Effect] = [way for function in node.functions.values() for way in effects(function)]
    return not any(way.wrong for way in ways)


@cache
def arguments(stage: PlannedStage) -> tuple[str, Tensors, Tensors]:
    """The entry of the program of a stage, its inputs, and what it is to compute from them."""
    program = load_program(stage.corpus / "programs" / f"{stage.program}.py")
    inputs = prepared_inputs(program)
    golden = {name: tensor.clone() for name, tensor in inputs.items()}
    assert program.golden is not None
    program.golden(golden)
    return program.entry, inputs, {name: golden[name] for name in program.outputs}


def read(text: str) -> ir.Program:
    """The program of a text."""
    node = pl.parse(text, "stage.py")
    assert isinstance(node, ir.Program)
    return node


@cache
def _read(path: Path) -> ir.Program:
    return read(path.read_text(encoding="utf-8"))


def _function(program: ir.Program, name: str) -> ir.Function:
    found: Mapping[str, ir.Function] = {one.name: one for one in program.functions.values()}
    return found[name]


__all__ = ["Fault", "PlannedStage", "Stage", "arguments", "draw", "draw_harmless", "planned_stages"]
