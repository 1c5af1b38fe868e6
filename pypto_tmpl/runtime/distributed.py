"""The configuration of runs on several cards, which programs are written for but which cannot run here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NoReturn

from pypto_tmpl.runtime.options import MultiCardError


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


class _NeedsCards:
    """Can be imported and asked for in ``isinstance``, as files do that run on one card too; not made."""

    def __init__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise MultiCardError(
            f"{type(self).__name__} drives several cards", notes=["programs run on one simulated card"]
        )


class DistributedCompiledProgram(_NeedsCards):
    """A compiled program of several cards, of which there is none here."""


class DistributedWorker(_NeedsCards):
    """A session on several cards, of which there is none here."""
