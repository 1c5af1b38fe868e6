"""Sums over the first axis, bit by bit those of the device: in order, or in pairs with a workspace."""

import numpy as np
import pytest
import torch
from ops.sampled import emit, run

NUMBERS = {"FP32": (torch.float32, np.float32), "FP16": (torch.float16, np.float16)}


def summed(
    data: torch.Tensor, dtype: str, valid: list[int] | None = None, workspace: bool = True
) -> torch.Tensor:
    box = f"{dtype}[{data.shape[0]}, {data.shape[1]}]" + (f" valid {valid}" if valid else "")
    sample = {"tile": box, "tmp_tile": box} if workspace else {"tile": box}
    return run(emit("tile.col_sum", sample), {"tile": data})


def in_pairs(rows: np.ndarray) -> np.ndarray:
    """The tree, written out: numpy rounds every sum to the dtype."""
    buffer = [row.copy() for row in rows]
    while len(buffer) > 1:
        half, odd = len(buffer) // 2, len(buffer) % 2
        sums = [buffer[2 * i] + buffer[2 * i + 1] for i in range(half)]
        if odd:
            sums[0] = sums[0] + buffer[-1]
        buffer = sums
    return buffer[0][None]


def in_order(rows: np.ndarray) -> np.ndarray:
    total = rows[0].copy()
    for row in rows[1:]:
        total = total + row
    return total[None]


@pytest.mark.parametrize(
    ("column", "alone", "paired"),
    [
        ([2048, 1, 1, 1], 2048, 2050),  # (2048 + 1) + (1 + 1)
        ([2048, 1, 1, 1, 1], 2048, 2050),  # ((2048 + 1) + 1) + (1 + 1)
        ([1, 1, 2048, 1, 1, 1, 1], 2052, 2054),  # ((1 + 1) + 1, 2048 + 1, 1 + 1): (3 + 2048) + 2
        ([7], 7, 7),
        ([2048, 1], 2048, 2048),
        ([2048, 1, 1], 2048, 2048),
    ],
)
def test_sixteen_bits_tell_the_orders_apart(column: list[int], alone: int, paired: int) -> None:
    data = torch.tensor(column, dtype=torch.float16)[:, None]
    assert summed(data, "FP16", workspace=False).item() == alone
    assert summed(data, "FP16").item() == paired


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("count", [1, 2, 3, 7, 16, 33, 100, 128])
def test_both_orders_bit_by_bit(dtype: str, count: int) -> None:
    torch_dtype, numpy_dtype = NUMBERS[dtype]
    rng = np.random.default_rng(count)
    rows = (rng.standard_normal((count + 2, 24)) * 10.0 ** rng.integers(-3, 4, (count + 2, 24))).astype(
        numpy_dtype
    )
    data = torch.from_numpy(rows)
    valid = [count, 24]
    for workspace, order in ((True, in_pairs), (False, in_order)):
        found = summed(data, dtype, valid, workspace)
        assert found.dtype == torch_dtype
        assert np.array_equal(found.numpy().view(np.uint8), order(rows[:count]).view(np.uint8))


def test_sixteen_bits_of_eight_exponent_bits() -> None:
    column = [256.0, 1.0, 1.0, 1.0]  # of bfloat16 257 is a tie, which goes to 256; 256 + 2 is 258
    data = torch.tensor(column, dtype=torch.bfloat16)[:, None]
    assert summed(data, "BF16", workspace=False).item() == 256.0
    assert summed(data, "BF16").item() == 258.0


def test_integers_wrap_in_either_order() -> None:
    data = torch.tensor([[120], [10], [-3], [5], [1]], dtype=torch.int8)
    for workspace in (True, False):
        assert summed(data, "INT8", workspace=workspace).item() == 133 - 256


def test_no_valid_row_sums_to_nothing() -> None:
    data = torch.full((4, 2), 3.0)
    for workspace in (True, False):
        assert summed(data, "FP32", [0, 2], workspace).tolist() == [[0.0, 0.0]]


def test_the_tile_is_left_as_it_is() -> None:
    data = torch.ones(1, 4)
    found = summed(data, "FP32")
    found += 1.0
    assert data.tolist() == [[1.0] * 4]
