"""``mpiexec -n N python -m ranks.on_processes REPORT TESTS...``: tests of ranks whose ranks are processes.

Calls of ``ranked.call`` on as many ranks as there are processes are made by threads, then by the processes.
What they leave and return, or raise, has to be the same. Tests on other numbers of ranks are skipped, and of
the stages of a program only some are run. What was called, and which tests failed, is written to REPORT.
"""

from __future__ import annotations

import copy
import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import torch
from mpi4py import MPI
from ranks import ranked, recorded

from pypto_tmpl.execution.choice import choose_engine

EVERY = 9  # of the stages of a program; the last one besides
RACES = ("neighbour_exchange", "on_more_ranks")  # programs that may end in several ways
# These look into the ranks of one process, or count the warnings of one call.
WATCHED = ("test_ranks_take_turns_where_none_is_named", "test_two_ranks_that_write_one_tensor")
CALL, STAGES, DUMPS = ranked.call, ranked.each_stage, recorded.recorded_dumps


class Comparing:
    """Calls on both engines: how often they were made by tests, how often they raised, and failed tests."""

    def __init__(self) -> None:
        self.calls: dict[str, int] = {}
        self.errors: list[str] = []
        self.failed: list[str] = []

    def call(self, names: Mapping[str, Any], devices: int | list[int], *args: Any) -> Any:
        """What ``ranked.call`` does, by threads and by processes."""
        test = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0]
        ids = [*range(devices)] if isinstance(devices, int) else devices
        why = needs_threads(names, ids, test)
        if why:
            pytest.skip(why)
        ranks = names["_ranks"]
        kept, given = ranks.kept, copy.deepcopy(args)
        by_threads = outcome(names, ids, given)
        if kept is not None:
            ranks.kept = vars(ranks).setdefault("kept_by_processes", {})
        choose_engine("mpi")
        try:
            by_processes = outcome(names, ids, args)
        finally:
            choose_engine("threads")
            ranks.kept = kept
        self.calls[test] = self.calls.get(test, 0) + 1
        assert is_same(by_threads, by_processes), (by_threads, by_processes)
        assert is_same(given, args)
        if isinstance(by_processes, Exception):
            self.errors.append(str(by_processes))
            raise by_processes
        return by_processes

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take down a failure."""
        if report.failed:
            self.failed.append(f"{report.nodeid} ({report.when})\n{report.longreprtext}")


def needs_threads(names: Mapping[str, Any], ids: list[int], test: str) -> str:
    """Why a call cannot be compared; an empty text if it can."""
    if len(ids) != MPI.COMM_WORLD.size:
        return f"{len(ids)} ranks"
    if {"_RACE_CHECK", "_SCHEDULE_SEED"} & names.keys():
        return "options for threads"
    if names["host"].__globals__ is not names:
        return "a host that is no part of the script"
    if test.endswith(WATCHED):
        return "one run is watched"
    return "a race" if any(name in test for name in RACES) else ""


def outcome(names: Mapping[str, Any], ids: list[int], args: tuple[Any, ...]) -> Any:
    """What a call returns or raises."""
    try:
        return CALL(names, ids, *args)
    except Exception as error:
        return error


def is_same(one: Any, other: Any) -> bool:
    """Whether both engines have given the same, to the bit."""
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(is_same, one, other))
    if isinstance(one, torch.Tensor):
        return one.dtype == other.dtype and torch.equal(bits(one), bits(other))
    if isinstance(one, Exception):
        return type(one) is type(other) and str(one) == str(other)
    return bool(one == other)


def bits(tensor: torch.Tensor) -> torch.Tensor:
    """The cells of a tensor as integers, so that NaN is NaN."""
    kinds = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    return tensor.contiguous().view(kinds[tensor.element_size()])


def some(items: list[Any]) -> list[Any]:
    """Every so manieth, and the last."""
    return [*chain(items[:-1:EVERY], items[-1:])]


def some_stages(*args: Any) -> Iterator[Any]:
    """The scripts of some stages."""
    return ((name, ranked.script(stage)) for name, stage in some([*ranked.stages(*args)]))


def main() -> int:
    """Run the tests in the first process; the others run ranks until it ends."""
    choose_engine("mpi")
    choose_engine("threads")
    report, *tests = sys.argv[1:]
    comparing = Comparing()
    ranked.call, ranked.each_stage = comparing.call, some_stages  # before tests import them
    recorded.recorded_dumps = lambda *args: some(DUMPS(*args))
    size = MPI.COMM_WORLD.size
    recorded.RECORDED = {
        name: replace(one, ranks=(size,)) if size in one.ranks else one
        for name, one in recorded.RECORDED.items()
    }
    status = pytest.main(["-q", "-p", "no:cacheprovider", *tests], plugins=[comparing])
    found = {"calls": comparing.calls, "errors": comparing.errors, "failed": comparing.failed}
    Path(report).write_text(json.dumps(found))
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
