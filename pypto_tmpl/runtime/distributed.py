"""The configuration of runs on several cards, which programs are written for but which cannot run here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pypto_tmpl.runtime.options import MultiCardError
from pypto_tmpl.runtime.refusals import Refused, with_members


@dataclass
class DistributedConfig:
    """The cards of a distributed program; a run with one is refused, as there is one simulated card.

    Raises ValueError for ids that are none, negative or not distinct.
    """

    device_ids: list[int] = field(default_factory=lambda: [0])
    num_sub_workers: int = 0
    runtime: str = "tensormap_and_ringbuffer"
    aicpu_thread_num: int = 0

    def __post_init__(self) -> None:
        ids = self.device_ids
        if not ids or len(set(ids)) != len(ids) or any(not isinstance(i, int) or i < 0 for i in ids):
            raise ValueError(f"device_ids must be distinct ints, 0 or more, at least one, got {ids!r}")


class _NeedsCards(Refused):
    """Can be imported and asked for in ``isinstance``, as files do that run on one card too; not made."""

    needs, instead, error = "drives several cards", "programs run on one simulated card", MultiCardError


@with_members("from_dir output_dir program platform prepare")
class DistributedCompiledProgram(_NeedsCards):
    """A compiled program of several cards, of which there is none here."""


@with_members(
    "malloc free committed_device_memory copy_to copy_from alloc_stacked_tensor free_stacked_tensor"
    " release_inherited_host_tensor_refs copy_stacked_from close submit run register"
)
class DistributedWorker(_NeedsCards):
    """Several cards to run on, of which there are none here."""


__all__ = ["TYPE_CHECKING", "DistributedCompiledProgram", "DistributedConfig", "DistributedWorker"]
