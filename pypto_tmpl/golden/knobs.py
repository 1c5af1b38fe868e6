"""The knobs of a run, and which of them go together."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import torch

from pypto_tmpl.debug.report.writing import check_report
from pypto_tmpl.errors import allowed_note
from pypto_tmpl.golden.comparators import Comparator
from pypto_tmpl.golden.data import data_size
from pypto_tmpl.golden.errors import HarnessError
from pypto_tmpl.golden.spec import ScalarSpec, TensorSpec

Spec: TypeAlias = TensorSpec | ScalarSpec
GoldenFn: TypeAlias = Callable[[dict[str, Any]], object]
PathLike: TypeAlias = str | os.PathLike[str]

SAVE_LIMIT = 1 << 30  # bytes that are saved without being asked to


# Keys of compile_cfg that say where and how a build is made.
_OF_BUILDS = ("output_dir", "dump_passes", "profiling")


@dataclass(frozen=True, slots=True)
class Knobs:
    """What ``run`` and ``run_jit`` were called with, but for the program."""

    specs: Sequence[Spec]
    golden_fn: GoldenFn | None
    golden_data: Path | None
    compile_cfg: Mapping[str, Any] | None
    runtime_cfg: Mapping[str, Any] | None
    rtol: float
    atol: float
    compare_fn: Mapping[str, Comparator] | None
    compile_only: bool
    runtime_dir: Path | None
    save_data: bool | None
    golden_only: bool
    equal_nan: bool
    report: Path | None = None

    def check_combination(self) -> None:
        """Raise HarnessError for knobs that exclude each other."""
        for name, value in (("rtol", self.rtol), ("atol", self.atol)):
            if not value >= 0:
                raise HarnessError(f"{name} must be 0 or more, got {value!r}")
        if self.compile_only and self.runtime_dir is not None:
            raise HarnessError("runtime_dir is incompatible with compile_only")
        if self.report is not None:
            check_report(self.report)
            if self.compile_only or self.golden_only:
                raise HarnessError(
                    f"report is incompatible with {'compile' if self.compile_only else 'golden'}_only"
                )
        if not self.golden_only:
            return
        for name, is_set in (
            ("compile_only", self.compile_only),
            ("golden_data", self.golden_data is not None),
            ("save_data=False", self.save_data is False),
        ):
            if is_set:
                raise HarnessError(f"{name} is incompatible with golden_only")
        if self.golden_fn is None:
            raise HarnessError("golden_only needs a golden_fn")

    def ignored(self, compile_only: bool) -> str:
        """What was asked for and has no effect, and why, as one line; "" where there is nothing."""
        given = {"golden_data": self.golden_data is not None, "compare_fn": bool(self.compare_fn)}
        given |= {"save_data=True": self.save_data is True}
        compile_cfg = self.compile_cfg or {}
        found = []
        if compile_only:
            found.append((", ".join(name for name in given if given[name]), "nothing is run"))
        elif self.golden_only:
            found.append(("compare_fn" if self.compare_fn else "", "nothing is compared"))
        if self.runtime_dir is not None:
            names = [name for name in _OF_BUILDS if compile_cfg.get(name) is not None]
            found.append((", ".join(names), "runtime_dir is used as it is"))
        return "; ".join(f"ignored: {names} ({reason})" for names, reason in found if names)

    def check_specs(self) -> None:
        """Raise HarnessError for specs that are none, that share a name, or whose name is no file name."""
        seen = set()
        for position, spec in enumerate(self.specs):
            if not isinstance(spec, TensorSpec | ScalarSpec):
                raise HarnessError(
                    f"specs[{position}] is a {type(spec).__module__}.{type(spec).__name__}",
                    notes=["specs: golden.TensorSpec, golden.ScalarSpec"],
                )
            if spec.name in seen:
                raise HarnessError(f"two specs are named {spec.name!r}")
            if spec.name in ("", ".", "..") or Path(spec.name).name != spec.name:
                raise HarnessError(f"spec name {spec.name!r} is no name of a parameter")
            if isinstance(spec, TensorSpec):
                _check_tensor(spec)
            seen.add(spec.name)

    def data_decision(self) -> tuple[bool, str]:
        """Whether inputs and goldens are saved, and a line where they are not for their size."""
        if self.golden_only or self.save_data is not None:
            return self.golden_only or bool(self.save_data), ""
        size = data_size(self.specs, self.golden_fn is not None)
        if size <= SAVE_LIMIT:
            return True, ""
        return False, f"data not saved: {size / 2**30:.2f} GiB is above 1 GiB; save_data=True saves it"


def _check_tensor(spec: TensorSpec) -> None:
    if not isinstance(spec.dtype, torch.dtype):
        raise HarnessError(f"spec {spec.name!r}: dtype must be a torch.dtype, got {spec.dtype!r}")
    extents = spec.extents
    if any(not isinstance(n, int) or isinstance(n, bool) or n < 0 for n in extents):
        raise HarnessError(f"spec {spec.name!r}: the shape must hold ints, 0 or more, got {list(extents)}")


def check_names(specs: Sequence[Spec], params: Sequence[str], function: str) -> None:
    """Raise HarnessError for specs that are not as many as the parameters, or in another order than they."""
    names = [spec.name for spec in specs]
    if len(names) != len(params):
        raise HarnessError(
            f"entry {function!r} has {len(params)} parameters, there are {len(names)} specs",
            notes=[f"parameters: {', '.join(params)}", f"specs: {', '.join(names)}"],
        )
    if names != list(params) and sorted(names) == sorted(params):
        raise HarnessError(
            f"the specs are not in the order of the parameters of {function!r}",
            notes=[allowed_note("parameters", list(params)), f"specs: {', '.join(names)}"],
        )


def other_names(specs: Sequence[Spec], params: Sequence[str]) -> str:
    """Which specs have another name than their parameter, "" if none: it is the position that counts."""
    pairs = [(s.name, param) for s, param in zip(specs, params, strict=True) if s.name != param]
    return ", ".join(f"{name!r} is given as {param!r}" for name, param in pairs)
