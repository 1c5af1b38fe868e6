"""The shapes of results, by the words of the op table (``pypto_tmpl/ops/typing/words.py``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.ir.arithmetic import constant_difference, constant_value, simplify
from pypto_tmpl.ir.extents import as_extent, constant_extent
from pypto_tmpl.ir.printer import type_text
from pypto_tmpl.ops.typing.operands import Extents, InferenceError, Operands

_FRACTAL_ROWS = 16
BLOCK_BYTES = 32
_ELEMENTS = 1  # the code of a gather of single elements
MASK_STEPS = {1: 2, 2: 2, 3: 4, 4: 4, 5: 4, 6: 4, 7: 1}
_ROW_SPLITS, _COLUMN_SPLITS = (1, 3), (2, 4)


def _broadcast(given: Operands, words: Sequence[str]) -> Extents:
    values = given.named(words)
    return broadcast(given, values, [given.shape_of(value) for value in values])


def broadcast(given: Operands, values: Sequence[ir.Expr], shapes: Sequence[Extents]) -> list[ir.Expr]:
    """The shapes aligned at the right; per axis the extents are equal or 1."""
    rank = max((len(shape) for shape in shapes), default=0)
    found: list[ir.Expr] = []
    for axis in range(-rank, 0):
        owners = [value for value, shape in zip(values, shapes, strict=True) if len(shape) >= -axis]
        extents = [shape[axis] for shape in shapes if len(shape) >= -axis]
        wide = [index for index, extent in enumerate(extents) if constant_extent(extent) != 1]
        for index in wide[1:]:
            first = wide[0]
            agree(given, (owners[first], extents[first]), (owners[index], extents[index]))
        found.append(extents[wide[0]] if wide else extents[0])
    return found


def agree(given: Operands, first: tuple[ir.Expr, ir.Expr], second: tuple[ir.Expr, ir.Expr]) -> None:
    """Raise unless two operands' extents are equal, or may be where the call is only read."""
    gap = constant_difference(first[1], second[1])
    if gap == 0 or (gap is None and not given.is_built):
        return
    names = given.names_of(first[0], second[0])
    types = [type_text(value.type) for value, _ in (first, second)]
    parts = [f"{name!r} is {type_}" for name, type_ in zip(names, types, strict=True)]
    extents = " and ".join(ir.python_print(extent, format=False) for _, extent in (first, second))
    what = "do not agree" if gap is not None else "are not known to agree"
    raise InferenceError(f"the extents {extents} {what}: {' and '.join(parts)}")


def _with_one(extents: Extents, axis: int) -> list[ir.Expr]:
    """The extents with that one 1."""
    found = list(extents)
    if not -len(found) <= axis < len(found):
        raise InferenceError(f"axis {axis} of {len(found)} axes")
    found[axis] = as_extent(1)
    return found


def _reduced(given: Operands, extents: Extents) -> Extents:
    axis, keeps = given.keyword("axis"), given.keyword("keep_dim")
    found = _with_one(extents, -1 if axis is None else axis)
    if keeps is False:
        del found[-1 if axis is None else axis]
    return found


def _matmul(given: Operands, words: Sequence[str]) -> Extents:
    lhs, rhs = factors(given, words)
    rows_of, columns_of = given.shape_of(lhs), given.shape_of(rhs)
    agree(given, (lhs, contracted(given, rows_of, 0)), (rhs, contracted(given, columns_of, 1)))
    batch = broadcast(given, (lhs, rhs), (rows_of[:-2], columns_of[:-2]))
    return [*batch, *product(given, rows_of, columns_of)]


def contracted(given: Operands, extents: Extents, side: int) -> ir.Expr:
    """The extent over which a factor is summed; side 0 is the left one."""
    if not extents:
        raise InferenceError("the operands of a product have an axis at least")
    if len(extents) == 1:
        return extents[0]
    is_transposed = bool(given.keyword("b_trans" if side else "a_trans"))
    return extents[-2 if is_transposed == (side == 0) else -1]


def product(given: Operands, rows_of: Extents, columns_of: Extents) -> list[ir.Expr]:
    """Rows and columns of a product; a factor of one axis has none."""
    rows = [rows_of[-1 if given.keyword("a_trans") else -2]] if len(rows_of) > 1 else []
    columns = [columns_of[-2 if given.keyword("b_trans") else -1]] if len(columns_of) > 1 else []
    return [*rows, *columns]


def _gemv(given: Operands, words: Sequence[str]) -> Extents:
    rows, columns = _matmul(given, words)
    if given.is_built and constant_extent(rows) != 1:
        raise InferenceError(f"the operand 'lhs' has one row, not {ir.python_print(rows, format=False)}")
    return [as_extent(_FRACTAL_ROWS), columns]


def factors(given: Operands, words: Sequence[str]) -> list[ir.Expr]:
    found = given.named(words or ("lhs", "rhs"))
    if len(found) != 2:
        raise InferenceError("a product has two operands")
    return found


def kept_axes(given: Operands, extents: Extents) -> list[ir.Expr]:
    """The extents of a window without the axes that the call drops; a tile keeps two axes."""
    if given.operand("drop_dims") is None:
        return list(extents)
    dropped = {constant_extent(axis) for axis in given.elements("drop_dims")}
    for axis in dropped:
        if axis is None or not 0 <= axis < len(extents):
            raise InferenceError("the entries of 'drop_dims' are axes of the window")
        if given.is_built and constant_extent(given.elements("shape", "shapes")[axis]) != 1:
            raise InferenceError(f"axis {axis} is dropped, and the window's extent there is not 1")
    least = 2 if isinstance(given.first.type, ir.TileType) else 0
    goes = [axis for axis in range(len(extents)) if axis in dropped][: max(len(extents) - least, 0)]
    return [extent for axis, extent in enumerate(extents) if axis not in goes]


def _window(given: Operands, words: Sequence[str]) -> Extents:
    return kept_axes(given, given.elements("shape", "shapes"))


def swapped(given: Operands, extents: Extents, first: int = -1, second: int = -2) -> Extents:
    found = list(extents)
    if len(found) < 2:
        raise InferenceError("the operand has fewer than two axes")
    found[first], found[second] = found[second], found[first]
    return found


def _transposed(given: Operands, extents: Extents) -> Extents:
    axes = [constant_extent(axis) for axis in given.args[1:3]]
    if len(axes) != 2 or axes[0] is None or axes[1] is None:
        raise InferenceError("the axes are constants")
    if not all(-len(extents) <= axis < len(extents) for axis in axes if axis is not None):
        raise InferenceError(f"axes {axes[0]} and {axes[1]} of {len(extents)} axes")
    return swapped(given, extents, axes[0], axes[1])


def _scaled(extents: Extents, axis: int, times: int = 1, over: int = 1) -> Extents:
    """The extents with one multiplied or divided, halves rounded up."""
    found = list(extents)
    if not -len(found) <= axis < len(found):
        raise InferenceError(f"axis {axis} of {len(found)} axes")
    value = constant_extent(found[axis])
    if value is None:
        product = found[axis] if times == 1 else ir.mul(found[axis], times)
        found[axis] = product if over == 1 else ir.floordiv(product, over)
    else:
        found[axis] = as_extent(-(-value * times // over))
    return found


def _shared(given: Operands, extents: Extents, times: int = 1, over: int = 1) -> Extents:
    """The extents with the split axis cut in two or joined; unchanged where nothing is split."""
    code = given.keyword("split")
    if code == 0:
        return extents
    if code in _ROW_SPLITS:
        return _scaled(extents, 0, times, over)
    if code in _COLUMN_SPLITS:
        return _scaled(extents, 1, times, over)
    raise InferenceError(f"split {code!r} names no axis")


def _masked(given: Operands, words: Sequence[str]) -> Extents:
    step = MASK_STEPS.get(given.keyword("mask_pattern"))
    if step is None:
        raise InferenceError(f"unknown mask pattern {given.keyword('mask_pattern')!r}")
    width = given.dtype_of(given.first).get_bit()
    output = given.keyword("output_dtype")
    if isinstance(output, ir.DataType) and output.get_bit() not in (0, width):
        raise InferenceError("the output dtype has another width")
    return _scaled(given.shape_of(given.first), -1, over=step)


def _by_width(given: Operands, extents: Extents) -> Extents:
    """The same bytes as elements of the dtype that the call names."""
    dtype = given.keyword("dtype")
    if not isinstance(dtype, ir.DataType) or not dtype.get_bit():
        raise InferenceError("it names no dtype")
    return _scaled(extents, -1, given.dtype_of(given.first).get_bit(), dtype.get_bit())


def packed(extents: Extents, unit: int) -> Extents:
    """One bit for each column, in bytes rounded up to blocks of that many."""
    columns = constant_extent(extents[-1])
    if columns is not None:
        return [*extents[:-1], as_extent(-(-columns // (8 * unit)) * unit)]
    units = ir.floordiv(ir.add(extents[-1], 8 * unit - 1), 8 * unit)
    return [*extents[:-1], units if unit == 1 else ir.mul(units, unit)]


def _concatenated(given: Operands, words: Sequence[str]) -> Extents:
    shapes = [given.shape_of(value) for value in given.named(words)]
    last = [constant_extent(shape[-1]) for shape in shapes]
    total: Any = shapes[0][-1]
    if all(value is not None for value in last):
        total = as_extent(sum(value for value in last if value is not None))
    else:
        for shape in shapes[1:]:
            total = simplify(ir.add(total, shape[-1]))
    return [*shapes[0][:-1], total]


def _reshaped(given: Operands, words: Sequence[str]) -> Extents:
    shape = given.elements("shape")
    if given.is_built:
        before, after = element_count(given.shape_of(given.first)), element_count(shape)
        if before is not None and after is not None and before != after:
            source = type_text(given.first.type)
            raise InferenceError(f"the shape has {after} elements, and {source} has {before}")
    return shape


def element_count(extents: Extents) -> int | None:
    """How many elements the extents span, None where one is not constant."""
    values = [constant_value(extent) for extent in extents]
    return None if None in values else prod(value for value in values if value is not None)


def _gathered(given: Operands, words: Sequence[str]) -> Extents:
    """The indices' shape, or a row of the memory for each index."""
    indices = given.shape_of(given.needed("idx"))
    if given.keyword("coalesce") == _ELEMENTS:
        return indices
    count = indices[0] if len(indices) == 2 and constant_extent(indices[1]) == 1 else indices[-1]
    return [count, given.shape_of(given.first)[-1]]


def block_columns(given: Operands, extents: Extents) -> Extents:
    """Extents of block offsets as those of the elements: every offset stands for 32 bytes."""
    dtype = given.keyword("output_dtype") or given.dtype_of(given.first)
    return _scaled(extents, -1, times=BLOCK_BYTES * 8, over=dtype.get_bit())


def _paged(given: Operands, words: Sequence[str]) -> Extents:
    extents = [as_extent(given.keyword("max_indices")), as_extent(given.keyword("size"))]
    return extents[::-1] if given.keyword("is_trans") else extents


def relaid(given: Operands, extents: Extents) -> Extents:
    """The extents as another layout has them: between ND and DN the last two are swapped."""
    view = given.first.type.tensor_view if isinstance(given.first.type, ir.TensorType) else None
    before = view.layout if view is not None else ir.TensorLayout.ND
    after = given.keyword("layout") or before
    swaps = {before, after} == {ir.TensorLayout.ND, ir.TensorLayout.DN}
    return swapped(given, extents) if swaps else extents


def _of_first(
    change: Callable[[Operands, Extents], Extents],
) -> Callable[[Operands, Sequence[str]], Extents]:
    return lambda given, words: change(given, given.shape_of(given.first))


CHANGES: dict[str, Callable[[Operands, Extents], Extents]] = {
    "reduce_first": lambda given, extents: _with_one(extents, 0),
    "reduce_last": lambda given, extents: _with_one(extents, -1),
    "reduce_second_last": lambda given, extents: _with_one(extents, -2),
    "reduce_axis": _reduced,
    "transpose": _transposed,
    "double_last": lambda given, extents: _scaled(extents, -1, times=2),
    "split_axis_halved": lambda given, extents: _shared(given, extents, over=2),
    "split_axis_doubled": lambda given, extents: _shared(given, extents, times=2),
    "scaled_last": _by_width,
}

SHAPES: dict[str, Callable[[Operands, Sequence[str]], Extents]] = {
    **{name: _of_first(change) for name, change in CHANGES.items()},
    "broadcast": _broadcast,
    "argument": lambda given, words: given.elements("shape", "shapes"),
    "window": _window,
    "reshape": _reshaped,
    "matmul": _matmul,
    "transpose_last2": _of_first(swapped),
    "concat_last": _concatenated,
    "mask_pattern": _masked,
    "packed_mask": _of_first(lambda given, extents: packed(extents, 32)),
    "gather": _gathered,
    "gemv": _gemv,
    "blocks": lambda given, words: block_columns(given, given.shape_of(given.needed("offset"))),
    "paged": _paged,
    "matches": lambda given, words: [given.shape_of(given.first)[0], as_extent(given.keyword("out_cols"))],
    "match_counts": lambda given, words: [as_extent(1), given.shape_of(given.first)[0]],
    "workspace": lambda given, words: given.shape_of(given.args[-1]),
    "relaid": _of_first(relaid),
}
