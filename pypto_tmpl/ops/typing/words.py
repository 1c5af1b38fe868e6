"""The closed vocabulary in which the op table says what type a result has, and what operands must be.

A rule is a name, optionally with the operands it looks at: ``broadcast`` or ``broadcast(lhs, rhs)``.
``A or B`` means A where the call gives it (an optional keyword or operand), else B. The name of an
operand or keyword of the op wins over a rule of the same name.

A requirement is a word with the operands, keywords, dtypes or numbers that it is about:
``dtype_in(tile, FP16, FP32)``. One that names an absent optional operand does not apply.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import get_args

from pypto_tmpl.ops.model import DTypeName, MemorySpace, OpEntry, ResultSpec

DTYPE_RULES: Mapping[str, str] = MappingProxyType(
    {
        "promote": "the promoted dtype of the operands that contribute a value, or of those in parentheses",
        "accumulate": "FP32 where the inputs are floats, INT32 where they are integers",
        "float_or_fp32": "the first operand's dtype where it is a float, else FP32",
        "moved": "the first operand's dtype; FP8E8M0 where UINT8 is moved to a space of scales",
        "declared": "what the call's own result type says",
    }
)
SHAPE_RULES: Mapping[str, str] = MappingProxyType(
    {
        "broadcast": "the operands' shapes aligned at the right, extents equal or 1",
        "reduce_first": "the first operand's shape with its first extent 1",
        "reduce_last": "the first operand's shape with its last extent 1",
        "reduce_second_last": "the first operand's shape with its second-to-last extent 1",
        "reduce_axis": "the first operand's shape with that axis 1, or removed",
        "argument": "the call's shape argument",
        "window": "the window argument, without the axes the call drops",
        "matmul": "[..., M, N] of the product, batch axes broadcast",
        "transpose_last2": "the first operand's shape with its last two extents swapped",
        "transpose": "the first operand's shape with the two axes of the call swapped",
        "reshape": "the shape argument, with as many elements as the first operand",
        "concat_last": "last extents added up, the others the first operand's",
        "double_last": "the first operand's shape with its last extent doubled",
        "split_axis_halved": "the first operand's shape, the split axis halved and rounded up",
        "split_axis_doubled": "the first operand's shape, the split axis doubled",
        "packed_mask": "[rows, columns / 8 rounded up to 32 bytes]",
        "mask_pattern": "the first operand's shape, the last extent divided as the pattern selects",
        "scaled_last": "last extent scaled by the ratio of the element widths",
        "gather": "the indices' shape, or a row of the source for each index",
        "gemv": "[16, N] of the product of one row",
        "blocks": "the offsets' shape, the columns times 32 bytes",
        "paged": "[max_indices, size], or the other way round with is_trans",
        "matches": "[rows of the first operand, out_cols]",
        "match_counts": "[1, rows of the first operand]",
        "workspace": "the last operand's shape",
        "relaid": "the first operand's shape, the last two extents swapped between ND and DN",
        "scalar": "none: a scalar has no shape",
        "declared": "what the call's own result type says",
    }
)
VALID_RULES: Mapping[str, str] = MappingProxyType(
    {
        "full": "the whole box, whatever the operands' regions are",
        "same_or_full": "the first operand's region where all operands have the same one, else the whole box",
        "reduce_first": "the first operand's region with its first extent 1",
        "reduce_last": "the first operand's region with its last extent 1",
        "reduce_second_last": "the first operand's region with its second-to-last extent 1",
        "reduce_axis": "the first operand's region with that axis 1, or removed",
        "argument": "the call's valid-shape argument, the whole box where it is absent",
        "window": "the requested extents, cut to what the source's region offers behind the offset",
        "write_union": "the target's region joined with the written rectangle",
        "reshape": "the same elements in the new shape; they must stay one rectangle at the origin",
        "matmul": "[valid rows of lhs, valid columns of rhs], batch axes full",
        "swap_last2": "the first operand's region with its last two extents swapped",
        "transpose": "the first operand's region with the two axes of the call swapped",
        "double_last": "the first operand's region with its last extent doubled",
        "split_axis_halved": "the lane's part of the first operand's region along the split axis",
        "split_axis_doubled": "the first operand's region with the split axis doubled",
        "packed_mask": "[valid rows, valid columns / 8 rounded up]",
        "scaled_last": "last valid extent scaled by the ratio of the element widths",
        "rows_and_columns": "[valid_rows, valid_cols] of the call",
        "gather": "the indices' region, or whole rows for the valid ones; the valid-shape argument in Mat",
        "blocks": "the offsets' region, the columns times 32 bytes",
        "relaid": "the first operand's region, the last two extents swapped between ND and DN",
        "none": "the result has no region",
        "declared": "what the call's own result type says",
    }
)
MEMORY_RULES: Mapping[str, str] = MappingProxyType(
    {
        "first_tile": "the space of the first tile operand",
        "unresolved": "none yet: a later pass decides",
        "declared": "what the call's own result type says",
    }
)
LAYOUT_RULES: Mapping[str, str] = MappingProxyType(
    {
        "implied": "what the memory space implies, whatever the operands' layouts are",
        "extracted": "what the memory space implies; in Left the boxes lie row by row",
        "row_major": "rows one after the other, unboxed",
        "col_major": "columns one after the other, unboxed",
        "turned": "the first operand's layouts, rows and columns exchanged",
        "keywords": "the call's blayout and slayout, else what the memory space implies",
        "transposed": "the first operand's strides with two axes swapped; DN where they are the last two",
    }
)
NAMED_RESULTS: Mapping[str, ResultSpec] = MappingProxyType(
    {
        "none": ResultSpec(kind="none"),
        "matmul": ResultSpec(dtype="accumulate", shape="matmul", valid="matmul", memory="Acc"),
        "matmul_acc": ResultSpec(dtype="acc", shape="acc", valid="acc", memory="Acc", layout="implied"),
    }
)
VOCABULARY: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "dtype": DTYPE_RULES,
        "shape": SHAPE_RULES,
        "valid": VALID_RULES,
        "memory": MEMORY_RULES,
        "layout": LAYOUT_RULES,
        "pad": {},
    }
)
LITERALS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"dtype": get_args(DTypeName), "memory": get_args(MemorySpace)}
)
REQUIREMENTS: Mapping[str, str] = MappingProxyType(
    {
        "same_dtype": "the operands have one dtype",
        "other_dtype": "the operand's dtype is not the one that the keyword names",
        "dtype_in": "the operand has one of these dtypes",
        "integers": "the operands have integer dtypes",
        "not_negative": "the scalar is not a negative constant",
        "same_shape": "the two shapes are equal",
        "same_region": "the two valid regions are equal",
        "same_rows": "the two shapes are equal but for the last axis",
        "one_column": "the first is [M, 1] where the second has M rows",
        "column_or_block": "the first is [M, 1], or 32 bytes a row, where the second has M rows",
        "one_row": "the first is [1, N] where the second has N columns",
        "repeats_one_axis": "three axes each, equal but for one on which the first has one element",
        "not_empty": "something of the operand is valid",
        "rank": "the operand has that many axes",
        "min_rank": "the operand has at least that many axes",
        "columns_multiple": "the last extent is a positive multiple of the number",
        "index_per_axis": "the tuple has one integer for each axis of the operand",
        "not_more_than_axes": "the tuple has no more elements than the operand axes",
        "row_per_index": "the first has a row for each element of the index, [b * s, ...] or [b, s, 1, ...]",
        "spread_columns": "the first has as many columns as the second times the step of the mask pattern",
        "turns_matrix": "where the flag is set, the operand has two axes at least",
        "axis_of": "the scalar is a constant axis of the operand",
        "accumulates": "the product of the second and third operand has the shape of the first",
        "covers_contraction": "the second operand is valid wherever the first one is summed",
        "stores_into": "the dtypes are equal, or FP32 and a 16-bit float",
        "block_of": "the tuple gives the extents of a corner or a row-major block of the operand",
        "address_or_auto": "the keyword is an address, which is not negative, or -1 for AUTO",
        "axes_between": "as many elements as the second has axes, or more, up to those of the third",
        "same_count": "the tuple is the shape of as many elements as the operand has",
        "not_smaller": "no extent of the tuple is less than the operand's",
        "windows": "the operands are windows",
        "no_window": "the operand is no window",
        "transfer": "one dtype, and equal shapes or regions that lie inside",
        "chunks": "sizes that are not negative, both for a pipeline, and one where an extent is not constant",
        "atomic": "where it is added, the operand has a dtype that is added atomically",
        "pushes": "a value of two axes that lies inside of the last two of the second, at the offsets",
        "signal_cell": "an INT32 window, and an index for each of its axes",
        "signals": "the operands are INT32",
        "deferred": "a comparison by >= with a number that is not negative",
        "reduces": "FP16 or FP32, and keywords that an allreduce knows",
        "sums": "the reduction is a sum",
        "root": "the root is not negative",
        "gathers": "the first is one row of the second, which is another variable",
        "exchanges": "rows of one matrix go into those of another, which is a different variable",
        "blocks": "rows of the first two and elements of the last fit the ranks that the signal counts",
    }
)
Term = tuple[str, tuple[str, ...]]
_TERM = re.compile(r"(?P<name>[A-Za-z_]\w*)(?:\((?P<words>[^()]*)\))?")


def resolve_result(entry: OpEntry) -> ResultSpec:
    """The result as its parts, a named rule written out; an unknown name raises KeyError."""
    return NAMED_RESULTS[entry.result] if isinstance(entry.result, str) else entry.result


def carries_region_of(entry: OpEntry) -> str | None:
    """The operand whose valid region the result has, or none when the region follows another rule."""
    valid = resolve_result(entry).valid
    return valid if valid in entry.operand_names else None


@cache
def terms_of(rule: str) -> tuple[Term, ...]:
    """The terms of ``A or B(x, y)``, words with what they are about; ValueError for another form."""
    return tuple(map(_term, rule.split(" or ")))


def _term(text: str) -> Term:
    found = _TERM.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is no term, such as promote or same_dtype(lhs, rhs)")
    return found["name"], tuple(word for item in (found["words"] or "").split(",") if (word := item.strip()))


def unknown_terms(entry: OpEntry, part: str, rule: str) -> Iterator[str]:
    """What in ``rule`` is neither vocabulary of ``part`` nor an operand or keyword of the op."""
    names = {*entry.operand_names, *entry.kwarg_names}
    known = names.union(VOCABULARY[part], LITERALS.get(part, ()))
    for alternative in rule.split(" or "):
        try:
            name, words = _term(alternative)
        except ValueError:
            yield alternative
            continue
        if name not in known:
            yield name
        yield from (word for word in words if word not in names)


@cache
def parse_requirement(text: str) -> Term:
    """The word and what it is about; ValueError for a text of another form."""
    if not text.rstrip().endswith(")"):
        raise ValueError(f"{text!r} is no requirement, such as same_dtype(lhs, rhs)")
    return _term(text)


def requirement_problems(entry: OpEntry) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """What the entry's requirements have wrong, the words that would be right, and the one given."""
    names = (*entry.operand_names, *entry.kwarg_names)
    known = (*names, *get_args(DTypeName))
    for text in () if entry.call is None else entry.call.requires:
        try:
            name, words = parse_requirement(text)
        except ValueError as error:
            yield str(error), tuple(REQUIREMENTS), ""
            continue
        if name not in REQUIREMENTS:
            yield f"no requirement is named {name!r}", tuple(REQUIREMENTS), name
        for word in words:
            if word not in known and not word.isdigit():
                yield f"{text!r} names {word!r}, which is no operand or keyword", names, word
