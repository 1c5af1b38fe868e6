"""Runs on several ranks (``pypto.runtime.distributed_runner``)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pypto_tmpl.compile.distributed import DistributedCompiledProgram
from pypto_tmpl.runtime.config import RunConfig
from pypto_tmpl.runtime.distributed import DistributedConfig
from pypto_tmpl.upstream.distributed_worker import DistributedRunHandle, DistributedWorker


def execute_distributed(
    compiled: DistributedCompiledProgram, coerced_args: Sequence[Any], config: RunConfig | None = None
) -> None:
    """Run a compiled program once, in place."""
    compiled(*coerced_args, config=config)


def execute_distributed_compiled(
    output_dir: str | os.PathLike[str],
    args: Sequence[Any],
    config: RunConfig | None = None,
    *,
    platform: str | None = None,
    distributed_config: DistributedConfig | None = None,
) -> Any:
    """Run the program of a build directory once, on the devices it was compiled for unless others are given.

    Returns the outputs that ``args`` leave out, None if they have all parameters. Raises ManifestError for a
    directory that is no build, and what a call of the program raises.
    """
    compiled = DistributedCompiledProgram.from_dir(output_dir, platform=platform)
    assert isinstance(compiled, DistributedCompiledProgram)
    return compiled.on_devices(distributed_config)(*args, config=config)


__all__ = [
    "TYPE_CHECKING",
    "DistributedRunHandle",
    "DistributedWorker",
    "execute_distributed",
    "execute_distributed_compiled",
]
