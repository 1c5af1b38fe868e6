# ruff: noqa: E501 (statements stand on one line, as in dumps)
"""Statements: assignments and rebinding, loops and their carried values, branches, comments."""

import warnings

import pytest

import pypto_tmpl.language as pl
from pypto_tmpl import ir

S = ir.Span.unknown()
D = ir.DataType
X = ir.TensorType([4, 8], D.FP32)
INDEX, BOOL = ir.ScalarType(D.INDEX), ir.ScalarType(D.BOOL)
T = "pl.Tensor[[4, 8], pl.FP32]"
HEADER = "# pypto.program: P\n"


def read(body: str, head: str = "", **options: str) -> ir.Function:
    """A function of a tensor x, an INDEX n and a BOOL p with that body."""
    lines = "".join(f"    {line}\n" for line in body.strip("\n").split("\n"))
    decorator = options.get("decorator", "@pl.function")
    code = f"{head}import pypto.language as pl\n{decorator}\ndef f(x: {T}, n: pl.Scalar[pl.INDEX], p: pl.Scalar[pl.BOOL]):\n{lines}"
    function = pl.parse(code)
    assert isinstance(function, ir.Function)
    return function


class Build:
    """Hand-built IR: the parameters of ``read``, and short forms for nodes."""

    def __init__(self) -> None:
        self.x, self.n, self.p = ir.Var("x", X, S), ir.Var("n", INDEX, S), ir.Var("p", BOOL, S)

    def var(self, name: str, type_: ir.Type = X) -> ir.Var:
        return ir.Var(name, type_, S)

    def exp(self, value: ir.Expr) -> ir.Call:
        return ir.Call(ir.Op("tensor.exp"), [value], X, S)

    def assign(self, var: ir.Var, value: ir.Expr) -> ir.AssignStmt:
        return ir.AssignStmt(var, value, S)

    def seq(self, *stmts: ir.Stmt) -> ir.Stmt:
        return stmts[0] if len(stmts) == 1 else ir.SeqStmts(stmts, S)

    def int(self, value: int, dtype: ir.DataType = D.INDEX) -> ir.ConstInt:
        return ir.ConstInt(value, dtype, S)

    def loop(
        self,
        var,
        body,
        iter_args=(),
        return_vars=(),
        bounds=(0, 4, 1),
        kind=ir.ForKind.Sequential,
        attrs=None,
    ):
        start, stop, step = (self.int(b) if isinstance(b, int) else b for b in bounds)
        return ir.ForStmt(var, start, stop, step, iter_args, body, return_vars, S, kind, attrs)

    def function(self, *stmts: ir.Stmt) -> ir.Function:
        return ir.Function("f", [self.x, self.n, self.p], [], self.seq(*stmts), S)


def check(body: str, make, head: str = "", auto: bool = False) -> None:
    build = Build()
    want = build.function(*make(build))
    assert ir.structural_diff(read(body, head), want, enable_auto_mapping=auto) is None


# assignments and names


def test_a_visible_name_stays_one_variable() -> None:
    function = read(f"y: {T} = pl.tensor.exp(x)\ny: {T} = pl.tensor.exp(y)\nx: {T} = y")
    first, second, third = function.body.stmts
    assert first.var is second.var is second.value.args[0]
    assert third.var is function.params[0]


def test_names_leak_from_branches_plain_loops_and_scopes() -> None:
    function = read(
        f"""
if p:
    y: {T} = pl.tensor.exp(x)
else:
    y: {T} = pl.tensor.neg(x)
for i in pl.range(4):
    z: {T} = pl.tensor.exp(y)
while p:
    z: {T} = pl.tensor.exp(z)
with pl.at(level=pl.Level.CORE_GROUP):
    w: {T} = pl.tensor.exp(z)
return y, z, w, i
"""
    )
    branch, loop, again, scope, result = function.body.stmts
    y, z = branch.then_body.var, loop.body.var
    assert branch.else_body.var is y
    assert again.body.var is z
    assert result.value == (y, z, scope.body.var, loop.loop_var)


SEPARATE = f"""
for i, (a,) in pl.range(4, init_values=(x,)):
    t: {T} = pl.tensor.exp(a)
    r: {T} = pl.yield_(t)
for i, (a,) in pl.range(4, init_values=(x,)):
    t: {T} = pl.tensor.exp(a)
    s: {T} = pl.yield_(t)
return r, s
"""


def test_a_name_whose_scope_has_ended_is_a_new_variable() -> None:
    first, second, _ = read(SEPARATE).body.stmts
    assert first.loop_var is not second.loop_var
    assert first.iter_args[0] is not second.iter_args[0]
    assert first.body.stmts[0].var is not second.body.stmts[0].var


def test_in_printed_text_one_name_is_one_variable() -> None:
    """The printer names variables apart, so an unrolled loop, say, repeats a name for the same variable."""
    first, second, _ = read(SEPARATE, HEADER).body.stmts
    assert first.loop_var is second.loop_var
    assert first.iter_args[0] is second.iter_args[0]
    assert first.body.stmts[0].var is second.body.stmts[0].var
    assert ir.python_print(read(SEPARATE, HEADER), format=False).count(" t: ") == 2


def test_a_carried_name_is_bound_anew() -> None:
    function = read(
        f"for i, (a,) in pl.range(4, init_values=(x,)):\n    a: {T} = pl.tensor.exp(a)\n    r: {T} = pl.yield_(a)"
    )
    assign, out = function.body.body.stmts
    assert isinstance(assign.value.args[0], ir.IterArg)
    assert type(assign.var) is ir.Var
    assert out.value == (assign.var,)


def test_assignments_take_their_type_from_the_annotation_or_the_value() -> None:
    check(
        """
a: pl.Scalar[pl.INT32] = 5
b: pl.Scalar[pl.INT64] = n
c = x
d = n + 1
e: "anything" = p
""",
        lambda b: (
            b.assign(b.var("a", ir.ScalarType(D.INT32)), b.int(5, D.INT32)),
            b.assign(b.var("b", ir.ScalarType(D.INT64)), b.n),
            b.assign(b.var("c"), b.x),
            b.assign(b.var("d", INDEX), ir.Add(b.n, b.int(1), D.INDEX, S)),
            b.assign(b.var("e", BOOL), b.p),
        ),
    )


def test_a_tuple_is_taken_apart_through_a_variable() -> None:
    function = read("a, b = [n, x]")
    whole, a, b = function.body.stmts
    assert whole.var.name_hint == "_tuple_tmp"
    assert (a.value.tuple, a.value.index, a.var.type) == (whole.var, 0, INDEX)
    assert (b.value.tuple, b.value.index, b.var.type) == (whole.var, 1, X)


def test_free_variables_lose_the_printers_suffix() -> None:
    function = read(f"y: {T} = x__FREE_VAR\nz: {T} = pl.tensor.add(y, x__FREE_VAR)")
    y, z = function.body.stmts
    assert y.value is z.value.args[1]
    assert y.value.name_hint == "x"
    assert y.value.type == X
    assert y.value is not function.params[0]


# loops


@pytest.mark.parametrize(
    ("text", "bounds", "kind", "attrs"),
    [
        ("pl.range(4)", (0, 4, 1), "Sequential", None),
        ("pl.range(1, 4)", (1, 4, 1), "Sequential", None),
        ("pl.range(1, 8, 2)", (1, 8, 2), "Sequential", None),
        ("pl.parallel(4)", (0, 4, 1), "Parallel", None),
        ("pl.unroll(4)", (0, 4, 1), "Unroll", None),
        ("pl.pipeline(4, stage=2)", (0, 4, 1), "Pipeline", {"pipeline_stages": 2}),
        ('pl.pipeline(4, stage=2, attrs={"a": True})', (0, 4, 1), "Pipeline", {"pipeline_stages": 2, "a": True}),
        ('pl.range(4, attrs={"iter_arg_rebind_0": False, "s": "t", "arg_direction_overrides": [1]})', (0, 4, 1), "Sequential", [("iter_arg_rebind_0", False), ("s", "t"), ("arg_direction_overrides", [1])]),
        ("X.range(4)", (0, 4, 1), "Sequential", None),
    ],
)  # fmt: skip
def test_plain_loops(text: str, bounds: tuple, kind: str, attrs) -> None:
    check(
        f"for i in {text}:\n    pass",
        lambda b: (b.loop(b.var("i", INDEX), ir.SeqStmts([], S), (), (), bounds, ir.ForKind[kind], attrs),),
    )


@pytest.mark.parametrize(
    ("bounds", "dtype"),
    [
        ("pl.const(0, pl.INT64), pl.const(4, pl.INT64)", "INT64"),
        ("pl.const(0, pl.INT32), pl.const(4, pl.INT32), pl.const(1, pl.INT32)", "INT32"),
        ("0, pl.const(4, pl.INT64)", "INDEX"),
        ("n", "INDEX"),
        ("pl.const(0, pl.INT32), n", "INT32"),
    ],
)
def test_a_loop_variable_has_the_dtype_of_constant_bounds(bounds: str, dtype: str) -> None:
    assert read(f"for i in pl.range({bounds}):\n    pass").body.loop_var.type == ir.ScalarType(
        getattr(D, dtype)
    )


def carried(b: Build, *names: str) -> list[ir.IterArg]:
    return [ir.IterArg(name, X, b.x, S) for name in names]


def test_carried_values() -> None:
    def make(b: Build):
        a, c = carried(b, "a", "c")
        return (
            b.loop(b.var("i", INDEX), ir.YieldStmt([c, a], S), [a, c], [b.var("r"), b.var("s")]),
            ir.ReturnStmt([b.x], S),
        )

    check("for i, (a, c) in pl.range(4, init_values=(x, x)):\n    r, s = pl.yield_(c, a)\nreturn x", make)


def test_a_single_result_has_its_annotated_type_and_several_those_of_the_carried_values() -> None:
    wide = (
        "pl.Tensor[[4, 8], pl.FP32, pl.TensorView(valid_shape=[2, 8], stride=[], layout=pl.TensorLayout.ND)]"
    )
    single = read(f"for i, (a,) in pl.range(4, init_values=(x,)):\n    r: {wide} = pl.yield_(a)")
    assert single.body.return_vars[0].type.tensor_view.valid_shape[0].value == 2
    several = read(
        f"y: {wide} = pl.tensor.exp(x)\nfor i, (a, c) in pl.range(4, init_values=(x, y)):\n    r, s = pl.yield_(c, a)"
    )
    assert [v.type.tensor_view is None for v in several.body.stmts[1].return_vars] == [True, False]


def test_yields_stand_in_scopes_of_the_body() -> None:
    function = read(
        f"""
for i, (a,) in pl.range(4, init_values=(x,)):
    with pl.scope():
        for lane in pl.split_aiv(2, mode=pl.SplitMode.NONE):
            r: {T} = pl.yield_(a)
return r
""",
        decorator="@pl.function(type=pl.FunctionType.AIV, auto_scope=False)",
    )
    loop, result = function.body.stmts
    assert result.value == loop.return_vars


def test_carried_values_that_nothing_yields() -> None:
    """Upstream prints such loops, and refuses them or gives them other results."""
    bare = read(
        f"for i, (a,) in pl.range(4, init_values=(x,)):\n    y: {T} = pl.tensor.exp(a)\n    pl.yield_(y)",
        "# pypto.program: P\n",
    )
    assert bare.body.return_vars == ()
    assert isinstance(bare.body.body.stmts[-1], ir.YieldStmt)
    silent = read("for i, (a,) in pl.range(4, init_values=(x,)):\n    pl.tensor.exp(a)\nreturn a_out")
    loop, result = silent.body.stmts
    assert [v.name_hint for v in loop.return_vars] == ["a_out"]
    assert result.value == loop.return_vars


def test_a_placeholder_has_the_type_of_what_the_loop_yields_for_it() -> None:
    function = read(
        f"""
for i, (a, c) in pl.range(4, init_values=(free__FREE_VAR, x)):
    for j, (e, g) in pl.range(4, init_values=(more__FREE_VAR, x)):
        y: {T} = pl.tensor.exp(x)
        s, q = pl.yield_(y, g)
    r, t = pl.yield_(s, c)
for i, (a,) in pl.range(4, init_values=(single__FREE_VAR,)):
    u: {T} = pl.yield_(x)
""",
        HEADER,
    )
    first, last = function.body.stmts
    inner = first.body.stmts[0]
    for loop, name in ((first, "free"), (inner, "more"), (last, "single")):
        assert loop.iter_args[0].type == X
        assert loop.iter_args[0].initValue.name_hint == name


def test_while_loops() -> None:
    def make(b: Build):
        (a,) = carried(b, "a")
        condition = ir.Gt(b.n, b.int(0), D.BOOL, S)
        return (
            ir.WhileStmt(b.p, [], ir.SeqStmts([], S), [], S),
            ir.WhileStmt(condition, [a], ir.YieldStmt([a], S), [b.var("r")], S),
        )

    check(
        f"while p:\n    pass\nfor (a,) in pl.while_(init_values=(x,)):\n    pl.cond(n > 0)\n    r: {T} = pl.yield_(a)",
        make,
    )


def test_jumps() -> None:
    function = read(
        "for i in pl.range(4):\n    break\nfor i in pl.pipeline(4, stage=1):\n    continue\nwhile p:\n    break"
    )
    kinds = [type(loop.body) for loop in function.body.stmts]
    assert kinds == [ir.BreakStmt, ir.ContinueStmt, ir.BreakStmt]


# branches


def test_branches_without_results() -> None:
    def make(b: Build):
        nothing = ir.SeqStmts([], S)
        inner = ir.IfStmt(b.p, ir.ReturnStmt(S), ir.ReturnStmt([b.x, b.n], S), [], S)
        return (ir.IfStmt(b.p, nothing, inner, [], S),)

    check("if p:\n    pass\nelif p:\n    return\nelse:\n    return x, n", make)


def test_results_of_branches() -> None:
    function = read(
        f"""
if p:
    a: {T} = pl.yield_(x)
    c: {T} = pl.tensor.exp(x)
else:
    a: {T} = pl.yield_(x)
if p:
    r, s = pl.yield_(a, n)
else:
    r, s = pl.yield_(x, n)
if p:
    pl.yield_(x)
else:
    pl.yield_(r)
return a, r, s
"""
    )
    first, second, third, result = function.body.stmts
    assert [v.type for v in (*first.return_vars, *second.return_vars)] == [X, X, INDEX]
    assert third.return_vars == ()
    assert result.value == (*first.return_vars, *second.return_vars)


def test_names_of_a_branch_with_results_end_with_it() -> None:
    with pytest.raises(pl.UndefinedVariableError):
        read(
            f"if p:\n    c: {T} = pl.tensor.exp(x)\n    a: {T} = pl.yield_(c)\nelse:\n    a: {T} = pl.yield_(x)\nreturn c"
        )


def test_else_results_come_last() -> None:
    function = read("if p:\n    a = pl.yield_(x)\nelse:\n    b = pl.yield_(n)")
    assert [v.name_hint for v in function.body.return_vars] == ["a", "b"]


# expression statements, spans and comments


def test_effects() -> None:
    check(
        "pl.system.fence()\npl.system.unknown_op(x)\nn + 1\npl.tensor.exp(x)",
        lambda b: (
            ir.EvalStmt(ir.Call(ir.Op("system.fence"), [], S), S),
            ir.EvalStmt(ir.Call(ir.Op("system.unknown_op"), [b.x], S), S),
            ir.EvalStmt(ir.Add(b.n, b.int(1), D.INDEX, S), S),
            ir.EvalStmt(b.exp(b.x), S),
        ),
    )


def test_positions_are_lines_and_characters_of_the_text() -> None:
    code = f'import pypto.language as pl\n@pl.function\ndef f(x: {T}):\n    """ü"""; y: {T} = pl.tensor.exp(x)\n    return y\n'
    function = pl.parse(code, filename="some.py")
    assign, result = function.body.stmts
    line = code.split("\n")[3]
    assert str(function.span) == "some.py:3:1"
    assert str(function.params[0].span) == "some.py:3:7"
    assert str(assign.span) == f"some.py:4:{line.index('y: ') + 1}"
    assert str(assign.value.span) == f"some.py:4:{line.index('pl.tensor.exp') + 1}"
    assert str(result.span) == "some.py:5:5"


def test_comments_stand_at_their_statements() -> None:
    function = read(
        f"""
# above
#  indented
y: {T} = pl.tensor.exp(x)  # beside
# loop
for i in pl.range(4):  # header
    # inside
    z: {T} = pl.tensor.exp(  # open
        y  # within
    )
    # at the end of the block
"a string"
return y  # last
""",
        "# before the import\n",
    )
    y, loop, result = function.body.stmts
    assert y.leading_comments == ("above", " indented", "beside")
    assert loop.leading_comments == ("loop", "header")
    assert loop.body.leading_comments == ("inside", "open", "within")
    assert result.leading_comments == ("a string", "last")


def test_a_comment_behind_else_stands_at_the_first_statement_of_the_branch() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = f"if n > 0:  # much\n    y: {T} = x\nelse:  # little\n    # none\n    y: {T} = x\nreturn y"
        branch = read(text).body.stmts[0]
    assert branch.leading_comments == ("much",)
    assert branch.else_body.leading_comments == ("little", "none")


def test_comments_print_again() -> None:
    text = ir.python_print(
        read(f"# one\n#\n# two # three\ny: {T} = pl.tensor.exp(x)\nreturn y"), format=False
    )
    assert ir.python_print(pl.parse(text), format=False) == text
    assert "    # one\n    #\n    # two # three\n    y:" in text


def test_a_hash_in_a_string_is_no_comment() -> None:
    function = read("'''\n# not\n'''\npl.tile.other(x, key='#no', other=\"it's # not\")  # yes\nreturn x")
    call, result = function.body.stmts
    assert call.leading_comments == ("# not", "yes")
    assert result.leading_comments == ()
