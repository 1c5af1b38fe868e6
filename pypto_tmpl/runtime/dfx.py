"""The diagnostic flags of a run, in the names of both generations.

The first generation (``enable_l2_swimlane``, ``enable_dump_tensor``, ``runtime_profiling``) is still
accepted; what is deprecated upstream warns here too (spec: runtime, 7).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from pypto_tmpl.errors import warn_caller

SWIMLANE_LEVELS, DUMP_LEVELS = 4, 3
DUMP_ALL, PMU_DEFAULT = 2, 2

DFX_FLAGS = (
    "enable_chip_swimlane",
    "enable_dump_args",
    "enable_pmu",
    "enable_dep_gen",
    "enable_scope_stats",
)
_CURRENT_NAMES = {
    "enable_l2_swimlane": "enable_chip_swimlane",
    "enable_dump_tensor": "enable_dump_args",
    "runtime_profiling": "enable_chip_swimlane",
}
OLD_DFX_FLAGS = tuple(_CURRENT_NAMES)
PMU_VARIABLE = "SIMPLER_PMU_EVENT_TYPE"
PMU_GROUPS = (1, 2, 4, 5, 6, 7, 8)
_PROFILING_WARNING = (
    "RunConfig.runtime_profiling is deprecated; use enable_l2_swimlane instead. It will be removed."
)
SWIMLANE_WARNING = "enable_l2_swimlane is deprecated; use enable_chip_swimlane instead"


@dataclass(frozen=True, slots=True)
class DfxOptions:
    """What a run records: levels are integers (0: off), the rest is on or off.

    A flag in its first generation's name asks for the files of that generation.
    """

    enable_chip_swimlane: int = 0
    enable_dump_args: int = 0
    enable_pmu: int = 0
    enable_dep_gen: bool = False
    enable_scope_stats: bool = False
    times_as_l2_records: bool = False
    dumps_as_tensor_dump: bool = False

    @property
    def enabled(self) -> tuple[str, ...]:
        """Names of the flags that are on."""
        return tuple(name for name in DFX_FLAGS if getattr(self, name))


def dfx_options(flags: Mapping[str, object]) -> DfxOptions:
    """The options of flags in the names of either generation.

    Raises ValueError for two names of one flag and for a level out of range, TypeError for a level that is
    no integer.
    """
    known = current_names(flags, warn_when_off=False)
    return DfxOptions(
        enable_chip_swimlane=swimlane_level(known.get("enable_chip_swimlane", 0)),
        enable_dump_args=dump_level(known.get("enable_dump_args", 0)),
        enable_pmu=_recorded_group(pmu_event(known.get("enable_pmu", 0))),
        enable_dep_gen=bool(known.get("enable_dep_gen", False)),
        enable_scope_stats=bool(known.get("enable_scope_stats", False)),
        times_as_l2_records=not flags.get("enable_chip_swimlane"),
        dumps_as_tensor_dump=not flags.get("enable_dump_args"),
    )


def current_names(flags: Mapping[str, object], warn_when_off: bool) -> dict[str, object]:
    """The flags under their current names; deprecated names warn, those that are off only if asked to."""
    found = dict(flags)
    if "enable_l2_swimlane" in found:
        _exclusive(found, "enable_chip_swimlane", "enable_l2_swimlane")
        old = found.pop("enable_l2_swimlane")
        if old or warn_when_off:
            warn_caller(SWIMLANE_WARNING, DeprecationWarning)
        found["enable_chip_swimlane"] = old
    if "runtime_profiling" in found:
        old = found.pop("runtime_profiling")
        if old or warn_when_off:
            warn_caller(_PROFILING_WARNING, DeprecationWarning)
        found["enable_chip_swimlane"] = found.get("enable_chip_swimlane", 0) or bool(old)
    if "enable_dump_tensor" in found:
        _exclusive(found, "enable_dump_args", "enable_dump_tensor")
        old = found.pop("enable_dump_tensor")
        found["enable_dump_args"] = DUMP_ALL if old is True else old  # it had no levels: all tensors
    return found


def current_name(flag: str) -> str:
    """What a flag is called now; a name that is not old stays."""
    return _CURRENT_NAMES.get(flag, flag)


def _exclusive(flags: Mapping[str, object], name: str, old: str) -> None:
    if name in flags:
        raise ValueError(f"{name} and {old} are the same flag: give only {name}")


def swimlane_level(value: object) -> int:
    """Collection level 0 to 4; True means 4."""
    return _level("enable_chip_swimlane", value, SWIMLANE_LEVELS, SWIMLANE_LEVELS)


def dump_level(value: object) -> int:
    """Dump level: 0 off, 1 marked tensors (also True), 2 all, 3 metadata only."""
    return _level("enable_dump_args", value, DUMP_LEVELS, 1)


def pmu_event(value: object) -> int:
    """Event group of the counters, 0 for none; True means the default group."""
    return _level("enable_pmu", value, None, PMU_DEFAULT)


def _recorded_group(event: int) -> int:
    """The event group that a run records: the environment's, the default one where there is none such."""
    if not event:
        return 0
    given = os.environ.get(PMU_VARIABLE) or event
    try:
        group = int(given)
    except ValueError:
        raise ValueError(f"{PMU_VARIABLE} must be an event group, an int, got {given!r}") from None
    return group if group in PMU_GROUPS else PMU_DEFAULT


def _level(name: str, value: object, highest: int | None, when_true: int) -> int:
    if isinstance(value, bool):
        return when_true if value else 0
    if not isinstance(value, int):
        raise TypeError(f"{name} must be an int or a bool, got {type(value).__name__} {value!r}")
    if value < 0 or (highest is not None and value > highest):
        limits = f"0 to {highest}" if highest is not None else "0 or more"
        raise ValueError(f"{name} must be {limits}, got {value}")
    return value
