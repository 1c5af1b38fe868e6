"""UINT64 in the elementwise families: exact modulo 2^64, in unsigned order. Expected values are Python's."""

import math

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


REDUCTIONS = {
    "sum": lambda numbers: sum(numbers) % SPAN,
    "prod": lambda numbers: math.prod(numbers) % SPAN,
    "max": max,
    "min": min,
    "argmax": lambda numbers: numbers.index(max(numbers)),
    "argmin": lambda numbers: numbers.index(min(numbers)),
}


@pytest.mark.parametrize("carrier", [torch.uint64, torch.int64], ids=str)
@pytest.mark.parametrize("valid", [4, 11, 15])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name, valid, carrier):
    numbers = [3, 5, *EDGES[:1:-1]]
    for op, place in ((f"tile.row_{name}", "tile"), (f"tensor.row_{name}", "input")):
        kind = f"UINT64[1, 15] valid [1, {valid}]"
        given = tile(numbers) if place == "tile" else tile(numbers).to(carrier)
        workspace = {"tmp_tile": kind} if place == "tile" else {}
        got = run(emit(op, {place: kind} | workspace), {place: given})
        assert got.dtype == (torch.int32 if name.startswith("arg") else torch.uint64)
        assert got.tolist() == [[REDUCTIONS[name](numbers[:valid])]]
    kind = f"UINT64[15, 1] valid [{valid}, 1]"
    workspace = {"tmp_tile": kind} if name.startswith("arg") else {}
    got = run(emit(f"tile.col_{name}", {"tile": kind} | workspace), {"tile": tile(numbers).mT})
    assert got.tolist() == [[REDUCTIONS[name](numbers[:valid])]]


@pytest.mark.parametrize(("pad", "number"), [("zero", 0), ("min", 0), ("max", SPAN - 1)])
def test_padding(pad, number):
    given = {"tile": tile(EDGES)}
    for op in ("tile.fillpad", "tile.fillpad_inplace"):
        got = run(emit(op, {"tile": "UINT64[1, 15] valid [1, 12]", "pad_value": pad}), {"tile": tile(EDGES)})
        assert got.tolist() == [EDGES[:12] + [number] * 3]
    sample = {"tile": "UINT64[1, 15] valid [1, 12]", "shape": [2, 15], "pad_value": pad}
    assert run(emit("tile.fillpad_expand", sample), given).tolist() == [
        EDGES[:12] + [number] * 3,
        [number] * 15,
    ]


@pytest.mark.parametrize("number", [0, 2**63, SPAN - 1])
def test_a_new_tile(number):
    got = run(emit("tile.full", {"shape": [1, 2], "value": str(number), "dtype": "UINT64"}), {})
    assert (got.dtype, got.tolist()) == (torch.uint64, [[number] * 2])


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
