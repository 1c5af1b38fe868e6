"""Runs on several cards (``pypto.runtime.distributed_runner``), of which there is one simulated one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from pypto_tmpl.runtime.config import RunConfig
from pypto_tmpl.runtime.distributed import DistributedCompiledProgram, DistributedConfig, DistributedWorker
from pypto_tmpl.runtime.options import MultiCardError
from pypto_tmpl.runtime.refusals import Refused, with_members

_NOTE = "programs run on one simulated card"


@with_members("done result wait")
class DistributedRunHandle(Refused):
    """A run that goes on meanwhile."""

    needs, instead = "belongs to a run on several cards", _NOTE


def execute_distributed(
    compiled: DistributedCompiledProgram, coerced_args: Sequence[Any], config: RunConfig | None = None
) -> NoReturn:
    """Refused: there are no cards to run on."""
    raise MultiCardError("execute_distributed drives several cards", notes=[_NOTE])


def execute_distributed_compiled(
    output_dir: str | os.PathLike[str],
    args: Sequence[Any],
    config: RunConfig | None = None,
    *,
    platform: str | None = None,
    distributed_config: DistributedConfig | None = None,
) -> NoReturn:
    """Refused: there are no cards to run on."""
    raise MultiCardError("execute_distributed_compiled drives several cards", notes=[_NOTE])


__all__ = [
    "TYPE_CHECKING",
    "DistributedRunHandle",
    "DistributedWorker",
    "execute_distributed",
    "execute_distributed_compiled",
]
