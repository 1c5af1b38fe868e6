"""Nodes that are built wrongly: the error names class, field and what was expected."""

import re
from collections.abc import Callable

import pytest

from pypto_tmpl import ir
from pypto_tmpl.ir.attrs import AttrMap

SPAN = ir.Span("k.py", 1, 1)
INDEX, FP32 = ir.DataType.INDEX, ir.DataType.FP32
SCALAR = ir.ScalarType(INDEX)
ONE, X = ir.ConstInt(1, INDEX, SPAN), ir.Var("x", SCALAR, SPAN)
PAIR = ir.MakeTuple([ONE, X], SPAN)
BODY = ir.ReturnStmt(SPAN)
OP = ir.Op("tile.add")
PAIRS = "attributes are a mapping or (key, value) pairs"


def for_stmt(**given: object) -> ir.ForStmt:
    return ir.ForStmt(X, ONE, ONE, ONE, [], BODY, [], SPAN, **given)


REFUSED: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: for_stmt(attrs=[1]), TypeError, "ForStmt.attrs: an attribute is a (key, value) pair, got int"),
    (lambda: for_stmt(attrs=3), TypeError, f"ForStmt.attrs: {PAIRS}, got int"),
    (lambda: for_stmt(attrs="ab"), TypeError, f"ForStmt.attrs: {PAIRS}, got str"),
    (
        lambda: for_stmt(attrs={"k": None}),
        TypeError,
        "ForStmt.attrs: attribute 'k': a NoneType cannot be stored",
    ),
    (
        lambda: for_stmt(attrs={"k": 2**31}),
        RuntimeError,
        "ForStmt.attrs: attribute 'k': 2147483648 does not fit a 32-bit integer",
    ),
    (
        lambda: ir.Call(OP, [X], {3: 4}, SPAN),
        TypeError,
        "Call.kwargs: the key of an attribute is a str, got int",
    ),
    (lambda: ir.Call(OP, [X], {}, 3, SCALAR, SPAN), TypeError, f"Call.attrs: {PAIRS}, got int"),
    (lambda: ir.Call(OP, [X], {}, 3, SPAN), TypeError, "Call.type must be Type, got int"),
    (lambda: ir.Call(OP, [X], "f.py"), TypeError, "Call.span must be Span, got str"),
    (lambda: ir.Submit(OP, [], [], 3, SPAN), TypeError, "Submit.type must be Type, got int"),
    (
        lambda: ir.Submit(OP, [], [], SCALAR, SPAN, core_num="4"),
        TypeError,
        "Submit.core_num must be int or Expr, got str",
    ),
    (
        lambda: ir.Submit(OP, [], [], SCALAR, SPAN, sync_start=1),
        TypeError,
        "Submit.sync_start must be bool, got int",
    ),
    (lambda: ir.Op(3), TypeError, "Op.name must be str, got int"),
    (lambda: ir.GlobalVar(3), TypeError, "GlobalVar.name must be str, got int"),
    (lambda: ir.ConstInt(True, INDEX, SPAN), TypeError, "ConstInt.value must be int, got bool"),
    (lambda: ir.ConstFloat(True, FP32, SPAN), TypeError, "ConstFloat.value must be float or int, got bool"),
    (lambda: ir.Program([], 3, SPAN), TypeError, "Program.name must be str, got int"),
    (lambda: ir.Program([3], "p", SPAN), TypeError, "Program.functions[0] must be Function or None, got int"),
    (
        lambda: ir.Program(3, "p", SPAN),
        TypeError,
        "Program.functions must be a list of Function or None, got int",
    ),
    (
        lambda: ir.Function("f", [], [], BODY, SPAN, level="CHIP"),
        TypeError,
        "Function.level must be Level or None, got str",
    ),
    (lambda: ir.TensorType(4, FP32), TypeError, "TensorType.shape must be a list of int or Expr, got int"),
    (lambda: ir.TileType([4, "a"], FP32), TypeError, "TileType.shape[1] must be int or Expr, got str"),
    (lambda: ir.TileView([True]), TypeError, "TileView.valid_shape[0] must be int or Expr, got bool"),
    (lambda: ir.TileView(start_offset="a"), TypeError, "TileView.start_offset must be int or Expr, got str"),
    (
        lambda: ir.TensorView(["a"], ir.TensorLayout.ND),
        TypeError,
        "TensorView.stride[0] must be int or Expr, got str",
    ),
    (
        lambda: ir.TupleGetItemExpr(X, 0, SPAN),
        ValueError,
        "TupleGetItemExpr.tuple must have a TupleType, got ScalarType",
    ),
    (lambda: ir.MemRef("m", 0, 64, slots="a"), TypeError, "MemRef.slots must be int, got str"),
    (lambda: ir.WindowBuffer(X, 64, 1), TypeError, "WindowBuffer.load_from_host must be bool, got int"),
    (
        lambda: ir.SpmdScopeStmt("4", body=BODY, span=SPAN),
        TypeError,
        "SpmdScopeStmt.core_num must be int or Expr, got str",
    ),
]


@pytest.mark.parametrize(("build", "kind", "message"), REFUSED, ids=[case[2] for case in REFUSED])
def test_what_is_wrong_is_named(build: Callable[[], object], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=f"^{re.escape(message)}$"):
        build()


WITH_SPAN: dict[str, Callable[[object], object]] = {
    "Var": lambda span: ir.Var("x", SCALAR, span),
    "IterArg": lambda span: ir.IterArg("x", SCALAR, ONE, span),
    "MemRef": lambda span: ir.MemRef("m", 0, 64, span=span),
    "WindowBuffer": lambda span: ir.WindowBuffer(X, 64, span=span),
    "ConstInt": lambda span: ir.ConstInt(1, INDEX, span),
    "ConstFloat": lambda span: ir.ConstFloat(1.0, FP32, span),
    "ConstBool": lambda span: ir.ConstBool(True, span),
    "Add": lambda span: ir.Add(ONE, ONE, INDEX, span),
    "Neg": lambda span: ir.Neg(ONE, INDEX, span),
    "Call": lambda span: ir.Call(OP, [], {}, {}, SCALAR, span),
    "Submit": lambda span: ir.Submit(OP, [], [], {}, {}, SCALAR, span),
    "MakeTuple": lambda span: ir.MakeTuple([], span),
    "TupleGetItemExpr": lambda span: ir.TupleGetItemExpr(PAIR, 0, span),
    "AssignStmt": lambda span: ir.AssignStmt(X, ONE, span),
    "EvalStmt": lambda span: ir.EvalStmt(ONE, span),
    "SeqStmts": lambda span: ir.SeqStmts([], span),
    "IfStmt": lambda span: ir.IfStmt(ONE, BODY, None, [], span),
    "ForStmt": lambda span: ir.ForStmt(X, ONE, ONE, ONE, [], BODY, [], span),
    "WhileStmt": lambda span: ir.WhileStmt(ONE, [], BODY, [], span),
    "YieldStmt": lambda span: ir.YieldStmt([], span),
    "ReturnStmt": lambda span: ir.ReturnStmt([], span),
    "BreakStmt": ir.BreakStmt,
    "ContinueStmt": ir.ContinueStmt,
    "InlineStmt": lambda span: ir.InlineStmt("", ir.InlineLanguage.Python, span),
    "ClusterScopeStmt": lambda span: ir.ClusterScopeStmt(body=BODY, span=span),
    "Function": lambda span: ir.Function("f", [], [], BODY, span),
    "Program": lambda span: ir.Program([], "p", span),
}


@pytest.mark.parametrize("name", WITH_SPAN)
def test_spans_are_spans(name: str) -> None:
    optional = ("MemRef", "WindowBuffer")  # without a span their place is unknown
    for wrong in ("f.py", 3) if name in optional else ("f.py", 3, None):
        message = f"{name}.span must be Span, got {type(wrong).__name__}"
        with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
            WITH_SPAN[name](wrong)
    assert WITH_SPAN[name](SPAN).span is SPAN


def test_attributes_that_are_stored_already_are_taken_as_they_are() -> None:
    stored = AttrMap({"k": 1})
    assert for_stmt(attrs=stored).attrs is stored


def test_what_the_verifier_judges_is_built() -> None:
    assert [dim.value for dim in ir.TileType([-4, 4], FP32).shape] == [-4, 4]
    assert ir.ConstFloat(1.0, INDEX, SPAN).dtype == INDEX
    loop = ir.ForStmt(X, ONE, ONE, ONE, [], BODY, [ir.Var("y", SCALAR, SPAN)], SPAN)
    assert (loop.iter_args, len(loop.return_vars)) == ((), 1)
