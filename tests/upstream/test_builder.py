"""IRBuilder: what is built is, node by node, what the constructors make and the language reads."""

import pytest

import pypto_tmpl.language as pl
from pypto_tmpl import ir

INDEX = ir.ScalarType(ir.DataType.INDEX)
TENSOR = ir.TensorType([16, 64], ir.DataType.FP32)
SUM = """
import pypto.language as pl

@pl.program
class sums:
    @pl.function
    def total(self, n: pl.Scalar[pl.INDEX]) -> pl.Scalar[pl.INDEX]:
        start: pl.Scalar[pl.INDEX] = n * 2
        for i, (acc,) in pl.range(0, n, 1, init_values=(start,)):
            nxt: pl.Scalar[pl.INDEX] = acc + i
            out = pl.yield_(nxt)
        return out
"""


def test_a_loop_with_a_carry() -> None:
    ib = ir.IRBuilder()
    i = ib.var("i", INDEX)
    with ib.program("sums") as p:
        with ib.function("total") as f:
            n = f.param("n", INDEX)
            f.return_type(INDEX)
            start = ib.let("start", n * 2)
            with ib.for_loop(i, 0, n, 1) as loop:
                acc = loop.iter_arg("acc", start)
                loop.return_var("out")
                assert ib.in_loop() and ib.in_function() and ib.in_program() and not ib.in_if()
                ib.emit(ir.YieldStmt([ib.let("nxt", acc + i)], ir.Span.unknown()))
            ib.return_stmt(loop.output())
        assert p.add_function(f.get_result()) == ir.GlobalVar("total")
    ir.assert_structural_equal(p.get_result(), pl.parse(SUM))
    assert not (ib.in_loop() or ib.in_function() or ib.in_program())


def test_the_same_by_beginnings_and_ends() -> None:
    ib = ir.IRBuilder()
    ib.begin_program("sums")
    assert ib.declare_function("total") == ib.get_global_var("total")
    ib.begin_function("total")
    n = ib.func_arg("n", INDEX)
    ib.return_type(INDEX)
    start = ib.let("start", n * 2)
    i = ib.var("i", INDEX)
    ib.begin_for_loop(i, 0, n)
    acc = ir.IterArg("acc", INDEX, start, ir.Span.unknown())
    ib.add_iter_arg(acc)
    ib.add_return_var(ib.var("out", INDEX))
    ib.emit(ir.YieldStmt([ib.let("nxt", acc + i)], ir.Span.unknown()))
    loop = ib.end_for_loop()
    ib.return_(loop.return_vars[0])
    ib.add_function(ib.end_function())
    assert ib.get_function_return_types(ir.GlobalVar("total")) == [INDEX]
    ir.assert_structural_equal(ib.end_program(), pl.parse(SUM))


def test_branches_whiles_and_scopes() -> None:
    ib = ir.IRBuilder()
    with ib.function("f", type=ir.FunctionType.Orchestration, attrs={"auto_scope": False}) as f:
        n = f.param("n", INDEX)
        x = f.param("x", TENSOR, direction=ir.ParamDirection.InOut)
        ib.add_function_attrs({"marked": True})
        with ib.if_stmt(n > 3) as branch:
            ib.emit(ir.YieldStmt([n], ir.Span.unknown()))
            branch.else_()
            ib.emit(ir.YieldStmt([n + 1], ir.Span.unknown()))
            least = branch.return_var("least", INDEX)
        with ib.while_loop() as loop:
            at = loop.iter_arg("at", least)
            loop.set_condition(at < 9)
            loop.return_var("end")
            ib.emit(ir.YieldStmt([at + 1], ir.Span.unknown()))
        with ib.scope(ir.ScopeKind.Hierarchy, level=ir.Level.CORE_GROUP, name_hint="work"):
            ib.push_pending_leading_comments(["first"])
            ib.push_pending_leading_comments(["second"])
            ib.eval_stmt(x)
            ib.inline_stmt("pass")
        ib.return_stmt()
    found = f.get_result()
    branch_stmt, loop_stmt, scope, _ = found.body.stmts
    assert found.attrs == {"auto_scope": False, "marked": True}
    assert found.param_directions == (ir.ParamDirection.In, ir.ParamDirection.InOut)
    assert branch_stmt.return_vars == (least,) and branch_stmt.else_body is not None
    assert loop_stmt.iter_args == (at,) and isinstance(loop_stmt.condition, ir.Lt)
    assert (scope.level, scope.name_hint) == (ir.Level.CORE_GROUP, "work")
    assert scope.body.stmts[0].leading_comments == ("first", "second")


def test_an_error_forgets_its_block() -> None:
    ib = ir.IRBuilder()
    with pytest.raises(LookupError), ib.function("f"), ib.if_stmt(ir.ConstBool(True, ir.Span.unknown())):
        raise LookupError
    assert not ib.in_function()
    with ib.function("g") as g:
        ib.return_stmt()
    assert g.get_result().name == "g"


def test_what_does_not_fit_is_refused() -> None:
    ib = ir.IRBuilder()
    with pytest.raises(ValueError, match="this belongs in a for loop, and nothing was begun last"):
        ib.end_for_loop()
    with pytest.raises(ValueError, match="this belongs in a function, and none was begun"):
        ib.return_type(INDEX)
    ib.begin_program("p")
    with pytest.raises(ValueError, match="a statement stands in a function"):
        ib.return_stmt()
    ib.declare_function("f")
    with pytest.raises(ValueError, match="declared and never added: f"):
        ib.end_program()
    ib.begin_function("f")
    with pytest.raises(ValueError, match="begins inside of another one"):
        ib.begin_function("g")
    ib.begin_while_loop()
    with pytest.raises(ValueError, match="has no condition"):
        ib.end_while_loop()


def test_types() -> None:
    ib = ir.IRBuilder()
    ref = ib.memref(ir.MemorySpace.Vec, 0, 4096)
    tile = ib.tile_type([16, 64], ir.DataType.FP32, ref, ib.tile_view([8, 64]), ir.MemorySpace.Vec)
    assert tile.memref is ref and [e.value for e in tile.tile_view.valid_shape] == [8, 64]
    view = ib.tensor_view(layout=ir.TensorLayout.DN)
    assert ib.tensor_type([4], ir.DataType.BF16, None, view).tensor_view.layout is ir.TensorLayout.DN
    assert len(ib.make_tuple([1, 2]).elements) == 2
