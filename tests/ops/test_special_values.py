"""NaN, infinities, ties and signs of zero: one documented rule for ops that look alike, at both levels."""

import pytest
import torch
from ops.sampled import emit, run

INF, NAN = float("inf"), float("nan")
ROWS = [[NAN, 6.0, 8.0], [NAN, NAN, NAN], [-INF, 6.0, INF], [7.0, 6.0, 8.0]]


def of_rows(op, rows, valid=None, dtype="FP32"):
    shape = f"[{len(rows)}, {len(rows[0])}]"
    kind = f"{dtype}{shape}" + (f" valid {valid}" if valid else "")
    is_tile = op.startswith("tile.")
    sample = {"tile": kind, "tmp_tile": kind} if is_tile else {"input": kind}
    if op.startswith("tile.col") and "arg" not in op:
        del sample["tmp_tile"]
    data = torch.tensor(rows).to(
        {"FP32": torch.float32, "BF16": torch.bfloat16, "FP16": torch.float16}[dtype]
    )
    return run(emit(op, sample), {"tile" if is_tile else "input": data})


def same(got, want):
    return str(got.flatten().tolist()) == str(want)


@pytest.mark.parametrize("dtype", ["FP32", "FP16", "BF16"])
@pytest.mark.parametrize("level", ["tile", "tensor"])
@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("max", [NAN, NAN, INF, 8.0]),
        ("min", [NAN, NAN, -INF, 6.0]),
        ("sum", [NAN, NAN, NAN, 21.0]),
        ("prod", [NAN, NAN, -INF, 336.0]),
        ("argmax", [0, 0, 2, 2]),
        ("argmin", [0, 0, 0, 1]),
    ],
)
def test_a_nan_in_a_reduction(name, numbers, level, dtype):
    assert same(of_rows(f"{level}.row_{name}", ROWS, dtype=dtype), numbers)
    columns = [list(column) for column in zip(*ROWS, strict=True)]
    assert same(of_rows(f"{level}.col_{name}", columns, dtype=dtype), numbers)


@pytest.mark.parametrize("level", ["tile", "tensor"])
def test_a_nan_in_the_padding_of_a_reduction_does_not_count(level):
    rows = [[2.0, 3.0, NAN], [5.0, 4.0, NAN], [NAN, NAN, NAN]]
    for name, numbers in {
        "max": [3.0, 5.0],
        "min": [2.0, 4.0],
        "sum": [5.0, 9.0],
        "prod": [6.0, 20.0],
    }.items():
        assert same(of_rows(f"{level}.row_{name}", rows, [2, 2])[:2], numbers)
    for name, numbers in {
        "max": [5.0, 4.0],
        "min": [2.0, 3.0],
        "sum": [7.0, 7.0],
        "prod": [10.0, 12.0],
    }.items():
        assert same(of_rows(f"{level}.col_{name}", rows, [2, 2])[:, :2], numbers)
    assert same(of_rows(f"{level}.row_argmax", rows, [2, 2])[:2], [1, 0])
    assert same(of_rows(f"{level}.col_argmin", rows, [2, 2])[:, :2], [0, 0])


@pytest.mark.parametrize("level", ["tile", "tensor"])
def test_of_equal_elements_the_first_counts(level):
    rows = [[1.0, 3.0, 3.0, 1.0], [-INF, -INF, -INF, -INF], [INF, INF, INF, INF]]
    assert same(of_rows(f"{level}.row_argmax", rows), [1, 0, 0])
    assert same(of_rows(f"{level}.row_argmin", rows), [0, 0, 0])
    assert same(of_rows(f"{level}.row_argmax", rows, [3, 3]), [1, 0, 0])
    assert same(of_rows(f"{level}.col_argmax", rows), [2, 2, 2, 2])
    assert same(of_rows(f"{level}.col_argmin", rows), [1, 1, 1, 1])
    assert of_rows(f"{level}.col_argmin", rows).dtype == torch.int32


@pytest.mark.parametrize("level", ["tile", "tensor"])
@pytest.mark.parametrize("valid", [[3, 0], [0, 4]])
def test_no_valid_element_is_no_exception(level, valid):
    for axis in ("row", "col"):
        for name in ("max", "min", "sum", "prod", "argmax", "argmin"):
            for dtype in ("FP32", "BF16"):
                of_rows(f"{level}.{axis}_{name}", [[NAN] * 4] * 3, valid, dtype=dtype)


@pytest.mark.parametrize("level", ["tile", "tensor"])
def test_an_accumulator_of_sixteen_bits(level):
    """FP32 for row_sum; the other reductions round after every step, in order."""
    line = [2048.0] + [1.0] * 12
    assert of_rows(f"{level}.row_sum", [line], dtype="FP16").item() == 2060.0
    assert of_rows(f"{level}.col_sum", [[x] for x in line], dtype="FP16").item() == 2048.0
    assert of_rows(f"{level}.row_prod", [[300.0, 300.0, 0.001]], dtype="FP16").item() == INF
    assert of_rows(f"{level}.col_prod", [[300.0], [300.0], [0.001]], dtype="FP16").item() == INF


PAIRS = {"lhs": [NAN, 1.0, NAN, 2.0, -INF, 3.0], "rhs": [1.0, NAN, NAN, 1.0, INF, 3.0]}


@pytest.mark.parametrize("level", ["tile", "tensor"])
@pytest.mark.parametrize(
    ("name", "numbers"),
    [("maximum", [NAN, NAN, NAN, 2.0, INF, 3.0]), ("minimum", [NAN, NAN, NAN, 1.0, -INF, 3.0])],
)
def test_a_nan_in_a_pair(name, numbers, level):
    arguments = {key: torch.tensor(value) for key, value in PAIRS.items()}
    text = emit(f"{level}.{name}", {"lhs": "FP32[6]", "rhs": "FP32[6]"})
    assert same(run(text, arguments), numbers)
    part = "part_max" if name == "maximum" else "part_min"
    text = emit(f"{level}.{part}", {"src0": "FP32[6]", "src1": "FP32[6]"})
    assert same(run(text, {"src0": arguments["lhs"], "src1": arguments["rhs"]}), numbers)


@pytest.mark.parametrize("op", ["tile.maximums", "tensor.maximum", "tile.minimums", "tensor.minimum"])
def test_a_nan_against_a_scalar(op):
    got = run(emit(op, {"lhs": "FP32[3]", "rhs": "0.0"}), {"lhs": torch.tensor([NAN, -1.0, 1.0])})
    assert same(got, [NAN, 0.0, 1.0] if "max" in op else [NAN, -1.0, 0.0])


def test_activations():
    x = torch.tensor([NAN, -2.0, -0.0, 0.0, 2.0, -INF, INF])
    assert same(
        run(emit("tile.relu", {"tile": "FP32[7]"}), {"tile": x}).abs(), [NAN, 0.0, 0.0, 0.0, 2.0, 0.0, INF]
    )
    for slope, numbers in (
        ("0.5", [NAN, -1.0, -0.0, 0.0, 2.0, -INF, INF]),
        ("-0.5", [NAN, 1.0, 0.0, -0.0, 2.0, INF, INF]),
    ):
        assert same(run(emit("tile.lrelu", {"tile": "FP32[7]", "slope": slope}), {"tile": x}), numbers)
        sample = {"tile": "FP32[7]", "slope": "FP32[7]", "tmp": "UINT8[7]"}
        slopes = torch.full([7], float(slope))
        assert same(run(emit("tile.prelu", sample), {"tile": x, "slope": slopes}), numbers)
    two = {"tile": "FP32[1]", "slope": "2.0"}
    assert run(emit("tile.lrelu", two), {"tile": torch.tensor([-3.0])}).item() == -6.0  # max(x, 2 * x) is -3


@pytest.mark.parametrize("name", ["log", "sqrt"])
def test_functions_at_their_edges(name):
    x = torch.tensor([-1.0, 0.0, INF, NAN])
    assert same(
        run(emit(f"tile.{name}", {"tile": "FP32[4]"}), {"tile": x}),
        [NAN, -INF if name == "log" else 0.0, INF, NAN],
    )


def test_roots_are_rounded_right():
    """torch.sqrt is off in the last place for some of these on some CPUs."""
    x = torch.arange(1, 20000).float() / 7
    got = run(emit("tile.sqrt", {"tile": "FP32[19999]"}), {"tile": x})
    assert torch.equal(got, torch.tensor([n**0.5 for n in x.double().tolist()], dtype=torch.float64).float())


@pytest.mark.parametrize(
    ("cmp_type", "bits"),
    [
        ("eq", 0b001000),
        ("ne", 0b110111),
        ("lt", 0b010000),
        ("le", 0b011000),
        ("gt", 0b100000),
        ("ge", 0b101000),
    ],
)
def test_a_nan_compares_as_in_ieee_754(cmp_type, bits):
    lhs = torch.tensor([[NAN, 1.0, NAN, INF, -1.0, 5.0]])
    rhs = torch.tensor([[1.0, NAN, NAN, INF, 0.0, 0.0]])
    sample = {"lhs": "FP32[1, 6]", "rhs": "FP32[1, 6]", "cmp_type": cmp_type}
    assert run(emit("tile.cmp", sample), {"lhs": lhs, "rhs": rhs})[0, 0].item() == bits
    unpacked = run(emit("tensor.cmp", sample), {"lhs": lhs, "rhs": rhs})
    assert unpacked.dtype == torch.float32
    assert unpacked.tolist() == [[float(bits >> j & 1) for j in range(6)]]
