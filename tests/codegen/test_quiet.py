"""Statements that say nothing to who reads a script are left out: what it computes stays the same."""

import torch
from codegen.builders import (
    FP32,
    Mat,
    assign,
    binary,
    body_text,
    call,
    carry,
    evaluate_body,
    for_loop,
    function,
    if_,
    load,
    numbers,
    op,
    program_part,
    ret,
    run,
    scalar,
    store,
    tensor,
    tensor_type,
    tile,
    yields,
)
from codegen.builders import program as program_of

from pypto_tmpl import ir
from pypto_tmpl.debug import torch_codegen

x, out = tensor("x", [4, 8]), tensor("out", [4, 8])
Left = ir.MemorySpace.Left


def move(source, memory=Left):
    return op("tile.move", [source], source.type, target_memory=memory)


def created(var):
    shape = [dim.value for dim in var.type.shape]
    return op("tile.create", [shape], var.type, dtype=FP32, target_memory=ir.MemorySpace.Vec)


def row_max(source, workspace):
    return op("tile.row_max", [source, workspace], tile("r", [4, 1]).type)


def reduced(*more):
    t, w, r = tile("t", [4, 8]), tile("w", [4, 8]), tile("r", [4, 1])
    return [
        assign(t, load(x, [0, 0], [4, 8])),
        assign(w, created(w)),
        *(stmt(w) for stmt in more),
        assign(r, row_max(t, w)),
        ret(r),
    ]


def test_a_workspace_that_no_op_reads_is_not_made():
    assert body_text(*reduced(), params=[x]).splitlines()[1:] == [
        "t = x[0:4, 0:8]",
        "r = torch.amax(t, dim=-1, keepdim=True)",
        "return r",
    ]
    assert evaluate_body(*reduced(), args=[(x, numbers(4, 8))]).flatten().tolist() == [7, 15, 23, 31]


def test_a_workspace_that_is_read_as_well_is_made():
    v = tile("v", [4, 8])
    assert "w = torch.zeros" in body_text(*reduced(lambda w: assign(v, binary("tile.add", w, w))), params=[x])


def test_a_workspace_is_made_where_a_user_s_line_may_read_it():
    body = reduced(lambda w: ir.InlineStmt("w.add_(1)", ir.InlineLanguage.Python, ir.Span.unknown()))
    assert "w = torch.zeros" in body_text(*body, params=[x])


def test_a_traced_script_makes_a_workspace():
    text = torch_codegen(program_of(function("f", [x], *reduced())), trace=True)
    assert "w = torch.zeros" in program_part(text)


def moved(*behind, source=None):
    t, m = tile("t", [4, 8], memory=Mat), tile("t_Left", [4, 8], memory=Left)
    return [
        assign(t, source or load(x, [0, 0], [4, 8], memory=Mat)),
        assign(m, move(t)),
        *(part for stmt in behind for part in stmt(t, m)),
    ]


def doubled(t, m):
    u = tile("u", [4, 8])
    return [assign(u, binary("tile.add", m, t)), ret(u)]


def test_a_move_gives_no_second_name():
    assert body_text(*moved(doubled), params=[x]).splitlines()[1:] == [
        "t = x[0:4, 0:8]",
        "u = t + t",
        "return u",
    ]


def test_a_move_whose_operand_gets_another_value_gives_a_name():
    def rebound(t, m):
        return [assign(t, load(out, [0, 0], [4, 8], memory=Mat)), *doubled(t, m)]

    body = moved(rebound)
    assert "t_Left = t\n" in body_text(*body, params=[x, out])
    got = evaluate_body(*body, args=[(x, numbers(4, 8)), (out, torch.ones(4, 8))])
    assert torch.equal(got, numbers(4, 8) + 1)


def test_a_move_of_a_tile_that_is_written_copies():
    def written(t, m):
        w = tile("w", [4, 8])
        return [assign(w, op("tile.write", [t, [0, 0], 5.0], t.type)), *doubled(w, m)]

    body = moved(written)
    assert "t_Left = t.clone()\n" in body_text(*body, params=[x])
    want = numbers(4, 8) * 2
    want[0, 0] = 5
    assert torch.equal(evaluate_body(*body, args=[(x, numbers(4, 8))]), want)


def test_a_move_in_a_branch_whose_result_is_used_behind_it_gives_a_name():
    t, m, n, u = tile("t", [4, 8]), tile("m", [4, 8]), scalar("n"), tile("u", [4, 8])
    body = [
        assign(t, load(x, [0, 0], [4, 8])),
        assign(m, binary("tile.add", t, t)),
        if_(n < 1, assign(m, move(t))),
        assign(u, binary("tile.sub", m, t)),
        ret(u),
    ]
    assert "m = t\n" in body_text(*body, params=[x, n])
    assert not evaluate_body(*body, args=[(x, numbers(4, 8)), (n, 0)]).any()


def test_a_move_of_a_carry_gives_a_name():
    """The carry has its next value before the loop's end; the move's result has the old one."""
    first, i = tile("first", [4, 8]), scalar("i")
    t, m, after = carry("t", first), tile("m", [4, 8]), tile("after", [4, 8])
    new = tile("new", [4, 8])
    body = [
        assign(first, load(x, [0, 0], [4, 8])),
        for_loop(
            i, 3, assign(m, move(t)), assign(new, binary("tile.add", m, m)), yields(new),
            carries=[t], results=[after],
        ),
        ret(store(after, [0, 0], out)),
    ]  # fmt: skip
    assert "m = t\n" in body_text(*body, params=[x, out])
    got = evaluate_body(*body, args=[(x, numbers(4, 8)), (out, torch.zeros(4, 8))])
    assert torch.equal(got, numbers(4, 8) * 8)


# Results of loops


def stored_by_rounds(*behind):
    """A loop that stores in each round, and carries what it stores into."""
    i, t, c, after = scalar("i"), tile("t", [1, 8]), carry("c", out), tensor("after", [4, 8])
    stored = tensor("stored", [4, 8])
    return [
        for_loop(
            i, 4, assign(t, load(x, [i, 0], [1, 8])), assign(stored, store(t, [i, 0], c)), yields(stored),
            carries=[c], results=[after],
        ),
        *(part for stmt in behind for part in stmt(after)),
    ]  # fmt: skip


def test_a_result_that_nothing_reads_has_no_name():
    body = stored_by_rounds(lambda after: [ret(out)])
    assert "after" not in body_text(*body, params=[x, out])
    got = evaluate_body(*body, args=[(x, numbers(4, 8)), (out, torch.zeros(4, 8))])
    assert torch.equal(got, numbers(4, 8))
    assert "after = c" in torch_codegen(program_of(function("f", [x, out], *body)), trace=True)


def test_a_result_that_is_read_has_a_name():
    body = stored_by_rounds(lambda after: [ret(after)])
    assert body_text(*body, params=[x, out]).endswith("after = c\nreturn after")
    line = ir.InlineStmt("after[0, 0] = 5", ir.InlineLanguage.Python, ir.Span.unknown())
    body = stored_by_rounds(lambda after: [line, ret(out)])
    got = evaluate_body(*body, args=[(x, numbers(4, 8)), (out, torch.zeros(4, 8))])
    assert got[0, 0] == 5


def test_of_several_results_those_that_are_read_have_names():
    i, t, u = scalar("i"), tile("t", [4, 8]), tile("u", [4, 8])
    a, b, s = carry("a", t), carry("b", t), tile("s", [4, 8])
    first, second = tile("first", [4, 8]), tile("second", [4, 8])
    body = [
        assign(t, load(x, [0, 0], [4, 8])),
        for_loop(
            i, 3, assign(s, binary("tile.add", a, b)), assign(u, binary("tile.add", s, t)), yields(b, u),
            carries=[a, b], results=[first, second],
        ),
        ret(second),
    ]  # fmt: skip
    assert body_text(*body, params=[x]).endswith("second = b\nreturn second")
    assert torch.equal(
        evaluate_body(*body, args=[(x, numbers(4, 8))]), numbers(4, 8) * 9
    )  # 1 1, 1 3, 3 5, 5 9


# Tuples

PAIR = ir.TupleType([tensor_type([4, 8]), tensor_type([4, 8])])


def swapped(*taken, result):
    """A program whose entry takes elements of what `swap` returns, by (variable, index)."""
    a, b, pair = tensor("a", [4, 8]), tensor("b", [4, 8]), ir.Var("pair", PAIR, ir.Span.unknown())
    swap = function("swap", [a, b], ret(b, a), returns=list(PAIR.types))
    items = [assign(var, ir.TupleGetItemExpr(pair, index, ir.Span.unknown())) for var, index in taken]
    entry = function("f", [x, out], assign(pair, call("swap", [x, out], PAIR)), *items, ret(*result))
    return torch_codegen(program_of(entry, swap))


def test_a_tuple_is_unpacked():
    p, q = tensor("p", [4, 8]), tensor("q", [4, 8])
    text = swapped((q, 1), (p, 0), result=[p, q])
    assert "    p, q = swap(x, out)\n    return p, q\n" in text
    first, second = run(text)["f"](torch.zeros(4, 8), torch.ones(4, 8))
    assert first.all() and not second.any()


def test_an_element_that_nobody_takes_has_no_name():
    q = tensor("q", [4, 8])
    text = swapped((q, 1), result=[q])
    assert "    _, q = swap(x, out)\n    return q\n" in text
    assert not run(text)["f"](torch.zeros(4, 8), torch.ones(4, 8)).any()


def test_a_tuple_that_is_taken_apart_twice_keeps_its_name():
    p, q = tensor("p", [4, 8]), tensor("q", [4, 8])
    text = swapped((p, 0), (q, 0), result=[p, q])
    assert "    pair = swap(x, out)\n    p = pair[0]\n    q = pair[0]\n" in text
    assert all(part.all() for part in run(text)["f"](torch.zeros(4, 8), torch.ones(4, 8)))
