"""``debug/run.py`` of a build: a script that runs the build again, on inputs that its user writes there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import jinja2

from pypto_tmpl.codegen.environment import create_environment, render
from pypto_tmpl.codegen.names import NameTable
from pypto_tmpl.execution.entry import Parameter
from pypto_tmpl.ir.carriers import TORCH_NAMES
from pypto_tmpl.resources import template_root
from pypto_tmpl.runtime.manifest import Manifest

PATH = "debug/run.py"
VARIABLE = "PYPTO_EMIT_DEBUG_RUNNER"
_NARROW = ("FP8E4M3FN", "FP8E5M2")
_POWERS = ("FP8E8M0",)
_WIDE = ("UINT16", "UINT32", "UINT64")  # torch draws no numbers of these


@dataclass(frozen=True, slots=True)
class _Extent:
    """An extent that has a name, and the number that the inputs begin with."""

    name: str
    extent: int


@dataclass(frozen=True, slots=True)
class _Input:
    """A parameter as the template sees it; ``dynamic`` are its extents that only a run tells, as written."""

    name: str
    dtype: str
    torch: str
    kind: str
    shape: list[int]
    dynamic: list[_Extent]
    is_scalar: bool
    is_packed: bool
    is_output: bool


def is_wanted() -> bool:
    """Whether builds have the script, which the environment may say they do not."""
    return os.environ.get(VARIABLE, "").strip().lower() not in ("0", "false", "no")


def runner_text(manifest: Manifest) -> str:
    """The script of a build."""
    names = NameTable(reserved=("main", "torch", "Path"))
    extents = _extents(manifest)
    params = [_input(param, names.unique(param.name), extents) for param in manifest.entry.parameters]
    context = {
        "entry": manifest.entry.name,
        "params": params,
        "has_tensors": not all(param.is_scalar for param in params),
    }
    return render(_environment(), "debug/run.py.jinja", context)


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    """The project's own templates: what a user's folder has is for scripts and device code."""
    return create_environment([template_root()])


def _extents(manifest: Manifest) -> dict[str, int]:
    """A number for each extent that has a name: that of the ranks where it may count these, else 1."""
    shapes = [param.shape for param in manifest.entry.parameters if param.shape]
    counts = {shape[0] for shape in shapes} if manifest.device_ids is not None else set()
    ranks = len(manifest.device_ids or ())
    names = (extent for shape in shapes for extent in shape if isinstance(extent, str))
    return {name: ranks if name in counts else 1 for name in names}


def _input(param: Parameter, name: str, extents: Mapping[str, int]) -> _Input:
    named = [extents[one] if isinstance(one, str) else one for one in param.shape or ()]
    shape = [1 if extent is None else extent for extent in named]
    if param.is_packed and shape:
        shape[-1] = max(shape[-1] // 2, 1)
    return _Input(
        name,
        param.dtype,
        TORCH_NAMES.get(param.dtype, ""),
        _kind(param),
        shape,
        [_Extent(extent, extents[extent]) for extent in param.shape or () if isinstance(extent, str)],
        param.is_scalar,
        param.is_packed,
        param.is_pure_output,
    )


def _kind(param: Parameter) -> str:
    """How numbers of a parameter are made."""
    for kind, dtypes in (("narrow", _NARROW), ("power", _POWERS), ("wide", _WIDE), ("bool", ("BOOL",))):
        if param.dtype in dtypes:
            return kind
    return "float" if "float" in TORCH_NAMES.get(param.dtype, "") else "integer"
