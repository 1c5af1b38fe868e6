"""``runtime_cfg``: the knobs of a run as the harness and ``execute_compiled`` take them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from pypto_tmpl.errors import PyptoTmplError, allowed_note, warn_caller
from pypto_tmpl.runtime.config import check_ring
from pypto_tmpl.runtime.dfx import DFX_FLAGS, OLD_DFX_FLAGS, DfxOptions, dfx_options
from pypto_tmpl.runtime.platforms import DEFAULT_PLATFORM, Platform, find_platform
from pypto_tmpl.storage.choices import StorageChoice, check_choice

CHIP_LEVEL = 2  # the only level of execution that a single card has
_RING_KNOBS = ("ring_task_window", "ring_heap", "ring_dep_pool")
RUNTIME_KNOBS = (
    "platform",
    "device_id",
    "torch_device",
    "stage",
    "storage",
    "level",
    "log_level",
    "aicpu_thread_num",
    "analyze_auto_scopes_for_deps",
    *DFX_FLAGS,
    *OLD_DFX_FLAGS,
    *_RING_KNOBS,
)


class KnobError(PyptoTmplError, TypeError):
    """A knob that does not exist; the text names those that do."""

    slug = "knob"


class MultiCardError(PyptoTmplError, ValueError):
    """Something that needs several cards, which cannot be simulated."""

    slug = "multi-card"


@dataclass(frozen=True, slots=True)
class RuntimeOptions:
    """Checked ``runtime_cfg``.

    ``torch_device`` is where the simulated program computes; the arguments stay where they are. ``stage`` is
    the stage that is executed, None for the one that the build was made for. ``storage`` says whether it
    runs on the bytes of its tiles, None where that is not said.
    Threads and rings of the device's own run time are checked and have no effect here.
    """

    platform: Platform
    device_id: int
    torch_device: torch.device
    dfx: DfxOptions
    stage: str | None = None
    storage: StorageChoice | None = None


def runtime_options(cfg: Mapping[str, object] | None) -> RuntimeOptions:
    """The options of a ``runtime_cfg``; a knob of None has its default.

    Raises KnobError (a TypeError) for a knob that does not exist, ValueError or TypeError for a value that
    a knob does not take.
    """
    given = dict(cfg or {})
    refuse_unknown("runtime_cfg", given, RUNTIME_KNOBS)
    found = {name: value for name, value in given.items() if value is not None}
    if found.get("level", CHIP_LEVEL) != CHIP_LEVEL:
        raise ValueError(f"level must be {CHIP_LEVEL}, one chip, got {found['level']!r}")
    for name in _RING_KNOBS:
        check_ring(name, found.get(name))
    flags = {name: found[name] for name in (*DFX_FLAGS, *OLD_DFX_FLAGS) if name in found}
    return RuntimeOptions(
        platform=find_platform(found.get("platform", DEFAULT_PLATFORM)),
        device_id=_device_id(found.get("device_id", 0)),
        torch_device=_torch_device(found.get("torch_device", "cpu")),
        dfx=dfx_options(flags),
        stage=None if "stage" not in found else stage_name(found["stage"]),
        storage=None if "storage" not in found else check_choice(found["storage"]),
    )


def stage_name(value: object) -> str:
    """The name of a stage as ``find_stage`` takes it, its number included. Raises TypeError for others."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value:
        raise TypeError(f"stage must be 'frontend', 'last', a pass or a number, got {value!r}")
    return value


def refuse_unknown(where: str, cfg: Mapping[str, object], allowed: tuple[str, ...]) -> None:
    """Raise KnobError for the first knob that is not allowed, naming those that are."""
    for name in cfg:
        if name not in allowed:
            note = allowed_note("knobs", allowed, str(name))
            raise KnobError(f"{where} has no knob {name!r}", notes=[note])


def warn_without_records(dfx: DfxOptions) -> None:
    """Say that a flag is on which has no records on the simulated platforms."""
    if dfx.enable_scope_stats:
        what = "no records are written on a simulated platform for: enable_scope_stats"
        warn_caller(what, UserWarning)


def _device_id(value: object) -> int:
    if isinstance(value, list | tuple) or (isinstance(value, str) and "," in value):
        raise MultiCardError(
            f"device_id {value!r} names several cards", notes=["programs run on one simulated card"]
        )
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"device_id must be an int, 0 or more, got {value!r}")
    return value


def _torch_device(value: object) -> torch.device:
    if not isinstance(value, str | torch.device):
        raise TypeError(f"torch_device must be a str or torch.device, got {type(value).__name__}")
    try:
        device = torch.device(value)
    except RuntimeError:
        raise ValueError(f"torch has no device {str(value)!r}; examples: 'cpu', 'cuda', 'cuda:1'") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"torch_device {str(device)!r}: torch sees no CUDA device here")
    return device
