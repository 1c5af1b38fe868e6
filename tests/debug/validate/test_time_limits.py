"""Stages that take too long get a verdict, on any executor, and the others still get theirs."""

import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from threading import Event

import pytest
from click.testing import CliRunner
from scaled_dumps import expected, inputs, scaled_text, write_dump

import pypto_tmpl.language as pl
from pypto_tmpl.cli import main
from pypto_tmpl.debug import (
    Options,
    Validation,
    ValidationError,
    WorkerDiedError,
    WorkerPool,
    torch_codegen,
    validate_pass_ir_codegen_results,
)
from pypto_tmpl.debug.validate.tasks import prepare_task
from pypto_tmpl.debug.validate.time_limits import TimeLimits

GOOD = scaled_text()
_HEAD, _LOOP, _BODY = GOOD.partition("        for r")
_BODY = _BODY.replace("\n            ", "\n                ")
ENDLESS = f"{_HEAD}        for q in pl.range(0, 1000000000):\n    {_LOOP}{_BODY}"


pytestmark = pytest.mark.xdist_group("time_limits")  # one pool for all

LIMIT = 5
"""Seconds for a stage that takes a hundredth of one: a busy machine may let it wait for most of them."""


@pytest.fixture(scope="module")
def pool():
    with WorkerPool(2) as workers:
        workers.wait_until_ready()
        yield workers


def test_a_stage_that_hangs_gets_a_verdict(tmp_path, pool):
    """One that is like it is not run: the limit passes once."""
    like = ENDLESS.replace("q in", "p in")
    write_dump(tmp_path, GOOD, ENDLESS, like, scaled_text(2.0000001), scaled_text(odd=3.0))
    options = Options(time_limit=LIMIT, executor=pool)
    results = list(Validation(tmp_path, inputs(), expected(), options).results())
    assert [(result.verdict, result.same_as) for result in results] == [
        ("ok", ""),
        ("timed out", ""),
        ("timed out", "01_after_Pass1"),
        ("ok", ""),
        ("wrong", ""),
    ]
    assert results[1].failure is not None
    assert results[1].failure.text == f"running the stage took longer than the time limit of {LIMIT} s"
    # The process that hung is gone, and another one is in its place.
    assert pool.submit(sum, [1, 2]).result() == 3


def test_the_function_ends_in_an_error(tmp_path, capsys):
    write_dump(tmp_path, GOOD, ENDLESS)
    with pytest.raises(ValidationError) as caught:
        validate_pass_ir_codegen_results(tmp_path, inputs(), expected(), time_limit=LIMIT, jobs=1)
    assert str(caught.value).splitlines()[0] == (
        f"error[validation]: 01_after_Pass1: running the stage took longer than the time limit of {LIMIT} s"
    )
    assert "no verdict: running the stage took longer" in capsys.readouterr().out


def test_the_command_ends_with_its_exit_code(tmp_path, monkeypatch):
    import torch

    monkeypatch.chdir(tmp_path)
    torch.save(inputs(), "in.pt")
    torch.save(expected(), "out.pt")
    write_dump(tmp_path / "dump", GOOD, ENDLESS)
    arguments = ["validate", "dump", "--inputs", "in.pt", "--expected", "out.pt", "--time-limit", str(LIMIT)]
    result = CliRunner().invoke(main, [*arguments, "--jobs", "1"])
    assert result.exit_code == 1
    assert "01_after_Pass1  .py        no   timed out  -" in result.stdout
    assert (
        "rerun: pypto-tmpl validate dump/01_after_Pass1.py --inputs in.pt --expected out.pt"
        f" --time-limit {LIMIT}\n" in result.stdout
    )


def test_tasks_that_wait_are_not_late():
    """Of four tasks on one thread each takes less than the limit, all of them together more."""
    with ThreadPoolExecutor(1) as executor:
        limits = TimeLimits(executor, 3)
        pending = {executor.submit(time.sleep, 1): number for number in range(4)}
        late = 0
        while pending:
            done, over = limits.wait(pending, 0)
            late += len(over)
            for future in done | over:
                del pending[future]
    assert late == 0


def test_a_thread_goes_on_but_is_not_waited_for():
    stop = Event()
    with ThreadPoolExecutor(1) as executor:
        hanging = executor.submit(stop.wait)
        assert TimeLimits(executor, 0.2).wait({hanging: 0}, 0) == (set(), {hanging})
        stop.set()


class SilentExecutor(Executor):
    """Does not tell when a task starts, as a cluster may not."""

    def submit(self, fn, /, *args, **kwargs):
        return Future()


def test_without_a_sign_of_its_start_the_front_task_is_timed():
    limits = TimeLimits(SilentExecutor(), 0.2)
    front, later = Future(), Future()
    assert limits.wait({front: 3, later: 4}, 3) == (set(), {front})
    assert front.cancelled() and not later.cancelled()


def test_a_task_that_is_ended_leaves_the_others_alone(pool):
    hanging, other = pool.submit(time.sleep, 3600), pool.submit(time.sleep, 0.5)
    while not (hanging.running() and other.running()):
        time.sleep(0.01)
    pool.end_task(hanging)
    with pytest.raises(WorkerDiedError):
        hanging.result()
    assert other.result() is None
    waiting = [pool.submit(time.sleep, 0.3) for _ in range(2)] + [pool.submit(sum, [1])]
    pool.end_task(waiting[2])
    assert waiting[2].cancelled() and waiting[0].result() is None


def test_reading_has_a_limit_of_its_own(tmp_path, monkeypatch):
    stop = Event()

    def slow(content, request):
        if content.name == "01_after_Pass1":
            stop.wait()
        return prepare_task(content, request)

    monkeypatch.setattr("pypto_tmpl.debug.validate.schedule.prepare_task", slow)
    write_dump(tmp_path, GOOD, scaled_text(2.0000001), scaled_text(2.0000002))
    torch_codegen(pl.parse(GOOD))  # what is read once in a process does not count
    with ThreadPoolExecutor(2) as executor:
        options = Options(time_limit=LIMIT, executor=executor)
        results = list(Validation(tmp_path, inputs(), expected(), options).results())
        stop.set()
    assert [result.verdict for result in results] == ["ok", "timed out", "ok"]
    assert results[1].failure is not None
    assert results[1].failure.text == f"reading the stage took longer than the time limit of {LIMIT} s"
