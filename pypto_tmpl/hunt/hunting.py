"""The hunt: batches of programs go to workers, new faults are shrunk there, all is written as it comes."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from pypto_tmpl.debug.validate.workers import WorkerDiedError, WorkerPool
from pypto_tmpl.execution.cores import usable_cores
from pypto_tmpl.hunt.compilers import CommandCompiler
from pypto_tmpl.hunt.examine import Examined, examine
from pypto_tmpl.hunt.findings import Finding, Signature
from pypto_tmpl.hunt.options import Options
from pypto_tmpl.hunt.programs.drawing import HuntedProgram
from pypto_tmpl.hunt.record import Found, Record, begin, resume
from pypto_tmpl.hunt.report.fault import Fault, fault_of
from pypto_tmpl.hunt.tasks import Batch, judge_batch, shrink_fault
from pypto_tmpl.ir.stage_names import FRONTEND

_ENOUGH = 6  # faults of a pass that go wrong alike: of others like them the statement is not looked for
_WRITE_EVERY = 5.0  # seconds


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a hunt has come; ``fault`` is the one that was found just now."""

    programs: int
    seconds: float
    faults: int
    shrinking: int
    fault: Found | None = None

    @property
    def rate(self) -> float:
        """Programs per second, in this run."""
        return self.programs / self.seconds if self.seconds else 0.0


Tell = Callable[[Progress], None]


def hunt(
    folder: Path, options: Options | None = None, *, again: bool = False, progress: Tell | None = None
) -> Record:
    """Draw programs, compile and judge them, and write what is wrong into a folder.

    ``again`` goes on with the hunt of that folder. What was found is in the folder as soon as it is known,
    also when KeyboardInterrupt ends the hunt; faults that were still being shrunk are then written as found.
    Raises HuntError for a folder that does not fit, CompilerError, FileError, KeyboardInterrupt.
    """
    options = options or Options()
    drawing = {
        "compiler": options.compiler.name,
        "kinds": list(options.kinds),
        "seed": options.seed,
    }
    if isinstance(options.compiler, CommandCompiler):
        options.compiler.check(options.program(0))
    record = resume(folder, drawing) if again else begin(folder, drawing)
    with enclosed(options) as inside:
        _Hunt(inside, record, progress or (lambda _: None)).run()
    return record


@contextmanager
def enclosed(options: Options) -> Iterator[Options]:
    """The options with a command that works in a folder; what it still runs there at the end is ended.

    Workers of ours do not see to that: they are ended themselves. Other executors may be on other machines.
    """
    compiler = options.compiler
    if options.executor is not None or not isinstance(compiler, CommandCompiler):
        yield options
        return
    with tempfile.TemporaryDirectory(prefix="pypto-tmpl-hunt-", ignore_cleanup_errors=True) as name:
        inside = replace(compiler, folder=name)
        try:
            yield replace(options, compiler=inside)
        finally:
            inside.end()


@dataclass(slots=True)
class _Hunt:
    options: Options
    record: Record
    tell: Tell
    judging: dict[Future[Batch], list[int]] = field(default_factory=dict)
    shrinking: dict[Future[Fault], tuple[HuntedProgram, Finding]] = field(default_factory=dict)
    seen: Counter[Signature] = field(default_factory=Counter)
    done: set[int] = field(default_factory=set)
    again: set[int] = field(default_factory=set)
    judged: int = 0

    def run(self) -> None:
        given = self.options.executor
        jobs = self.options.jobs or len(usable_cores())
        executor: Executor = given or WorkerPool(jobs)
        ahead = 2 * int(getattr(executor, "jobs", None) or getattr(executor, "_max_workers", None) or jobs)
        batches = self.options.batches(self.record.next)
        self.seen.update({signature: one.programs for signature, one in self.record.found.items()})
        began, spent = time.monotonic(), self.record.seconds
        written = began
        # A hunt that was killed has judged these, and has not told of what is wrong with them.
        self.again.update(number for number in self.record.unfinished if number < self.record.next)
        try:
            for number in sorted(self.again):
                self._judge(executor, [number])
            while self._submit(executor, batches, ahead, began) or self.shrinking:
                finished, _ = wait(self._at_work(), timeout=1, return_when=FIRST_COMPLETED)
                self.record.seconds = spent + time.monotonic() - began
                for future in finished:
                    self._finish(future, executor)
                self._report(began)
                if time.monotonic() - written > _WRITE_EVERY:
                    written = time.monotonic()
                    self._write()
        finally:
            waiting = list(self.shrinking.values())
            for future in self._at_work():
                future.cancel()
            if given is None:
                executor.shutdown(cancel_futures=True)
            self.shrinking.clear()
            self._write_unshrunk(waiting)
            self.record.seconds = spent + time.monotonic() - began
            self._write()

    def _write(self) -> None:
        of_faults = [self.options.number(program) for program, _ in self.shrinking.values()]
        self.record.unfinished = sorted({*of_faults, *self.again})
        self.record.write()

    def _at_work(self) -> list[Future[Any]]:
        return [*self.judging.keys(), *self.shrinking.keys()]

    def _submit(self, executor: Executor, batches: Iterator[range], ahead: int, began: float) -> bool:
        """Keep the executor busy; whether programs are being judged."""
        limit = self.options.seconds
        while len(self.judging) + len(self.shrinking) < ahead:
            if limit is not None and time.monotonic() - began > limit:
                break
            numbers = next(batches, None)
            if numbers is None:
                break
            self._judge(executor, list(numbers))
        return bool(self.judging)

    def _judge(self, executor: Executor, numbers: list[int]) -> None:
        per_pass = Counter((signature.stage, signature.wrong) for signature in self.seen)
        well_known = [key for key, count in per_pass.items() if count >= _ENOUGH]
        programs = [self.options.program(number) for number in numbers]
        options = self.options
        future = executor.submit(judge_batch, programs, options.compiler, options.time_limit, well_known)
        self.judging[future] = numbers

    def _finish(self, future: Future[Any], executor: Executor) -> None:
        if future in self.shrinking:
            program, finding = self.shrinking.pop(future)
            try:
                fault = future.result()
            except WorkerDiedError:
                fault = fault_of(Examined(program, finding), program, self.options.compiler.name)
            self._add(fault, finding.signature)
            return
        numbers = self.judging.pop(future)
        try:
            batch = future.result()
        except WorkerDiedError as error:
            if len(numbers) > 1:  # which of the programs it was shows when each has a process of its own
                for number in numbers:
                    self._judge(executor, [number])
                return
            finding = Finding(FRONTEND, "crash", str(error), op="the process died")
            batch = Batch(1, [(self.options.program(numbers[0]), finding)])
        if self.again.isdisjoint(numbers):
            self._count(batch, numbers)
        self.again.difference_update(numbers)
        for program, finding in batch.found:
            self._found(program, finding, executor)

    def _count(self, batch: Batch, numbers: list[int]) -> None:
        self.judged += batch.count
        self.record.programs += batch.count
        self.record.coverage.add(batch.coverage)
        self.done.update(numbers)
        while self.record.next in self.done:
            self.done.remove(self.record.next)
            self.record.next += 1

    def _found(self, program: HuntedProgram, finding: Finding, executor: Executor) -> None:
        signature, options = finding.signature, self.options
        patterns = (*options.ignored, *options.compiler.limits)
        if any(fnmatchcase(str(signature), pattern) for pattern in patterns):
            self.record.ignored[str(signature)] = self.record.ignored.get(str(signature), 0) + 1
            return
        self.seen[signature] += 1
        if signature in self.record.found:
            self.record.found[signature].programs += 1
        elif self.seen[signature] == 1:
            limits = options.shrink_seconds, options.time_limit
            future = executor.submit(shrink_fault, program, finding, options.compiler, *limits)
            self.shrinking[future] = program, finding

    def _add(self, fault: Fault, signature: Signature) -> None:
        if fault.finding.signature in self.record.found:
            return
        found = self.record.add(fault)
        found.programs = max(self.seen[signature], 1)
        self._report(None, found)

    def _write_unshrunk(self, waiting: list[tuple[HuntedProgram, Finding]]) -> None:
        for program, finding in waiting:
            examined = examine(program, self.options.compiler, seconds=self.options.time_limit)
            if examined.finding is None:
                examined.keep(finding)
            elif examined.finding.is_like(finding):
                examined.finding = finding
            self._add(fault_of(examined, program, self.options.compiler.name), finding.signature)

    def _report(self, began: float | None, found: Found | None = None) -> None:
        seconds = 0.0 if began is None else time.monotonic() - began
        self.tell(Progress(self.judged, seconds, len(self.record.found), len(self.shrinking), found))
