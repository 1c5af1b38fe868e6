"""Transfers between cores: what the run-time of the pipes is told, and what a lane owns of a tile.

The calls run in block 3 of 7 on the second vector lane.
"""

from typing import Any

import torch
from ops.references.movement import numbers_of
from ops.references.registry import RuntimeCall, Shaped, reference


def told(method: str, **arguments: Any) -> RuntimeCall:
    """A call with those of the arguments that are given."""
    return RuntimeCall(method, {name: value for name, value in arguments.items() if value is not None})


@reference("tile.tpush_to_aiv", method="push_to_aiv")
@reference("tile.tpush_to_aic", method="push_to_aic")
def push(
    tile: Shaped,
    split: int,
    method: str,
    lane_stride: int | None = None,
    id: int | None = None,
    **ignored: Any,
) -> RuntimeCall:
    """The tile, how it is split, and its region unless that is the whole box; nobody writes to it later."""
    region = tile.valid if tile.valid != [*tile.data.shape] else None
    sent = {"tile": tile.data, "split": split, "lane_stride": lane_stride}
    return told(method, **sent, id=id, valid_shape=region, copy=False)


@reference("tile.tpop_from_aic", method="pop_from_aic")
@reference("tile.tpop_from_aiv", method="pop_from_aiv")
def pop(split: int, method: str, id: int | None = None, **ignored: Any) -> RuntimeCall:
    """How it is split, and the pipe's number."""
    return told(method, split=split, id=id)


@reference("system.tfree_to_aic", method="tfree_to_aic")
@reference("system.tfree_to_aiv", method="tfree_to_aiv")
def tfree(method: str, split: int | None = None, id: int | None = None, **ignored: Any) -> RuntimeCall:
    """The oldest tile of a pipe, hence its number but no tile."""
    return told(method, split=split, id=id)


@reference("system.aic_initialize_pipe", side="aic")
@reference("system.aiv_initialize_pipe", side="aiv")
def initialize_pipe(
    dir_mask: int,
    side: str,
    slot_num: int | None = None,
    local_slot_num: int | None = None,
    id: int | None = None,
    **ignored: Any,
) -> RuntimeCall:
    """Who declares, for which directions, and how many slots there are."""
    slots = {"slot_num": slot_num, "local_slot_num": local_slot_num}
    return told("initialize_pipe", side=side, dir_mask=dir_mask, **slots, id=id)


@reference("tile.aiv_shard", "tensor.aiv_shard")
def aiv_shard(
    split: int,
    tile: Shaped | None = None,
    tensor: Shaped | None = None,
    lane_stride: int | None = None,
    **ignored: Any,
) -> torch.Tensor:
    """The second lane's valid cells: those from the stride on, half the box by default."""
    source = tile or tensor
    assert source is not None
    numbers = numbers_of(source.data)[tuple(slice(0, extent) for extent in source.valid)]
    if split == 0:
        return numbers
    axis = (split - 1) % 2
    start = lane_stride or -(-source.data.shape[axis] // 2)
    return numbers.narrow(axis, start, numbers.shape[axis] - start)


@reference("tile.aic_gather", "tensor.aic_gather")
def aic_gather(
    split: int, tile: Shaped | None = None, tensor: Shaped | None = None, **ignored: Any
) -> torch.Tensor:
    """Both lanes bring the same here: it stands twice along the axis."""
    source = tile or tensor
    assert source is not None
    numbers = numbers_of(source.data)[tuple(slice(0, extent) for extent in source.valid)]
    return torch.cat([numbers, numbers], dim=split - 1) if split else numbers


@reference("tile.get_block_idx", "tensor.get_block_idx", index=3)
@reference("tile.get_block_num", "tensor.get_block_num", index=7)
@reference("tile.get_subblock_idx", "tensor.get_subblock_idx", index=1)
def launch_index(index: int, **ignored: Any) -> int:
    """Where the calls run."""
    return index


@reference("system.syncall")
def syncall(**ignored: Any) -> None:
    """Nothing to compute: of the warning the tests of the preamble tell."""
