"""Groups: on how many lanes they run, whose writes land, and what crosses the pipes."""

import re

import pytest
import torch
from codegen.builders import (
    Acc,
    InOut,
    assign,
    binary,
    call,
    evaluate,
    function,
    if_,
    load,
    numbers,
    op,
    program,
    ret,
    run,
    scalar,
    script,
    store,
    tile,
)
from codegen.kernels import (
    ROWS,
    aic,
    aiv,
    cube,
    group,
    group_of,
    lane_index,
    main,
    meta_of,
    out,
    outcome,
    pop_from_aic,
    push_to_aiv,
    vector,
    x,
)

from pypto_tmpl import ir
from pypto_tmpl.debug import torch_codegen

i, n = scalar("i"), scalar("n")

# The split


@pytest.mark.parametrize("code", [1, 2])
def test_operators_decide_the_split(code):
    """The group says nothing, or NONE: two lanes run all the same."""
    width = 8 if code == 1 else 4
    lane, u = scalar("lane"), tile("u", [ROWS // 2 if code == 1 else ROWS, width])
    offsets = [lane * 2, 0] if code == 1 else [0, lane * 4]
    vector_side = aiv(
        assign(lane, lane_index()),
        assign(u, pop_from_aic([ROWS // 2 if code == 1 else ROWS, width], split=code)),
        ret(store(u, offsets, out)),
    )
    for attrs in ({}, {"split": 0}, {"split": 3 - code}):
        functions = [cube(split=code), vector_side, group(**attrs), main()]
        assert meta_of(*functions) == {
            "aic": "k_aic",
            "aiv": "k_aiv",
            "split": code,
            "dual_aiv_dispatch": False,
            "lane1_writes": True,
        }
        assert torch.equal(outcome(*functions), numbers(ROWS, 8))


def test_attributes_decide_where_no_operator_does():
    idle_aic, idle_aiv = (
        aic(),
        aiv(ret(out)),
    )
    split_aiv = aiv(assign(scalar("lane"), lane_index()), ret(out), split=2)
    assert meta_of(idle_aic, idle_aiv, group(), main())["split"] == 0
    assert meta_of(idle_aic, idle_aiv, group(split=1), main())["split"] == 1
    assert meta_of(idle_aic, split_aiv, group(), main())["split"] == 2
    assert meta_of(idle_aic, split_aiv, group(split=1), main())["split"] == 1


def test_a_split_attribute_does_not_beat_operators_without_split():
    assert meta_of(cube(), vector(), group(split=1), main())["split"] == 0


def test_the_odd_code_and_the_even_code_of_one_axis_may_mix_beside_no_split():
    t = tile("t", [ROWS, 8], memory=Acc)
    cube_side = cube(
        split=1,
        body=[assign(t, load(x, [0, 0], [ROWS, 8], memory=Acc)), push_to_aiv(t, split=3), push_to_aiv(t)],
    )
    assert meta_of(cube_side, vector(split=1), group(), main())["split"] == 3


def test_two_axes_on_two_pipes():
    t, u, v = tile("t", [ROWS, 8], memory=Acc), tile("u", [ROWS // 2, 8]), tile("v", [ROWS, 4])
    lane = scalar("lane")
    send = [
        assign(t, load(x, [0, 0], [ROWS, 8], memory=Acc)),
        push_to_aiv(t, split=1),
        push_to_aiv(t, split=2, id=1),
    ]
    cube_side = aic(*send)
    vector_side = aiv(
        assign(lane, lane_index()),
        assign(v, pop_from_aic([ROWS, 4], split=2, id=1)),
        assign(u, pop_from_aic([ROWS // 2, 8], split=1)),
        evaluate(store(u, [lane * 2, 0], out)),
        ret(op("tile.store", [v, [0, lane * 4], out], out.type, atomic=1)),
    )
    # Rows of u first or columns of v first: every cell is x once or twice, so only the codes are asserted.
    assert meta_of(cube_side, vector_side, group(), main())["split"] == 2
    outcome(cube_side, vector_side, group(), main())


# Whose writes land

DUAL = {"dual_aiv_dispatch": True}


@pytest.mark.parametrize(
    ("attrs", "split", "lands"),
    [
        ({}, 0, 1.0),  # one lane
        (DUAL, 0, 1.0),  # both lanes run the whole kernel, lane 1 for its pipe traffic
        ({**DUAL, "split_aiv": True}, 0, 2.0),  # the kernel was written for two lanes
    ],
)
def test_writes_of_lane_1(attrs, split, lands):
    functions = [cube(split=split), vector(split=split, atomic=1, **attrs), group(), main()]
    assert torch.equal(outcome(*functions), lands * numbers(ROWS, 8) - 1)
    assert meta_of(*functions)["lane1_writes"] is (lands == 2.0 or not attrs)


def test_writes_of_a_lane_that_asks_which_it_is_land():
    lane, t = scalar("lane"), tile("t", [ROWS, 8])
    vector_side = aiv(
        assign(lane, lane_index()),
        assign(t, pop_from_aic([ROWS, 8])),
        if_(ir.eq(lane, 1), evaluate(store(t, [0, 0], out))),
        ret(out),
        dual_aiv_dispatch=True,
    )
    assert torch.equal(outcome(cube(), vector_side, group(), main()), numbers(ROWS, 8))


def test_a_value_written_by_a_muted_lane_is_its_target():
    """Lane 1 goes on with the name that its store would have given."""
    functions = [cube(), vector(**DUAL), group(), main()]
    text = torch_codegen(program(*functions))
    assert "out = _tile_store(t, [0, 0], out) if _writes_land() else out\n" in text
    assert torch.equal(outcome(*functions), numbers(ROWS, 8))


def test_functions_that_a_muted_lane_calls_are_muted():
    t = tile("t", [ROWS, 8])
    helper = function(
        "helper",
        [t, (out, InOut)],
        ret(op("tile.store", [t, [0, 0], out], out.type, atomic=1)),
        type=ir.FunctionType.Inline,
        returns=[out.type],
    )
    vector_side = aiv(assign(t, pop_from_aic([ROWS, 8])), ret(call("helper", [t, out], out.type)), **DUAL)
    assert torch.equal(outcome(cube(), vector_side, group(), helper, main()), numbers(ROWS, 8) - 1)


# Vector kernels without a cube kernel


@pytest.mark.parametrize(
    ("attrs", "lands", "lanes"),
    [
        ({"split": 1}, 1.0, 1),  # not halved yet: the work of one lane
        ({"split": 1, **DUAL}, 1.0, 2),
        (DUAL, 1.0, 2),
        ({"split_aiv": True}, 2.0, 2),
        ({}, 1.0, 1),
    ],
)
def test_a_vector_kernel_alone(attrs, lands, lanes):
    t = tile("t", [ROWS, 8])
    vector_side = aiv(
        assign(t, load(x, [0, 0], [ROWS, 8])),
        ret(op("tile.store", [t, [0, 0], out], out.type, atomic=1)),
        name="k",
        **attrs,
    )
    assert torch.equal(outcome(vector_side, main()), lands * numbers(ROWS, 8) - 1)
    assert ('_run_group_call("k", x, out)' in torch_codegen(program(vector_side, main()))) is (lanes == 2)


def test_a_group_of_vector_work_only():
    t = tile("t", [ROWS, 8])
    vector_side = aiv(assign(t, load(x, [0, 0], [ROWS, 8])), ret(store(t, [0, 0], out)))
    k = group_of(ret(call("k_aiv", [x, out], out.type)))
    assert meta_of(vector_side, k, main())["aic"] is None
    assert torch.equal(outcome(vector_side, k, main()), numbers(ROWS, 8))


def test_a_group_of_cube_work_only():
    t = tile("t", [ROWS, 8], memory=Acc)
    cube_side = aic(
        assign(t, load(x, [0, 0], [ROWS, 8], memory=Acc)), ret(store(t, [0, 0], out)), returns=[out.type]
    )
    k = group_of(ret(call("k_aic", [x, out], out.type)))
    assert meta_of(cube_side, k, main())["aiv"] is None
    assert torch.equal(outcome(cube_side, k, main()), numbers(ROWS, 8))


def test_a_group_without_a_value():
    k = group_of(evaluate(call("k_aic", [x, out])), evaluate(call("k_aiv", [x, out])), returns=[])
    target = torch.zeros(ROWS, 8)
    entry = function("main", [x, out], evaluate(call("k", [x, out])))
    assert script(cube(), vector(returns=False), k, entry)["main"](numbers(ROWS, 8), target) is None
    assert torch.equal(target, numbers(ROWS, 8))


# Adapters: a member stands for a kernel that others call as well


@pytest.mark.parametrize("split", [0, 1])
def test_adapters_stand_for_their_kernels(split):
    attrs = DUAL if not split else {"split": 1, "split_aiv": True}
    cube_side, vector_side = cube("cube", split=split), vector("vector", split=split, atomic=1, attrs=attrs)
    adapters = [
        aic(evaluate(call("cube", [x, out])), name="k_aic_adapter"),
        aiv(ret(call("vector", [x, out], out.type)), name="k_aiv_adapter"),
    ]
    functions = [cube_side, vector_side, *adapters, group(aic="k_aic_adapter", aiv="k_aiv_adapter"), main()]
    meta = meta_of(*functions)
    assert (meta["aic"], meta["aiv"], meta["split"]) == ("k_aic_adapter", "k_aiv_adapter", split)
    assert meta["lane1_writes"] is bool(split)
    assert torch.equal(outcome(*functions), numbers(ROWS, 8) - 1)


def test_a_kernel_of_a_group_that_is_launched_alone_as_well():
    t = tile("t", [ROWS, 8])
    vector_side = aiv(
        assign(t, load(x, [0, 0], [ROWS, 8])),
        ret(op("tile.store", [t, [0, 0], out], out.type, atomic=1)),
        split_aiv=True,
    )
    cube_side = aic()
    entry = function(
        "main", [x, out], evaluate(call("k", [x, out], out.type)), ret(call("k_aiv", [x, out], out.type))
    )
    assert torch.equal(outcome(cube_side, vector_side, group(), entry), 4 * numbers(ROWS, 8) - 1)


# Keywords of the pipes


def test_pipes_are_told_apart_by_their_id():
    """Pipe 1 is popped before pipe 0, in the other order than pushed."""
    t, u, v = tile("t", [ROWS, 8], memory=Acc), tile("u", [ROWS, 8], memory=Acc), tile("v", [ROWS, 8])
    w = tile("w", [ROWS, 8])
    cube_side = aic(
        assign(t, load(x, [0, 0], [ROWS, 8], memory=Acc)),
        assign(u, binary("tile.add", t, t)),
        push_to_aiv(t, id=0),
        push_to_aiv(u, id=1),
    )
    vector_side = aiv(
        assign(v, pop_from_aic([ROWS, 8], id=1)),
        assign(w, pop_from_aic([ROWS, 8], id=0)),
        ret(store(binary("tile.sub", v, w), [0, 0], out)),
    )
    text = torch_codegen(program(cube_side, vector_side, group(), main()))
    assert "push_to_aiv(u, 0, id=1, copy=False)" in text
    assert "pop_from_aic(0, id=1)" in text
    assert torch.equal(outcome(cube_side, vector_side, group(), main()), numbers(ROWS, 8))


def test_the_lane_stride_cuts_the_lanes():
    """Box 4, 3 valid rows of which lane 0 owns one and lane 1 the next one: stride 1."""
    lane, u = scalar("lane"), tile("u", [2, 8])
    t = tile("t", [ROWS, 8], valid=[2, 8], memory=Acc)
    cube_side = aic(
        assign(t, load(x, [0, 0], [ROWS, 8], [2, 8], memory=Acc)), push_to_aiv(t, split=1, lane_stride=1)
    )
    vector_side = aiv(
        assign(lane, lane_index()), assign(u, pop_from_aic([2, 8], split=1)), ret(store(u, [lane, 0], out))
    )
    assert "push_to_aiv(t, 1, 1, valid_shape=[2, 8], copy=False)" in torch_codegen(
        program(cube_side, vector_side, group(), main())
    )
    expected = torch.cat([numbers(ROWS, 8)[:2], torch.full((2, 8), -1.0)])
    assert torch.equal(outcome(cube_side, vector_side, group(), main()), expected)


def test_three_groups_keep_their_order_and_their_own_pipes():
    functions = []
    for name in ("b", "a", "c"):
        functions += [cube(f"{name}_aic"), vector(f"{name}_aiv"), group(name, f"{name}_aic", f"{name}_aiv")]
    entry = function(
        "main", [x, out], *(evaluate(call(name, [x, out], out.type)) for name in ("c", "b", "a")), ret(out)
    )
    text = torch_codegen(program(*functions, entry))
    assert re.findall(r'^        "(\w)": \{', text, re.MULTILINE) == ["a", "b", "c"]
    assert torch.equal(outcome(*functions, entry), numbers(ROWS, 8))
    assert run(text)["_GROUP_META"]["b"]["aiv"] == "b_aiv"
