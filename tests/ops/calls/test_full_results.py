"""Ops whose result is the whole box: the operands' regions reach neither its type nor what is stored."""

from typing import Any

import pytest
import torch
from ops.calls.operands import Mem, built, tensor, tile, type_text
from ops.sampled import TABLE
from ops.typing.test_inference_samples import inferred

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.debug import torch_codegen
from pypto_tmpl.ops import OpEntry, resolve_result


def results(entry: OpEntry) -> list[str | None]:
    """The words for the valid region of the result, or of each of several."""
    spec = resolve_result(entry)
    return [item.valid for item in spec.items] if spec.items else [spec.valid]


FULL = [
    pytest.param(op, sample, id=f"{op}-{number}")
    for op, entry in TABLE.items()
    if set(results(entry)) == {"full"}
    for number, sample in enumerate(entry.samples)
]


def partly_valid(sample: dict[str, Any]) -> dict[str, Any]:
    """The sample with one element less valid on every axis of every tile and tensor."""

    def changed(value: Any) -> Any:
        if not isinstance(value, str) or "[" not in value or value.startswith("["):
            return value
        box = value.partition(" valid ")[0]
        extents = box[box.index("[") + 1 : -1].split(",")
        region = [extent if int(extent) < 2 else str(int(extent) - 1) for extent in map(str.strip, extents)]
        return f"{box} valid [{', '.join(region)}]"

    return {name: changed(value) for name, value in sample.items()}


def test_the_paddings_and_their_like_are_among_them() -> None:
    ops = {param.values[0] for param in FULL}
    assert ops >= {"tile.fillpad", "tile.fillpad_inplace", "tile.fillpad_expand", "tensor.fillpad"}
    assert ops >= {"tensor.matmul_acc", "tensor.row_expand_mul", "tensor.scatter", "tile.transpose"}


@pytest.mark.parametrize(("op", "sample"), FULL)
def test_the_result_is_whole_where_the_operands_are_not(op: str, sample: dict[str, Any]) -> None:
    found = inferred(op, partly_valid(sample))
    for type_ in found.types if isinstance(found, ir.TupleType) else [found]:
        assert isinstance(type_, (ir.TileType, ir.TensorType))
        view = type_.tile_view if isinstance(type_, ir.TileType) else type_.tensor_view
        assert view is None or not view.valid_shape


@pytest.mark.parametrize("valid", [[5, 40], [0, 64], []], ids=str)
@pytest.mark.parametrize("op", ["fillpad", "fillpad_inplace"])
def test_a_padded_tile_is_whole_and_its_view_records_the_pad(op: str, valid: list[int]) -> None:
    padded = built(f"pl.tile.{op}", tile(16, 64, valid=valid), pad_value=pl.PadValue.min)
    assert type_text(padded) == "pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec, pl.TileView(pad=pl.PadValue.min)]"


@pytest.mark.parametrize("op", ["fillpad", "fillpad_inplace"])
def test_a_padded_tile_keeps_its_layout(op: str) -> None:
    view = ir.TileView([5, 40], blayout=ir.TileLayout.col_major)
    source = ir.Var("t", ir.TileType([16, 64], ir.DataType.FP32, None, view, Mem.Vec), ir.Span.unknown())
    padded = built(f"pl.tile.{op}", source, pad_value=pl.PadValue.zero)
    assert padded.type.tile_view.blayout is ir.TileLayout.col_major
    assert not padded.type.tile_view.valid_shape


def test_a_padded_tensor_is_whole() -> None:
    padded = built("pl.fillpad", tensor(16, 64, valid=[5, 40]), pad_value=pl.PadValue.min)
    assert type_text(padded) == "pl.Tensor[[16, 64], pl.FP32]"


KERNEL = """
import pypto.language as pl

N = pl.dynamic("N")

@pl.function(type=pl.FunctionType.InCore)
def f(x: pl.Tensor[{source}, pl.FP32], out: pl.Out[pl.Tensor[[8, 16], pl.FP32]]):
    t = pl.load(x, [0, 0], [8, 16], valid_shape=[3, 10])
    u = pl.tile.{op}(t, pad_value=pl.PadValue.max)
    pl.store(u, [0, 0], out)
"""


def stored(op: str, x: torch.Tensor, extents: str) -> torch.Tensor:
    program = pl.parse(KERNEL.format(op=op, source=extents))
    scope: dict[str, Any] = {}
    exec(torch_codegen(program), scope)
    out = torch.full((8, 16), 9.0)
    scope["f"](x, out)
    return out


@pytest.mark.parametrize("op", ["fillpad", "fillpad_inplace"])
def test_the_padded_cells_are_stored(op: str) -> None:
    expected = torch.full((8, 16), torch.inf)
    expected[:3, :10] = -1.0
    assert torch.equal(stored(op, -torch.ones(8, 16), "[8, 16]"), expected)


@pytest.mark.parametrize("op", ["fillpad", "fillpad_inplace"])
def test_the_padded_cells_are_stored_where_the_load_went_over_the_edge(op: str) -> None:
    """The source turns out to have six columns of the ten: padding begins behind the tenth."""
    expected = torch.full((8, 16), torch.inf)
    expected[:3, :10] = 0.0
    expected[:3, :6] = -1.0
    assert torch.equal(stored(op, -torch.ones(8, 6), "[8, N]"), expected)
