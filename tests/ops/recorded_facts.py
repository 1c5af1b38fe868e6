"""What recorded stages of programs show of the facts of ops: cores, memory spaces, storage.

The records are the reference: each function gives the calls that contradict the table.
"""

from collections.abc import Iterator
from pathlib import Path

from pypto_tmpl import ir
from pypto_tmpl.ops import facts, load_table
from pypto_tmpl.ops.cores import CoreSide, core_side
from pypto_tmpl.ops.op_facts import ALL, NARROWER

MEMORY_IS_KNOWN, LAYOUTS_ARE_RESOLVED, CORES_ARE_APART = 18, 20, 22
STORAGE_IS_KNOWN, STORAGE_IS_SHARED = 32, 34
KERNELS = (ir.FunctionType.InCore, ir.FunctionType.AIC, ir.FunctionType.AIV)


def stage_number(path: Path) -> int:
    """``22_after_ExpandMixedKernel.msgpack`` is stage 22."""
    return int(path.name.partition("_")[0])


def kernels(program: ir.Program) -> Iterator[ir.Function]:
    """The functions that run on cores."""
    return (function for function in program.functions.values() if function.func_type in KERNELS)


def op_calls(function: ir.Function) -> Iterator[ir.Call]:
    """The calls of ops in a function, each once."""
    seen: set[int] = set()
    for node in ir.walk(function.body):
        is_op = isinstance(node, ir.Call) and not isinstance(node.op, ir.GlobalVar)
        if is_op and id(node) not in seen:
            seen.add(id(node))
            yield node


def names_of(program: ir.Program) -> set[str]:
    """The names of the ops that a program calls."""
    return {call.op.name for function in program.functions.values() for call in op_calls(function)}


def _values(function: ir.Function) -> dict[int, ir.Expr]:
    return {id(node.var): node.value for node in ir.walk(function.body) if isinstance(node, ir.AssignStmt)}


def side_of(function: ir.Function) -> CoreSide:
    """Where all calls of a function together run."""
    values, side = _values(function), CoreSide.SHARED
    for call in op_calls(function):
        side = side.with_(core_side(call, lambda value: values.get(id(value), value)))
    return side


def wrong_cores(function: ir.Function) -> Iterator[str]:
    """Calls of a function of one core that the table gives to the other one."""
    other = {ir.FunctionType.AIC: CoreSide.VECTOR, ir.FunctionType.AIV: CoreSide.CUBE}.get(function.func_type)
    values = _values(function)
    for call in op_calls(function) if other is not None else ():
        side = core_side(call, lambda value: values.get(id(value), value))
        is_allocation = facts.of_value(call).has("reserves")  # stands in all functions from InitMemRef on
        if side in (other, CoreSide.MIXED) and not is_allocation:
            yield f"{function.name}: {call.op.name} in a function of type {function.func_type.name}"


def wrong_spaces(function: ir.Function) -> Iterator[str]:
    """Operands and results in a memory space that the table does not allow."""
    for call in op_calls(function):
        known = facts.of_value(call)
        for arg, allowed in zip(call.args, known.operand_memory, strict=False):
            if isinstance(arg.type, ir.TileType) and allowed and arg.type.memory_space not in allowed:
                yield f"{function.name}: {call.op.name} takes {arg.type.memory_space}"
        stated = ir.MemorySpace.__members__.get(known.result_memory or "")
        space = call.type.memory_space if isinstance(call.type, ir.TileType) else stated
        if stated is not None and space is not stated:
            yield f"{function.name}: {call.op.name} gives {space}"


def wrong_layouts(function: ir.Function) -> Iterator[str]:
    """Columns as operands of ops that need rows."""
    for call in op_calls(function):
        tiles = [arg for arg in call.args if isinstance(arg.type, ir.TileType)]
        if facts.of_value(call).row_major and not all(map(_is_by_rows, tiles)):
            yield f"{function.name}: {call.op.name} takes a tile that is not row-major"


def _is_by_rows(tile: ir.Expr) -> bool:
    view, shape = tile.type.tile_view, tile.type.shape
    if view is not None:
        return view.blayout is ir.TileLayout.row_major
    return len(shape) < 2 or not (shape[-1].value == 1 and shape[-2].value > 1)  # a column lies as such


def wrong_storage(function: ir.Function, backend: str, *, is_shared: bool) -> Iterator[str]:
    """Results that lie elsewhere than the table says or, once storage is shared, where they may not."""
    for target, call in _assigned(function):
        known = facts.of_value(call)
        result = _place(target)
        same = known.returned if known.returned is not None else known.view_of
        wanted = None if same is None else _place(call.args[same])
        if wanted is not None and result is not None and wanted[0] is not result[0]:
            yield f"{function.name}: {call.op.name} does not lie on operand {same}"
        terms = known.disjoint.get(backend, known.disjoint.get("", ()))
        for name, arg in _named(call) if is_shared else ():
            narrower = NARROWER in terms and _bits(arg) < _bits(target)
            if (ALL in terms or name in terms or narrower) and _overlap(result, _place(arg)):
                yield f"{function.name}: {call.op.name} lies on {name}"


def _assigned(function: ir.Function) -> Iterator[tuple[ir.Var, ir.Call]]:
    for node in ir.walk(function.body):
        is_shaped = isinstance(node, ir.AssignStmt) and isinstance(node.var.type, ir.ShapedType)
        if is_shaped and isinstance(node.value, ir.Call) and not isinstance(node.value.op, ir.GlobalVar):
            yield node.var, node.value


def _named(call: ir.Call) -> Iterator[tuple[str, ir.Expr]]:
    return zip(load_table()[call.op.name].operand_names, call.args, strict=False)


def _bits(value: ir.Expr) -> int:
    return value.type.dtype.get_bit() if isinstance(value.type, ir.ShapedType) else 1 << 30


def _place(value: ir.Expr) -> tuple[ir.Var, int | None, int] | None:
    """Allocation, constant offset in it and size of a value; None for what has none."""
    memref = value.type.memref if isinstance(value.type, ir.ShapedType) else None
    if memref is None:
        return None
    offset = memref.byte_offset_
    return memref.base_, offset.value if isinstance(offset, ir.ConstInt) else None, memref.size_


def _overlap(left: tuple | None, right: tuple | None) -> bool:
    if left is None or right is None or left[0] is not right[0] or None in (left[1], right[1]):
        return False
    return left[1] < right[1] + right[2] and right[1] < left[1] + left[2]


def outcome(function: ir.Function, after: ir.Program) -> CoreSide:
    """What ExpandMixedKernel made of a function: the code of one core, or of each."""
    kept = after.get_function(function.name)
    if after.get_function(f"{function.name}_aic") is not None or kept is None:
        return CoreSide.MIXED
    return CoreSide.CUBE if kept.func_type is ir.FunctionType.AIC else CoreSide.VECTOR
