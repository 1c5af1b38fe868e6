"""Running compiled programs on the simulated platforms."""

from importlib import import_module
from typing import Any

from pypto_tmpl.runtime.config import RunConfig
from pypto_tmpl.runtime.distributed import DistributedConfig, DistributedWorker
from pypto_tmpl.runtime.execute import execute_compiled
from pypto_tmpl.runtime.isa import pto_isa_include_dir
from pypto_tmpl.runtime.options import KnobError, MultiCardError
from pypto_tmpl.runtime.platforms import PLATFORMS, HardwareNeededError, UnknownPlatformError

__all__ = [
    "PLATFORMS",
    "DistributedConfig",
    "DistributedWorker",
    "HardwareNeededError",
    "KnobError",
    "MultiCardError",
    "RunConfig",
    "UnknownPlatformError",
    "execute_compiled",
    "pto_isa_include_dir",
]


def __getattr__(name: str) -> Any:
    """What upstream has here and is built on top, imported when it is asked for.

    ``run``, and ``TensorSpec``, which is the harness's own.
    """
    if name == "run":
        return import_module("pypto_tmpl.compile.api").run
    if name == "TensorSpec":
        return import_module("pypto_tmpl.golden.spec").TensorSpec
    raise AttributeError(f"module 'pypto_tmpl.runtime' has no attribute {name!r}")
