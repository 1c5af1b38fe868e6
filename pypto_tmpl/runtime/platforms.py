"""The platforms a program is compiled for and run on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from pypto_tmpl.errors import PyptoTmplError


class UnknownPlatformError(PyptoTmplError, ValueError):
    """A platform name that does not exist."""

    slug = "platform"


class HardwareNeededError(PyptoTmplError, RuntimeError):
    """The platform is a device; programs run here on the simulated platforms only."""

    slug = "hardware-needed"


@dataclass(frozen=True, slots=True)
class Platform:
    """A platform: its name and the backend that programs are compiled for."""

    name: str
    backend: str

    @property
    def is_simulated(self) -> bool:
        return self.name.endswith("sim")

    @property
    def simulated_name(self) -> str:
        """Name of the platform that simulates this one."""
        return self.name if self.is_simulated else f"{self.name}sim"


PLATFORMS: Mapping[str, Platform] = MappingProxyType(
    {
        name: Platform(name, backend)
        for name, backend in (
            ("a2a3", "Ascend910B"),
            ("a2a3sim", "Ascend910B"),
            ("a5", "Ascend950"),
            ("a5sim", "Ascend950"),
        )
    }
)
DEFAULT_PLATFORM = "a2a3sim"


def find_platform(name: object) -> Platform:
    """The platform of that name. Raises UnknownPlatformError naming those that exist."""
    found = PLATFORMS.get(name) if isinstance(name, str) else None
    if found is None:
        raise UnknownPlatformError(f"Unknown runtime platform {name!r}; expected one of {sorted(PLATFORMS)}")
    return found


def check_platform(name: object) -> None:
    """Raise ValueError for a platform that a compilation does not know, in PyPTO's words."""
    if name not in PLATFORMS:
        raise ValueError(f"Invalid platform {name!r}. Expected 'a2a3sim', 'a2a3', 'a5sim', or 'a5'.")


def simulator_of(backend: str) -> Platform:
    """The simulated platform of a backend."""
    return next(p for p in PLATFORMS.values() if p.backend == backend and p.is_simulated)


def require_simulated(platform: Platform) -> None:
    """Raise HardwareNeededError for a platform that is a device, naming the one that simulates it."""
    if not platform.is_simulated:
        raise HardwareNeededError(
            f"platform {platform.name!r} needs a real Ascend NPU, which is not driven from here",
            notes=[f"run on its simulated platform instead: {platform.simulated_name!r}"],
        )
