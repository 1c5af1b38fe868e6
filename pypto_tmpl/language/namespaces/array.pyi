# Made from the op table by `pypto-tmpl ops stubs --write`.
from typing import Any, TypeAlias

from pypto_tmpl.ir import DataType, MemorySpace
from pypto_tmpl.language.annotations import Array, DynVar, Scalar

_Scalar: TypeAlias = int | float | Scalar | DynVar | MemorySpace

def create(extent: _Scalar, dtype: DataType) -> Array:
    """An array of scalars in local memory."""

def get_element(array: Array, index: _Scalar) -> Any:
    """One element of an array."""

def update_element(array: Array, index: _Scalar, value: _Scalar) -> Array:
    """Set one element of an array; yields the array."""
