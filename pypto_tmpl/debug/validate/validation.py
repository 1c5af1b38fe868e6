"""Running every stage of a pass dump and comparing what it computes with what is expected."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path

import torch

from pypto_tmpl.compare.tensors import Rules
from pypto_tmpl.compare.tolerance import Tolerance
from pypto_tmpl.compare.verdicts import Comparator
from pypto_tmpl.debug.stages.dumps import find_stages
from pypto_tmpl.debug.stages.preparation import Request
from pypto_tmpl.debug.validate.checkpoints import checkpoint_selection
from pypto_tmpl.debug.validate.schedule import Job, Schedule, StageResult
from pypto_tmpl.debug.validate.tensor_set import TensorSet
from pypto_tmpl.debug.validate.workers import PatientPool, WorkerPool
from pypto_tmpl.errors import allowed_note
from pypto_tmpl.execution.cores import usable_cores
from pypto_tmpl.overlays import checked_folders
from pypto_tmpl.storage.choices import DEFAULT, StorageChoice, check_choice

RTOL = ATOL = 5e-2
Number = bool | int | float
ToleranceLike = Tolerance | float | tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How stages are run and compared.

    A stage is read from its text if that parses and every op in it is supported, else from the ``.msgpack``
    of the same stem; a text that does not parse and is not what the companion prints was edited, and its
    error is reported. The entry is the only Orchestration function, else the only uncalled one, else the
    one whose parameters are all among the tensors, or ``entry``. Names match without SSA suffix. Every stage
    gets copies of all tensors.

    Floating-point tensors may differ by ``atol + rtol * |expected|``, integers by ``atol``, bools not at all.
    ``tolerances`` sets (rtol, atol) for single tensors of any dtype; ``comparators`` sets functions
    ``f(actual, expected, *, actual_outputs, expected_outputs, inputs, rtol, atol) -> (ok, message)``.
    ``equal_nan`` takes NaN as equal to NaN, ``widen_dtypes`` compares tensors of two dtypes by value.

    Up to ``jobs`` worker processes, by default as many as there are cores, take over when the work has
    taken longer than their start (at once where ``jobs`` is given; 1 means none). Any ``executor`` of
    ``concurrent.futures`` serves instead. Templates in ``template_dirs`` come before the project's own.
    Reading a stage, and running it, may each take ``time_limit`` seconds: the stage is bad after that. With
    a limit stages always run in worker processes, which can be ended, or in ``executor``, which may go on.
    ``checkpoints`` are expected intermediates by the names of variables: they are compared in each stage that
    has such a variable, tiles of all rounds, lanes and blocks as one tensor.
    With ``companions_first`` a stage is read from its ``.msgpack``, and texts count where there is none.
    A program whose tiles have addresses runs by values and on their bytes; with ``storage`` "planned" on the
    bytes alone, with "off" by values alone, and with "on" on the bytes where tiles have places only, too.
    With ``keep_tensors`` the results hold what was computed, with ``keep_for_report`` what a page shows.
    """

    rtol: float = RTOL
    atol: float = ATOL
    entry: str | None = None
    tolerances: Mapping[str, ToleranceLike] = field(default_factory=dict)
    comparators: Mapping[str, Comparator] = field(default_factory=dict)
    equal_nan: bool = False
    widen_dtypes: bool = False
    jobs: int | None = None
    executor: Executor | None = None
    time_limit: float | None = None
    template_dirs: tuple[Path, ...] = ()
    checkpoints: Mapping[str, torch.Tensor] = field(default_factory=dict)
    companions_first: bool = False
    storage: StorageChoice = DEFAULT
    keep_tensors: bool = False
    keep_for_report: bool = False

    def rules(self) -> Rules:
        """The rules of comparison. Raises ValueError for a tolerance that is none."""
        per_tensor = {name: as_tolerance(value) for name, value in self.tolerances.items()}
        return Rules(
            Tolerance(self.rtol, self.atol),
            per_tensor,
            self.equal_nan,
            self.widen_dtypes,
            pictures=self.keep_for_report,
        )


def as_tolerance(value: ToleranceLike) -> Tolerance:
    """A tolerance as users give it: one number for both, or (rtol, atol)."""
    if isinstance(value, Tolerance):
        return value
    rtol, atol = value if isinstance(value, tuple) else (value, value)
    return Tolerance(rtol, atol)


class Validation:
    """The check of a dump directory or file: its stages, and their results as they become known.

    Raises StageNotFoundError without dumps, TypeError for what is no dict of tensors, ValueError for
    options that do not fit.
    """

    def __init__(
        self,
        source: str | PathLike[str],
        tensors: Mapping[str, torch.Tensor | Number],
        expected: Mapping[str, torch.Tensor],
        options: Options,
    ) -> None:
        self.options = replace(options, template_dirs=checked_folders(options.template_dirs))
        self.rules = options.rules()
        _check_names("tensors", tensors)
        _check_names("expected", expected)
        self.inputs = {name: _copied(name, value, "tensors") for name, value in tensors.items()}
        self.expected = {name: _copied(name, value, "expected").cpu() for name, value in expected.items()}
        self.checkpoints = {
            name: _copied(name, value, "checkpoints").cpu() for name, value in options.checkpoints.items()
        }
        for name in self.checkpoints.keys() & self.expected.keys():
            raise ValueError(f"{name!r} is among the expected tensors: it cannot be a checkpoint, too")
        if not self.expected:
            raise ValueError("expected is empty: there is nothing to compare")
        for title, names in (("tolerances", options.tolerances), ("comparators", options.comparators)):
            for name in names:
                is_checkpoint = title == "tolerances" and name in self.checkpoints
                if name not in self.expected and not is_checkpoint:
                    note = allowed_note("expected", list(self.expected), name)
                    raise ValueError(f"{title} has {name!r}, which is not among the expected tensors; {note}")
        if options.jobs is not None and options.jobs < 1:
            raise ValueError(f"jobs must be 1 or more, got {options.jobs}")
        if options.executor is not None and not callable(getattr(options.executor, "submit", None)):
            kind = type(options.executor).__name__
            raise TypeError(f"executor must be a concurrent.futures.Executor, got {kind}")
        check_choice(options.storage)
        if options.time_limit is not None and not options.time_limit > 0:
            raise ValueError(f"time_limit must be more than 0 s, got {options.time_limit!r}")
        self.stages = find_stages(Path(source))

    def results(self) -> Generator[StageResult, None, None]:
        """Results in stage order; closing the iterator ends what is still at work."""
        options, given = self.options, self.options.executor
        executor = given or _own_executor(options.jobs, options.time_limit)
        is_local = isinstance(executor, (PatientPool, WorkerPool, ThreadPoolExecutor, ProcessPoolExecutor))
        tensors = TensorSet(self.inputs, self.expected, self.checkpoints, by_value=not is_local)
        job = Job(
            Request(
                frozenset(self.inputs),
                options.entry,
                options.template_dirs,
                options.keep_for_report,
                options.companions_first,
                checkpoint_selection(list(self.checkpoints)),
                options.storage,
            ),
            tensors,
            self.rules,
            options.comparators,
            keep_tensors=options.keep_tensors,
            keep_texts=options.keep_for_report,
            time_limit=options.time_limit,
        )
        schedule = Schedule(self.stages, executor, job, _ahead(executor, options.jobs))
        try:
            yield from schedule
        finally:
            schedule.cancel()
            if given is None:
                executor.shutdown(cancel_futures=True)
            tensors.discard()


def _own_executor(jobs: int | None, time_limit: float | None) -> Executor:
    if time_limit is not None:
        return WorkerPool(jobs or len(usable_cores()))
    if jobs is None:
        return PatientPool(len(usable_cores()))
    return PatientPool(1) if jobs == 1 else WorkerPool(jobs)


def _ahead(executor: Executor, jobs: int | None) -> int:
    """Enough stages to keep every worker busy, few enough to stop soon after a bad one."""
    known = jobs or getattr(executor, "jobs", None) or getattr(executor, "_max_workers", None) or 16
    return 0 if known == 1 else 2 * int(known)


def _check_names(title: str, given: object) -> None:
    if not isinstance(given, Mapping):
        kind = type(given).__name__
        raise TypeError(f"{title} must be a dict of tensors by the names of parameters, got {kind}")


def _copied(name: str, value: object, where: str) -> torch.Tensor:
    """A copy that shares nothing with the caller's tensor; a number among the inputs is a 0-d tensor."""
    if isinstance(value, torch.Tensor):
        if value.is_meta:
            raise ValueError(f"{where}[{name!r}] is on the meta device: it holds no values")
        return value.detach().clone()
    if where == "tensors" and isinstance(value, bool | int | float):
        return torch.tensor(value)
    raise TypeError(f"{where}[{name!r}] must be a torch.Tensor, got {type(value).__name__}")
