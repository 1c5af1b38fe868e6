"""Calls and runs tell of an argument that the program only reads, but that they have changed."""

import re

import pytest
import torch

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.golden import TensorSpec, run
from pypto_tmpl.runtime import read_only

TEXT = """
import pypto.language as pl
@pl.program
class Overwrites:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(
        self, a: pl.InOut[pl.Tensor[[4, 8], pl.FP32]], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]
    ) -> pl.Tensor[[4, 8], pl.FP32]:
        t = pl.load(a, [0, 0], [4, 8])
        y = pl.store(t, [0, 0], y)
        a = pl.store(pl.add(pl.load(a, [2, 0], [1, 8]), 1.0), [2, 0], a)
        return y
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self, x: pl.Tensor[[4, 8], pl.FP32], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]
    ) -> pl.Tensor[[4, 8], pl.FP32]:
        y = self.kernel(x, y)
        return y
"""
WHERE = (
    "the run has changed 'x', which the program only reads: 8 of 32 cells, first at [2, 0]: 1.0, it was 0.0"
)


def program():
    return pl.parse(TEXT, "overwrites.py")


def specs(**x):
    return [
        TensorSpec("x", [4, 8], torch.float32, 0.0, **x),
        TensorSpec("y", [4, 8], torch.float32, is_output=True),
    ]


def golden(values):
    values["y"][:] = 0.0


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_compiled_call_warns_and_goes_on():
    compiled = ir.compile(program(), platform="a2a3sim")
    x, y = torch.zeros(4, 8), torch.full((4, 8), 9.0)
    with pytest.warns(UserWarning, match=re.escape(WHERE)) as found:
        compiled(x, y)
    (message,) = [str(warning.message) for warning in found]
    assert "changed by kernel, overwrites.py:11: " in message and "pl.tile.store(" in message
    assert not y.any() and found[0].filename == __file__


def test_what_torch_does_not_count_is_compared():
    compiled = ir.compile(program(), platform="a2a3sim")
    x = torch.zeros(4, 8)
    with pytest.warns(UserWarning, match=re.escape(WHERE)), torch.inference_mode():
        compiled(x, torch.zeros(4, 8))


def test_what_is_not_written_is_not_compared(monkeypatch):
    """The second reading of every argument costs more than some kernels."""
    monkeypatch.setattr(read_only, "same_cells", None)
    unchanged = TEXT.replace("        a = pl.store(pl.add(pl.load(a, [2, 0], [1, 8]), 1.0), [2, 0], a)\n", "")
    x, y = torch.ones(4, 8), torch.zeros(4, 8)
    ir.compile(pl.parse(unchanged), platform="a2a3sim")(x, y)
    assert torch.equal(x, y)


def test_of_large_arguments_the_fact_is_told(monkeypatch):
    monkeypatch.setattr(read_only, "KEPT", 4)
    with pytest.warns(UserWarning, match="only reads: it was written to, in cells that are not known"):
        ir.compile(program(), platform="a2a3sim")(torch.zeros(4, 8), torch.zeros(4, 8))


def test_a_run_fails_though_its_outputs_are_right():
    result = run(program(), specs(), golden)
    assert (result.passed, result.phase) == (False, "validate")
    assert WHERE in result.error and "changed by kernel, " in result.error
    assert run(program(), specs(), None).passed is False


def test_a_spec_that_is_an_output_may_change():
    result = run(program(), specs(is_output=True), lambda v: (golden(v), v["x"].__setitem__(2, 1.0)))
    assert result.passed, result.error
