"""A tile that crosses a pipe is copied if, and only if, its storage may yet be written."""

import re

import torch
from codegen.builders import (
    FP32,
    Acc,
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
    program_part,
    ret,
    scalar,
    script,
    store,
    tile,
    yields,
)
from codegen.kernels import (
    ROWS,
    aic,
    aiv,
    group,
    lane_index,
    main,
    out,
    pop_from_aic,
    push_to_aiv,
    vector,
    x,
)

from pypto_tmpl import ir
from pypto_tmpl.debug import torch_codegen

BOX = [ROWS, 8]
t, u, more = tile("t", BOX, memory=Acc), tile("u", BOX, memory=Acc), tile("more", BOX, memory=Acc)
row = tile("row", [1, 8], memory=Acc)
LOAD = assign(t, load(x, [0, 0], BOX, memory=Acc))
LOAD_ROW = assign(row, load(x, [3, 0], [1, 8], memory=Acc))


def assemble(target, source=row, at=0, name="t2"):
    """Write the last row of x over a row of a tile, in place."""
    written = tile(name, BOX, memory=Acc)
    return assign(written, op("tile.assemble", [target, source, [at, 0]], target.type))


def transfers(*functions):
    """The emitted pushes and pops."""
    text = torch_codegen(program(*functions))
    return re.findall(r"_cross_core_rt\.((?:push|pop)_\w+\(.*\))", program_part(text))


def outcome(*functions):
    target = torch.full(tuple(BOX), -1.0)
    script(*functions)["main"](numbers(*BOX), target)
    return target


def check(cube_side, copied):
    """The vector side gets x as it was when it was pushed, by a copy or not."""
    functions = [cube_side, vector(), group(), main()]
    pushed = next(text for text in transfers(*functions) if text.startswith("push"))
    assert ("copy=False" not in pushed) is copied, pushed
    assert torch.equal(outcome(*functions), numbers(*BOX))


def test_a_tile_that_nobody_writes():
    check(aic(LOAD, push_to_aiv(t)), copied=False)


def test_a_computed_tile():
    half = binary("tile.muls", t, 0.5)
    check(aic(LOAD, push_to_aiv(binary("tile.add", half, half))), copied=False)


def test_a_tile_that_is_written_after_the_push():
    check(aic(LOAD, LOAD_ROW, push_to_aiv(t), assemble(t)), copied=True)


def test_a_tile_that_is_written_under_another_name():
    reshaped = assign(u, op("tile.reshape", [t, BOX], u.type))
    check(aic(LOAD, LOAD_ROW, reshaped, push_to_aiv(t), assemble(u)), copied=True)
    check(aic(LOAD, LOAD_ROW, reshaped, push_to_aiv(u), assemble(t)), copied=True)


def test_a_tile_of_which_two_others_are_views():
    """u and more are both views of t: what is written into the one is seen in the other."""
    views = [assign(name, op("tile.reshape", [t, BOX], name.type)) for name in (u, more)]
    check(aic(LOAD, LOAD_ROW, *views, push_to_aiv(u), assemble(more)), copied=True)


def test_a_view_that_is_pushed_without_a_name():
    view = op("tile.reshape", [t, BOX], t.type)
    check(aic(LOAD, LOAD_ROW, push_to_aiv(view), assemble(t)), copied=True)
    check(aic(LOAD, push_to_aiv(view)), copied=False)


def test_a_tile_that_a_later_round_writes():
    """Round i pushes the carry, then writes row i of it."""
    i, last = scalar("i"), tile("last", BOX, memory=Acc)
    acc, step = carry("acc", t, t.type), tile("step", BOX, memory=Acc)
    loop = for_loop(
        i,
        2,
        push_to_aiv(acc),
        assign(step, op("tile.assemble", [acc, row, [i, 0]], acc.type)),
        yields(step),
        carries=[acc],
        results=[last],
    )
    first, second = tile("first", BOX), tile("second", BOX)
    takes_two = aiv(
        assign(first, pop_from_aic(BOX)),
        assign(second, pop_from_aic(BOX)),
        ret(store(binary("tile.sub", second, first), [0, 0], out)),
    )
    functions = [aic(LOAD, LOAD_ROW, loop), takes_two, group(), main()]
    assert "push_to_aiv(acc, 0)" in transfers(*functions)
    expected = torch.zeros(tuple(BOX))
    expected[0] = numbers(*BOX)[3] - numbers(*BOX)[0]
    assert torch.equal(outcome(*functions), expected)


def test_an_accumulator_that_a_later_round_adds_to():
    """Round i pushes the accumulator, then adds a product of ones to it, which is 8 everywhere."""
    left, right = tile("left", BOX, memory=Acc), tile("right", [8, 8], memory=Acc)
    acc, i = carry("acc", t, t.type), scalar("i")
    step, last = tile("s", BOX, memory=Acc), tile("l", BOX, memory=Acc)
    ones = [
        assign(left, op("tile.full", [BOX, 1.0], left.type, dtype=FP32)),
        assign(right, op("tile.full", [[8, 8], 1.0], right.type, dtype=FP32)),
    ]
    product = assign(step, op("tile.matmul_acc", [acc, left, right], acc.type))
    loop = for_loop(i, 2, push_to_aiv(acc), product, yields(step), carries=[acc], results=[last])
    first, second = tile("first", BOX), tile("second", BOX)
    takes_two = aiv(
        assign(first, pop_from_aic(BOX)),
        assign(second, pop_from_aic(BOX)),
        ret(store(binary("tile.sub", second, first), [0, 0], out)),
    )
    functions = [aic(LOAD, *ones, loop), takes_two, group(), main()]
    assert "push_to_aiv(acc, 0)" in transfers(*functions)
    assert torch.equal(outcome(*functions), torch.full(tuple(BOX), 8.0))


def test_a_tile_that_another_function_may_write():
    helper_tile = tile("p", BOX, memory=Acc)
    helper = function(
        "helper",
        [helper_tile, (row, ir.ParamDirection.In)],
        assemble(helper_tile),
        type=ir.FunctionType.Inline,
    )
    cube_side = aic(LOAD, LOAD_ROW, push_to_aiv(t), evaluate(call("helper", [t, row])))
    functions = [helper, cube_side, vector(), group(), main()]
    assert "push_to_aiv(t, 0)" in transfers(*functions)
    assert torch.equal(outcome(*functions), numbers(*BOX))


def test_a_tile_that_the_caller_may_write():
    given = tile("given", BOX, memory=Acc)
    sender = function("sender", [given], push_to_aiv(given), type=ir.FunctionType.Inline)
    cube_side = aic(LOAD, LOAD_ROW, evaluate(call("sender", [t])), assemble(t))
    functions = [sender, cube_side, vector(), group(), main()]
    assert "push_to_aiv(given, 0)" in transfers(*functions)
    assert torch.equal(outcome(*functions), numbers(*BOX))


def test_a_popped_tile_that_a_lane_writes():
    """Both lanes get the tile; lane L overwrites row L of it and stores row 1 - L, which is as it was."""
    lane, got, other = scalar("lane"), tile("got", BOX), tile("other", [1, 8])
    zeros, written = tile("zeros", [1, 8]), tile("written", BOX)
    vector_side = aiv(
        assign(lane, lane_index()),
        assign(got, pop_from_aic(BOX)),
        assign(zeros, op("tile.full", [[1, 8], 0.0], zeros.type, dtype=FP32)),
        assign(written, op("tile.assemble", [got, zeros, [lane, 0]], got.type)),
        evaluate(op("tile.tpush_to_aic", [zeros], split=0)),  # the lanes meet here
        assign(other, op("tile.slice", [written, [1, 8], [lane * -1 + 1, 0]], other.type)),
        ret(store(other, [lane * -1 + 1, 0], out)),
        dual_aiv_dispatch=True,
        split_aiv=True,
    )
    back = assign(row, ir.Call(ir.Op("tile.tpop_from_aiv"), [], {"split": 0}, row.type, ir.Span.unknown()))
    functions = [aic(LOAD, push_to_aiv(t), back), vector_side, group(), main()]
    assert "pop_from_aic(0, copy=True)" in transfers(*functions)
    assert torch.equal(outcome(*functions)[:2], numbers(*BOX)[:2])


def test_a_popped_tile_that_is_only_read():
    assert "pop_from_aic(0)" in transfers(aic(LOAD, push_to_aiv(t)), vector(), group(), main())
