"""Valid regions: a write touches the valid part of a value only, wherever the region is known from."""

import pytest
import torch
from codegen.builders import (
    AIV,
    Acc,
    InCore,
    U,
    assign,
    binary,
    call,
    carry,
    evaluate,
    for_loop,
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
    seq,
    store,
    tensor,
    tile,
    tile_type,
    unary,
    while_loop,
    yields,
)
from codegen.kernels import (
    aic,
    aiv,
    group_of,
    lane_index,
    pop_from_aic,
    pop_from_aiv,
    push_to_aic,
    push_to_aiv,
)
from hypothesis import given
from hypothesis import strategies as st

from pypto_tmpl import ir
from pypto_tmpl.codegen.unsupported import UnsupportedProgramError
from pypto_tmpl.debug import torch_codegen

i, n = scalar("i"), scalar("n")
x, out = tensor("x", [16, 8]), tensor("out", [16, 8])


def written(*body, args=(), params=(), others=(), rows=16):
    """What a kernel of this body leaves in an output that starts as nines."""
    target = torch.full((rows, 8), 9.0)
    kernel = function("main", [x, out, *params], *body, type=InCore)
    script(kernel, *others)["main"](numbers(16, 8) + 1, target, *args)
    return target


def nines_outside(target, values):
    """The expected output: ``values`` in its first rows and columns, nines elsewhere."""
    expected = torch.full_like(target, 9.0)
    expected[: values.shape[0], : values.shape[1]] = values
    return torch.allclose(target, expected)


X = numbers(16, 8) + 1


# Regions that types state


def test_a_store_writes_the_valid_part():
    t = tile("t", [16, 8], valid=[16, 4])
    body = [assign(t, load(x, [0, 0], [16, 8], [16, 4])), evaluate(store(t, [0, 0], out))]
    assert nines_outside(written(*body), X[:, :4])


@pytest.mark.parametrize("name", ["exp", "neg", "rsqrt", "recip"])
def test_unary_ops_keep_the_region(name):
    t, u = (tile(hint, [16, 8], valid=[16, 4]) for hint in "tu")
    body = [
        assign(t, load(x, [0, 0], [16, 8], [16, 4])),
        assign(u, unary(f"tile.{name}", t)),
        evaluate(store(u, [0, 0], out)),
    ]
    function_of = {"recip": torch.reciprocal}.get(name) or getattr(torch, name)
    assert nines_outside(written(*body), function_of(X[:, :4]))


def test_a_chain_of_one_expression():
    t = tile("t", [16, 8], valid=[16, 4])
    chain = unary("tile.neg", unary("tile.exp", binary("tile.muls", t, 0.25)))
    body = [assign(t, load(x, [0, 0], [16, 8], [16, 4])), evaluate(store(chain, [0, 0], out))]
    assert nines_outside(written(*body), -torch.exp(X[:, :4] / 4))


def test_a_region_from_a_scalar():
    t = tile("t", [16, 8], valid=[n, 8])
    body = [assign(t, load(x, [0, 0], [16, 8], [n, 8])), evaluate(store(t, [0, 0], out))]
    for rows in (0, 1, 7, 16):
        assert nines_outside(written(*body, params=[n], args=[rows]), X[:rows])


def test_a_region_from_an_expression_of_loop_variables():
    """Tiles of 4 rows of which the last is cut at n."""
    valid = ir.max_(ir.min_(n - i * 4, 4), 0)
    t, u = (tile(hint, [4, 8], valid=[valid, 8]) for hint in "tu")
    loop = for_loop(
        i,
        4,
        assign(t, load(x, [i * 4, 0], [4, 8], [valid, 8])),
        assign(u, binary("tile.adds", t, 1.0)),
        evaluate(store(u, [i * 4, 0], out)),
    )
    for rows in (0, 3, 4, 10, 16):
        assert nines_outside(written(loop, params=[n], args=[rows]), X[:rows] + 1)


def test_an_empty_region_writes_nothing():
    t = tile("t", [16, 8], valid=[0, 0])
    body = [assign(t, load(x, [0, 0], [16, 8], [0, 0])), evaluate(store(t, [0, 0], out))]
    assert nines_outside(written(*body), X[:0])


OPS = {
    "exp": (lambda t: unary("tile.exp", t), torch.exp),
    "neg": (lambda t: unary("tile.neg", t), torch.neg),
    "muls": (lambda t: binary("tile.muls", t, 0.5), lambda v: v * 0.5),
    "add": (lambda t: binary("tile.add", t, t), lambda v: v + v),
    "move": (lambda t: op("tile.move", [t], t.type, target_memory=ir.MemorySpace.Vec), lambda v: v),
}


@given(
    st.lists(st.sampled_from(sorted(OPS)), max_size=6),
    st.integers(0, 16),
    st.integers(0, 8),
    st.booleans(),
)
def test_chains_write_the_region_of_their_types(chain, rows, columns, in_one_expression):
    type_ = tile_type([16, 8], valid=[rows, columns])
    value, body = ir.Var("t", type_, U), []
    body.append(assign(value, load(x, [0, 0], [16, 8], [rows, columns])))
    expected = X[:rows, :columns] / 64
    body.append(assign(value, binary("tile.muls", value, 1 / 64)))
    for name in chain:
        emit, compute = OPS[name]
        value, expected = emit(value), compute(expected)
        if not in_one_expression:
            body.append(assign(ir.Var("t", type_, U), value))
            value = body[-1].var
    assert nines_outside(written(*body, evaluate(store(value, [0, 0], out))), expected)


# Dynamic extents


def test_extents_are_read_off_the_parameter_that_has_them():
    rows, width = scalar("rows"), scalar("width")
    a, b = tensor("a", [rows, 4]), tensor("b", [2, rows, width])
    text = torch_codegen(function("f", [n, a, b], ret(rows, width, rows + n)))
    assert "    rows = a.shape[0]\n    width = b.shape[2]\n    return rows, width, rows + n\n" in text
    assert run(text)["f"](1, torch.zeros(3, 4), torch.zeros(2, 3, 5)) == (3, 5, 4)


def test_an_extent_that_is_a_parameter_as_well():
    a = tensor("a", [n, 4])
    assert script(function("f", [a, n], ret(n)))["f"](torch.zeros(3, 4), 7) == 7


def test_extents_that_are_used_in_a_loop_and_a_region():
    rows = scalar("rows")
    a, r = carry("a", 0), scalar("r")
    source = tensor("source", [rows, 4])
    loop = for_loop(i, rows, yields(a + rows), carries=[a], results=[r])
    assert script(function("f", [source], loop, ret(r)))["f"](torch.zeros(3, 4)) == 9
    region = ir.SplitAivScopeStmt(ir.SplitMode.NONE, body=assign(r, rows * 2), span=U)
    assert script(function("f", [source], region, ret(r)))["f"](torch.zeros(3, 4)) == 6


def test_an_extent_of_no_parameter_is_refused():
    with pytest.raises(UnsupportedProgramError, match="variable 'rows' is used, but nothing before binds it"):
        torch_codegen(function("f", [x], ret(scalar("rows") + 1)))


# Regions that come along with a parameter


def test_a_parameter_brings_the_region_that_its_type_cannot_state():
    """The kernel's tile is valid in `rows` rows, which is no parameter: the caller passes the region."""
    rows = scalar("rows")
    p = tile("p", [16, 8], valid=[rows, 8])
    u = tile("u", [16, 8], valid=[rows, 8])
    kernel = function(
        "kernel", [p, out], assign(u, binary("tile.add", p, p)), evaluate(store(u, [0, 0], out)), type=AIV
    )
    direct = function("direct", [p, out], evaluate(store(p, [0, 0], out)), type=AIV)
    counting = function("counting", [p, out], ret(rows * 10 + 1), type=AIV)
    t, r = tile("t", [16, 8], valid=[n, 8]), scalar("r")
    for name, expected in [("kernel", X[:5] * 2), ("direct", X[:5])]:
        body = [assign(t, load(x, [0, 0], [16, 8], [n, 8])), evaluate(call(name, [t, out]))]
        assert nines_outside(
            written(*body, params=[n], args=[5], others=[kernel, direct, counting]), expected
        )
    body = [
        assign(t, load(x, [0, 0], [16, 8], [n, 8])),
        assign(r, call("counting", [t, out], r.type)),
        ret(r),
    ]
    entry = function("main", [x, out, n], *body, type=InCore)
    assert script(counting, entry)["main"](X, torch.zeros(16, 8), 5) == 51
    assert "_pass_region(t, [n, 8])" in torch_codegen(program(counting, entry))


def test_a_region_passes_through_a_function_that_does_not_look_at_it():
    rows, more = scalar("rows"), scalar("more")
    p, q = tile("p", [16, 8], valid=[rows, 8]), tile("q", [16, 8], valid=[more, 8])
    inner = function("inner", [p, out], evaluate(store(p, [0, 0], out)), type=AIV)
    outer = function("outer", [q, out], evaluate(call("inner", [q, out])), type=AIV)
    t = tile("t", [16, 8], valid=[3, 8])
    body = [assign(t, load(x, [0, 0], [16, 8], [3, 8])), evaluate(call("outer", [t, out]))]
    assert nines_outside(written(*body, others=[inner, outer]), X[:3])


def test_a_full_argument_has_its_whole_box_as_region():
    rows = scalar("rows")
    p = tile("p", [16, 8], valid=[rows, 8])
    kernel = function("kernel", [p, out], evaluate(store(p, [0, 0], out)), type=AIV)
    t = tile("t", [16, 8])
    named = [assign(t, load(x, [0, 0], [16, 8])), evaluate(call("kernel", [t, out]))]
    assert nines_outside(written(*named, others=[kernel]), X)
    nested = evaluate(call("kernel", [load(x, [0, 0], [16, 8]), out]))
    assert nines_outside(written(nested, others=[kernel]), X)


def test_an_argument_without_a_name_brings_its_region():
    rows, r = scalar("rows"), tensor("r", [16, 8])
    p = tile("p", [16, 8], valid=[rows, 8])
    kernel = function("kernel", [p, out], ret(store(p, [0, 0], out)), type=AIV, returns=[out.type])
    nested = assign(r, call("kernel", [load(x, [0, 0], [16, 8], [6, 8]), out], out.type))
    assert nines_outside(written(nested, others=[kernel]), X[:6])


def test_a_region_passes_a_group_into_both_members():
    rows = scalar("rows")
    p = tile("p", [16, 8], valid=[rows, 8])
    cube_side = aic(push_to_aiv(p), params=[p, out])
    u = tile("u", [16, 8])
    vector_side = aiv(assign(u, pop_from_aic([16, 8])), ret(store(u, [0, 0], out)), params=[p, out])
    k = group_of(evaluate(call("k_aic", [p, out])), ret(call("k_aiv", [p, out], out.type)), params=[p, out])
    t = tile("t", [16, 8], valid=[7, 8])
    body = [assign(t, load(x, [0, 0], [16, 8], [7, 8])), evaluate(call("k", [t, out], out.type))]
    assert nines_outside(written(*body, others=[cube_side, vector_side, k]), X[:7])


# Regions that only the run knows: a popped tile has that of the part that was pushed

HALF = tile_type([8, 8])


def odd_group(*vector_body, box=16, valid=15, split=3, stride=None):
    """A cube kernel that pushes x, valid in `valid` rows; its lanes own rows of ceil(box/2)."""
    t = tile("t", [box, 8], valid=[valid, 8], memory=Acc)
    keywords = {"split": split, **({"lane_stride": stride} if stride else {})}
    send = [assign(t, load(x, [0, 0], [box, 8], [valid, 8], memory=Acc)), push_to_aiv(t, **keywords)]
    params = [x, out, n]
    return [
        aic(*send, params=params),
        aiv(assign(LANE, lane_index()), *vector_body, ret(out), params=params),
        group_of(evaluate(call("k_aic", params)), ret(call("k_aiv", params, out.type)), params=params),
    ]


LANE, POPPED = scalar("lane"), tile("popped", [8, 8])
POP = assign(POPPED, pop_from_aic([8, 8], split=3))


def stored_rows(value, offset=None):
    return evaluate(store(value, [LANE * 8 if offset is None else offset, 0], out))


def ran(*vector_body, flag=1, **options):
    target = torch.full((16, 8), 9.0)
    namespace = script(*odd_group(*vector_body, **options))
    namespace["_run_group_call"]("k", X, target, flag)
    return target


def test_a_popped_tile_typed_full_is_as_valid_as_what_was_pushed():
    assert nines_outside(ran(POP, stored_rows(POPPED)), X[:15])


def test_elementwise_ops_carry_the_region_of_a_popped_tile_on():
    a, b = tile("a", [8, 8]), tile("b", [8, 8])
    body = [
        POP,
        assign(a, binary("tile.add", POPPED, POPPED)),
        assign(b, binary("tile.muls", a, 0.5)),
        stored_rows(b),
    ]
    assert nines_outside(ran(*body), X[:15])
    nested = unary("tile.neg", unary("tile.neg", binary("tile.adds", POPPED, 1.0)))
    assert nines_outside(ran(POP, stored_rows(nested)), X[:15] + 1)


def test_a_move_of_a_popped_tile_has_its_names():
    m, other = tile("m", [8, 8], memory=ir.MemorySpace.Vec), tile("other", [8, 8])
    moved = [POP, assign(m, op("tile.move", [POPPED], m.type, target_memory=ir.MemorySpace.Vec))]
    text = torch_codegen(program(*odd_group(*moved, stored_rows(m))))
    assert "_tile_store(popped, [lane * 8, 0], out, popped_valid)" in text and " = popped" not in text
    assert nines_outside(ran(*moved, stored_rows(m)), X[:15])
    rebound = assign(POPPED, load(x, [LANE * 8, 0], [8, 8]))  # what was moved keeps its region
    assert nines_outside(ran(*moved, rebound, assign(other, POPPED), stored_rows(m)), X[:15])


def test_a_rebound_name_carries_the_region_on():
    assert nines_outside(
        ran(POP, assign(POPPED, binary("tile.add", POPPED, POPPED)), stored_rows(POPPED)), 2 * X[:15]
    )


def test_a_loop_carries_the_region_on():
    a, r = ir.IterArg("a", HALF, POPPED, U), tile("r", [8, 8])
    b = tile("b", [8, 8])
    loop = for_loop(i, n, assign(b, binary("tile.adds", a, 1.0)), yields(b), carries=[a], results=[r])
    for rounds in (0, 3):
        assert nines_outside(ran(POP, loop, stored_rows(r), flag=rounds), X[:15] + rounds)
    count = carry("count", 0)
    turns = scalar("turns")
    loop = while_loop(
        ir.lt(count, n),
        assign(b, binary("tile.adds", a, 1.0)),
        yields(b, count + 1),
        carries=[a, count],
        results=[r, turns],
    )
    assert nines_outside(ran(POP, loop, stored_rows(r), flag=2), X[:15] + 2)


def test_carries_that_swap_swap_their_regions():
    full, r, s = (tile(hint, [8, 8]) for hint in ("full", "r", "s"))
    p, q = ir.IterArg("p", HALF, POPPED, U), ir.IterArg("q", HALF, full, U)
    loop = for_loop(i, n, yields(q, p), carries=[p, q], results=[r, s])
    body = [POP, assign(full, load(x, [LANE * 8, 0], [8, 8])), loop]
    assert nines_outside(ran(*body, stored_rows(s), flag=3), X[:15])
    assert nines_outside(ran(*body, stored_rows(r), flag=2), X[:15])
    assert nines_outside(ran(*body, stored_rows(r), flag=3), X)


def test_a_branch_yields_the_region_on():
    r, full = tile("r", [8, 8]), tile("full", [8, 8])
    other = seq(
        assign(full, load(x, [LANE * 8, 0], [8, 8])),
        yields(unary("tile.neg", full)),
    )
    branch = if_(ir.gt(n, 0), yields(POPPED), other, [r])
    assert nines_outside(ran(POP, branch, stored_rows(r), flag=1), X[:15])
    assert nines_outside(ran(POP, branch, stored_rows(r), flag=0), -X)


def test_a_pop_that_is_yielded_directly():
    r = tile("r", [8, 8])
    pop = pop_from_aic([8, 8], split=3)
    branch = if_(ir.gt(n, 0), yields(pop), yields(pop_from_aic([8, 8], split=3)), [r])
    for flag in (0, 1):
        assert nines_outside(ran(branch, stored_rows(r), flag=flag), X[:15])


def test_a_name_that_is_popped_in_one_place_and_full_in_another():
    full = tile("full", [8, 8])
    body = [
        POP,
        assign(full, load(x, [LANE * 8, 0], [8, 8])),
        if_(ir.eq(n, 0), assign(POPPED, binary("tile.muls", full, 3.0))),
        stored_rows(POPPED),
    ]
    assert nines_outside(ran(*body, flag=1), X[:15])
    assert nines_outside(ran(*body, flag=0), 3 * X)


def test_the_lane_stride_moves_the_cut():
    """13 valid rows of 16 with stride 7: lanes of 7 and 6 rows, lane 1 from row 7 on."""
    body = [assign(POPPED, pop_from_aic([8, 8], split=3)), stored_rows(POPPED, LANE * 7)]
    assert nines_outside(ran(*body, valid=13, stride=7), X[:13])


@pytest.mark.parametrize("valid", [5, 8, 9, 13])
def test_even_codes_over_a_ragged_region(valid):
    body = [assign(POPPED, pop_from_aic([8, 8], split=1)), stored_rows(POPPED)]
    assert nines_outside(ran(*body, valid=valid, split=1), X[:valid])


def test_a_pop_whose_type_states_the_region_needs_no_companion():
    rows = ir.max_(ir.min_(15 - LANE * 8, 8), 0)
    t = tile("t", [8, 8], valid=[rows, 8])
    body = [assign(t, op("tile.tpop_from_aic", [], t.type, split=3)), stored_rows(t)]
    assert nines_outside(ran(*body), X[:15])
    assert "t_valid" not in torch_codegen(program(*odd_group(*body)))


def test_pushes_that_are_full_and_even_need_no_companion():
    body = [assign(POPPED, pop_from_aic([8, 8], split=1)), stored_rows(POPPED)]
    functions = odd_group(*body, valid=16, split=1)
    assert "popped_valid" not in torch_codegen(program(*functions))
    assert nines_outside(ran(*body, valid=16, split=1), X)


def test_a_region_crosses_the_pipes_there_and_back():
    """The vector core's odd part comes back to the cube core, which sends it on as it is."""
    t = tile("t", [8, 8], valid=[5, 8])
    back, w = tile("back", [8, 8]), tile("w", [8, 8], memory=ir.MemorySpace.Mat)
    vector_side = aiv(
        assign(t, load(x, [0, 0], [8, 8], [5, 8])),
        push_to_aic(t),
        assign(back, pop_from_aic([8, 8])),
        ret(store(back, [0, 0], out)),
        params=[x, out],
    )
    cube_side = aic(assign(w, pop_from_aiv([8, 8])), push_to_aiv(binary("tile.add", w, w)), params=[x, out])
    k = group_of(evaluate(call("k_aic", [x, out])), ret(call("k_aiv", [x, out], out.type)), params=[x, out])
    target = torch.full((16, 8), 9.0)
    script(cube_side, vector_side, k)["_run_group_call"]("k", X, target)
    assert nines_outside(target, 2 * X[:5])


def test_a_partly_valid_popped_tile_needs_a_name():
    with pytest.raises(
        UnsupportedProgramError, match="a partly valid popped tile that is used without a name"
    ):
        script(*odd_group(stored_rows(pop_from_aic([8, 8], split=3))))
