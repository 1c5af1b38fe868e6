"""Groups: which calls run concurrently, in every place where a group can be called."""

import re

import pytest
import torch
from codegen.builders import (
    TASK,
    Acc,
    InOut,
    Mat,
    Out,
    Spmd,
    U,
    as_expr,
    assign,
    binary,
    call,
    carry,
    evaluate,
    for_loop,
    function,
    load,
    numbers,
    op,
    program,
    ret,
    scalar,
    script,
    seq,
    store,
    submit,
    tensor,
    tile,
    yields,
)
from codegen.kernels import (
    ROWS,
    aic,
    aiv,
    block_index,
    cube,
    group,
    group_of,
    main,
    meta_of,
    out,
    outcome,
    pop_from_aic,
    pop_from_aiv,
    push_to_aic,
    push_to_aiv,
    vector,
    x,
)

from pypto_tmpl import ir
from pypto_tmpl.codegen.unsupported import UnsupportedProgramError
from pypto_tmpl.debug import torch_codegen

i, n = scalar("i"), scalar("n")

# Pairing and texts


def test_metadata_and_call_sites():
    text = torch_codegen(program(cube(), vector(dual_aiv_dispatch=True), group(), main()))
    assert (
        "_GROUP_META.update(\n"
        "    {\n"
        '        "k": {\n'
        '            "aic": "k_aic",\n'
        '            "aiv": "k_aiv",\n'
        '            "split": 0,\n'
        '            "dual_aiv_dispatch": True,\n'
        '            "lane1_writes": False,\n'
        "        },\n"
        "    }\n"
        ")\n"
    ) in text
    assert text.count("_GROUP_META.update(") == 1
    checked = '_compare_shapes({"x": (x.shape, [4, 8]), "out": (out.shape, [4, 8])})\n'
    call = '    return _run_group_call("k", x, out)\n'
    parameters = "In: x, out."
    assert f'def main(x, out):\n    """Opaque function. {parameters}"""\n    {checked}{call}' in text
    kind = "Group of kernels (cube and vector core)."
    assert f'def k(x, out):\n    """{kind} {parameters}"""\n    return _run_group_call("k", x, out)\n' in text


def test_members_are_the_callees_whatever_their_names():
    functions = [cube("north"), vector("south"), group(aic="north", aiv="south"), main()]
    # Functions that have the conventional names, but that the group does not call.
    decoys = [
        aic(),
        aiv(ret(out)),
    ]
    meta = meta_of(*functions, *decoys)
    assert (meta["aic"], meta["aiv"]) == ("north", "south")
    assert torch.equal(outcome(*functions, *decoys), numbers(ROWS, 8))


def test_names_pair_a_group_that_calls_nothing():
    empty = group_of(ret(out))
    meta = meta_of(cube(), vector(), empty, main())
    assert (meta["aic"], meta["aiv"]) == ("k_aic", "k_aiv")
    assert torch.equal(outcome(cube(), vector(), empty, main()), numbers(ROWS, 8))


def test_a_group_without_members_is_a_function():
    empty = group_of(ret(out))
    text = torch_codegen(program(empty, main()))
    assert "_GROUP_META" not in text
    assert "    return k(x, out)\n" in text


def test_a_program_without_groups_carries_no_metadata():
    assert "_GROUP_META" not in torch_codegen(function("f", [n], ret(n)))


@pytest.mark.parametrize("form", ["statement, parameter", "result", "direct", "result, parameter"])
def test_forms_of_a_plain_group(form):
    result = tensor("result", [4, 8])
    first, second = evaluate(call("k_aic", [x, out])), call("k_aiv", [x, out], out.type)
    body = {
        "statement, parameter": [first, evaluate(second), ret(out)],
        "result": [first, assign(result, second), ret(result)],
        "direct": [first, ret(second)],
        "result, parameter": [first, assign(result, second), ret(out)],
    }[form]
    k = group_of(*body)
    assert '_run_group_call("k", x, out)' in torch_codegen(program(cube(), vector(), k, main()))
    assert torch.equal(outcome(cube(), vector(), k, main()), numbers(ROWS, 8))


# Groups whose body does more than call its members


def test_arguments_in_another_order():
    k = group_of(evaluate(call("k_aic", [out, x])), ret(call("k_aiv", [x, out], out.type)))
    cube_side = cube(params=(out, x))
    text = torch_codegen(program(cube_side, vector(), k, main()))
    assert '_run_mixed_kernels("k", _GROUP_META["k"], out, x, aiv_args=(x, out))' in text
    assert "return k(x, out)" in text
    assert torch.equal(outcome(cube_side, vector(), k, main()), numbers(ROWS, 8))


def test_the_vector_call_may_stand_first():
    """The pair's value is the vector member's, wherever its call stands."""
    result, cube_value = tensor("result", [4, 8]), tensor("cube_value", [4, 8])
    for last in (evaluate(call("k_aic", [x, out])), assign(cube_value, call("k_aic", [x, out], out.type))):
        k = group_of(assign(result, call("k_aiv", [x, out], out.type)), last, ret(result), params=[x, out, n])
        entry = function("main", [x, out], ret(call("k", [x, out, 1], out.type)))
        assert torch.equal(outcome(cube(), vector(), k, entry), numbers(ROWS, 8))


def test_the_cube_s_value_is_not_the_group_s():
    value = tensor("value", [4, 8])
    k = group_of(
        assign(value, call("k_aic", [x, out], out.type)),
        evaluate(call("k_aiv", [x, out])),
        ret(value),
        params=[x, out, n],
    )
    with pytest.raises(
        UnsupportedProgramError, match="variable 'value' is used, but nothing before binds it"
    ):
        torch_codegen(program(cube(), vector(), k))


def test_scalar_statements_around_the_pair():
    row = scalar("row")
    t, u = tile("t", [1, 8], memory=Acc), tile("u", [1, 8])
    cube_side = aic(assign(t, load(x, [row, 0], [1, 8], memory=Acc)), push_to_aiv(t), params=[x, row])
    vector_side = aiv(assign(u, pop_from_aic([1, 8])), ret(store(u, [row, 0], out)), params=[out, row])
    a, b = scalar("a"), scalar("b")
    k = group_of(
        assign(a, as_expr(1)),
        evaluate(call("k_aic", [x, a])),
        assign(b, a + 2),
        ret(call("k_aiv", [out, b], out.type)),
    )
    target = outcome(cube_side, vector_side, k, main())
    assert torch.equal(target[3], numbers(ROWS, 8)[1])
    assert torch.equal(target[:3], torch.full((3, 8), -1.0))


def test_a_loop_around_the_pair():
    row = scalar("row")
    t, u = tile("t", [1, 8], memory=Acc), tile("u", [1, 8])
    cube_side = aic(assign(t, load(x, [row, 0], [1, 8], memory=Acc)), push_to_aiv(t), params=[x, row])
    vector_side = aiv(assign(u, pop_from_aic([1, 8])), ret(store(u, [row, 0], out)), params=[out, row])
    a, r, o = carry("a", out), tensor("r", [4, 8]), tensor("o", [4, 8])
    loop = for_loop(
        i,
        3,
        evaluate(call("k_aic", [x, i])),
        assign(o, call("k_aiv", [a, i], out.type)),
        yields(o),
        carries=[a],
        results=[r],
    )
    k = group_of(loop, ret(r))
    target = outcome(cube_side, vector_side, k, main())
    assert torch.equal(target[:3], numbers(ROWS, 8)[:3])
    assert torch.equal(target[3], torch.full((8,), -1.0))


def test_launch_data_of_one_member_is_refused():
    k = group_of(evaluate(call("k_aic", [x, out], core_num=2)), ret(call("k_aiv", [x, out], out.type)))
    k = group_of(*k.body.stmts, params=[x, out, n])
    with pytest.raises(
        UnsupportedProgramError, match="attribute 'core_num' of a call that runs in group 'k'"
    ):
        torch_codegen(program(cube(), vector(), k))


# Where groups are called


def test_a_group_in_a_loop():
    """What one call leaves in a pipe is no other call's."""
    t, u = tile("t", [ROWS, 8], memory=Acc), tile("u", [ROWS, 8])
    cube_side = aic(assign(t, load(x, [0, 0], [ROWS, 8], memory=Acc)), push_to_aiv(t), push_to_aiv(t))
    vector_side = aiv(
        assign(u, pop_from_aic([ROWS, 8])), ret(op("tile.store", [u, [0, 0], out], out.type, atomic=1))
    )
    loop = for_loop(i, 3, evaluate(call("k", [x, out], out.type)))
    entry = function("main", [x, out], loop, ret(out))
    with pytest.warns(RuntimeWarning, match="group 'k' ended with tiles left in its pipes"):
        assert torch.equal(outcome(cube_side, vector_side, group(), entry), 3 * numbers(ROWS, 8) - 1)


def test_a_group_with_blocks():
    block, t, u = scalar("block"), tile("t", [1, 8], memory=Acc), tile("u", [1, 8])
    index = assign(block, block_index())
    cube_side = aic(index, assign(t, load(x, [block, 0], [1, 8], memory=Acc)), push_to_aiv(t))
    vector_side = aiv(index, assign(u, pop_from_aic([1, 8])), ret(store(u, [block, 0], out)))
    entry = main(core_num=3)
    assert '_run_spmd(3, _run_group_call, "k", x, out)' in torch_codegen(
        program(cube_side, vector_side, group(), entry)
    )
    expected = torch.cat([numbers(ROWS, 8)[:3], torch.full((1, 8), -1.0)])
    assert torch.equal(outcome(cube_side, vector_side, group(), entry), expected)
    scope = ir.SpmdScopeStmt(3, body=evaluate(call("k", [x, out], out.type)), span=U)
    assert torch.equal(
        outcome(cube_side, vector_side, group(), function("main", [x, out], scope, ret(out))), expected
    )
    wrapper = function("wrapper", [x, out], ret(call("k", [x, out], out.type)), type=Spmd, returns=[out.type])
    assert torch.equal(
        outcome(cube_side, vector_side, group(), wrapper, main(callee="wrapper", core_num=3)), expected
    )


def test_a_group_by_submit():
    result = ir.Var("result", ir.TupleType([out.type, TASK]), U)
    entry = function(
        "main",
        [x, out],
        assign(result, submit("k", [x, out], result.type)),
        ret(ir.TupleGetItemExpr(result, 0, U)),
    )
    assert '(_run_group_call("k", x, out), _TASK_DONE)' in torch_codegen(
        program(cube(), vector(), group(), entry)
    )
    assert torch.equal(outcome(cube(), vector(), group(), entry), numbers(ROWS, 8))


@pytest.mark.parametrize("flag", [0, 1])
def test_a_predicated_group(flag):
    k = group_of(*group().body.stmts, params=[x, (out, Out)])
    entry = function("main", [x, out, n], ret(call("k", [x, out], out.type, predicate=ir.gt(n, 0))))
    target = torch.full((ROWS, 8), -1.0)
    assert script(cube(), vector(), k, entry)["main"](numbers(ROWS, 8), target, flag) is target
    assert torch.equal(target, numbers(ROWS, 8) if flag else torch.full((ROWS, 8), -1.0))


def test_a_round_trip_needs_both_members_at_once():
    """Each waits for the other: run one after the other, the first would wait for ever."""
    t, u = tile("t", [ROWS, 8]), tile("u", [ROWS, 8], memory=Mat)
    v, w = tile("v", [ROWS, 8]), tile("w", [ROWS, 8], memory=Mat)
    cube_side = aic(assign(u, pop_from_aiv([ROWS, 8])), assign(w, binary("tile.add", u, u)), push_to_aiv(w))
    vector_side = aiv(
        assign(t, load(x, [0, 0], [ROWS, 8])),
        push_to_aic(t),
        assign(v, pop_from_aic([ROWS, 8])),
        ret(store(v, [0, 0], out)),
    )
    assert torch.equal(outcome(cube_side, vector_side, group(), main()), 2 * numbers(ROWS, 8))
    # The same as a cluster of an orchestration function that is not outlined yet, and twice.
    cluster = ir.ClusterScopeStmt(
        "", seq(evaluate(call("k_aic", [x, out])), assign(out, call("k_aiv", [x, out], out.type))), U
    )
    entry = function("main", [x, out], cluster, ir.RuntimeScopeStmt(body=cluster, span=U), ret(out))
    text = torch_codegen(program(cube_side, vector_side, entry))
    assert re.findall(r"out = (_run_mixed_kernels\(.*\))", text) == [
        '_run_mixed_kernels("main_cluster", _GROUP_META["main_cluster"], x, out)',
        '_run_mixed_kernels("main_cluster_1", _GROUP_META["main_cluster_1"], x, out)',
    ]
    assert torch.equal(outcome(cube_side, vector_side, entry), 2 * numbers(ROWS, 8))


@pytest.mark.parametrize("vector_first", [False, True])
@pytest.mark.parametrize("cube_returns", [False, True])
def test_submits_of_a_cluster_run_at_once(vector_first, cube_returns):
    """Each task has its id; the vector member's results are the pair's."""
    types = [out.type] if cube_returns else []
    u, v = tile("u", [ROWS, 8], memory=Mat), tile("v", [ROWS, 8])
    cube_side = aic(
        assign(u, pop_from_aiv([ROWS, 8])),
        push_to_aiv(binary("tile.add", u, u)),
        *([ret(out)] if cube_returns else []),
        params=[x, (out, InOut)],
        returns=types,
    )
    t = tile("t", [ROWS, 8])
    vector_side = aiv(
        assign(t, load(x, [0, 0], [ROWS, 8])),
        push_to_aic(t),
        assign(v, pop_from_aic([ROWS, 8])),
        ret(store(v, [0, 0], out)),
    )
    first, second = (
        ir.Var(name, ir.TupleType([*more, TASK]), U) for name, more in (("a", types), ("b", [out.type]))
    )
    if not cube_returns:
        first = ir.Var("a", TASK, U)
    launches = [
        assign(first, submit("k_aic", [x, out], first.type)),
        assign(second, submit("k_aiv", [x, out], second.type)),
    ]
    cluster = ir.ClusterScopeStmt("", seq(*reversed(launches) if vector_first else launches), U)
    cube_task = ir.TupleGetItemExpr(first, 1, U) if cube_returns else first
    entry = function(
        "main",
        [x, out],
        cluster,
        ret(ir.TupleGetItemExpr(second, 0, U), cube_task, ir.TupleGetItemExpr(second, 1, U)),
    )
    target = torch.zeros(ROWS, 8)
    found = script(cube_side, vector_side, entry)["main"](numbers(ROWS, 8), target)
    assert found[0] is target
    assert found[1:] == (0, 0)
    assert torch.equal(target, 2 * numbers(ROWS, 8))


def test_a_cluster_of_blocks():
    block = scalar("block")
    index = assign(block, block_index())
    t, u = tile("t", [1, 8], memory=Acc), tile("u", [1, 8])
    cube_side = aic(index, assign(t, load(x, [block, 0], [1, 8], memory=Acc)), push_to_aiv(t))
    vector_side = aiv(index, assign(u, pop_from_aic([1, 8])), ret(store(u, [block, 0], out)))
    body = seq(evaluate(call("k_aic", [x, out])), evaluate(call("k_aiv", [x, out], out.type)))
    scope = ir.ClusterScopeStmt("both", ir.SpmdScopeStmt(3, body=body, span=U), U)
    expected = torch.cat([numbers(ROWS, 8)[:3], torch.full((1, 8), -1.0)])
    assert torch.equal(outcome(cube_side, vector_side, function("main", [x, out], scope, ret(out))), expected)
