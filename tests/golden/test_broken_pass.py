"""Of a run that is wrong the pass is told that broke its program, if one did."""

import json
import re

import pytest
import torch
from default_stages import STAGES
from runtime import kernels

from pypto_tmpl import ir
from pypto_tmpl.golden import ScalarSpec, TensorSpec, run
from pypto_tmpl.passes import PassPipeline, create_function_pass
from pypto_tmpl.rewrite import Rewriter, build

DATA = re.compile(r'<script type="application/json" id="report-data">(.*?)</script>', re.DOTALL)


class _Doubled(Rewriter):
    """Every factor of a product with a number is taken twice."""

    def expression(self, expr):
        if isinstance(expr, ir.Call) and expr.op.name == "tile.muls":
            return build(expr, args=[expr.args[0], ir.ConstFloat(7.0, ir.DataType.FP32, expr.span)])
        return expr


def double(function):
    return _Doubled().rewrite(function)


@pytest.fixture
def passes(monkeypatch):
    """Makes functions, by the names of passes, the pipeline of all compilations."""

    def install(**functions):
        made = [create_function_pass(function, name) for name, function in functions.items()]
        monkeypatch.setattr("pypto_tmpl.compile.lower.pipeline_for", lambda _: PassPipeline(made))

    return install


def same(function):
    return function


def test_the_pass_is_named_with_statement_and_report(run_scale, console, passes):
    passes(InlineFunctions=same, Simplify=double, FlattenCallExpr=same)
    result = run_scale()
    told = "Simplify broke it: 02_after_Simplify is wrong, 01_after_InlineFunctions is right"
    assert f"[RUN]   {told}" in console()
    assert (result.passed, result.phase, result.error_type) == (False, "validate", "ValidationError")
    assert f"\n{told}\nthe first value that differs: kernel, " in result.error
    assert "\n    statement: u: " in result.error
    page = result.work_dir / "report/broken_pass.html"
    assert result.error.endswith(f"\nreport: {page}")
    text = page.read_text()
    assert "<title>Simplify broke Scale" in text
    stages = [stage["name"] for stage in json.loads(DATA.search(text)[1])["stages"]]
    assert "02_after_Simplify" in stages and stages == sorted(stages)


def test_a_golden_that_is_wrong_is_no_fault_of_a_pass(run_scale, console):
    result = run_scale(golden_fn=lambda values: values["y"].fill_(1.0))
    assert "[RUN]   no pass broke it: it is wrong as it is written (00_frontend), too" in console()
    assert "broke it" not in result.error
    assert not (result.work_dir / "report/broken_pass.html").exists()


def test_an_edited_script_is_no_fault_of_a_pass(run_scale, console):
    work_dir = run_scale().work_dir
    script = work_dir / "torch/main.py"
    script.write_text(script.read_text().replace("* n__ssa_v0", "+ n__ssa_v0"))
    assert not run_scale(runtime_dir=work_dir).passed
    assert not any("broke it" in line for line in console())


@pytest.mark.parametrize("save_data", [True, False])
def test_what_a_run_has_written_over_is_read_as_it_was(passes, save_data):
    """total += x: the search begins with the total that the run began with, where that was saved."""
    specs = [
        TensorSpec("x", [4], torch.float32, 1.0),
        TensorSpec("total", [4], torch.float32, 10.0, is_output=True),
    ]

    def golden(values):
        values["total"] += values["x"]

    class Subtracts(Rewriter):
        def expression(self, expr):
            if isinstance(expr, ir.Call) and expr.op.name == "tensor.add":
                return build(expr, op=ir.Op("tensor.sub"))
            return expr

    passes(InlineFunctions=same, Simplify=lambda function: Subtracts().rewrite(function))
    result = run(kernels.accumulate(), specs, golden, save_data=save_data)
    assert not result.passed
    assert ("Simplify broke it: 02_after_Simplify is wrong" in result.error) is save_data


def test_a_crash_that_a_pass_made_is_told_so(run_scale, passes):
    class Product(Rewriter):
        def expression(self, expr):
            if isinstance(expr, ir.Call) and expr.op.name == "tile.muls":  # [4, 8] by [4, 8] is no product
                return build(expr, op=ir.Op("tile.matmul"), args=[expr.args[0], expr.args[0]])
            return expr

    passes(Simplify=lambda function: Product().rewrite(function))
    result = run_scale()
    assert result.phase == "runtime" and "Simplify broke it: 01_after_Simplify is wrong" in result.error


def test_names_of_specs_may_differ(passes):
    """Specs go by position; comparators find tensors by the names of their specs."""
    passes(Simplify=double)
    specs = [
        TensorSpec("a", [4, 8], torch.float32, 1.0),
        ScalarSpec("b", torch.float32, 3),
        TensorSpec("c", [4, 8], torch.float32, is_output=True),
    ]

    def compare(actual, expected, *, actual_outputs, expected_outputs, inputs, rtol, atol):
        assert list(actual_outputs) == list(expected_outputs) == ["c"]
        assert inputs["b"].item() == 3.0
        return torch.equal(actual, expected), "    differs"

    result = run(kernels.scale(), specs, lambda values: values["c"].fill_(3.0), compare_fn={"c": compare})
    assert "Simplify broke it: 01_after_Simplify is wrong, 00_frontend is right" in result.error


def test_the_stages_of_a_real_pipeline_are_right(run_scale):
    compiled = run_scale()
    assert compiled.passed
    dumps = sorted(path.stem for path in (compiled.work_dir / "passes_dump").glob("*.msgpack"))
    assert dumps == STAGES
