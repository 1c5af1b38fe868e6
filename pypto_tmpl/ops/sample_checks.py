"""What a sample may say: tiles and tensors as ``FP32[16, 32] valid [8, 20]``, scalars as Python text."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import Any, get_args

from pypto_tmpl.errors import allowed_note
from pypto_tmpl.ops import model

KeyPath = tuple[str | int, ...]
Found = Iterator[tuple[str, str, KeyPath, str]]  # slug, what, place, note
_TYPED = re.compile(r"(?P<dtype>\w+)\[(?P<shape>[\d, ]*)\](?:\s+valid\s+\[(?P<valid>[\d, ]*)\])?")
_SHAPED = {"tile", "tensor", "array"}
_FORM = "expected: DTYPE[extents], or with a smaller region, as in `FP32[16, 32] valid [8, 20]`"


def typed_value(value: Any) -> tuple[str, list[int], list[int]] | None:
    """Dtype, extents and valid region of a tile, tensor or array in a sample; None for another value."""
    typed = _TYPED.fullmatch(value) if isinstance(value, str) else None
    if typed is None:
        return None
    shape = _extents(typed["shape"]) or []
    return typed["dtype"], shape, shape if typed["valid"] is None else _extents(typed["valid"]) or []


def sample_problems(entry: model.OpEntry, members: Callable[[str], tuple[str, ...]]) -> Found:
    """Values that mean nothing, and what a sample lacks; ``members`` are those of a keyword's type."""
    for part in ("samples", "error_samples"):
        for index, sample in enumerate(getattr(entry, part)):
            for name, value in sample.items():
                for what, note in _value_problems(entry, name, value, part, members):
                    yield "sample-value", f"{part}[{index}].{name}: {what}", (part, index, name), note
            if part == "samples":
                yield from _missing(entry, sample, index)


def _missing(entry: model.OpEntry, sample: model.Sample, index: int) -> Found:
    needed = [o.name for o in entry.operands if not (o.optional or o.scratch)]
    needed += [kwarg.name for kwarg in entry.kwargs if kwarg.required]
    for name in needed:
        if name not in sample:
            what = f"samples[{index}] does not give {name!r}"
            yield "sample-value", what, ("samples", index), f"needed: {', '.join(needed)}"


def _value_problems(
    entry: model.OpEntry, name: str, value: Any, part: str, members: Callable[[str], tuple[str, ...]]
) -> Iterator[tuple[str, str]]:
    operand = next((operand for operand in entry.operands if operand.name == name), None)
    if operand is not None:
        yield from _operand_problems(operand, value, part)
    kwarg = next((kwarg for kwarg in entry.kwargs if kwarg.name == name), None)
    if kwarg is not None and part == "samples" and not _fits(kwarg, value, members):
        known = members(kwarg.type) or tuple(kwarg.values)
        note = f"expected: a value of type {kwarg.type}"
        note = allowed_note(kwarg.type, known, str(value)) if known else note
        yield f"{value!r} is no value of the keyword", note


def _fits(kwarg: model.KwargSpec, value: Any, members: Callable[[str], tuple[str, ...]]) -> bool:
    if known := members(kwarg.type):
        return value in known
    if kwarg.values and isinstance(value, str):
        return value in kwarg.values
    if kwarg.type == "str":
        return isinstance(value, str)
    if kwarg.type == "bool":
        return isinstance(value, bool)
    numbers = (int, float) if kwarg.type == "float" else (int,)
    return isinstance(value, numbers) and not isinstance(value, bool)


def _operand_problems(operand: model.OperandSpec, value: Any, part: str) -> Iterator[tuple[str, str]]:
    kinds = set(operand.kinds)
    if isinstance(value, list):
        if not kinds & {"tuple", "any"}:
            yield f"a list, but the operand is a {' or a '.join(operand.kinds)}", _FORM
        return
    if not isinstance(value, str):
        if kinds <= _SHAPED or not isinstance(value, bool | int | float):
            yield f"{value!r} is no {' and no '.join(operand.kinds)}", _FORM
        return
    typed = _TYPED.fullmatch(value)
    if typed is not None:
        yield from _typed_problems(typed, operand, part)
    elif kinds <= _SHAPED or "[" in value:
        yield f"{value!r} is no {' and no '.join(operand.kinds)}", _FORM
    elif not _is_literal(value):
        yield f"{value!r} is no Python value", "expected: a number, True, False or None"


def _typed_problems(typed: re.Match[str], operand: model.OperandSpec, part: str) -> Iterator[tuple[str, str]]:
    if not set(operand.kinds) & (_SHAPED | {"any", "ptr", "handle"}):
        yield f"{typed[0]!r} has a shape, but the operand is a {' or a '.join(operand.kinds)}", _FORM
    dtypes = get_args(model.DTypeName)
    if typed["dtype"] not in dtypes:
        yield f"there is no dtype {typed['dtype']!r}", allowed_note("dtypes", dtypes, typed["dtype"])
    elif part == "samples" and operand.dtype not in (None, typed["dtype"]):
        yield f"{typed['dtype']} is not the operand's dtype", f"expected: {operand.dtype}"
    shape, valid = (_extents(typed[part] or "") for part in ("shape", "valid"))
    if shape is None or valid is None:
        yield f"{typed[0]!r} has extents that are no numbers", _FORM
    elif typed["valid"] is not None and (
        len(valid) != len(shape) or any(part > whole for part, whole in zip(valid, shape, strict=True))
    ):
        yield f"the region {valid} does not lie in the shape {shape}", _FORM


def _extents(text: str) -> list[int] | None:
    items = [item.strip() for item in text.split(",")] if text.strip() else []
    return [int(item) for item in items] if all(item.isdecimal() for item in items) else None


def _is_literal(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return text in ("inf", "-inf")
    return True
