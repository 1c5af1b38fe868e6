"""Results that kernels write over an argument of which nothing else is left to read."""

from __future__ import annotations

from dataclasses import dataclass

from pypto_tmpl import ir
from pypto_tmpl.ir import ParamDirection
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ir.extents import same_extents
from pypto_tmpl.passes.outline.dataflow import Callees, Origins, own_reads
from pypto_tmpl.passes.structure.yields import yielded
from pypto_tmpl.passes.tensor.calls import Calls, CallSite, are_used_once, tensors_of
from pypto_tmpl.passes.tensor.families import Families
from pypto_tmpl.passes.tensor_to_tile.directions import written_tensors
from pypto_tmpl.rewrite import Rewriter, build

_STORE, _LOAD = "tile.store", "tile.load"


@dataclass(frozen=True, slots=True)
class Merge:
    """An In parameter of a kernel over which an Out parameter is written."""

    kernel: ir.Function
    read: ir.Var
    written: ir.Var


def with_merged_buffers(functions: list[ir.Function]) -> list[ir.Function]:
    """The functions without the buffers, and parameters, of results that take the place of an argument.

    At every call the result has to take part in a carry of a loop that the argument is, or the kernel has to
    turn all of the argument into all of the result in loops. The storage of the argument must be the caller's
    own and have no other use, and the kernel must have read it before it writes.
    """
    while True:
        calls = Calls(functions)
        merge = next((found for function in functions for found in _merges(function, calls)), None)
        if merge is None:
            return functions
        functions = [_rewritten(function, merge, calls) for function in functions]


def _merges(kernel: ir.Function, calls: Calls) -> list[Merge]:
    if not ir.is_incore_type(kernel.func_type) or not calls.of(kernel.name):
        return []
    pairs = list(zip(kernel.params, kernel.param_directions, strict=True))
    written = [param for param, direction in pairs if direction is ParamDirection.Out]
    read = [param for param, direction in pairs if direction is ParamDirection.In]
    merges = [Merge(kernel, before, after) for after in written for before in read]
    return [merge for merge in merges if _is_possible(merge, calls)]


def _is_possible(merge: Merge, calls: Calls) -> bool:
    if not _is_read_first(merge):
        return False
    in_loops = _is_looped(merge)
    return all(
        (_is_carried(merge, site, calls) or (in_loops and not _carrying(site)))
        and _is_free(merge, site, calls)
        for site in calls.of(merge.kernel.name)
    )


def _is_read_first(merge: Merge) -> bool:
    """Whether a kernel has read one parameter before it writes the other, in no loop both."""
    if not ir.structural_equal(merge.read.type, merge.written.type):
        return False
    origins = Origins(merge.kernel.body, Callees())
    has_written = False
    for stmt in statements(merge.kernel.body):
        if isinstance(stmt, ir.ForStmt | ir.WhileStmt):
            inside = (target for part in statements(stmt.body) for target in written_tensors(part))
            has_written |= any(origins.of(target) is merge.written for target in inside)
        if has_written and any(origins.of(var) is merge.read for var in own_reads(stmt)):
            return False
        has_written |= any(origins.of(target) is merge.written for target in written_tensors(stmt))
    return has_written


def _carrying(site: CallSite) -> bool:
    return any(isinstance(outer, ir.ForStmt | ir.WhileStmt) and outer.iter_args for outer in site.around)


def _is_carried(merge: Merge, site: CallSite, calls: Calls) -> bool:
    """Whether the argument is a carry, and the result the next value of it."""
    argument = site.argument(merge.kernel, merge.read)
    loop = site.around[-1] if site.around else None
    if not isinstance(loop, ir.ForStmt | ir.WhileStmt):
        return False
    for arg, value in zip(loop.iter_args, yielded(loop.body), strict=True):
        result = calls.result(value)
        if arg is argument and result is not None and result[0] is site.call:
            written = site.argument(merge.kernel, merge.written)
            return calls.callees.result(site.call, result[1]) is written
    return False


def _is_free(merge: Merge, site: CallSite, calls: Calls) -> bool:
    """Whether nothing but the call uses the storage of the argument, nor the buffer of the result."""
    argument, buffer = site.argument(merge.kernel, merge.read), site.argument(merge.kernel, merge.written)
    if not isinstance(argument, ir.Var) or not isinstance(buffer, ir.Var) or isinstance(site.call, ir.Submit):
        return False
    definition = calls.definitions.get(id(buffer))
    if definition is None or not calls.is_created(buffer) or calls.uses[id(buffer)] != 1 or site.call.attrs:
        return False
    families = Families(site.caller, calls.callees)
    family = families.of(argument)
    if any(families.of(param) == family for param in site.caller.params):
        return False
    names = {id(var) for var in tensors_of(site.caller) if families.of(var) == family}
    return are_used_once(site.caller, names)


def _is_looped(merge: Merge) -> bool:
    """Whether a kernel loads all of a parameter, and stores over all of the other what loops make of it."""
    values = {id(s.var): s.value for s in statements(merge.kernel.body) if isinstance(s, ir.AssignStmt)}
    loops = {
        id(result): arg.initValue
        for stmt in statements(merge.kernel.body)
        if isinstance(stmt, ir.ForStmt | ir.WhileStmt)
        for arg, result in zip(stmt.iter_args, stmt.return_vars, strict=True)
    }
    for value in list(values.values()):
        if not isinstance(value, ir.Call) or value.op.name != _STORE or value.args[2] is not merge.written:
            continue
        source, is_carried = value.args[0], False
        while id(source) in loops:
            source, is_carried = loops[id(source)], True
        load = values.get(id(source))
        is_load = isinstance(load, ir.Call) and load.op.name == _LOAD and load.args[0] is merge.read
        if is_carried and is_load and _is_of_shape(source, merge.read):
            return True
    return False


def _is_of_shape(tile: ir.Expr, tensor: ir.Var) -> bool:
    assert isinstance(tile.type, ir.TileType) and isinstance(tensor.type, ir.TensorType)
    return same_extents(tile.type.shape, tensor.type.shape)


def _rewritten(function: ir.Function, merge: Merge, calls: Calls) -> ir.Function:
    if function.name == merge.kernel.name:
        return _merged_kernel(function, merge)
    sites = [site for site in calls.of(merge.kernel.name) if site.caller is function]
    return _WithoutBuffers(merge, sites, calls).rewrite(function) if sites else function


def _merged_kernel(kernel: ir.Function, merge: Merge) -> ir.Function:
    rewriter = Rewriter()
    rewriter.bind(merge.written, merge.read)
    body = rewriter.rewrite(kernel.body)
    kept = [
        (param, ParamDirection.InOut if param is merge.read else direction)
        for param, direction in zip(kernel.params, kernel.param_directions, strict=True)
        if param is not merge.written
    ]
    params, directions = zip(*kept, strict=True)
    return build(kernel, params=params, param_directions=directions, body=body)


class _WithoutBuffers(Rewriter):
    def __init__(self, merge: Merge, sites: list[CallSite], calls: Calls) -> None:
        super().__init__()
        self._kernel = merge.kernel
        self._place = next(i for i, param in enumerate(merge.kernel.params) if param is merge.written)
        buffers = [site.argument(merge.kernel, merge.written) for site in sites]
        self._creates = {id(calls.definitions[id(buffer)]) for buffer in buffers}

    def before(self, stmt: ir.Stmt) -> ir.Stmt | list[ir.Stmt]:
        return [] if id(stmt) in self._creates else stmt

    def expression(self, expr: ir.Expr) -> ir.Expr:
        if not isinstance(expr, ir.Call) or not isinstance(expr.op, ir.GlobalVar):
            return expr
        if expr.op.name != self._kernel.name:
            return expr
        return build(expr, args=[*expr.args[: self._place], *expr.args[self._place + 1 :]])
