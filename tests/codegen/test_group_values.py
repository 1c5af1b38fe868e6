"""Whose value a group call has: that of the member whose call the caller binds."""

import pytest
import torch
from codegen.builders import (
    TASK,
    Acc,
    Orchestration,
    U,
    assign,
    binary,
    call,
    evaluate,
    function,
    load,
    numbers,
    op,
    program,
    program_part,
    ret,
    script,
    seq,
    store,
    submit,
    tensor,
    tile,
)
from codegen.builders import run as namespace_of
from codegen.kernels import aic, aiv, group_of, out, pop_from_aic, push_to_aiv, x

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.debug import torch_codegen

side = tensor("side", [4, 8])
both = (x, out, side)
res, other = tensor("res", [4, 8]), tensor("other", [4, 8])


def cube(returns):
    """Store x twice as large, and send x to the vector core."""
    t = tile("t", [4, 8], memory=Acc)
    stored = store(binary("tile.add", t, t), [0, 0], out)
    return aic(
        assign(t, load(x, [0, 0], [4, 8], memory=Acc)),
        push_to_aiv(t),
        ret(stored) if returns else evaluate(stored),
        params=both,
        returns=[out.type] if returns else [],
    )


def vector(returns):
    """Store minus x elsewhere."""
    u = tile("u", [4, 8])
    stored = store(op("tile.neg", [u], u.type), [0, 0], side)
    return aiv(
        assign(u, pop_from_aic([4, 8])),
        ret(stored) if returns else evaluate(stored),
        params=both,
        returns=[side.type] if returns else [],
    )


def run(*functions, **options):
    """The value of main, and both outputs."""
    targets = torch.zeros(4, 8), torch.zeros(4, 8)
    found = script(*functions, **options)["main"](numbers(4, 8), *targets)
    assert torch.equal(targets[0], 2 * numbers(4, 8))
    assert torch.equal(targets[1], -numbers(4, 8))
    return found, *targets


def entry(*body):
    return function("main", both, *body, type=Orchestration)


def calling(callee="k"):
    return entry(ret(call(callee, both, out.type)))


to_cube, to_vector = call("k_aic", both, out.type), call("k_aiv", both, side.type)
SILENT_CUBE, SILENT_VECTOR = call("k_aic", both), call("k_aiv", both)
ORDERS = [False, True]


def in_order(first, second, swapped):
    return [second, first] if swapped else [first, second]


@pytest.mark.parametrize("swapped", ORDERS)
@pytest.mark.parametrize("check_shapes", [False, True])
def test_the_cube_s_value(swapped, check_shapes):
    """The vector member returns nothing; its call stands before or behind."""
    body = in_order(assign(res, to_cube), evaluate(SILENT_VECTOR), swapped)
    k = group_of(*body, ret(res), params=both)
    found, target, _ = run(cube(True), vector(False), k, calling(), check_shapes=check_shapes)
    assert found is target


@pytest.mark.parametrize("swapped", ORDERS)
def test_the_cube_s_value_where_both_return(swapped):
    body = in_order(assign(res, to_cube), evaluate(to_vector), swapped)
    found, target, _ = run(cube(True), vector(True), group_of(*body, ret(res), params=both), calling())
    assert found is target


@pytest.mark.parametrize("swapped", ORDERS)
def test_the_vector_s_value_where_both_return(swapped):
    body = in_order(evaluate(to_cube), assign(res, to_vector), swapped)
    found, _, target = run(cube(True), vector(True), group_of(*body, ret(res), params=both), calling())
    assert found is target


@pytest.mark.parametrize("swapped", ORDERS)
def test_the_values_of_both(swapped):
    body = in_order(assign(res, to_cube), assign(other, to_vector), swapped)
    k = group_of(*body, ret(other, res), params=both, returns=[side.type, out.type])
    pair = ir.Var("pair", ir.TupleType([side.type, out.type]), U)
    whole = [
        assign(pair, call("k", both, pair.type)),
        ret(ir.TupleGetItemExpr(pair, 0, U), ir.TupleGetItemExpr(pair, 1, U)),
    ]
    found, first, second = run(cube(True), vector(True), k, entry(*whole))
    assert found[0] is second
    assert found[1] is first


def test_the_later_call_as_what_is_returned():
    k = group_of(evaluate(SILENT_VECTOR), ret(to_cube), params=both)
    found, target, _ = run(cube(True), vector(False), k, calling())
    assert found is target
    k = group_of(assign(res, to_cube), ret(res, to_vector), params=both, returns=[out.type, side.type])
    pair = ir.Var("pair", ir.TupleType([out.type, side.type]), U)
    whole = [assign(pair, call("k", both, pair.type)), ret(ir.TupleGetItemExpr(pair, 1, U))]
    found, _, target = run(cube(True), vector(True), k, entry(*whole))
    assert found is target


def test_a_parameter_where_the_cube_alone_returns():
    body = [assign(res, to_cube), evaluate(SILENT_VECTOR), ret(out)]
    found, target, _ = run(cube(True), vector(False), group_of(*body, params=both), calling())
    assert found is target


def test_a_group_that_is_paired_by_its_name():
    k = group_of(ret(out), params=both)
    found, target, _ = run(cube(True), vector(False), k, calling())
    assert found is target


def test_a_group_that_gives_no_value():
    body = [evaluate(SILENT_CUBE), evaluate(SILENT_VECTOR)]
    k = group_of(*body, params=both, returns=[])
    found, *_ = run(cube(False), vector(False), k, entry(evaluate(call("k", both))))
    assert found is None


@pytest.mark.parametrize("swapped", ORDERS)
def test_a_cluster_scope(swapped):
    body = in_order(assign(res, to_cube), evaluate(SILENT_VECTOR), swapped)
    found, target, _ = run(cube(True), vector(False), entry(ir.ClusterScopeStmt("", seq(*body), U), ret(res)))
    assert found is target


@pytest.mark.parametrize("swapped", ORDERS)
def test_both_values_of_a_cluster_scope(swapped):
    body = in_order(assign(res, to_cube), assign(other, to_vector), swapped)
    scope = ir.ClusterScopeStmt("", seq(*body), U)
    found, first, second = run(cube(True), vector(True), entry(scope, ret(res, other)))
    assert found[0] is first
    assert found[1] is second


@pytest.mark.parametrize("swapped", ORDERS)
def test_submits(swapped):
    """Each value has its own task id behind it."""
    kinds = [ir.TupleType([out.type, TASK]), ir.TupleType([side.type, TASK])]
    first, second = (ir.Var(name, kind, U) for name, kind in zip(("first", "second"), kinds, strict=True))
    body = in_order(
        assign(first, submit("k_aic", both, first.type)),
        assign(second, submit("k_aiv", both, second.type)),
        swapped,
    )
    values = [ir.TupleGetItemExpr(var, index, U) for var in (first, second) for index in (0, 1)]
    scope = ir.ClusterScopeStmt("", seq(*body), U)
    found, one, two = run(cube(True), vector(True), entry(scope, ret(*values)))
    assert found[0] is one
    assert found[2] is two
    assert (found[1], found[3]) == (0, 0)


def test_blocks():
    body = [assign(res, to_cube), evaluate(SILENT_VECTOR), ret(res)]
    k = group_of(*body, params=both)
    launch = entry(assign(res, call("k", both, out.type, core_num=2)), ret(res))
    found, target, _ = run(cube(True), vector(False), k, launch)
    assert found is target


def test_the_text_asks_for_what_is_bound():
    """The usual group, whose value is the vector member's, or the cube's alone, asks for nothing."""
    usual = group_of(evaluate(to_cube), assign(res, to_vector), ret(res), params=both)
    assert "value=" not in last_lines(cube(True), vector(True), usual)
    alone = group_of(assign(res, to_cube), evaluate(SILENT_VECTOR), ret(res), params=both)
    text = last_lines(cube(True), vector(False), alone)
    assert '    return _run_group_call("k", x, out, side)\n' in text
    chosen = group_of(assign(res, to_cube), evaluate(to_vector), ret(res), params=both)
    text = last_lines(cube(True), vector(True), chosen)
    assert '_run_mixed_kernels("k", _GROUP_META["k"], x, out, side, value="aic")' in text


def last_lines(*functions):
    text = torch_codegen(program(*functions, calling()))
    rest = program_part(text[text.index("def k(") :])
    return rest.partition("\n\n\ndef ")[0] + "\n"


def test_a_program_in_the_language():
    """As users write it: the group returns the cube's store, the vector kernel returns nothing."""
    node = pl.parse(
        """
import pypto.language as pl

@pl.program
class Squares:
    @pl.function(type=pl.FunctionType.AIC)
    def square(x: pl.Tensor[[16, 16], pl.FP32], out: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
               low: pl.Out[pl.Tensor[[16, 16], pl.FP32]]) -> pl.Tensor[[16, 16], pl.FP32]:
        m = pl.load(x, [0, 0], [16, 16], target_memory=pl.Mem.Mat)
        left = pl.move(m, target_memory=pl.Mem.Left)
        right = pl.move(m, target_memory=pl.Mem.Right)
        c = pl.matmul(left, right)
        pl.tpush_to_aiv(c, split=0)
        out = pl.store(c, [0, 0], out)
        return out

    @pl.function(type=pl.FunctionType.AIV)
    def lower(x: pl.Tensor[[16, 16], pl.FP32], out: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
              low: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
        c: pl.Tile[[16, 16], pl.FP32, pl.Mem.Vec] = pl.tpop_from_aic(shape=[16, 16], dtype=pl.FP32, split=0)
        low = pl.store(pl.minimums(c, 0.0), [0, 0], low)
        pl.tfree_to_aic(c)

    @pl.function(type=pl.FunctionType.Group)
    def both(self, x: pl.Tensor[[16, 16], pl.FP32], out: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
             low: pl.Out[pl.Tensor[[16, 16], pl.FP32]]) -> pl.Tensor[[16, 16], pl.FP32]:
        res = self.square(x, out, low)
        self.lower(x, out, low)
        return res

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[16, 16], pl.FP32], out: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
             low: pl.Out[pl.Tensor[[16, 16], pl.FP32]]) -> pl.Tensor[[16, 16], pl.FP32]:
        res = self.both(x, out, low)
        return res
"""
    )
    assert isinstance(node, ir.Program)
    namespace = {"__name__": "squares"}
    exec(torch_codegen(node, check_shapes=True), namespace)
    source = torch.randn(16, 16, generator=torch.Generator().manual_seed(1))
    target, low = torch.zeros(16, 16), torch.zeros(16, 16)
    assert namespace["main"](source, target, low) is target
    torch.testing.assert_close(target, source @ source)
    torch.testing.assert_close(low, (source @ source).clamp(max=0))


RETURNING = """
import pypto.language as pl

@pl.program
class p:
    @pl.function(type=pl.FunctionType.AIC)
    def k_aic(a: pl.Out[pl.Tensor[[4, 8], pl.FP32]], b: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
        pl.system.bar_m()

    @pl.function(type=pl.FunctionType.AIV)
    def k_aiv(a: pl.Out[pl.Tensor[[4, 8], pl.FP32]], b: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
        ones = pl.tile.full([4, 8], dtype=pl.FP32, value=1.0)
        pl.tile.store(ones, [0, 0], a)
        twos = pl.tile.full([4, 8], dtype=pl.FP32, value=2.0)
        pl.tile.store(twos, [0, 0], b)
        return b, a

    @pl.function(type=pl.FunctionType.Group)
    def k(a: pl.Out[pl.Tensor[[4, 8], pl.FP32]], b: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
        self.k_aic(a, b)
        self.k_aiv(a, b)
        return a, b

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Out[pl.Tensor[[4, 8], pl.FP32]], b: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
        a, b = self.k(a, b)
        return a, b
"""


def test_a_group_that_returns_parameters_in_another_order_than_its_member_keeps_its_own():
    main = namespace_of(torch_codegen(pl.parse(RETURNING)))["main"]
    first, second = main(torch.zeros(4, 8), torch.zeros(4, 8))
    assert (first.unique().item(), second.unique().item()) == (1.0, 2.0)
