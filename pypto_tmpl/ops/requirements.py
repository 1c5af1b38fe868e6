"""The closed vocabulary in which the op table says what the operands of a built call must be.

A requirement is a word with the operands, keywords, dtypes or numbers that it is about:
``dtype_in(tile, FP16, FP32)``. One that names an absent optional operand does not apply.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import get_args

from pypto_tmpl.ops.model import DTypeName, OpEntry

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
    }
)
_REQUIREMENT = re.compile(r"(?P<name>\w+)\((?P<words>[^()]*)\)")


@cache
def parse_requirement(text: str) -> tuple[str, tuple[str, ...]]:
    """The word and what it is about; ValueError for a text of another form."""
    found = _REQUIREMENT.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is no requirement, such as same_dtype(lhs, rhs)")
    return found["name"], tuple(word.strip() for word in found["words"].split(",") if word.strip())


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
