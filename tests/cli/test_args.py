"""``pypto-tmpl args``: the dumped arguments of tasks."""

import json

import pytest
import torch
from click.testing import CliRunner
from runtime import kernels

from pypto_tmpl.cli import main
from pypto_tmpl.compile import compile_options, compile_program
from pypto_tmpl.runtime import execute_compiled


@pytest.fixture
def build(tmp_path):
    """The diamond of four tasks with x = 0, 1, ..., 31, all arguments dumped."""
    compile_program(kernels.diamond(), tmp_path, compile_options({}))
    x, y = torch.arange(32.0).reshape(4, 8), torch.zeros(4, 8)
    execute_compiled(tmp_path, [x, y], enable_dump_args=2)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(main, ["args", *map(str, arguments)])


def test_listing(build):
    everything = run(build).output.splitlines()
    assert len(everything) == 9
    assert everything[:2] == [
        "r1t0  0  a  input, before: FLOAT32[4, 8]",
        "r1t0  1  o  output, after: FLOAT32[4, 8]",
    ]
    for path in ("dfx_outputs", "dfx_outputs/args_dump", "dfx_outputs/args_dump/args_dump.json"):
        assert run(build / path).output.splitlines() == everything
    assert run(build, "--task", "r1t3", "--stage", "before", "--arg", "1").output.splitlines() == [
        "r1t3  1  b  input, before: FLOAT32[4, 8]"
    ]


def test_values_and_saving(build, tmp_path):
    shown = run(build, "--task", "r1t0", "--arg", "a", "--values").output
    assert shown.splitlines()[1].strip() == "tensor([[ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.],"
    assert run(build, "--task", "r1t3", "--arg", "o", "--save", tmp_path / "o.pt").exit_code == 0
    assert torch.load(tmp_path / "o.pt").flatten().tolist() == [(cell + 2.0) ** 2 for cell in range(32)]


def test_errors(build, tmp_path):
    result = run(build, "--task", "r1t9")
    assert (result.exit_code, result.output) == (
        2,
        "error[args-dump]: no dumped argument is like that\n   = tasks: r1t0, r1t1, r1t2, r1t3\n",
    )
    result = run(build, "--save", tmp_path / "o.pt")
    assert result.exit_code == 2
    assert result.output.startswith("error[args-dump]: 9 arguments are like that, one can be saved\n")
    data = build / "dfx_outputs/args_dump/args.bin"
    data.write_bytes(data.read_bytes()[:-4])
    result = run(build, "--task", "r1t3", "--arg", "o", "--values")
    assert "the data of argument 'o' of task r1t3 is not all there" in result.output
    index = build / "dfx_outputs/args_dump/args_dump.json"
    index.write_text(json.dumps({"args": [{}]}))
    assert "the index cannot be read: KeyError" in run(build).output
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "no dumped arguments in" in run(empty).output
