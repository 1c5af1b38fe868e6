# Made from the op table by `pypto-tmpl ops stubs --write`.
from collections.abc import Sequence
from enum import Enum
from typing import TypeAlias

from pypto_tmpl.ir import DataType, MemorySpace
from pypto_tmpl.language.annotations import DistributedTensor, DynVar, Ptr, Scalar, Tensor

_Tensor: TypeAlias = Tensor | DistributedTensor
_Scalar: TypeAlias = int | float | Scalar | DynVar | MemorySpace
_Extents: TypeAlias = Sequence[int | Scalar | DynVar]

def all_to_all(input: _Tensor, target: _Tensor, signal: _Tensor) -> DistributedTensor:
    """Rank r gets row r of the input of every rank q, in row q."""

def all_to_all_v(
    input: _Tensor,
    target: _Tensor,
    signal: _Tensor,
    send_counts: _Tensor,
    recv_counts: _Tensor,
) -> DistributedTensor:
    """Rank r gets block r of the input of every rank, and how many of its rows count."""

def allgather(local_data: _Tensor, target: _Tensor, signal: _Tensor) -> DistributedTensor:
    """Every rank gets the inputs of all ranks, that of rank r in row r."""

def alloc_window_buffer(size: _Scalar | _Extents, dtype: DataType | None = None) -> Ptr:
    """Allocate a buffer of one size on every rank of the communication domain."""

def allreduce(
    target: _Tensor,
    signal: _Tensor | None = None,
    op: int | str | Enum = ...,
    *,
    mode: str = ...,
    core_num: int | Enum = 1,
) -> DistributedTensor:
    """Reduce a window over all ranks, element by element; every rank gets the result."""

def barrier(signal: _Tensor) -> DistributedTensor:
    """Wait until every rank has reached the call."""

def broadcast(target: _Tensor, signal: _Tensor, root: int | Enum) -> DistributedTensor:
    """Every rank gets the window of the root rank."""

def get(
    dst: _Tensor,
    peer: _Scalar,
    src: _Tensor,
    dst_offsets: _Extents | None = None,
    src_offsets: _Extents | None = None,
    shape: _Extents | None = None,
    chunk_rows: int | Enum = 0,
    chunk_cols: int | Enum = 0,
    pipeline: bool = False,
) -> None:
    """Copy a region of a peer's window to a local tensor."""

def put(
    dst: _Tensor,
    peer: _Scalar,
    src: _Tensor,
    dst_offsets: _Extents | None = None,
    src_offsets: _Extents | None = None,
    shape: _Extents | None = None,
    atomic: int | str | Enum = ...,
    chunk_rows: int | Enum = 0,
    chunk_cols: int | Enum = 0,
    pipeline: bool = False,
) -> None:
    """Copy or add a region of a local tensor to a peer's window."""

def reduce_scatter(target: _Tensor, signal: _Tensor, op: int | str | Enum = ...) -> DistributedTensor:
    """Rank r gets row r summed over all ranks, in row r."""

def remote_store(
    src: _Tensor,
    target: _Tensor,
    peer: _Scalar,
    offsets: _Extents,
    *,
    atomic: int | str | Enum = ...,
) -> None:
    """Write or add a tensor to a peer's window."""

def window(buf: Ptr, shape: _Extents, *, dtype: DataType) -> DistributedTensor:
    """View of the local part of a window buffer as a distributed tensor."""
