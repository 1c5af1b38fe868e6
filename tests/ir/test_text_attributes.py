"""Attributes of every stored kind come back from text, wherever they stand; what has no text says so."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from ir.printer_samples import (
    BOOL,
    FP32,
    INDEX,
    INT32,
    NOWHERE,
    TASK,
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
    tuple_of,
)

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.ir import AttrKind

T, X, N, FLAG = tensor("t"), scalar("x"), scalar("n"), scalar("flag", BOOL)
TASK_ID = scalar("task", ir.DataType.TASK_ID)
PARAMS = [T, X, N, FLAG, TASK_ID]
WORK = evaluate(call("system.bar_all", type=ir.UnknownType()))

# Values of every kind; a Var is stored as one under `task_id_var` only, elsewhere as an expression.
VALUES: list[tuple[str, AttrKind, Any]] = [
    ("new", AttrKind.BOOL, True),
    ("new", AttrKind.BOOL, False),
    ("new", AttrKind.INT, 0),
    ("new", AttrKind.INT, -(2**31)),
    ("new", AttrKind.INT, 2**31 - 1),
    ("new", AttrKind.FLOAT, 1.0),
    ("new", AttrKind.FLOAT, -0.1),
    ("new", AttrKind.FLOAT, float("inf")),
    ("new", AttrKind.STR, ""),
    ("new", AttrKind.STR, 'it\'s "quoted"\n\\ \t\0 漢'),
    *(("new", AttrKind.DATA_TYPE, dtype) for dtype in (FP32, ir.DataType.TASK_ID)),
    *(("new", AttrKind.MEMORY_SPACE, member) for member in ir.MemorySpace),
    *(("new", AttrKind.TENSOR_LAYOUT, member) for member in ir.TensorLayout),
    *(("new", AttrKind.TILE_LAYOUT, member) for member in ir.TileLayout),
    *(("new", AttrKind.PAD_VALUE, member) for member in ir.PadValue),
    *(("new", AttrKind.ARG_DIRECTION, member) for member in ir.ArgDirection),
    ("new", AttrKind.ARG_DIRECTIONS, ()),
    ("new", AttrKind.ARG_DIRECTIONS, tuple(ir.ArgDirection)),
    ("new", AttrKind.INT32S, (1, -2, 0)),
    ("arg_direction_overrides", AttrKind.INT32S, ()),
    ("arg_direction_overrides", AttrKind.INT32S, (0,)),
    ("new", AttrKind.VARS, (X,)),
    ("new", AttrKind.VARS, (X, None, T)),
    ("dump_vars", AttrKind.VARS, (X, N)),
    ("new", AttrKind.EXPR, X),
    ("new", AttrKind.EXPR, None),
    ("new", AttrKind.EXPR, integer(4)),
    ("new", AttrKind.EXPR, integer(4, INT32)),
    ("new", AttrKind.EXPR, real(0.5)),
    ("new", AttrKind.EXPR, ir.ConstBool(True, NOWHERE)),
    ("new", AttrKind.EXPR, ir.Add(X, integer(1), INDEX, NOWHERE)),
    ("new", AttrKind.EXPR, ir.Add(integer(32), integer(32), INDEX, NOWHERE)),
    ("new", AttrKind.EXPR, ir.Lt(X, N, BOOL, NOWHERE)),
    ("new", AttrKind.EXPR, tuple_of()),
    ("new", AttrKind.EXPR, tuple_of(X)),
    ("new", AttrKind.EXPR, tuple_of(integer(1), integer(2))),
    ("new", AttrKind.EXPR, tuple_of(tuple_of(X), N)),
]
BESIDE = ("also", AttrKind.INT, 7)

Place = Callable[[ir.AttrMap], Iterable[ir.Stmt]]
BODY_PLACES: dict[str, Place] = {
    "op call": lambda attrs: [evaluate(call("tensor.exp", T, attrs=attrs))],
    "assigned op call": lambda attrs: [assign(tensor("y"), call("tensor.exp", T, attrs=attrs))],
    "keyword": lambda attrs: [evaluate(ir.Call(ir.Op("tensor.exp"), [T], attrs, None, TENSOR, NOWHERE))],
    "function call": lambda attrs: [evaluate(call_function("callee", T, attrs=attrs))],
    "submit": lambda attrs: [evaluate(submitted(attrs))],
    "loop": lambda attrs: [loop(scalar("i"), integer(0), N, integer(1), WORK, attrs=attrs)],
    "InCore scope": lambda attrs: [ir.InCoreScopeStmt(body=WORK, span=NOWHERE, attrs=attrs)],
    "Cluster scope": lambda attrs: [ir.ClusterScopeStmt(body=WORK, span=NOWHERE, attrs=attrs)],
    "Hierarchy scope": lambda attrs: [
        ir.HierarchyScopeStmt(ir.Level.CHIP, body=WORK, span=NOWHERE, attrs=attrs)
    ],
    "Spmd scope": lambda attrs: [ir.SpmdScopeStmt(4, body=WORK, span=NOWHERE, attrs=attrs)],
    "SplitAiv scope": lambda attrs: [in_kernel(split_region(attrs))],
    "Runtime scope": lambda attrs: [ir.RuntimeScopeStmt(body=WORK, span=NOWHERE, attrs=attrs)],
}


def split_region(attrs: ir.AttrMap) -> ir.Stmt:
    lane = assign(scalar("lane"), call("tile.get_subblock_idx", type=ir.ScalarType(INDEX)))
    return ir.SplitAivScopeStmt(ir.SplitMode.UP_DOWN, body=sequence(lane, WORK), span=NOWHERE, attrs=attrs)


def in_kernel(body: ir.Stmt) -> ir.Stmt:
    return ir.InCoreScopeStmt(body=body, span=NOWHERE)


def submitted(attrs: ir.AttrMap) -> ir.Submit:
    type_ = ir.TupleType([TENSOR, TASK])
    return ir.Submit(ir.GlobalVar("callee"), [T], [], None, attrs, type_, NOWHERE)


def sample(stmts: Iterable[ir.Stmt], attrs: ir.AttrMap | None = None) -> ir.Program:
    u = tensor("u")
    callee = function("callee", [u], returns(u), [TENSOR])
    return program(callee, function("main", PARAMS, sequence(*stmts, WORK, WORK), attrs=attrs))


def expect_same(node: ir.Program) -> None:
    text = ir.python_print(node)
    again = pl.parse(text)
    assert ir.structural_diff(node, again) is None
    assert ir.python_print(again) == text


CASES = [(place, value) for place in BODY_PLACES for value in VALUES]


@pytest.mark.parametrize(
    ("place", "value"), CASES, ids=[f"{p}-{v[1].value}-{n}" for n, (p, v) in enumerate(CASES)]
)
def test_attributes_come_back(place: str, value: tuple[str, AttrKind, Any]) -> None:
    expect_same(sample(BODY_PLACES[place](ir.AttrMap.of_stored([value, BESIDE]))))


@pytest.mark.parametrize("value", VALUES, ids=[f"{v[1].value}-{n}" for n, v in enumerate(VALUES)])
def test_function_attributes_come_back(value: tuple[str, AttrKind, Any]) -> None:
    expect_same(sample([], ir.AttrMap.of_stored([value, BESIDE])))


@pytest.mark.parametrize("place", BODY_PLACES)
def test_order_does_not_matter(place: str) -> None:
    one, two = ("one", AttrKind.INT, 1), ("two", AttrKind.STR, "x")
    first = sample(BODY_PLACES[place](ir.AttrMap.of_stored([one, two])))
    second = sample(BODY_PLACES[place](ir.AttrMap.of_stored([two, one])))
    assert ir.structural_equal(pl.parse(ir.python_print(first)), pl.parse(ir.python_print(second)))


def test_variable_of_a_task() -> None:
    place = ir.InCoreScopeStmt(body=WORK, span=NOWHERE, attrs={"task_id_var": TASK_ID})
    assert place.attrs.kinds["task_id_var"] is AttrKind.VAR
    invalid = ir.Call(ir.Op("system.task_invalid"), [], TASK, NOWHERE)
    expect_same(sample([assign(TASK_ID, invalid), place]))


def test_every_kind_is_covered() -> None:
    assert {kind for _, kind, _ in VALUES} | {AttrKind.VAR} == set(AttrKind)


@pytest.mark.parametrize("place", BODY_PLACES)
def test_a_value_without_text_is_named(place: str) -> None:
    stmts = BODY_PLACES[place](ir.AttrMap.of_stored([("strange", AttrKind.DATA_TYPE, ir.DataType(0x7F))]))
    with pytest.raises(ir.PrintError) as raised:
        ir.python_print(sample(stmts))
    assert "0x7f" in str(raised.value)
    stmts = BODY_PLACES[place](ir.AttrMap.of_stored([("strange", AttrKind.PAD_VALUE, object())]))
    with pytest.raises(ir.PrintError) as raised:
        ir.python_print(sample(stmts))
    assert "'strange'" in str(raised.value)
