"""When two Python values make the same program: equal is not enough, since 0.0 equals -0.0, and 1 True."""

from __future__ import annotations

import struct
from collections.abc import Hashable
from enum import Enum
from types import MethodType

from pypto_tmpl.ir import DataType


def identity_of(value: object) -> Hashable:
    """What is equal for values that a text would take over alike: by bits and by type.

    Containers count by what they hold now, since they may change. Anything else counts as the object that
    it is: keep ``value`` alive for as long as what is returned is compared.
    """
    return _identity(value, ())


def _identity(value: object, around: tuple[int, ...]) -> Hashable:
    kind = type(value)
    if isinstance(value, Enum) or value is None:
        return kind, id(value)
    if isinstance(value, float):
        return kind, struct.pack("<d", value)
    if isinstance(value, (bool, int, str, DataType)):
        return kind, value
    if isinstance(value, MethodType):  # made anew whenever it is looked up
        return kind, id(value.__self__), id(value.__func__)
    if not isinstance(value, (list, tuple, dict)) or id(value) in around:
        return kind, id(value)
    inner = (*around, id(value))
    if isinstance(value, dict):
        pairs = ((_identity(key, inner), _identity(item, inner)) for key, item in value.items())
        return kind, tuple(pairs)
    return kind, tuple(_identity(item, inner) for item in value)
