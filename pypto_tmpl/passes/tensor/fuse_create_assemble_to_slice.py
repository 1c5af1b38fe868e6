"""Buffers that are copied into a larger tensor become windows of it."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from pypto_tmpl import ir, ops
from pypto_tmpl.ir import IRProperty
from pypto_tmpl.ir.bodies import flat, statements
from pypto_tmpl.passes.aliases import Aliases
from pypto_tmpl.passes.base import ProgramPass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.outline.dataflow import Callees, all_definitions
from pypto_tmpl.passes.structure.yields import with_yield, yielded
from pypto_tmpl.passes.tensor.families import Families
from pypto_tmpl.rewrite import Rewriter, build

_CREATE, _ASSEMBLE = "tensor.create", "tensor.assemble"


class FuseCreateAssembleToSlice(ProgramPass):
    """Make a created buffer that is assembled once the window of the target, where it was created.

    Only in Orchestration, where windows show their tensor; if the buffer itself is assembled, not what an op
    makes of it; if nothing else looks at the target from there to the assemble, or at the buffer behind it;
    if target and offsets are known there already. Loops no longer carry a target that only this passed on.
    """

    __slots__ = ()
    requires = frozenset({IRProperty.SplitIncoreOrch})

    def run(self, program: ir.Program, context: PassContext) -> ir.Program:
        before = list(program.functions.values())
        callees, aliases = Callees(before), Aliases(program)
        functions = [
            _fused(function, Families(function, callees, aliases.shared(function.name)))
            if function.func_type is ir.FunctionType.Orchestration
            else function
            for function in before
        ]
        return build(program, functions=functions)


@dataclass(frozen=True, slots=True)
class _Fusion:
    """A create and the assemble of what it made."""

    create: ir.AssignStmt
    assemble: ir.AssignStmt

    @property
    def operands(self) -> tuple[ir.Expr, ...]:
        """The target of the assemble, its source and its offsets."""
        assert isinstance(self.assemble.value, ir.Call)
        return self.assemble.value.args


def _fused(function: ir.Function, families: Families) -> ir.Function:
    fusions = list(_fusions(function, families))
    if not fusions:
        return function
    targets = {families.of(fusion.operands[0]) for fusion in fusions}
    fused = _Fuse(fusions).rewrite(function)
    return _Uncarried(targets, families).rewrite(fused)


class _Block:
    """Where in a list of statements tensors are looked at, and where variables are defined."""

    def __init__(self, stmts: list[ir.Stmt], families: Families) -> None:
        self.place_of = {id(stmt): place for place, stmt in enumerate(stmts)}
        self._touched: dict[int, list[int]] = defaultdict(list)
        self._defined: dict[int, list[int]] = defaultdict(list)
        for place, stmt in enumerate(stmts):
            for family in {families.of(node) for node in ir.walk(stmt) if isinstance(node, ir.Var)}:
                self._touched[family].append(place)
            for key in all_definitions(stmt):
                self._defined[key].append(place)

    def touches(self, family: int, start: int, end: int | None = None) -> bool:
        """Whether one of the statements from ``start`` to before ``end`` looks at a tensor of a family."""
        return _has_between(self._touched[family], start, end)

    def defines(self, var: ir.Var, start: int, end: int) -> bool:
        """Whether one of the statements from ``start`` to before ``end`` defines a variable."""
        return _has_between(self._defined[id(var)], start, end)


def _has_between(places: list[int], start: int, end: int | None) -> bool:
    at = bisect_left(places, start)
    return at < len(places) and (end is None or places[at] < end)


def _fusions(function: ir.Function, families: Families) -> Iterator[_Fusion]:
    assembles: dict[int, list[ir.AssignStmt]] = defaultdict(list)
    for stmt in statements(function.body):
        if isinstance(stmt, ir.AssignStmt) and _is(stmt, _ASSEMBLE):
            assembles[families.of(_source(stmt))].append(stmt)
    for stmt in statements(function.body) if assembles else ():
        if not isinstance(stmt, ir.SeqStmts):
            continue
        found = list(flat(stmt))
        creates = [s for s in found if isinstance(s, ir.AssignStmt) and _is(s, _CREATE)]
        block = _Block(found if creates else [], families)
        for create in creates:
            own = assembles[families.of(create.var)]
            fusion = _Fusion(create, own[0]) if len(own) == 1 else None
            if fusion is not None and _is_legal(fusion, block, families):
                yield fusion


def _is(stmt: ir.AssignStmt, op: str) -> bool:
    return (
        isinstance(stmt.value, ir.Call) and stmt.value.op.name == op and not stmt.value.kwargs.get("atomic")
    )


def _source(assemble: ir.AssignStmt) -> ir.Expr:
    assert isinstance(assemble.value, ir.Call)
    return assemble.value.args[1]


def _is_legal(fusion: _Fusion, block: _Block, families: Families) -> bool:
    """Whether the window may be taken where the buffer is created, in the block of the assemble."""
    target, source, offsets = fusion.operands
    assert isinstance(fusion.create.value, ir.Call)
    buffer, whole = families.of(fusion.create.var), families.of(target)
    start, end = block.place_of[id(fusion.create)], block.place_of.get(id(fusion.assemble), -1)
    needed = [node for node in (target, *ir.walk(offsets)) if isinstance(node, ir.Var)]
    return (
        start < end
        and buffer != whole
        and families.is_version(source, fusion.create.var)
        and "init_value" not in fusion.create.value.kwargs
        and not any(block.defines(var, start, end) for var in needed)
        and not block.touches(whole, start + 1, end)
        and not block.touches(buffer, end + 1)
    )


class _Fuse(Rewriter):
    def __init__(self, fusions: list[_Fusion]) -> None:
        super().__init__()
        self._creates = {id(fusion.create): fusion for fusion in fusions}
        self._assembles = {id(fusion.assemble): fusion for fusion in fusions}

    def before(self, stmt: ir.Stmt) -> ir.Stmt | list[ir.Stmt]:
        if (fusion := self._creates.get(id(stmt))) is not None:
            return self._window(fusion)
        if (fusion := self._assembles.get(id(stmt))) is not None:
            self.bind(fusion.assemble.var, self.use(_variable(fusion.operands[0])))
            return []
        return stmt

    def _window(self, fusion: _Fusion) -> ir.Stmt:
        target, _, offsets = fusion.operands
        buffer = fusion.create.var
        assert isinstance(fusion.create.value, ir.Call) and isinstance(offsets, ir.MakeTuple)
        shape = fusion.create.value.args[0]
        assert isinstance(shape, ir.MakeTuple)
        missing = len(offsets.elements) - len(shape.elements)
        one = ir.ConstInt(1, ir.DataType.INDEX, shape.span)
        padded = ir.MakeTuple([*[one] * missing, *shape.elements], shape.span) if missing else shape
        call = ops.call("tensor.slice", target, padded, offsets)
        if missing:
            window = ir.Var(buffer.name_hint, call.type, buffer.span)
            self.bind(buffer, window)
            return ir.AssignStmt(window, call, fusion.create.span)
        return build(fusion.create, value=call)


def _variable(expr: ir.Expr) -> ir.Var:
    assert isinstance(expr, ir.Var)
    return expr


class _Uncarried(Rewriter):
    """Takes the carries of some tensors out of loops that hand them on as they are."""

    def __init__(self, targets: set[int], families: Families) -> None:
        super().__init__()
        self._targets = targets
        self._families = families

    def before(self, stmt: ir.Stmt) -> ir.Stmt:
        if not isinstance(stmt, ir.ForStmt | ir.WhileStmt):
            return stmt
        values = yielded(stmt.body)
        kept = [
            place
            for place, (arg, value) in enumerate(zip(stmt.iter_args, values, strict=True))
            if value is not arg or self._families.of(arg) not in self._targets
        ]
        if len(kept) == len(values):
            return stmt
        for place, arg in enumerate(stmt.iter_args):
            if place not in kept:
                init = self.rewrite_value(arg.initValue)
                self.bind(arg, init)
                self.bind(stmt.return_vars[place], init)
        return build(
            stmt,
            iter_args=[stmt.iter_args[place] for place in kept],
            body=with_yield(stmt.body, [values[place] for place in kept]),
            return_vars=[stmt.return_vars[place] for place in kept],
        )

    def rewrite_value(self, value: ir.Expr) -> ir.Expr:
        """What an initial value reads as here."""
        return self.use(value) if isinstance(value, ir.Var) else value
