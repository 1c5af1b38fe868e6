"""``pypto.runtime``'s descriptions of arguments; the harness has a ``ScalarSpec`` of its own."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

from pypto_tmpl.golden.spec import TensorSpec

SCALAR_CTYPE_MAP: dict[str, type[Any]] = {
    "int64": ctypes.c_int64,
    "int32": ctypes.c_int32,
    "uint64": ctypes.c_uint64,
    "uint32": ctypes.c_uint32,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
}


@dataclass
class ScalarSpec:
    """A scalar argument by the name of its C type; ValueError for another one."""

    name: str
    value: int | float
    ctype: str = "int64"

    def __post_init__(self) -> None:
        if self.ctype not in SCALAR_CTYPE_MAP:
            allowed = ", ".join(SCALAR_CTYPE_MAP)
            raise ValueError(f"ScalarSpec {self.name!r}: ctype is one of {allowed}, got {self.ctype!r}")


__all__ = ["SCALAR_CTYPE_MAP", "ScalarSpec", "TensorSpec"]
