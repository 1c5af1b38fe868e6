"""Scalar expressions as lines; the expected ones follow the semantics of MLIR's arith dialect."""

import pytest
from streams import pto_kernels as k

from pypto_tmpl import ir
from pypto_tmpl.ir.dtypes import DataType

U32, I32, I64, INDEX = DataType.UINT32, DataType.INT32, DataType.INT64, DataType.INDEX
F32, F16, BF16, BOOL = DataType.FP32, DataType.FP16, DataType.BF16, DataType.BOOL


def lines(source: DataType, target: DataType) -> list[str]:
    x = k.scalar("x", source)
    y = k.scalar("y", target)
    return k.text_of(k.program([x], k.assign(y, ir.Cast(x, target, k.SPAN))))


CASTS = {
    (I32, INDEX): ["%0 = arith.index_cast %arg0 : i32 to index"],
    (INDEX, I32): ["%0 = arith.index_cast %arg0 : index to i32"],
    (I32, I64): ["%0 = arith.extsi %arg0 : i32 to i64"],
    (I64, I32): ["%0 = arith.trunci %arg0 : i64 to i32"],
    (BOOL, I32): ["%0 = arith.extui %arg0 : i1 to i32"],
    (I32, F32): ["%0 = arith.sitofp %arg0 : i32 to f32"],
    (F32, I32): ["%0 = arith.fptosi %arg0 : f32 to i32"],
    (F16, F32): ["%0 = arith.extf %arg0 : f16 to f32"],
    (F32, BF16): ["%0 = arith.truncf %arg0 : f32 to bf16"],
    (BF16, F16): ["%0 = arith.extf %arg0 : bf16 to f32", "%1 = arith.truncf %0 : f32 to f16"],
    (F32, INDEX): ["%0 = arith.fptosi %arg0 : f32 to i64", "%1 = arith.index_cast %0 : i64 to index"],
    (INDEX, F32): ["%0 = arith.index_cast %arg0 : index to i64", "%1 = arith.sitofp %0 : i64 to f32"],
    (U32, I64): [
        "%0 = builtin.unrealized_conversion_cast %arg0 : ui32 to i32",
        "%1 = arith.extui %0 : i32 to i64",
    ],
    (U32, INDEX): [
        "%0 = builtin.unrealized_conversion_cast %arg0 : ui32 to i32",
        "%1 = arith.index_castui %0 : i32 to index",
    ],
    (I64, U32): [
        "%0 = arith.trunci %arg0 : i64 to i32",
        "%1 = builtin.unrealized_conversion_cast %0 : i32 to ui32",
    ],
    (I32, U32): ["%0 = builtin.unrealized_conversion_cast %arg0 : i32 to ui32"],
    (I32, I32): [],
}


@pytest.mark.parametrize(("pair", "expected"), CASTS.items(), ids=lambda value: "")
def test_a_cast(pair: tuple[DataType, DataType], expected: list[str]) -> None:
    assert lines(*pair) == expected


def test_every_node_takes_its_number_after_its_operands() -> None:
    a, b = k.scalar("a", INDEX), k.scalar("b", I32)
    total = ir.Add(ir.Mul(a, k.index(4), INDEX, k.SPAN), ir.Cast(b, INDEX, k.SPAN), INDEX, k.SPAN)
    less = ir.Lt(total, k.index(64), BOOL, k.SPAN)
    made = k.program([a, b], k.assign(k.scalar("c", BOOL), ir.Not(less, BOOL, k.SPAN)))
    assert k.text_of(made) == [
        "%c4_index = arith.constant 4 : index",
        "%c64_index = arith.constant 64 : index",
        "%0 = arith.muli %arg0, %c4_index : index",
        "%1 = arith.index_cast %arg1 : i32 to index",
        "%2 = arith.addi %0, %1 : index",
        "%3 = arith.cmpi slt, %2, %c64_index : index",
        "%4 = arith.constant 0 : i1",
        "%5 = arith.cmpi eq, %3, %4 : i1",
    ]


def test_floats_compare_in_order_and_constants_are_written_in_full() -> None:
    x = k.scalar("x", F32)
    made = k.program(
        [x], k.assign(k.scalar("c", BOOL), ir.Ge(x, ir.ConstFloat(0.1, F32, k.SPAN), BOOL, k.SPAN))
    )
    assert k.text_of(made) == [
        "%cst = arith.constant 1.00000000000000006e-01 : f32",
        "%0 = arith.cmpf oge, %arg0, %cst : f32",
    ]


def test_names_of_constants() -> None:
    u, n = ir.ConstInt(7, U32, k.SPAN), ir.ConstInt(-3, I32, k.SPAN)
    half = ir.ConstFloat(0.5, F32, k.SPAN)
    names = [k.scalar(name, dtype) for name, dtype in (("u", U32), ("n", I32), ("h", F32))]
    made = k.program([], *(k.assign(*pair) for pair in zip(names, (u, n, half), strict=True)))
    assert k.text_of(made) == [
        "%0 = arith.constant 7 : i32",
        "%c7_ui32 = builtin.unrealized_conversion_cast %0 : i32 to ui32",
        "%cn3_i32 = arith.constant -3 : i32",
        "%cst_2 = arith.constant 5.00000000000000000e-01 : f32",
    ]
