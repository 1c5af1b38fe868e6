"""Operands of which either may be valid where the other is not, against a loop over the cells."""

import random

import pytest
import torch
from preamble.rendered import Script

FUNCTIONS = {
    torch.add: lambda x, y: x + y,
    torch.mul: lambda x, y: x * y,
    torch.maximum: max,
    torch.minimum: min,
}
NAN = float("nan")


@pytest.fixture(scope="module")
def combine():
    return Script(("scalars", "partial"))["_combine_parts"]


def in_region(cell, region):
    return all(index < extent for index, extent in zip(cell, region, strict=True))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_random_regions(combine, function):
    choose = random.Random(7)
    for _ in range(100):
        shape = [choose.randint(1, 4), choose.randint(1, 6)]
        regions = [[choose.randint(0, extent) for extent in shape] for _ in range(2)]
        left, right = (torch.randint(-9, 9, shape).float() for _ in range(2))
        kept = left.clone(), right.clone()
        got = combine(function, left, right, *regions)
        assert torch.equal(left, kept[0])
        assert torch.equal(right, kept[1])
        for i in range(shape[0]):
            for j in range(shape[1]):
                inside = [in_region((i, j), region) for region in regions]
                pair = left[i, j].item(), right[i, j].item()
                if all(inside):
                    assert got[i, j] == FUNCTIONS[function](*pair)
                elif any(inside):
                    assert got[i, j] == pair[inside.index(True)]


def test_padding_takes_no_part(combine):
    left = torch.tensor([[1.0, 2.0, NAN], [NAN, NAN, NAN]])
    right = torch.tensor([[5.0, NAN, NAN], [6.0, NAN, NAN]])
    assert combine(torch.add, left, right, [1, 2], [2, 1])[:, :2].tolist()[0] == [6.0, 2.0]
    assert combine(torch.add, left, right, [1, 2], [2, 1])[1, 0] == 6.0


def test_a_whole_operand_has_no_region(combine):
    ones, twos = torch.ones(2, 2), torch.full([2, 2], 2.0)
    assert combine(torch.add, ones, twos, None, [1, 1]).tolist() == [[3.0, 1.0], [1.0, 1.0]]
    assert combine(torch.add, ones, twos, [1, 1], None).tolist() == [[3.0, 2.0], [2.0, 2.0]]
    assert combine(torch.add, ones, twos, None, None).tolist() == [[3.0] * 2] * 2


@pytest.mark.parametrize("valid", [[0, 2], [2, -1]])
def test_an_empty_operand(combine, valid):
    assert (
        combine(torch.add, torch.full([2, 2], NAN), torch.ones(2, 2), valid, None).tolist() == [[1.0] * 2] * 2
    )


def test_an_axis_of_extent_1_is_repeated(combine):
    matrix, column = torch.ones(3, 2), torch.tensor([[5.0], [6.0], [7.0]])
    assert combine(torch.add, matrix, column, [3, 2], [2, 1]).tolist() == [[6.0] * 2, [7.0] * 2, [1.0] * 2]
    assert combine(torch.add, matrix, column, [1, 1], [3, 1]).tolist() == [[6.0, 5.0], [6.0] * 2, [7.0] * 2]
    assert (
        combine(torch.add, torch.ones(2, 3, 2), column, None, [1, 1])[:, :, 0].tolist()
        == [[6.0, 1.0, 1.0]] * 2
    )


def test_wide_unsigned_integers(combine):
    left, right = (torch.tensor([[65535, 2]], dtype=torch.uint16) for _ in range(2))
    got = combine(torch.add, left, right, None, [1, 1])
    assert got.dtype == torch.uint16
    assert got.tolist() == [[65534, 2]]
