"""Numbers, enumeration members and the expressions inside types come back from text as they were."""

from __future__ import annotations

import math
import struct
from enum import Enum
from typing import Any

import pytest
from ir.printer_samples import (
    BOOL,
    FP32,
    INDEX,
    INT32,
    INT64,
    NOWHERE,
    TENSOR,
    assign,
    call,
    call_function,
    evaluate,
    function,
    integer,
    loop,
    program,
    real,
    returns,
    scalar,
    sequence,
    tensor,
    tile,
)
from ir.raw_nodes import raw_copy

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.ir import enums
from pypto_tmpl.ir.printer.spellings import CAST_MODES

T, N, M, STEP = tensor("t"), scalar("n"), scalar("m"), scalar("i")
WORK = evaluate(call("system.bar_all", type=ir.UnknownType()))


def main(*stmts: ir.Stmt, **options: Any) -> ir.Program:
    return program(function("main", [T, N, M], sequence(*stmts, WORK, WORK), **options))


def read_again(node: ir.Program) -> ir.Program:
    """What the text of a program is read as; its text is the same."""
    text = ir.python_print(node)
    again = pl.parse(text)
    assert ir.python_print(again) == text
    assert isinstance(again, ir.Program)
    return again


def expect_same(node: ir.Program) -> None:
    assert ir.structural_diff(node, read_again(node)) is None


# Floats

FLOATS = [
    0.0, -0.0, 1.0, -1.0, 0.1, 1 / 3, 1e-45, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308,
    3.1415927410125732, 3.4028234663852886e38, 1e16, 1e17, 123456789012345680.0, 1e22, 1e-7,
    0.30000000000000004, math.inf, -math.inf, math.nan,
]  # fmt: skip


def same_bits(a: float, b: float) -> bool:
    return (a != a and b != b) or struct.pack("<d", a) == struct.pack("<d", b)


@pytest.mark.parametrize("value", FLOATS, ids=repr)
def test_floats_are_the_same_bits(value: float) -> None:
    half = real(value, ir.DataType.FP16)
    stmts = [
        assign(scalar("y", FP32), ir.Mul(scalar_of(FP32), real(value), FP32, NOWHERE)),
        evaluate(call("tensor.muls", T, real(value))),
        evaluate(call("tensor.muls", T, half)),
        evaluate(call("tensor.exp", T, factor=value, attrs={"factor": value})),
        loop(scalar("j"), integer(0), N, integer(1), WORK, attrs={"factor": value}),
    ]
    node = program(function("main", [T, N, F], sequence(*stmts)))
    found = read_again(node)["main"]
    assert found is not None
    body = found.body.stmts  # type: ignore[attr-defined]
    values = [
        body[0].value.right.value,
        body[1].expr.args[1].value,
        body[2].expr.args[1].value,
        body[3].expr.kwargs["factor"],
        body[3].expr.attrs["factor"],
        body[4].attrs["factor"],
    ]
    assert [type(other) for other in values] == [float] * len(values)
    assert all(same_bits(value, other) for other in values)
    assert [body[1].expr.args[1].dtype, body[2].expr.args[1].dtype] == [FP32, ir.DataType.FP16]


F = scalar("f", FP32)


def scalar_of(dtype: ir.DataType) -> ir.Var:
    assert dtype == FP32
    return F


@pytest.mark.parametrize("dtype", [INDEX, INT32, INT64, ir.DataType.UINT8, ir.DataType.UINT64], ids=str)
@pytest.mark.parametrize("value", [0, 1, -1, 2**31, 2**63 - 1, -(2**63)])
def test_integers_keep_their_dtype(dtype: ir.DataType, value: int) -> None:
    expect_same(main(evaluate(call("system.use", integer(value, dtype), type=ir.UnknownType()))))


# Enumerations: each member in every place that holds one


def dtypes() -> list[ir.DataType]:
    found = {value.code(): value for value in vars(ir.DataType).values() if isinstance(value, ir.DataType)}
    return list(found.values())


@pytest.mark.parametrize("dtype", dtypes(), ids=lambda dtype: dtype.name)
def test_data_types(dtype: ir.DataType) -> None:
    types: list[ir.Type] = [
        ir.ScalarType(dtype),
        ir.TensorType([16, 64], dtype),
        ir.TileType([16, 64], dtype, memory_space=ir.MemorySpace.Vec),
        ir.TupleType([ir.ScalarType(dtype)]),
    ]
    params = [tensor(f"p{index}", type_) for index, type_ in enumerate(types[:3])]
    used = [
        evaluate(call("tensor.cast", T, type=types[1], target_type=dtype, mode=2)),
        evaluate(call("tensor.exp", T, attrs={"dtype": dtype})),
        assign(tensor("pair", types[3]), ir.MakeTuple([params[0]], NOWHERE)),
        WORK,
    ]
    node = program(function("main", [T, *params], sequence(*used), types[1:3]))
    assert ir.python_print(node).count(f"pl.{dtype.name}") >= 7
    expect_same(node)


def with_tile(space: ir.MemorySpace | None = ir.MemorySpace.Vec, **view: Any) -> ir.Program:
    """A tile with this view as the type of an assigned variable."""
    type_ = ir.TileType([16, 64], FP32, None, ir.TileView(**view) if view else None, space)
    return main(assign(tile("u", type_), call("tile.load", T, type=type_)))


def with_tensor(**view: Any) -> ir.Program:
    type_ = ir.TensorType([16, 64], FP32, None, ir.TensorView(**view))
    return main(assign(tensor("u", type_), call("tensor.exp", T, type=type_)))


def with_keyword(key: str, value: Any) -> ir.Program:
    return main(evaluate(ir.Call(ir.Op("tensor.exp"), [T], {key: value}, {key: value}, TENSOR, NOWHERE)))


def function_of(kind: ir.FunctionType) -> ir.Program:
    return program(function("main", [T], sequence(WORK, WORK), type=kind))


def level_of(level: ir.Level) -> list[ir.Program]:
    """A function of this level, and a scope where there is one that is not an InCore scope."""
    found = [program(function("main", [T], sequence(WORK, WORK), level=level))]
    if level is not ir.Level.CORE_GROUP:
        found.append(main(ir.HierarchyScopeStmt(level, body=WORK, span=NOWHERE)))
    return found


def split_of(mode: ir.SplitMode) -> list[ir.Program]:
    lane = assign(scalar("lane"), call("tile.get_subblock_idx", type=ir.ScalarType(INDEX)))
    region = ir.SplitAivScopeStmt(mode, body=sequence(lane, WORK), span=NOWHERE)
    return [
        main(ir.InCoreScopeStmt(mode, body=WORK, span=NOWHERE)),
        main(ir.InCoreScopeStmt(body=region, span=NOWHERE)),
        main(attrs={"split": mode} if mode is not ir.SplitMode.NONE else None),
    ]


def direction_of(direction: ir.ArgDirection) -> list[ir.Program]:
    u = tensor("u")
    callee = function("callee", [u], returns(u), [TENSOR])
    launch = evaluate(call_function("callee", T, attrs={"arg_directions": [direction]}))
    return [
        program(callee, function("main", [T], sequence(launch, WORK))),
        with_keyword("direction", direction),
    ]


def both_roles(role: ir.Role) -> list[ir.Program]:
    host = ir.HierarchyScopeStmt(ir.Level.CHIP, role, body=WORK, span=NOWHERE)
    return [program(function("main", [T], sequence(WORK, WORK), level=ir.Level.CHIP, role=role)), main(host)]


def tile_layouts(layout: ir.TileLayout) -> list[ir.Program]:
    return [with_tile(blayout=layout), with_tile(slayout=layout), with_keyword("blayout", layout)]


def tensor_layouts(layout: ir.TensorLayout) -> list[ir.Program]:
    strides = [1, 16] if layout is ir.TensorLayout.DN else [64, 1]
    return [with_tensor(stride=strides, layout=layout), with_keyword("layout", layout)]


# Programs that use a member; what the enumerations are that no program holds is in printer_exceptions.
USES: dict[str, Any] = {
    "FunctionType": lambda member: [function_of(member)],
    "Level": level_of,
    "Role": both_roles,
    "ParamDirection": lambda member: [program(function("main", [(T, member)], sequence(WORK, WORK)))],
    "ArgDirection": direction_of,
    "ForKind": lambda member: [
        main(loop(STEP, integer(0), N, integer(1), WORK, kind=member, attrs=stages(member)))
    ],
    "ScopeKind": lambda member: [],  # told by the class of a scope
    "SplitMode": split_of,
    "MemorySpace": lambda member: [
        with_tile(member),
        with_keyword("target_memory", member),
        main(assign(tensor("p", ir.PtrType()), allocated(member))),
    ],
    "TensorLayout": tensor_layouts,
    "TileLayout": tile_layouts,
    "PadValue": lambda member: [
        with_tile(valid_shape=[8, 8], pad=member),
        with_tensor(valid_shape=[8, 8], layout=ir.TensorLayout.ND, pad=member),
        with_keyword("pad_value", member),
    ],
    "CompactMode": lambda member: [with_tile(valid_shape=[8, 8], compact=member)],
    "PipeType": lambda member: [with_keyword("set_pipe", member), with_keyword("wait_pipe", member)],
    "CoreType": lambda member: [with_keyword("core_type", member)],
    "NotifyOp": lambda member: [with_keyword("op", member)],
    "WaitCmp": lambda member: [with_keyword("cmp", member)],
    "AtomicType": lambda member: [with_keyword("atomic", member)],
    "ReduceOp": lambda member: [with_keyword("op", member)],
    "InlineLanguage": lambda member: [],  # there is one
    "ArgEffect": lambda member: [],  # of ops, not of programs
    "BackendType": lambda member: [],  # of a process, not of programs
    "WriteChannel": lambda member: [],
}


def stages(kind: ir.ForKind) -> dict[str, int] | None:
    return {"pipeline_stages": 2} if kind is ir.ForKind.Pipeline else None


def allocated(space: ir.MemorySpace) -> ir.Call:
    return call("tile.alloc", integer(space.value), integer(64), type=ir.PtrType())


def enumerations() -> list[type[Enum]]:
    found = vars(enums).values()
    return [cls for cls in found if isinstance(cls, type) and issubclass(cls, Enum) and list(cls)]


def test_every_enumeration_is_covered() -> None:
    assert {cls.__name__ for cls in enumerations()} == set(USES)


MEMBERS = [(cls.__name__, member) for cls in enumerations() for member in cls]


@pytest.mark.parametrize(
    ("name", "member"), MEMBERS, ids=[f"{name}.{member.name}" for name, member in MEMBERS]
)
def test_members_of_enumerations(name: str, member: Enum) -> None:
    for node in USES[name](member):
        expect_same(node)


@pytest.mark.parametrize("op", ["tile.cast", "tensor.cast"])
@pytest.mark.parametrize("code", range(len(CAST_MODES)))
def test_cast_modes_are_printed_by_name(op: str, code: int) -> None:
    is_tile = op == "tile.cast"
    given = tile("given") if is_tile else T
    type_ = raw_copy(given.type, dtype=ir.DataType.BF16)
    cast = call(op, given, type=type_, target_type=ir.DataType.BF16, mode=code)
    node = program(function("main", [given], sequence(assign(tensor("u", type_), cast), WORK)))
    assert f"mode='{CAST_MODES[code]}'" in ir.python_print(node)
    expect_same(node)


# Expressions inside types


def minus_rows() -> ir.Expr:
    """max(min(n - i * 8, 8), 0)."""
    rest = ir.Sub(N, ir.Mul(STEP, integer(8), INDEX, NOWHERE), INDEX, NOWHERE)
    return ir.Max(ir.Min(rest, integer(8), INDEX, NOWHERE), integer(0), INDEX, NOWHERE)


def binary(kind: type[ir.BinaryExpr], left: ir.Expr, right: ir.Expr, dtype: ir.DataType = INDEX) -> ir.Expr:
    return kind(left, right, dtype, NOWHERE)


EXTENTS: dict[str, ir.Expr] = {
    "variable": N,
    "loop variable": STEP,
    "clamped": minus_rows(),
    "floor division": binary(ir.FloorDiv, binary(ir.Add, N, integer(7)), integer(8)),
    "remainder": binary(ir.FloorMod, N, STEP),
    "sum of constants": binary(ir.Add, integer(32), integer(32)),
    "nested constants": binary(ir.Mul, binary(ir.Add, integer(2), integer(3)), integer(4)),
    "constant and variable": binary(ir.Mul, integer(2), N),
    "negative": ir.Neg(N, INDEX, NOWHERE),
    "cast": ir.Cast(scalar("wide", INT64), INDEX, NOWHERE),
    "other dtype": binary(ir.Add, scalar("wide", INT64), integer(1, INT64), INT64),
    "small constants": binary(ir.Add, integer(32, INT32), integer(32, INT32), INT32),
    "shift": binary(ir.BitShiftLeft, N, integer(2)),
    "bits": binary(ir.BitAnd, N, ir.BitNot(integer(63), INDEX, NOWHERE)),
    "minimum of constants": binary(ir.Min, integer(3), integer(4)),
    "grouped": binary(ir.Sub, N, binary(ir.Sub, M, STEP)),
}


def typed(type_: ir.Type) -> ir.Program:
    """A variable of this type inside a loop over i; n, m, i and wide may occur in it."""
    wide = next((v for v in ir.walk(type_) if isinstance(v, ir.Var) and v.name_hint == "wide"), None)
    inner = sequence(assign(tensor("u", type_), call("tensor.exp", T, type=type_)), WORK)
    params = [T, N, M, *([wide] if wide is not None else [])]
    return program(function("main", params, loop(STEP, integer(0), N, integer(1), inner)))


@pytest.mark.parametrize("name", EXTENTS)
def test_expressions_in_types(name: str) -> None:
    extent = EXTENTS[name]
    vec = ir.MemorySpace.Vec
    for type_ in (
        ir.TensorType([extent, 64], FP32),
        ir.TensorType([16, 64], FP32, None, ir.TensorView([extent, 1], ir.TensorLayout.ND)),
        ir.TensorType([16, 64], FP32, None, ir.TensorView((), ir.TensorLayout.ND, [extent, 64])),
        ir.TileType([extent, 64], FP32, memory_space=vec),
        ir.TileType([16, 64], FP32, None, ir.TileView([extent, 64]), vec),
        ir.TileType([16, 64], FP32, None, ir.TileView([], [extent, 1]), vec),
        ir.TileType([16, 64], FP32, None, ir.TileView([], [], extent), vec),
        ir.TupleType([ir.TensorType([extent], FP32)]),
    ):
        expect_same(typed(type_))


@pytest.mark.parametrize("name", EXTENTS)
def test_expressions_in_memory_references(name: str) -> None:
    """A type's memref does not count in a comparison: its text does."""
    place = ir.MemRef(ir.Var("mem", ir.PtrType(), NOWHERE), EXTENTS[name], 64, slots=4, slot=EXTENTS[name])
    read_again(typed(ir.TileType([16, 64], FP32, place, None, ir.MemorySpace.Vec)))


def test_constants_in_types_are_not_folded() -> None:
    node = typed(ir.TensorType([EXTENTS["sum of constants"]], FP32))
    found = read_again(node)["main"]
    assert found is not None
    (extent,) = found.body.body.stmts[0].var.type.shape  # type: ignore[attr-defined]
    assert type(extent) is ir.Add and (extent.left.value, extent.right.value) == (32, 32)


def test_boolean_scalars_keep_their_dtype() -> None:
    flag = scalar("flag", BOOL)
    node = program(function("main", [flag], sequence(evaluate(ir.Not(flag, BOOL, NOWHERE)), WORK)))
    expect_same(node)


def test_a_variable_stays_one_object_wherever_it_is_used() -> None:
    """In statements, in types and in attributes, and in the binary form as well."""
    size = scalar("size")
    type_ = ir.TensorType([size, 4], FP32)
    t, u = tensor("t", type_), tensor("u", type_)
    value = call("tensor.add", t, t, type=type_, attrs={"first": size, "dump_vars": [t, size]})
    node = program(function("main", [size, t], sequence(assign(u, value), returns(u, t)), [type_, type_]))
    for again in (read_again(node), ir.deserialize(ir.serialize(node))):
        found = again["main"]  # type: ignore[index]
        first, second = found.params
        assign_, return_ = found.body.stmts
        assert second.type.shape[0] is first and assign_.var.type.shape[0] is first
        assert [id(arg) for arg in assign_.value.args] == [id(second)] * 2
        assert assign_.value.attrs["first"] is first
        assert [id(var) for var in assign_.value.attrs["dump_vars"]] == [id(second), id(first)]
        assert return_.value[0] is assign_.var and return_.value[1] is second
        assert all(type_.shape[0] is first for type_ in found.return_types)
