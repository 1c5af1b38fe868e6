"""Which task of which stage goes to an executor when, so that results come in stage order and early."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import torch

from pypto_tmpl.codegen.record import Script
from pypto_tmpl.compare.tensors import Rules, TensorVerdict, compare_by
from pypto_tmpl.compare.verdicts import Comparator
from pypto_tmpl.debug.stages.dumps import Stage, StageContent, StageFileError
from pypto_tmpl.debug.stages.preparation import Prepared, Request
from pypto_tmpl.debug.validate.tasks import Failure, Outcome, RunRequest, prepare_task, run_task
from pypto_tmpl.debug.validate.tensor_set import TensorSet
from pypto_tmpl.debug.validate.time_limits import TimeLimits
from pypto_tmpl.execution.load import script_name
from pypto_tmpl.storage.stored import planned_by


@dataclass(frozen=True, slots=True, eq=False)
class StageResult:
    """What became of one stage: verdicts on its tensors, or why there are none.

    ``same_as`` names the stage before when this one has its IR or its script (``same_what``) and was not run
    again; ``tensors`` are what was computed, ``ir`` the text of the program and ``record`` its script, where
    keeping them was asked for. One that is not ``is_run`` was only read. ``notes`` tell which tiles lie where
    others have written. What is told is of a run ``is_on_bytes``, or of one by values.
    """

    stage: Stage
    verdicts: tuple[TensorVerdict, ...] = ()
    failure: Failure | None = None
    read_from: str = ""
    note: str = ""
    same_as: str = ""
    same_what: str = ""
    seconds: float = 0.0
    tensors: Mapping[str, torch.Tensor] = field(default_factory=dict)
    ir: str = ""
    record: Script | None = None
    is_run: bool = True
    notes: tuple[str, ...] = ()
    is_on_bytes: bool = False

    @property
    def script(self) -> str:
        """The text of the script, "" where that was not kept."""
        return "" if self.record is None else self.record.text

    @property
    def passed(self) -> bool:
        """True when the stage ran and every tensor is as expected."""
        return self.failure is None and all(verdict.passed for verdict in self.verdicts)

    @property
    def verdict(self) -> str:
        """The verdict in a word: ok, wrong, failed, timed out, unreadable or not run."""
        if not self.is_run:
            return "not run"
        if self.failure is None:
            return "ok" if self.passed else "wrong"
        known = {"script": "failed", "undefined": "failed", "misplaced": "failed", "time": "timed out"}
        return known.get(self.failure.kind, "unreadable")


@dataclass(frozen=True, slots=True)
class Job:
    """What is done with every stage.

    Reading a stage and running it may each take ``time_limit`` seconds. ``keep_tensors`` and ``keep_texts``
    have results hold what was computed, and the texts of program and script.
    """

    request: Request
    tensors: TensorSet
    rules: Rules
    comparators: Mapping[str, Comparator] = field(default_factory=dict)
    keep_tensors: bool = False
    keep_texts: bool = False
    time_limit: float | None = None

    def run_request(self) -> RunRequest:
        """What is asked of every run; comparators may be closures, so they are called here."""
        here = frozenset(self.comparators)
        send_back = self.keep_tensors or bool(here)
        return RunRequest(self.rules, here, send_back, self.request.template_dirs, self.request.trace)


@dataclass(slots=True)
class _Slot:
    """What is known of one stage so far."""

    content: StageContent | None = None
    has_text_of_previous: bool = False
    prepared: Prepared | Failure | None = None
    same_what: str = ""
    outcome: Outcome | Failure | None = None


class Schedule:
    """Iterates over the results of stages, in their order, while later ones are at work.

    At most ``ahead`` stages are at work besides the one whose result comes next. A stage whose text is
    that of the one before is not read again; one whose IR is structurally equal, or that has the same
    script, is not run again.
    """

    def __init__(self, stages: Sequence[Stage], executor: Executor, job: Job, ahead: int) -> None:
        self.stages = stages
        self.executor = executor
        self.job = job
        self.ahead = ahead
        self._slots: dict[int, _Slot] = {}
        self._pending: dict[Future[Any], int] = {}
        self._next_run = 0
        self._front = 0
        self._time_limits = None if job.time_limit is None else TimeLimits(executor, job.time_limit)

    def __iter__(self) -> Iterator[StageResult]:
        result: StageResult | None = None
        for index in range(len(self.stages)):
            self._front = index
            while not self._is_done(index):
                self._read_ahead(index)
                self._run_prepared()
                if not self._is_done(index):
                    self._collect()
            result = self._result(index, result)
            self._slots.pop(index - 1, None)
            yield result

    def cancel(self) -> None:
        """Give up what is still waiting in the executor."""
        for future in self._pending:
            future.cancel()

    def _is_done(self, index: int) -> bool:
        slot = self._slots.get(index)
        return slot is not None and (bool(slot.same_what) or slot.outcome is not None)

    def _read_ahead(self, front: int) -> None:
        """Have stages prepared, as far ahead of the front as is allowed."""
        read = max(self._slots, default=front - 1) + 1
        for index in range(read, min(front + 1 + self.ahead, len(self.stages))):
            slot = self._slots[index] = _Slot()
            try:
                slot.content = self.stages[index].read()
            except StageFileError as error:
                slot.prepared = Failure("unreadable", str(error))
                continue
            before = self._slots.get(index - 1, _Slot()).content
            is_same = before is not None and before.text == slot.content.text is not None
            # the name of a stage tells, too, whether it runs on bytes
            names = [stage.name for stage in self.stages[index - 1 : index + 1]] if index else []
            is_planned_alike = self.job.request.storage == "off" or len(set(map(planned_by, names))) == 1
            slot.has_text_of_previous = is_same and is_planned_alike
            if not slot.has_text_of_previous:
                self._prepare(index)

    def _prepare(self, index: int) -> None:
        content = self._slots[index].content
        assert content is not None
        self._pending[self.executor.submit(prepare_task, content, self.job.request)] = index

    def _run_prepared(self) -> None:
        """Have the stages run that are prepared, as far as all before them are."""
        while (slot := self._slots.get(self._next_run)) is not None:
            before = self._slots.get(self._next_run - 1, _Slot()).prepared
            if slot.has_text_of_previous and slot.prepared is None:
                self._prepare_like(before, self._next_run)
            if slot.prepared is None:
                return
            if isinstance(slot.prepared, Failure):
                slot.outcome = slot.prepared
            elif isinstance(before, Prepared) and (same := before.runs_like(slot.prepared)):
                slot.same_what = same
            else:
                self._run(slot.prepared, self._next_run)
            self._next_run += 1

    def _prepare_like(self, before: Prepared | Failure | None, index: int) -> None:
        """Take over what the same text gave before, unless it was no use: then the companions decide."""
        slot = self._slots[index]
        slot.has_text_of_previous = False
        assert slot.content is not None
        if not isinstance(before, Prepared) or not before.is_from_text:
            self._prepare(index)
            return
        name = script_name(before.program, slot.content.name)
        slot.prepared = replace(before, name=name, read_from=slot.content.text_name, seconds=0.0)

    def _run(self, prepared: Prepared, index: int) -> None:
        content, job = self._slots[index].content, self.job
        assert content is not None
        future = self.executor.submit(run_task, prepared, content, job.tensors, job.run_request())
        self._pending[future] = index

    def _collect(self) -> None:
        """Wait for tasks to end, or for their time to be over, and take what they gave."""
        if self._time_limits is None:
            done, late = wait(self._pending, return_when=FIRST_COMPLETED).done, set[Future[Any]]()
        else:
            done, late = self._time_limits.wait(self._pending, self._front)
        for future in done | late:
            slot = self._slots[self._pending.pop(future)]
            if slot.prepared is not None:
                slot.outcome = self._late("running") if future in late else _found(future, "script")
            else:
                slot.prepared = self._late("reading") if future in late else _found(future, "unreadable")

    def _late(self, what: str) -> Failure:
        limit = f"{self.job.time_limit:g} s"
        return Failure("time", f"{what} the stage took longer than the time limit of {limit}")

    def _result(self, index: int, before: StageResult | None) -> StageResult:
        slot, stage = self._slots[index], self.stages[index]
        if not isinstance(slot.prepared, Prepared):
            assert isinstance(slot.prepared, Failure)
            is_on_bytes = slot.prepared.is_on_bytes
            return StageResult(stage, failure=slot.prepared, ir=self._ir_text(slot), is_on_bytes=is_on_bytes)
        script = slot.prepared.script if self.job.keep_texts else None
        read = StageResult(stage, ir=self._ir_text(slot), record=script)
        read = replace(read, read_from=slot.prepared.read_from, note=slot.prepared.note)
        if slot.same_what:
            assert before is not None
            read = replace(read, verdicts=before.verdicts, failure=before.failure, tensors=before.tensors)
            read = replace(read, same_as=before.stage.name, same_what=slot.same_what, notes=before.notes)
            read = replace(read, is_on_bytes=before.is_on_bytes)
            return replace(read, seconds=slot.prepared.seconds)
        if isinstance(slot.outcome, Failure):
            is_on_bytes = slot.outcome.is_on_bytes
            return replace(read, failure=slot.outcome, seconds=slot.prepared.seconds, is_on_bytes=is_on_bytes)
        assert slot.outcome is not None
        seconds = slot.prepared.seconds + slot.outcome.seconds
        verdicts = self._verdicts(slot.outcome)
        kept = slot.outcome.tensors if self.job.keep_tensors else {}
        read = replace(read, notes=slot.outcome.notes, is_on_bytes=slot.outcome.is_on_bytes)
        return replace(read, verdicts=verdicts, tensors=kept, seconds=seconds)

    def _ir_text(self, slot: _Slot) -> str:
        """The text that was read, or that a companion was printed as; of a stage without use, its file's."""
        if not self.job.keep_texts or slot.content is None:
            return ""
        if isinstance(slot.prepared, Prepared) and not slot.prepared.is_from_text:
            return slot.prepared.printed
        return (slot.content.text or b"").decode("utf-8-sig", "replace")

    def _verdicts(self, outcome: Outcome) -> tuple[TensorVerdict, ...]:
        """All verdicts in the order of the expected tensors; comparators run here, they may be closures."""
        inputs, expected = self.job.tensors.load()
        made = {verdict.name: verdict for verdict in outcome.verdicts}
        given = {name: tensor for name, tensor in inputs.items() if name not in expected}
        rules = replace(self.job.rules, stacked=outcome.stacked)
        for name, comparator in self.job.comparators.items():
            made[name] = compare_by(comparator, name, outcome.tensors, expected, given, rules)
        names = dict.fromkeys([*expected, *made])  # what is left are checkpoints
        return tuple(made[name] for name in names)


def _found(future: Future[Any], kind: Literal["script", "unreadable"]) -> Any:
    """What a task gave; a failure where the executor has none, since its process died or was cancelled."""
    try:
        return future.result()
    except Exception as error:
        return Failure(kind, str(error) or repr(error))
