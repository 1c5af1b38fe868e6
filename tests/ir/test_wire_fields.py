"""No field is forgotten: the wire form of every class changes with each of its fields."""

from enum import Enum

import msgpack
import pytest
from ir.raw_nodes import raw_copy

from pypto_tmpl import ir
from pypto_tmpl.ir.attrs import AttrKind, AttrMap
from pypto_tmpl.ir.base import set_fields
from pypto_tmpl.ir.wire.layout import NODE_CLASSES, TYPE_CLASSES, layout_of

SPAN = ir.Span.unknown()

# What a memref inside a type does not say: these follow from its base, or are not kept.
NOT_EMBEDDED = {"span", "type", "name_hint"}


ONE_VALUE = {"language"}  # of InlineStmt: its enum has one member


def function(name):
    return ir.Function(name, [], [], ir.BreakStmt(SPAN), SPAN)


def two_values(base):
    """Two different values for a field of class ``base``; neither is the default of any field."""
    x, y = (ir.Var(name, ir.UnknownType(), SPAN) for name in "xy")
    if issubclass(base, Enum):
        return list(base)[1:3] if len(base) > 2 else list(base)[::-1] * 2
    return {
        ir.Span: (ir.Span("f", 1, 2, 3, 4), ir.Span("f", 1, 2, 3, 5)),
        str: ("one", "two"),
        bool: (True, False),
        int: (3, 4),
        float: (0.25, 0.75),
        ir.DataType: (ir.DataType.INT8, ir.DataType.INT16),
        ir.Op: (ir.Op("one"), ir.Op("two")),
        AttrMap: tuple(AttrMap.of_stored([("k", AttrKind.INT, value)]) for value in (1, 2)),
        dict: tuple({ir.GlobalVar(name): function(name)} for name in "fg"),
        ir.Type: (ir.PtrType(), ir.CommCtxType()),
        ir.Expr: (x, y),
        ir.Var: (x, y),
        ir.IterArg: tuple(ir.IterArg(name, ir.UnknownType(), x, SPAN) for name in "ab"),
        ir.WindowBuffer: tuple(ir.WindowBuffer(base, x) for base in (x, y)),
        ir.MemRef: tuple(ir.MemRef(x, 0, size) for size in (8, 9)),
        ir.Stmt: (ir.BreakStmt(SPAN), ir.ContinueStmt(SPAN)),
        ir.TensorView: tuple(ir.TensorView([], layout) for layout in list(ir.TensorLayout)[1:3]),
        ir.TileView: tuple(ir.TileView(fractal=fractal) for fractal in (32, 64)),
    }[base]


def filled(cls):
    """An object of a class with every field filled, and for each field another value."""
    made, others = object.__new__(cls), {}
    for spec in ir.fields_of(cls):
        first, second = two_values(spec.base)[:2]
        value, other = ((first,), (first, second)) if spec.many else (first, second)
        set_fields(made, **{spec.name: value})
        others[spec.name] = [other, *([None] if spec.optional else []), *([()] if spec.many else [])]
    return made, others


def check_fields(cls, write, left_out=frozenset()):
    made, others = filled(cls)
    written = write(made)
    for name, values in others.items():
        if name not in left_out:
            for value in values:
                assert write(raw_copy(made, **{name: value})) != written, (cls.__name__, name, value)


@pytest.mark.parametrize("cls", NODE_CLASSES.values(), ids=lambda cls: cls.__name__)
def test_fields_of_nodes(cls):
    check_fields(cls, ir.serialize, ONE_VALUE)


@pytest.mark.parametrize("cls", TYPE_CLASSES.values(), ids=lambda cls: cls.__name__)
def test_fields_of_types(cls):
    check_fields(cls, lambda type_: ir.serialize(ir.Var("v", type_, SPAN)))


@pytest.mark.parametrize(("cls", "owner"), [(ir.TensorView, ir.TensorType), (ir.TileView, ir.TileType)])
def test_fields_of_views(cls, owner):
    plain = owner([], ir.DataType.FP32)
    name = "tensor_view" if cls is ir.TensorView else "tile_view"
    check_fields(cls, lambda view: ir.serialize(ir.Var("v", raw_copy(plain, **{name: view}), SPAN)))


def test_fields_of_embedded_memrefs():
    plain = ir.TensorType([], ir.DataType.FP32)

    def write(memref):
        return ir.serialize(ir.Var("v", raw_copy(plain, memref=memref), SPAN))

    check_fields(ir.MemRef, write, NOT_EMBEDDED)


def test_fields_of_spans():
    def write(span):
        return ir.serialize(ir.BreakStmt(span))

    made, other = ir.Span("f", 1, 2, 3, 4), ir.Span("g", 5, 6, 7, 8)
    for spec in ir.fields_of(ir.Span):
        values = {s.name: getattr(other if s is spec else made, s.name) for s in ir.fields_of(ir.Span)}
        assert write(ir.Span(**values)) != write(made), spec.name


@pytest.mark.parametrize("kind", AttrKind, ids=lambda kind: kind.name)
def test_kinds_of_attributes(kind):
    """Each stored type is told from every other, given the values it can hold."""

    def write(kind, value):
        attrs = AttrMap.of_stored([("k", kind, value)])
        return ir.serialize(ir.Call(ir.Op("f"), [], attrs, None, ir.UnknownType(), SPAN))

    x = ir.Var("x", ir.UnknownType(), SPAN)
    values = {
        AttrKind.BOOL: True,
        AttrKind.INT: 1,
        AttrKind.FLOAT: 1.5,
        AttrKind.STR: "1",
        AttrKind.DATA_TYPE: ir.DataType.INT4,
        AttrKind.MEMORY_SPACE: ir.MemorySpace.Vec,
        AttrKind.TENSOR_LAYOUT: ir.TensorLayout.ND,
        AttrKind.TILE_LAYOUT: ir.TileLayout.row_major,
        AttrKind.PAD_VALUE: ir.PadValue.zero,
        AttrKind.ARG_DIRECTION: ir.ArgDirection.Output,
        AttrKind.ARG_DIRECTIONS: (),
        AttrKind.INT32S: (),
        AttrKind.VAR: x,
        AttrKind.VARS: (),
        AttrKind.EXPR: x,
    }
    assert set(values) == set(AttrKind)
    written = [write(other, value) for other, value in values.items()]
    assert written.count(write(kind, values[kind])) == 1
    assert ir.deserialize(write(kind, values[kind])).kwargs.kinds == {"k": kind}


def test_keys_are_those_of_the_fields():
    """Every key that is written is declared, and every declared field has a key."""
    for tag, cls in NODE_CLASSES.items():
        written = msgpack.unpackb(ir.serialize(filled(cls)[0]))
        assert written["type"] == tag
        assert set(written["fields"]) == {spec.name.rstrip("_") for spec in ir.fields_of(cls)}


def test_every_public_class_has_a_wire_form():
    abstract = {"IRNode", "Expr", "Stmt", "BinaryExpr", "UnaryExpr", "ScopeStmt", "Type", "ShapedType"}
    public = {
        cls for cls in vars(ir).values() if isinstance(cls, type) and issubclass(cls, (ir.IRNode, ir.Type))
    }
    known = set(NODE_CLASSES.values()) | set(TYPE_CLASSES.values())
    assert {cls.__name__ for cls in public - known} == abstract


def test_wire_names_of_types():
    assert TYPE_CLASSES["Ptr"] is ir.PtrType
    assert all(cls.__name__ == kind for kind, cls in TYPE_CLASSES.items() if kind != "Ptr")
    assert [field.key for field in layout_of(ir.MemRef).fields][3:6] == ["base", "byte_offset", "size"]
