"""Blocks of columns that repeat along the row."""

import torch
from preamble.rendered import Script


def test_columns_of_a_block_repeat():
    repeat = Script(("broadcast",))["_repeat_columns"]
    block = torch.tensor([[1, 2, 3, 9], [4, 5, 6, 9]])
    assert repeat(block, 3, 7).tolist() == [[1, 2, 3, 1, 2, 3, 1], [4, 5, 6, 4, 5, 6, 4]]


def test_what_a_lane_has_no_columns_of_is_repeated_as_something():
    """A lane without work has 0 valid columns; nobody reads what it computes, which has to have the shape."""
    repeat = Script(("broadcast",))["_repeat_columns"]
    assert repeat(torch.zeros(8, 8), 0, 8).shape == (8, 8)
