"""Running compiled programs on the simulated platforms."""

from pypto_tmpl.runtime.config import RunConfig
from pypto_tmpl.runtime.execute import execute_compiled
from pypto_tmpl.runtime.options import KnobError, MultiCardError
from pypto_tmpl.runtime.platforms import PLATFORMS, HardwareNeededError, UnknownPlatformError

__all__ = [
    "PLATFORMS",
    "HardwareNeededError",
    "KnobError",
    "MultiCardError",
    "RunConfig",
    "UnknownPlatformError",
    "execute_compiled",
]
