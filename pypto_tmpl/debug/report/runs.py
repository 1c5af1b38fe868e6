"""One run of a program, told as a stage, so that it can be reported like one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import torch

from pypto_tmpl.codegen.layout import outline
from pypto_tmpl.compare.tensors import Rules, TensorVerdict, compare_tensors
from pypto_tmpl.debug.stages.dumps import BINARY, Stage
from pypto_tmpl.debug.validate.results import ValidationResult
from pypto_tmpl.debug.validate.schedule import StageResult
from pypto_tmpl.debug.validate.tasks import Failure


def run_stage(
    name: str,
    source: Path,
    *,
    actual: Mapping[str, torch.Tensor] | None = None,
    expected: Mapping[str, torch.Tensor] | None = None,
    rules: Rules | None = None,
    decided: Mapping[str, tuple[bool, str]] | None = None,
    error: str = "",
    seconds: float = 0.0,
    ir: str = "",
    script: str = "",
) -> ValidationResult:
    """The result of one run, for ``write_report``.

    ``source`` is the file that the program was read from, ``ir`` and ``script`` are its text and that of its
    script.
    Each expected tensor is compared with the actual one by ``rules``; what ``decided`` says of a tensor,
    (passed, message), goes before that verdict. A run that ended with an ``error`` has no verdicts.
    Raises KeyError for an expected tensor that is not among the actual ones.
    """
    is_binary = source.suffix == BINARY
    stage = Stage(name, None if is_binary else source, source if is_binary else None)
    result = StageResult(
        stage, read_from=str(source), seconds=seconds, ir=ir, record=outline(script) if script else None
    )
    if error:
        return ValidationResult(1, [replace(result, failure=Failure("script", error))])
    rules = replace(rules or Rules(), pictures=True)
    verdicts = [
        _verdict(compare_tensors(tensor, (actual or {})[tensor], wanted, rules), decided or {})
        for tensor, wanted in (expected or {}).items()
    ]
    return ValidationResult(1, [replace(result, verdicts=tuple(verdicts))])


def _verdict(verdict: TensorVerdict, decided: Mapping[str, tuple[bool, str]]) -> TensorVerdict:
    if verdict.name not in decided:
        return verdict
    passed, message = decided[verdict.name]
    return replace(verdict, passed=passed, reason=message or verdict.reason)
