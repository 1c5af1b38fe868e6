"""A compiled program of several ranks: called once, or prepared for many calls."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from pypto_tmpl import runtime
from pypto_tmpl.compile.build import Build
from pypto_tmpl.compile.compiled_program import CompiledProgram
from pypto_tmpl.debug.validate.results import ValidationResult
from pypto_tmpl.debug.validate.validation import ATOL, RTOL, Number
from pypto_tmpl.execution.options import options_of_scripts
from pypto_tmpl.runtime.config import RunConfig
from pypto_tmpl.runtime.distributed import DistributedConfig
from pypto_tmpl.runtime.prepared import PreparedBuild
from pypto_tmpl.storage.choices import DEFAULT, StorageChoice


class DistributedCompiledProgram(CompiledProgram):
    """What ``ir.compile`` gives for a program with a host that drives ranks.

    A call runs once, on fresh windows; ``prepare`` gives a worker for many calls.
    """

    _build: Build

    @property
    def device_ids(self) -> tuple[int, ...] | None:
        """The devices of the ranks, None where the arguments say how many there are."""
        return self._build.manifest.device_ids

    def on_devices(self, config: DistributedConfig | None) -> DistributedCompiledProgram:
        """The same program on other devices; on its own, if there is no config."""
        if config is None:
            return self
        manifest = replace(self._build.manifest, device_ids=tuple(config.device_ids))
        return DistributedCompiledProgram(replace(self._build, manifest=manifest))

    def __call__(self, *args: object, config: RunConfig | None = None) -> Any:
        """Run the host, with all arguments in place or on inputs alone; scalars are tensors of 0 dims.

        The devices are those of ``config.distributed_config``, else those it was compiled for. Raises
        TypeError for what is no tensor of the host, else as ``CompiledProgram``.
        """
        devices = None if config is None else config.distributed_config
        if devices is not None and tuple(devices.device_ids) != self.device_ids:
            return self.on_devices(devices)(*args, config=config)
        return super().__call__(*self._host_values(args), config=config)

    def _host_values(self, args: Sequence[object]) -> list[object]:
        """Arguments with numbers for 0-dim tensors of scalar parameters."""
        names, parameters = self.param_names, self._build.manifest.entry.parameters
        pure = set(self.output_indices) if len(args) != len(names) else set()
        given = [parameter for place, parameter in enumerate(parameters) if place not in pure]
        values: list[object] = []
        for place, value in enumerate(args):
            parameter = given[place] if place < len(given) else None
            if not isinstance(value, torch.Tensor | ctypes._SimpleCData):
                name = place if parameter is None else parameter.name
                raise TypeError(
                    "One-shot distributed programs only support host torch.Tensor parameters. "
                    f"Parameter {name!r} got {type(value).__name__}"
                )
            is_scalar = parameter is not None and parameter.is_scalar and isinstance(value, torch.Tensor)
            values.append(value.item() if is_scalar and isinstance(value, torch.Tensor) else value)
        return values

    def validate_ir(
        self,
        tensors: Mapping[str, torch.Tensor | Number],
        expected: Mapping[str, torch.Tensor],
        *,
        rtol: float = RTOL,
        atol: float = ATOL,
        storage: StorageChoice = DEFAULT,
    ) -> ValidationResult:
        """As ``CompiledProgram``, every stage on as many ranks as the program was compiled for.

        What is wrong is told by rank.
        """
        devices = self.device_ids
        with options_of_scripts(ranks=None if devices is None else len(devices)):
            return super().validate_ir(tensors, expected, rtol=rtol, atol=atol, storage=storage)

    def prepared(self, *, keeps_windows: bool, reset: bool) -> PreparedBuild:
        """The program, loaded for many calls."""
        build = self._build
        return PreparedBuild(
            build.directory, build.manifest, build.program, keeps_windows=keeps_windows, reset=reset
        )

    def prepare(
        self,
        config: RunConfig | None = None,
        *,
        extra_compiled: Sequence[DistributedCompiledProgram] = (),
        persistent: bool = False,
        reset_persistent_windows: bool | None = None,
        callbacks: Mapping[str, Callable[[Any], object]] | None = None,
        sub_worker_overrides: Mapping[str, Callable[..., object]] | None = None,
        startup_timeout_s: float | None = None,
    ) -> Any:
        """A ``runtime.DistributedWorker`` for this program and further ones."""
        return runtime.DistributedWorker(
            [self, *extra_compiled],
            config,
            persistent=persistent,
            reset_persistent_windows=reset_persistent_windows,
            callbacks=callbacks,
            sub_worker_overrides=sub_worker_overrides,
            startup_timeout_s=startup_timeout_s,
        )


__all__ = ["TYPE_CHECKING", "DistributedCompiledProgram", "DistributedConfig"]
