"""The two tasks of a stage, prepare and run: plain functions of plain data, for any executor."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import torch

from pypto_tmpl.codegen.options import options_in
from pypto_tmpl.codegen.tracing import TraceSelection
from pypto_tmpl.codegen.unsupported import UnsupportedProgramError
from pypto_tmpl.compare.tensors import Rules, TensorVerdict, compare_tensors
from pypto_tmpl.debug.stages.dumps import StageContent
from pypto_tmpl.debug.stages.preparation import MisplacedError, Prepared, Request, prepare, read_again
from pypto_tmpl.debug.stages.storage import wrong_places
from pypto_tmpl.debug.validate.changed_inputs import changed_inputs, verdict_on
from pypto_tmpl.debug.validate.checkpoints import checkpoint_verdicts
from pypto_tmpl.debug.validate.tensor_set import Tensors, TensorSet
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.execution.changes import changing_statements
from pypto_tmpl.execution.entry import EntryError
from pypto_tmpl.execution.load import ScriptError
from pypto_tmpl.execution.named import Binding, MissingTensorError, TensorShapeError
from pypto_tmpl.execution.run import run_entry
from pypto_tmpl.execution.statement_place import StatementPlace
from pypto_tmpl.overlays import using_templates


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a stage has no verdict: its files are no use, its script raised or hung, the request is wrong.

    A stage that uses variables which nothing binds is "undefined": no script of it could run. One with tiles
    where none can lie is "misplaced": no script of it could run on bytes. ``is_on_bytes`` tells that a run on
    bytes raised.
    """

    kind: Literal["unreadable", "undefined", "misplaced", "script", "time", "request"]
    text: str
    error: PyptoTmplError | None = None  # of a wrong request
    is_on_bytes: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run gave: verdicts, the computed tensors that were asked for, and why some are wrong.

    ``is_on_bytes`` tells that the run was one on the bytes of tiles. Tensors that are ``stacked`` hold the
    parts of all ranks.
    """

    verdicts: tuple[TensorVerdict, ...]
    tensors: Tensors = field(default_factory=dict)
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    is_on_bytes: bool = False
    stacked: frozenset[str] = frozenset()


def prepare_task(content: StageContent, request: Request) -> Prepared | Failure:
    """Read a stage and emit its script."""
    try:
        return prepare(content, request)
    except EntryError as error:
        return Failure("request", str(error), error)
    except MisplacedError as error:
        return Failure("misplaced", str(error), is_on_bytes=True)
    except UnsupportedProgramError as error:
        return Failure("undefined" if error.is_undefined else "unreadable", str(error))
    except Exception as error:
        return Failure("unreadable", _text(error))


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What is asked of every run, in the words of a ``Job``; tensors ``elsewhere`` are not compared here."""

    rules: Rules
    elsewhere: frozenset[str] = frozenset()
    send_back: bool = False
    template_dirs: tuple[Path, ...] = ()
    trace: TraceSelection | None = None


def run_task(
    prepared: Prepared, content: StageContent, tensors: TensorSet, request: RunRequest
) -> Outcome | Failure:
    """Run a script and compare what it computed; errors name lines of the files it was made from."""
    with using_templates(request.template_dirs):
        if prepared.values is not None:
            by_value = replace(prepared, script=prepared.values, is_stored=False)
            outcome = _run_task(by_value, content, tensors, request)
            if isinstance(outcome, Failure) or not all(verdict.passed for verdict in outcome.verdicts):
                return outcome
        return _run_task(prepared, content, tensors, request)


def _run_task(
    prepared: Prepared, content: StageContent, tensors: TensorSet, request: RunRequest
) -> Outcome | Failure:
    began = time.perf_counter()
    inputs, expected = tensors.load()
    rules = replace(request.rules, stacked=prepared.stacked)
    verdicts: list[TensorVerdict] = []

    def check(namespace: Mapping[str, Any]) -> None:
        verdicts.extend(checkpoint_verdicts(namespace, tensors.checkpoints(), request.rules))

    changed: dict[str, torch.Tensor] = {}

    befores: dict[str, torch.Tensor] = {}

    def compare_inputs(binding: Binding) -> None:
        changed.update(changed_inputs(prepared.entry, binding, inputs, expected))
        befores.update({name: inputs[binding.sources[name]] for name in changed})

    try:
        actual = run_entry(
            prepared.script,
            prepared.name,
            prepared.entry,
            inputs,
            expected,
            after=check if request.trace is not None else None,
            check=compare_inputs,
            large=prepared.large,
        )
    except (MissingTensorError, TensorShapeError) as error:
        return Failure("request", str(error), error)
    except ScriptError as error:
        return Failure("script", error.what, is_on_bytes=prepared.is_stored)
    compared = [name for name in expected if name not in request.elsewhere]
    verdicts += [compare_tensors(name, actual[name], expected[name], rules) for name in compared]
    if changed:
        places = _places(prepared, content, tensors, sorted(changed), request)
        verdicts += [verdict_on(name, now, befores[name], places.get(name)) for name, now in changed.items()]
    notes = () if all(verdict.passed for verdict in verdicts) else _notes(prepared, content)
    seconds = time.perf_counter() - began
    sent = actual if request.send_back else {}
    return Outcome(tuple(verdicts), sent, seconds, notes, prepared.is_stored, prepared.stacked)


def _notes(prepared: Prepared, content: StageContent) -> tuple[str, ...]:
    """Which tiles lie where others have written, of a program that runs on their bytes."""
    if not prepared.is_stored:
        return ()
    options = options_in(prepared.script.text)
    node = read_again(prepared, content)
    return wrong_places(node, copies_yields=options.copy_yields, placed=options.placed)


def _places(
    prepared: Prepared, content: StageContent, tensors: TensorSet, names: list[str], request: RunRequest
) -> dict[str, StatementPlace]:
    """The statements that changed inputs; none where the run that is to tell them fails."""
    inputs, expected = tensors.load()
    try:
        node = read_again(prepared, content)
        return changing_statements(node, prepared.entry.name, inputs, expected, names, request.template_dirs)
    except Exception:  # what the verdict says does not depend on it
        return {}


def prepare_worker() -> None:
    """Load what the first stage would otherwise wait for."""
    from pypto_tmpl.codegen.script import generator

    generator()


def _text(error: Exception) -> str:
    return str(error) if isinstance(error, PyptoTmplError) else f"{type(error).__name__}: {error}"
