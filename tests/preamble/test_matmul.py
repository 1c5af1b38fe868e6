"""The accumulator's start."""

import pytest
import torch
from preamble.rendered import Script


@pytest.mark.parametrize(
    ("init_cond", "value"),
    [(True, 3.0), (False, 103.0), (1, 3.0), (0, 103.0), (torch.tensor(True), 3.0)],
)
def test_a_true_predicate_overwrites_the_accumulator(init_cond, value):
    acc, product = torch.full([2, 2], 100.0), torch.full([2, 2], 3.0)
    result = Script(("matmul",))["_acc_init"](acc, product, init_cond)
    assert torch.equal(result, torch.full([2, 2], value))
