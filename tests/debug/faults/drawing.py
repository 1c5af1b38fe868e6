"""Drawing faults: three of each kind by one seed, every one of which changes what the program computes."""

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import torch
from debug.faults import compute_kinds, memory_kinds
from debug.faults.programs import CorpusProgram, corpus_program, corpus_programs, read_stage, read_text
from debug.faults.statements import Mutation, Place, header, places

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.debug import Stage
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.files import write_bytes, write_text

Find = Callable[[ir.Program], Iterator[Mutation]]

# By kind: what the text of a stage must hold, so that others are not parsed, and what finds the mutations.
KINDS: Mapping[str, tuple[str, Find]] = {
    "wrong_offset": (r"load|store|slice|assemble", memory_kinds.wrong_offset),
    "dropped_op": (r"pl\.t", compute_kinds.dropped_op),
    "swapped_operands": (r"pl\.t", compute_kinds.swapped_operands),
    "wrong_rounding_mode": (r"\.cast\(", compute_kinds.wrong_rounding_mode),
    "wrong_valid_extent": (r"pl\.Tile\[", memory_kinds.wrong_valid_extent),
    "lost_init_cond": (r"matmul_acc\(.* == ", compute_kinds.lost_init_cond),
    "wrong_split": (r"split=[0-9]|subblock_idx \*", memory_kinds.wrong_split),
    "stale_buffer": (r"MemRef\(mem_", memory_kinds.stale_buffer),
    "wrong_loop_bound": (r"for .* in pl\.", compute_kinds.wrong_loop_bound),
    "wrong_constant": (r"pl\.t", compute_kinds.wrong_constant),
}
FAULTS_OF_A_KIND = 3
TRIES_IN_A_STAGE = 6


@dataclass(frozen=True, slots=True)
class Fault:
    """A stage of a program with one wrong statement.

    ``line`` is where that statement begins in the text of the stage, ``statement`` what stands there and
    ``path`` its place in the function; of a dropped op they are those of the first statement that reads
    what takes the place of its value, 0 and empty if none does. ``dropped`` is then the statement that is
    missing. ``options`` are those of the script under which the ``outcome`` was seen.
    """

    seed: int
    number: int
    kind: str
    program: str
    stage: str
    function: str
    path: str
    line: int
    statement: str
    how: str
    outcome: str
    dropped: str
    signature: str
    options: Mapping[str, int]
    text: str

    @property
    def name(self) -> str:
        return f"{self.number:02}_{self.kind}_{self.program}"

    def stages(self) -> Iterator[tuple[str, str]]:
        """Names and texts of the dump: right stages, the faulty one, and later ones with the same fault.

        A later stage has the fault if there is exactly one statement of the same text, types left out, that
        can be made wrong in the same way, and if that shows; else it is left out.
        """
        program = corpus_program(self.program)
        for stage in _text_stages(program):
            if stage.name < self.stage:
                yield stage.name, read_text(stage.path)
            elif stage.name == self.stage:
                yield stage.name, self.text
            elif (text := self._later_text(program, stage)) is not None:
                yield stage.name, text

    def _later_text(self, program: CorpusProgram, stage: Stage) -> str | None:
        node = read_stage(stage.path)
        same = [
            mutation
            for mutation in KINDS[self.kind][1](node)
            if mutation.place.signature == self.signature and mutation.how == self.how
        ]
        if len(same) != 1:
            return None
        text = _printed(same[0].apply(node)[0])
        try:
            return text if program.outcome(stage.name, text, self.options) else None
        except PyptoTmplError:
            return None

    def write(self, directory: Path) -> None:
        """Write ``passes_dump``, ``inputs``, ``expected`` and ``fault.json``, which tells the truth."""
        program = corpus_program(self.program)
        for name, text in self.stages():
            node = pl.parse(text, f"{name}.py")
            write_text(directory / "passes_dump" / f"{name}.py", text)
            write_bytes(directory / "passes_dump" / f"{name}.msgpack", ir.serialize(node))
        for folder, tensors in (("inputs", program.inputs), ("expected", program.expected)):
            (directory / folder).mkdir(exist_ok=True)
            for name, tensor in tensors.items():
                torch.save(tensor, directory / folder / f"{name}.pt")
        told = {name: value for name, value in asdict(self).items() if name != "text"}
        write_text(directory / "fault.json", json.dumps(told, indent=2) + "\n")


def draw(seed: int, kinds: Sequence[str] = tuple(KINDS)) -> list[Fault]:
    """Three observable faults of each kind; the same seed draws the same ones, whatever kinds follow.

    Programs that have had fewer faults come first, then stages that have, then what the seed says.
    """
    found: list[Fault] = []
    used: Counter[str] = Counter()
    for kind in kinds:
        random_ = random.Random(f"{seed} {kind}")
        dumps = [
            (name, stage) for name in corpus_programs() for stage in _text_stages(corpus_program(name))[1:]
        ]
        random_.shuffle(dumps)
        for _ in range(FAULTS_OF_A_KIND):
            dumps.sort(key=lambda dump: (used[dump[0]], used[dump[1].name]))
            make = partial(Fault, seed, len(found) + 1, kind)
            known = {(fault.program, fault.stage, fault.path, fault.how) for fault in found}
            drawn = (_draw_in(kind, name, stage, random_, make, known) for name, stage in dumps)
            fault = next((one for one in drawn if one is not None), None)
            if fault is None:
                raise RuntimeError(f"seed {seed}: no observable fault of kind {kind} is left")
            found.append(fault)
            used.update((fault.program, fault.stage))
    return found


def _draw_in(
    kind: str,
    name: str,
    stage: Stage,
    random_: random.Random,
    make: Callable[..., Fault],
    known: set[tuple[str, str, str, str]],
) -> Fault | None:
    """A fault in one stage, if one of a few mutations of it shows."""
    marker, find = KINDS[kind]
    if not re.search(marker, read_text(stage.path)):
        return None
    node = read_stage(stage.path)
    mutations = list(find(node))
    for mutation in random_.sample(mutations, min(TRIES_IN_A_STAGE, len(mutations))):
        faulty, path = mutation.apply(node)
        text = _printed(faulty)
        try:
            outcome = corpus_program(name).outcome(stage.name, text, mutation.options)
        except PyptoTmplError:
            continue  # not a program that a compiler would have dumped
        if not outcome or (name, stage.name, path or "", mutation.how) in known:
            continue
        place = _place_in(text, mutation.place.function, path)
        return make(
            program=name,
            stage=stage.name,
            function=mutation.place.function,
            path=path or "",
            line=place.statement.span.begin_line if place else 0,
            statement=text.splitlines()[place.statement.span.begin_line - 1].strip() if place else "",
            how=mutation.how,
            outcome=outcome,
            dropped="" if mutation.replacement is not None else header(mutation.place.statement),
            signature=mutation.place.signature,
            options=dict(mutation.options),
            text=text,
        )
    return None


def _place_in(text: str, function: str, path: str | None) -> Place | None:
    """The statement of a path as the reader of the text finds it, with its line."""
    if path is None:
        return None
    node = pl.parse(text, "faulty")
    assert isinstance(node, ir.Program)
    return next(place for place in places(node) if (place.function, place.path) == (function, path))


def _text_stages(program: CorpusProgram) -> list[Stage]:
    return [stage for stage in program.stages if stage.text is not None]


def _printed(node: ir.Program) -> str:
    return ir.python_print(node, format=False)
