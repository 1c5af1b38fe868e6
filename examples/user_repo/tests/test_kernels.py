"""The kernels: right on this machine, and emitted as committed."""

import pytest
import torch
from golden import ScalarSpec, TensorSpec
from kernels.gated import gated
from kernels.softmax import COLS, ROWS, softmax


def test_softmax_is_right(pypto_run):
    def golden(values):
        values["out"][:] = torch.softmax(values["x"], dim=-1)

    specs = [
        TensorSpec("x", [ROWS, COLS], torch.float32, torch.randn),
        TensorSpec("out", [ROWS, COLS], torch.float32, is_output=True),
    ]
    pypto_run(softmax, specs, golden, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("rows", [32, 96])
def test_gated_is_right(pypto_run, rows):
    def golden(values):
        x, gate = values["x"].float(), values["gate"].float()
        values["out"][:] = (x * torch.sigmoid(values["scale"] * gate)).bfloat16()

    shape = [rows, 128]
    specs = [
        TensorSpec("x", shape, torch.bfloat16, torch.randn),
        TensorSpec("gate", shape, torch.bfloat16, torch.randn),
        ScalarSpec("scale", torch.float32, 0.5),
        TensorSpec("out", shape, torch.bfloat16, is_output=True),
    ]
    pypto_run(gated, specs, golden, rtol=1.6e-2, atol=1e-5)


def test_gated_of_one_block(pypto_snapshot):
    tensor = torch.empty(32, 128, dtype=torch.bfloat16, device="meta")
    assert pypto_snapshot == gated.specialize(tensor, tensor, 0.5, tensor)
