"""What the words mean with which the op table describes result types (``pypto_tmpl/ops/rules.py``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from pypto_tmpl import ir
from pypto_tmpl.ir.extents import as_extent, constant_extent, same_extent, same_extents
from pypto_tmpl.ops import OpEntry

Extents: TypeAlias = Sequence[ir.Expr]
_MASK_STEPS = {1: 2, 2: 2, 3: 4, 4: 4, 5: 4, 6: 4, 7: 1}
_ROW_SPLITS, _COLUMN_SPLITS = (1, 3), (2, 4)


class InferenceError(Exception):
    """The operands of a call do not give its result type."""


class Operands:
    """The operands and keywords of a call, by the names of the op table."""

    def __init__(self, entry: OpEntry, args: Sequence[ir.Expr], kwargs: ir.AttrMap) -> None:
        if len(args) > len(entry.operands):
            raise InferenceError(f"{len(args)} operands, and the op takes {len(entry.operands)}")
        self.entry = entry
        self.args = args
        self._by_name = dict(zip(entry.operand_names, args, strict=False))
        self._kwargs = kwargs
        self._defaults = {k.name: k.default for k in entry.kwargs if k.has_default}

    def operand(self, name: str) -> ir.Expr | None:
        """The operand of that name, None where the call or the op has none."""
        return self._by_name.get(name)

    def keyword(self, name: str) -> Any:
        """The keyword's value or its default, None without one."""
        return self._kwargs[name] if name in self._kwargs else self._defaults.get(name)

    @property
    def shaped(self) -> list[ir.Expr]:
        """The tensor and tile operands that contribute a value."""
        scratch = {operand.name for operand in self.entry.operands if operand.scratch}
        return [
            arg
            for name, arg in self._by_name.items()
            if name not in scratch and isinstance(arg.type, ir.ShapedType)
        ]

    @property
    def scalars(self) -> list[ir.Expr]:
        """The scalar operands."""
        return [arg for arg in self.args if isinstance(arg.type, ir.ScalarType)]

    @property
    def first(self) -> ir.Expr:
        if not self.args:
            raise InferenceError("it has no operand")
        return self.args[0]

    def named(self, words: Sequence[str]) -> list[ir.Expr]:
        """The operands that a rule's parentheses name, else those that contribute a value."""
        found = [self.operand(word) for word in words]
        return [value for value in found if value is not None] if words else self.shaped

    def elements(self, *names: str) -> Extents:
        """The elements of the first of these tuple operands that the call has."""
        for name in names:
            value = self.operand(name)
            if isinstance(value, ir.MakeTuple):
                return value.elements
        raise InferenceError(f"its operand {names[0]!r} is no list")

    @staticmethod
    def dtype_of(value: ir.Expr) -> ir.DataType:
        if isinstance(value.type, (ir.ShapedType, ir.ScalarType)):
            return value.type.dtype
        raise InferenceError(f"a {type(value.type).__name__} has no dtype")

    @staticmethod
    def shape_of(value: ir.Expr) -> Extents:
        if isinstance(value.type, ir.ShapedType):
            return value.type.shape
        if isinstance(value, ir.MakeTuple):
            return value.elements
        raise InferenceError(f"a {type(value.type).__name__} has no shape")

    @staticmethod
    def valid_of(value: ir.Expr) -> Extents | None:
        """The valid region of an operand, None for the whole box."""
        view: ir.TensorView | ir.TileView | None = None
        if isinstance(value.type, ir.TensorType):
            view = value.type.tensor_view
        elif isinstance(value.type, ir.TileType):
            view = value.type.tile_view
        elif isinstance(value, ir.MakeTuple):
            return value.elements
        return view.valid_shape if view is not None and view.valid_shape else None

    def region_of(self, value: ir.Expr) -> list[ir.Expr]:
        """The valid region of an operand, written out."""
        valid = self.valid_of(value)
        return list(self.shape_of(value) if valid is None else valid)


def _promoted(given: Operands, words: Sequence[str]) -> ir.DataType:
    """Scalars take part as tiles do, but a bare integer, which is INDEX, takes the dtype of what it meets."""
    values = given.named(words) if words else [*given.shaped, *given.scalars]
    dtypes = [given.dtype_of(value) for value in values if not _is_bare_integer(value)]
    if not dtypes:
        raise InferenceError("no operand has a dtype")
    found = dtypes[0]
    for dtype in dtypes[1:]:
        found = _common(found, dtype)
    return found


def _is_bare_integer(value: ir.Expr) -> bool:
    return isinstance(value, ir.ConstInt) and value.dtype == ir.DataType.INDEX


def _common(first: ir.DataType, second: ir.DataType) -> ir.DataType:
    """A float rather than an integer, else the wider one; of equal widths the signed or the first one."""
    if first == second:
        return first
    if first.is_float() != second.is_float():
        return first if first.is_float() else second
    if first.get_bit() != second.get_bit():
        return first if first.get_bit() > second.get_bit() else second
    return second if first.is_unsigned_int() and second.is_signed_int() else first


def _accumulated(given: Operands, words: Sequence[str]) -> ir.DataType:
    return ir.DataType.FP32 if given.dtype_of(given.first).is_float() else ir.DataType.INT32


def _float_or_fp32(given: Operands, words: Sequence[str]) -> ir.DataType:
    dtype = given.dtype_of(given.first)
    return dtype if dtype.is_float() else ir.DataType.FP32


def _broadcast(given: Operands, words: Sequence[str]) -> Extents:
    shapes = [given.shape_of(value) for value in given.named(words)]
    rank = max((len(shape) for shape in shapes), default=0)
    found: list[ir.Expr] = []
    for axis in range(-rank, 0):
        extents = [shape[axis] for shape in shapes if len(shape) >= -axis]
        wide = [extent for extent in extents if constant_extent(extent) != 1]
        for extent in wide[1:]:
            _agree(wide[0], extent)
        found.append(wide[0] if wide else extents[0])
    return found


def _agree(a: ir.Expr, b: ir.Expr) -> None:
    """Raise unless two extents may be equal."""
    first, second = constant_extent(a), constant_extent(b)
    if first is not None and second is not None and first != second:
        raise InferenceError(f"the extents {first} and {second} do not agree")


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


def _product(given: Operands, rows_of: Extents, columns_of: Extents) -> Extents:
    """[M, N] of a product, with the batch extents of the operand that has more of them."""
    if len(rows_of) < 2 or len(columns_of) < 2:
        raise InferenceError("the operands of a product have two axes at least")
    rows = rows_of[-1 if given.keyword("a_trans") else -2]
    columns = columns_of[-2 if given.keyword("b_trans") else -1]
    batch = max(rows_of[:-2], columns_of[:-2], key=len)
    return [*batch, rows, columns]


def _lhs_rhs(given: Operands, words: Sequence[str]) -> list[ir.Expr]:
    found = given.named(words or ("lhs", "rhs"))
    if len(found) != 2:
        raise InferenceError("a product has two operands")
    return found


def _window(given: Operands, extents: Extents) -> Extents:
    """The extents of a window without the axes that the call drops."""
    dropped: set[int] = set()
    if given.operand("drop_dims") is not None:
        axes = [constant_extent(axis) for axis in given.elements("drop_dims")]
        dropped = {axis for axis in axes if axis is not None}
    return [extent for axis, extent in enumerate(extents) if axis not in dropped]


def _window_region(given: Operands, words: Sequence[str]) -> Extents | None:
    requested = given.operand("valid_shape")
    if isinstance(requested, ir.MakeTuple) and requested.elements:
        return _window(given, requested.elements)
    if given.valid_of(given.first) is None:
        return None
    shape, offset = given.elements("shape", "shapes"), given.elements("offset", "offsets")
    region = given.region_of(given.first)
    if not len(shape) == len(offset) == len(region):
        raise InferenceError("shape, offset and source have different ranks")
    return _window(given, [_cut(*axis) for axis in zip(shape, offset, region, strict=True)])


def _cut(extent: ir.Expr, offset: ir.Expr, valid: ir.Expr) -> ir.Expr:
    """How much of a window lies in a region of that extent."""
    size, start, end = (constant_extent(value) for value in (extent, offset, valid))
    if size is not None and start is not None and end is not None:
        return as_extent(max(min(end - start, size), 0))
    if start == 0 and same_extent(extent, valid):
        return extent
    return ir.max_(ir.min_(ir.sub(valid, offset), extent), 0)


def _joined_region(given: Operands, words: Sequence[str]) -> Extents | None:
    """The target's region; a write behind its end is not joined to it."""
    target = given.operand(given.entry.returns or "") or given.first
    return given.valid_of(target)


def _swapped(given: Operands, extents: Extents, first: int = -1, second: int = -2) -> Extents:
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
    return _swapped(given, extents, axes[0], axes[1])


def _reshaped_region(given: Operands, words: Sequence[str]) -> Extents | None:
    if given.valid_of(given.first) is None:
        return None
    if same_extents(given.shape_of(given.first), given.elements("shape")):
        return given.region_of(given.first)
    raise InferenceError("the region of a reshaped part has no rule")


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


def _split_axis(given: Operands) -> int:
    code = given.keyword("split")
    if code in _ROW_SPLITS:
        return 0
    if code in _COLUMN_SPLITS:
        return 1
    raise InferenceError(f"split {code!r} names no axis")


def _masked(given: Operands, words: Sequence[str]) -> Extents:
    step = _MASK_STEPS.get(given.keyword("mask_pattern"))
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


def _packed(extents: Extents, unit: int) -> Extents:
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
            total = ir.add(total, shape[-1])
    return [*shapes[0][:-1], total]


def _same_or_full(given: Operands, words: Sequence[str]) -> Extents | None:
    values = given.named(words)
    regions = [given.region_of(value) for value in values]
    if regions and all(same_extents(regions[0], region) for region in regions[1:]):
        return given.valid_of(values[0])
    return None


def _maybe(
    change: Callable[[Operands, Extents], Extents],
) -> Callable[[Operands, Sequence[str]], Extents | None]:
    """A rule for regions from one for shapes: the whole box stays the whole box."""

    def rule(given: Operands, words: Sequence[str]) -> Extents | None:
        valid = given.valid_of(given.first)
        return None if valid is None else change(given, valid)

    return rule


def _of_first(
    change: Callable[[Operands, Extents], Extents],
) -> Callable[[Operands, Sequence[str]], Extents]:
    return lambda given, words: change(given, given.shape_of(given.first))


_CHANGES: dict[str, Callable[[Operands, Extents], Extents]] = {
    "reduce_first": lambda given, extents: _with_one(extents, 0),
    "reduce_last": lambda given, extents: _with_one(extents, -1),
    "reduce_second_last": lambda given, extents: _with_one(extents, -2),
    "reduce_axis": _reduced,
    "transpose": _transposed,
    "double_last": lambda given, extents: _scaled(extents, -1, times=2),
    "split_axis_halved": lambda given, extents: _scaled(extents, _split_axis(given), over=2),
    "split_axis_doubled": lambda given, extents: _scaled(extents, _split_axis(given), times=2),
    "scaled_last": _by_width,
}

DTYPES: dict[str, Callable[[Operands, Sequence[str]], ir.DataType]] = {
    "promote": _promoted,
    "accumulate": _accumulated,
    "float_or_fp32": _float_or_fp32,
}
SHAPES: dict[str, Callable[[Operands, Sequence[str]], Extents]] = {
    **{name: _of_first(change) for name, change in _CHANGES.items()},
    "broadcast": _broadcast,
    "argument": lambda given, words: given.elements("shape", "shapes"),
    "window": lambda given, words: _window(given, given.elements("shape", "shapes")),
    "reshape": lambda given, words: given.elements("shape"),
    "matmul": lambda given, words: _product(given, *map(given.shape_of, _lhs_rhs(given, words))),
    "transpose_last2": _of_first(_swapped),
    "concat_last": _concatenated,
    "mask_pattern": _masked,
    "packed_mask": _of_first(lambda given, extents: _packed(extents, 32)),
}
VALID_REGIONS: dict[str, Callable[[Operands, Sequence[str]], Extents | None]] = {
    **{name: _maybe(change) for name, change in _CHANGES.items()},
    "full": lambda given, words: None,
    "none": lambda given, words: None,
    "same_or_full": _same_or_full,
    "argument": lambda given, words: (
        given.elements("valid_shape") if given.operand("valid_shape") is not None else None
    ),
    "window": _window_region,
    "write_union": _joined_region,
    "reshape": _reshaped_region,
    "matmul": lambda given, words: _product(given, *map(given.region_of, _lhs_rhs(given, words))),
    "swap_last2": _maybe(_swapped),
    "packed_mask": lambda given, words: _packed(given.region_of(given.first), 1),
}
