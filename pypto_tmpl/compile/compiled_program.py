"""A compiled program: its build directory, and calls of its entry."""

from __future__ import annotations

import ast
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import torch

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendType
from pypto_tmpl.compile.build import Build
from pypto_tmpl.debug.checking import validate_pass_ir_codegen_results
from pypto_tmpl.debug.validate.results import ValidationResult
from pypto_tmpl.debug.validate.validation import ATOL, RTOL, Number
from pypto_tmpl.execution.entry import EntryError
from pypto_tmpl.runtime.calling import complete_call
from pypto_tmpl.runtime.config import RunConfig
from pypto_tmpl.runtime.execute import execute_build, require_backend
from pypto_tmpl.runtime.manifest import NEXT_LEVELS, read_manifest, sub_build
from pypto_tmpl.runtime.options import runtime_options
from pypto_tmpl.runtime.platforms import PLATFORMS, check_platform, require_simulated, simulator_of
from pypto_tmpl.runtime.refusals import refuse
from pypto_tmpl.runtime.stages import DUMPS
from pypto_tmpl.storage.choices import DEFAULT, StorageChoice

_CONFIG = "kernel_config.py"


class CompiledProgram:
    """What ``ir.compile`` and ``JITFunction.compile`` give.

    Calling it runs the entry: with all arguments the outputs are written in place and None is returned;
    where the program returns values the pure outputs may be left out, and are returned instead. It stands
    for its directory where a path is wanted. Of several orchestrations, ``compiled["name"]`` or
    ``compiled.name`` is what is called; the whole raises TypeError for what needs one entry.
    """

    def __init__(self, build: Build) -> None:
        self._build = build

    def _entry_build(self) -> Build:
        """The build, which has an entry. Raises TypeError for one of several orchestrations."""
        if self.orchestration_names:
            names = ", ".join(self.orchestration_names)
            raise TypeError(
                f"CompiledProgram has several orchestrations ({names}): "
                "select one explicitly via compiled['<name>'](...)"
            )
        return self._build

    @classmethod
    def from_dir(
        cls,
        output_dir: str | os.PathLike[str],
        *,
        platform: str | None = None,
        backend_type: BackendType | None = None,
    ) -> CompiledProgram:
        """The compiled program of an earlier build, for its platform unless another is given.

        Raises ManifestError for a directory that is none, ValueError for an unknown platform, and for one of
        another backend than that of the build.
        """
        directory = Path(output_dir).resolve()
        manifest = read_manifest(directory)
        if platform is None and backend_type is not None:
            platform = simulator_of(backend_type.name).name
        if platform is not None:
            check_platform(platform)
            require_backend(manifest, PLATFORMS[platform])
            manifest = replace(manifest, platform=platform)
        return cls(Build(directory, manifest))

    @property
    def output_dir(self) -> Path:
        """The build directory."""
        return self._build.directory

    @property
    def program(self) -> ir.Program | None:
        """The program that was compiled, before the passes; None after ``from_dir``."""
        return self._build.given

    @property
    def platform(self) -> str:
        """The platform it was compiled for."""
        return self._build.manifest.platform

    @property
    def backend_type(self) -> str:
        """The name of the backend it was compiled for."""
        return self._build.manifest.backend

    @property
    def param_names(self) -> list[str]:
        """The entry's parameters."""
        return [param.name for param in self._entry_build().manifest.entry.parameters]

    @property
    def output_indices(self) -> list[int]:
        """Positions of the pure outputs."""
        return [i for i, p in enumerate(self._entry_build().manifest.entry.parameters) if p.is_pure_output]

    @property
    def has_return(self) -> bool:
        """True if the entry returns values."""
        return self._entry_build().manifest.results > 0

    def __call__(self, *args: object, config: RunConfig | None = None) -> Any:
        """Run the entry on torch tensors and numbers.

        ``config`` chooses the platform, which else is the one it was compiled for, the stage that is
        executed, and the diagnostic flags. Raises: TypeError and ValueError for arguments that do not fit,
        TypeError for a program of several orchestrations,
        HardwareNeededError for a platform that is a device, and what the program raises.
        """
        manifest = self._entry_build().manifest
        call = complete_call(manifest.entry, self.has_return, args, "CompiledProgram")
        options = runtime_options(config.runtime_cfg() if config is not None else {"platform": self.platform})
        require_simulated(options.platform)
        execute_build(self.output_dir, manifest, call.arguments, options, self._build.program)
        return call.value

    def validate_ir(
        self,
        tensors: Mapping[str, torch.Tensor | Number],
        expected: Mapping[str, torch.Tensor],
        *,
        rtol: float = RTOL,
        atol: float = ATOL,
        storage: StorageChoice = DEFAULT,
    ) -> ValidationResult:
        """Run every stage of ``passes_dump/`` and compare it with the expected tensors.

        A stage is read from its ``.msgpack``. Where tiles have addresses it runs by values and on bytes,
        unless ``storage`` is another choice. Raises ValidationError for the first bad one, FileNotFoundError
        where there are no dumps, EntryError where the tensors' names do not tell which of several
        orchestrations is run, and what ``validate_pass_ir_codegen_results`` raises.
        """
        folder, entry = self.output_dir / DUMPS, None
        if self.output_dir.parent.name == NEXT_LEVELS and not folder.is_dir():  # one of several
            folder = self.output_dir.parent.parent / DUMPS
            entry = self._build.manifest.entry.name
        if not folder.is_dir():
            raise FileNotFoundError(f"No {DUMPS}/ under {self.output_dir}. Compile with dump_passes=True.")
        options: dict[str, Any] = {"rtol": rtol, "atol": atol, "companions_first": True, "storage": storage}
        try:
            return validate_pass_ir_codegen_results(folder, tensors, expected, entry=entry, **options)
        except EntryError:
            if not self.orchestration_names:
                raise
        names = ", ".join(self.orchestration_names)
        raise EntryError(
            f"the names of the tensors do not tell which of the orchestrations {names} is run",
            notes=["select one: compiled['<name>'].validate_ir(...)"],
        )

    @property
    def orchestration_names(self) -> list[str]:
        """The orchestrations of a build that has several, sorted; none of a build that has one entry."""
        return list(self._build.manifest.orchestrations)

    def __getitem__(self, name: str) -> CompiledProgram:
        """One of several orchestrations. Raises KeyError where there is none of that name."""
        names = self.orchestration_names
        if not names:
            raise KeyError(f"{name!r}: {self.output_dir} has one entry, which calls of the program run")
        if name not in names:
            raise KeyError(f"{name!r}: the orchestrations of {self.output_dir} are {', '.join(names)}")
        part = self._build.parts.get(name)
        if part is not None:
            return CompiledProgram(part)
        return CompiledProgram.from_dir(self.output_dir / sub_build(name), platform=self.platform)

    def __getattr__(self, name: str) -> CompiledProgram:
        """One of several orchestrations. Raises AttributeError where there is none of that name."""
        build = self.__dict__.get("_build")  # unset while a copy is made
        if build is None or name not in build.manifest.orchestrations:
            raise AttributeError(f"CompiledProgram has neither an attribute nor an orchestration {name!r}")
        return self[name]

    @property
    def runtime_config(self) -> dict[str, Any]:
        """What ``kernel_config.py`` tells the run time of a device.

        Raises FileNotFoundError for a build without that file: of an earlier stage, or with ``skip_ptoas``.
        """
        path = self._entry_build().directory / _CONFIG
        if not path.is_file():
            raise FileNotFoundError(
                f"No {_CONFIG} under {self.output_dir}. Compile all stages, with skip_ptoas=False."
            )
        for stmt in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(stmt, ast.Assign) and ast.unparse(stmt.targets[0]) == "RUNTIME_CONFIG":
                found: dict[str, Any] = ast.literal_eval(stmt.value)
                return found
        raise ValueError(f"{path} has no RUNTIME_CONFIG")

    @property
    def runtime_name(self) -> str:
        """Which run time of a device the build is for. Raises as ``runtime_config``."""
        return str(self.runtime_config["runtime"])

    def load(self) -> None:
        """Nothing: a simulated program has no binaries that would be made before the first call."""

    @property
    def chip_callable(self) -> NoReturn:
        """Refused: there are no binaries that a device would be given."""
        refuse("CompiledProgram.chip_callable", "holds binaries for a device", "call the program itself")

    def build_orch_args(self, *args: Any, worker: Any = None) -> NoReturn:
        """Refused: there is no device whose arguments these would be."""
        refuse("CompiledProgram.build_orch_args", "packs arguments for a device", "call the program itself")

    def build_call_config(self, config: RunConfig | None = None, **options: Any) -> NoReturn:
        """Refused: there is no device whose call this would configure."""
        refuse("CompiledProgram.build_call_config", "configures a device", "call the program itself")

    def __fspath__(self) -> str:
        return str(self.output_dir)

    def __str__(self) -> str:
        return str(self.output_dir)

    def __repr__(self) -> str:
        return f"CompiledProgram({self.output_dir})"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, CompiledProgram):
            return self.output_dir == other.output_dir
        return str(other) == str(self) if isinstance(other, str | os.PathLike) else NotImplemented

    def __hash__(self) -> int:
        return hash(str(self))


def started(compiled: CompiledProgram) -> CompiledProgram:
    """The program as it is run without a name: by the one of several orchestrations that calls the others.

    Raises EntryError where there are several and no such one.
    """
    build = compiled._build
    build.manifest.require_entry(build.directory)
    if not compiled.orchestration_names:
        return compiled
    return CompiledProgram(replace(build, manifest=replace(build.manifest, orchestrations=()), parts={}))
