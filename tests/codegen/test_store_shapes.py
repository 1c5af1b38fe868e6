"""Stores that state the extents of what they write: a corner of the tile, or a block of it, flattened."""

import pytest
import torch
from codegen.builders import assign, evaluate_body, function, load, numbers, op, ret, script, tensor, tile

import pypto_tmpl.language as pl
from pypto_tmpl.debug import torch_codegen

KERNEL = """\
import pypto.language as pl

@pl.program
class Corner:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(
        self, x: pl.Tensor[[8, 1], pl.FP32], out: pl.Out[pl.Tensor[[8, 1], pl.FP32]]
    ) -> pl.Tensor[[8, 1], pl.FP32]:
        t = pl.load(x, [0, 0], [8, 1])
        out = pl.tile.store(t, [2, 0], out, shapes={shapes})
        return out
"""


def stored(shape, target, offsets, shapes, valid=()):
    """What a store of the numbers 1, 2, ... with these extents leaves in a target of zeros."""
    x, out, t = tensor("x", shape), tensor("out", target), tile("t", shape, valid=valid)
    body = [
        assign(t, load(x, [0, 0], shape, valid)),
        ret(op("tile.store", [t, offsets, out, shapes], out.type)),
    ]
    return evaluate_body(*body, args=[(x, numbers(*shape) + 1), (out, torch.zeros(target))])


def test_a_corner_in_the_language():
    namespace = {}
    exec(torch_codegen(pl.parse(KERNEL.format(shapes="[1, 1]"))), namespace)
    out = namespace["kernel"](numbers(8, 1) + 1, torch.full((8, 1), 9.0))
    assert out.flatten().tolist() == [9, 9, 1, 9, 9, 9, 9, 9]


@pytest.mark.parametrize("shapes", ["[1, 2]", "[9, 1]", "[2, 8, 1]"])
def test_more_than_the_tile_has_is_refused_where_it_is_written(shapes):
    with pytest.raises(pl.parser.ParserError, match=r"has no part of the extents") as caught:
        pl.parse(KERNEL.format(shapes=shapes))
    assert ":10:15" in str(caught.value)


def test_more_than_the_tile_has_is_refused_in_a_dump():
    x, out, t = tensor("x", [2, 4]), tensor("out", [8, 8]), tile("t", [2, 4])
    body = [
        assign(t, load(x, [0, 0], [2, 4])),
        ret(op("tile.store", [t, [0, 0], out, [3, 4]], out.type)),
    ]
    with pytest.raises(ValueError, match="'tile.store' writes more than its tile has"):
        script(function("f", [x, out], *body))


@pytest.mark.parametrize(
    ("shapes", "target", "offsets", "cells"),
    [
        ([2, 3], [3, 5], [1, 1], {(1, 1): 1, (1, 2): 2, (1, 3): 3, (2, 1): 5, (2, 2): 6, (2, 3): 7}),
        ([1, 1, 2], [2, 3, 5], [1, 0, 0], {(1, 0, 0): 1, (1, 0, 1): 2}),
        ([2], [3, 5], [0, 3], {(0, 3): 1, (0, 4): 2}),
        ([3, 1, 1], [3, 2, 2], [0, 0, 0], {(0, 0, 0): 1, (1, 0, 0): 5, (2, 0, 0): 9}),
        (
            [8, 2],
            [8, 2],
            [0, 0],
            {(row, column): 2 * row + column + 1 for row in range(8) for column in range(2)},
        ),
    ],
)
def test_parts(shapes, target, offsets, cells):
    expected = torch.zeros(target)
    for cell, number in cells.items():
        expected[cell] = number
    assert torch.equal(stored([4, 4], target, offsets, shapes), expected)


def test_a_corner_of_a_partly_valid_tile():
    assert stored([4, 4], [4, 4], [0, 0], [2, 3], valid=[3, 2]).tolist() == [
        [1, 2, 0, 0],
        [5, 6, 0, 0],
        [0, 0, 0, 0],
        [0, 0, 0, 0],
    ]
