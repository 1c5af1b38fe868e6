"""Vector kernels that are not split, on two lanes: one does the work, the other keeps the pipes going."""

from __future__ import annotations

from pypto_tmpl import ir, ops
from pypto_tmpl.ir import DataType, MemorySpace
from pypto_tmpl.ir.bodies import flat, statements
from pypto_tmpl.ir.verifier.walking import definitions
from pypto_tmpl.ops import facts
from pypto_tmpl.passes.base import PassError
from pypto_tmpl.passes.cores.kernel import NOTIFY, Flows, Kernel, controls, evaluated_call
from pypto_tmpl.passes.cores.lane import lane_index
from pypto_tmpl.passes.outline.dataflow import stored_into
from pypto_tmpl.rewrite import Names, Rewriter, as_body, build, clone

_SETUPS = ("system.reserve_buffer", "system.import_peer_buffer", "system.aiv_initialize_pipe")
_COPIES = ("tile.load", "tile.slice", "tile.transpose")
_SET_VALID, _STORE = "tile.set_validshape", "tile.store"


def with_replay(function: ir.Function) -> ir.Function:
    """The kernel with a branch for each lane.

    The second lane pops, pushes and frees as the first one does, with empty tiles: it copies nothing from or
    to global memory. What it would have to read from an empty tile to know how to go on is an error.
    """
    body = list(flat(function.body))
    index, defined = lane_index(Names.of(function), function.span)
    count = next((place for place, stmt in enumerate(body) if not _is_setup(stmt)), len(body))
    setup, work = body[:count], as_body(body[count:], function.body.span)
    kernel = Kernel(function)
    unknown = _unknown(kernel)
    second = clone(_Second(kernel, unknown).rewrite(work))
    is_first = ir.Eq(index, ir.ConstInt(0, DataType.INDEX, function.span), DataType.BOOL, function.span)
    branch = ir.IfStmt(is_first, work, second, [], function.span)
    return build(function, body=as_body([defined, *setup, branch], function.body.span))


def _is_setup(stmt: ir.Stmt) -> bool:
    call = evaluated_call(stmt)
    return call is not None and call.op.name in _SETUPS


def _unknown(kernel: Kernel) -> set[int]:
    """The scalars (ids) that are read from tiles, and what is made of them: the second lane has none.

    Raises PassError where they say whether, or how often, a tile crosses, or what else is read.
    """
    flows = Flows(kernel)
    todo: list[ir.Var] = []
    for stmt in kernel.statements:
        call = evaluated_call(stmt)
        is_scalar = isinstance(stmt, ir.AssignStmt) and isinstance(stmt.var.type, ir.ScalarType)
        if is_scalar and call is not None and any(isinstance(arg.type, ir.TileType) for arg in call.args):
            todo += definitions(stmt)
    found: set[int] = set()
    while todo:
        var = todo.pop()
        if id(var) not in found and isinstance(var.type, ir.ScalarType):
            found.add(id(var))
            todo += flows.into[id(var)]
    for stmt in kernel.statements:
        _check_known(kernel, stmt, found)
    return found


def _check_known(kernel: Kernel, stmt: ir.Stmt, unknown: set[int]) -> None:
    call = evaluated_call(stmt)
    known = facts.of_value(call)
    is_read = known.has("reads_element") and call is not None and isinstance(call.args[0].type, ir.TensorType)
    if is_read and call is not None:
        index = next((node for node in ir.walk(call.args[1]) if id(node) in unknown), None)
        if index is not None:
            raise _error(kernel, stmt, index, "reads global memory at a place")
    told = next((var for var in controls(stmt) if id(var) in unknown), None)
    if told is not None:
        crosses = any(facts.of_value(evaluated_call(inner)).pipe_end for inner in statements(stmt))
        if crosses or isinstance(stmt, ir.WhileStmt):
            raise _error(kernel, stmt, told, "goes on by a value")


def _error(kernel: Kernel, stmt: ir.Stmt, value: ir.IRNode, what: str) -> PassError:
    return PassError(
        f"a kernel that is not split {what} that it reads from a tile: on this backend both lanes run it, and"
        " the second one, which only keeps the pipes going, has no cells to read",
        kernel.function,
        stmt,
        value,
    )


class _Second(Rewriter):
    """The work of the second lane."""

    def __init__(self, kernel: Kernel, unknown: set[int]) -> None:
        super().__init__()
        self._kernel, self._unknown = kernel, unknown
        self._carried: dict[int, ir.Var] = {}

    def before(self, stmt: ir.Stmt) -> ir.Stmt | None:
        """Without what has effects, or would write what the lane does not know."""
        call = evaluated_call(stmt)
        if call is not None and call.op.name == NOTIFY:
            return None
        if isinstance(stmt, ir.EvalStmt) and call is not None:
            is_effect = call.op.name == _STORE or self._writes_unknown(call)
            return None if is_effect else stmt
        if isinstance(stmt, ir.ForStmt | ir.WhileStmt):
            pairs = zip(stmt.iter_args, stmt.return_vars, strict=True)
            self._carried |= {id(var): arg for arg, var in pairs}
        return stmt

    def _writes_unknown(self, call: ir.Call) -> bool:
        known = facts.of_value(call)
        reads = any(id(node) in self._unknown for arg in call.args for node in ir.walk(arg))
        return known.has("writes_tensor") and reads

    def statement(self, stmt: ir.Stmt) -> ir.Stmt:
        call = evaluated_call(stmt)
        if not isinstance(stmt, ir.AssignStmt) or call is None:
            return stmt
        returned = facts.of_value(call).returned
        is_dropped = stored_into(call) is not None or self._writes_unknown(call)
        if not is_dropped or returned is None or not isinstance(call.type, ir.TensorType):
            return stmt
        self.bind(stmt.var, call.args[returned])
        return build(stmt, value=call.args[returned])

    def expression(self, expr: ir.Expr) -> ir.Expr:
        if not isinstance(expr, ir.Call) or not isinstance(expr.type, ir.TileType):
            return expr
        type_ = _empty(expr.type)
        if expr.op.name in _COPIES:
            return ops.call(
                "tile.create",
                ir.MakeTuple(expr.type.shape, expr.span),
                span=expr.span,
                result_type=type_,
                dtype=expr.type.dtype,
                target_memory=expr.type.memory_space or MemorySpace.Vec,
            )
        if expr.op.name == _SET_VALID:
            zero = ir.ConstInt(0, DataType.INDEX, expr.span)
            return build(expr, args=[expr.args[0], zero, zero], type=type_)
        return build(expr, type=type_)

    def definition(self, old: ir.Var, typed: ir.Var) -> ir.Var:
        """What a call gives is empty, a carry is what it begins as; results of branches are as they were."""
        if isinstance(typed, ir.IterArg):
            return ir.IterArg(typed.name_hint, typed.initValue.type, typed.initValue, typed.span)
        carry = self._carried.get(id(old))
        if carry is not None:
            bound = self.bound(carry)
            return ir.Var(typed.name_hint, (bound or carry).type, typed.span)
        if isinstance(self._kernel.values.get(id(old)), ir.Call) and isinstance(typed.type, ir.TileType):
            return ir.Var(typed.name_hint, _empty(typed.type), typed.span)
        return typed


def _empty(type_: ir.TileType) -> ir.TileType:
    """The type of a tile of which no cell is valid."""
    view = type_.get_effective_tile_view()
    return build(type_, tile_view=build(view, valid_shape=(0,) * len(type_.shape)))
