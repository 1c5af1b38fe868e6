# Made from the op table by `pypto-tmpl ops stubs --write`.
from collections.abc import Sequence
from enum import Enum
from typing import Any, TypeAlias

from pypto_tmpl.ir import MemorySpace
from pypto_tmpl.language.annotations import (
    AsyncEvent,
    AsyncSession,
    CommCtx,
    DistributedTensor,
    DynVar,
    PrefetchAsyncContext,
    Scalar,
    Tensor,
)

_Tensor: TypeAlias = Tensor | DistributedTensor
_Scalar: TypeAlias = int | float | Scalar | DynVar | MemorySpace
_Extents: TypeAlias = Sequence[int | Scalar | DynVar]
_Handle: TypeAlias = CommCtx | PrefetchAsyncContext | AsyncEvent | AsyncSession

def defer_wait(signal: _Tensor, offsets: _Extents, expected: _Scalar, cmp: int | str | Enum) -> None:
    """Let the task complete only when a signal cell reaches a value; its body may end before."""

def get_comm_ctx(dist_tensor: _Tensor) -> CommCtx:
    """Handle of the communication context of a window."""

def notify(target: _Tensor, peer: _Scalar, offsets: _Extents, value: _Scalar, op: int | str | Enum) -> None:
    """Set or increment a signal cell of a peer."""

def nranks(ctx: _Handle) -> Any:
    """Number of ranks of the communication domain."""

def rank(ctx: _Handle) -> Any:
    """Own rank in the communication domain."""

def wait(signal: _Tensor, offsets: _Extents, expected: _Scalar, cmp: int | str | Enum) -> None:
    """Wait until a local signal cell equals or reaches a value."""

def world_size() -> Any:
    """Number of devices of the host program."""
