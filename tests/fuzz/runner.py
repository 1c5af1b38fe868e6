"""A run: inputs go to worker processes; what fails is told apart by its place and made small."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from fuzz.examine import CPU_SECONDS, Failure, failure_of, limit_memory
from fuzz.inputs import make_input
from fuzz.minimise import minimised
from process_pool import Worker

WALL_SECONDS = 600.0
"""When a worker counts as hung: far above the processor time that an input may take."""

MINIMISE_SECONDS = 60.0


@dataclass
class Finding:
    """One way to fail: the first input of it, made small, and how many there were."""

    kind: str
    index: int
    data: bytes
    failure: Failure
    count: int = 1

    @property
    def name(self) -> str:
        """A file name that tells where the input fails."""
        words = "".join(char if char.isalnum() else "_" for char in self.failure.signature)
        return f"{words[:70].strip('_').lower()}_{hashlib.sha256(self.data).hexdigest()[:8]}"


@dataclass
class Run:
    """The state of a run."""

    seed: int
    tried: int = 0
    findings: dict[str, Finding] = field(default_factory=dict)


def check(task: tuple[str, bytes] | tuple[int, int]) -> Failure | None:
    """What a worker does: an input itself, or the seed and the index of one."""
    kind, data = task if isinstance(task[0], str) else make_input(*task)
    return failure_of(kind, data)


def result_of(worker: Worker, task: tuple[str, bytes] | tuple[int, int]) -> Failure | None:
    """The worker's result; a worker that hangs or dies is a failure too."""
    result = worker.run(task, WALL_SECONDS)
    if isinstance(result, str):
        what = "hangs" if "no answer" in result else "dies"
        return Failure(f"{task[0] if isinstance(task[0], str) else ''} {what}", result)
    return result


def run(
    seed: int,
    seconds: float,
    jobs: int = 1,
    report: Callable[[Finding], None] = lambda finding: None,
    first: int = 0,
    minimise_seconds: float = MINIMISE_SECONDS,
    inputs: int = 10**12,
) -> Run:
    """Examine the inputs of ``seed`` from number ``first`` on until so many are done or time is over."""
    state, lock = Run(seed), threading.Lock()
    deadline = time.monotonic() + seconds
    following = iter(range(first, first + inputs))

    def work() -> None:
        worker = Worker(check, limit_memory)
        try:
            while time.monotonic() < deadline:
                with lock:
                    index = next(following, None)
                if index is None:
                    break
                failure = result_of(worker, (seed, index))
                with lock:
                    state.tried += 1
                    known = failure is None or state.findings.get(failure.signature)
                    if isinstance(known, Finding):
                        known.count += 1
                    if known or failure is None:
                        continue
                    kind, data = make_input(seed, index)
                    finding = Finding(kind, index, data, failure)
                    state.findings[failure.signature] = finding
                finding.data = _small(worker, finding, minimise_seconds)
                report(finding)
        finally:
            worker.stop()

    with ThreadPoolExecutor(jobs) as threads:
        for done in [threads.submit(work) for _ in range(jobs)]:
            done.result()
    return state


def _small(worker: Worker, finding: Finding, seconds: float) -> bytes:
    signature = finding.failure.signature

    def fails(data: bytes) -> bool:
        found = result_of(worker, (finding.kind, data))
        return found is not None and found.signature == signature

    return minimised(finding.kind, finding.data, fails, seconds)


__all__ = ["CPU_SECONDS", "Finding", "Run", "check", "result_of", "run"]
