"""Calling what is loaded: results, arguments in place, and the threads meanwhile."""

import torch

from pypto_tmpl.execution.entry import Entry, Parameter
from pypto_tmpl.execution.loaded import LoadedScript

ENTRY = Entry(
    "main",
    "main_1",
    (Parameter("x", "In", "FP32", (2,)), Parameter("out", "Out", "FP32", (2,))),
)


def loaded(seen):
    def main_1(x, out):
        seen.append(torch.get_num_threads())
        out.copy_(x + 1)
        return x.sum()

    return LoadedScript({"main_1": main_1}, ENTRY)


def test_a_call_returns_what_the_entry_does_on_one_thread():
    before, seen = torch.get_num_threads(), []
    assert loaded(seen).call([torch.tensor([1.0, 2.0]), torch.zeros(2)]) == 3
    assert seen == [1] and torch.get_num_threads() == before


def test_a_call_in_place_keeps_arguments_apart_that_share_memory():
    both = torch.tensor([1.0, 2.0, 0.0])
    loaded([]).call_in_place([both[:2], both[1:]])
    assert both.tolist() == [1.0, 2.0, 3.0]
