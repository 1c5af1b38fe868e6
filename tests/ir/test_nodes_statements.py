"""Statements, functions and programs (spec: IR, sections 8 and 9)."""

import re

import pytest

from pypto_tmpl import ir

SPAN = ir.Span("k.py", 1, 1)
SCALAR = ir.ScalarType(ir.DataType.INDEX)
BODY = ir.ReturnStmt(SPAN)


def const(value=1):
    return ir.ConstInt(value, ir.DataType.INDEX, SPAN)


def var(name="x"):
    return ir.Var(name, SCALAR, SPAN)


def iter_arg(name="i"):
    return ir.IterArg(name, SCALAR, const(0), SPAN)


def raises(kind, message):
    return pytest.raises(kind, match=f"^{re.escape(message)}$")


def same(found, *expected):
    assert len(found) == len(expected)
    assert all(a is b for a, b in zip(found, expected, strict=True))


# statements


def test_assign():
    x, value = var(), const()
    made = ir.AssignStmt(x, value, SPAN)
    same((made.var, made.value, made.span), x, value, SPAN)
    with raises(TypeError, "AssignStmt.var must be Var, got ConstInt"):
        ir.AssignStmt(value, value, SPAN)
    with raises(TypeError, "AssignStmt.value must be Expr, got int"):
        ir.AssignStmt(x, 1, SPAN)


def test_eval():
    value = const()
    same((ir.EvalStmt(value, SPAN).expr,), value)
    with raises(TypeError, "EvalStmt.expr must be Expr, got ReturnStmt"):
        ir.EvalStmt(BODY, SPAN)


def test_sequence():
    first, last = ir.BreakStmt(SPAN), ir.ContinueStmt(SPAN)
    made = ir.SeqStmts([first, last], SPAN)
    same(made.stmts, first, last)
    same((made[0], made[-1]), first, last)
    assert len(made) == 2
    for index in (2, -3):
        with pytest.raises(IndexError):
            made[index]
    with raises(TypeError, "SeqStmts.stmts[1] must be Stmt, got ConstInt"):
        ir.SeqStmts([first, const()], SPAN)


def test_if():
    condition, then, orelse, result = var(), ir.BreakStmt(SPAN), ir.ContinueStmt(SPAN), var("r")
    made = ir.IfStmt(condition, then, orelse, [result], SPAN)
    same((made.condition, made.then_body, made.else_body), condition, then, orelse)
    same(made.return_vars, result)
    assert ir.IfStmt(condition, then, None, [], SPAN).else_body is None
    with raises(TypeError, "IfStmt.else_body must be Stmt or None, got Var"):
        ir.IfStmt(condition, then, condition, [], SPAN)
    with raises(TypeError, "IfStmt.return_vars[0] must be Var, got ConstInt"):
        ir.IfStmt(condition, then, None, [const()], SPAN)


def test_for():
    i, start, stop, step, arg, result = var("i"), const(0), const(8), const(1), iter_arg(), var("r")
    made = ir.ForStmt(i, start, stop, step, [arg], BODY, [result], SPAN, ir.ForKind.Unroll, {"k": 1})
    same((made.loop_var, made.start, made.stop, made.step, made.body), i, start, stop, step, BODY)
    same(made.iter_args, arg)
    same(made.return_vars, result)
    assert (made.kind, made.attrs) == (ir.ForKind.Unroll, {"k": 1})
    plain = ir.ForStmt(i, start, stop, step, [], BODY, [], SPAN)
    assert (plain.kind, plain.attrs) == (ir.ForKind.Sequential, {})
    with raises(TypeError, "ForStmt.iter_args[0] must be IterArg, got Var"):
        ir.ForStmt(i, start, stop, step, [i], BODY, [], SPAN)
    with raises(TypeError, "ForStmt.stop must be Expr, got int"):
        ir.ForStmt(i, start, 8, step, [], BODY, [], SPAN)
    with raises(TypeError, "ForStmt.kind must be ForKind, got int"):
        ir.ForStmt(i, start, stop, step, [], BODY, [], SPAN, 1)


def test_while():
    condition, arg, result = var("c"), iter_arg(), var("r")
    made = ir.WhileStmt(condition, [arg], BODY, [result], SPAN)
    same((made.condition, made.body), condition, BODY)
    same(made.iter_args, arg)
    same(made.return_vars, result)
    assert [spec.name for spec in ir.fields_of(ir.WhileStmt)][2:4] == ["iter_args", "condition"]


@pytest.mark.parametrize("cls", [ir.YieldStmt, ir.ReturnStmt])
def test_yield_and_return(cls):
    value = const()
    same(cls([value], SPAN).value, value)
    bare = cls(SPAN)
    assert (bare.value, bare.span) == ((), SPAN)
    with raises(TypeError, f"{cls.__name__}.value[0] must be Expr, got int"):
        cls([1], SPAN)
    with raises(TypeError, f"{cls.__name__}.span must be Span, got NoneType"):
        cls([value])


@pytest.mark.parametrize("cls", [ir.BreakStmt, ir.ContinueStmt])
def test_jumps(cls):
    assert cls(SPAN).span == SPAN


def test_inline():
    made = ir.InlineStmt("x = 1", ir.InlineLanguage.Python, SPAN)
    assert (made.body, made.language) == ("x = 1", ir.InlineLanguage.Python)
    with raises(TypeError, "InlineStmt.language must be InlineLanguage, got int"):
        ir.InlineStmt("x = 1", 0, SPAN)


# comments


def test_statements_start_without_comments():
    assert BODY.leading_comments == ()


def test_comments_are_attached_and_replaced():
    stmt = ir.BreakStmt(SPAN)
    ir.attach_leading_comments(stmt, ["a", "b"])
    assert stmt.leading_comments == ("a", "b")
    ir.attach_leading_comments(stmt, [])
    assert stmt.leading_comments == ()
    with raises(TypeError, "BreakStmt.leading_comments[0] must be str, got int"):
        ir.attach_leading_comments(stmt, [1])


def test_sequences_carry_no_comments():
    seq = ir.SeqStmts([], SPAN)
    ir.attach_leading_comments(seq, [])
    with raises(ValueError, "a SeqStmts carries no leading comments; attach them to its first statement"):
        ir.attach_leading_comments(seq, ["a"])


# scopes

SCOPES = [
    (ir.InCoreScopeStmt, (), "InCore"),
    (ir.ClusterScopeStmt, (), "Cluster"),
    (ir.HierarchyScopeStmt, (ir.Level.HOST,), "Hierarchy"),
    (ir.SpmdScopeStmt, (4,), "Spmd"),
    (ir.SplitAivScopeStmt, (ir.SplitMode.NONE,), "SplitAiv"),
    (ir.RuntimeScopeStmt, (), "Runtime"),
    (ir.CommDomainScopeStmt, ([], []), "CommDomain"),
]


@pytest.mark.parametrize(("cls", "given", "kind"), SCOPES)
def test_scopes(cls, given, kind):
    made = cls(*given, body=BODY, span=SPAN)
    assert isinstance(made, ir.ScopeStmt)
    assert made.scope_kind is ir.ScopeKind[kind]
    assert (made.name_hint, made.body, made.attrs, made.span) == ("", BODY, {}, SPAN)
    named = cls(*given, name_hint="s", body=BODY, span=SPAN, attrs={"slot_num": 2})
    assert (named.name_hint, named.attrs) == ("s", {"slot_num": 2})
    with raises(TypeError, f"{cls.__name__}.body must be Stmt, got NoneType"):
        cls(*given, span=SPAN)
    with raises(TypeError, f"{cls.__name__}.span must be Span, got NoneType"):
        cls(*given, body=BODY)


@pytest.mark.parametrize(("cls", "given", "kind"), SCOPES)
def test_order_of_scope_arguments(cls, given, kind):
    defaults = {"InCore": [ir.SplitMode.NONE], "Hierarchy": [None], "Spmd": [False], "SplitAiv": [2]}
    made = cls(*given, *defaults.get(kind, [False] if kind == "Runtime" else []), "s", BODY, SPAN)
    assert (made.name_hint, made.body, made.span) == ("s", BODY, SPAN)


def test_in_core_scope():
    assert ir.InCoreScopeStmt(body=BODY, span=SPAN).split is ir.SplitMode.NONE
    made = ir.InCoreScopeStmt(ir.SplitMode.UP_DOWN, body=BODY, span=SPAN)
    assert made.split is ir.SplitMode.UP_DOWN
    with raises(TypeError, "InCoreScopeStmt.split must be SplitMode, got int"):
        ir.InCoreScopeStmt(1, body=BODY, span=SPAN)


def test_hierarchy_scope():
    made = ir.HierarchyScopeStmt(ir.Level.HOST, ir.Role.SubWorker, body=BODY, span=SPAN)
    assert (made.level, made.role) == (ir.Level.HOST, ir.Role.SubWorker)
    assert ir.HierarchyScopeStmt(ir.Level.HOST, body=BODY, span=SPAN).role is None
    with raises(TypeError, "HierarchyScopeStmt.level must be Level, got NoneType"):
        ir.HierarchyScopeStmt(None, body=BODY, span=SPAN)
    with raises(TypeError, "HierarchyScopeStmt.role must be Role or None, got int"):
        ir.HierarchyScopeStmt(ir.Level.HOST, 1, body=BODY, span=SPAN)


def test_spmd_scope():
    made = ir.SpmdScopeStmt(4, True, body=BODY, span=SPAN)
    assert (made.core_num.value, made.core_num.dtype, made.sync_start) == (4, ir.DataType.INDEX, True)
    blocks = var()
    plain = ir.SpmdScopeStmt(blocks, body=BODY, span=SPAN)
    assert plain.core_num is blocks
    assert plain.sync_start is False
    with raises(ir.InternalError, "an SpmdScopeStmt needs a core_num"):
        ir.SpmdScopeStmt(None, body=BODY, span=SPAN)


def test_split_aiv_scope():
    made = ir.SplitAivScopeStmt(ir.SplitMode.NONE, body=BODY, span=SPAN)
    assert (made.split, made.count) == (ir.SplitMode.NONE, 2)
    with raises(ir.InternalError, "a SplitAivScopeStmt has 2 lanes, got 3"):
        ir.SplitAivScopeStmt(ir.SplitMode.NONE, 3, body=BODY, span=SPAN)


def test_runtime_scope():
    assert ir.RuntimeScopeStmt(body=BODY, span=SPAN).manual is False
    assert ir.RuntimeScopeStmt(True, body=BODY, span=SPAN).manual is True
    with raises(TypeError, "RuntimeScopeStmt.manual must be bool, got int"):
        ir.RuntimeScopeStmt(1, body=BODY, span=SPAN)


def test_comm_domain_scope():
    window = ir.WindowBuffer(var("w"), 64)
    made = ir.CommDomainScopeStmt([0, 2], [window], body=BODY, span=SPAN)
    assert made.devices == (0, 2)
    same(made.slots, window)
    with raises(TypeError, "CommDomainScopeStmt.slots[0] must be WindowBuffer, got Var"):
        ir.CommDomainScopeStmt([], [var()], body=BODY, span=SPAN)
    with raises(TypeError, "CommDomainScopeStmt.devices[0] must be int, got str"):
        ir.CommDomainScopeStmt(["0"], [], body=BODY, span=SPAN)


# functions


def function(name="f", params=(), **given):
    return ir.Function(name, list(params), [], BODY, SPAN, **given)


def test_function():
    x, y = var(), var("y")
    place = (ir.FunctionType.Spmd, ir.Level.HOST, ir.Role.SubWorker)
    made = ir.Function("f", [x, (y, ir.ParamDirection.Out)], [SCALAR], BODY, SPAN, *place, {"k": 1}, True)
    assert (made.name, made.body, made.span, made.return_types) == ("f", BODY, SPAN, (SCALAR,))
    same(made.params, x, y)
    assert made.param_directions == (ir.ParamDirection.In, ir.ParamDirection.Out)
    assert (made.func_type, made.level, made.role) == place
    assert (made.attrs, made.requires_runtime_binding) == ({"k": 1}, True)


def test_function_defaults():
    made = function()
    assert (made.func_type, made.level, made.role) == (ir.FunctionType.Opaque, None, None)
    assert (made.attrs, made.requires_runtime_binding) == ({}, False)


def test_params_are_a_list_of_variables():
    with raises(TypeError, "Function.params must be list, got tuple"):
        ir.Function("f", (var(),), [], BODY, SPAN)
    for wrong in (const(), (var(),), (var(), ir.ParamDirection.In, 1)):
        with raises(TypeError, "Function.params[0] must be a Var or a (Var, ParamDirection) pair"):
            function(params=[wrong])
    with raises(TypeError, "Function.params[0][1] must be ParamDirection, got ArgDirection"):
        function(params=[(var(), ir.ArgDirection.Input)])


PLACES = [
    ("Orchestration", "CHIP", "Orchestrator"),
    ("Graph", "CHIP", "Orchestrator"),
    ("InCore", "CHIP_DIE", "SubWorker"),
    ("AIC", "AIC", "SubWorker"),
    ("AIV", "AIV", "SubWorker"),
    ("Group", "CORE_GROUP", "SubWorker"),
]


@pytest.mark.parametrize(("kind", "level", "role"), PLACES)
def test_level_and_role_follow_from_the_type(kind, level, role):
    fixed = {"level": ir.Level[level], "role": ir.Role[role]}
    for given in ({}, fixed):
        made = function(type=ir.FunctionType[kind], **given)
        assert (made.level, made.role) == (ir.Level[level], ir.Role[role])
    other = ir.Role.Orchestrator if role == "SubWorker" else ir.Role.SubWorker
    with raises(ValueError, f"f: a function of type {kind} has level {level}, not Level.GLOBAL"):
        function(type=ir.FunctionType[kind], level=ir.Level.GLOBAL)
    with raises(ValueError, f"f: a function of type {kind} has role {role}, not {other}"):
        function(type=ir.FunctionType[kind], role=other)


@pytest.mark.parametrize("kind", ["Opaque", "Spmd", "Inline"])
def test_level_and_role_are_free_for_other_types(kind):
    assert function(type=ir.FunctionType[kind]).level is None
    assert function(type=ir.FunctionType[kind], level=ir.Level.HOST).level is ir.Level.HOST


def test_split_of_a_function():
    assert function().split is None
    assert function(attrs={"split": 0}).split is None
    assert function(attrs={"split": 2}).split is ir.SplitMode.LEFT_RIGHT
    with pytest.raises(ValueError, match="3 is not a valid SplitMode"):
        _ = function(attrs={"split": 3}).split


# programs


def test_program():
    f, g = function("f"), function("g")
    made = ir.Program([g, f], "p", SPAN)
    assert (made.name, made.span) == ("p", SPAN)
    assert list(made.functions) == [ir.GlobalVar("f"), ir.GlobalVar("g")]
    same((made["f"], made.get_function("g"), made.functions[ir.GlobalVar("g")]), f, g, g)
    assert made.get_global_var("f") == ir.GlobalVar("f")
    assert (made["h"], made.get_function("h"), made.get_global_var("h")) == (None, None, None)


def test_functions_stand_in_byte_order():
    names = ["b", "a", "B", "_", "é", "z", "\U00010000", "\uffff"]
    made = ir.Program([function(name) for name in names], "p", SPAN)
    assert [key.name for key in made.functions] == ["B", "_", "a", "b", "z", "é", "\uffff", "\U00010000"]


def test_programs_refuse():
    with raises(ValueError, "Program.functions[1]: two functions are named 'f'"):
        ir.Program([function("f"), function("f")], "p", SPAN)
    with raises(ir.InternalError, "Program.functions[0] must have a name"):
        ir.Program([function("")], "p", SPAN)
    with raises(ir.InternalError, "Program.functions[0] must be Function, got NoneType"):
        ir.Program([None], "p", SPAN)
