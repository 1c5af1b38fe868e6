# Made from the op table by `pypto-tmpl ops stubs --write`.
from collections.abc import Sequence
from enum import Enum
from typing import TypeAlias

from pypto_tmpl.ir import MemorySpace
from pypto_tmpl.language.annotations import DistributedTensor, DynVar, Scalar, Tensor, Tile

_Tensor: TypeAlias = Tensor | DistributedTensor
_Scalar: TypeAlias = int | float | Scalar | DynVar | MemorySpace
_Extents: TypeAlias = Sequence[int | Scalar | DynVar]

def get(
    dst: _Tensor,
    peer: _Scalar,
    src: _Tensor,
    stage: Tile,
    stage2: Tile | None = None,
    *,
    dst_offsets: _Extents | None = None,
    src_offsets: _Extents | None = None,
    shape: _Extents | None = None,
) -> None:
    """Copy a region of a peer's window to a local tensor through staging tiles."""

def put(
    dst: _Tensor,
    peer: _Scalar,
    src: _Tensor,
    stage: Tile,
    stage2: Tile | None = None,
    *,
    dst_offsets: _Extents | None = None,
    src_offsets: _Extents | None = None,
    shape: _Extents | None = None,
    atomic: int | str | Enum = ...,
) -> None:
    """Copy or add a region of a local tensor to a peer's window through staging tiles."""

def remote_load(
    target: _Tensor,
    peer: _Scalar,
    offsets: _Extents,
    shape: _Extents,
    valid_shape: _Extents | None = None,
    allow_physical_tail_padding: bool = False,
) -> Tile:
    """Part of a peer's window as a tile."""

def remote_store(
    src_tile: Tile,
    target: _Tensor,
    peer: _Scalar,
    offsets: _Extents,
    *,
    atomic: int | str | Enum = ...,
) -> None:
    """Write or add the valid region of a tile to a peer's window."""
