"""Equality and hash notice every field of every class, but those in ``structural_exceptions``."""

from __future__ import annotations

import sys
from enum import Enum
from typing import Any

import pytest
from ir.printer_samples import (
    FP32,
    INDEX,
    NOWHERE,
    assign,
    boolean,
    evaluate,
    function,
    integer,
    real,
    scalar,
    tensor,
)
from ir.raw_nodes import raw_copy
from ir.structural_exceptions import FIELDS, ONE_VALUE

from pypto_tmpl import ir
from pypto_tmpl.ir import AttrKind, AttrMap
from pypto_tmpl.ir.base import set_fields
from pypto_tmpl.ir.fields import FieldSpec
from pypto_tmpl.ir.wire.layout import NODE_CLASSES, TYPE_CLASSES

ABSTRACT = {
    "IRNode", "Expr", "Stmt", "ScopeStmt", "BinaryExpr", "UnaryExpr", "Type", "ShapedType",
    "_ValuesStmt", "_JumpStmt", "_MarkerType",
}  # fmt: skip

X, Y = scalar("x"), tensor("y")  # of different types: where a variable is defined, only its type counts
CARRY, OTHER = (ir.IterArg(name, var.type, var, NOWHERE) for name, var in (("i", X), ("j", Y)))
BASE = ir.Var("base", ir.PtrType(), NOWHERE)


def two_values(base: type) -> tuple[Any, Any]:
    """Two different values for a field of class ``base``, neither of them the default of any field."""
    if issubclass(base, Enum):
        members = list(base)[-2:]
        return members[-1], members[0]
    return {
        ir.Span: (ir.Span("f", 1, 2, 3, 4), ir.Span("f", 1, 2, 3, 5)),
        str: ("one", "two"),
        bool: (True, False),
        int: (3, 4),
        float: (0.25, 0.75),
        ir.DataType: (ir.DataType.INT8, ir.DataType.INT16),
        ir.Op: (ir.Op("one"), ir.GlobalVar("one")),
        AttrMap: (AttrMap({"k": 1}), AttrMap({"k": 2})),
        dict: tuple({ir.GlobalVar(name): function(name, [], evaluate(X))} for name in "fg"),
        ir.Type: (ir.PtrType(), ir.CommCtxType()),
        ir.Expr: (X, Y),
        ir.Var: (X, Y),
        ir.IterArg: (CARRY, OTHER),
        ir.WindowBuffer: tuple(ir.WindowBuffer(BASE, size) for size in (8, 9)),
        ir.MemRef: tuple(ir.MemRef(BASE, 0, size) for size in (8, 9)),
        ir.Stmt: (ir.BreakStmt(NOWHERE), ir.ContinueStmt(NOWHERE)),
        ir.TensorView: tuple(ir.TensorView([], layout) for layout in list(ir.TensorLayout)[1:3]),
        ir.TileView: tuple(ir.TileView(fractal=fractal) for fractal in (32, 64)),
    }[base]  # type: ignore[return-value]


def concrete_classes() -> list[type]:
    """Every class of nodes, types and views in the package, found by walking the class hierarchy."""
    found: dict[str, type] = {}
    pending: list[type] = [ir.IRNode, ir.Type, ir.TensorView, ir.TileView]
    while pending:
        cls = pending.pop()
        pending += cls.__subclasses__()
        module = sys.modules[cls.__module__]
        # Not the class that dataclass(slots=True) replaced, which lives on until it is collected.
        if vars(module).get(cls.__name__) is cls and module.__name__.startswith("pypto_tmpl.ir"):
            found[cls.__name__] = cls
    return [found[name] for name in sorted(found.keys() - ABSTRACT)]


CLASSES = concrete_classes()


def filled(cls: type) -> Any:
    """An object of the class with every field filled."""
    made = object.__new__(cls)
    for spec in ir.fields_of(cls):
        first, _ = two_values(spec.base)
        set_fields(made, **{spec.name: (first,) if spec.many else first})
    if issubclass(cls, ir.Var):
        set_fields(made, _unique_id=0)
    return made


def other_values(spec: FieldSpec) -> list[Any]:
    """What the field may also hold: another value, more or fewer of them, or nothing."""
    first, second = two_values(spec.base)
    if spec.many:
        return [(second,), (first, second), ()]
    return [second, None] if spec.optional else [second]


def compared(node: Any) -> Any:
    """The node, or a statement that defines it: elsewhere a variable is equal to itself only."""
    return assign(node, X) if type(node) in (ir.Var, ir.IterArg) else node


def notices(made: Any, spec: FieldSpec, value: Any) -> bool:
    """Whether another value of the field makes a difference; equality and hash have to agree."""
    before, after = compared(made), compared(raw_copy(made, **{spec.name: value}))
    is_equal = ir.structural_equal(before, after)
    assert is_equal == ir.structural_equal(after, before)
    assert is_equal == (ir.structural_hash(before) == ir.structural_hash(after))
    return not is_equal


def listed(cls: type, name: str, table: dict[str, str]) -> str | None:
    keys = (f"{base.__name__}.{name}" for base in cls.__mro__)
    return next((key for key in keys if key in table), None)


CASES = [(cls, spec) for cls in CLASSES for spec in ir.fields_of(cls)]


@pytest.mark.parametrize(("cls", "spec"), CASES, ids=[f"{cls.__name__}.{spec.name}" for cls, spec in CASES])
def test_fields_are_noticed_or_listed(cls: type, spec: FieldSpec) -> None:
    found = [notices(filled(cls), spec, value) for value in other_values(spec)]
    if listed(cls, spec.name, FIELDS) or listed(cls, spec.name, ONE_VALUE):
        assert not any(found), f"{cls.__name__}.{spec.name} is listed, but noticed"
    else:
        assert all(found), f"{cls.__name__}.{spec.name} is neither noticed nor listed"


def test_lists_are_about_fields() -> None:
    for table in (FIELDS, ONE_VALUE):
        assert set(table) == {listed(cls, spec.name, table) for cls, spec in CASES} - {None}


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_a_filled_object_is_equal_to_another_one(cls: type) -> None:
    """Two objects that share their parts, and two that share nothing but the variables."""
    first, second = compared(filled(cls)), compared(filled(cls))
    assert ir.structural_equal(first, second)
    assert ir.structural_hash(first) == ir.structural_hash(second)


def test_the_wire_knows_the_same_classes() -> None:
    """What is written and read are the classes that are compared; views and markers stand inside types."""
    known = {cls.__name__ for cls in (*NODE_CLASSES.values(), *TYPE_CLASSES.values())}
    assert {cls.__name__ for cls in CLASSES} == known | {"TensorView", "TileView"}


# Stored values of attributes: the value counts, and the type that it is stored as.
STORED: list[tuple[AttrKind, Any, Any]] = [
    (AttrKind.BOOL, True, False),
    (AttrKind.INT, 1, 2),
    (AttrKind.FLOAT, 1.0, 2.0),
    (AttrKind.STR, "1", "2"),
    (AttrKind.DATA_TYPE, FP32, INDEX),
    (AttrKind.MEMORY_SPACE, ir.MemorySpace.Vec, ir.MemorySpace.Mat),
    (AttrKind.TENSOR_LAYOUT, ir.TensorLayout.DN, ir.TensorLayout.NZ),
    (AttrKind.TILE_LAYOUT, ir.TileLayout.row_major, ir.TileLayout.col_major),
    (AttrKind.PAD_VALUE, ir.PadValue.zero, ir.PadValue.max),
    (AttrKind.ARG_DIRECTION, ir.ArgDirection.Output, ir.ArgDirection.InOut),
    (AttrKind.ARG_DIRECTIONS, (ir.ArgDirection.Output,), (ir.ArgDirection.InOut,)),
    (AttrKind.INT32S, (1,), (1, 1)),
    (AttrKind.VAR, X, Y),
    (AttrKind.VARS, (X,), (X, None)),
    (AttrKind.EXPR, integer(1), integer(2)),
    (AttrKind.EXPR, boolean(True), None),
    (AttrKind.EXPR, real(1.0), integer(1)),
]


def test_there_is_a_value_of_every_kind() -> None:
    assert {kind for kind, _, _ in STORED} == set(AttrKind)


def stored(kind: AttrKind, value: Any) -> ir.Call:
    attrs = AttrMap.of_stored([("k", kind, value)])
    return ir.Call(ir.Op("op"), [], attrs, attrs, ir.UnknownType(), NOWHERE)


@pytest.mark.parametrize(("kind", "value", "other"), STORED)
def test_attribute_values_are_noticed(kind: AttrKind, value: Any, other: Any) -> None:
    assert ir.structural_equal(stored(kind, value), stored(kind, value))
    assert ir.structural_hash(stored(kind, value)) == ir.structural_hash(stored(kind, value))
    assert not ir.structural_equal(stored(kind, value), stored(kind, other))
    assert ir.structural_hash(stored(kind, value)) != ir.structural_hash(stored(kind, other))


def test_stored_types_are_noticed() -> None:
    """1, 1.0, True and the expression 1 are different values; so are lists that are empty."""
    kinds = [
        (AttrKind.INT, 1),
        (AttrKind.FLOAT, 1.0),
        (AttrKind.BOOL, True),
        (AttrKind.EXPR, integer(1)),
        (AttrKind.EXPR, real(1.0)),
        (AttrKind.EXPR, boolean(True)),
        (AttrKind.STR, "1"),
        (AttrKind.INT32S, ()),
        (AttrKind.VARS, ()),
        (AttrKind.ARG_DIRECTIONS, ()),
        (AttrKind.VAR, X),
        (AttrKind.EXPR, X),
    ]
    for at, first in enumerate(kinds):
        for second in kinds[at + 1 :]:
            assert not ir.structural_equal(stored(*first), stored(*second))
            assert ir.structural_hash(stored(*first)) != ir.structural_hash(stored(*second))
