"""Tensor ops that become more than one call, or one that depends on where their operands lie."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from pypto_tmpl import ir
from pypto_tmpl.ir import MemorySpace
from pypto_tmpl.passes.tensor_to_tile.gathers import compared, gather, paged_gather
from pypto_tmpl.passes.tensor_to_tile.lowering import Lowering, element_type
from pypto_tmpl.passes.tensor_to_tile.moves import expand_clone, staged
from pypto_tmpl.passes.tensor_to_tile.plans import is_column_of
from pypto_tmpl.passes.tensor_to_tile.scatters import scatter, scatter_mask, scatter_rows

_MATMUL = "tensor.matmul"
Rule = Callable[[Lowering], ir.Expr]
_MATRIX = 2


def element(lowering: Lowering) -> ir.Expr:
    """An element of a tensor in memory, or of a tile."""
    call = lowering.call
    if isinstance(call.args[0].type, ir.TensorType):
        return call
    return lowering.emit(call.op.name.replace("tensor.", "tile."), *call.args, **call.kwargs)


def window(lowering: Lowering) -> ir.Expr:
    """A window of a tensor in memory is loaded."""
    call = lowering.call
    source, shape, offset = call.args[:3]
    if not isinstance(source.type, ir.TensorType):
        keywords = {key: value for key, value in call.kwargs.items() if key != "clamp" or value}
        return lowering.emit("tile.slice", *call.args, **keywords)
    space = MemorySpace.Mat if lowering.into_mat else MemorySpace.Vec
    valid = lowering.operand("valid_shape") if lowering.has("valid_shape") else shape
    keywords = {"clamp": True} if call.kwargs.get("clamp") else {}
    load = lowering.window(source, offset, shape, valid, space, **keywords)
    if not lowering.has("drop_dims"):
        return load
    assert isinstance(lowering.before.type, ir.TensorType)
    full = lowering.let(f"{lowering.result}_full_rank" if lowering.into_mat else "slice_load", load)
    return lowering.emit("tile.reshape", full, ir.MakeTuple(lowering.before.type.shape, call.span))


def write_window(lowering: Lowering) -> ir.Expr:
    """A part of a tensor in memory is stored, one of a tile assembled."""
    target, offset = lowering.operand("target"), lowering.operand("offset")
    if isinstance(target.type, ir.TensorType):
        source = lowering.loaded.get(id(lowering.operand("source")), lowering.operand("source"))
        if isinstance(source.type, ir.TensorType):
            source = lowering.let("assemble_src", lowering.load(source, MemorySpace.Vec))
        return lowering.emit("tile.store", source, offset, target, **lowering.call.kwargs)
    source = lowering.bridged("source", MemorySpace.Vec)
    return lowering.emit("tile.assemble", target, source, offset, **lowering.call.kwargs)


def divide(lowering: Lowering) -> ir.Expr:
    """Operands of another dtype are cast to the promoted one."""
    assert isinstance(lowering.before.type, ir.TensorType)
    dtype = lowering.before.type.dtype
    operands = []
    for name in ("lhs", "rhs"):
        tile = lowering.tile(name)
        if isinstance(tile.type, ir.TileType) and tile.type.dtype != dtype:
            tile = lowering.let(
                f"div_{name}_cast", lowering.emit("tile.cast", tile, target_type=dtype, mode=2)
            )
        operands.append(tile)
    if is_column_of(operands[0], operands[1]):
        raise lowering.error("a column cannot be divided by a matrix: the left side is [M, 1]")
    by_rows = is_column_of(operands[1], operands[0])
    return lowering.emit("tile.row_expand_div" if by_rows else "tile.div", *operands, **lowering.call.kwargs)


def subtract_turned(lowering: Lowering) -> ir.Expr:
    """A column less a matrix: there is a tile op for a matrix less a column."""
    turned = lowering.emit("tile.row_expand_sub", lowering.tile("rhs"), lowering.tile("lhs"))
    return lowering.emit("tile.neg", lowering.let("sub_turned", turned))


def filled(lowering: Lowering) -> ir.Expr:
    """A buffer with a value at the beginning."""
    keywords, shape = lowering.before.kwargs, lowering.operand("shape")
    return lowering.emit("tile.full", shape, dtype=keywords["dtype"], value=keywords["init_value"])


def select_ones(lowering: Lowering) -> ir.Expr:
    """A comparison selects between ones and zeros."""
    assert isinstance(lowering.before.type, ir.TensorType)
    dtype, shape = lowering.before.type.dtype, ir.MakeTuple(lowering.before.type.shape, lowering.before.span)
    left, right = lowering.tile("lhs"), lowering.operand("rhs")
    is_scalar = isinstance(right.type, ir.ScalarType)
    right = right if is_scalar else lowering.tile("rhs")
    compared = lowering.emit("tile.cmps" if is_scalar else "tile.cmp", left, right, **lowering.call.kwargs)
    mask = lowering.let("cmp_mask", compared)
    one, zero = (1.0, 0.0) if dtype.is_float() else (1, 0)
    ones = lowering.let("cmp_one", lowering.emit("tile.full", shape, dtype=dtype, value=one))
    zeros = lowering.let("cmp_zero", lowering.emit("tile.full", shape, dtype=dtype, value=zero))
    space = lowering.workspace("cmp_tmp", [1, 32], ir.DataType.UINT8)
    return lowering.emit("tile.sel", mask, ones, zeros, space)


def merge(lowering: Lowering) -> ir.Expr:
    """Sorted lists are merged in a workspace that is as wide as they are together."""
    before = lowering.before.type
    assert isinstance(before, ir.TensorType)
    names = [name for name in ("src0", "src1", "src2", "src3") if lowering.has(name)]
    lists = [lowering.tile(name) for name in names]
    space = lowering.workspace("mrgsort_tmp", list(before.shape), element_type(lists[0]))
    return lowering.emit("tile.mrgsort_format2", *lists, space, **lowering.before.kwargs)


def product(lowering: Lowering) -> ir.Expr:
    """Operands are loaded into Mat, and transposed there, one after the other."""
    call = lowering.call
    operands = [_factor(lowering, name, f"{side}_trans") for name, side in (("lhs", "a"), ("rhs", "b"))]
    is_batch = any(
        isinstance(value.type, ir.TileType) and len(value.type.shape) > _MATRIX for value in operands
    )
    kind = "batch_matmul" if is_batch else "matmul"
    if call.op.name == _MATMUL:
        return _of_dtype(lowering, lowering.emit(f"tile.{kind}", *operands))
    condition = call.args[3:]
    if condition and is_batch:
        raise lowering.error("init_cond is for matrices of two axes")
    return lowering.emit(f"tile.{kind}_acc", lowering.tile("acc"), *operands, *condition)


def _of_dtype(lowering: Lowering, call: ir.Call) -> ir.Call:
    """The product itself, which has the dtype that tiles give, not any other."""
    before, found = lowering.before.type, call.type
    assert isinstance(before, ir.TensorType) and isinstance(found, ir.TileType)
    if before.dtype != found.dtype:
        raise lowering.error(f"a product of tiles is {found.dtype}, not {before.dtype}: cast it after that")
    return call


def _factor(lowering: Lowering, name: str, transposed: str) -> ir.Expr:
    value = lowering.bridged(name, MemorySpace.Mat)
    if not lowering.before.kwargs.get(transposed):
        return value
    hint = value.name_hint if isinstance(value, ir.Var) else name
    return lowering.let(f"{hint}_t", lowering.emit("tile.transpose_view", value))


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "divide": divide,
        "expand_clone": expand_clone,
        "element": element,
        "filled": filled,
        "gather": gather,
        "matches": compared,
        "merge": merge,
        "paged": paged_gather,
        "product": product,
        "scatter": scatter,
        "scatter_mask": scatter_mask,
        "scatter_rows": scatter_rows,
        "select_ones": select_ones,
        "staged": staged,
        "subtract_turned": subtract_turned,
        "window": window,
        "write_window": write_window,
    }
)
"""The rules of the op table that are implemented, by their word."""
