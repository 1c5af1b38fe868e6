"""The part of a tensor that a kernel works on, from its loads and stores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pypto_tmpl import ir
from pypto_tmpl.ir.arithmetic import constant_difference, simplify
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.passes.outline.dataflow import Callees, Origins, own_reads
from pypto_tmpl.passes.scalars.ranges import Range, range_of
from pypto_tmpl.rewrite import substitute

_STORE, _LOAD = "tile.store", "tile.load"
_PLAIN_STORE = 3  # operands of a store that is not told its partition
_OFFSETS = 1  # the place of the offsets among the operands of loads and stores


@dataclass(frozen=True, slots=True)
class Access:
    """A load or store: the call, where it begins in the tensor, and how large it is."""

    call: ir.Call
    offsets: tuple[ir.Expr, ...]
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Window:
    """A part of a parameter: where it begins, in parameters of the kernel, and its size."""

    param: ir.Var
    base: tuple[ir.Expr, ...]
    shape: tuple[int, ...]
    relative: Mapping[int, tuple[ir.Expr, ...]]  # by call (id): its offsets in the window


def windows_of(function: ir.Function) -> list[Window]:
    """The windows of the parameters of which a kernel uses a part only."""
    ranges = loop_ranges(statements(function.body))
    accesses = _accesses(function)
    found = [
        _window(function, param, accesses[id(param)], ranges)
        for param in function.params
        if accesses.get(id(param))
    ]
    return [window for window in found if window is not None]


def loop_ranges(stmts: Iterable[ir.Stmt]) -> dict[int, Range]:
    """The values of the indices of loops of known bounds, counted upwards."""
    found: dict[int, Range] = {}
    for stmt in stmts:
        if isinstance(stmt, ir.ForStmt):
            start, stop, step = (constant_extent(bound) for bound in (stmt.start, stmt.stop, stmt.step))
            if start is not None and stop is not None and step is not None and step > 0 and stop > start:
                found[id(stmt.loop_var)] = Range(start, start + (stop - start - 1) // step * step)
    return found


def bounds(expr: ir.Expr, ranges: Mapping[int, Range]) -> Range:
    """Between which numbers an expression is, given the ranges of variables."""

    def known(part: ir.Expr) -> Range:
        return ranges.get(id(part), Range()) if isinstance(part, ir.Var) else range_of(part, known)

    return known(expr)


def _accesses(function: ir.Function) -> dict[int, list[Access]]:
    """The loads and stores of each parameter (id); none of one of which anything else is done, too."""
    origins = Origins(function.body, Callees())
    found: dict[int, list[Access]] = {id(param): [] for param in function.params}
    for stmt in statements(function.body):
        value = stmt.value if isinstance(stmt, ir.AssignStmt) else getattr(stmt, "expr", None)
        access = access_of(value) if isinstance(value, ir.Call) else None
        root = origins.of(access[0]) if access is not None else None
        if access is not None and root is not None and id(root) in found:
            found[id(root)].append(access[1])
        if isinstance(stmt, ir.ForStmt | ir.WhileStmt | ir.YieldStmt | ir.ReturnStmt):
            continue
        for var in own_reads(stmt):
            if isinstance(var.type, ir.TensorType) and (access is None or var is not access[0]):
                found.pop(id(origins.of(var)), None)
    return found


def access_of(call: ir.Call) -> tuple[ir.Var, Access] | None:
    """The tensor that a call loads from or stores into, and how."""
    shape: list[int | None]
    if call.op.name == _LOAD and isinstance(call.args[2], ir.MakeTuple):
        tensor, shape = call.args[0], [constant_extent(extent) for extent in call.args[2].elements]
    elif call.op.name == _STORE and len(call.args) == _PLAIN_STORE:
        tile, tensor = call.args[0].type, call.args[2]
        assert isinstance(tile, ir.TileType)
        shape = [constant_extent(extent) for extent in tile.shape]
    else:
        return None
    offsets = call.args[_OFFSETS]
    known = tuple(extent for extent in shape if extent is not None)
    if not isinstance(tensor, ir.Var) or not isinstance(offsets, ir.MakeTuple):
        return None
    if len(known) != len(offsets.elements) or call.kwargs.get("clamp"):
        return None
    return tensor, Access(call, offsets.elements, known)


def _window(
    function: ir.Function, param: ir.Var, accesses: list[Access], ranges: Mapping[int, Range]
) -> Window | None:
    if not isinstance(param.type, ir.TensorType) or param.type.tensor_view is not None:
        return None
    extents = [constant_extent(extent) for extent in param.type.shape]
    starts = _loop_starts(function, ranges)
    base = tuple(simplify(substitute(offset, starts)) for offset in accesses[0].offsets)
    shape = [0] * len(base)
    relative: dict[int, tuple[ir.Expr, ...]] = {}
    for access in accesses:
        own = [substitute(offset, starts) for offset in access.offsets]
        if any(constant_difference(a, b) != 0 for a, b in zip(own, base, strict=True)):
            return None
        relative[id(access.call)] = rest = tuple(map(_less, access.offsets, base))
        for axis, (offset, size) in enumerate(zip(rest, access.shape, strict=True)):
            span = bounds(offset, ranges)
            if span.low is None or span.low < 0 or span.high is None:
                return None
            shape[axis] = max(shape[axis], span.high + size)
    params = set(map(id, function.params))
    if any(isinstance(v, ir.Var) and id(v) not in params for part in base for v in ir.walk(part)):
        return None
    if None in extents or all(size >= (extent or 0) for size, extent in zip(shape, extents, strict=True)):
        return None
    return Window(param, base, tuple(shape), relative)


def _loop_starts(function: ir.Function, ranges: Mapping[int, Range]) -> dict[ir.Var, ir.Expr]:
    loops = [stmt for stmt in statements(function.body) if isinstance(stmt, ir.ForStmt)]
    return {loop.loop_var: loop.start for loop in loops if id(loop.loop_var) in ranges}


def _less(offset: ir.Expr, base: ir.Expr) -> ir.Expr:
    return simplify(ir.Sub(offset, base, ir.DataType.INDEX, offset.span))
