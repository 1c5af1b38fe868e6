"""Ops that write their result into a tile: as the references say, also where an operand lies there."""

from typing import Any

import pytest
import torch
from ops.sample_calls import SampleCall, disagreement
from ops.sampled import TABLE, Typed, run
from preamble.rendered import load, render

from pypto_tmpl.codegen.options import ScriptOptions

BOXES = load(render("_as_boxes", "_matmul_boxes", options=ScriptOptions(storage=True)), "<boxes>")


def shape_of(call: SampleCall) -> list[int]:
    """The shape of the value that the op gives elsewhere."""
    return [*call.value(call.text()).shape]


def text_of(call: SampleCall) -> str:
    """The text that writes the call's result into a tile; empty where there is none."""
    return call.text(is_written=True, destination="destination", result_shape=shape_of(call))


SAMPLES = [
    pytest.param(op, sample, id=f"{op}-{number}")
    for op, entry in TABLE.items()
    if entry.into is not None
    for number, sample in enumerate(entry.samples)
    if text_of(SampleCall(op, sample))
]


SUMS = [param for param in SAMPLES if "accumulates" in TABLE[param.values[0]].traits]
PRODUCTS = [
    param for param in SAMPLES if param not in SUMS and "product" in TABLE.facts(param.values[0]).traits
]
VALUES = [param for param in SAMPLES if param not in SUMS + PRODUCTS]


def written(call: SampleCall, destination: torch.Tensor, **inputs: Any) -> None:
    """Run the text that writes the call's result into a tile."""
    run(text_of(call), {**call.arguments(), **inputs, "destination": destination})


def tile_of(call: SampleCall, *, is_window: bool) -> torch.Tensor:
    """A tile for the result, of numbers that are none of it; one of a wider tile if it ``is_window``."""
    rows, columns = shape_of(call)
    whole = torch.full([rows, columns + 3 * is_window], 77).to(call.dtype)
    return whole[:, :columns]


def test_ops_that_have_such_a_form_have_samples_of_it() -> None:
    declared = {op for op, entry in TABLE.items() if entry.into is not None}
    assert {param.values[0] for param in SAMPLES} == declared
    assert len(declared) > 50


@pytest.mark.parametrize("is_window", [False, True], ids=["dense", "window"])
@pytest.mark.parametrize(("op", "sample"), VALUES)
def test_a_result_is_written_into_a_tile(op: str, sample: dict, is_window: bool) -> None:
    call = SampleCall(op, sample)
    destination = tile_of(call, is_window=is_window)
    address = destination.data_ptr()
    written(call, destination)
    assert disagreement(call, destination, call.expected()) == ""
    assert destination.data_ptr() == address  # torch gives memory to what has not the result's shape


@pytest.mark.parametrize(("op", "sample"), VALUES)
def test_a_result_is_written_over_an_operand(op: str, sample: dict) -> None:
    call = SampleCall(op, sample)
    for name, typed in call.given.items():
        tile = call.arguments().get(name)
        is_tile = isinstance(typed, Typed) and typed.shape == shape_of(call) and tile.dtype == call.dtype
        if is_tile and not next(spec for spec in call.entry.operands if spec.name == name).scratch:
            written(call, tile, **{name: tile})
            assert disagreement(call, tile, call.expected()) == "", name


@pytest.mark.parametrize(("op", "sample"), SUMS)
def test_a_sum_goes_on_in_boxes(op: str, sample: dict) -> None:
    call = SampleCall(op, sample)
    accumulator = call.arguments()[call.entry.writes[0]]
    rows, columns = accumulator.shape
    boxes = accumulator.view(2, rows // 2, 2, columns // 2)
    written(call, boxes, _as_boxes=BOXES["_as_boxes"])
    assert disagreement(call, accumulator, call.expected()) == ""


@pytest.mark.parametrize(("op", "sample"), PRODUCTS)
def test_a_product_is_written_into_columns_of_boxes(op: str, sample: dict) -> None:
    """Two columns, each of one box."""
    call = SampleCall(op, sample)
    rows, columns = shape_of(call)
    boxes = torch.full([2, rows, columns // 2], 77.0).view(2, 1, rows, columns // 2).permute(1, 2, 0, 3)
    written(call, boxes, _matmul_boxes=BOXES["_matmul_boxes"])
    assert disagreement(call, boxes.reshape(rows, columns), call.expected()) == ""
