"""UINT64 in the elementwise families: exact modulo 2^64, in unsigned order. Expected values are Python's."""

import pytest
import torch
from ops.sampled import TABLE, emit, run

SPAN = 1 << 64
EDGES = [
    0,
    1,
    2,
    3,
    63,
    64,
    255,
    2**31,
    2**32 - 1,
    2**53 + 1,
    2**63 - 1,
    2**63,
    2**63 + 1,
    2**64 - 2,
    2**64 - 1,
]
PAIRS = [(left, right) for left in EDGES for right in [*EDGES, 10, 7**20, 3**40]]
LEFT, RIGHT = [left for left, _ in PAIRS], [right for _, right in PAIRS]
KIND = f"UINT64[1, {len(PAIRS)}]"
SCALARS = [0, 1, 3, 63, 64, 2**63 - 1, 2**63, 2**64 - 1]
BINARY = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a // b if b else 0,
    "rem": lambda a, b: a % b if b else a,
    "fmod": lambda a, b: a % b if b else a,
    "maximum": max,
    "minimum": min,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "shl": lambda a, b: a << b if b < 64 else 0,
    "shr": lambda a, b: a >> b if b < 64 else 0,
}
WITH_SCALAR = {
    "adds": "add", "subs": "sub", "muls": "mul", "divs": "div", "rems": "rem", "fmods": "fmod", "ands": "and",
    "ors": "or", "xors": "xor", "shls": "shl", "shrs": "shr", "maximums": "maximum", "minimums": "minimum",
}  # fmt: skip
COMPARISONS = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def tile(numbers):
    return torch.tensor([numbers], dtype=torch.uint64)


def computed(op, sample, arguments):
    workspace = {"tmp": KIND} if op in ("tile.rem", "tile.rems", "tile.xor", "tile.xors") else {}
    got = run(emit(op, sample | workspace), arguments | {"tmp": arguments["lhs"]})
    assert got.dtype == torch.uint64
    return got[0].tolist()


def known(names):
    return [(op, name) for name in names for op in (f"tile.{name}", f"tensor.{name}") if op in TABLE]


@pytest.mark.parametrize("carrier", [torch.uint64, torch.int64], ids=str)
@pytest.mark.parametrize(("op", "name"), known(BINARY))
def test_two_operands(op, name, carrier):
    arguments = {"lhs": tile(LEFT).to(carrier), "rhs": tile(RIGHT).to(carrier)}
    got = computed(op, {"lhs": KIND, "rhs": KIND}, arguments)
    assert got == [BINARY[name](a, b) % SPAN for a, b in PAIRS]


@pytest.mark.parametrize("scalar", SCALARS)
@pytest.mark.parametrize(("op", "name"), known(WITH_SCALAR))
def test_a_scalar(op, name, scalar):
    kind = f"UINT64[1, {len(EDGES)}]"
    got = run(
        emit(op, {"lhs": kind, "rhs": str(scalar), "tmp": kind}),
        {"lhs": tile(EDGES), "tmp": tile(EDGES)},
    )
    assert got.dtype == torch.uint64
    assert got[0].tolist() == [BINARY[WITH_SCALAR[name]](a, scalar) % SPAN for a in EDGES]


@pytest.mark.parametrize("comparison", COMPARISONS)
def test_tiles_are_compared_without_sign(comparison):
    text = emit("tile.cmp", {"lhs": KIND, "rhs": KIND, "cmp_type": comparison})
    packed = run(text, {"lhs": tile(LEFT), "rhs": tile(RIGHT)})[0].tolist()
    bits = [packed[at // 8] >> at % 8 & 1 for at in range(len(PAIRS))]
    assert bits == [COMPARISONS[comparison](a, b) for a, b in PAIRS]


@pytest.mark.parametrize("scalar", SCALARS)
@pytest.mark.parametrize("comparison", COMPARISONS)
def test_a_tile_is_compared_with_a_scalar_without_sign(comparison, scalar):
    kind = f"UINT64[1, {len(EDGES)}]"
    text = emit("tile.cmps", {"lhs": kind, "rhs": str(scalar), "cmp_type": comparison})
    packed = run(text, {"lhs": tile(EDGES)})[0].tolist()
    bits = [packed[at // 8] >> at % 8 & 1 for at in range(len(EDGES))]
    assert bits == [COMPARISONS[comparison](a, scalar) for a in EDGES]


@pytest.mark.parametrize("name", ["neg", "abs", "not", "relu"])
def test_one_operand(name):
    op = f"tile.{name}"
    expected = {"neg": lambda a: -a, "not": lambda a: ~a}.get(name, lambda a: a)
    got = run(emit(op, {"tile": f"UINT64[1, {len(EDGES)}]"}), {"tile": tile(EDGES)})
    assert got[0].tolist() == [expected(a) % SPAN for a in EDGES]


def test_random_quotients():
    generator = torch.Generator().manual_seed(3)
    left, right = (torch.randint(-(2**63), 2**63 - 1, (1, 4096), generator=generator) for _ in range(2))
    right >>= torch.randint(0, 63, (1, 4096), generator=generator)
    left, right = left.to(torch.uint64), right.to(torch.uint64)
    kind = "UINT64[1, 4096]"
    got = run(emit("tile.div", {"lhs": kind, "rhs": kind}), {"lhs": left, "rhs": right})
    pairs = zip(left[0].tolist(), right[0].tolist(), strict=True)
    assert got[0].tolist() == [a // b if b else 0 for a, b in pairs]
