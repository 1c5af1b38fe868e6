"""``RunConfig``: what a run is configured by, in upstream's fields."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any, TypeVar

from pypto_tmpl.errors import allowed_note, warn_caller
from pypto_tmpl.runtime.dfx import (
    DFX_FLAGS,
    OLD_DFX_FLAGS,
    SWIMLANE_WARNING,
    current_names,
    dump_level,
    pmu_event,
    swimlane_level,
)
from pypto_tmpl.runtime.platforms import DEFAULT_PLATFORM, PLATFORMS, check_platform

_Config = TypeVar("_Config")
_RINGS = 4  # a ring option may be given for each of the run time's rings
_RING_LIMITS: dict[str, tuple[int, bool]] = {  # lowest value, power of two
    "ring_task_window": (4, True),
    "ring_heap": (1024, True),
    "ring_dep_pool": (4, False),
}


def _accept_old_names(cls: type[_Config]) -> type[_Config]:
    """Let the constructor take the first generation's flag names, which are no fields of their own.

    (As fields they would fight ``dataclasses.replace``, which passes on the values of all fields.)
    """
    original: Callable[..., None] = cls.__init__

    @wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        known = {field.name for field in fields(self)}
        unknown = [name for name in kwargs if name not in known and name not in OLD_DFX_FLAGS]
        if unknown:
            note = allowed_note("fields", sorted(known), unknown[0])
            raise TypeError(f"RunConfig has no field {unknown[0]!r}; {note}")
        if any(name in OLD_DFX_FLAGS for name in kwargs):
            kwargs = current_names(kwargs, warn_when_off=True)
        original(self, *args, **kwargs)

    cls.__init__ = __init__  # type: ignore[method-assign]
    return cls


@_accept_old_names
@dataclass
class RunConfig:
    """How a program is compiled and run; the backend follows from the platform.

    ``stage`` is the stage of the passes that is executed, None for the last one. Levels are integers:
    ``enable_chip_swimlane`` 0 to 4 (True means 4), ``enable_dump_args`` 0 to 3, ``enable_pmu`` an event
    group. The constructor also takes ``enable_l2_swimlane``, ``enable_dump_tensor`` and
    ``runtime_profiling``, the older names.

    Raises: ValueError for an unknown platform, a level or ring value out of range, two names of one flag;
    TypeError for an unknown field and for levels that are no integers.
    """

    platform: str = DEFAULT_PLATFORM
    device_id: int = 0
    rtol: float = 1e-5
    atol: float = 1e-5
    strategy: Any = None
    backend_type: Any = None
    dump_passes: Any = False
    save_kernels: bool = False
    save_kernels_dir: str | None = None
    codegen_only: bool = False
    enable_chip_swimlane: int = 0
    enable_dump_args: int = 0
    enable_pmu: int = 0
    enable_dep_gen: bool = False
    enable_scope_stats: bool = False
    compile_profiling: bool = False
    diagnostic_phase: Any = None
    disabled_diagnostics: Any = None
    golden_data_dir: str | None = None
    aicpu_thread_num: int | None = None
    ring_task_window: int | Sequence[int] | None = None
    ring_heap: int | Sequence[int] | None = None
    ring_dep_pool: int | Sequence[int] | None = None
    distributed_config: Any = None
    analyze_auto_scopes_for_deps: bool = False
    memory_planner: Any = None
    dump_ptoas_passes: bool = False
    stage: str | int | None = None

    def __post_init__(self) -> None:
        check_platform(self.platform)
        self.backend_type = PLATFORMS[self.platform].backend
        self.enable_chip_swimlane = swimlane_level(self.enable_chip_swimlane)
        self.enable_dump_args = dump_level(self.enable_dump_args)
        self.enable_pmu = pmu_event(self.enable_pmu)
        for name in _RING_LIMITS:
            check_ring(name, getattr(self, name))
        self.save_kernels = self.save_kernels or self.any_dfx_enabled()

    def any_dfx_enabled(self) -> bool:
        """True if any diagnostic flag is on."""
        return any(getattr(self, name) for name in DFX_FLAGS)

    def runtime_cfg(self) -> dict[str, Any]:
        """The fields that ``execute_compiled`` takes, as its keywords."""
        rings = {name: getattr(self, name) for name in _RING_LIMITS}
        flags = {name: getattr(self, name) for name in DFX_FLAGS}
        return {
            "platform": self.platform,
            "device_id": self.device_id,
            "stage": self.stage,
            **flags,
            **rings,
        }

    @property
    def enable_l2_swimlane(self) -> int:
        """The older name of ``enable_chip_swimlane``."""
        return self.enable_chip_swimlane

    @enable_l2_swimlane.setter
    def enable_l2_swimlane(self, value: object) -> None:
        warn_caller(SWIMLANE_WARNING, DeprecationWarning)
        self.enable_chip_swimlane = swimlane_level(value)

    @property
    def enable_dump_tensor(self) -> bool:
        """The older name of ``enable_dump_args``, which had no levels."""
        return self.enable_dump_args > 0


def check_ring(name: str, value: object) -> None:
    """Raise ValueError unless ``value`` is none, a legal size, or such a size (or 0) for each ring."""
    if value is None:
        return
    if isinstance(value, list | tuple):
        if len(value) != _RINGS:
            raise ValueError(f"{name} has {_RINGS} entries, one a ring, got {len(value)}")
        for entry in value:
            if entry != 0 or isinstance(entry, bool):
                _check_size(name, entry)
    else:
        _check_size(name, value)


def _check_size(name: str, value: object) -> None:
    lowest, is_power = _RING_LIMITS[name]
    is_int = isinstance(value, int) and not isinstance(value, bool)
    if is_int and is_power and value >= lowest and value & (value - 1) == 0:  # type: ignore[operator]
        return
    if is_int and not is_power and lowest <= value < 2**31:  # type: ignore[operator]
        return
    rule = f"a power of two, at least {lowest}" if is_power else f"an int from {lowest} to {2**31 - 1}"
    raise ValueError(f"{name} must be {rule}, got {value!r}")
