"""``kernel_config.py``: which kernels a build has, and which function launches them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from pypto_tmpl import ir
from pypto_tmpl.streams.functions import hidden_parameters
from pypto_tmpl.streams.orchestration.functions import Orchestration
from pypto_tmpl.streams.orchestration.values import Kernel
from pypto_tmpl.streams.templates import CppTemplates

RUN_TIME = "tensormap_and_ringbuffer"


@dataclass(frozen=True, slots=True)
class _Entry:
    """One kernel; ``external`` is the source of one that others wrote."""

    id: int
    name: str
    core: str
    signature: Sequence[str]
    external: str
    include_folders: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Config:
    """What the template reads."""

    run_time: str
    enable_sdma: bool
    orchestration: str
    signature: Sequence[str]
    kernels: Sequence[_Entry]

    @property
    def has_signatures(self) -> bool:
        """Whether directions are named at all."""
        return bool(self.signature) or any(kernel.signature for kernel in self.kernels)


def config_text(found: Orchestration, templates: CppTemplates, run_time: str = RUN_TIME) -> str:
    """The configuration of what one orchestration function launches."""
    kernels = sorted(found.kernels, key=lambda kernel: kernel.id)
    uses_sdma = any("sdma_workspace" in hidden_parameters(k.function, templates.table) for k in kernels)
    entries = [_entry(kernel) for kernel in kernels]
    text: str = templates.config.config(_Config(run_time, uses_sdma, found.name, found.signature, entries))
    return text


def core_of(kernel: ir.Function) -> str:
    """The folder and name of the core that runs a kernel."""
    return "aic" if kernel.func_type is ir.FunctionType.AIC else "aiv"


def _entry(kernel: Kernel) -> _Entry:
    attrs = kernel.function.attrs
    return _Entry(
        kernel.id,
        kernel.function.name,
        core_of(kernel.function),
        kernel.signature,
        str(attrs.get("external_source", "")),
        [folder for folder in str(attrs.get("external_include_dirs", "")).split(os.pathsep) if folder],
    )
