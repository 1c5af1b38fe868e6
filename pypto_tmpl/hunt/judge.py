"""Judging the stages of one program, in order, up to the first at which something is wrong."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

import torch

from pypto_tmpl import ir
from pypto_tmpl.codegen.options import ScriptOptions
from pypto_tmpl.execution.entry import select_entry
from pypto_tmpl.hunt.comparing import changed, difference
from pypto_tmpl.hunt.findings import Coverage, Finding, Shows, Wrong
from pypto_tmpl.hunt.naming import crash_place, kind_of, message_kind, op_of, text_of
from pypto_tmpl.hunt.programs.drawing import ENTRY, HuntedProgram
from pypto_tmpl.hunt.programs.inputs import inputs_of
from pypto_tmpl.hunt.running import BY_VALUE, ON_BYTES, emitted, in_order
from pypto_tmpl.ir.destinations import has_destinations
from pypto_tmpl.ir.pass_order import PREFIX, TILE
from pypto_tmpl.ir.stage_names import FRONTEND, pass_of
from pypto_tmpl.ops import load_table
from pypto_tmpl.passes.round_trip import RoundTripError, read_again
from pypto_tmpl.storage.overwrites import overwrites
from pypto_tmpl.storage.stored import copies_yields, is_placed_at_0, is_stored

_OF_FORMS = 0.1  # reading the text of every stage would take as long as all else
_IN_ORDER = 0.25
_SHOWN = 3
_TYPE = re.compile(r"\]\.type\b")
_HOSTS = (ir.FunctionType.Orchestration, ir.FunctionType.Opaque, ir.FunctionType.Group)
# Outlining leaves names of what a kernel wrote that nothing binds anew (docs/passes.md).
_RULES = tuple(rule for rule in ir.STRUCTURAL_PROPERTIES if rule is not ir.IRProperty.InOutUseValid)
# From here on what carries and results of branches are declared as may be the whole (docs/passes.md).
_RULES_OF_LANES = tuple(rule for rule in _RULES if rule is not ir.IRProperty.TypeChecked)
_LANES = "LowerAutoVectorSplit"
# Rounds stay sequences within one, as in PyPTO's stages, until ConvertToSSA opens them.
_RULES_OF_ROUNDS = tuple(rule for rule in _RULES if rule is not ir.IRProperty.NoRedundantBlocks)
_OF_ROUNDS = PREFIX[PREFIX.index("UnrollLoops") : PREFIX.index("ConvertToSSA")]
_Check: TypeAlias = Callable[[str, ir.Program], tuple[Wrong, str, str] | None]


class WrongError(Exception):
    """Ends the compilation of a program of which the first fault is known; holds the finding."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.detail)
        self.finding = finding


class Judge:
    """Knows what a program means, and tells of each stage whether it is that.

    Stages come in order, by ``see``. With ``like``, a finding, just its stage and the one before it are
    looked at, but for what it found surely. Raises WrongError, also when made: the program may be wrong.
    """

    def __init__(self, program: HuntedProgram, like: Finding | None = None) -> None:
        self.program = program
        self.like = like
        self.stages: list[tuple[str, ir.Program]] = []
        self.coverage = Coverage()
        self._random = random.Random(program.seed)
        self._last: ir.Program | None = None
        self._text = ""
        self._kernels: set[int] = set()
        self._ops: dict[int, set[str]] = {}
        self._means(program)

    def _means(self, program: HuntedProgram) -> None:
        try:
            node = program.parsed()
            ir.verify_or_throw(node, ir.STRUCTURAL_PROPERTIES)
            _refuse_empty(node)
            entry = select_entry(node, wanted=ENTRY)
            self.inputs = inputs_of(program, entry)
            script = emitted(node)
            self.wanted = script.run(self.inputs)
        except Exception as error:
            raise WrongError(Finding(FRONTEND, "program", text_of(error), op=_refusal(error))) from error
        self.node = node
        pairs = zip(entry.params, entry.param_directions, strict=True)
        read = {var.name_hint for var, way in pairs if way is ir.ParamDirection.In}
        self.read = [name for name in self.wanted if name in read]
        self.written = [name for name in self.wanted if name not in read]
        self._is_good(FRONTEND, "program", self.wanted)
        self.stages.append((FRONTEND, node))
        self._last, self._text = node, script.text
        self._count(node)

    @property
    def expected(self) -> dict[str, torch.Tensor]:
        """The outputs that the program has by the names of its parameters."""
        return {name: self.wanted[name] for name in self.written if name in self.inputs}

    def see(self, stage: str, node: ir.Program) -> None:
        """Judge the next stage. Raises WrongError where it is wrong."""
        if node is self._last:
            return
        self._last = node
        self.coverage.passes[pass_of(stage)] = self.coverage.passes.get(pass_of(stage), 0) + 1
        self._count(node)
        if self.like is None:
            self._look(stage, node)
        elif stage == self.like.stage:
            if len(self.stages) > 1:
                self._look(*self.stages[-1])
            self._look(stage, node)
        self.stages.append((stage, node))

    def finish(self) -> None:
        """Judge in which orders the cores and the ranks of the last stage may work."""
        stage, node = self.stages[-1]
        is_ordered = any(
            f.func_type is ir.FunctionType.Group or f.level is ir.Level.HOST for f in node.functions.values()
        )
        if is_ordered and self._is_drawn("schedule", _IN_ORDER):
            self._run(stage, "schedule", node, in_order(self.program.seed))

    def wrong(self, stage: str, wrong: Wrong, detail: str, op: str = "", shows: Shows = "") -> WrongError:
        """The error that tells of a fault at a stage."""
        names = [name for name, _ in self.stages]
        ahead = names[: names.index(stage)] if stage in names else names
        before = ahead[-1] if ahead else ""
        return WrongError(Finding(stage, wrong, detail, before, op, shows=shows))

    def _look(self, stage: str, node: ir.Program) -> None:
        """Check a stage; one that the checks stumble over is wrong, too, and no end of the hunt."""
        try:
            self._check(stage, node)
        except WrongError:
            raise
        except Exception as error:
            raise self.wrong(stage, "script", text_of(error), crash_place(error)) from error

    def _check(self, stage: str, node: ir.Program) -> None:
        try:
            script = emitted(node)
        except Exception as error:
            raise self.wrong(stage, "script", text_of(error), kind_of(error)) from error
        if script.text != self._text:
            self._text = script.text
            self._run_script(stage, "values", script.run)
        self._check_storage(stage, node)
        for what, check in _FORMS.items():
            if self._is_drawn(what, _OF_FORMS):
                self._check_form(check, stage, node)

    def _check_storage(self, stage: str, node: ir.Program) -> None:
        """Kernels are checked when their tiles share allocations, and again when they change.

        Other planners than ours share them where no stage shows it.
        """
        if self.program.settings.memory_planner is not None:
            return
        functions = list(node.functions.values())
        if copies_yields(stage) or not is_stored(functions, "on", stage):
            return
        kernels = {id(f) for f in functions if f.func_type not in _HOSTS}
        if kernels == self._kernels:
            return
        self._kernels = kernels  # the nodes are kept, so that these stay theirs
        placed = is_placed_at_0(functions, stage)
        found = overwrites(node, load_table(), placed=placed)
        if found:
            statement = found[0].statement
            op = op_of(ir.python_print(statement))
            raise self.wrong(stage, "storage", found[0].text(), op, "plan")
        self._run(stage, "storage", node, replace(ON_BYTES, placed=placed))

    def _is_drawn(self, what: Wrong, share: float) -> bool:
        """Whether to look for what is looked for in a share of all places."""
        return self._random.random() < share if self.like is None else self.like.wrong == what

    def _check_form(self, check: _Check, stage: str, node: ir.Program) -> None:
        """Where a stage does not pass, those before it may not have been looked at."""
        wrong = check(stage, node)
        if wrong is None:
            return
        for number, (earlier, made) in enumerate(self.stages):
            found = check(earlier, made)
            if found is not None:
                del self.stages[number:]
                raise self.wrong(earlier, *found)
        raise self.wrong(stage, *wrong)

    def _run(self, stage: str, wrong: Wrong, node: ir.Program, options: ScriptOptions = BY_VALUE) -> None:
        try:
            script = emitted(node, options)
        except Exception as error:
            raise self.wrong(stage, wrong, text_of(error), kind_of(error)) from error
        self._run_script(stage, wrong, script.run)

    def _run_script(self, stage: str, wrong: Wrong, run: Callable[..., dict[str, torch.Tensor]]) -> None:
        try:
            got = run(self.inputs)
        except Exception as error:
            what: Wrong = "script" if wrong == "values" else wrong
            raise self.wrong(stage, what, text_of(error), kind_of(error)) from error
        self._is_good(stage, wrong, got)

    def _is_good(self, stage: str, wrong: Wrong, got: dict[str, torch.Tensor]) -> None:
        parameters = [name for name in self.written if name in self.inputs]
        if said := difference(got, self.wanted, self.written):
            shows: Shows = "parameters" if difference(got, self.wanted, parameters) else "results"
            raise self.wrong(stage, wrong, said, shows=shows)
        if said := changed(got, self.inputs, self.read):
            raise self.wrong(stage, "input" if wrong != "program" else wrong, said, shows="parameters")

    def _count(self, node: ir.Program) -> None:
        ops, found = self.coverage.ops, set[str]()
        for function in node.functions.values():
            if id(function) not in self._ops:  # the stages are kept, so that these stay theirs
                self._ops[id(function)] = _ops_of(function)
            found |= self._ops[id(function)]
        for name in found:
            ops[name] = ops.get(name, 0) + 1


def _refusal(error: Exception) -> str:
    if isinstance(error, ir.VerificationError) and error.diagnostics:
        return f"{error.diagnostics[0].rule_name}: {message_kind(error.diagnostics[0].message)}"
    return kind_of(error)


def _refuse_empty(node: ir.Program) -> None:
    """Hardware has no tiles without elements. Raises ValueError for a program that has."""
    for part in (part for f in node.functions.values() for part in ir.walk(f)):
        type_ = part.type if isinstance(part, ir.Expr) else None
        if isinstance(type_, ir.ShapedType) and any(
            isinstance(dim, ir.ConstInt) and dim.value < 1 for dim in type_.shape
        ):
            raise ValueError(f"a value has the type {ir.python_print(type_)}")


def _broken_rule(stage: str, node: ir.Program) -> tuple[Wrong, str, str] | None:
    made_by = pass_of(stage)
    rules = _RULES_OF_ROUNDS if made_by in _OF_ROUNDS else _RULES
    found = ir.verify(node, _RULES_OF_LANES if made_by in TILE[TILE.index(_LANES) :] else rules)
    return ("verifier", "\n".join(map(str, found[:_SHOWN])), found[0].rule_name) if found else None


def _text_that_differs(stage: str, node: ir.Program) -> tuple[Wrong, str, str] | None:
    if has_destinations(node):  # text of buffers is not read
        return None
    try:
        read_again(stage, node)
    except RoundTripError as error:
        what = error.what.partition(": ")[2]  # it begins with the path of what differs
        if _TYPE.search(what.partition(": ")[0]):
            return None  # that of a carry, which text does not say, where the carry is read
        return "text", str(error), message_kind(what.rpartition(".")[2])
    return None


_FORMS: Mapping[Wrong, _Check] = {"verifier": _broken_rule, "text": _text_that_differs}


def _ops_of(function: ir.Function) -> set[str]:
    """The names of the ops that a function calls."""
    calls = (part for part in ir.walk(function) if isinstance(part, ir.Call))
    return {call.op.name for call in calls if not isinstance(call.op, ir.GlobalVar)}
