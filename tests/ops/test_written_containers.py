"""Ops that write yield their container, and its other names see what they wrote."""

import pytest
import torch
from codegen.builders import U, Vec, assign, function, op, ret, script, tensor_type

from pypto_tmpl import ir

TILE = ir.TileType([4, 8], ir.DataType.FP32, None, None, Vec)
WHERE = [[0, 0], [4, 8], [4, 8]]


def loaded(x):
    tile = ir.Var("tile", TILE, U)
    return tile, assign(tile, op("tile.load", [x, *WHERE], TILE, target_memory=Vec))


def element(tile, at, number):
    written = ir.Var("written", TILE, U)
    return written, assign(written, op("tile.write", [tile, at, number], TILE))


def stored(tile, out):
    result = ir.Var("result", out.type, U)
    return [assign(result, op("tile.store", [tile, [0, 0], out], out.type)), ret(result)]


def run(params, body, *arguments):
    kernel = script(function("kernel", params, *body, type=ir.FunctionType.InCore))["kernel"]
    return kernel(*arguments)


@pytest.mark.parametrize("shows", ["old", "new"])
def test_writes_follow_one_another(shows):
    x, out = (ir.Var(name, tensor_type([4, 8]), U) for name in ("x", "out"))
    tile, load = loaded(x)
    second, first_write = element(tile, [0, 1], 5.0)
    third, second_write = element(second, [1, 0], 6.0)
    body = [load, first_write, second_write, *stored(tile if shows == "old" else third, out)]
    result = run([x, out], body, torch.zeros(4, 8), torch.full((4, 8), 9.0))
    expected = torch.zeros(4, 8)
    expected[0, 1], expected[1, 0] = 5, 6
    assert result.tolist() == expected.tolist()


def test_a_write_leaves_the_source_of_the_tile_alone():
    x, out = (ir.Var(name, tensor_type([4, 8]), U) for name in ("x", "out"))
    tile, load = loaded(x)
    written, write = element(tile, [0, 1], 5.0)
    source = torch.zeros(4, 8)
    run([x, out], [load, write, *stored(written, out)], source, torch.zeros(4, 8))
    assert not source.any()


def test_a_tuple_of_columns_and_counts():
    x = ir.Var("x", tensor_type([4, 8]), U)
    types = [tensor_type(shape, ir.DataType.INT32) for shape in ([4, 3], [1, 4])]
    both = ir.Var("both", ir.TupleType(types), U)
    keywords = {"cmp_mode": 4, "offset": 10, "out_cols": 3}
    found = op("tensor.gather_compare", [x, 5.0], both.type, **keywords)
    parts = [ir.Var(name, type_, U) for name, type_ in zip(("columns", "counts"), types, strict=True)]
    items = [assign(part, ir.TupleGetItemExpr(both, i, U)) for i, part in enumerate(parts)]
    data = torch.arange(8.0).repeat(4, 1) - torch.arange(4.0).unsqueeze(1)
    columns, counts = run([x], [assign(both, found), *items, ret(*parts)], data)
    assert columns.tolist() == [[16, 17, 0], [17, 0, 0], [0, 0, 0], [0, 0, 0]]
    assert counts.tolist() == [[2, 1, 0, 0]]


def test_a_window_of_a_transposed_tensor():
    x = ir.Var("x", tensor_type([3, 4]), U)
    turned = ir.Var("turned", tensor_type([4, 3]), U)
    row = ir.Var("row", tensor_type([1, 3]), U)
    body = [
        assign(turned, op("tensor.transpose", [x, 0, 1], turned.type)),
        assign(row, op("tensor.slice", [turned, [1, 3], [1, 0]], row.type)),
        ret(row),
    ]
    assert run([x], body, torch.arange(12.0).reshape(3, 4)).tolist() == [[1, 5, 9]]
