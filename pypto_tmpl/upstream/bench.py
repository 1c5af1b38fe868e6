"""Times of programs on a device (``pypto.runtime.bench``), which no simulated platform has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from pypto_tmpl.runtime.config import RunConfig
from pypto_tmpl.runtime.refusals import Refused, refuse, with_members

_NEEDS = "holds times of a device, which a simulated platform does not have"
_INSTEAD = "enable_chip_swimlane records the tasks of a simulated run, with the times of this machine"


@with_members(
    "rounds warmup fallback_flattened unstable_dispatch_slots dispatch_groups dispatch_tasks per_dispatch"
    " per_rank per_round format_tree print_tree mean_invocation format_mean_tree print_mean_tree"
    " device_us_min device_us_median device_us_mean device_us_max device_us_stdev samples"
    " device_wall_us_min device_wall_us_median device_wall_us_mean device_wall_us_max device_wall_us_stdev"
    " all_zero_device"
)
class BenchmarkStats(Refused):
    """Times of many rounds."""

    needs, instead = _NEEDS, _INSTEAD


@with_members("root by_name task task_name device_wall_us host_wall_us effective_us format_tree")
class TraceInvocation(Refused):
    """Times of one call."""

    needs, instead = _NEEDS, _INSTEAD


@with_members("is_device dur_us")
class TraceSpan(Refused):
    """One time of a call."""

    needs, instead = _NEEDS, _INSTEAD


def benchmark(
    compiled: Any,
    args: Sequence[Any],
    *,
    rounds: int = 100,
    warmup: int = 3,
    platform: str | None = None,
    device_id: int | None = None,
    config: RunConfig | None = None,
    persistent: bool = False,
    reset_persistent_windows: bool | None = None,
) -> NoReturn:
    """Refused: the time of a simulated run says nothing of a device."""
    refuse("benchmark", "measures a device, of which there is none here", _INSTEAD)
