"""Kernels on tiles at random compute the same before and after the passes that lay tiles out."""

import os

import pytest
import torch

from pypto_tmpl import backend, ir, passes
from pypto_tmpl.debug import torch_codegen
from pypto_tmpl.hunt.programs.kinds import draw_program
from pypto_tmpl.hunt.programs.tiles import SIZE

COUNT = int(os.environ.get("PYPTO_TMPL_RANDOM_PROGRAMS", "8"))
PASSES = ("InferTileMemorySpace", "InsertMxScaleAddr", "ResolveBackendOpLayouts", "NormalizeReturnOrder")
BACKENDS = list(backend.BackendType)


@pytest.fixture(autouse=True)
def no_backend():
    backend.reset_for_testing()
    yield
    backend.reset_for_testing()


def outputs_of(node):
    """What the program leaves in its outputs and returns, for two numbers ``n``."""
    namespace = {}
    exec(torch_codegen(node, check_shapes=True, format=False), namespace)
    found = []
    for n in (0, 2):
        generator = torch.Generator().manual_seed(1)
        a, b = (torch.randn(SIZE, SIZE, generator=generator) * 0.1 for _ in range(2))
        o, q = (torch.full((SIZE, SIZE), 9.0) for _ in range(2))
        found += [o, q, *namespace["main"](a, b, n, o, q)]
    return found


@pytest.mark.parametrize("seed", range(COUNT))
def test_every_pass_keeps_what_a_kernel_computes(seed):
    backend.set_backend_type(BACKENDS[seed % len(BACKENDS)])
    node = passes.flatten_call_expr()(passes.convert_to_ssa()(draw_program("tiles", seed).parsed()))
    wanted = outputs_of(node)
    for name in PASSES:
        after = passes.make_pass(name)(node)
        if after is not node:
            ir.verify_or_throw(after, {*ir.STRUCTURAL_PROPERTIES, ir.IRProperty.SSAForm})
            for got, expected in zip(outputs_of(after), wanted, strict=True):
                torch.testing.assert_close(got, expected, rtol=0, atol=0, equal_nan=True, msg=name)
        node = after
    ir.verify_or_throw(node, {ir.IRProperty.TileMemoryInferred})
