"""The filters that templates may use: few, pure and typed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from pypto_tmpl.codegen.float_literals import within
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.ir import DataType
from pypto_tmpl.ir.carriers import TORCH_NAMES

_SUM = re.compile(r"[\w.]+( ?(\+|-|\*|//|%) ?[\w.]+)*")


class FilterError(PyptoTmplError, ValueError):
    """A template passed a filter something it has no text for."""

    slug = "filter"


def py_literal(value: Any) -> str:
    """The Python literal of plain data, as black writes it; infinities and NaN as ``float("inf")``."""
    kind = type(value)
    if kind is int or kind is bool or value is None:
        return repr(value)
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if kind is float:
        return repr(value).replace("e+", "e")
    if isinstance(value, str):
        text = repr(str(value))
        return text if '"' in text else f'"{text[1:-1]}"'
    if isinstance(value, list | tuple):
        items = [py_literal(item) for item in value]
        if isinstance(value, list):
            return f"[{', '.join(items)}]"
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    raise FilterError(
        f"py_literal has no literal for a {type(value).__name__}",
        notes=("values: None, bool, int, float, str, and lists and tuples of them",),
    )


def torch_dtype(name: str) -> str:
    """The torch dtype of an upper-case dtype name: ``FP32`` gives ``torch.float32``."""
    found = TORCH_NAMES.get(name)
    if found is None:
        raise FilterError(f"torch has no dtype for {name!r}", notes=(f"dtypes: {', '.join(TORCH_NAMES)}",))
    return f"torch.{found}"


def cell_count(extents: Sequence[str]) -> int | None:
    """How many cells a box has, given the texts of its extents; None where not all are numbers."""
    return math.prod(map(int, extents)) if all(extent.isdigit() for extent in extents) else None


def bounded_in(literal: str, dtype_name: str | None) -> str:
    """The text of what a number beyond the largest of a float dtype is rounded to; else empty."""
    dtype = getattr(DataType, dtype_name or "", None)
    try:
        value = float(literal)
    except ValueError:  # no number, or an infinity already
        return ""
    number = within(value, dtype) if isinstance(dtype, DataType) else value
    return py_literal(number) if number != value else ""


def is_sum(text: str) -> bool:
    """Whether an operand of a sum may read so: names, numbers, products and sums, and what is in brackets."""
    return _SUM.fullmatch(text) is not None


def join(items: Iterable[object], between: str) -> str:
    """The texts of ``items`` with a text between them: Jinja's own looks for what must be escaped."""
    return between.join(map(str, items))


def indent(text: str, width: int, first: bool = False) -> str:
    """A text with blanks before each of its lines but empty ones, before the first if that is wanted.

    As Jinja's own, it ends every line in the same way.
    """
    margin = " " * width
    begin, *lines = (text + "\n").splitlines()
    if "" in lines:
        return (margin if first else "") + "\n".join([begin, *(line and margin + line for line in lines)])
    return (margin if first else "") + ("\n" + margin).join([begin, *lines])


FILTERS: Mapping[str, Callable[..., object]] = MappingProxyType(
    {
        "bounded_in": bounded_in,
        "cell_count": cell_count,
        "indent": indent,
        "is_sum": is_sum,
        "join": join,
        "py_literal": py_literal,
        "torch_dtype": torch_dtype,
    }
)
