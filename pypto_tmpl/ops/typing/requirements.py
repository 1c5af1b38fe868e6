"""What must hold of the operands of an op that the language builds, by the words of the op table.

An entry lists them under ``call: requires``: ``same_dtype(lhs, rhs)``, ``dtype_in(tile, FP16, FP32)``. A call
that is read from a dump is not held to them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from pypto_tmpl import ir
from pypto_tmpl.ir.arithmetic import constant_difference, constant_value
from pypto_tmpl.ir.printer import type_text
from pypto_tmpl.ops.blocks import may_have_block
from pypto_tmpl.ops.signatures import call_of
from pypto_tmpl.ops.typing.operands import Extents, InferenceError, Operands
from pypto_tmpl.ops.typing.rank_requirements import RANK_CHECKS
from pypto_tmpl.ops.typing.shapes import (
    BLOCK_BYTES,
    MASK_STEPS,
    agree,
    contracted,
    element_count,
    product,
)
from pypto_tmpl.ops.typing.words import REQUIREMENTS, parse_requirement

Check = Callable[[Operands, Sequence[str]], None]
_NARROWED = (ir.DataType.FP16, ir.DataType.BF16)


def check_requirements(given: Operands) -> None:
    """Raise InferenceError for the first thing that the table requires and the operands do not have."""
    for spec, value in zip(given.entry.operands, given.args, strict=False):
        type_ = value.type
        is_typed = spec.dtype is not None and isinstance(type_, (ir.ShapedType, ir.ScalarType))
        if is_typed and given.dtype_of(value).name != spec.dtype:
            raise InferenceError(f"{_told(given, spec.name)}, and its dtype must be {spec.dtype}")
    for text in call_of(given.entry).requires:
        name, words = parse_requirement(text)
        if all(given.operand(word) is not None for word in words if word in given.entry.operand_names):
            _CHECKS[name](given, words)


def _told(given: Operands, name: str) -> str:
    return f"the operand {name!r} is {type_text(given.needed(name).type)}"


def _both(given: Operands, first: str, second: str) -> str:
    types = [type_text(given.needed(name).type) for name in (first, second)]
    return f"the operand {first!r} is {types[0]} and {second!r} is {types[1]}"


def _same_dtype(given: Operands, words: Sequence[str]) -> None:
    first, *others = words
    for other in others:
        if given.dtype_of(given.needed(first)) != given.dtype_of(given.needed(other)):
            raise InferenceError(f"{_both(given, first, other)}, and their dtypes must be equal")


def _other_dtype(given: Operands, words: Sequence[str]) -> None:
    operand, keyword = words
    if given.dtype_of(given.needed(operand)) == (wanted := given.keyword(keyword)):
        raise InferenceError(f"{_told(given, operand)} and {keyword!r} is {wanted.name}: they must differ")


def _dtype_in(given: Operands, words: Sequence[str]) -> None:
    name, *allowed = words
    if given.dtype_of(given.needed(name)).name not in allowed:
        raise InferenceError(f"{_told(given, name)}, and its dtype must be {_listed(allowed)}")


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _integers(given: Operands, words: Sequence[str]) -> None:
    for name in words:
        if not given.dtype_of(given.needed(name)).is_int():
            raise InferenceError(f"{_told(given, name)}, and its dtype must be an integer")


def _not_negative(given: Operands, words: Sequence[str]) -> None:
    value = constant_value(given.needed(words[0]))
    if value is not None and value < 0:
        raise InferenceError(f"the operand {words[0]!r} is {value}, and it must not be negative")


def _equal_extents(
    given: Operands, words: Sequence[str], extents: Callable[[ir.Expr], Extents], what: str
) -> None:
    first, second = words
    pair = extents(given.needed(first)), extents(given.needed(second))
    gaps = [constant_difference(a, b) for a, b in zip(*pair, strict=False)]
    if len(pair[0]) != len(pair[1]) or any(gap != 0 for gap in gaps):
        raise InferenceError(f"{_both(given, first, second)}, and their {what} must be equal")


def _same_shape(given: Operands, words: Sequence[str]) -> None:
    _equal_extents(given, words, given.shape_of, "shapes")


def _same_region(given: Operands, words: Sequence[str]) -> None:
    _equal_extents(given, words, given.region_of, "valid regions")


def _same_rows(given: Operands, words: Sequence[str]) -> None:
    _equal_extents(given, words, lambda value: given.shape_of(value)[:-1], "rows")


def _one_column(given: Operands, words: Sequence[str]) -> None:
    """``[M, 1]`` for each of ``M`` rows."""
    vector, matrix = words
    if not _is_column(given, vector, matrix):
        raise InferenceError(f"{_both(given, *words)}, {_vector_rule(given, vector, matrix, 'column')}")


def _column_or_block(given: Operands, words: Sequence[str]) -> None:
    """``[M, 1]``, or of each of ``M`` rows the 32 bytes of a block."""
    vector, matrix = words
    width = given.dtype_of(given.needed(vector)).get_bit() // 8
    last = constant_value(given.shape_of(given.needed(vector))[-1])
    is_block = last is not None and last * width == BLOCK_BYTES
    if not _is_column(given, vector, matrix, ignores_columns=is_block):
        rule = _vector_rule(given, vector, matrix, "column")
        raise InferenceError(f"{_both(given, *words)}, {rule}, or 32 bytes for each row")


def _one_row(given: Operands, words: Sequence[str]) -> None:
    """``[1, N]`` for each of ``N`` columns."""
    vector, matrix = words
    if not _is_row(given, vector, matrix):
        raise InferenceError(f"{_both(given, *words)}, {_vector_rule(given, vector, matrix, 'row')}")


def _is_column(given: Operands, vector: str, matrix: str, ignores_columns: bool = False) -> bool:
    extents, rows = given.shape_of(given.needed(vector)), given.shape_of(given.needed(matrix))
    if len(extents) < 2 or len(rows) < 2 or _differ(extents[-2], rows[-2]):
        return False
    return ignores_columns or constant_value(extents[-1]) == 1


def _is_row(given: Operands, vector: str, matrix: str) -> bool:
    extents, columns = given.shape_of(given.needed(vector)), given.shape_of(given.needed(matrix))
    if len(extents) < 2 or len(columns) < 2 or _differ(extents[-1], columns[-1]):
        return False
    return constant_value(extents[-2]) == 1


def _vector_rule(given: Operands, vector: str, matrix: str, shape: str) -> str:
    """Which operand is the vector, what that must be, and whether the two stand in the wrong order."""
    across, fits = ("columns", _is_row) if shape == "row" else ("rows", _is_column)
    rule = f"and {vector!r} is the vector, which must be a {shape} of as many {across}"
    return f"{rule}: they are swapped" if fits(given, matrix, vector) else rule


def _repeats_one_axis(given: Operands, words: Sequence[str]) -> None:
    """Three axes each, equal but for one on which the first has a single element."""
    source, target = (given.shape_of(given.needed(word)) for word in words)
    axes = [axis for axis, extents in enumerate(zip(source, target, strict=False)) if _differ(*extents)]
    is_single = all(constant_value(source[axis]) == 1 for axis in axes)
    if len(source) != 3 or len(target) != 3 or len(axes) > 1 or not is_single:
        rule = "both must have three axes, equal but for one on which the first has one element"
        raise InferenceError(f"{_both(given, *words)}, and {rule}")


def _differ(first: ir.Expr, second: ir.Expr) -> bool:
    return constant_difference(first, second) not in (0, None)


def _not_empty(given: Operands, words: Sequence[str]) -> None:
    if any(constant_value(extent) == 0 for extent in given.region_of(given.needed(words[0]))):
        raise InferenceError(f"{_told(given, words[0])}, of which nothing is valid")


def _rank(given: Operands, words: Sequence[str]) -> None:
    name, number = words
    rank = len(given.shape_of(given.needed(name)))
    if rank != int(number):
        raise InferenceError(f"{_told(given, name)}, and it must have {number} axes")


def _min_rank(given: Operands, words: Sequence[str]) -> None:
    name, number = words
    if len(given.shape_of(given.needed(name))) < int(number):
        raise InferenceError(f"{_told(given, name)}, and it must have {number} axes at least")


def _columns_multiple(given: Operands, words: Sequence[str]) -> None:
    name, number = words
    columns = constant_value(given.shape_of(given.needed(name))[-1])
    if columns is not None and (columns <= 0 or columns % int(number)):
        raise InferenceError(f"{_told(given, name)}, and its columns must be a multiple of {number}")


def _index_per_axis(given: Operands, words: Sequence[str]) -> None:
    indices, container = words
    found, shape = given.shape_of(given.needed(indices)), given.shape_of(given.needed(container))
    if len(found) != len(shape):
        counts = f"the operand {indices!r} has {len(found)} elements and {container!r} {len(shape)} axes"
        raise InferenceError(f"{counts}: it is {type_text(given.needed(container).type)}")
    for index in found:
        if not isinstance(index.type, ir.ScalarType) or not index.type.dtype.is_int():
            raise InferenceError(f"an index is {type_text(index.type)}, and indices are integers")
    for axis, (index, extent) in enumerate(zip(found, shape, strict=True)):
        number, past = constant_value(index), constant_difference(index, extent)
        if (number is not None and number < 0) or (past is not None and past >= 0):
            shown = ir.python_print(index, format=False)
            raise InferenceError(f"the index {shown} on axis {axis} is outside: {_told(given, container)}")


def _not_more_than_axes(given: Operands, words: Sequence[str]) -> None:
    """A block of fewer axes lies in the trailing ones; one of more axes lies nowhere."""
    offsets, container = words
    found, shape = given.shape_of(given.needed(offsets)), given.shape_of(given.needed(container))
    if len(found) > len(shape):
        counts = f"the operand {offsets!r} has {len(found)} elements and {container!r} {len(shape)} axes"
        raise InferenceError(f"{counts}: it is {type_text(given.needed(container).type)}")


def _row_per_index(given: Operands, words: Sequence[str]) -> None:
    """``[b * s, d]`` or ``[b, s, 1, d]`` for an index of ``[b, s]``, as far as the extents are constant."""
    source, index = (given.shape_of(given.needed(word)) for word in words)
    rows = [constant_value(extent) for extent in source[:-1]]
    numbers = [constant_value(extent) for extent in index]
    counts = [math.prod(one for one in extents if one is not None) for extents in (rows, numbers)]
    if None not in (*rows, *numbers) and counts[0] != counts[1]:
        rule = f"the index names {counts[1]} rows, of which {words[0]!r} has {counts[0]}"
        raise InferenceError(f"{_both(given, *words)}: {rule}")


def _spread_columns(given: Operands, words: Sequence[str]) -> None:
    """A row of the second fills those columns of the first that the mask pattern selects."""
    target, source = words
    step = MASK_STEPS.get(given.keyword("mask_pattern"))
    columns = [constant_value(given.shape_of(given.needed(word))[-1]) for word in words]
    if step is not None and None not in columns and columns[0] != (columns[1] or 0) * step:
        rule = f"with this mask pattern {target!r} has {step} times the columns of {source!r}"
        raise InferenceError(f"{_both(given, target, source)}, and {rule}")


def _turns_matrix(given: Operands, words: Sequence[str]) -> None:
    flag, name = words
    if given.keyword(flag) and len(given.shape_of(given.needed(name))) < 2:
        raise InferenceError(f"{_told(given, name)}, and {flag}=True needs two axes at least")


def _axis_of(given: Operands, words: Sequence[str]) -> None:
    axis, container = words
    number, rank = constant_value(given.needed(axis)), len(given.shape_of(given.needed(container)))
    if number is None or not -rank <= number < rank:
        raise InferenceError(f"the operand {axis!r} is no axis of {type_text(given.needed(container).type)}")


def _accumulates(given: Operands, words: Sequence[str]) -> None:
    """The product of the second and third has the shape of the first."""
    acc, lhs, rhs = (given.needed(word) for word in words)
    left, right = given.shape_of(lhs), given.shape_of(rhs)
    agree(given, (lhs, contracted(given, left, 0)), (rhs, contracted(given, right, 1)))
    found = product(given, left, right)
    for extent, owner, wanted in zip(found, (lhs, rhs), given.shape_of(acc)[-2:], strict=False):
        agree(given, (owner, extent), (acc, wanted))


def _covers_contraction(given: Operands, words: Sequence[str]) -> None:
    """The right factor is valid for as many elements as the left one sums over."""
    lhs, rhs = (given.needed(word) for word in words)
    left, right = contracted(given, given.region_of(lhs), 0), contracted(given, given.region_of(rhs), 1)
    gap = constant_difference(left, right)
    if gap is not None and gap > 0:
        raise InferenceError(
            f"{_both(given, *words)}, which is valid for fewer of the elements that are summed"
        )


def _stores_into(given: Operands, words: Sequence[str]) -> None:
    """Equal dtypes, or FP32 that is narrowed to a 16-bit float."""
    source, target = (given.dtype_of(given.needed(word)) for word in words)
    if source != target and not (source == ir.DataType.FP32 and target in _NARROWED):
        raise InferenceError(f"{_both(given, *words)}, and their dtypes must be equal")


def _block_of(given: Operands, words: Sequence[str]) -> None:
    block, tile = words
    extents = given.shape_of(given.needed(block))
    if any((size := constant_value(extent)) is not None and size <= 0 for extent in extents):
        raise InferenceError(f"the extents {block!r} are positive, and {_listed_extents(extents)} are given")
    if not may_have_block(given.shape_of(given.needed(tile)), extents):
        shown = _listed_extents(extents)
        raise InferenceError(f"{_told(given, tile)}, which has no part of the extents {shown} of {block!r}")


def _listed_extents(extents: Extents) -> str:
    return f"[{', '.join(ir.python_print(extent, format=False) for extent in extents)}]"


def _address_or_auto(given: Operands, words: Sequence[str]) -> None:
    value = given.keyword(words[0])
    if isinstance(value, int) and value < -1:
        raise InferenceError(
            f"the keyword {words[0]!r} is {value}, and an address is not negative: -1 is AUTO"
        )


def _axes_between(given: Operands, words: Sequence[str]) -> None:
    """No fewer elements than the tile has axes, no more than the tensor."""
    block, tile, tensor = words
    count, least, most = (len(given.shape_of(given.needed(word))) for word in words)
    if not least <= count <= most:
        rule = f"{tile!r} has {least} axes and {tensor!r} {most}"
        raise InferenceError(f"the operand {block!r} has {count} elements, and {rule}")


def _same_count(given: Operands, words: Sequence[str]) -> None:
    shape, source = words
    counts = [element_count(given.shape_of(given.needed(word))) for word in words]
    if None not in counts and counts[0] != counts[1]:
        told = f"{type_text(given.needed(source).type)} has {counts[1]}"
        raise InferenceError(f"the operand {shape!r} spans {counts[0]} elements, and {told}")


def _not_smaller(given: Operands, words: Sequence[str]) -> None:
    """Each extent of the shape is as large as the operand's."""
    shape, source = words
    pairs = zip(given.shape_of(given.needed(shape)), given.shape_of(given.needed(source)), strict=False)
    for new, old in pairs:
        gap = constant_difference(new, old)
        if gap is not None and gap < 0:
            raise InferenceError(
                f"the operand {shape!r} is smaller than {source!r}, {type_text(given.needed(source).type)}"
            )


_CHECKS: Mapping[str, Check] = MappingProxyType(
    {
        "same_dtype": _same_dtype,
        "other_dtype": _other_dtype,
        "dtype_in": _dtype_in,
        "integers": _integers,
        "not_negative": _not_negative,
        "same_shape": _same_shape,
        "same_region": _same_region,
        "same_rows": _same_rows,
        "one_column": _one_column,
        "column_or_block": _column_or_block,
        "one_row": _one_row,
        "repeats_one_axis": _repeats_one_axis,
        "not_empty": _not_empty,
        "rank": _rank,
        "min_rank": _min_rank,
        "columns_multiple": _columns_multiple,
        "index_per_axis": _index_per_axis,
        "not_more_than_axes": _not_more_than_axes,
        "row_per_index": _row_per_index,
        "spread_columns": _spread_columns,
        "turns_matrix": _turns_matrix,
        "axis_of": _axis_of,
        "accumulates": _accumulates,
        "covers_contraction": _covers_contraction,
        "stores_into": _stores_into,
        "block_of": _block_of,
        "address_or_auto": _address_or_auto,
        "axes_between": _axes_between,
        "same_count": _same_count,
        "not_smaller": _not_smaller,
        **RANK_CHECKS,
    }
)
assert _CHECKS.keys() == REQUIREMENTS.keys()
