# Made from the op table by `pypto-tmpl ops stubs --write`.
from collections.abc import Sequence
from enum import Enum
from typing import Any, TypeAlias

from pypto_tmpl.ir import DataType, MemorySpace
from pypto_tmpl.language.annotations import DistributedTensor, DynVar, Scalar, Tensor, Tile

_Tensor: TypeAlias = Tensor | DistributedTensor
_Scalar: TypeAlias = int | float | Scalar | DynVar | MemorySpace
_Extents: TypeAlias = Sequence[int | Scalar | DynVar]

def aic_initialize_pipe(
    c2v_consumer_buf: _Scalar = 0,
    v2c_consumer_buf: _Scalar = 0,
    *,
    dir_mask: int | Enum,
    slot_size: int | Enum,
    slot_num: int | Enum | None = None,
    local_slot_num: int | Enum | None = None,
    id: int | Enum | None = None,
) -> None:
    """Set up the cube end of a pipe; its slots count where pipes are bounded."""

def aiv_initialize_pipe(
    c2v_consumer_buf: _Scalar = 0,
    v2c_consumer_buf: _Scalar = 0,
    *,
    dir_mask: int | Enum,
    slot_size: int | Enum,
    slot_num: int | Enum | None = None,
    local_slot_num: int | Enum | None = None,
    id: int | Enum | None = None,
) -> None:
    """Set up the vector end of a pipe; its slots count where pipes are bounded."""

def available_aiv_count() -> Any:
    """Number of stand-alone vector cores of the device, a launch width; always the same number here."""

def available_cluster_count() -> Any:
    """Number of cube clusters of the device, a launch width; always the same number here."""

def bar_all() -> None:
    """Barrier of all pipes of the core; no effect on values."""

def bar_m() -> None:
    """Barrier of the matrix pipe; no effect on values."""

def bar_v() -> None:
    """Barrier of the vector pipe; no effect on values."""

def cacheinvalid(
    tensor: _Tensor | None = None,
    shapes: _Extents | None = None,
    offsets: _Extents | None = None,
) -> None:
    """Invalidate cached global memory, all of it or one line of a view; no effect on values."""

def fence() -> None:
    """Fence of global memory; no effect on values."""

def import_peer_buffer(name: str, peer_func: str) -> Any:
    """Address of the buffer that the peer function reserved; it has no meaning here."""

def reserve_buffer(name: str, size: int | Enum, base: int | Enum = -1) -> Any:
    """Reserve a named on-chip buffer; its address has no meaning here."""

def set_ffts(workspace: _Tensor) -> None:
    """Declare the workspace of the cross-core event unit; no effect on values."""

def sync_dst(set_pipe: int | str | Enum, wait_pipe: int | str | Enum, event_id: int | Enum) -> None:
    """Let a pipe of the core wait for an event of another; no effect on values."""

def sync_set(
    event_id: _Scalar,
    *,
    pipe: int | str | Enum,
    ffts_mode: int | Enum | None = None,
    core_type: str | None = None,
) -> None:
    """Set a cross-core event; no effect on values."""

def sync_src(set_pipe: int | str | Enum, wait_pipe: int | str | Enum, event_id: int | Enum) -> None:
    """Raise an event from one pipe of the core to another; no effect on values."""

def sync_wait(event_id: _Scalar, *, pipe: int | str | Enum, core_type: str | None = None) -> None:
    """Wait for a cross-core event; no effect on values."""

def syncall(
    *,
    core_type: str = ...,
    mode: str = ...,
    gm_workspace: _Tensor | None = None,
    used_cores: _Scalar | None = None,
) -> None:
    """Barrier over all cores that take part; warns in a launch of several blocks."""

def task_dummy(*, deps: Sequence[Any] | None = None) -> Any:
    """Submit an empty task that only carries dependencies; yields a valid task id."""

def task_invalid() -> Any:
    """The invalid task id, the absent entry of a list of dependencies."""

def task_is_valid(task_id: _Scalar) -> Any:
    """Whether a task id is not the invalid one."""

def tfree_to_aic(tile: Tile, split: int | Enum | None = None, id: int | Enum | None = None) -> None:
    """Give a popped tile's slot back to the cube core, which counts where pipes are bounded."""

def tfree_to_aiv(tile: Tile, split: int | Enum | None = None, id: int | Enum | None = None) -> None:
    """Give a popped tile's slot back to the vector core, which counts where pipes are bounded."""

def tpop_from_aic(
    *,
    shape: _Extents | None = None,
    dtype: DataType | None = None,
    split: int | Enum = 0,
    lane_stride: int | Enum | None = None,
    id: int | Enum | None = None,
) -> Tile:
    """Next tile that the cube core sent to this lane; waits for it."""

def tpop_from_aiv(
    *,
    shape: _Extents | None = None,
    dtype: DataType | None = None,
    split: int | Enum = 0,
    id: int | Enum | None = None,
) -> Tile:
    """Next tile that the vector core sent, the parts of both lanes joined; waits for it."""

def tpush_to_aic(tile: Tile, split: int | Enum, id: int | Enum | None = None) -> None:
    """Send a tile to the cube core; with a split it gets the parts of both lanes joined."""

def tpush_to_aiv(
    tile: Tile,
    split: int | Enum,
    lane_stride: int | Enum | None = None,
    id: int | Enum | None = None,
) -> None:
    """Send a tile to the vector core; with a split each lane gets its part."""
