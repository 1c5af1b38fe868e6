"""Rules on types: every error code with its message."""

from __future__ import annotations

import pytest
from ir.printer_samples import (
    FP32,
    INDEX,
    INT64,
    NOWHERE,
    TASK,
    TENSOR,
    TILE,
    assign,
    branch,
    call,
    carry,
    function,
    integer,
    loop,
    returns,
    scalar,
    sequence,
    tensor,
    tile,
    while_loop,
    yields,
)
from ir.raw_nodes import raw_copy
from ir.verifier_samples import (
    FLAG,
    ONE,
    WORK,
    ZERO,
    A,
    N,
    P,
    X,
    counted,
    errors,
)

from pypto_tmpl import ir

# TypeChecked


def mismatch(value: ir.Type, target: ir.Type) -> list[str]:
    """What is said of an initial value of a type and an iter_arg of another."""
    start = tensor("start", value)
    c = ir.IterArg("c", target, start, NOWHERE)
    body = counted(yields(c), (c, tensor("r", target)))
    return errors(function("f", [start, N], body), P.TypeChecked)


def told(code: int, text: str) -> list[str]:
    return [f"error: TypeCheck {code}: the initial value of 'c' has another type: {text}"]


VEC = ir.MemorySpace.Vec
WIDE, NARROW = ir.TensorType([16, 64], FP32), ir.TensorType([16, 32], FP32)
WINDOW = ir.WindowBuffer(ir.Var("window", ir.PtrType(), NOWHERE), 64)


def viewed(valid: list[int], **options: object) -> ir.TileType:
    return ir.TileType([16, 64], FP32, tile_view=ir.TileView(valid, **options), memory_space=VEC)  # type: ignore[arg-type]


def with_pad(pad: ir.PadValue) -> ir.TensorType:
    return ir.TensorType([16, 64], FP32, tensor_view=ir.TensorView((), ir.TensorLayout.ND, (), pad))


@pytest.mark.parametrize(
    ("value", "target", "code", "text"),
    [
        (TENSOR, TILE, 101, "TensorType and TileType"),
        (TENSOR, ir.DistributedTensorType([16, 64], FP32), 101, "TensorType and DistributedTensorType"),
        (ir.UnknownType(), TENSOR, 101, "UnknownType and TensorType"),
        (ir.ScalarType(INDEX), ir.ScalarType(INT64), 102, "INDEX and INT64"),
        (TENSOR, ir.TensorType([16, 64], ir.DataType.BF16), 102, "FP32 and BF16"),
        (ir.ArrayType(INDEX, 4), ir.ArrayType(INT64, 4), 102, "INDEX and INT64"),
        (TENSOR, ir.TensorType([16], FP32), 103, "2 axes and 1 axes"),
        (WIDE, NARROW, 104, "the extents are not the same"),
        (ir.TensorType([N], FP32), ir.TensorType([X], FP32), 104, "the extents are not the same"),
        (viewed([16, 32]), TILE, 104, "the valid extents are not the same"),
        (ir.TupleType([TENSOR]), ir.TupleType([TENSOR, TENSOR]), 105, "tuples of 1 and 2"),
        (ir.TupleType([TENSOR, WIDE]), ir.TupleType([TENSOR, NARROW]), 104, "the extents are not the same"),
        (TENSOR, with_pad(ir.PadValue.zero), 109, "pads null and zero"),
        (with_pad(ir.PadValue.min), with_pad(ir.PadValue.zero), 109, "pads min and zero"),
        (
            ir.DistributedTensorType([16, 64], FP32, WINDOW),
            ir.DistributedTensorType([16, 64], FP32),
            110,
            "the communication windows are not the same",
        ),
        (viewed([16, 8]), viewed([16, 8], fractal=1024), 111, "the tile views are not the same"),
        (viewed([16, 8]), viewed([16, 8], pad=ir.PadValue.zero), 111, "the tile views are not the same"),
        (viewed([16, 8]), viewed([16, 8], stride=[1, 1]), 111, "the tile views are not the same"),
        (viewed([16, 8]), viewed([16, 8], start_offset=4), 111, "the tile views are not the same"),
        (
            viewed([16, 8], start_offset=8),
            viewed([16, 8], start_offset=4),
            111,
            "the tile views are not the same",
        ),
    ],
)
def test_type_mismatches(value: ir.Type, target: ir.Type, code: int, text: str) -> None:
    assert mismatch(value, target) == told(code, text)


@pytest.mark.parametrize(
    ("value", "target"),
    [
        (TENSOR, ir.TensorType([16, 64], FP32)),
        (ir.TensorType([N, 8], FP32), ir.TensorType([N, 8], FP32)),
        (
            ir.TensorType([ir.Add(N, ONE, INDEX, NOWHERE)], FP32),
            ir.TensorType([ir.Add(N, integer(1, INT64), INDEX, NOWHERE)], FP32),
        ),
        (TILE, ir.TileType([16, 64], FP32, memory_space=ir.MemorySpace.Mat)),
        (TILE, viewed([], fractal=1024)),
        (TENSOR, ir.TensorType([16, 64], FP32, ir.MemRef("m"))),
        (ir.TupleType([TENSOR, TASK]), ir.TupleType([TENSOR, TASK])),
        (ir.PtrType(), ir.PtrType()),
    ],
    ids=[
        "equal",
        "same variable",
        "same expression",
        "memory space",
        "implicit view",
        "memref",
        "tuple",
        "marker",
    ],
)
def test_types_that_meet(value: ir.Type, target: ir.Type) -> None:
    assert mismatch(value, target) == []


def test_yields_and_results_have_the_type_of_the_carry() -> None:
    narrow = tensor("narrow", NARROW)
    c = carry("c", A)
    assert errors(
        function("f", [A, N, narrow], counted(yields(narrow), (c, tensor("r")))), P.TypeChecked
    ) == ["error: TypeCheck 104: the yield of a loop of 'c' has another type: the extents are not the same"]
    assert errors(counted(yields(c), (c, tensor("r", NARROW))), P.TypeChecked) == [
        "error: TypeCheck 104: the iter_arg of 'r' has another type: the extents are not the same"
    ]
    stmt = while_loop(FLAG, yields(c), [c], [scalar("r")])
    assert errors(stmt, P.TypeChecked) == [
        "error: TypeCheck 101: the iter_arg of 'r' has another type: TensorType and ScalarType"
    ]


def test_both_branches_have_the_type_of_the_result() -> None:
    narrow = tensor("narrow", NARROW)
    message = (
        "error: TypeCheck 104: the yield of a branch of 'r' has another type: the extents are not the same"
    )
    assert errors(branch(FLAG, yields(narrow), yields(A), [tensor("r")]), P.TypeChecked) == [message]
    assert errors(branch(FLAG, yields(A), yields(narrow), [tensor("r")]), P.TypeChecked) == [message]


def test_106_and_108_conditions() -> None:
    for stmt, name in ((branch(A, WORK), "an if"), (while_loop(A, WORK), "a while")):
        assert errors(stmt, P.TypeChecked) == [
            f"error: TypeCheck 106: the condition of {name} is a TensorType, not a scalar"
        ]
    for stmt, name in ((branch(X, WORK), "an if"), (while_loop(X, WORK), "a while")):
        assert errors(stmt, P.TypeChecked) == [
            f"error: TypeCheck 108: the condition of {name} is INDEX, not BOOL"
        ]


def test_107_ranges() -> None:
    assert errors(loop(scalar("i"), A, tile("t"), ONE, WORK), P.TypeChecked) == [
        "error: TypeCheck 107: the start of a loop is a TensorType, not a scalar",
        "error: TypeCheck 107: the stop of a loop is a TileType, not a scalar",
    ]
    assert errors(loop(scalar("i"), ZERO, N, call("op", type=ir.UnknownType()), WORK), P.TypeChecked) == [
        "error: TypeCheck 107: the step of a loop is a UnknownType, not a scalar"
    ]


def test_103_and_104_valid_shapes() -> None:
    """Also inside tuples, and of whatever a function defines."""
    flat = ir.TensorType([16, 64], FP32, tensor_view=ir.TensorView((), ir.TensorLayout.ND, [8]))
    large = ir.TupleType([TENSOR, viewed([16, 65])])
    assert errors(assign(tensor("t", flat), A), P.TypeChecked) == [
        "error: TypeCheck 103: the valid_shape of 't' has 1 axes, its shape 2"
    ]
    message = "error: TypeCheck 104: the valid_shape of 't' exceeds its shape: 65 of 64"
    assert errors(assign(tensor("t", large), A), P.TypeChecked) == [message]
    assert errors(function("f", [tensor("t", viewed([16, 65]))], WORK), P.TypeChecked) == [message]
    assert errors(assign(tensor("t", viewed([16, 64])), A), P.TypeChecked) == []
    region = ir.TileType([16, 64], FP32, tile_view=ir.TileView([N, 64]), memory_space=VEC)
    assert errors(assign(tensor("t", region), A), P.TypeChecked) == []


# TileTypeCoherence, ArrayNotEscaped


def test_tile_views_are_canonical() -> None:
    message = "error: TileTypeCoherence 0: the tile view of 't' says what is implied anyway"
    implied = raw_copy(TILE, tile_view=ir.TileView([16, 64]))
    for type_ in (implied, ir.TupleType([TENSOR, implied])):
        assert errors(assign(tensor("t", type_), A), P.TileTypeCoherence) == [message]
        assert errors(function("f", [tensor("t", type_)], WORK), P.TileTypeCoherence) == [message]
    assert errors(assign(tensor("t", viewed([16, 8])), A), P.TileTypeCoherence) == []
    assert errors(assign(tensor("t", TILE), A), P.TileTypeCoherence) == []


def test_arrays_do_not_escape() -> None:
    array = ir.ArrayType(INDEX, 4)
    nested = ir.TupleType([TENSOR, ir.TupleType([array])])
    for type_ in (array, nested):
        assert errors(function("f", [tensor("p", type_)], WORK), P.ArrayNotEscaped) == [
            "error: ArrayNotEscaped 0: the parameter 'p' is an array, or a tuple with one"
        ]
        assert errors(function("f", [], WORK, [TENSOR, type_]), P.ArrayNotEscaped) == [
            "error: ArrayNotEscaped 0: the return value 1 is an array, or a tuple with one"
        ]
    assert errors(assign(tensor("t", array), A), P.ArrayNotEscaped) == []


def test_deep_expressions_and_types() -> None:
    total: ir.Expr = X
    for _ in range(20_000):
        total = ir.Add(total, N, INDEX, NOWHERE)
    nested: ir.Type = TENSOR
    shared: ir.Type = TENSOR
    for _ in range(3_000):
        nested = ir.TupleType([nested])
    for _ in range(100):
        shared = ir.TupleType([shared, shared])
    body = sequence(
        assign(scalar("y"), total), assign(tensor("t", nested), A), assign(tensor("s", shared), A), returns(X)
    )
    large = function("f", [A, X, N, tensor("p", shared)], body, [nested, shared])
    assert errors(large, *ir.CHECKED_PROPERTIES) == []
    assert mismatch(nested, ir.TupleType([nested])) == told(101, "TensorType and TupleType")
    assert mismatch(shared, ir.TupleType([*shared.types])) == []  # type: ignore[attr-defined]
