"""How many of the drawn faults in plans the search names: the misplaced tile, statements, and bytes.

An answer names the fault if the first bad stage is the faulty one, and it tells

* a tile that is read, the line where, who has written its bytes, and the line where, all as they are; or
* a tile that is read wrongly, the line where, and that nothing has put there what lies elsewhere, where one
  of the two is the misplaced tile, or the latter is who has written the bytes; or
* the statement that puts the misplaced tile where none can lie.

What is read wrongly, and who wrote, is taken from ``shadow``. A plan is checked without running it, too: that
agrees if it tells of problems, one of which is such an answer.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from corpus_check import default_corpus
from debug.storage_faults.drawing import Fault, arguments, draw, draw_harmless
from debug.storage_faults.kinds import KINDS

from pypto_tmpl.debug import Options, Validation, first_divergence
from pypto_tmpl.debug.search.divergence import Divergence
from pypto_tmpl.ops import load_table
from pypto_tmpl.passes.memory.checking import plan_problems
from pypto_tmpl.storage.misfits import misfits
from pypto_tmpl.storage.overwrites import OverwriteFacts, overwrites
from pypto_tmpl.storage.places import FunctionPlaces

OTHER_CORPUS = "PYPTO_TMPL_PASS_CORPUS"


@dataclass(frozen=True, slots=True)
class Score:
    """A fault with what the search has found, and what the check of the plan says."""

    fault: Fault
    found: Divergence | None
    checked: tuple[str, ...]
    is_checked: bool
    error: str = ""

    @property
    def is_wrong(self) -> bool:
        """Whether the run is wrong."""
        return self.found is not None

    @property
    def is_named(self) -> bool:
        return self.found is not None and _names(self.fault, self.found)

    @property
    def told(self) -> str:
        """What was found, in a line."""
        if self.found is None:
            return self.error or "nothing is wrong"
        if self.found.overwrite is not None:
            return self.found.overwrite.text
        return "; ".join((f"{self.found.kind} `{self.found.place.variable}`", *self.found.evidence[:1]))


def _names(fault: Fault, found: Divergence) -> bool:
    if found.first_bad != fault.stage.path.stem:
        return False
    if found.overwrite is not None:
        return names(fault, found.overwrite)
    is_rejected = found.kind == "rejected" and found.place.function == fault.function
    return is_rejected and found.place.variable == fault.variable


def names(fault: Fault, told: OverwriteFacts) -> bool:
    """Whether an overwrite is the doing of the fault; see the head of the module."""
    read = (told.function, told.tile, told.line)
    reads = [one for one in fault.wrong if (one.function, one.tile, one.line) == read]
    if not reads:
        return False
    if told.is_left:
        return fault.variable in (told.by, told.tile) or any(one.writer == told.by for one in reads)
    return any((one.writer, one.writer_line) == (told.by, told.by_line) for one in reads)


def score(fault: Fault) -> Score:
    """Search a fault as a user would, and check its plan."""
    program, table = fault.program(), load_table()
    checked = problems(fault)
    misplaced = [
        (function.name, var.name_hint)
        for function in program.functions.values()
        for var, _ in misfits(FunctionPlaces(function, table))
    ]
    is_checked = (fault.function, fault.variable) in misplaced or any(
        names(fault, one.facts()) for one in overwrites(program, table, placed=True)
    )
    entry, inputs, expected = arguments(fault.stage)
    with tempfile.TemporaryDirectory() as folder:
        fault.write(Path(folder))
        try:
            found = first_divergence(folder, inputs, expected, Options(entry=entry, jobs=1))
        except Exception as error:  # a search that breaks is a miss, and the others still count
            told = f"{type(error).__name__}: {error}".splitlines()[0]
            return Score(fault, None, tuple(checked), is_checked, told)
    return Score(fault, found, tuple(checked), is_checked)


def problems(fault: Fault) -> list[str]:
    """What the check says of the plan, as of a dump that has addresses."""
    return plan_problems(fault.program(), [], placed=True)


def runs_right(fault: Fault) -> bool:
    """Whether the stage of a change agrees with what is expected, by values and on bytes."""
    entry, inputs, expected = arguments(fault.stage)
    with tempfile.TemporaryDirectory() as folder:
        fault.write(Path(folder))
        stage, options = Path(folder) / fault.stage.path.name, Options(entry=entry, jobs=1)
        validation = Validation(stage, inputs, expected, options)
        return all(stage.passed for stage in validation.results())


def table(scores: Sequence[Score], harmless: Iterable[tuple[Fault, bool, Sequence[str]]]) -> str:
    """The results as a page of Markdown."""
    lines = [
        "| | fault | what `bisect` says | named | `memory --check` |",
        "| --- | --- | --- | --- | --- |",
        *map(_row, scores),
        "",
        f"Named: {sum(one.is_named for one in scores)} of {len(scores)}; told by the check without running:"
        f" {sum(one.is_checked for one in scores)}.",
    ]
    kept = list(harmless)
    if kept:
        right = sum(is_right for _, is_right, _ in kept)
        alike = sum(is_right != bool(problems) for _, is_right, problems in kept)
        lines += [
            f"Of {len(kept)} changes without a wrong read, {right} run right; the others lie where none can."
            f" Run and check agree on {alike}."
        ]
    return "\n".join(lines) + "\n"


def _row(one: Score) -> str:
    fault = one.fault
    what = f"{fault.kind}: {fault.stage.label}, `{fault.function}`: {fault.how}"
    named = "yes" if one.is_named else "**no**"
    checked = "yes" if one.is_checked else "other reads" if one.checked else "**no**"
    return f"| {fault.number} | {what} | {one.told.replace('|', chr(92) + '|')} | {named} | {checked} |"


def corpora() -> list[Path]:
    """The corpora that the environment names, or the one of this repository."""
    other = os.environ.get(OTHER_CORPUS)
    return [default_corpus(), *([Path(other)] if other else [])]


def main() -> None:
    parser = argparse.ArgumentParser(prog="debug.storage_faults.scoring", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--list", action="store_true", help="only list the faults")
    options = parser.parse_args()
    scores = []
    for fault in draw(options.seed, corpora(), options.kinds):
        if options.list:
            print(f"{fault.name}  {fault.stage.label}  {fault.function}  {fault.how}")
            continue
        scores.append(score(fault))
        print(f"{fault.name}: {'named' if scores[-1].is_named else 'MISSED'}", flush=True)
    if not options.list:
        harmless = draw_harmless(options.seed, corpora(), options.kinds)
        told = [(fault, runs_right(fault), problems(fault)) for fault in harmless]
        print(table(scores, told))
        print(Counter(one.fault.kind for one in scores if one.is_named))


if __name__ == "__main__":
    main()
