"""Inputs and goldens on disk: ``in/<name>.pt``, ``out/<name>.pt`` and a manifest of what they belong to."""

from __future__ import annotations

import hashlib
import inspect
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from pypto_tmpl.compile.reuse import Finding, file_state
from pypto_tmpl.files import make_folder, move_into_place, remove_file
from pypto_tmpl.generated import check_place, has_no_mark, json_in, write_generated
from pypto_tmpl.golden.errors import HarnessError
from pypto_tmpl.golden.spec import ScalarSpec, TensorSpec
from pypto_tmpl.runtime.manifest import FileRecord, file_record

INPUTS, GOLDENS, MANIFEST = "in", "out", "manifest.json"
SCHEMA = 1
Spec = TensorSpec | ScalarSpec


def needed_files(specs: Sequence[Spec]) -> Iterator[tuple[str, Spec]]:
    """The files that the data of these specs consists of, with the specs they belong to."""
    for spec in specs:
        if isinstance(spec, ScalarSpec) or not spec.is_output or spec.init_value is not None:
            yield f"{INPUTS}/{spec.name}.pt", spec
        if isinstance(spec, TensorSpec) and spec.is_output:
            yield f"{GOLDENS}/{spec.name}.pt", spec


def data_size(specs: Sequence[Spec], has_golden: bool) -> int:
    """Bytes of the tensors that are saved for these specs."""
    return sum(
        math.prod(spec.extents) * spec.dtype.itemsize
        for path, spec in needed_files(specs)
        if isinstance(spec, TensorSpec) and (has_golden or path.startswith(f"{INPUTS}/"))
    )


class DataWriter:
    """Writes the data of one run into a folder; the manifest is brought up to date with every step."""

    def __init__(self, folder: Path, program: str, specs: Sequence[Spec]) -> None:
        self._folder = folder
        self._specs = specs
        check_place(folder / MANIFEST, _is_facts)
        self._files: dict[str, FileRecord] = {}
        self._facts: dict[str, Any] = {
            "schema": SCHEMA,
            "program": program,
            "torch": torch.__version__,
            "seed": torch.initial_seed(),
            "specs": [_spec_facts(spec) for spec in specs],
            "golden_fn": None,
            "result": "not validated",
        }

    @property
    def folder(self) -> Path:
        """Where the data is."""
        return self._folder

    def inputs(self, values: Mapping[str, torch.Tensor]) -> None:
        """Save what the kernel starts from: scalars, inputs, and outputs with an initial value.

        The data of an earlier run goes: its goldens do not belong to these inputs.
        """
        for path in _read_facts(self._folder).get("files", {}):
            if Path(path).parent.as_posix() in (INPUTS, GOLDENS):
                remove_file(self._folder / path)
        try:
            for path, spec in needed_files(self._specs):
                if path.startswith(f"{INPUTS}/"):
                    self._save(path, values[spec.name])
        finally:
            self._write_manifest()

    def goldens(
        self, values: Mapping[str, torch.Tensor], golden_fn: Callable[..., object], finished: bool = False
    ) -> None:
        """Save the expected outputs."""
        try:
            for name, value in values.items():
                self._save(f"{GOLDENS}/{name}.pt", value)
        finally:
            self._write_manifest()
        self._facts["golden_fn"] = golden_facts(golden_fn)
        if finished:
            self._facts["result"] = "goldens only"
        self._write_manifest()

    def result(self, text: str) -> None:
        """Record what the run came to."""
        self._facts["result"] = text
        self._write_manifest()

    def _save(self, path: str, value: torch.Tensor) -> None:
        target = self._folder / path
        if path not in self._files:
            check_place(target, has_no_mark)
        make_folder(target.parent)
        with TemporaryDirectory(dir=target.parent, prefix=".part") as folder:
            part = Path(folder, target.name)  # the name stands in the file, too
            torch.save(_compact(value), part)
            move_into_place(part, target)
        self._files[path] = file_record(target)

    def _write_manifest(self) -> None:
        files = {path: {"bytes": r.bytes, "sha256": r.sha256} for path, r in sorted(self._files.items())}
        text = json.dumps(self._facts | {"files": files}, indent=2)
        write_generated(self._folder / MANIFEST, text + "\n", _is_facts, make_folders=True)


def _compact(value: torch.Tensor) -> torch.Tensor:
    """The tensor, detached from a larger storage, which would be saved with it."""
    value = value.detach().cpu()
    is_part = value.untyped_storage().nbytes() > value.numel() * value.element_size()
    return value.clone() if is_part or not value.is_contiguous() else value


def _spec_facts(spec: Spec) -> dict[str, Any]:
    if isinstance(spec, ScalarSpec):
        return {"name": spec.name, "dtype": str(spec.dtype), "value": spec.to_python()}
    facts = {"name": spec.name, "dtype": str(spec.dtype), "shape": list(spec.extents)}
    return facts | {"is_output": spec.is_output}


def golden_facts(golden_fn: Callable[..., object]) -> dict[str, str | None]:
    """Name of a golden function and digest of its source, which is None where there is none to read."""
    name = str(getattr(golden_fn, "__qualname__", type(golden_fn).__name__))
    try:
        source = inspect.getsource(golden_fn)
    except (OSError, TypeError):
        return {"name": name, "source_sha256": None}
    return {"name": name, "source_sha256": hashlib.sha256(source.encode()).hexdigest()}


@dataclass(frozen=True, slots=True)
class LoadedData:
    """Data of an earlier run: what the kernel starts from, the goldens, and what is to be said about each."""

    inputs: dict[str, torch.Tensor]
    goldens: dict[str, torch.Tensor]
    input_notes: tuple[str, ...]
    golden_notes: tuple[str, ...]


class DataReader:
    """A folder with ``in/`` and ``out/``, its own manifest being optional."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._facts = _read_facts(folder)
        self._states = {path: finding.state for path, finding in _changed(folder, self._facts)}

    def load(self, specs: Sequence[Spec], golden_fn: Callable[..., object] | None) -> LoadedData:
        """Load the data for these specs.

        Raises HarnessError (a ValueError) that names all missing files, or the file that cannot be read or
        does not fit its spec.
        """
        needed = list(needed_files(specs))
        missing = [str(self._folder / path) for path, _ in needed if not (self._folder / path).is_file()]
        if missing:
            raise HarnessError(f"golden_data is missing files: {missing}")
        notes: dict[str, list[str]] = {INPUTS: [], GOLDENS: []}
        data: dict[str, dict[str, torch.Tensor]] = {INPUTS: {}, GOLDENS: {}}
        for path, spec in needed:
            side = path.partition("/")[0]
            value = self._load(path)
            if side == INPUTS:
                _check_fits(spec, value)
                notes[side] += _replaced(spec, value)
            data[side][spec.name] = value
            if path in self._states:
                notes[side].append(f"{path}: {self._states[path]} since it was saved; used as it is")
        notes[GOLDENS] += self._golden_note(golden_fn)
        return LoadedData(data[INPUTS], data[GOLDENS], tuple(notes[INPUTS]), tuple(notes[GOLDENS]))

    def _load(self, path: str) -> torch.Tensor:
        try:
            value = torch.load(self._folder / path, map_location="cpu", weights_only=True)
        except Exception as error:
            state = f", {self._states[path]}" if path in self._states else ""
            reason = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
            raise HarnessError(f"{self._folder / path} cannot be read{state}: {reason}") from error
        if not isinstance(value, torch.Tensor):
            raise HarnessError(f"{Path(path).name} must contain a torch.Tensor, got {type(value).__name__}")
        return value

    def _golden_note(self, golden_fn: Callable[..., object] | None) -> Iterator[str]:
        saved = self._facts.get("golden_fn")
        if golden_fn is None or not isinstance(saved, dict) or saved.get("source_sha256") is None:
            return
        if golden_facts(golden_fn)["source_sha256"] != saved["source_sha256"]:
            yield "the goldens were computed by another golden_fn than the one given"


def _check_fits(spec: Spec, value: torch.Tensor) -> None:
    name = f"{spec.name}.pt"
    if isinstance(spec, ScalarSpec) and value.dim() != 0:
        raise HarnessError(f"{name} must contain a 0-dim torch.Tensor, got {tuple(value.shape)}")
    if value.dtype != spec.dtype:
        raise HarnessError(f"{name} dtype mismatch: spec={spec.dtype} cache={value.dtype}")
    if isinstance(spec, TensorSpec) and tuple(value.shape) != spec.extents:
        raise HarnessError(f"{name} shape mismatch: spec={spec.extents} cache={tuple(value.shape)}")


def _replaced(spec: Spec, value: torch.Tensor) -> Iterator[str]:
    if isinstance(spec, ScalarSpec) and not torch.equal(spec.value, value):
        yield f"scalar {spec.name!r}: {value.item()} from golden_data replaces {spec.to_python()}"


def saved_names(folder: Path) -> list[str]:
    """The names of the specs that data was saved for, in their order; none where that is not known."""
    return [str(spec["name"]) for spec in _read_facts(folder).get("specs", ())]


def changed_data(folder: Path) -> list[Finding]:
    """Saved files that are not as they were saved; they are about to be made anew."""
    return [finding for _, finding in _changed(folder, _read_facts(folder))]


def _changed(folder: Path, facts: Mapping[str, Any]) -> Iterator[tuple[str, Finding]]:
    for path, record in facts.get("files", {}).items():
        state = file_state(folder / path, FileRecord(record["bytes"], record["sha256"]))
        if state is not None:
            yield path, Finding(f"{folder.name}/{path}", state, "not used, data is made anew")


def _is_facts(data: bytes) -> bool:
    """The manifest of saved data, of whatever version."""
    facts = json_in(data)
    return isinstance(facts, dict) and facts.keys() >= {"schema", "program", "torch", "specs", "files"}


def _read_facts(folder: Path) -> dict[str, Any]:
    try:
        facts = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise HarnessError(f"{folder / MANIFEST} cannot be read: {error}") from None
    return facts if isinstance(facts, dict) and facts.get("schema") == SCHEMA else {}
