"""Everything that IR can hold shows in its text, or stands in ``printer_exceptions``.

A new class, field or enumeration that the printer does not know fails here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

import pytest
from ir.printer_exceptions import ENUMS, FIELDS, NUMBERS
from ir.printer_samples import (
    BOOL,
    FP32,
    INDEX,
    NOWHERE,
    TASK,
    TENSOR,
    assign,
    boolean,
    branch,
    call,
    call_function,
    carry,
    evaluate,
    function,
    integer,
    loop,
    operators,
    program,
    real,
    returns,
    scalar,
    sequence,
    submit,
    tensor,
    text,
    tuple_of,
    while_loop,
    yields,
)
from ir.raw_nodes import raw_copy

from pypto_tmpl import ir
from pypto_tmpl.ir import enums
from pypto_tmpl.ir.fields import FieldSpec

A, B = tensor("a"), tensor("b")
X, Y, N = scalar("x"), scalar("y"), scalar("n")
P = scalar("p", BOOL)
T0 = scalar("t0", ir.DataType.TASK_ID)
WORK = evaluate(call("system.bar_all"))
BASE = ir.Var("mem_vec_0", ir.PtrType(), NOWHERE)
WINDOW = ir.WindowBuffer(ir.Var("window", ir.PtrType(), NOWHERE), 64)
MEMREF = ir.MemRef(BASE, 32, 64, slots=2, slot=integer(1))
REGION = ir.TensorView([N, 1], ir.TensorLayout.DN, [N, 4], ir.PadValue.zero)
TILE_REGION = ir.TileView([N, 4], [N, 1], N, pad=ir.PadValue.max, fractal=1024)

Embed = Callable[[Any], "ir.IRNode | ir.Type"]


def as_it_is(node: ir.IRNode | ir.Type) -> ir.IRNode | ir.Type:
    return node


def as_parameter(var: ir.Var) -> ir.Function:
    return function("f", [var], returns(var))


def as_carry(arg: ir.IterArg) -> ir.Stmt:
    return loop(scalar("i"), integer(0), N, integer(1), yields(arg), [arg], [scalar("r")])


def as_memref(memref: ir.MemRef) -> ir.Type:
    return ir.TensorType([4], FP32, memref)


def as_tensor_view(view: ir.TensorView) -> ir.Type:
    return ir.TensorType([8, 8], FP32, None, view)


def as_tile_view(view: ir.TileView) -> ir.Type:
    return ir.TileType([8, 8], FP32, None, view)


def as_slot(window: ir.WindowBuffer) -> ir.Stmt:
    return ir.CommDomainScopeStmt([], [window], body=WORK, span=NOWHERE)


def as_statement(expr: ir.Expr) -> ir.Stmt:
    return evaluate(expr)


def operator(kind: type[Any]) -> ir.Expr:
    if issubclass(kind, ir.BinaryExpr):
        return kind(X, Y, INDEX, NOWHERE)
    return kind(X, INDEX, NOWHERE)


def comment(stmt: ir.Stmt) -> ir.Stmt:
    ir.attach_leading_comments(stmt, ["why"])
    return stmt


LOOP_BODY = sequence(WORK, yields(X))
SCOPE_ATTRS = {"manual_dep_edges": [T0]}

# Instances of every class, and what they are printed as a part of.
SAMPLES: list[tuple[Any, Embed]] = [
    *((operator(kind), as_it_is) for kind in (*operators(ir.BinaryExpr), *operators(ir.UnaryExpr))),
    (scalar("x"), as_parameter),
    (carry("c", X), as_carry),
    (MEMREF, as_memref),
    (WINDOW, as_slot),
    (integer(4), as_it_is),
    (real(0.5), as_it_is),
    (boolean(True), as_it_is),
    (call("tensor.exp", A, attrs={"a": 1}, b=2), as_statement),
    (call_function("f", A, attrs={"a": 1}), as_statement),
    (submit("f", A, deps=[T0], attrs={"a": 1}, core_num=4, predicate=P), as_statement),
    (tuple_of(X, Y), as_it_is),
    (ir.TupleGetItemExpr(tensor("t", ir.TupleType([X.type, X.type])), 0, NOWHERE), as_it_is),
    (comment(assign(A, B)), as_it_is),
    (comment(evaluate(A)), as_it_is),
    (sequence(WORK, WORK), as_it_is),
    (comment(branch(P, yields(X), yields(Y), [N])), as_it_is),
    (
        comment(
            loop(scalar("i"), integer(2), N, integer(3), LOOP_BODY, [carry("c", X)], [Y], attrs={"a": 1})
        ),
        as_it_is,
    ),
    (comment(while_loop(P, LOOP_BODY, [carry("c", X)], [Y])), as_it_is),
    (comment(yields(X)), as_it_is),
    (comment(returns(X)), as_it_is),
    (comment(ir.BreakStmt(NOWHERE)), as_it_is),
    (comment(ir.ContinueStmt(NOWHERE)), as_it_is),
    (comment(ir.InlineStmt("pass", ir.InlineLanguage.Python, NOWHERE)), as_it_is),
    (comment(ir.InCoreScopeStmt(ir.SplitMode.UP_DOWN, "n", WORK, NOWHERE, attrs=SCOPE_ATTRS)), as_it_is),
    (comment(ir.ClusterScopeStmt("n", WORK, NOWHERE, attrs=SCOPE_ATTRS)), as_it_is),
    (
        comment(ir.HierarchyScopeStmt(ir.Level.CHIP, None, "n", WORK, NOWHERE, attrs=SCOPE_ATTRS)),
        as_it_is,
    ),
    (comment(ir.SpmdScopeStmt(N, False, "n", WORK, NOWHERE, attrs=SCOPE_ATTRS)), as_it_is),
    (
        comment(ir.SplitAivScopeStmt(ir.SplitMode.UP_DOWN, 2, "n", WORK, NOWHERE, attrs=SCOPE_ATTRS)),
        as_it_is,
    ),
    (comment(ir.RuntimeScopeStmt(False, "n", WORK, NOWHERE, attrs=SCOPE_ATTRS)), as_it_is),
    (comment(ir.CommDomainScopeStmt([1], [WINDOW], "n", WORK, NOWHERE, attrs=SCOPE_ATTRS)), as_it_is),
    (
        function("f", [A, (B, ir.ParamDirection.Out)], WORK, [TENSOR], attrs={"split": 1, "a": 1}),
        as_it_is,
    ),
    (program(function("f", [A], WORK)), as_it_is),
    (ir.ScalarType(FP32), as_it_is),
    (ir.TupleType([TENSOR, TASK]), as_it_is),
    (ir.TensorType([16, N], FP32, MEMREF, REGION), as_it_is),
    (ir.DistributedTensorType([16, N], FP32, MEMREF, REGION, WINDOW), as_it_is),
    (ir.TileType([16, N], FP32, MEMREF, TILE_REGION, ir.MemorySpace.Vec), as_it_is),
    (ir.ArrayType(INDEX, 4), as_it_is),
    *(
        (marker(), as_it_is)
        for marker in (
            ir.UnknownType,
            ir.MemRefType,
            ir.PtrType,
            ir.WindowBufferType,
            ir.CommCtxType,
            ir.PrefetchAsyncContextType,
            ir.AsyncEventType,
            ir.AsyncSessionType,
        )
    ),
    (REGION, as_tensor_view),
    (TILE_REGION, as_tile_view),
]

ABSTRACT = {
    "IRNode", "Expr", "Stmt", "ScopeStmt", "BinaryExpr", "UnaryExpr", "Type", "ShapedType",
    "_ValuesStmt", "_JumpStmt", "_MarkerType",
}  # fmt: skip


def concrete_classes() -> set[type]:
    found: set[type] = set()
    pending: list[type] = [ir.IRNode, ir.Type]
    while pending:
        cls = pending.pop()
        pending += cls.__subclasses__()
        module = sys.modules[cls.__module__]
        # Not the class that dataclass(slots=True) replaced, which lives on until it is collected.
        if vars(module).get(cls.__name__) is cls and module.__name__.startswith("pypto_tmpl.ir"):
            found.add(cls)
    return {cls for cls in found if cls.__name__ not in ABSTRACT} | {ir.TensorView, ir.TileView}


def test_there_is_a_sample_of_every_class() -> None:
    assert {type(node) for node, _ in SAMPLES} == concrete_classes()


# A value of each field type that stands in no sample.
OTHERS: dict[type, Any] = {
    bool: True,
    int: 77,
    float: 77.5,
    str: "other",
    ir.DataType: ir.DataType.UINT16,
    ir.Span: ir.Span("other.py", 7, 7),
    ir.Op: ir.Op("tensor.other"),
    ir.Var: scalar("other"),
    ir.IterArg: carry("other", N),
    ir.MemRef: ir.MemRef("other"),
    ir.WindowBuffer: ir.WindowBuffer(ir.Var("other", ir.PtrType(), NOWHERE), 8),
    ir.Expr: scalar("other"),
    ir.Stmt: evaluate(call("system.other")),
    ir.Type: ir.ScalarType(ir.DataType.UINT16),
    ir.TensorView: ir.TensorView([9, 9], ir.TensorLayout.ND),
    ir.TileView: ir.TileView([1, 1]),
    ir.AttrMap: ir.AttrMap({"other": 77}),
    dict: {ir.GlobalVar("other"): function("other", [], WORK)},
}


def alternatives(spec: FieldSpec, value: Any) -> Iterator[Any]:
    """Other values that the field may have."""
    if spec.many:
        for other in single_alternatives(spec.base, value[0] if value else None):
            yield (other, *value[1:])
        if spec.name not in ("params", "param_directions", "shape"):
            yield (*value, *single_alternatives(spec.base, None))
        return
    yield from single_alternatives(spec.base, value)
    if spec.optional and value is not None:
        yield None


def single_alternatives(base: type, value: Any) -> list[Any]:
    if issubclass(base, Enum):
        return [member for member in base if member is not value]
    if base is bool:
        return [not value]
    return [OTHERS[base]]


def both_texts(node: ir.IRNode | ir.Type) -> tuple[str, str]:
    try:
        return text(node), text(node, explicit_layout=True)
    except ir.PrintError as error:
        return str(error), ""


def noticed(node: Any, spec: FieldSpec, embed: Embed) -> bool:
    """True when every other value of the field gives another text, or an error."""
    before = both_texts(embed(node))
    values = alternatives(spec, getattr(node, spec.name))
    return all(both_texts(embed(raw_copy(node, **{spec.name: value}))) != before for value in values)


def exception_for(cls: type, name: str) -> str | None:
    keys = (f"{base.__name__}.{name}" for base in cls.__mro__)
    return next((key for key in keys if key in FIELDS), None)


CASES = [
    pytest.param(node, spec, embed, id=f"{number}-{type(node).__name__}.{spec.name}")
    for number, (node, embed) in enumerate(SAMPLES)
    for spec in ir.fields_of(type(node))
]


@pytest.mark.parametrize(("node", "spec", "embed"), CASES)
def test_field_shows_or_is_excepted(node: Any, spec: FieldSpec, embed: Embed) -> None:
    exception = exception_for(type(node), spec.name)
    if exception is None:
        assert noticed(node, spec, embed), f"{type(node).__name__}.{spec.name} does not show in the text"
    else:
        assert not noticed(node, spec, embed), f"{exception} does show: its exception is not needed"


def test_every_exception_is_about_a_field() -> None:
    used = {exception_for(type(node), spec.name) for node, _ in SAMPLES for spec in ir.fields_of(type(node))}
    assert set(FIELDS) == used - {None}


# How a member of each enumeration is printed.
MEMBERS: dict[str, Callable[[Any], str]] = {
    "FunctionType": lambda member: text(function("f", [], WORK, type=member)),
    "Level": lambda member: text(function("f", [], WORK, level=member)),
    "Role": lambda member: text(function("f", [], WORK, role=member)),
    "ParamDirection": lambda member: text(function("f", [(A, member)], WORK)),
    "ArgDirection": lambda member: text(call_function("f", A, attrs={"arg_directions": [member]})),
    "ForKind": lambda member: text(loop(X, integer(0), N, integer(1), WORK, kind=member)),
    "SplitMode": lambda member: text(ir.SplitAivScopeStmt(member, body=WORK, span=NOWHERE)),
    "MemorySpace": lambda member: text(ir.TileType([4], FP32, memory_space=member)),
    "TensorLayout": lambda member: text(as_tensor_view(ir.TensorView([1, 1], member))),
    "TileLayout": lambda member: text(as_tile_view(ir.TileView(slayout=member)), explicit_layout=True),
    "PadValue": lambda member: text(as_tile_view(ir.TileView([1, 1], pad=member))),
    "CompactMode": lambda member: text(as_tile_view(ir.TileView([1, 1], compact=member))),
    "PipeType": lambda member: text(call("system.sync_src", set_pipe=member)),
    "AtomicType": lambda member: text(call("tensor.assemble", A, atomic=member)),
    **{name: lambda member: text(call("pld.system.wait", A, code=member)) for name in NUMBERS},
}
# Members that are printed by leaving something out.
UNNAMED = {
    ("FunctionType", "Opaque"),
    ("ParamDirection", "In"),
    ("PadValue", "null"),
    ("CompactMode", "null"),
}
SPELLED_OTHERWISE = {"ArgDirection", "ForKind", *NUMBERS}


def enumerations() -> list[type[Enum]]:
    found = vars(enums).values()
    return [cls for cls in found if isinstance(cls, type) and issubclass(cls, Enum) and list(cls)]


@pytest.mark.parametrize("cls", enumerations(), ids=lambda cls: cls.__name__)
def test_members_of_an_enumeration_are_told_apart(cls: type[Enum]) -> None:
    name = cls.__name__
    assert (name in MEMBERS) != (name in ENUMS)
    if name in ENUMS:
        return
    texts = {member: MEMBERS[name](member) for member in cls}
    assert len(set(texts.values())) == len(texts)
    for member, printed in texts.items():
        if name not in SPELLED_OTHERWISE and (name, member.name) not in UNNAMED:
            assert f".{member.name}" in printed


def test_every_excepted_enumeration_exists() -> None:
    assert {*ENUMS, *NUMBERS} <= {cls.__name__ for cls in enumerations()}


def test_data_types() -> None:
    names = [name for name, value in vars(ir.DataType).items() if isinstance(value, ir.DataType)]
    for name in names:
        if not name.startswith("DEFAULT_"):
            assert text(ir.ScalarType(getattr(ir.DataType, name))) == f"pl.Scalar[pl.{name}]"
