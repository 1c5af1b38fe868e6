# Made from the op table by `pypto-tmpl ops stubs --write`.
from collections.abc import Sequence
from enum import Enum
from typing import Any, TypeAlias, overload

from pypto_tmpl.ir import DataType, MemorySpace
from pypto_tmpl.language.annotations import (
    AsyncEvent,
    AsyncSession,
    CommCtx,
    DistributedTensor,
    DynVar,
    PrefetchAsyncContext,
    Ptr,
    Scalar,
    Tensor,
    Tile,
)

_Tensor: TypeAlias = Tensor | DistributedTensor
_Scalar: TypeAlias = int | float | Scalar | DynVar | MemorySpace
_Extents: TypeAlias = Sequence[int | Scalar | DynVar]
_Handle: TypeAlias = CommCtx | PrefetchAsyncContext | AsyncEvent | AsyncSession

def alloc_window_buffer(size: _Scalar | _Extents, dtype: DataType | None = None) -> Ptr:
    """Allocate a buffer of one size on every rank of the communication domain."""

def get_comm_ctx(dist_tensor: _Tensor) -> CommCtx:
    """Handle of the communication context of a window."""

def nranks(ctx: _Handle) -> Any:
    """Number of ranks of the communication domain."""

def rank(ctx: _Handle) -> Any:
    """Own rank in the communication domain."""

def remote_load(
    target: _Tensor,
    peer: _Scalar,
    offsets: _Extents,
    shape: _Extents,
    valid_shape: _Extents | None = None,
    allow_physical_tail_padding: bool = False,
) -> Tile:
    """Part of a peer's window as a tile."""

@overload
def remote_store(
    src: _Tensor,
    target: _Tensor,
    peer: _Scalar,
    offsets: _Extents,
    *,
    atomic: int | str | Enum = ...,
) -> None:
    """Write or add a tensor to a peer's window."""

@overload
def remote_store(
    src_tile: Tile,
    target: _Tensor,
    peer: _Scalar,
    offsets: _Extents,
    *,
    atomic: int | str | Enum = ...,
) -> None:
    """Write or add the valid region of a tile to a peer's window."""

def window(buf: Ptr, shape: _Extents, *, dtype: DataType) -> DistributedTensor:
    """View of the local part of a window buffer as a distributed tensor."""

def world_size() -> Any:
    """Number of devices of the host program."""
