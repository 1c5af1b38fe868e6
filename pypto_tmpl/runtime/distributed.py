"""The configuration of runs on several ranks."""

from __future__ import annotations

from dataclasses import dataclass, field

from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.execution.engines import check_engine


class DistributedConfigError(PyptoTmplError, ValueError):
    """A configuration that no ranks can run by; the text is PyPTO's."""

    slug = "distributed-config"

    def __str__(self) -> str:
        return self.without_slug()


@dataclass
class DistributedConfig:
    """The cards of a program of several ranks: rank r runs on the r-th of them.

    ``engine`` is how the ranks run, as ``threads`` or by ``mpi``; None leaves it to the process, which has
    threads until another one is chosen.
    Raises DistributedConfigError (a ValueError) for ids that are none, negative or not distinct, and for
    numbers that are too small; EngineError for an engine that there is not.
    """

    device_ids: list[int] = field(default_factory=lambda: [0])
    num_sub_workers: int = 0
    runtime: str = "tensormap_and_ringbuffer"
    aicpu_thread_num: int = 0
    engine: str | None = None

    def __post_init__(self) -> None:
        ids, name = self.device_ids, "DistributedConfig.device_ids"
        if not ids:
            raise DistributedConfigError(f"{name} must not be empty")
        if any(not isinstance(one, int) or one < 0 for one in ids):
            raise DistributedConfigError(f"{name} must be non-negative device indices, got {ids!r}")
        if len(set(ids)) != len(ids):
            raise DistributedConfigError(f"{name} must be distinct, got {ids!r}")
        if self.engine is not None:
            check_engine(self.engine)
        if self.num_sub_workers < 0:
            raise DistributedConfigError(
                f"DistributedConfig.num_sub_workers must be non-negative, got {self.num_sub_workers}"
            )
        if self.aicpu_thread_num != 0 and self.aicpu_thread_num < 2:
            raise DistributedConfigError(
                "DistributedConfig.aicpu_thread_num must be 0 (architecture default) or at least 2,"
                f" got {self.aicpu_thread_num}"
            )
