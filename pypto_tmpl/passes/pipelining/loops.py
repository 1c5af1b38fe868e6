"""Pipelined loops: what they say of themselves, and rounds of them beside each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from pypto_tmpl import ir
from pypto_tmpl.ir import IRProperty
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ir.extents import constant_extent, same_extents
from pypto_tmpl.ops import facts
from pypto_tmpl.passes.structure.yields import with_yield, yielded
from pypto_tmpl.rewrite import Rewriter, build, clone, flat
from pypto_tmpl.rewrite.rewriter import Task

STAGES = "pipeline_stages"
OVERLAPS_STORES = "pipeline_overlap_stores"
ALTERNATES = "pipeline_double_buffer_c"
MEMBERSHIP = "pipeline_membership"
BASE_PROPERTIES = frozenset(
    {
        IRProperty.SSAForm,
        IRProperty.SplitIncoreOrch,
        IRProperty.IncoreTileOps,
        IRProperty.TileOps2D,
        IRProperty.TileMemoryInferred,
        IRProperty.NormalizedStmtStructure,
    }
)
"""What holds of programs before and after the passes over pipelined loops."""


def is_pipeline(stmt: ir.Stmt) -> TypeGuard[ir.ForStmt]:
    """Whether a statement is a loop whose rounds may overlap."""
    return isinstance(stmt, ir.ForStmt) and stmt.kind is ir.ForKind.Pipeline


def has_pipelines(function: ir.Function) -> bool:
    """Whether a function has loops whose rounds may overlap."""
    return any(map(is_pipeline, statements(function.body)))


def stages_of(loop: ir.ForStmt) -> int:
    """How many rounds may overlap; 1 where the loop does not say."""
    found = loop.attrs.get(STAGES, 1)
    assert isinstance(found, int)
    return found


def as_sequential(loop: ir.ForStmt, **changes: Any) -> ir.ForStmt:
    """The loop with rounds one after the other, and further changes."""
    attrs = loop.attrs.without(STAGES, OVERLAPS_STORES, ALTERNATES)
    return build(loop, kind=ir.ForKind.Sequential, attrs=attrs, **changes)


@dataclass(frozen=True, slots=True)
class Rounds:
    """The rounds of a loop whose bounds are constants."""

    numbers: range

    def index(self, loop: ir.ForStmt, number: int) -> ir.Expr:
        """The loop variable of a round as a constant; rounds past the last one have one, too."""
        return constant_like(loop.loop_var, self.numbers.start + number * self.numbers.step)


def rounds_of(loop: ir.ForStmt) -> Rounds | None:
    """The rounds of a loop, None where its bounds are not known or its step is zero."""
    start, stop, step = (constant_extent(bound) for bound in (loop.start, loop.stop, loop.step))
    return Rounds(range(start, stop, step)) if start is not None and stop is not None and step else None


def constant_like(value: ir.Expr, number: int) -> ir.ConstInt:
    """A number of the dtype of a scalar."""
    assert isinstance(value.type, ir.ScalarType)
    return ir.ConstInt(number, value.type.dtype, value.span)


def moved_by(index: ir.Expr, distance: int) -> ir.Expr:
    """An index and a distance from it, itself for 0."""
    if not distance:
        return index
    operation = ir.add if distance > 0 else ir.sub
    return operation(index, constant_like(index, abs(distance)), index.span)


def renamed(variables: Sequence[ir.Var], suffix: str) -> list[ir.Var]:
    """Fresh variables of the same types, the suffix behind their names."""
    return [ir.Var(f"{var.name_hint}{suffix}", var.type, var.span) for var in variables]


def results(variables: Sequence[ir.Var], values: Sequence[ir.Expr], span: ir.Span) -> list[ir.Stmt]:
    """The results of a loop that is gone, given their values."""
    return [ir.AssignStmt(var, value, span) for var, value in zip(variables, values, strict=True)]


class SecondNames(Rewriter):
    """Gives second names of tiles the types of these where they have other extents.

    The result of a loop that is gone may be declared wider than the value that it is a name of now, and text
    says the types of names; that of a loop or branch that stays is read as what that yields.
    """

    def __init__(self) -> None:
        super().__init__()
        self._yielded: dict[int, ir.TileType] = {}  # by the ids of results

    def rewriting(self, stmt: ir.Stmt) -> Task | None:
        """The task for a second name; other statements are rewritten the usual way."""
        if isinstance(stmt, ir.AssignStmt) and isinstance(stmt.value, ir.Var):
            return self._named(stmt)
        return None

    def statement(self, stmt: ir.Stmt) -> ir.Stmt:
        """Note what the results of a loop or a branch are read as."""
        if isinstance(stmt, ir.ForStmt | ir.WhileStmt | ir.IfStmt):
            body = stmt.then_body if isinstance(stmt, ir.IfStmt) else stmt.body
            for result, value in zip(stmt.return_vars, yielded(body), strict=True):
                if isinstance(type_ := self._yielded.get(id(value), value.type), ir.TileType):
                    self._yielded[id(result)] = type_
        return stmt

    def _named(self, stmt: ir.AssignStmt) -> Task:
        value, var = (yield stmt.value), stmt.var
        type_ = self._yielded.get(id(value), value.type)
        if isinstance(var.type, ir.TileType) and isinstance(type_, ir.TileType):
            var = var if same_extents(var.type.shape, type_.shape) else build(var, type=type_)
        self.bind(stmt.var, var)
        return [build(stmt, var=var, value=value)]


@dataclass(slots=True)
class RoundCopies:
    """Rounds of a loop as statements, each from the values that the one before yields."""

    loop: ir.ForStmt
    values: Sequence[ir.Expr]
    """What the carries are after the last round so far."""

    def next(self, index: ir.Expr, mark: Marking) -> list[ir.Stmt]:
        """A further round, in which the loop variable is ``index``."""
        meanings = dict(zip(self.loop.iter_args, self.values, strict=True)) | {self.loop.loop_var: index}
        body = mark(clone(self.loop.body, substitution=meanings))
        self.values = yielded(body)
        return list(flat(with_yield(body, ())))


Marking = Callable[[ir.Stmt], ir.Stmt]
"""Adds to statements that are copied in which copy they are."""


class Membership(Rewriter):
    """Says of calls that give tiles that they are those of a stage, a copy, in a group of copies.

    The tiles of different stages of a group should not share memory. Calls of copies within copies belong to
    all of their groups.
    """

    def __init__(self, group: int, stage: int, leaves_out: Callable[[ir.Call], bool]) -> None:
        super().__init__()
        self._pair = f"{group}:{stage}"
        self._leaves_out = leaves_out

    def statement(self, stmt: ir.Stmt) -> ir.Stmt:
        call = stmt.value if isinstance(stmt, ir.AssignStmt) else None
        if not isinstance(call, ir.Call) or not isinstance(call.type, ir.TileType) or self._leaves_out(call):
            return stmt
        before = call.attrs.get(MEMBERSHIP)
        pairs = f"{before};{self._pair}" if before else self._pair
        return build(stmt, value=build(call, attrs=call.attrs.with_(**{MEMBERSHIP: pairs})))


def memory_space(value: ir.Expr) -> ir.MemorySpace | None:
    """The memory that a tile is in; None where it is no tile, or nothing says it."""
    return value.type.memory_space if isinstance(value.type, ir.TileType) else None


def is_product_in_acc(call: ir.Call) -> bool:
    """Whether a call multiplies matrices into an accumulator."""
    return facts.of(call.op).has("product") and memory_space(call) is ir.MemorySpace.Acc
