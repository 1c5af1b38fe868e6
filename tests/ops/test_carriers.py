"""Wide unsigned tensors that a caller brings in a signed dtype give what the declared dtype gives."""

import pytest
import torch
from ops.sampled import DTYPES, TABLE, Typed, emit, made_up, parse, run

WIDE = {torch.uint16: torch.int32, torch.uint32: torch.int64}
FAMILIES = {"arg_reduce", "bitwise", "broadcast", "broadcast_columns", "compare", "division", "elementwise"}
FAMILIES |= {"partial", "reduce", "unary"}
SAMPLES = [
    pytest.param(name, sample, id=f"{name}-{number}")
    for name, entry in TABLE.items()
    for number, sample in enumerate(entry.samples)
    if name.startswith("tensor.") and TABLE.family_of(name) in FAMILIES
    if any(str(value).startswith(("UINT16", "UINT32")) for value in sample.values())
]


@pytest.mark.parametrize("same_bits", [False, True], ids=["same number", "same bits"])
@pytest.mark.parametrize(("name", "sample"), SAMPLES)
def test_a_carrier_gives_the_same(name, sample, same_bits):
    given = {key: parse(sample[key]) for key in TABLE[name].operand_names if key in sample}
    typed = {key: value for key, value in given.items() if isinstance(value, Typed)}
    own = {key: made_up(value, f"{name} {key}").data for key, value in typed.items()}
    carried = {}
    for key, data in own.items():
        carrier = WIDE.get(data.dtype, data.dtype)
        carried[key] = data.to(carrier)
        if same_bits and data.dtype == torch.uint32:
            carried[key] = data.view(torch.int32)
    text = emit(name, sample)
    expected, got = run(text, own), run(text, carried)
    returned = TABLE[name].returns  # the caller's own tensor keeps its dtype
    assert got.dtype == (expected.dtype if returned is None else carried[returned].dtype), text
    assert torch.equal(got.long(), expected.long()), text
    assert {DTYPES[value.dtype] for value in typed.values()} & set(WIDE)


@pytest.mark.parametrize("target", ["FP32", "INT64", "UINT16"])
def test_a_cast_reads_the_bits_of_a_carrier(target):
    numbers = torch.tensor([[0, 1, 2**31, 2**32 - 1]])
    text = emit("tensor.cast", {"input": "UINT32[1, 4]", "target_type": target, "mode": "rint"})
    own, carried = (run(text, {"input": numbers.to(dtype)}) for dtype in (torch.uint32, torch.int32))
    assert torch.equal(own.double(), carried.double())
    expected = {"FP32": [0, 1, 2**31, 2**32], "UINT16": [0, 1, 0, 2**16 - 1]}
    assert own[0].tolist() == expected.get(target, numbers[0].tolist())
