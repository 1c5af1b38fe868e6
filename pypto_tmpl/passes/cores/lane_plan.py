"""What becomes of the statements of a kernel whose vector work two lanes share."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from pypto_tmpl import ir, ops
from pypto_tmpl.ir import MemorySpace
from pypto_tmpl.ir.bodies import parts
from pypto_tmpl.ir.extents import same_extents
from pypto_tmpl.ir.types import implicit_tile_view
from pypto_tmpl.ops import facts, load_table
from pypto_tmpl.ops.cores import CoreSide, side_of_space
from pypto_tmpl.passes.base import PassError
from pypto_tmpl.passes.cores.kernel import Kernel, evaluated_call
from pypto_tmpl.passes.cores.lane import Lane
from pypto_tmpl.passes.cores.lane_memory import LaneMemory
from pypto_tmpl.passes.cores.replacing import Retyping
from pypto_tmpl.passes.outline.dataflow import own_reads
from pypto_tmpl.passes.structure.yields import results
from pypto_tmpl.rewrite import build

_ROWS = 0
Rule: TypeAlias = "Callable[[LanePlan, ir.AssignStmt | ir.EvalStmt, ir.Call], None]"
"""Plans what becomes of a call of one op."""


class LanePlan:
    """Follows through a body along which axis each tile is halved, and says what statements become.

    A tile that has one cell along the axis of the split is the same on both lanes, and so is what is computed
    of such tiles alone, however wide it is: a lane takes its half of it where it meets a tile that is halved.
    The declared types of carries, and of results of loops and branches, stay as they are where tiles are
    halved by rows, so that rows begin where the types say, and nothing asks for the region of one of them.
    Elsewhere they would tell wrong how rows lie, or which there are: they are halved, and so are those that
    they come from.
    """

    def __init__(
        self,
        kernel: Kernel,
        lane: Lane,
        rule_of: Callable[[str], Rule],
        memory: LaneMemory,
        tells_all: bool = False,
    ) -> None:
        """``memory`` is told what lanes load and store, and is for the caller to check.

        ``tells_all``: the types of carries and results are told right whether or not something asks.
        """
        self.kernel, self.lane, self._rule_of, self._tells_all = kernel, lane, rule_of, tells_all
        self.axes: dict[int, int] = {}  # of variables that are halved: along which axis
        self.types: dict[int, ir.Type] = {}
        self.replacements: dict[int, list[ir.Stmt]] = {}
        self._declared: dict[int, ir.Var] = {}  # variables that are halved and keep their declared types
        self._exact: set[int] = set()
        self._sources: dict[int, list[ir.Expr]] = defaultdict(list)  # what carries and results come from
        self._workspaces = workspaces(kernel)
        self._memory = memory

    def follow(self, body: ir.Stmt) -> None:
        """Plan a body."""
        todo: list[tuple[ir.Stmt, bool]] = [(body, True)]
        while todo:
            stmt, enters = todo.pop()
            if not enters:
                self._leave(stmt)
                continue
            self._enter(stmt)
            todo.append((stmt, False))
            todo += [(part, True) for part in reversed(parts(stmt))]

    def lane_types(self) -> dict[int, ir.Type]:
        """The types of variables (ids) that change, when all is planned."""
        todo = list(self._exact)
        seen = set(todo)
        while todo:
            key = todo.pop()
            var = self._declared[key]
            self.types[key] = self.lane.type(var.type, self.axes[key], var)
            sources = {id(value) for value in self._sources[key]} & self._declared.keys() - seen
            seen |= sources
            todo += sources
        return self.types

    def rewritten(self, body: ir.Stmt) -> ir.Stmt:
        """A body that was planned, for one lane."""
        return Retyping(self.replacements, self.lane_types()).rewrite(body)

    def error(self, what: str, stmt: ir.Stmt, variable: ir.Expr | None = None) -> PassError:
        """An error about a variable, by default the one of the statement."""
        return PassError(what, self.lane.function, stmt, variable)

    def axis(self, value: ir.Expr) -> int | None:
        """The axis along which a value is halved."""
        return self.axes.get(id(value))

    def ask_region(self, value: ir.Expr) -> None:
        """Have the type of a value tell what the lane has of it."""
        if id(value) in self._declared:
            self._exact.add(id(value))

    def note_access(
        self,
        stmt: ir.Stmt,
        tensor: ir.Expr,
        offsets: Sequence[ir.Expr],
        extents: Sequence[ir.Expr],
        shared: int | None,
        is_store: bool = False,
    ) -> None:
        """Note what a statement reads or writes of a tensor, and which dimension the lanes share of it."""
        part = None if shared is None else (shared, self.lane.step(extents[shared], stmt))
        self._memory.note(stmt, tensor, offsets, extents, part, is_store)

    # Loops, branches, second names

    def _enter(self, stmt: ir.Stmt) -> None:
        if isinstance(stmt, ir.ForStmt | ir.WhileStmt):
            for arg, var in zip(stmt.iter_args, stmt.return_vars, strict=True):
                self._sources[id(arg)] += [arg.initValue, var]
                self._sources[id(var)].append(arg)
                self._keep_declared(arg, self.axis(arg.initValue))
        elif isinstance(stmt, ir.AssignStmt) and isinstance(stmt.value, ir.Var):
            self._sources[id(stmt.var)].append(stmt.value)
            self._keep_declared(stmt.var, self.axis(stmt.value))
            self.ask_region(stmt.var)
        elif isinstance(stmt, ir.AssignStmt | ir.EvalStmt) and (call := evaluated_call(stmt)) is not None:
            self._plan(stmt, call)

    def _leave(self, stmt: ir.Stmt) -> None:
        for variables, values in results(stmt):
            axes = {self.axis(value) for value in values}
            if len(axes) > 1 and isinstance(variables[-1].type, ir.TileType):
                what = f"{variables[-1].name_hint!r} is halved over the lanes here, and otherwise there"
                raise self.error(what, stmt, variables[-1])
            self._sources[id(variables[-1])] += values
            self._keep_declared(variables[-1], next(iter(axes), None))

    def _keep_declared(self, var: ir.Var, axis: int | None) -> None:
        if axis is not None:
            self.axes[id(var)] = axis
            self._declared[id(var)] = var
            if self._tells_all or axis != _ROWS:
                self._exact.add(id(var))

    # Calls

    def _plan(self, stmt: ir.AssignStmt | ir.EvalStmt, call: ir.Call) -> None:
        side = self.kernel.side(stmt)
        if side is CoreSide.MIXED and isinstance(stmt, ir.AssignStmt):
            self._cross(stmt, call)
        elif side is CoreSide.VECTOR or self._is_buffer(stmt, call):
            self._rule_of(call.op.name)(self, stmt, call)

    def _is_buffer(self, stmt: ir.Stmt, call: ir.Call) -> bool:
        """Whether a call, which either core may run, makes a tile of the lanes that is no mere workspace."""
        if not isinstance(call.type, ir.TileType) or not facts.of_value(call).has("allocates"):
            return False
        is_vector = side_of_space(call.type.memory_space) is CoreSide.VECTOR
        return is_vector and isinstance(stmt, ir.AssignStmt) and id(stmt.var) not in self._workspaces

    def become(
        self,
        stmt: ir.Stmt,
        call: ir.Call,
        args: Iterable[ir.Expr],
        axis: int | None,
        before: Iterable[ir.Stmt] = (),
    ) -> None:
        """Have a statement call its op with other operands, and its result be halved along an axis."""
        type_ = call.type if axis is None else self.lane.type(call.type, axis, stmt)
        new = build(call, args=list(args), type=type_)
        if isinstance(stmt, ir.AssignStmt):
            if axis is not None:
                self.axes[id(stmt.var)] = axis
                self.types[id(stmt.var)] = self.lane.type(stmt.var.type, axis, stmt)
            self.replacements[id(stmt)] = [*before, ir.AssignStmt(stmt.var, new, stmt.span)]
        else:
            self.replacements[id(stmt)] = [*before, ir.EvalStmt(new, stmt.span)]

    def part_of(self, value: ir.Expr, axis: int, stmt: ir.Stmt) -> tuple[ir.Expr, list[ir.Stmt]]:
        """The lane's half of a tile that is the same on both lanes, and the statement that takes it."""
        assert isinstance(value, ir.Var) and isinstance(value.type, ir.TileType)
        zero = ir.ConstInt(0, ir.DataType.INDEX, stmt.span)
        offsets: list[ir.Expr] = [zero, zero]
        offsets[axis] = self.lane.offset(zero, value.type.shape[axis], stmt)
        type_ = self.lane.type(value.type, axis, stmt)
        assert isinstance(type_, ir.TileType)
        shape = ir.MakeTuple(type_.shape, stmt.span)
        valid = type_.get_effective_tile_view().valid_shape
        extra = [] if same_extents(valid, type_.shape) else [ir.MakeTuple(valid, stmt.span)]
        call = ops.call(
            "tile.slice",
            value,
            shape,
            ir.MakeTuple(offsets, stmt.span),
            *extra,
            span=stmt.span,
            result_type=type_,
        )
        var = ir.Var(f"{value.name_hint}_lane", type_, stmt.span)
        return var, [ir.AssignStmt(var, call, stmt.span)]

    def _cross(self, stmt: ir.AssignStmt, call: ir.Call) -> None:
        assert isinstance(call.type, ir.TileType)
        if facts.of_value(call).core != "move":
            raise self.error(
                f"{call.op.name} stands outside of a region of lanes, in a kernel that is split", stmt
            )
        source, lane = call.args[0], self.lane
        if side_of_space(call.type.memory_space) is CoreSide.VECTOR:
            mode = lane.axis + 1 if lane.is_wide(stmt.var.type) else 0
            keywords = {"split": mode} | (
                {} if lane.stride is None or not mode else {"lane_stride": lane.stride}
            )
            type_ = lane.type(stmt.var.type, lane.axis, stmt) if mode else stmt.var.type
            shard = ops.call("tile.aiv_shard", source, span=call.span, result_type=type_, **keywords)
            self.replacements[id(stmt)] = [ir.AssignStmt(stmt.var, shard, stmt.span)]
            if mode:
                self.axes[id(stmt.var)] = lane.axis
                self.types[id(stmt.var)] = type_
            return
        axis = self.axis(source)
        if axis is None:
            name = getattr(source, "name_hint", source)
            what = f"{name!r} goes to the cube core, but is not halved over the lanes"
            raise self.error(what, stmt, source)
        self.ask_region(source)
        assert isinstance(source.type, ir.TileType)
        valid = source.type.get_effective_tile_view().valid_shape
        whole = ir.TileType(
            source.type.shape,
            source.type.dtype,
            None,
            build(implicit_tile_view(source.type.shape, MemorySpace.Mat), valid_shape=valid),
            MemorySpace.Mat,
        )
        gathered = ir.Var(f"{stmt.var.name_hint}_mat", whole, stmt.span)
        gather = ops.call("tile.aic_gather", source, span=call.span, result_type=whole, split=axis + 1)
        self.replacements[id(stmt)] = [
            ir.AssignStmt(gathered, gather, stmt.span),
            ir.AssignStmt(stmt.var, build(call, args=[gathered]), stmt.span),
        ]


def workspaces(kernel: Kernel) -> set[int]:
    """The variables (ids) that are read as workspaces of ops alone: how large these are does not matter."""
    table = load_table()
    as_workspace: Counter[int] = Counter()
    reads: Counter[int] = Counter()
    for stmt in kernel.statements:
        reads.update({id(var) for var in own_reads(stmt)})
        call = evaluated_call(stmt)
        entry = table.get(call.op.name) if call is not None else None
        if call is not None and entry is not None:
            operands = list(zip(entry.operands, call.args, strict=False))
            others = {id(arg) for spec, arg in operands if not spec.scratch}
            as_workspace.update({id(arg) for spec, arg in operands if spec.scratch} - others)
    return {var for var, count in as_workspace.items() if count == reads[var]}
