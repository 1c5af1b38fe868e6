"""Calls made up from the samples of the op table: rendered, executed and compared with the references.

A sample gives every operand: `FP32[8, 32] valid [5, 20]` is a tile or tensor of made-up numbers, poisoned
outside its region; a list is a tuple operand; anything else is a scalar literal.
"""

import math
import re
import zlib
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import torch
from ops.references import Shaped

from pypto_tmpl.codegen.environment import OpMacros, create_environment
from pypto_tmpl.codegen.operands import Constants, Operand, bind_attributes, bind_operands
from pypto_tmpl.codegen.preamble import load_preamble
from pypto_tmpl.ops import OpEntry, load_table
from pypto_tmpl.ops.typing.words import resolve_result

TABLE = load_table()
ENVIRONMENT = create_environment()
MACROS = OpMacros(TABLE, ENVIRONMENT)
DTYPES = {
    "BOOL": torch.bool, "INT4": torch.int8, "UINT4": torch.uint8,
    "INT8": torch.int8, "INT16": torch.int16, "INT32": torch.int32,
    "INT64": torch.int64, "INDEX": torch.int64, "TASK_ID": torch.int64,
    "UINT8": torch.uint8, "UINT16": torch.uint16, "UINT32": torch.uint32, "UINT64": torch.uint64,
    "FP16": torch.float16, "BF16": torch.bfloat16, "FP32": torch.float32,
    "FP8E4M3FN": torch.float8_e4m3fn, "FP8E5M2": torch.float8_e5m2, "FP8E8M0": torch.float8_e8m0fnu,
    "FP4": torch.float8_e4m3fn,  # of tiles
}  # fmt: skip
WIDTHS = {"FP32": 6, "BF16": 5, "FP16": 5, "INT64": 4, "UINT64": 4, "INT32": 3, "UINT32": 3}
WIDTHS |= {"INT16": 2, "UINT16": 2}
_TYPED = re.compile(r"(?P<dtype>[A-Z][A-Z0-9]+)\[(?P<shape>[^\]]*)\](?:\s+valid\s+\[(?P<valid>[^\]]*)\])?")


@dataclass(frozen=True)
class Typed:
    """A tile or tensor in a sample."""

    dtype: str
    shape: list[int]
    valid: list[int]


def parse(value: Any) -> Any:
    """A sample's value: Typed, a list, a Python number, or an Operand as it is."""
    if isinstance(value, Operand):
        return value
    if isinstance(value, str) and (typed := _TYPED.fullmatch(value)):
        shape = [int(extent) for extent in typed["shape"].split(",") if extent.strip()]
        valid = [int(extent) for extent in typed["valid"].split(",")] if typed["valid"] else shape
        return Typed(typed["dtype"], shape, valid)
    return eval(value, {"inf": math.inf}) if isinstance(value, str) else value


def operand(name: str, value: Any) -> Operand:
    """What the macro sees of a sample's value."""
    parsed = parse(value)
    if isinstance(parsed, Operand):
        return parsed
    if isinstance(parsed, Typed):
        items = [str(extent) for extent in parsed.valid] if parsed.valid != parsed.shape else None
        return Operand(
            name,
            dtype_name=parsed.dtype,
            shape=[str(extent) for extent in parsed.shape],
            valid=None if items is None else f"[{', '.join(items)}]",
            valid_items=items,
            memory="Vec",
        )
    if isinstance(parsed, list):
        return Operand(repr(parsed), items=[repr(item) for item in parsed])
    dtype = {bool: "BOOL", int: "INDEX", float: "FP32"}[type(parsed)]
    return Operand(str(value), dtype_name=dtype, is_literal=True)


def made_up(typed: Typed, seed: str, *, nonnegative: bool = False) -> Shaped:
    """Numbers that depend on the seed only; outside the region NaN or the largest integer."""
    generator = torch.Generator().manual_seed(zlib.crc32(seed.encode()))
    dtype = DTYPES[typed.dtype]
    if dtype == torch.bool:
        data = torch.randint(0, 2, typed.shape, generator=generator).bool()
    elif dtype.is_floating_point:
        data = (torch.randn(typed.shape, generator=generator) * 4).to(dtype)
        data = data.float().abs().to(dtype) if dtype == torch.float8_e8m0fnu else data  # powers of two
        if typed.dtype == "FP4":
            grid = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.5, -1, -1.5, -2, -3, -4, -6])
            data = grid[torch.randint(0, len(grid), typed.shape, generator=generator)].to(dtype)
        data = data.abs() + 0.25 if nonnegative else data
    else:
        info = torch.iinfo(dtype)
        if typed.dtype.endswith("INT4"):
            info = SimpleNamespace(
                min=0 if dtype == torch.uint8 else -8, max=15 if dtype == torch.uint8 else 7
            )
        lowest = 0 if nonnegative else max(info.min, -(2**40))
        data = torch.randint(lowest, min(info.max, 2**40) + 1, typed.shape, generator=generator).to(dtype)
    outside = torch.ones(typed.shape, dtype=torch.bool)
    outside[tuple(slice(0, extent) for extent in typed.valid)] = False
    poison = torch.nan if dtype.is_floating_point else True if dtype == torch.bool else torch.iinfo(dtype).max
    return Shaped(torch.where(outside, torch.full(typed.shape, poison, dtype=dtype), data), typed.valid)


def result_dtype(entry: OpEntry, values: dict[str, Any], keywords: dict[str, Any]) -> str | None:
    """The dtype name that the entry's rule gives for the sample's operands."""
    rule = resolve_result(entry).dtype or ""
    given = contributing(entry, values, rule)
    for word in rule.split(" or "):
        if word in keywords:
            return str(keywords[word])
        if isinstance(parse(values.get(word)), Typed):
            return str(parse(values[word]).dtype)
        if word in DTYPES:
            return word
    if rule == "moved":
        moved = str(parse(values["tile"]).dtype)
        is_scale = moved == "UINT8" and keywords["target_memory"].endswith("Scale")
        return "FP8E8M0" if is_scale else moved
    shaped = [value.dtype for value in given.values() if isinstance(value, Typed)]
    if "promote" in rule:
        scalars = ["FP32" for value in given.values() if isinstance(value, float)]
        return max([*shaped, *scalars], key=lambda name: WIDTHS.get(name, 1))
    if rule.startswith("accumulate"):
        return "FP32" if DTYPES[shaped[0]].is_floating_point else "INT32"
    if rule == "float_or_fp32":
        return shaped[0] if DTYPES[shaped[0]].is_floating_point else "FP32"
    return None


def result_shape(entry: OpEntry, values: dict[str, Any]) -> list[int]:
    """The shape that the entry's rule gives for the sample's operands, empty where none is told here."""
    rule = resolve_result(entry).shape or ""
    if isinstance(parse(values.get(rule)), Typed):
        return list(parse(values[rule]).shape)
    if rule.startswith("broadcast"):
        given = contributing(entry, values, rule).values()
        return [*torch.broadcast_shapes(*(value.shape for value in given if isinstance(value, Typed)))]
    if rule == "argument" and "shape" in values:
        return list(parse(values["shape"]))
    if rule == "matmul" and not entry.kwargs and len(parse(values["lhs"]).shape) > 1:
        left, right = parse(values["lhs"]).shape, parse(values["rhs"]).shape
        return [*torch.broadcast_shapes(left[:-2], right[:-2]), left[-2], right[-1]]
    if entry.name.endswith((".gemv", ".gemv_bias")):
        return [16, parse(values["rhs"]).shape[-1]]
    return list(parse(values["shapes"])) if "shapes" in values else []


def contributing(entry: OpEntry, values: dict[str, Any], rule: str) -> dict[str, Any]:
    """The operands that a rule looks at: those in parentheses, else all but workspaces."""
    words = re.findall(r"\w+", rule.partition("(")[2])
    names = words or [operand.name for operand in entry.operands if not operand.scratch]
    return {name: parse(values[name]) for name in names if name in values}


def emit(
    op: str,
    sample: dict[str, Any],
    *,
    in_kernel: bool | None = None,
    macro_of: str | None = None,
    is_written: bool = False,
    **facts: Any,
) -> str:
    """The text that the op's macro, or that of another op with its constants, makes of a sample.

    Where the result ``is_written`` into a tile, that is the text of this, or nothing.
    """
    entry = TABLE[op]
    values = {name: value for name, value in sample.items() if name in entry.operand_names}
    keywords = {name: value for name, value in sample.items() if name in entry.kwarg_names}
    operands = [operand(name, values[name]) if name in values else None for name in entry.operand_names]
    shape = facts.pop("result_shape", None) or result_shape(entry, values)
    dtype = facts.pop("result_dtype", None) or result_dtype(entry, values, keywords)
    region_of = values.get(resolve_result(entry).valid or "")
    region = operand("", region_of) if region_of is not None else Operand("")
    result = Operand(
        "",
        dtype_name=dtype,
        shape=[str(extent) for extent in shape],
        valid=region.valid,
        valid_items=region.valid_items,
    )
    is_kernel = entry.namespace == "tile" if in_kernel is None else in_kernel
    attributes = bind_attributes(entry, keywords, result=result, in_kernel=is_kernel, **facts)
    bound = bind_operands(entry, operands)
    if macro_of is None:
        return (MACROS.into if is_written else MACROS.call)(entry, bound, attributes)
    other = TABLE[macro_of]
    template = ENVIRONMENT.get_template(f"ops/{TABLE.family_of(macro_of)}.py.jinja")
    constants = Constants(macro_of, other.constants)
    return str(getattr(template.module, str(other.emit))(bound, attributes, constants)).strip()


def run(text: str, arguments: dict[str, torch.Tensor]) -> Any:
    """The value of an emitted expression, with the helpers that it names."""
    preamble = load_preamble()
    selection = preamble.closure(preamble.names_in(text))
    modules = sorted({*selection.imports, "torch"})
    script = "\n".join([*(f"import {module}" for module in modules), *selection.segments])
    namespace: dict[str, Any] = {}
    exec(script, namespace)
    return eval(text, {**namespace, **arguments})
