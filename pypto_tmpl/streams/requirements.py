"""What a kernel needs before its text can be made; all that is missing is found at once."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendType
from pypto_tmpl.codegen.unsupported import Unsupported
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.enums import TileLayout
from pypto_tmpl.ops import OpEntry, OpTable
from pypto_tmpl.streams.tiles import statements_of

# The run time's own function, which kernels with deferred waits call.
_RESERVED_NAMES = ("pypto_register_counter_completion",)
_HALF_BYTE = 4


def unmet(function: ir.Function, backend: BackendType, table: OpTable) -> list[Unsupported]:
    """Everything that keeps a function from becoming text, as far as that can be told beforehand."""
    found = list(_of_function(function, backend))
    for stmt in statements_of(function.body):
        var = stmt.var if isinstance(stmt, ir.AssignStmt) else None
        call = stmt.value if isinstance(stmt, ir.AssignStmt) else getattr(stmt, "expr", None)
        if not isinstance(call, ir.Call):
            continue
        entry = None if isinstance(call.op, ir.GlobalVar) else table.get(call.op.name)
        for what in _of_call(entry, call, var, backend):
            found.append(Unsupported(what, function.name, var.name_hint if var else "", call.span))
    return found


def _of_function(function: ir.Function, backend: BackendType) -> Iterator[Unsupported]:
    if function.name in _RESERVED_NAMES:
        what = f"Function name {function.name!r} is reserved: the run time has a function of this name"
        yield Unsupported(what, function.name, "", function.span)
    variables = list(function.params)
    variables += [s.var for s in statements_of(function.body) if isinstance(s, ir.AssignStmt)]
    for var in variables:
        dtype = var.type.dtype if isinstance(var.type, ir.ShapedType) else DataType.FP32
        if dtype.get_bit() == _HALF_BYTE and (backend is BackendType.Ascend910B or dtype != DataType.FP4):
            what = f"{backend.name} has no 4-bit dtype {dtype.name}"
            yield Unsupported(what, function.name, var.name_hint, var.span)


def _of_call(entry: OpEntry | None, call: ir.Call, var: ir.Var | None, backend: BackendType) -> Iterator[str]:
    """An op that the table has no text for, and tiles that do not lie as the op needs them."""
    spec = None if entry is None else entry.pto_spec
    if entry is None or spec is None or (spec.backends and backend.name not in spec.backends):
        yield f"No codegen registered for operation: {call.op.name} on {backend.name}"
    elif entry.row_major:
        tiles = [*zip(entry.operand_names, call.args, strict=False), *([("the result", var)] if var else [])]
        for role, tile in tiles:
            if not isinstance(tile.type, ir.TileType):
                continue
            layout = tile.type.get_effective_tile_view().blayout
            if layout is not TileLayout.row_major:
                name = f"{role} ({tile.name_hint!r})" if isinstance(tile, ir.Var) else role
                yield f"{entry.name} needs {name} as row_major, it is {layout.name}"
