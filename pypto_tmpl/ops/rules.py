"""The closed vocabulary in which the op table says what type a result has.

A rule is a name, optionally with the operands it looks at: ``broadcast`` or ``broadcast(lhs, rhs)``.
``A or B`` means A where the call gives it (an optional keyword or operand), else B. The name of an
operand or keyword of the op wins over a rule of the same name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
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
_TERM = re.compile(r"(?P<name>[A-Za-z_]\w*)(?:\((?P<arguments>[^()]*)\))?")


def resolve_result(entry: OpEntry) -> ResultSpec:
    """The result as its parts, a named rule written out; an unknown name raises KeyError."""
    return NAMED_RESULTS[entry.result] if isinstance(entry.result, str) else entry.result


def carries_region_of(entry: OpEntry) -> str | None:
    """The operand whose valid region the result has, or none when the region follows another rule."""
    valid = resolve_result(entry).valid
    return valid if valid in entry.operand_names else None


def unknown_terms(entry: OpEntry, part: str, rule: str) -> Iterator[str]:
    """What in ``rule`` is neither vocabulary of ``part`` nor an operand or keyword of the op."""
    names = {*entry.operand_names, *entry.kwarg_names}
    known = names.union(VOCABULARY[part], LITERALS.get(part, ()))
    for alternative in rule.split(" or "):
        term = _TERM.fullmatch(alternative.strip())
        if term is None:
            yield alternative
            continue
        if term["name"] not in known:
            yield term["name"]
        arguments = (term["arguments"] or "").split(",")
        yield from (word for text in arguments if (word := text.strip()) and word not in names)
