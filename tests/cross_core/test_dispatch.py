"""Which functions run where: groups in groups, in loops, in blocks, without pipes; values and failures."""

import threading
import traceback
import warnings

import pytest
import torch
from codegen.builders import (
    AIV,
    Acc,
    Orchestration,
    U,
    as_expr,
    assign,
    binary,
    call,
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
    store,
    tile,
)
from codegen.kernels import (
    ROWS,
    aic,
    aiv,
    block_index,
    cube,
    group,
    lane_index,
    main,
    out,
    pop_from_aic,
    push_to_aic,
    push_to_aiv,
    vector,
    x,
)

from pypto_tmpl import ir
from pypto_tmpl.debug import torch_codegen

i, lane = scalar("i"), scalar("lane")
row = tile("row", [1, 8])


def outcome(*functions):
    """What the entry leaves in an output of -1; no warning, and no thread left."""
    target = torch.full((ROWS, 8), -1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        script(*functions)["main"](numbers(ROWS, 8), target)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("group ")]
    return target


def failure(*functions):
    namespace = script(*functions)
    with pytest.raises(RuntimeError) as caught:
        namespace["main"](numbers(ROWS, 8), torch.zeros(ROWS, 8))
    return caught.value


def add(value, offsets=(0, 0)):
    """Add a tile to the output: what is run twice counts twice."""
    return op("tile.store", [value, list(offsets), out], out.type, atomic=1)


# Groups in groups


def test_a_vector_lane_that_calls_another_group():
    """The inner group has pipes of its own: the tile that waits in the outer one stays where it is."""
    t, u = tile("t", [ROWS, 8], memory=Acc), tile("u", [ROWS, 8])
    outer_cube = aic(
        assign(t, load(x, [0, 0], [ROWS, 8], memory=Acc)),
        push_to_aiv(binary("tile.add", t, t)),
        name="outer_aic",
    )
    outer_vector = aiv(
        evaluate(call("k", [x, out], out.type)),
        assign(u, pop_from_aic([ROWS, 8])),
        ret(add(u)),
        name="outer_aiv",
    )
    outer = group("outer", "outer_aic", "outer_aiv")
    found = outcome(cube(), vector(), group(), outer_cube, outer_vector, outer, main(callee="outer"))
    assert torch.equal(found, 3 * numbers(ROWS, 8))


def test_both_lanes_call_another_group():
    """Each lane has an inner group of its own, whose vector core is lane 0 of it."""
    outer_cube = cube("outer_aic", split=1)
    half = tile("half", [2, 8])
    outer_vector = aiv(
        assign(half, pop_from_aic([2, 8], split=1)),
        evaluate(call("k", [x, out], out.type)),
        ret(out),
        name="outer_aiv",
    )
    outer = group("outer", "outer_aic", "outer_aiv")
    inner = vector(atomic=1)
    found = outcome(cube(), inner, group(), outer_cube, outer_vector, outer, main(callee="outer"))
    assert torch.equal(found, 2 * numbers(ROWS, 8) - 1)


def test_a_group_of_a_group_of_a_group():
    names = ["a", "b", "c"]
    functions = []
    for name, inner in zip(names, ["b", "c", None], strict=True):
        calls = [evaluate(call(inner, [x, out], out.type))] if inner else []
        u = tile("u", [ROWS, 8])
        functions += [
            cube(f"{name}_aic"),
            aiv(*calls, assign(u, pop_from_aic([ROWS, 8])), ret(add(u)), name=f"{name}_aiv"),
            group(name, f"{name}_aic", f"{name}_aiv"),
        ]
    assert torch.equal(outcome(*functions, main(callee="a")), 3 * numbers(ROWS, 8) - 1)


# Loops and blocks


def test_a_group_in_a_loop_in_blocks():
    """Block b, trip i adds row b of x to row b: three trips, two blocks."""
    block, t, u = scalar("block"), tile("t", [1, 8], memory=Acc), tile("u", [1, 8])
    index = assign(block, block_index())
    cube_side = aic(index, assign(t, load(x, [block, 0], [1, 8], memory=Acc)), push_to_aiv(t))
    vector_side = aiv(index, assign(u, pop_from_aic([1, 8])), ret(add(u, (block, 0))))
    kernel = function(
        "kernel",
        [x, out],
        for_loop(i, 3, evaluate(call("k", [x, out], out.type))),
        ret(out),
        returns=[out.type],
    )
    expected = torch.full((ROWS, 8), -1.0)
    expected[:2] += 3 * numbers(ROWS, 8)[:2]
    found = outcome(cube_side, vector_side, group(), kernel, main(callee="kernel", core_num=2))
    assert torch.equal(found, expected)


def test_a_group_with_the_pipes_in_loops():
    """Each trip sends a row and gets it back doubled; the lanes meet in order."""
    t, back, u = tile("t", [2, 8], memory=Acc), tile("back", [2, 8], memory=Acc), tile("u", [1, 8])
    j = scalar("j")
    cube_side = aic(
        for_loop(
            i,
            2,
            assign(t, load(x, [i * 2, 0], [2, 8], memory=Acc)),
            push_to_aiv(t, split=1),
            assign(back, ir.Call(ir.Op("tile.tpop_from_aiv"), [], {"split": 1}, back.type, U)),
            evaluate(store(back, [i * 2, 0], out)),
        )
    )
    vector_side = aiv(
        for_loop(
            j,
            2,
            assign(u, pop_from_aic([1, 8], split=1)),
            push_to_aic(binary("tile.add", u, u), split=1),
        ),
        ret(out),
    )
    assert torch.equal(outcome(cube_side, vector_side, group(), main()), 2 * numbers(ROWS, 8))


# Groups without pipes


def copy_row(number):
    return [assign(row, load(x, [number, 0], [1, 8])), evaluate(store(row, [number, 0], out))]


def test_members_that_exchange_nothing():
    found = outcome(aic(*copy_row(0)), aiv(*copy_row(1), ret(out)), group(), main())
    expected = torch.full((ROWS, 8), -1.0)
    expected[:2] = numbers(ROWS, 8)[:2]
    assert torch.equal(found, expected)


def test_both_lanes_of_members_that_exchange_nothing():
    vector_side = aiv(
        assign(lane, lane_index()),
        assign(row, load(x, [lane, 0], [1, 8])),
        ret(add(row, (lane, 0))),
        dual_aiv_dispatch=True,
        split_aiv=True,
    )
    expected = torch.full((ROWS, 8), -1.0)
    expected[:2] += numbers(ROWS, 8)[:2]
    assert torch.equal(outcome(aic(), vector_side, group(), main()), expected)


def test_a_vector_kernel_for_two_lanes_without_a_cube_kernel():
    kernel = function(
        "kernel",
        [x, out],
        assign(lane, lane_index()),
        assign(row, load(x, [lane, 0], [1, 8])),
        ret(add(row, (lane, 0))),
        type=AIV,
        returns=[out.type],
        split_aiv=True,
    )
    entry = function("main", [x, out], ret(call("kernel", [x, out], out.type)), type=Orchestration)
    expected = torch.full((ROWS, 8), -1.0)
    expected[:2] += numbers(ROWS, 8)[:2]
    assert torch.equal(outcome(kernel, entry), expected)


# Values


def value_of(aic_value, aiv_values):
    """What a group returns whose members return scalars: that of the cube, and one a lane."""
    cube_side = aic(*([] if aic_value is None else [ret(aic_value)]))
    choice = [] if aiv_values is None else [ret(lane * (aiv_values[1] - aiv_values[0]) + aiv_values[0])]
    vector_side = aiv(assign(lane, lane_index()), *choice, dual_aiv_dispatch=True, split_aiv=True)
    result = scalar("result")
    both = [evaluate(call("k_aic", [x, out])), assign(result, call("k_aiv", [x, out], result.type))]
    entry = function("main", [x, out], ir.ClusterScopeStmt("both", ir.SeqStmts(both, U), U), ret(result))
    namespace = script(cube_side, vector_side, entry)
    return namespace["main"](numbers(ROWS, 8), torch.zeros(ROWS, 8))


def test_the_value_is_that_of_lane_0():
    assert value_of(None, (5, 6)) == 5
    assert value_of(7, (5, 6)) == 5


def test_a_value_of_the_cube_alone_breaks_the_contract():
    with pytest.raises(RuntimeError) as caught:
        value_of(7, None)
    assert str(caught.value) == (
        "group 'both': only AIV lane 0 may return a value; it returned none, aic did"
    )


def test_a_value_of_lane_1_alone_breaks_the_contract():
    later = ir.IfStmt(ir.Eq(lane, as_expr(1), ir.DataType.BOOL, U), ret(lane), None, [], U)
    vector_side = aiv(assign(lane, lane_index()), later, dual_aiv_dispatch=True, split_aiv=True)
    error = failure(aic(), vector_side, group(), main())
    assert str(error) == "group 'k': only AIV lane 0 may return a value; it returned none, aiv1 did"


# Failures


def test_the_traceback_of_a_failing_lane_leads_through_the_script():
    """Lane 1 reads an element that there is not."""
    found = scalar("found", x.type.dtype)
    reading = ir.Call(ir.Op("tensor.read"), [x, ir.MakeTuple([lane * 9, as_expr(0)], U)], {}, found.type, U)
    vector_side = aiv(
        assign(lane, lane_index()), assign(found, reading), ret(out), dual_aiv_dispatch=True, split_aiv=True
    )
    u = tile("u", [ROWS, 8])
    waiting = aic(assign(u, ir.Call(ir.Op("tile.tpop_from_aiv"), [], {"split": 0}, u.type, U)))
    error = failure(waiting, vector_side, group(), main())
    text = "IndexError: index 9 is out of bounds for dimension 0 with size 4"
    assert str(error) == f"group 'k' lane aiv1 failed: {text}"
    frames = traceback.extract_tb(error.__cause__.__traceback__)
    assert (frames[-1].name, frames[-1].line) == ("k_aiv", "found = x[lane * 9, 0].item()")


def test_tiles_left_in_a_pipe():
    t = tile("t", [ROWS, 8], memory=Acc)
    more = cube(
        body=[assign(t, load(x, [0, 0], [ROWS, 8], memory=Acc)), push_to_aiv(t), push_to_aiv(t, id=2)]
    )
    namespace = script(more, vector(), group(), main())
    text = (
        "group 'k' ended with tiles left in its pipes:"
        " {'no_split_dual_aiv_dispatch': False, 'to_aiv': {0: [1, 0], 2: [1, 0]}}"
    )
    target = torch.zeros(ROWS, 8)
    with pytest.warns(RuntimeWarning) as warned:
        namespace["main"](numbers(ROWS, 8), target)
    assert [str(warning.message) for warning in warned] == [text]
    assert torch.equal(target, numbers(ROWS, 8))
    namespace = script(more, vector(), group(), main(), options={"strict_leftovers": True})
    with pytest.raises(RuntimeError) as caught:
        namespace["main"](numbers(ROWS, 8), target)
    assert str(caught.value) == text


def test_a_member_that_the_script_lacks():
    namespace = script(cube(), vector(), group(), main())
    del namespace["k_aiv"]
    with pytest.raises(RuntimeError) as caught:
        namespace["main"](numbers(ROWS, 8), torch.zeros(ROWS, 8))
    assert str(caught.value) == "group 'k': this script has no function 'k_aiv'"


def test_text_of_nested_calls():
    outer_vector = aiv(evaluate(call("k", [x, out], out.type)), ret(out), name="outer_aiv")
    text = torch_codegen(
        program(
            cube(),
            vector(),
            group(),
            aic(name="outer_aic"),
            outer_vector,
            group("outer", "outer_aic", "outer_aiv"),
        )
    )
    assert '    _run_group_call("k", x, out)\n' in text[text.index("def outer_aiv(") :]
