"""Torch's threads while a simulated program runs."""

import ctypes

import pytest
import torch
from runtime import kernels

import pypto_tmpl.language as pl
from pypto_tmpl.compile import compile_options, compile_program
from pypto_tmpl.execution.load import load_script_file
from pypto_tmpl.execution.script import make_script
from pypto_tmpl.execution.threads import script_threads
from pypto_tmpl.runtime import execute_compiled


@pytest.fixture(autouse=True)
def three_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


def unary(rows, loops="", dtype="FP32"):
    """y = -x on [rows, 1024], in a loop if asked."""
    tensor = f"pl.Tensor[[{rows}, 1024], pl.{dtype}]"
    body = f"t: {tensor} = pl.tensor.neg(x)"
    if loops:
        body = f"for i in pl.range(0, 2):\n            {body}"
    return pl.parse(f"""\
# pypto.program: Unary
import pypto.language as pl

@pl.program
class Unary:
    @pl.function
    def main(self, x: {tensor}, y: pl.Out[{tensor}]) -> {tensor}:
        {body}
        y: {tensor} = pl.tensor.assemble(y, x, [0, 0])
        return y
""")


def product(m, k, n):
    keywords = "a_trans=False, b_trans=False, c_matrix_nz=False, out_dtype=pl.FP32"
    left, right, result = (f"pl.Tensor[[{a}, {b}], pl.FP32]" for a, b in ((m, k), (k, n), (m, n)))
    return pl.parse(f"""\
# pypto.program: Product
import pypto.language as pl

@pl.program
class Product:
    @pl.function
    def main(self, x: {left}, w: {right}, y: pl.Out[{result}]) -> {result}:
        t: {result} = pl.tensor.matmul(x, w, {keywords})
        y: {result} = pl.tensor.assemble(y, t, [0, 0])
        return y
""")


@pytest.mark.parametrize(
    ("program", "is_large"),
    [
        (unary(1024), True),
        (unary(1023), False),
        (unary(1024, loops="yes"), True),
        (unary(8, loops="yes"), False),
        (product(512, 256, 512), True),  # 2 ** 26 multiplications
        (product(512, 255, 512), False),
        (product(1, 8192, 8192), True),
        (product(16, 128, 256), False),
    ],
)
def test_which_functions_are_for_many_threads(program, is_large):
    assert make_script(program).large() == (("main",) if is_large else ())


def test_small_ops_run_on_one_thread_and_the_callers_number_is_restored(tmp_path):
    directory = compile_program(kernels.scale(), tmp_path, compile_options({})).directory
    script = directory / "torch/main.py"
    seen = "import torch\n\n\ndef main(x, n, y):\n    y.fill_(torch.get_num_threads())\n"
    script.write_text(seen)
    y = torch.zeros(4, 8)
    execute_compiled(directory, [torch.ones(4, 8), ctypes.c_float(1), y])
    assert (y.unique().tolist(), torch.get_num_threads()) == ([1.0], 3)
    script.write_text(seen + "    raise KeyError(1)\n")
    with pytest.raises(KeyError):
        execute_compiled(directory, [torch.ones(4, 8), ctypes.c_float(1), y])
    assert torch.get_num_threads() == 3


def test_large_ops_have_the_callers_number(tmp_path):
    directory = compile_program(unary(1024), tmp_path, compile_options({})).directory
    script = directory / "torch/main.py"
    script.write_text("import torch\n\n\ndef main(x, y):\n    y.fill_(torch.get_num_threads())\n")
    y = torch.zeros(1024, 1024)
    execute_compiled(directory, [torch.ones(1024, 1024), y])
    assert (y.unique().tolist(), torch.get_num_threads()) == ([3.0], 3)


def test_a_large_kernel_among_small_ones(tmp_path):
    script = tmp_path / "s.py"
    script.write_text(
        "import torch\n\n\ndef big():\n    return torch.get_num_threads()\n\n\n"
        "def main():\n    return [torch.get_num_threads(), big(), torch.get_num_threads()]\n"
    )
    namespace = load_script_file(script, "main")
    with script_threads(namespace, ["big", "gone"]):
        assert namespace["main"]() == [1, 3, 1]
    assert torch.get_num_threads() == 3
    torch.set_num_threads(2)  # once more, from another number
    with script_threads(namespace, ["big"]):
        assert namespace["main"]() == [1, 2, 1]


def test_kernels_that_are_called_directly_run_on_one_thread(monkeypatch):
    seen = []
    tensor = torch.Tensor.__add__

    @pl.jit
    def one_more(x: pl.Tensor[[4], pl.FP32], y: pl.Out[pl.Tensor[[4], pl.FP32]]):
        with pl.at(level=pl.Level.CORE_GROUP):
            y[:] = pl.add(x, 1.0)
        return y

    def spy(*args, **kwargs):
        seen.append(torch.get_num_threads())
        return tensor(*args, **kwargs)

    monkeypatch.setattr(torch.Tensor, "__add__", spy)
    y = torch.zeros(4)
    one_more(torch.ones(4), y)
    assert (y.tolist(), seen, torch.get_num_threads()) == ([2.0] * 4, [1], 3)
