"""The two tasks of a stage, prepare and run: plain functions of plain data, for any executor."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Literal

from pypto_tmpl.debug.comparison import Rules, TensorVerdict, compare_tensors
from pypto_tmpl.debug.entry import EntryError
from pypto_tmpl.debug.execution import MissingTensorError, ScriptError, run_entry
from pypto_tmpl.debug.preparation import Prepared, Request, prepare
from pypto_tmpl.debug.stages import StageContent
from pypto_tmpl.debug.tensor_set import Tensors, TensorSet
from pypto_tmpl.errors import PyptoTmplError


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a stage has no verdict: its files cannot be used, its script raised, or the request is wrong."""

    kind: Literal["unreadable", "script", "request"]
    text: str
    error: PyptoTmplError | None = None  # of a wrong request


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run gave: verdicts, and the computed tensors that were asked for."""

    verdicts: tuple[TensorVerdict, ...]
    tensors: Tensors = field(default_factory=dict)
    seconds: float = 0.0


def prepare_task(content: StageContent, request: Request) -> Prepared | Failure:
    """Read a stage and emit its script."""
    try:
        return prepare(content, request)
    except EntryError as error:
        return Failure("request", str(error), error)
    except Exception as error:
        return Failure("unreadable", _text(error))


def run_task(
    prepared: Prepared, tensors: TensorSet, rules: Rules, elsewhere: frozenset[str], send_back: bool
) -> Outcome | Failure:
    """Run a script and compare what it computed, except what is compared ``elsewhere``."""
    began = time.perf_counter()
    inputs, expected = tensors.load()
    try:
        actual = run_entry(prepared.script, prepared.name, prepared.entry, inputs, expected)
    except MissingTensorError as error:
        return Failure("request", str(error), error)
    except ScriptError as error:
        return Failure("script", error.what)
    compared = [name for name in expected if name not in elsewhere]
    verdicts = tuple(compare_tensors(name, actual[name], expected[name], rules) for name in compared)
    return Outcome(verdicts, actual if send_back else {}, time.perf_counter() - began)


def prepare_worker() -> None:
    """Load what the first stage would otherwise wait for."""
    from pypto_tmpl.codegen.script import generator

    generator()


def _text(error: Exception) -> str:
    return str(error) if isinstance(error, PyptoTmplError) else f"{type(error).__name__}: {error}"
