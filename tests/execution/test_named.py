"""Tensors and parameters meet by name; shapes that do not go together are one error."""

import pytest
import torch
from scaled_dumps import expected, inputs, scaled_text, write_dump

import pypto_tmpl.language as pl
from pypto_tmpl.debug import (
    MissingTensorError,
    TensorShapeError,
    trace_dump,
    validate_pass_ir_codegen_results,
)
from pypto_tmpl.execution.entry import describe_entry, select_entry
from pypto_tmpl.execution.named import bind_named

HEAD = 'import pypto.language as pl\nM = pl.dynamic("M")\n@pl.program\nclass P:\n'


def entry_of(parameters, kind="Orchestration", body="return y"):
    function = (
        f"    @pl.function(type=pl.FunctionType.{kind})\n    def main(self, {parameters}):\n        {body}\n"
    )
    node = pl.parse(HEAD + function)
    return describe_entry(select_entry(node, wanted="main"), "main")


TWO = "x: pl.Tensor[[M, 4], pl.FP32], y: pl.Tensor[[M, 4], pl.FP32]"
PLAIN = "x: pl.Tensor[[8, 16], pl.FP32], y: pl.Tensor[[8], pl.FP32]"


def test_dynamic_dimensions_that_disagree_name_both_parameters():
    given = {"x": torch.ones(7, 4), "y": torch.ones(6, 4)}
    with pytest.raises(TensorShapeError, match="dimension M is 7 in 'x', and 6 in 'y'"):
        bind_named(entry_of(TWO), given, {})
    assert bind_named(entry_of(TWO), {**given, "y": torch.ones(7, 4)}, {}).tensors["y"].shape == (7, 4)


def test_a_scalar_parameter_gives_a_dimension_too():
    entry = entry_of("n: pl.Scalar[pl.INDEX], y: pl.Tensor[[n, 4], pl.FP32]")
    with pytest.raises(TensorShapeError, match="dimension n is 5 in 'n', and 6 in 'y'"):
        bind_named(entry, {"n": torch.tensor(5), "y": torch.ones(6, 4)}, {})


def test_fixed_extents_are_those_of_the_parameter():
    with pytest.raises(TensorShapeError) as caught:
        bind_named(entry_of(PLAIN), {"x": torch.ones(4, 16), "y": torch.ones(8)}, {})
    assert caught.value.what == "tensor 'x' has shape [4, 16], the parameter has [8, 16]"
    with pytest.raises(TensorShapeError, match=r"'y' has shape \[\], the parameter has \[8\]"):
        bind_named(entry_of(PLAIN), {"x": torch.ones(8, 16), "y": torch.tensor(1.0)}, {})


def test_a_kernel_may_get_the_edge_of_a_tensor():
    given = {"x": torch.ones(5, 4), "y": torch.ones(8, 4)}
    assert bind_named(entry_of(TWO, "InCore"), given, {}).tensors["x"].shape == (5, 4)


@pytest.mark.parametrize("names", [("x", "x__ssa_v0"), ("x__ssa_v0", "x")])
def test_names_that_differ_by_a_suffix_only(names):
    """In SSA form of the same program they are x__ssa_v0 and x__ssa_v0__ssa_v0."""
    given = {name: torch.full((2,), number) for number, name in enumerate(("x", "x__ssa_v0"), 1)}
    for suffix in ("", "__ssa_v0"):
        parameters = ", ".join(f"{name}{suffix}: pl.Tensor[[2], pl.INT64]" for name in names)
        entry = entry_of(parameters, body=f"return x{suffix}")
        found = [int(tensor[0]) for tensor in bind_named(entry, given, {}).arguments]
        assert found == [1 if name == "x" else 2 for name in names]


def test_a_suffix_that_leaves_a_choice_is_no_match():
    given = {"y__ssa_v0": torch.ones(8), "y__ssa_v1": torch.ones(8), "x": torch.ones(8, 16)}
    with pytest.raises(MissingTensorError) as caught:
        bind_named(entry_of(PLAIN), given, {})
    text = str(caught.value)
    assert "parameter 'y' of the entry 'main' is not among the inputs; did you mean 'y__ssa_v0'?" in text
    assert "the input 'y__ssa_v1' is no parameter of the entry; did you mean 'y'?" in text


def test_all_names_that_do_not_match_are_listed(tmp_path):
    folder = write_dump(tmp_path, scaled_text())
    given = {"xx": inputs()["x"], "weights": torch.ones(2)}
    with pytest.raises(MissingTensorError) as caught:
        validate_pass_ir_codegen_results(folder, given, {"ouut": expected()["out"]})
    assert str(caught.value).splitlines() == [
        "error[missing-tensor]: 4 names do not match the entry 'main'",
        "   = parameter 'x' of the entry 'main' is not among the inputs; did you mean 'xx'?",
        "   = the input 'xx' is no parameter of the entry; did you mean 'x'?",
        "   = the input 'weights' is no parameter of the entry",
        "   = the expected 'ouut' is no tensor that the entry 'main' takes or returns; did you mean 'out'?",
        "   = parameters: x, out",
        "   = inputs: weights, xx",
        "   = returned: out",
    ]


def test_a_pure_output_starts_as_zeros_of_its_parameter(tmp_path):
    folder = write_dump(tmp_path, scaled_text())
    trace = trace_dump(folder, {"x": inputs()["x"]})
    assert trace.failure is None and trace.zeroed == {"out": [64, 32]}
    start = next(record for record in trace.records if trace.variable(record) == "out")
    assert start.value.shape == (64, 32) and not start.value.any()
    assert not trace_dump(folder, inputs()).zeroed


def test_the_shape_of_a_pure_output_may_come_from_a_dimension():
    entry = entry_of("x: pl.Tensor[[M, 4], pl.FP32], y: pl.Out[pl.Tensor[[M, 2], pl.FP16]]")
    bound = bind_named(entry, {"x": torch.ones(7, 4)}, {})
    assert (bound.tensors["y"].shape, bound.tensors["y"].dtype) == ((7, 2), torch.float16)
    alone = entry_of("x: pl.Tensor[[4], pl.FP32], y: pl.Out[pl.Tensor[[M, 2], pl.FP16]]")
    with pytest.raises(
        MissingTensorError, match="the output 'y' is not among the inputs, and its shape is not"
    ):
        bind_named(alone, {"x": torch.ones(4)}, {})


def test_tensors_without_values_are_named(tmp_path):
    folder = write_dump(tmp_path, scaled_text())
    with pytest.raises(ValueError, match=r"tensors\['x'\] is on the meta device"):
        validate_pass_ir_codegen_results(folder, {"x": torch.ones(64, 32, device="meta")}, expected())
