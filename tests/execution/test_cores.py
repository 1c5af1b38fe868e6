"""Keeping the lanes of a mixed kernel on one core, and nothing else."""

import os
import sys
import threading
import types
from pathlib import Path

import pytest
import torch

from pypto_tmpl import ir
from pypto_tmpl.debug import torch_codegen
from pypto_tmpl.execution.cores import on_one_core, usable_cores
from pypto_tmpl.execution.entry import Entry
from pypto_tmpl.execution.run import run_entry
from pypto_tmpl.execution.threads import LANES

pytestmark = pytest.mark.skipif(len(usable_cores()) < 2, reason="there is one core")

SCRIPT = """
import os

import torch
from debug_cores_seen import seen


def main():
    seen.append((len(os.sched_getaffinity(0)), torch.get_num_threads()))
"""
WITH_LANES = f"{SCRIPT}\n\ndef {LANES}(group, lanes): ...\n"
DUMPS = Path(__file__).resolve().parents[1] / "corpus/dumps"


def of_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(os.sched_getaffinity(0)))
    thread.start()
    thread.join()
    return found[0]


def test_threads_of_the_main_thread_stay_on_its_core():
    before, threads = os.sched_getaffinity(0), torch.get_num_threads()
    with on_one_core():
        assert len(of_thread()) == 1 and torch.get_num_threads() == 1
    assert of_thread() == before and torch.get_num_threads() == threads


def test_an_error_gives_the_cores_back():
    before = os.sched_getaffinity(0)
    with pytest.raises(KeyboardInterrupt), on_one_core():
        raise KeyboardInterrupt
    assert os.sched_getaffinity(0) == before


def test_other_threads_are_left_alone():
    """Several validations may run in threads of one process."""
    found = []

    def in_thread():
        with on_one_core():
            found.append(os.sched_getaffinity(0))

    thread = threading.Thread(target=in_thread)
    thread.start()
    thread.join()
    assert found == [os.sched_getaffinity(0)]


def test_scripts_of_mixed_kernels_are_known_by_their_helper():
    for stage, has_lanes in (("00_frontend", False), ("22_after_ExpandMixedKernel", True)):
        node = ir.deserialize_from_file(DUMPS / "mixed_c2v_up_down/Ascend910B" / f"{stage}.msgpack")
        assert (LANES in torch_codegen(node)) is has_lanes


@pytest.mark.parametrize(("script", "cores"), [(SCRIPT, len(usable_cores())), (WITH_LANES, 1)])
def test_only_scripts_with_lanes_run_on_one_core(script, cores, monkeypatch):
    module = types.ModuleType("debug_cores_seen")
    module.seen = []
    monkeypatch.setitem(sys.modules, "debug_cores_seen", module)
    run_entry(script, f"<cores {cores}>", Entry("main", "main", ()), {}, {})
    assert module.seen == [(cores, 1 if cores == 1 else torch.get_num_threads())]
