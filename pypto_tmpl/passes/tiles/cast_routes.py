"""How a dtype is converted to another by instructions that the hardware has."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendFacts
from pypto_tmpl.ir.dtypes import DATA_TYPES

_FLOATS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "FP32": (24, 8),
        "FP16": (11, 5),
        "BF16": (8, 8),
        "FP8E4M3FN": (4, 4),
        "FP8E5M2": (3, 5),
        "HF8": (4, 4),
        "FP4": (2, 2),
    }
)
"""Bits of the significand and of the exponent."""
_NEXT_FLOAT: Mapping[int, str] = MappingProxyType({32: "FP32", 16: "FP16"})
"""The float that an integer of so many bits becomes at no cost."""


def cast_route(backend: BackendFacts, source: ir.DataType, target: ir.DataType) -> list[ir.DataType] | None:
    """The dtypes that a value has one after another, ``target`` the last; None where there is no way.

    The shortest way; of those the cheapest, of those the first in the order of the backend's table. A dtype
    that holds fewer values than the target is no station. No instruction converts a dtype to itself.
    """
    if source == target:
        return None
    ways: dict[str, tuple[int, list[str]]] = {source.name: (0, [])}
    last = [source.name]
    while last and target.name not in ways:
        found: dict[str, tuple[int, list[str]]] = {}
        for name in last:
            cost, way = ways[name]
            for following in _neighbours(backend, name):
                if following in ways or (following != target.name and _loses(following, target)):
                    continue
                total = cost + _cost(name, following)
                if following not in found or total < found[following][0]:
                    found[following] = (total, [*way, following])
        ways |= found
        last = list(found)
    return [DATA_TYPES[name] for name in ways[target.name][1]] if target.name in ways else None


def _neighbours(backend: BackendFacts, name: str) -> list[str]:
    found = list(backend.casts.get(name, ()))
    nearest = _NEXT_FLOAT.get(DATA_TYPES[name].get_bit())
    if nearest in found:
        place = found.index(nearest)
        found[0], found[place] = found[place], found[0]
    return found


def _cost(source: str, target: str) -> int:
    before, after = DATA_TYPES[source], DATA_TYPES[target]
    if not after.is_float():
        return 2
    if before.is_float():
        return 1
    return 0 if before.get_bit() == after.get_bit() else 2


def _loses(station: str, target: ir.DataType) -> bool:
    """Whether ``station`` cannot hold all that ``target`` can."""
    dtype = DATA_TYPES[station]
    if target.is_float():
        if not dtype.is_float():
            return True
        have, need = _FLOATS.get(station, (0, 0)), _FLOATS.get(target.name, (0, 0))
        return have[0] < need[0] or have[1] < need[1]
    if dtype.is_float():
        return _FLOATS.get(station, (0, 0))[0] < _value_bits(target)
    return (dtype.is_unsigned_int() and not target.is_unsigned_int()) or _value_bits(dtype) < _value_bits(
        target
    )


def _value_bits(dtype: ir.DataType) -> int:
    return dtype.get_bit() - (0 if dtype.is_unsigned_int() else 1)
