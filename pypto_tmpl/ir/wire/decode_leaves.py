"""Decoded MessagePack to values that hold no nodes."""

from __future__ import annotations

from typing import Any

from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.wire.errors import Fault, allowed, with_article, wrong_kind


def bool_of(raw: object) -> bool:
    if type(raw) is not bool:
        raise wrong_kind("a bool", raw)
    return raw


def int_of(raw: object, low: int = -(2**63), high: int = 2**63 - 1) -> int:
    if type(raw) is not int:
        raise wrong_kind("an integer", raw)
    if not low <= raw <= high:
        raise Fault("wire-out-of-range", f"{raw} is not in {low} .. {high}")
    return raw


def uint_of(raw: object) -> int:
    return int_of(raw, 0, 2**64 - 1)


def float_of(raw: object) -> float:
    """A number; writers turn an integral float into an integer."""
    if type(raw) is not float and type(raw) is not int:
        raise wrong_kind("a number", raw)
    return float(raw)


def str_of(raw: object) -> str:
    if type(raw) is not str:
        raise wrong_kind("a str", raw)
    return raw


def dtype_of(raw: object) -> DataType:
    """The element type of a code; codes that no constant names are representable too."""
    if type(raw) is not int:
        raise wrong_kind("a dtype code", raw)
    return DataType(int_of(raw, 0, 0xFF))


def member_by_code(base: Any, raw: object) -> Any:
    """The member of the enum ``base`` with an integer code."""
    if type(raw) is not int:
        raise wrong_kind(f"{with_article(base.__name__)} code", raw)
    found = base._value2member_map_.get(raw)
    if found is None:
        note = f"codes: {', '.join(f'{member.value} {member.name}' for member in base)}"
        raise Fault("wire-unknown-code", f"no {base.__name__} has the code {raw}", notes=[note])
    return found


def member_by_name(base: Any, raw: object) -> Any:
    """The member of the enum ``base`` with a name."""
    if type(raw) is not str:
        raise wrong_kind(f"the name of a {base.__name__}", raw)
    found = base.__members__.get(raw)
    if found is None:
        note = allowed("names", base.__members__, raw)
        raise Fault("wire-unknown-code", f"no {base.__name__} is named {raw!r}", notes=[note])
    return found
