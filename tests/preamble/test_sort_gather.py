"""Ramps, sorting with a payload, merging and flat gathers."""

import pytest
import torch
from preamble.rendered import Script


@pytest.fixture(scope="module")
def script():
    return Script(("sort_gather",))


@pytest.mark.parametrize(
    ("start", "dtype", "descending", "numbers"),
    [
        (0, torch.int32, False, [0, 1, 2, 3]),
        (5, torch.int16, True, [5, 4, 3, 2]),
        (-1, torch.int32, False, [-1, 0, 1, 2]),
        (65534, torch.uint16, False, [65534, 65535, 0, 1]),
        (1, torch.uint32, True, [1, 0, 2**32 - 1, 2**32 - 2]),
        (32766, torch.int16, False, [32766, 32767, -32768, -32767]),
    ],
)
def test_ramps(script, start, dtype, descending, numbers):
    ramp = script["_ci"](start, [1, 4], dtype, descending)
    assert ramp.dtype == dtype
    assert ramp.tolist() == [numbers]


def payload_of(records):
    return records.view(torch.int32)[..., 1::2]


def test_each_run_of_32_is_sorted_by_itself(script):
    values = torch.arange(128.0).reshape(2, 64)
    payload = torch.arange(1000, 1128).reshape(2, 64).to(torch.uint32)
    records = script["_sort32"](values, payload)
    assert records.shape == (2, 128)
    for row in (0, 1):
        for run in (0, 1):
            first = row * 64 + run * 32
            part = records[row, run * 64 : run * 64 + 64]
            assert part[0::2].tolist() == [float(v) for v in range(first + 31, first - 1, -1)]
            assert payload_of(part).tolist() == list(range(first + 1031, first + 999, -1))


def test_equal_values_stay_in_order(script):
    values = torch.tensor([[1.0, 2.0, 2.0, 1.0] * 8])
    payload = torch.arange(32, dtype=torch.int32).reshape(1, 32).to(torch.uint32)
    records = script["_sort32"](values, payload)
    twos = [i for i in range(32) if values[0, i] == 2]
    ones = [i for i in range(32) if values[0, i] == 1]
    assert payload_of(records)[0].tolist() == twos + ones


BITS = [0, 1, 0x7F800001, 0x7FC00000, 0xFFC12345, 0xFF800001, 0x80000000, 0xFFFFFFFF]  # many are NaN


def test_payloads_keep_every_bit(script):
    values = -torch.arange(32.0).reshape(1, 32)
    payload = torch.tensor([BITS * 4]).to(torch.uint32)
    records = script["_sort32"](values, payload)
    assert [bits & 0xFFFFFFFF for bits in payload_of(records)[0].tolist()] == BITS * 4
    merged = script["_mrgsort_format1"](torch.cat([records] * 4, dim=-1), 64)
    expected = [BITS[i % 8] for i in range(32) for _ in range(4)]
    assert [bits & 0xFFFFFFFF for bits in payload_of(merged)[0].tolist()] == expected


def test_an_fp16_record_has_four_lanes(script):
    values = torch.arange(32.0).reshape(1, 32).half()
    payload = (torch.arange(32).reshape(1, 32) + 0x12340000).to(torch.uint32)
    records = script["_sort32"](values, payload)
    assert records.dtype == torch.float16
    assert records.shape == (1, 128)
    lanes = records.view(torch.int16).reshape(32, 4)
    assert records.reshape(32, 4)[:, 0].tolist() == list(range(31, -1, -1))
    assert lanes[:, 1:].tolist() == [[0, i, 0x1234] for i in range(31, -1, -1)]


def test_merging_four_runs(script):
    generator = torch.Generator().manual_seed(3)
    values = torch.randint(0, 50, (1, 512), generator=generator).float()  # with ties
    indices = torch.arange(512).reshape(1, 512).to(torch.uint32)
    records = script["_sort32"](values, indices)
    for block_len in (64, 256):
        records = script["_mrgsort_format1"](records, block_len)
    order = sorted(range(512), key=lambda i: (-values[0, i].item(), i))
    assert records[0, 0::2].tolist() == [values[0, i].item() for i in order]
    assert payload_of(records)[0].tolist() == order


def test_blocks_are_merged_by_themselves_and_a_short_one_too(script):
    values = torch.arange(192.0).reshape(1, 192)
    records = script["_sort32"](values, torch.arange(192).reshape(1, 192).to(torch.uint32))
    merged = script["_mrgsort_format1"](records, 64)[0, 0::2]
    assert merged.tolist() == [float(v) for v in [*range(127, -1, -1), *range(191, 127, -1)]]


def test_flat_gather(script):
    source = torch.arange(12.0).reshape(3, 4)
    indices = torch.tensor([[0, 5, 11], [12, -1, 2**31 - 1]], dtype=torch.int32)
    assert script["_gather_flat"](source, indices).tolist() == [[0.0, 5.0, 11.0], [0.0, 0.0, 0.0]]
    short = script["_gather_flat"](source.to(torch.int16), indices.to(torch.int16))
    assert short.dtype == torch.int16
    assert short[0].tolist() == [0, 5, 11]


@pytest.mark.parametrize(
    ("key", "counter", "word"),
    [  # the known answers that come with the generator
        ([0, 0], [0, 0, 0, 0], 0x6627E8D5),
        ([-1, -1], [-1, -1, -1, -1], 0x408F276D),
        ([0xA4093822, 0x299F31D0], [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], 0xD16CFE09),
    ],
)
def test_random_words_are_those_of_philox(script, key, counter, word):
    words = script["_random"](key, counter, [1, 4], torch.uint32, 10)
    assert words[0, 0].item() == word


def test_the_counter_of_random_words_carries(script):
    row = script["_random"]([3, 4], [-1, -1, 5, 6], [1, 2], torch.uint32, 7)
    after = script["_random"]([3, 4], [0, 0, 6, 6], [1, 1], torch.uint32, 7)
    assert row[0, 1] == after[0, 0]


def test_the_rows_of_random_words_are_a_quarter_of_their_columns_apart(script):
    words = script["_random"]([3, 4], [1, 2, 3, 4], [2, 64], torch.uint32, 10).tolist()
    assert words[1][:48] == words[0][16:]
