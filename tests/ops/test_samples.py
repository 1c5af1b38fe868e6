"""Every op is run on the samples of its entry and compared with its reference."""

import pytest
import torch
from ops.references import REFERENCES, Shaped
from ops.references.registry import UNREFERENCED
from ops.sampled import DTYPES, TABLE, Typed, emit, made_up, parse, result_dtype, run

# Operands whose made-up numbers must not be negative: indices, radicands, shifted or divided by.
NONNEGATIVE = {"indices", "indexes", "index", "row_vec", "idx", "offset", "block_table"}
# Operands that index another one, by op: the operand, and whether its rows or all its elements.
INDEXED = {
    "tile.mscatter": {"idx": ("output_tensor", None)},
    "tile.scatter": {"indexes": ("dst", None)},
    "tensor.scatter": {"index": ("input", -1)},
    "tile.scatter_update": {"index": ("input", 0)},
    "tensor.scatter_update": {"index": ("input", 0)},
    "tensor.paged_gather": {"indices": ("src", 0), "block_table": ("block_table", -1)},
    "tile.gatherb": {"offset": ("src", None)},
}
SCALAR_FAMILIES = {"array", "prefetch", "task"}  # no torch values, tested in test_scalar_families.py
SAMPLES = [
    pytest.param(op, sample, id=f"{op}-{number}")
    for op, entry in TABLE.items()
    for number, sample in enumerate(entry.samples)
    if op in REFERENCES and TABLE.family_of(op) not in SCALAR_FAMILIES
]


def test_every_op_with_a_value_has_samples_and_a_reference():
    for op, entry in TABLE.items():
        has_value = entry.is_executable and TABLE.family_of(op) not in UNREFERENCED
        assert has_value == (op in REFERENCES), op
        assert entry.samples or not has_value, op


def bring(op, name, typed, sample):
    nonnegative = name in NONNEGATIVE or op.endswith((".rsqrt", ".recip"))
    shaped = made_up(typed, f"{op} {name} {sample}", nonnegative=nonnegative)
    if op.endswith(".mrgsort_format2"):  # lists are sorted
        order = shaped.data[..., ::2].argsort(dim=-1, descending=True)
        pairs = shaped.data.reshape(*shaped.data.shape[:-1], -1, 2)
        pairs = torch.take_along_dim(pairs, order.unsqueeze(-1), dim=-2)
        shaped = Shaped(pairs.reshape(shaped.data.shape), shaped.valid)
    if op.endswith((".shl", ".shr")) and name == "rhs":
        width = torch.iinfo(DTYPES[parse(sample["lhs"]).dtype]).bits
        shaped = Shaped((shaped.data.long() % (width + 1)).to(shaped.data.dtype), shaped.valid)
    if name in INDEXED.get(op, {}):
        target, axis = INDEXED[op][name]
        shape = parse(sample[target]).shape
        extent = torch.Size(shape).numel() if axis is None else shape[axis]
        indices = (shaped.data.long() % (extent + 2)).to(shaped.data.dtype)  # now and then out of range
        shaped = Shaped(indices, shaped.valid)
    elif name in ("indices", "index"):
        source = parse(sample.get("src") or sample.get("input"))
        extent = source.shape[sample["dim"]] if "dim" in sample else torch.Size(source.shape).numel()
        shaped = Shaped(shaped.data % extent, shaped.valid)
    return shaped


@pytest.mark.parametrize(("op", "sample"), SAMPLES)
def test_a_sample_agrees_with_the_reference(op, sample):
    entry = TABLE[op]
    given = {name: parse(value) for name, value in sample.items() if name in entry.operand_names}
    keywords = {name: value for name, value in sample.items() if name in entry.kwarg_names}
    shaped = {
        name: bring(op, name, value, sample) for name, value in given.items() if isinstance(value, Typed)
    }
    dtype = DTYPES[result_dtype(entry, given_texts(sample, entry), keywords) or "INDEX"]
    expected = REFERENCES[op](**{**given, **shaped}, **keywords, result=dtype)
    text = emit(op, sample)
    before = {name: value.data.clone() for name, value in shaped.items()}
    got = run(text, {name: value.data for name, value in shaped.items()})
    for name, value in shaped.items():
        if name not in entry.writes:
            assert same(value.data, before[name]), f"{text} changed {name}"
    if entry.returns is not None and op not in ("tile.matmul_acc", "tensor.matmul_acc"):
        assert got is shaped[entry.returns].data, f"{text} returns another value"
    if isinstance(got, tuple):
        assert [part.tolist() for part in got] == [part.tolist() for part in expected], text
        names = ("INT32", keywords.get("count_dtype", "INT32"))
        assert [part.dtype for part in got] == [DTYPES[name] for name in names], text
        return
    if not isinstance(got, torch.Tensor):
        assert got == expected.item()
        return
    assert got.dtype == dtype, text
    part = got[tuple(slice(0, extent) for extent in expected.shape)]
    scale = 64.0 if "matmul" in op or "gemv" in op or "_sum" in op else 1.0  # of the partial sums
    assert close(part, expected, scale), f"{text}\ngot      {part}\nexpected {expected}"


def given_texts(sample, entry):
    return {name: value for name, value in sample.items() if name in entry.operand_names}


def same(left, right):
    return torch.equal(left.view(torch.uint8).flatten(), right.view(torch.uint8).flatten())


def close(got, expected, scale):
    if not got.dtype.is_floating_point:
        return got.shape == expected.shape and torch.equal(got.long(), wrapped_like(expected, got.dtype))
    eps = torch.finfo(got.dtype).eps
    rounded = expected.to(got.dtype).double()
    return got.shape == expected.shape and torch.allclose(
        got.double(), rounded, rtol=4 * eps, atol=8 * eps * scale, equal_nan=True
    )


def wrapped_like(numbers, dtype):
    return numbers.long().to(dtype).long()
