"""Running compiled programs on the simulated platforms."""

from typing import Any

from pypto_tmpl.faces import find_face
from pypto_tmpl.runtime.config import RunConfig
from pypto_tmpl.runtime.distributed import DistributedConfig
from pypto_tmpl.runtime.execute import execute_compiled
from pypto_tmpl.runtime.isa import pto_isa_include_dir
from pypto_tmpl.runtime.options import KnobError, MultiCardError
from pypto_tmpl.runtime.platforms import PLATFORMS, HardwareNeededError, UnknownPlatformError

__all__ = [
    "PLATFORMS",
    "DistributedConfig",
    "HardwareNeededError",
    "KnobError",
    "MultiCardError",
    "RunConfig",
    "UnknownPlatformError",
    "execute_compiled",
    "pto_isa_include_dir",
]


def __getattr__(name: str) -> Any:
    return find_face(__name__, name)
