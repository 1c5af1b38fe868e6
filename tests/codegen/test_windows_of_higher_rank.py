"""Windows with leading extents of 1 where a tensor of lower rank is taken: viewed so, storage shared."""

import pytest
import torch
from codegen.builders import (
    AIV,
    Orchestration,
    Out,
    assign,
    call,
    evaluate,
    function,
    if_,
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
    tensor_type,
    tile,
    yields,
)
from codegen.kernels import aic, aiv, group, pop_from_aic, push_to_aiv
from codegen.test_launches import item, tuple_of

from pypto_tmpl import ir
from pypto_tmpl.debug import torch_codegen

x, out = tensor("x", [4, 8]), tensor("out", [4, 8])
stack, n = tensor("stack", [3, 4, 8]), scalar("n")
window = tensor("window", [1, 4, 8])
result = tensor("result", [4, 8])
cut = assign(window, op("tensor.slice", [stack, [1, 4, 8], [n, 0, 0]], window.type))


def kernel():
    t = tile("t", [4, 8])
    return function(
        "kernel",
        [x, (out, Out)],
        assign(t, load(x, [0, 0], [4, 8])),
        evaluate(store(t, [0, 0], out)),
        ret(out),
        type=AIV,
        returns=[out.type],
    )


def written(*body, place=1, **options):
    """The stack after a function of these statements has run on page `place` of it."""
    main = function("main", [x, stack, n], cut, *body, type=Orchestration)
    target = torch.full((3, 4, 8), 9.0)
    found = script(kernel(), main, **options)["main"](numbers(4, 8), target, place)
    return target, found


def expected(place=1):
    pages = torch.full((3, 4, 8), 9.0)
    pages[place] = numbers(4, 8)
    return pages


@pytest.mark.parametrize("check_shapes", [False, True])
def test_a_call(check_shapes):
    launch = assign(result, call("kernel", [x, window], result.type))
    target, found = written(launch, ret(result), check_shapes=check_shapes)
    assert torch.equal(target, expected())
    assert list(found.shape) == [4, 8]
    assert found.data_ptr() == target[1].data_ptr()


def test_the_text_is_an_index():
    launch = evaluate(call("kernel", [x, window], result.type))
    text = torch_codegen(program(kernel(), function("main", [x, stack, n], cut, launch, type=Orchestration)))
    assert "    kernel(x, window[0])\n\n\ndef kernel(" in text


def test_a_call_on_blocks():
    launch = assign(result, call("kernel", [x, window], result.type, core_num=2))
    target, _ = written(launch, ret(result), place=2)
    assert torch.equal(target, expected(2))


def test_two_leading_extents():
    deep, page = tensor("deep", [2, 3, 4, 8]), tensor("page", [1, 1, 4, 8])
    body = [
        assign(page, op("tensor.slice", [deep, [1, 1, 4, 8], [1, n, 0, 0]], page.type)),
        ret(call("kernel", [x, page], result.type)),
    ]
    main = function("main", [x, deep, n], *body, type=Orchestration)
    target = torch.full((2, 3, 4, 8), 9.0)
    script(kernel(), main)["main"](numbers(4, 8), target, 2)
    wanted = torch.full((2, 3, 4, 8), 9.0)
    wanted[1, 2] = numbers(4, 8)
    assert torch.equal(target, wanted)


@pytest.mark.parametrize("runs", [False, True])
def test_a_predicated_call(runs):
    """A launch that does not happen gives what it would have returned: the window in the callee's shape."""
    launch = assign(result, call("kernel", [x, window], result.type, predicate=ir.gt(n, 0)))
    target, found = written(launch, ret(result), place=int(runs), check_shapes=True)
    assert torch.equal(target, expected() if runs else torch.full((3, 4, 8), 9.0))
    assert found.data_ptr() == target[int(runs)].data_ptr()


def test_a_submit():
    pair = tuple_of(result.type)
    launch = assign(pair, submit("kernel", [x, window], pair.type))
    target, found = written(launch, ret(item(pair, 0)))
    assert torch.equal(target, expected())
    assert list(found.shape) == [4, 8]


def test_a_group():
    params = (x, out)
    t, u = tile("t", [4, 8], memory=ir.MemorySpace.Acc), tile("u", [4, 8])
    members = [
        aic(assign(t, load(x, [0, 0], [4, 8], memory=ir.MemorySpace.Acc)), push_to_aiv(t), params=params),
        aiv(assign(u, pop_from_aic([4, 8])), ret(store(u, [0, 0], out)), params=params),
        group(),
    ]
    main = function("main", [x, stack, n], cut, ret(call("k", [x, window], result.type)), type=Orchestration)
    target = torch.full((3, 4, 8), 9.0)
    script(*members, main)["main"](numbers(4, 8), target, 1)
    assert torch.equal(target, expected())


@pytest.mark.parametrize("place", [0, 2])
def test_a_branch_that_yields_the_window_beside_a_result(place):
    first = tensor("first", [4, 8])
    branch = if_(
        ir.gt(n, 0),
        ir.SeqStmts(
            [assign(first, call("kernel", [x, window], result.type)), yields(first)], ir.Span.unknown()
        ),
        yields(window),
        results=[result],
    )
    target, found = written(branch, ret(result), place=place)
    assert torch.equal(target, expected(2) if place else torch.full((3, 4, 8), 9.0))
    assert list(found.shape) == [4, 8]
    assert found.data_ptr() == target[place].data_ptr()


def test_another_name_of_the_window():
    alias = ir.Var("alias", tensor_type([4, 8]), ir.Span.unknown())
    target, found = written(assign(alias, window), ret(call("kernel", [x, alias], result.type)))
    assert torch.equal(target, expected())
    assert list(found.shape) == [4, 8]


def test_extents_that_are_no_leading_ones_stay():
    """A page of two rows of a stack is no matrix: it is given as it is, and refused by the kernel's types."""
    pages = tensor("pages", [2, 4, 8])
    body = [
        assign(pages, op("tensor.slice", [stack, [2, 4, 8], [n, 0, 0]], pages.type)),
        evaluate(call("kernel", [x, pages], result.type)),
    ]
    text = torch_codegen(program(kernel(), function("main", [x, stack, n], *body, type=Orchestration)))
    assert "    kernel(x, pages)\n\n\ndef kernel(" in text
