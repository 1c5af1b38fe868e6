"""Whether a tile that a load has cut at the edge of its tensor may reach a store as it is."""

import pytest
import torch
from codegen.builders import (
    AIV,
    FP32,
    InOut,
    Orchestration,
    Vec,
    assign,
    binary,
    call,
    carry,
    for_loop,
    function,
    load,
    op,
    program,
    ret,
    run,
    scalar,
    store,
    tensor,
    tile,
    yields,
)

from pypto_tmpl.debug import torch_codegen

x, out = tensor("x", [4, 8]), tensor("out", [4, 8])
n, i = scalar("n"), scalar("i")
t, u = tile("t", [4, 8]), tile("u", [4, 8])
CUT = assign(t, load(x, [n, 0], [4, 8]))  # nobody knows n
MOVED = assign(u, op("tile.move", [t], u.type, target_memory=Vec))
CARRIED, RESULT = carry("carried", t), tile("result", [4, 8])


def kernel(*body):
    return function("kernel", [x, (out, InOut), n], *body, type=AIV, returns=[out.type])


def text(*body):
    """The script of a kernel that is handed whole tensors."""
    params = [x, (out, InOut), n]
    launch = ret(call("kernel", [x, out, n], out.type))
    main = function("main", params, launch, type=Orchestration, returns=[out.type])
    return torch_codegen(program(kernel(*body), main))


def stored(value):
    return ret(store(value, [0, 0], out))


MEETING = {
    "as it is": [CUT, stored(t)],
    "under another name": [CUT, MOVED, stored(u)],
    "in a loop": [
        CUT,
        for_loop(i, 2, yields(CARRIED), carries=[CARRIED], results=[RESULT]),
        stored(RESULT),
    ],
    "into a tile": [CUT, assign(u, op("tile.assemble", [t, t, [0, 0]], u.type)), stored(u)],
}
APART = {
    "computed": [CUT, assign(u, binary("tile.add", t, t)), stored(u)],
    "inside": [assign(t, load(x, [0, 0], [4, 8])), stored(t)],
    "made anew": [assign(t, op("tile.full", [[4, 8], 2.0], t.type, dtype=FP32)), stored(t)],
}


@pytest.mark.parametrize("body", MEETING.values(), ids=MEETING)
def test_a_cut_tile_that_a_store_may_meet(body):
    assert "_note_edge(" in text(*body) and "_drop_edge(" in text(*body)


@pytest.mark.parametrize("body", APART.values(), ids=APART)
def test_others_carry_nothing_of_it(body):
    found = text(*body)
    assert not [word for word in ("_note_edge", "_drop_edge", ".found") if word in found]


def test_a_function_may_return_one():
    loading = function("loading", [x, n], CUT, ret(t), type=AIV, returns=[t.type])
    main = function(
        "main", [x, (out, InOut), n], assign(u, call("loading", [x, n], t.type)), stored(u), type=AIV
    )
    assert "_drop_edge(" in torch_codegen(program(loading, main))


def test_what_a_load_found_outside_is_not_stored():
    """Rows 2 and 3 of the tensor, then two that it does not have: the target keeps its own there."""
    target = torch.full((4, 8), 9.0)
    run(text(*MEETING["as it is"]))["kernel"](torch.ones(4, 8), target, 2)
    assert target[:, 0].tolist() == [1.0, 1.0, 9.0, 9.0]
    target = torch.full((4, 8), 9.0)
    run(text(*APART["computed"]))["kernel"](torch.ones(4, 8), target, 2)
    assert target[:, 0].tolist() == [2.0, 2.0, 0.0, 0.0]
