"""Mixed kernels at random compute the same after every pass over tiles, cores and pipelines, in any schedule.

``PYPTO_TMPL_RANDOM_PROGRAMS`` draws more of them.
"""

import os

import pytest
import torch
from codegen.builders import run

from pypto_tmpl import backend, ir, passes
from pypto_tmpl.debug import set_options, torch_codegen
from pypto_tmpl.hunt.programs.inputs import inputs_of
from pypto_tmpl.hunt.programs.kinds import draw_program
from pypto_tmpl.ir.pass_order import PREFIX, TENSOR_ONLY, TILE

COUNT = int(os.environ.get("PYPTO_TMPL_RANDOM_PROGRAMS", "10"))
SCHEDULES = range(5)
BACKENDS = ("Ascend910B", "Ascend950")
STRICT = {
    "bounded_pipes": True,
    "race_check": True,
    "schedule_seed": 0,
    "pipe_wait_timeout_sec": 10,
    "mixed_kernel_timeout_sec": 30,
}
ON_TILES = TILE[: TILE.index("CanonicalizeIOOrder") + 1]
# What may be refused of these programs: lanes that share a tensor without an order.
REFUSED = ("the other lane stores", "the other lane may", "nothing makes it wait")


@pytest.fixture(autouse=True)
def no_backend():
    backend.reset_for_testing()
    yield
    backend.reset_for_testing()


def random_kernel(seed):
    """The program of a number."""
    return draw_program("mixed", seed).parsed()


def outputs(kernel, seed):
    """What a script makes of the inputs of a number."""
    drawn = draw_program("mixed", seed)
    entry = drawn.parsed().get_function("main")
    arguments = inputs_of(drawn, entry)
    kernel(*(value if value.dim() else value.item() for value in arguments.values()))
    pairs = zip(entry.param_directions, arguments.values(), strict=True)
    return torch.cat([value.flatten() for direction, value in pairs if direction is not ir.ParamDirection.In])


def compared(got, wanted, what):
    torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-5, msg=lambda error: f"{what}: {error}")


def assert_computes(node, seed, wanted, name):
    """Run a program by itself, and one with cores also under its options in five schedules."""
    compared(outputs(run(torch_codegen(node))["main"], seed), wanted, name)
    if not any(function.func_type is ir.FunctionType.Group for function in node.functions.values()):
        return
    namespace = run(torch_codegen(node, options=STRICT))
    for schedule in SCHEDULES:
        set_options(namespace, schedule_seed=schedule)
        compared(outputs(namespace["main"], seed), wanted, f"{name}, schedule {schedule}")


@pytest.mark.parametrize("seed", range(COUNT))
def test_every_pass_keeps_what_a_mixed_kernel_computes(seed):
    backend.set_backend_type(backend.BackendType[BACKENDS[seed % 2]])
    node = random_kernel(seed)
    wanted = outputs(run(torch_codegen(node))["main"], seed)
    for name in (*PREFIX, *TENSOR_ONLY, *ON_TILES):
        if name not in passes.PASSES:
            continue
        try:
            after = passes.make_pass(name)(node)
        except passes.PassError as error:
            assert any(reason in str(error) for reason in REFUSED), error
            return
        if after is not node and name in ON_TILES:
            assert_computes(after, seed, wanted, name)
        node = after


def test_the_kernels_that_are_drawn_have_pipelines_and_work_for_both_cores():
    texts = [ir.python_print(random_kernel(seed)) for seed in range(10)]
    for words in ("pl.pipeline(", "tensor.matmul(", "tensor.matmul_acc(", "pl.range(", "UP_DOWN", "if "):
        assert sum(words in text for text in texts) >= 2, words
