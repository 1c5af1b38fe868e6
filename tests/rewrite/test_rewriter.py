"""Rewriting of trees: identity, substitution, statements, variables, and how deep it goes."""

import pytest
from codegen.builders import as_expr, assign, evaluate, for_loop, function, if_, program, scalar, seq
from corpus_check import Dump, default_corpus, find_dumps
from drawn_examples import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ir.strategies import IDENTIFIERS, Source, nodes, types
from passes.test_random_programs import random_kernel

import pypto_tmpl.language as pl
from pypto_tmpl import ir, passes
from pypto_tmpl.ir.construct import construct
from pypto_tmpl.ir.fields import fields_of
from pypto_tmpl.rewrite import Rewriter, as_body, build, clone, flat, substitute

U = ir.Span.unknown()
TILE = ir.TileType([16, 64], ir.DataType.FP32, None, None, ir.MemorySpace.Vec)
DUMPS = [dump for dump in find_dumps(default_corpus(), ".msgpack") if dump.stage_number in (0, 22, 35)][:40]


@given(nodes() | types())
def test_the_identity_gives_the_same_object(node):
    assert Rewriter().rewrite(node) is node


@pytest.mark.parametrize("dump", DUMPS, ids=str)
def test_the_identity_gives_a_real_program_itself(dump: Dump):
    node = ir.deserialize_from_file(str(dump.path))
    assert Rewriter().rewrite(node) is node


# Substitution


def reconstructed(node, values, made):
    """The node with values for variables, built by its constructor where such a variable is in it."""
    if id(node) in made:
        return made[id(node)][1]
    if isinstance(node, ir.Var) and not isinstance(node, ir.MemRef | ir.WindowBuffer):
        return values.get(node, node)
    if isinstance(node, ir.AttrMap):
        return node.map_expressions(lambda expr: reconstructed(expr, values, made))
    if isinstance(node, tuple):
        new = tuple(reconstructed(item, values, made) for item in node)
        return node if all(a is b for a, b in zip(new, node, strict=True)) else new
    if not isinstance(node, ir.IRNode | ir.Type | ir.TensorView | ir.TileView):
        return node
    parts = {spec.name: getattr(node, spec.name) for spec in fields_of(type(node))}
    new = {name: reconstructed(part, values, made) for name, part in parts.items()}
    same = all(new[name] is part for name, part in parts.items())
    made[id(node)] = node, node if same else construct(type(node), new)
    return made[id(node)][1]


@settings(max_examples=examples(100), deadline=None)
@given(st.data())
def test_substitution_is_reconstruction_through_constructors(data):
    source = Source(data.draw, IDENTIFIERS)
    old = [source.plain_var(1) for _ in range(2)]
    source.drawn += old
    node = data.draw(st.sampled_from([source.expr, source.type]))(3)
    values = {var: ir.Var(var.name_hint, var.type, U) for var in old}
    expected = reconstructed(node, values, {})
    got = substitute(node, values)
    assert ir.structural_equal(got, expected)
    if isinstance(got, ir.IRNode):
        assert ir.serialize(got) == ir.serialize(expected)


def test_all_variables_are_substituted_at_once():
    a, b = scalar("a"), scalar("b")
    swapped = substitute(ir.Sub(a, b, a.type.dtype, U), {a: b, b: a})
    assert (swapped.left, swapped.right) == (b, a)


def test_a_substituted_extent_gives_the_constructed_type():
    rows = scalar("rows")
    partial = ir.TileType([16, 64], ir.DataType.FP32, None, ir.TileView([rows, 64]), ir.MemorySpace.Vec)
    assert substitute(partial, {rows: as_expr(16)}) == TILE


def test_a_variable_that_is_bound_inside_is_not_substituted():
    x = scalar("x")
    with pytest.raises(ValueError, match="'x' is bound here"):
        substitute(assign(x, as_expr(1)), {x: as_expr(2)})


def test_an_attribute_of_variables_takes_no_other_expression():
    tid = scalar("tid")
    launch = ir.Call(ir.Op("f"), [], {}, {"manual_dep_edges": [tid]}, ir.UnknownType(), U)
    with pytest.raises(TypeError, match="attribute 'manual_dep_edges' holds variables: a ConstInt"):
        substitute(launch, {tid: as_expr(1)})


# Statements


class Statements(Rewriter):
    """What each ``x = n`` becomes is what ``becomes`` says of n."""

    def __init__(self, becomes):
        super().__init__()
        self.becomes = becomes

    def statement(self, stmt):
        return self.becomes(stmt) if isinstance(stmt, ir.AssignStmt) else stmt


def numbers(body):
    return [stmt.value.value for stmt in flat(body)]


def body_of(*values):
    return ir.SeqStmts([assign(scalar("x"), as_expr(value)) for value in values], U)


@pytest.mark.parametrize(("per", "expected"), [(0, []), (1, [1]), (2, [1, 2, 2]), (3, [1, 2, 2, 3, 3, 3])])
def test_a_statement_becomes_none_one_or_many(per, expected):
    body = body_of(*range(1, per + 1))
    new = Statements(lambda stmt: [assign(scalar("y"), stmt.value)] * stmt.value.value).rewrite(body)
    assert numbers(new) == expected
    assert isinstance(new, ir.SeqStmts) == (len(expected) != 1)


def test_a_branch_that_loses_its_only_statement_is_an_empty_sequence():
    branch = if_(ir.ConstBool(True, U), assign(scalar("x"), as_expr(1)))
    new = Statements(lambda _: None).rewrite(branch)
    assert isinstance(new.then_body, ir.SeqStmts)
    assert new.then_body.stmts == ()


def test_sequences_are_spliced_flat():
    body = body_of(1)
    new = Statements(lambda stmt: ir.SeqStmts([ir.SeqStmts([stmt, stmt], U), body_of(3)], U)).rewrite(body)
    assert numbers(new) == [1, 1, 3]
    assert all(not isinstance(stmt, ir.SeqStmts) for stmt in new.stmts)


def test_what_is_emitted_comes_before_the_statement_and_is_not_shared():
    """Each statement that reads the shared call gets a variable of its own."""
    call = ir.Call(ir.Op("tile.exp"), [scalar("t")], TILE, U)
    whole = ir.Call(ir.Op("tile.neg"), [call], TILE, U)

    class Flat(Rewriter):
        def __init__(self):
            super().__init__()
            self.temporaries = []

        def expression(self, expr):
            if expr is not call:
                return expr
            self.temporaries.append(ir.Var("tmp", TILE, U))
            self.emit(assign(self.temporaries[-1], call))
            return self.temporaries[-1]

    flat_ = Flat()
    branches = if_(ir.ConstBool(True, U), evaluate(whole), evaluate(whole))
    new = flat_.rewrite(branches)
    for branch, temporary in zip((new.then_body, new.else_body), flat_.temporaries, strict=True):
        first, second = branch.stmts
        assert first.var is temporary
        assert second.expr.args[0] is temporary


def test_what_comes_before_is_looked_into():
    class Unrolled(Rewriter):
        def before(self, stmt):
            if not isinstance(stmt, ir.ForStmt):
                return stmt
            count = stmt.stop.value
            return [clone(stmt.body, substitution={stmt.loop_var: as_expr(i)}) for i in range(count)]

    i, j = scalar("i"), scalar("j")
    place = ir.Add(ir.Mul(i, as_expr(10), i.type.dtype, U), j, i.type.dtype, U)
    inner = for_loop(j, 2, assign(scalar("x"), place))
    new = Unrolled().rewrite(for_loop(i, 2, inner))
    assert [str(stmt.value) for stmt in flat(new)] == [
        str(ir.Add(ir.Mul(as_expr(a), as_expr(10), i.type.dtype, U), as_expr(b), i.type.dtype, U))
        for a in range(2)
        for b in range(2)
    ]


# Variables


class Widened(Rewriter):
    """Every tile of 16 rows has 32."""

    def type(self, type_):
        if isinstance(type_, ir.TileType):
            return build(type_, shape=(as_expr(32), *type_.shape[1:]))
        return type_


def test_uses_follow_a_definition_whose_type_changes():
    t = ir.Var("t", TILE, U)
    body = ir.SeqStmts([assign(t, ir.Call(ir.Op("tile.load"), [], TILE, U)), evaluate(t), assign(t, t)], U)
    first, second, third = Widened().rewrite(body).stmts
    assert first.var.type.shape[0].value == 32
    assert second.expr is first.var
    assert third.var is first.var  # bound twice, one variable still
    assert third.value is first.var


def test_carries_and_results_follow():
    init = ir.Var("init", TILE, U)
    carry, result = ir.IterArg("acc", TILE, init, U), ir.Var("out", TILE, U)
    loop = ir.ForStmt(
        scalar("i"), as_expr(0), as_expr(4), as_expr(1), [carry], ir.YieldStmt([carry], U), [result], U
    )
    load = assign(init, ir.Call(ir.Op("tile.load"), [], TILE, U))
    new_load, new_loop, use = Widened().rewrite(ir.SeqStmts([load, loop, evaluate(result)], U)).stmts
    assert new_loop.iter_args[0].initValue is new_load.var
    assert new_loop.body.value[0] is new_loop.iter_args[0]
    assert use.expr is new_loop.return_vars[0]
    assert new_loop.return_vars[0].type.shape[0].value == 32


def test_storage_that_is_shared_stays_shared():
    base = ir.Var("mem_vec_0", ir.PtrType(), U)
    memref = ir.MemRef(base, 0, 4096)
    stored = ir.TileType([16, 64], ir.DataType.FP32, memref, None, ir.MemorySpace.Vec)
    other = ir.TileType([8, 128], ir.DataType.FP32, memref, None, ir.MemorySpace.Vec)
    a, b = ir.Var("a", stored, U), ir.Var("b", other, U)
    body = ir.SeqStmts(
        [
            assign(base, ir.Call(ir.Op("tile.alloc"), [], ir.PtrType(), U)),
            assign(a, ir.Call(ir.Op("tile.load"), [], stored, U)),
            assign(b, ir.Call(ir.Op("tile.reshape"), [a], other, U)),
        ],
        U,
    )
    alloc, first, second = clone(body).stmts
    assert first.var.type.memref is second.var.type.memref
    assert first.var.type.memref.base_ is alloc.var is not base


class Versions(Rewriter):
    """Each definition of ``x`` binds a variable of its own: x_1, x_2, ..."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def definition(self, old, typed):
        self.count += 1
        return ir.Var(f"{old.name_hint}_{self.count}", typed.type, U)


def test_a_binding_that_changes_holds_from_there_on():
    """Also for an expression that was met before."""
    x = scalar("x")
    shared = ir.Add(x, as_expr(1), x.type.dtype, U)
    body = ir.SeqStmts([assign(x, shared), assign(x, shared), evaluate(shared)], U)
    one, two, three = Versions().rewrite(body).stmts
    assert one.value.left is x
    assert two.value.left is one.var
    assert three.expr.left is two.var


def versions(*body):
    """The statements of a body with versions, as lines."""
    return ir.python_print(Versions().rewrite(ir.SeqStmts(list(body), U))).splitlines()


def test_a_branch_does_not_read_what_the_other_has_bound():
    """Also for a name that the branch has met before, and in an expression that both share."""
    x, y = scalar("x"), scalar("y")
    shared = ir.Add(x, as_expr(1), x.type.dtype, U)
    inner = if_(ir.ConstBool(True, U), assign(x, as_expr(2)), assign(y, shared))
    body = [
        assign(x, as_expr(0)),
        if_(ir.ConstBool(True, U), seq(assign(x, as_expr(1)), inner), evaluate(shared)),
    ]
    first, branch = Versions().rewrite(ir.SeqStmts(body, U)).stmts
    second, nested = branch.then_body.stmts
    assert [stmt.var.name_hint for stmt in (first, second, nested.then_body)] == ["x_1", "x_2", "x_3"]
    assert nested.else_body.value.left is second.var
    assert branch.else_body.expr.left is first.var


def test_a_variable_from_outside_that_a_branch_binds_is_itself_in_the_other():
    x, y = scalar("x"), scalar("y")
    branch = Versions().rewrite(if_(ir.ConstBool(True, U), assign(x, as_expr(1)), assign(y, x)))
    assert branch.else_body.value is x


@pytest.mark.parametrize("other", [None, 2])
def test_what_differs_behind_the_branches_cannot_be_read(other):
    x = scalar("x")
    other = None if other is None else assign(x, as_expr(other))
    branch = if_(ir.ConstBool(True, U), assign(x, as_expr(1)), other)
    with pytest.raises(
        ValueError, match="'x' reads as one variable behind one branch of an if and as another"
    ):
        versions(assign(x, as_expr(0)), branch, evaluate(x))
    first, _, again, last = (
        Versions()
        .rewrite(ir.SeqStmts([assign(x, as_expr(0)), branch, assign(x, as_expr(3)), evaluate(x)], U))
        .stmts
    )
    assert last.expr is again.var is not first.var  # bound anew, it is known again


def test_both_branches_may_bind_what_is_read_behind_them_only_to_one_variable():
    x = scalar("x")
    branch = if_(ir.ConstBool(True, U), assign(x, as_expr(1)), assign(x, as_expr(2)))
    with pytest.raises(ValueError, match="'x' reads as one variable"):
        versions(branch, evaluate(x))
    new, read = clone(ir.SeqStmts([branch, evaluate(x)], U)).stmts
    assert new.then_body.var is new.else_body.var is read.expr is not x


def test_a_loop_has_no_version_of_its_own():
    x, i = scalar("x"), scalar("i")
    loop = for_loop(i, 2, assign(x, ir.Add(x, as_expr(1), x.type.dtype, U)))
    with pytest.raises(ValueError, match="'x' is bound before a loop and, to another variable, in it"):
        versions(assign(x, as_expr(0)), loop)
    inside = for_loop(i, 2, seq(assign(x, as_expr(1)), assign(x, x)))
    one, two = flat(Versions().rewrite(inside).body)
    assert two.value is one.var is not two.var


@pytest.mark.parametrize(
    ("hook", "becomes", "message"),
    [
        ("statement", 5, "Odd: AssignStmt becomes a statement, several, or None, not 5"),
        ("statement", [5], "Odd: AssignStmt becomes a statement, several, or None, not 5"),
        ("before", "x", "Odd: AssignStmt becomes a statement, several, or None, not 'x'"),
        ("definition", as_expr(1), "'x' is bound here: it becomes a Var, not a node of class ConstInt"),
        ("function", 5, "Odd: function 'f' becomes a function, several, or None, not 5"),
    ],
)
def test_a_hook_that_gives_something_else(hook, becomes, message):
    Odd = type("Odd", (Rewriter,), {hook: lambda self, *_: becomes})
    with pytest.raises(TypeError) as raised:
        Odd().rewrite(program(function("f", [], assign(scalar("x"), as_expr(1)))))
    assert str(raised.value) == message


def test_what_cannot_be_rewritten():
    with pytest.raises(TypeError, match="Rewriter rewrites a node, type, view or attribute map, not 5"):
        Rewriter().rewrite(5)


def test_substitution_takes_variables_and_expressions():
    x = scalar("x")
    with pytest.raises(TypeError, match="substitute takes expressions by variable, not .* by 'x'"):
        substitute(evaluate(x), {"x": as_expr(1)})
    with pytest.raises(TypeError, match="substitute takes expressions by variable, not 1 by"):
        substitute(evaluate(x), {x: 1})


def test_a_parameter_whose_type_names_another_follows_it():
    n = scalar("n")
    x = ir.Var("x", ir.TensorType([n, 4], ir.DataType.FP32), U)
    kernel = function("k", [x, n], evaluate(x))
    copy = clone(kernel)
    assert copy.params[0].type.shape[0] is copy.params[1]
    assert copy.params[1] is not n
    assert copy.body.stmts[0].expr is copy.params[0]


# Copies


def test_a_clone_binds_variables_of_its_own():
    x, y = scalar("x"), scalar("y")
    body = ir.SeqStmts([assign(x, y), assign(x, x), evaluate(x)], U)
    copy = clone(body, lambda var: f"{var.name_hint}_inline0")
    first, second, third = copy.stmts
    assert first.var is second.var is second.value is third.expr
    assert (first.var is x, first.var.name_hint) == (False, "x_inline0")
    assert first.value is y
    assert ir.structural_equal(copy, body, enable_auto_mapping=True)


def test_a_clone_has_the_sequences_of_the_original():
    inner = ir.SeqStmts([assign(scalar("x"), as_expr(1)), ir.SeqStmts([evaluate(as_expr(2))], U)], U)
    kernel = function("f", [], ir.SeqStmts([inner], U))
    assert ir.structural_equal(clone(kernel), kernel, enable_auto_mapping=True)


def test_a_clone_keeps_what_it_is_told_to():
    x, y = scalar("x"), scalar("y")
    first, second = clone(ir.SeqStmts([assign(x, y), assign(y, x)], U), keep=[x]).stmts
    assert first.var is x
    assert second.var is not y


def copied(node):
    functions = [clone(one, lambda var: f"{var.name_hint}_c") for one in node.functions.values()]
    return build(node, functions=functions)


@pytest.mark.parametrize("dump", DUMPS[::3], ids=str)
def test_a_program_of_clones_prints_and_reads_back(dump):
    node = ir.deserialize_from_file(str(dump.path))
    copies = copied(node)
    text = ir.python_print(copies)
    assert ir.structural_equal(copies, node, enable_auto_mapping=True)
    assert ir.python_print(pl.parse(text)) == text


@settings(max_examples=examples(15), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_a_random_program_of_clones_prints_and_reads_back(data):
    """Reading may put a scope around a region; it puts the same one around that of the copy."""
    node = passes.normalize_stmt_structure()(random_kernel(data))
    copies = copied(node)
    again = pl.parse(ir.python_print(copies))
    assert ir.structural_equal(copies, node, enable_auto_mapping=True)
    assert ir.structural_equal(again, pl.parse(ir.python_print(node)), enable_auto_mapping=True)
    assert ir.python_print(pl.parse(ir.python_print(again))) == ir.python_print(again)


# How deep


def test_nested_branches_do_not_recurse():
    x = scalar("x")
    body = assign(scalar("y"), ir.Add(x, as_expr(1), x.type.dtype, U))
    for _ in range(5_000):
        body = if_(ir.ConstBool(True, U), body)
    assert Rewriter().rewrite(body) is body
    (new,) = substitute(function("f", [], body), {x: as_expr(7)}).body.stmts
    for _ in range(5_000):
        new = new.then_body
    assert new.value.left.value == 7
    assert isinstance(clone(body), ir.IfStmt)


def test_a_long_function_and_a_deep_expression():
    x = scalar("x")
    statements = [assign(scalar(f"v{i}"), ir.Add(x, as_expr(i), x.type.dtype, U)) for i in range(100_000)]
    whole = program(function("f", [], as_body(statements, U)))
    assert Rewriter().rewrite(whole) is whole
    (new,) = substitute(whole["f"].body, {x: as_expr(5)}).stmts
    assert len(new.stmts) == 100_000
    assert new.stmts[-1].value.left.value == 5
    total = x
    for i in range(20_000):
        total = ir.Add(total, as_expr(i), x.type.dtype, U)
    left = substitute(total, {x: as_expr(5)})
    while isinstance(left, ir.Add):
        left = left.left
    assert left.value == 5


def test_parts_come_in_the_order_of_evaluation_with_what_holds_them():
    a, b, c = scalar("a"), scalar("b"), scalar("c")
    total = ir.Add(ir.Neg(a, a.type.dtype, U), b, a.type.dtype, U)
    seen = []

    class Looking(Rewriter):
        def part(self, owner, value):
            seen.append((type(owner).__name__, value))
            return c if value is b else value

    got = Looking().rewrite(evaluate(total))
    assert [(owner, value) for owner, value in seen if isinstance(value, ir.Var)] == [("Neg", a), ("Add", b)]
    assert seen[-1] == ("EvalStmt", got.expr)
    assert got.expr.right is c
