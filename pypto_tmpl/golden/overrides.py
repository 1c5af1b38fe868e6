"""Knobs of runs that are set from outside of a script, such as by ``pypto-tmpl run``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pypto_tmpl.golden.result import RunResult
from pypto_tmpl.storage.choices import StorageChoice


@dataclass(slots=True)
class Overrides:
    """What goes before the arguments of ``run`` and ``run_jit``, where it is not None.

    ``seed`` is given to torch's default generator before the inputs are made. ``report`` is written for each
    run until one has failed: it ends up about the first failure. ``build_dir`` is the directory of the build,
    of further runs with a number, and ``compile_cfg`` are knobs of the compilation. With ``compile_only`` a
    run ends with its build; where a ``kernel`` is named, runs of others do nothing. ``runs`` collects the
    results.
    """

    platform: str | None = None
    golden_data: Path | None = None
    save_data: bool | None = None
    stage: str | None = None
    seed: int | None = None
    report: Path | None = None
    build_dir: Path | None = None
    storage: StorageChoice | None = None
    compile_cfg: Mapping[str, Any] = field(default_factory=dict)
    compile_only: bool = False
    kernel: str | None = None
    runs: list[RunResult] = field(default_factory=list)

    def applied(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a run with what goes before them."""
        found = dict(given)
        of_run = {"platform": self.platform, "stage": self.stage, "storage": self.storage}
        of_run = {name: value for name, value in of_run.items() if value is not None}
        if of_run:
            found["runtime_cfg"] = {**(given["runtime_cfg"] or {}), **of_run}
        if self.build_dir is not None:
            number = len(self.runs) + 1
            folder = (
                self.build_dir if number == 1 else self.build_dir.with_name(f"{self.build_dir.name}_{number}")
            )
            found["compile_cfg"] = {**(given["compile_cfg"] or {}), "output_dir": folder}
        if self.compile_cfg:
            found["compile_cfg"] = {**(found["compile_cfg"] or {}), **self.compile_cfg}
        if self.compile_only:
            found |= {"compile_only": True, "golden_only": False, "runtime_dir": None}
        for name in ("golden_data", "save_data"):
            if (value := getattr(self, name)) is not None:
                found[name] = value
        if self.report is not None and all(result.passed for result in self.runs):
            found["report"] = self.report
        return found


_CURRENT: ContextVar[Overrides | None] = ContextVar("overrides", default=None)


def current_overrides() -> Overrides | None:
    """The overrides that hold now."""
    return _CURRENT.get()


@contextmanager
def overriding(overrides: Overrides) -> Iterator[Overrides]:
    """Let the overrides hold inside the block."""
    token = _CURRENT.set(overrides)
    try:
        yield overrides
    finally:
        _CURRENT.reset(token)
