"""Which pass broke a program that has run wrong: the dumps of its build run on the same data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from pypto_tmpl.compile.build import REPORT, Build
from pypto_tmpl.debug.report.writing import write_report
from pypto_tmpl.debug.search.bisect import StageSearch, explain, find_first_bad
from pypto_tmpl.debug.search.divergence import Divergence
from pypto_tmpl.debug.stages.dumps import Stage, find_stages
from pypto_tmpl.debug.validate.results import ValidationResult
from pypto_tmpl.debug.validate.validation import Options
from pypto_tmpl.execution.options import options_of_scripts
from pypto_tmpl.golden.comparators import Comparator, Verdict
from pypto_tmpl.golden.knobs import Knobs
from pypto_tmpl.ir.stage_names import FRONTEND, pass_of
from pypto_tmpl.runtime.manifest import file_record
from pypto_tmpl.runtime.stages import DUMPS
from pypto_tmpl.storage.choices import StorageChoice

Tensors = Mapping[str, torch.Tensor]
PAGE = f"{REPORT}/broken_pass.html"


@dataclass(frozen=True, slots=True)
class BrokenPass:
    """The first stage that is wrong, the last right one, and what is wrong first, if that is known."""

    first_bad: str
    last_good: str
    page: Path | None = None
    divergence: Divergence | None = None

    @property
    def is_of_a_pass(self) -> bool:
        """False where the program is wrong as it is written."""
        return self.first_bad != FRONTEND

    def lines(self) -> Iterator[str]:
        """What is told of it."""
        if not self.is_of_a_pass:
            yield f"no pass broke it: it is wrong as it is written ({FRONTEND}), too"
            return
        yield f"{pass_of(self.first_bad)} broke it: {self.first_bad} is wrong, {self.last_good} is right"
        if self.divergence is not None:
            yield from list(self.divergence.lines())[1:]
        if self.page is not None:
            yield f"report: {self.page}"


def find_broken_pass(
    build: Build, inputs: Tensors, golden: Tensors | None, knobs: Knobs, storage: StorageChoice
) -> BrokenPass | None:
    """The pass that broke the program of a build; ``inputs`` are what the wrong run began with, by spec.

    None where that cannot be told: there are no dumps, the script is another one than the build made, it was
    made for the program as it is written, or all stages are right. Raises what running stages raises.
    """
    manifest, dumps = build.manifest, build.directory / DUMPS
    if manifest.source is None or manifest.stage == FRONTEND or golden is None:
        return None
    if file_record(build.directory / manifest.script) != manifest.files.get(manifest.script):
        return None
    pairs = zip(knobs.specs, manifest.entry.parameters, strict=True)
    params = {spec.name: param.name for spec, param in pairs}
    tensors = {params[name]: value for name, value in inputs.items()}
    expected = {params[name]: value for name, value in golden.items()}
    options = Options(
        rtol=knobs.rtol,
        atol=knobs.atol,
        entry=manifest.entry.name,
        comparators={
            params[name]: _by_spec_names(comparator, params)
            for name, comparator in (knobs.compare_fn or {}).items()
            if name in golden
        },
        equal_nan=knobs.equal_nan,
        jobs=1,
        companions_first=True,
        storage=storage,
        keep_for_report=True,
    )
    with options_of_scripts(ranks=None if manifest.device_ids is None else len(manifest.device_ids)):
        return _found(build, dumps, tensors, expected, options)


def _found(
    build: Build,
    dumps: Path,
    tensors: Mapping[str, torch.Tensor],
    expected: Mapping[str, torch.Tensor],
    options: Options,
) -> BrokenPass | None:
    search = find_first_bad(dumps, tensors, expected, options)
    if search.first_bad is None:
        return None
    bad, good = search.first_bad.stage.name, search.last_good
    if bad == FRONTEND or good is None:
        return BrokenPass(FRONTEND, "")
    divergence = _divergence(search, tensors, expected, options)
    page = build.directory / PAGE
    title = f"{pass_of(bad)} broke {build.manifest.program}"
    write_report(page, _result(search, find_stages(dumps)), _rerun, divergence=divergence, title=title)
    return BrokenPass(bad, good.name, page, divergence)


def _divergence(
    search: StageSearch,
    tensors: Mapping[str, torch.Tensor],
    expected: Mapping[str, torch.Tensor],
    options: Options,
) -> Divergence | None:
    try:
        return explain(search, tensors, expected, options)
    except Exception:  # of a script that runs on wrong values: it may be anything
        return None


def _result(search: StageSearch, stages: Sequence[Stage]) -> ValidationResult:
    """The stages that were run, in their order."""
    found = [search.results[stage.name] for stage in stages if stage.name in search.results]
    return ValidationResult(len(stages), found)


def _rerun(stage: Stage, tensor: str) -> str:
    return f"validate_pass_ir_codegen_results({str(stage.path)!r}, tensors, expected)"


def _by_spec_names(comparator: Comparator, params: Mapping[str, str]) -> Comparator:
    """A comparator that finds other tensors by the names of their specs."""

    def compare(actual: torch.Tensor, expected: torch.Tensor, **given: Any) -> Verdict:
        for group in ("actual_outputs", "expected_outputs", "inputs"):
            by_param = given[group]
            given[group] = {spec: by_param[param] for spec, param in params.items() if param in by_param}
        return comparator(actual, expected, **given)

    return compare
