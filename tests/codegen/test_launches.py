"""Calls and submits of functions: blocks, conditions, results, outputs that are left out."""

import pytest
import torch
from codegen.builders import (
    AIV,
    TASK,
    InOut,
    Orchestration,
    Out,
    Spmd,
    U,
    as_expr,
    assign,
    call,
    evaluate,
    function,
    load,
    numbers,
    op,
    program,
    ret,
    scalar,
    script,
    store,
    submit,
    tensor,
    tile,
)
from codegen.kernels import note_block

from pypto_tmpl import ir
from pypto_tmpl.codegen.unsupported import UnsupportedProgramError
from pypto_tmpl.debug import torch_codegen

i, n = scalar("i"), scalar("n")
x, out = tensor("x", [4, 8]), tensor("out", [4, 8])


def problems(*functions: ir.Function) -> list[str]:
    with pytest.raises(UnsupportedProgramError) as caught:
        torch_codegen(program(*functions))
    return [item.what for item in caught.value.found]


# Blocks


@pytest.mark.parametrize("blocks", [0, 1, 4])
def test_a_call_with_a_block_count(blocks):
    kernel = function("kernel", [out], *note_block(out), ret(out), type=AIV, returns=[out.type])
    main = function("main", [out, n], ret(call("kernel", [out], out.type, core_num=n)))
    target = torch.zeros(4, 8)
    script(kernel, main)["main"](target, blocks)
    assert target[:, 0].tolist() == [10.0 * k + 1 if k < blocks else 0.0 for k in range(4)]


def test_an_spmd_function():
    kernel = function("kernel", [out], *note_block(out), ret(out), type=AIV, returns=[out.type])
    wrapper = function("wrapper", [out], ret(call("kernel", [out], out.type)), type=Spmd, returns=[out.type])
    main = function("main", [out], ret(call("wrapper", [out], out.type, core_num=4)), type=Orchestration)
    target = torch.zeros(4, 8)
    assert script(kernel, wrapper, main)["main"](target) is target
    assert target[:, 0].tolist() == [1.0, 11.0, 21.0, 31.0]


def test_an_spmd_function_that_states_its_block_count_itself():
    blocks = scalar("blocks")
    for core_num, params, args in [(as_expr(3), [out], [out]), (blocks, [out, blocks], [out, n])]:
        wrapper = function(
            "wrapper", params, *note_block(out), ret(out), type=Spmd, returns=[out.type], core_num=core_num
        )
        main = function("main", [out, n], ret(call("wrapper", args, out.type)))
        target = torch.zeros(4, 8)
        script(wrapper, main)["main"](target, 3)
        assert target[:, 0].tolist() == [1.0, 11.0, 21.0, 0.0]


# Conditions of calls


def copying_kernel(direction=Out, returns=True):
    t = tile("t", [4, 8])
    body = [
        assign(t, load(x, [0, 0], [4, 8])),
        assign(out, store(t, [0, 0], out)),
        *([ret(out)] if returns else []),
    ]
    return function("kernel", [x, (out, direction)], *body, type=AIV, returns=[out.type] if returns else [])


@pytest.mark.parametrize("direction", [Out, InOut])
@pytest.mark.parametrize("returns", [True, False])
@pytest.mark.parametrize("flag", [0, 1])
def test_a_predicated_call(direction, returns, flag):
    launch = call("kernel", [x, out], out.type if returns else None, predicate=ir.gt(n, 0))
    main = function("main", [x, out, n], ret(launch) if returns else evaluate(launch))
    target = torch.full((4, 8), -1.0)
    found = script(copying_kernel(direction, returns), main)["main"](numbers(4, 8), target, flag)
    assert found is (target if returns else None)
    assert torch.equal(target, numbers(4, 8) if flag else torch.full((4, 8), -1.0))


def test_a_predicated_call_with_two_results():
    a, b = tensor("a", [2]), tensor("b", [2])
    kernel = function("kernel", [(a, Out), (b, InOut)], ret(a, b), type=AIV, returns=[a.type, b.type])
    pair = ir.Var("pair", ir.TupleType([a.type, b.type]), U)
    launch = assign(pair, call("kernel", [a, b], pair.type, predicate=ir.gt(n, 0)))
    main = function(
        "main", [a, b, n], launch, ret(ir.TupleGetItemExpr(pair, 1, U), ir.TupleGetItemExpr(pair, 0, U))
    )
    first, second = torch.zeros(2), torch.ones(2)
    for flag in (0, 1):
        found = script(kernel, main)["main"](first, second, flag)
        assert found[0] is second
        assert found[1] is first


def test_a_predicated_call_that_returns_more_than_its_outputs():
    kernel = function("kernel", [x], ret(x), type=AIV, returns=[x.type])
    main = function("main", [x, n], ret(call("kernel", [x], x.type, predicate=ir.gt(n, 0))))
    assert problems(kernel, main) == ["a predicated launch of 'kernel', which returns more than its outputs"]


def test_a_predicated_call_with_blocks():
    kernel = function("kernel", [(out, InOut)], *note_block(out), ret(out), type=AIV, returns=[out.type])
    launch = call("kernel", [out], out.type, predicate=ir.gt(n, 0), core_num=2)
    namespace = script(kernel, function("main", [out, n], ret(launch)))
    for flag, expected in [(0, 0.0), (1, 11.0)]:
        target = torch.zeros(4, 8)
        assert namespace["main"](target, flag) is target
        assert target[1, 0] == expected


# Submits


def tuple_of(*types):
    return ir.Var("result", ir.TupleType([*types, TASK]), U)


def item(value, index):
    return ir.TupleGetItemExpr(value, index, U)


def test_a_submit_without_results_is_its_task_id():
    task = ir.Var("task", TASK, U)
    main = function("main", [x, out], assign(task, submit("kernel", [x, out])), ret(task))
    target = torch.zeros(4, 8)
    assert script(copying_kernel(returns=False), main)["main"](numbers(4, 8), target) == 0
    assert torch.equal(target, numbers(4, 8))


def test_a_submit_with_one_result():
    result = tuple_of(out.type)
    main = function(
        "main",
        [x, out],
        assign(result, submit("kernel", [x, out], result.type)),
        ret(item(result, 0), item(result, 1)),
    )
    target = torch.zeros(4, 8)
    found, task = script(copying_kernel(), main)["main"](numbers(4, 8), target)
    assert found is target
    assert task == 0
    assert torch.equal(target, numbers(4, 8))


@pytest.mark.parametrize("count", [2, 3])
def test_a_submit_with_more_results(count):
    values = [scalar(f"v{k}") for k in range(count)]
    kernel = function(
        "kernel", values, ret(*(v * 2 for v in values)), type=AIV, returns=[v.type for v in values]
    )
    result = tuple_of(*(v.type for v in values))
    launch = assign(result, submit("kernel", list(range(1, count + 1)), result.type))
    main = function("main", [], launch, ret(*(item(result, k) for k in range(count + 1))))
    assert script(kernel, main)["main"]() == (*range(2, 2 * count + 1, 2), 0)


def test_a_submit_as_a_statement_is_a_plain_call():
    main = function("main", [x, out], evaluate(submit("kernel", [x, out], tuple_of(out.type).type)))
    text = torch_codegen(program(copying_kernel(), main))
    assert "    kernel(x, out)\n\n\ndef kernel(" in text


def test_dependent_submits_run_in_order():
    first, second = ir.Var("first", TASK, U), ir.Var("second", TASK, U)
    doubled = function(
        "double", [out], evaluate(op("tensor.assemble", [out, out, [0, 0]], out.type, atomic=1)), type=AIV
    )
    main = function(
        "main",
        [x, out],
        assign(first, submit("kernel", [x, out])),
        assign(second, submit("double", [out], deps=[first])),
    )
    target = torch.zeros(4, 8)
    script(copying_kernel(returns=False), doubled, main)["main"](numbers(4, 8), target)
    assert torch.equal(target, 2 * numbers(4, 8))


def test_a_submit_with_blocks():
    kernel = function("kernel", [out], *note_block(out), type=AIV)
    main = function(
        "main",
        [out],
        evaluate(submit("kernel", [out], core_num=3, sync_start=True, allow_early_resolve=True)),
    )
    target = torch.zeros(4, 8)
    script(kernel, main)["main"](target)
    assert target[:, 0].tolist() == [1.0, 11.0, 21.0, 0.0]


@pytest.mark.parametrize("flag", [0, 1])
def test_a_predicated_submit(flag):
    result = tuple_of(out.type)
    launch = submit("kernel", [x, out], result.type, predicate=ir.gt(n, 0))
    main = function("main", [x, out, n], assign(result, launch), ret(item(result, 0), item(result, 1)))
    target = torch.full((4, 8), -1.0)
    found, task = script(copying_kernel(), main)["main"](numbers(4, 8), target, flag)
    assert found is target
    assert task == 0
    assert torch.equal(target, numbers(4, 8) if flag else torch.full((4, 8), -1.0))


@pytest.mark.parametrize("flag", [0, 1])
def test_a_predicated_submit_without_results(flag):
    task = ir.Var("task", TASK, U)
    launch = submit("kernel", [x, out], predicate=ir.gt(n, 0))
    main = function("main", [x, out, n], assign(task, launch), evaluate(launch), ret(task))
    target = torch.full((4, 8), -1.0)
    assert script(copying_kernel(returns=False), main)["main"](numbers(4, 8), target, flag) == 0
    assert torch.equal(target, numbers(4, 8) if flag else torch.full((4, 8), -1.0))


def test_a_submit_gets_the_outputs_that_it_leaves_out():
    result = tuple_of(out.type)
    main = function("main", [x], assign(result, submit("kernel", [x], result.type)), ret(item(result, 0)))
    assert torch.equal(script(copying_kernel(), main)["main"](numbers(4, 8)), numbers(4, 8))


def test_left_out_outputs_stand_before_the_communication_contexts():
    rows, context = scalar("rows"), ir.Var("context", ir.CommCtxType(), U)
    source, target = tensor("source", [rows, 8]), tensor("target", [rows, 8], ir.DataType.BF16)
    kernel = function(
        "kernel",
        [source, (target, Out), context],
        ret(target, context),
        type=AIV,
        returns=[target.type, context.type],
    )
    result = tuple_of(target.type, context.type)
    c = ir.Var("c", ir.CommCtxType(), U)
    main = function(
        "main",
        [x, c],
        assign(result, submit("kernel", [x, c], result.type)),
        ret(item(result, 0), item(result, 1)),
    )
    found, passed = script(kernel, main)["main"](numbers(4, 8), "the context")
    assert passed == "the context"
    assert found.dtype == torch.bfloat16
    assert found.shape == (4, 8)


def test_a_parameter_that_nobody_gives():
    rows = scalar("rows")
    a, b = tensor("a", [4, 8]), tensor("b", [rows, 8])
    kernel = function("kernel", [x, a, (b, Out), (n, Out)], type=AIV)
    assert problems(kernel, function("main", [x], evaluate(submit("kernel", [x])))) == [
        "a submit of 'kernel' without its parameter 'a'",
        "a submit of 'kernel' without its parameter 'b'",
        "a submit of 'kernel' without its parameter 'n'",
    ]
