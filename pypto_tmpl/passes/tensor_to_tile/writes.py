"""Elements that kernels write into tensors one by one, as far as they can be written at once."""

from __future__ import annotations

from collections import Counter

from pypto_tmpl import ir, ops
from pypto_tmpl.ir.bodies import flat, statements
from pypto_tmpl.ir.extents import constant_extent, same_extents
from pypto_tmpl.passes.aliases import Pairs
from pypto_tmpl.passes.base import PassError
from pypto_tmpl.passes.outline.dataflow import Callees, Origins, reads
from pypto_tmpl.passes.tensor_to_tile.directions import written_tensors
from pypto_tmpl.rewrite import Rewriter, as_body, base_name, build

_WRITE, _FULL, _ASSEMBLE = "tensor.write", "tensor.full", "tensor.assemble"
_ALIGNED_BITS = 256


def with_bulk_writes(function: ir.Function, shared: Pairs) -> ir.Function:
    """A kernel, still on tensors, in which no tensor is written by elements as well as by parts.

    A loop that fills a line with a constant writes it at once. Elements that are written into a tensor which
    was just filled are written into the fill, which is stored at the end. PassError for other such tensors.
    Parameters that callers pass the same storage for (``shared``) keep the order of what is written.
    """
    if not any(_write(stmt) for stmt in statements(function.body)):
        return function
    aliased = {id(param) for pair in shared for param in pair}
    function = _FilledLines(aliased).rewrite(function)
    function = _stored_last(function, aliased)
    _refuse_mixed(function)
    return function


def _write(stmt: ir.Stmt) -> ir.Call | None:
    """The write of one element that a statement is."""
    value = stmt.expr if isinstance(stmt, ir.EvalStmt) else None
    return value if isinstance(value, ir.Call) and value.op.name == _WRITE else None


class _FilledLines(Rewriter):
    """Loops that write a constant at every place of a line, and nothing else where lines may overlap."""

    def __init__(self, aliased: set[int]) -> None:
        super().__init__()
        self._aliased = aliased

    def statement(self, stmt: ir.Stmt) -> ir.Stmt | list[ir.Stmt]:
        if not isinstance(stmt, ir.ForStmt) or stmt.iter_args or stmt.kind is not ir.ForKind.Sequential:
            return stmt
        count = constant_extent(stmt.stop)
        if count is None or (constant_extent(stmt.start), constant_extent(stmt.step)) != (0, 1):
            return stmt
        body = list(flat(stmt.body))
        axes = [_filled_axis(write, stmt.loop_var, count) for write in body]
        if not axes or None in axes or (len(body) > 1 and any(map(self._is_aliased, body))):
            return stmt
        return [
            new for write, axis in zip(body, axes, strict=True) for new in _at_once(write, axis or 0, count)
        ]

    def _is_aliased(self, stmt: ir.Stmt) -> bool:
        return (write := _write(stmt)) is not None and id(write.args[0]) in self._aliased


def _filled_axis(stmt: ir.Stmt, index: ir.Var, count: int) -> int | None:
    """The axis along which a statement writes a constant in every round, None for any other statement."""
    if (write := _write(stmt)) is None:
        return None
    target, places, value = write.args
    if not isinstance(target.type, ir.TensorType) or not isinstance(places, ir.MakeTuple):
        return None
    moving = [axis for axis, place in enumerate(places.elements) if index in set(ir.walk(place))]
    is_line = len(moving) == 1 and places.elements[moving[0]] is index
    if not is_line or not isinstance(value, ir.ConstInt | ir.ConstFloat):
        return None
    behind = target.type.shape[moving[0] + 1 :]
    aligned = count * target.type.dtype.get_bit() % _ALIGNED_BITS == 0
    return moving[0] if aligned and all(constant_extent(extent) == 1 for extent in behind) else None


def _at_once(stmt: ir.Stmt, axis: int, count: int) -> list[ir.Stmt]:
    write = _write(stmt)
    assert write is not None
    target, places, value = write.args
    assert isinstance(target.type, ir.TensorType) and isinstance(places, ir.MakeTuple)
    assert isinstance(value, ir.ConstInt | ir.ConstFloat)
    name = base_name(target.name_hint if isinstance(target, ir.Var) else "line")
    span, zero = stmt.span, ir.ConstInt(0, ir.DataType.INDEX, stmt.span)
    fill = ops.call("tensor.full", [1, count], dtype=target.type.dtype, value=value.value, span=span)
    filled = ir.Var(name, fill.type, span)
    shape = [count if place == axis else 1 for place in range(len(target.type.shape))]
    reshape = ops.call("tensor.reshape", filled, shape, span=span)
    line = ir.Var(name, reshape.type, span)
    offsets = [zero if place == axis else offset for place, offset in enumerate(places.elements)]
    assemble = ops.call("tensor.assemble", target, line, ir.MakeTuple(offsets, span), span=span)
    return [
        ir.AssignStmt(filled, fill, span),
        ir.AssignStmt(line, reshape, span),
        ir.EvalStmt(assemble, span),
    ]


def _stored_last(function: ir.Function, aliased: set[int]) -> ir.Function:
    """Parameters filled as a whole, into which elements are written then, are stored at the end."""
    body = list(flat(function.body))
    end = len(body) - 1 if body and isinstance(body[-1], ir.ReturnStmt) else len(body)
    for place, (fill, store) in enumerate(zip(body, body[1:end], strict=False)):
        if not isinstance(fill, ir.AssignStmt) or not isinstance(store, ir.AssignStmt):
            continue
        rest = as_body(body[place + 2 : end], function.body.span)
        target = _filled_target(fill, store)
        is_param = any(target is param for param in function.params)
        if is_param and id(target) not in aliased and _is_only_written(fill, store, rest, function):
            moved = _into(store.var, fill.var).rewrite(rest)
            found = [*body[: place + 1], *flat(moved), store, *body[end:]]
            return build(function, body=as_body(found, function.body.span))
    return function


def _is_only_written(fill: ir.AssignStmt, store: ir.AssignStmt, rest: ir.Stmt, function: ir.Function) -> bool:
    """Whether a filled parameter is only written by elements then, and perhaps returned."""
    target = _filled_target(fill, store)
    uses = Counter(map(id, reads(rest)))
    found = (write for stmt in statements(rest) if (write := _write(stmt)) is not None)
    writes = sum(write.args[0] is store.var for write in found)
    returns = (stmt for stmt in flat(function.body) if isinstance(stmt, ir.ReturnStmt))
    results = sum(value is target for stmt in returns for value in stmt.value)
    reads_target = sum(var is target for var in reads(function.body))
    is_target_alone = reads_target == 1 + results
    return writes > 0 and uses[id(store.var)] == writes and not uses[id(fill.var)] and is_target_alone


def _into(old: ir.Var, new: ir.Var) -> Rewriter:
    rewriter = Rewriter()
    rewriter.bind(old, new)
    return rewriter


def _filled_target(fill: ir.AssignStmt, store: ir.AssignStmt) -> ir.Expr | None:
    """The tensor all of which the second statement overwrites with what the first one fills."""
    full, value = fill.value, store.value
    if not isinstance(full, ir.Call) or full.op.name != _FULL:
        return None
    if not isinstance(value, ir.Call) or value.op.name != _ASSEMBLE or value.kwargs.get("atomic"):
        return None
    target, source, offsets = value.args
    assert isinstance(target.type, ir.TensorType) and isinstance(fill.var.type, ir.TensorType)
    assert isinstance(offsets, ir.MakeTuple)
    at_start = all(constant_extent(offset) == 0 for offset in offsets.elements)
    is_whole = same_extents(target.type.shape, fill.var.type.shape)
    return target if source is fill.var and at_start and is_whole else None


def _refuse_mixed(function: ir.Function) -> None:
    """No tensor in memory is written by elements as well as by parts: their order would not be kept."""
    origins = Origins(function.body, Callees())
    params = set(map(id, function.params))
    by_elements: dict[int, bool] = {}
    for stmt in statements(function.body):
        for target in written_tensors(stmt):
            root, is_element = origins.of(target), _write(stmt) is not None
            if id(root) in params and by_elements.setdefault(id(root), is_element) != is_element:
                what = f"{root.name_hint!r} is written by elements and by parts"
                raise PassError(what, function, stmt, root)
