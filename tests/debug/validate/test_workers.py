"""The worker processes: their answers, their deaths, their end."""

import os
import subprocess
import sys
import threading
import time

import pytest
import torch
from scaled_dumps import scaled_text, write_dump

from pypto_tmpl.debug import WorkerDiedError, WorkerPool
from pypto_tmpl.debug.validate.workers import PatientPool, _shares
from pypto_tmpl.execution.cores import usable_cores

pytestmark = pytest.mark.xdist_group("workers")  # one pool for all


@pytest.fixture(scope="module")
def pool():
    with WorkerPool(2) as workers:
        yield workers


def is_alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_tasks_run_in_other_processes_at_the_same_time(pool, tmp_path):
    """Each end of a FIFO is open only when the other one is."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    ends = [pool.submit(os.open, pipe, flags) for flags in (os.O_RDONLY, os.O_WRONLY)]
    assert all(end.result() > 2 for end in ends)
    assert pool.submit(os.getpid).result() != os.getpid()


def test_the_cores_are_divided_among_the_workers(pool):
    assert pool.submit(torch.get_num_threads).result() == max(1, len(usable_cores()) // 2)


@pytest.mark.parametrize(
    ("cores", "jobs", "shares"),
    [
        ([0, 1], 1, [[0, 1]]),
        ([0, 1], 2, [[0], [1]]),
        ([0, 1], 3, [[0], [1], [0]]),
        ([2, 3, 5, 7, 8], 2, [[2, 5, 8], [3, 7]]),
    ],
)
def test_workers_share_the_cores(cores, jobs, shares):
    assert _shares(cores, jobs) == shares


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="cores cannot be chosen here")
def test_a_worker_stays_on_its_cores(pool):
    assert pool.submit(os.sched_getaffinity, 0).result() in [{*share} for share in _shares(usable_cores(), 2)]


def test_an_exception_comes_back_as_what_it_was(pool):
    with pytest.raises(ZeroDivisionError):
        pool.submit(divmod, 1, 0).result()


def test_what_cannot_be_pickled_is_told(pool):
    with pytest.raises(Exception, match="pickle"):
        pool.submit(lambda: 1).result()
    with pytest.raises(RuntimeError, match="no answer can be sent: "):
        pool.submit(threading.Lock).result()
    assert pool.submit(abs, -3).result() == 3


def test_what_a_script_prints_is_no_answer(pool):
    assert pool.submit(os.write, 1, b"printed by a test of the workers\n").result() == 33
    assert pool.submit(print, "printed by a test of the workers").result() is None
    assert pool.submit(abs, -3).result() == 3


def test_a_process_that_dies_takes_only_its_task_along(pool):
    dying = pool.submit(os._exit, 7)
    with pytest.raises(WorkerDiedError) as caught:
        dying.result()
    assert str(caught.value) == "error[worker]: the worker process ended with exit code 7"
    assert [pool.submit(abs, -n).result() for n in range(4)] == [0, 1, 2, 3]


def test_the_processes_end_with_the_pool():
    with WorkerPool(1) as workers:
        process = workers.submit(os.getpid).result()
    assert not is_alive(process)
    with pytest.raises(RuntimeError, match="the worker pool is shut down"):
        workers.submit(abs, 1)


def test_a_cancelling_shutdown_does_not_wait_for_tasks():
    workers = WorkerPool(1)
    running, waiting = workers.submit(time.sleep, 3600), workers.submit(abs, 1)
    workers.wait_until_ready()
    workers.shutdown(cancel_futures=True)
    assert isinstance(running.exception(), WorkerDiedError) and waiting.cancelled()


def test_less_than_one_job_is_none():
    with pytest.raises(ValueError, match="jobs must be 1 or more, got 0"):
        WorkerPool(0)


def test_a_patient_pool_starts_no_process_for_little_work(monkeypatch):
    monkeypatch.setattr("pypto_tmpl.debug.validate.workers.INLINE_SECONDS", 3600)
    with PatientPool(2) as patient:
        assert patient.submit(os.getpid).result() == os.getpid()
        assert isinstance(patient.submit(divmod, 1, 0).exception(), ZeroDivisionError)


def test_a_patient_pool_starts_processes_for_more(monkeypatch):
    monkeypatch.setattr("pypto_tmpl.debug.validate.workers.INLINE_SECONDS", 0.01)
    with PatientPool(2) as patient:
        patient.submit(time.sleep, 0.02)
        assert patient.submit(os.getpid).result() != os.getpid()
    with PatientPool(1) as alone:
        alone.submit(time.sleep, 0.02)
        assert alone.submit(os.getpid).result() == os.getpid()


SCRIPT = """
import sys, torch
print("started")
from pypto_tmpl.debug import validate_pass_ir_codegen_results
x = torch.ones(64, 32)
validate_pass_ir_codegen_results(sys.argv[1], {"x": x}, {"out": 2 * x}, jobs=2)
"""


def test_a_script_without_main_guard_runs_once(tmp_path):
    script = tmp_path / "plain.py"
    script.write_text(SCRIPT)
    dump = write_dump(tmp_path / "dump", scaled_text(), scaled_text(2.0000001))
    run = subprocess.run([sys.executable, script, dump], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.count("started") == 1 and run.stdout.count("pass: True") == 2
