"""Counting tasks as they are launched, and before."""

import json
from pathlib import Path

import pytest
import torch
from corpus_check import load_program
from runtime import kernels

import pypto_tmpl.language as pl
from pypto_tmpl.compile import compile_options, compile_program
from pypto_tmpl.execution.modules import load_module
from pypto_tmpl.golden.sources import JitFunction
from pypto_tmpl.golden.values import generate
from pypto_tmpl.runtime.execute import execute_build
from pypto_tmpl.runtime.options import runtime_options
from pypto_tmpl.runtime.records.task_count import expected_tasks

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def counted(program, args, folder, stage="frontend", **flags):
    """Tasks as they are told of in a run of a stage, as many of which were foretold."""
    build, seen = compile_program(program, folder, compile_options({"stage": stage})), []

    def on_task():
        seen.append(1)

    execute_build(build.directory, build.manifest, args, runtime_options(flags), build.program, on_task)
    assert expected_tasks(build.program, build.manifest.entry.name) == len(seen)
    return len(seen)


@pytest.mark.parametrize("flags", [{}, {"enable_dep_gen": True}], ids=["counting", "recording"])
def test_tasks_are_told_of_once(tmp_path, flags):
    assert counted(kernels.diamond(), [torch.ones(4, 8), torch.zeros(4, 8)], tmp_path, **flags) == 4
    assert counted(kernels.blocks(), [torch.ones(6, 8), torch.zeros(6, 8)], tmp_path, **flags) == 1


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("name", "tasks"),
    [
        ("swiglu_scope", 4 + 1 + 8 + 4),
        ("mixed_bidirect_up_down", 1),
        ("flash_attention", 14),
        ("jit_gelu_spmd", 1),
    ],
)
@pytest.mark.parametrize("stage", [0, -1], ids=["frontend", "last"])
def test_tasks_of_real_programs(tmp_path, name, tasks, stage):
    """Scopes in place, groups on three threads, blocks: each is one task, as was foretold."""
    program = pl.loads(sorted((CORPUS / f"dumps/{name}/Ascend910B").glob("*.py"))[stage])
    values = load_program(CORPUS / f"programs/{name}.py").make_inputs()
    assert counted(program, [*values.values()], tmp_path) == tasks
    if stage == 0:
        assert counted(program, [*values.values()], tmp_path, "last") == tasks


def scopes(body):
    """A program whose entry has ``body``, in which ``{scope}`` is a task."""
    tensor = "pl.Tensor[[4], pl.FP32]"
    scope = (
        f"with pl.at(level=pl.Level.CORE_GROUP):\n{{indent}}    y: {tensor} = pl.tensor.assemble(y, x, [0])"
    )
    lines = []
    for line in body:
        indent = " " * (8 + len(line) - len(line.lstrip()))
        lines.append(indent + line.strip().replace("{scope}", scope.format(indent=indent)))
    return pl.parse(f"""\
# pypto.program: Scopes
import pypto.language as pl

@pl.program
class Scopes:
    @pl.function
    def main(self, x: {tensor}, n: pl.Scalar[pl.INDEX], y: pl.Out[{tensor}]) -> {tensor}:
{chr(10).join(lines)}
        return y
""")


@pytest.mark.parametrize(
    ("body", "tasks"),
    [
        (["{scope}", "{scope}"], 2),
        (["for i in pl.range(3, 10, 2):", "    {scope}", "    {scope}"], 8),
        (["for i in pl.range(0, 3):", "    for k in pl.range(0, 5):", "        {scope}"], 15),
        (["for i in pl.range(0, n):", "    {scope}"], None),
        (["if n < 3:", "    {scope}", "    {scope}", "else:", "    {scope}"], 2),
        (["for i in pl.range(0, n):", "    z: pl.Scalar[pl.INDEX] = i + 1", "{scope}"], 1),
    ],
)
def test_what_is_foretold(body, tasks):
    assert expected_tasks(scopes(body), "main") == tasks


@pytest.mark.parametrize("stage", ["frontend", "last"])
@pytest.mark.parametrize("name", ["decoder_layer", "gemm", "int8_mlp", "spmd_rows"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_tasks_of_kernels_that_call_inline_functions(tmp_path, name, stage):
    """Every task that is recorded ran, a call of an inline function being none, and all were foretold."""
    example = load_module(EXAMPLES / f"{name}.py")
    specs = example.specs()
    program = JitFunction(example.KERNEL, tuple(specs)).program()
    build = compile_program(program, tmp_path, compile_options({"stage": stage}))
    options = runtime_options({"enable_dep_gen": True, "enable_l2_swimlane": 1})
    execute_build(build.directory, build.manifest, generate(specs).arguments(), options, build.program)
    folder = build.directory / "dfx_outputs"
    tasks = [task["task_id"] for task in json.loads((folder / "deps.json").read_text())["tasks"]]
    ran = {str(row["task_id"]) for row in json.loads((folder / "l2_perf_records.json").read_text())["tasks"]}
    assert {*tasks} == ran
    assert len(tasks) == expected_tasks(program, build.manifest.entry.name)
