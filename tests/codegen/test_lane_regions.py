"""Partly valid tiles that two lanes share before the split is lowered, where types state one extent for both.

The types are those of the language: a shard of V valid rows states ceil(V / 2) on either lane. Lane L holds
clamp(V - L*S, 0, S) of them. Expected values are longhand; outputs start at 9, so that stray writes show.
"""

import pytest
import torch
from codegen.builders import (
    AIV,
    INDEX,
    Acc,
    InCore,
    InOut,
    Mat,
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
    program_part,
    ret,
    scalar,
    script,
    seq,
    store,
    tensor,
    tile,
    unary,
    yields,
)
from codegen.kernels import aic, lane_index, push_to_aiv

from pypto_tmpl import ir
from pypto_tmpl.codegen.unsupported import UnsupportedProgramError
from pypto_tmpl.debug import torch_codegen

ROWS, HALF, COLUMNS = 16, 8, 4
x, out = tensor("x", [ROWS, COLUMNS]), tensor("out", [ROWS, COLUMNS])
lane = scalar("lane")


def whole(valid, rows=ROWS):
    return tile("whole", [rows, COLUMNS], valid=[valid, COLUMNS] if valid < rows else (), memory=Acc)


def half(name, stated, columns=COLUMNS):
    return tile(name, [HALF, columns], valid=[stated, columns] if stated < HALF else ())


def shard(value, result, split=1, **kwargs):
    return assign(result, op("tile.aiv_shard", [value], result.type, split=split, **kwargs))


def region(*body, mode=ir.SplitMode.UP_DOWN):
    return ir.SplitAivScopeStmt(mode, 2, "", seq(assign(lane, lane_index()), *body), U)


def outcome(*body, **attrs):
    """What a kernel of these statements leaves in `out`, given 1, 2, 3, ... as x."""
    main = function("main", [x, (out, InOut)], *body, ret(out), type=InCore, returns=[out.type], **attrs)
    target = torch.full((ROWS, COLUMNS), 9.0)
    script(main)["main"](1 + numbers(ROWS, COLUMNS), target)
    return target


def received(valid, rows=ROWS):
    w = whole(valid, rows)
    return assign(w, load(x, [0, 0], [rows, COLUMNS], [valid, COLUMNS], memory=Acc)), w


def expected(valid, change=lambda t: t):
    target = torch.full((ROWS, COLUMNS), 9.0)
    target[:valid] = change(1 + numbers(ROWS, COLUMNS))[:valid]
    return target


VALID = [1, 2, 5, 8, 9, 13, 15, 16]


@pytest.mark.parametrize("valid", VALID)
def test_each_lane_stores_its_own_rows(valid):
    begin, w = received(valid)
    part, doubled = half("part", (valid + 1) // 2), half("doubled", (valid + 1) // 2)
    body = region(
        shard(w, part),
        assign(doubled, binary("tile.add", part, part)),
        assign(out, store(doubled, [lane * HALF, 0], out)),
    )
    assert torch.equal(outcome(begin, body), expected(valid, lambda t: 2 * t))


@pytest.mark.parametrize("valid", VALID)
def test_a_shard_that_is_an_operand(valid):
    begin, w = received(valid)
    stated = half("part", (valid + 1) // 2).type
    part = op("tile.aiv_shard", [w], stated, split=1)
    stored = store(op("tile.neg", [part], stated), [lane * HALF, 0], out)
    assert torch.equal(outcome(begin, region(assign(out, stored))), expected(valid, lambda t: -t))


@pytest.mark.parametrize("valid", [12, 13])
def test_a_stride_of_7(valid):
    begin, w = received(valid)
    part = half("part", (valid + 1) // 2)
    body = region(shard(w, part, lane_stride=7), assign(out, store(part, [lane * 7, 0], out)))
    assert torch.equal(outcome(begin, body), expected(valid))


def test_an_odd_box_that_is_all_valid():
    """15 rows in boxes of 8: the type of the part states no region, lane 1 has 7 rows."""
    begin, w = received(15, rows=15)
    part, copy = half("part", HALF), half("copy", HALF)
    body = region(
        shard(w, part),
        assign(copy, unary("tile.neg", part)),
        assign(out, store(copy, [lane * HALF, 0], out)),
    )
    assert torch.equal(outcome(begin, body), expected(15, lambda t: -t))


def test_columns():
    """3 valid columns of 4: lane 0 has 2, lane 1 has 1."""
    w = tile("whole", [ROWS, COLUMNS], valid=[ROWS, 3], memory=Acc)
    part = tile("part", [ROWS, 2], valid=[ROWS, 2])
    body = region(
        shard(w, part, split=2), assign(out, store(part, [0, lane * 2], out)), mode=ir.SplitMode.LEFT_RIGHT
    )
    target = torch.full((ROWS, COLUMNS), 9.0)
    target[:, :3] = 1 + numbers(ROWS, COLUMNS)[:, :3]
    assert torch.equal(
        outcome(assign(w, load(x, [0, 0], [ROWS, COLUMNS], [ROWS, 3], memory=Acc)), body), target
    )


def test_a_dynamic_count_of_rows():
    n = scalar("n")
    w = tile("whole", [ROWS, COLUMNS], valid=[n, COLUMNS], memory=Acc)
    part = tile("part", [HALF, COLUMNS], valid=[(n + 1) // 2, COLUMNS])
    body = region(shard(w, part), assign(out, store(part, [lane * HALF, 0], out)))
    begin = assign(w, load(x, [0, 0], [ROWS, COLUMNS], [n, COLUMNS], memory=Acc))
    main = function("main", [x, (out, InOut), n], begin, body, ret(out), type=InCore, returns=[out.type])
    namespace = script(main)
    for valid in VALID:
        target = torch.full((ROWS, COLUMNS), 9.0)
        namespace["main"](1 + numbers(ROWS, COLUMNS), target, valid)
        assert torch.equal(target, expected(valid))


# What is computed from a part


@pytest.mark.parametrize("valid", [5, 9, 13])
def test_a_reduction_of_rows_keeps_their_number(valid):
    begin, w = received(valid)
    stated = (valid + 1) // 2
    part = half("part", stated)
    sums = tile("sums", [HALF, 1], valid=[stated, 1])
    body = region(
        shard(w, part),
        assign(sums, op("tile.row_sum", [part, part], sums.type)),
        assign(out, store(sums, [lane * HALF, 0], out)),
    )
    target = torch.full((ROWS, COLUMNS), 9.0)
    target[:valid, 0] = (1 + numbers(ROWS, COLUMNS)).sum(1)[:valid]
    assert torch.equal(outcome(begin, body), target)


@pytest.mark.parametrize("valid", [5, 9, 13])
def test_a_reduction_over_rows_takes_the_lane_s_own(valid):
    """Lane L's sums are row L of the output; a lane without rows sums nothing."""
    begin, w = received(valid)
    part, sums = half("part", (valid + 1) // 2), tile("sums", [1, COLUMNS])
    body = region(
        shard(w, part),
        assign(sums, op("tile.col_sum", [part], sums.type)),
        assign(out, store(sums, [lane, 0], out)),
    )
    target = torch.full((ROWS, COLUMNS), 9.0)
    source = (1 + numbers(ROWS, COLUMNS))[:valid]
    target[0], target[1] = source[:HALF].sum(0), source[HALF:].sum(0)
    assert torch.equal(outcome(begin, body), target)


@pytest.mark.parametrize("valid", [5, 9, 13])
def test_a_column_that_becomes_a_row(valid):
    begin, w = received(valid)
    stated = (valid + 1) // 2
    part = half("part", stated)
    column, row = tile("column", [HALF, 1], valid=[stated, 1]), tile("row", [1, HALF], valid=[1, stated])
    body = region(
        shard(w, part),
        assign(column, op("tile.row_max", [part, part], column.type)),
        assign(row, op("tile.reshape", [column, [1, HALF]], row.type)),
        assign(out, store(row, [lane, 0], out)),
    )
    main = function("main", [x, (out, InOut)], begin, body, ret(out), type=InCore, returns=[out.type])
    target, wanted = torch.full((2, HALF), 9.0), torch.full((2, HALF), 9.0)
    largest = (1 + numbers(ROWS, COLUMNS)).amax(1)
    for index in range(valid):
        wanted[index // HALF, index % HALF] = largest[index]
    script(main)["main"](1 + numbers(ROWS, COLUMNS), target)
    assert torch.equal(target, wanted)


@pytest.mark.parametrize("valid", [5, 9, 13])
def test_a_window_shows_what_lies_behind_its_offset(valid):
    """Rows 2 to 7 of each part, 4 of them asked for: the type states min(4, ceil(V / 2) - 2)."""
    begin, w = received(valid)
    stated = (valid + 1) // 2
    part = half("part", stated)
    cut = tile("cut", [4, COLUMNS], valid=[max(min(4, stated - 2), 0), COLUMNS])
    body = region(
        shard(w, part),
        assign(cut, op("tile.slice", [part, [4, COLUMNS], [2, 0]], cut.type)),
        assign(out, store(cut, [lane * HALF, 0], out)),
    )
    target = torch.full((ROWS, COLUMNS), 9.0)
    for index, rows in enumerate((min(valid, HALF), max(valid - HALF, 0))):
        shown = max(min(rows - 2, 4), 0)
        first = index * HALF
        target[first : first + shown] = (1 + numbers(ROWS, COLUMNS))[first + 2 : first + 2 + shown]
    assert torch.equal(outcome(begin, body), target)


@pytest.mark.parametrize("valid", [5, 8, 9, 13])
def test_what_both_lanes_gather_has_all_rows_again(valid):
    """The gathered tile is the left factor of a product on the cube's side, which has its rows."""
    begin, w = received(valid)
    stated = (valid + 1) // 2
    part = half("part", stated)
    joined = tile("joined", [ROWS, COLUMNS], valid=[2 * stated, COLUMNS], memory=Mat)
    right = tile("right", [COLUMNS, COLUMNS], memory=Mat)
    product = tile("product", [ROWS, COLUMNS], valid=[2 * stated, COLUMNS], memory=Acc)
    body = region(
        shard(w, part),
        assign(joined, op("tile.aic_gather", [unary("tile.exp", part)], joined.type, split=1)),
        assign(right, load(x, [0, 0], [COLUMNS, COLUMNS], memory=Mat)),
        assign(product, op("tile.matmul", [joined, right], product.type)),
        assign(out, store(product, [0, 0], out)),
    )
    source = (1 + numbers(ROWS, COLUMNS)) / 64
    target = torch.full((ROWS, COLUMNS), 9.0)
    main = function("main", [x, (out, InOut)], begin, body, ret(out), type=InCore, returns=[out.type])
    script(main)["main"](source, target)
    wanted = torch.full((ROWS, COLUMNS), 9.0)
    wanted[:valid] = torch.exp(source[:valid]) @ source[:COLUMNS]
    assert torch.allclose(target, wanted)


def test_a_filled_part_is_full():
    """A fill reads the lane's region and has none: lane 1's last rows are zero, and stored."""
    begin, w = received(13)
    part, full = half("part", 7), half("full", HALF)
    body = region(
        shard(w, part),
        assign(full, op("tile.fillpad", [part], full.type, pad_value=ir.PadValue.zero)),
        assign(out, store(full, [lane * HALF, 0], out)),
    )
    target = 1 + numbers(ROWS, COLUMNS)
    target[13:] = 0
    assert torch.equal(outcome(begin, body), target)


def test_extents_that_the_author_states_stay():
    begin, w = received(13)
    part, two = half("part", 7), tile("two", [HALF, COLUMNS], valid=[2, COLUMNS])
    body = region(
        shard(w, part),
        assign(two, op("tile.set_validshape", [part, 2, COLUMNS], two.type)),
        assign(out, store(two, [lane * HALF, 0], out)),
    )
    target, source = torch.full((ROWS, COLUMNS), 9.0), 1 + numbers(ROWS, COLUMNS)
    target[:2], target[8:10] = source[:2], source[8:10]
    assert torch.equal(outcome(begin, body), target)


@pytest.mark.parametrize("valid", [5, 9, 13])
def test_a_part_that_a_loop_carries(valid):
    begin, w = received(valid)
    stated = (valid + 1) // 2
    part, more, total = half("part", stated), half("more", stated), half("total", stated)
    i, held = scalar("i"), carry("held", part)
    body = region(
        shard(w, part),
        for_loop(
            i,
            3,
            assign(more, binary("tile.add", held, part)),
            yields(more),
            carries=[held],
            results=[total],
        ),
        assign(out, store(total, [lane * HALF, 0], out)),
    )
    assert torch.equal(outcome(begin, body), expected(valid, lambda t: 4 * t))


@pytest.mark.parametrize("valid", [5, 13])
def test_a_function_whose_body_is_lane_code(valid):
    begin, w = received(valid)
    part = half("part", (valid + 1) // 2)
    body = [
        assign(lane, lane_index()),
        begin,
        shard(w, part),
        assign(out, store(part, [lane * HALF, 0], out)),
    ]
    assert torch.equal(outcome(*body, split=1, split_aiv=True), expected(valid))


def test_a_function_that_takes_no_index_of_the_lane():
    """Row 0 of the output takes sums of both lanes, so the type of the part alone tells them apart."""
    begin, w = received(13)
    part, sums = half("part", 7), tile("sums", [1, COLUMNS])
    body = [
        begin,
        shard(w, part),
        assign(sums, op("tile.col_sum", [part], sums.type)),
        evaluate(op("tile.store", [sums, [0, 0], out], out.type, atomic=1)),
    ]
    target = torch.full((ROWS, COLUMNS), 9.0)
    target[0] += (1 + numbers(ROWS, COLUMNS))[:13].sum(0)
    assert torch.equal(outcome(*body, split=1, split_aiv=True), target)


@pytest.mark.parametrize("attrs", [{}, {"split": 1, "split_aiv": True}])
def test_code_outside_of_regions_runs_once(attrs):
    """The attribute stands before the regions are lowered, too; two lanes run them, not the function."""
    t, row = tile("t", [ROWS, COLUMNS]), tile("row", [1, COLUMNS])
    body = [
        assign(t, load(x, [0, 0], [ROWS, COLUMNS])),
        evaluate(op("tile.store", [t, [0, 0], out], out.type, atomic=1)),
        region(
            assign(row, load(x, [lane, 0], [1, COLUMNS])),
            evaluate(op("tile.store", [row, [lane, 0], out], out.type, atomic=1)),
        ),
    ]
    target = 10 + numbers(ROWS, COLUMNS)
    target[:2] += (1 + numbers(ROWS, COLUMNS))[:2]
    assert torch.equal(outcome(*body, **attrs), target)


def test_a_part_that_is_given_to_a_function_is_refused():
    """Its parameter states the same extent for both lanes."""
    begin, w = received(13)
    part, given = half("part", 7), half("given", 7)
    helper = function("helper", [given, out], ret(), type=ir.FunctionType.Inline)
    body = region(shard(w, part), evaluate(call("helper", [part, out])))
    with pytest.raises(UnsupportedProgramError) as caught:
        torch_codegen(program(helper, function("main", [x, out], begin, body, type=InCore)))
    assert [item.what for item in caught.value.found] == [
        "a lane's part of a partly valid tile as an argument of 'helper'"
    ]


# A lane without rows


def guarded(condition, alone):
    """A store under a condition, whose value goes on; `alone` says that the branch does nothing else."""
    t, first, second = (
        tile("t", [4, COLUMNS]),
        tensor("first", [ROWS, COLUMNS]),
        tensor("second", out.type.shape),
    )
    inner = [assign(first, store(t, [0, 0], out))]
    if not alone:
        inner = [assign(t, unary("tile.neg", t)), *inner]
    return [
        assign(t, load(x, [0, 0], [4, COLUMNS])),
        if_(condition, seq(*inner)),
        assign(second, store(t, [8, 0], first)),
        ret(second),
    ]


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("runs", [0, 1])
def test_a_guarded_store_leaves_its_destination(runs, alone):
    n = scalar("n")
    main = function("main", [x, (out, InOut), n], *guarded(ir.gt(n, 0), alone), type=AIV, returns=[out.type])
    target = torch.full((ROWS, COLUMNS), 9.0)
    source = 1 + numbers(ROWS, COLUMNS)
    found = script(main)["main"](source, target, runs)
    wanted = torch.full((ROWS, COLUMNS), 9.0)
    sign = 1 if alone or not runs else -1
    if runs:
        wanted[:4] = sign * source[:4]
    wanted[8:12] = sign * source[:4]
    assert found is target
    assert torch.equal(target, wanted)


def test_a_store_in_the_other_branch():
    n, first = scalar("n"), tensor("first", [ROWS, COLUMNS])
    t = tile("t", [4, COLUMNS])
    body = [
        assign(t, load(x, [0, 0], [4, COLUMNS])),
        if_(ir.gt(n, 0), evaluate(store(t, [4, 0], out)), assign(first, store(t, [0, 0], out))),
        ret(first),
    ]
    namespace = script(function("main", [x, (out, InOut), n], *body, type=AIV, returns=[out.type]))
    for runs in (0, 1):
        target = torch.full((ROWS, COLUMNS), -1.0)
        assert namespace["main"](1 + numbers(ROWS, COLUMNS), target, runs) is target
        assert (target[:4, 0] == -1).tolist() == [bool(runs)] * 4


def test_a_store_in_a_branch_of_a_branch():
    n, first, second = scalar("n"), tensor("first", out.type.shape), tensor("second", out.type.shape)
    t = tile("t", [4, COLUMNS])
    inner = if_(ir.gt(n, 1), assign(second, store(t, [4, 0], first)))
    body = [
        assign(t, load(x, [0, 0], [4, COLUMNS])),
        if_(ir.gt(n, 0), seq(assign(first, store(t, [0, 0], out)), inner)),
        ret(second),
    ]
    namespace = script(function("main", [x, (out, InOut), n], *body, type=AIV, returns=[out.type]))
    for count in (0, 1, 2):
        target = torch.full((ROWS, COLUMNS), -1.0)
        assert namespace["main"](1 + numbers(ROWS, COLUMNS), target, count) is target
        assert [bool(target[row, 0] != -1) for row in (0, 4)] == [count > 0, count > 1]


def test_a_store_whose_value_goes_nowhere_has_no_other_branch():
    n, first = scalar("n"), tensor("first", out.type.shape)
    t = tile("t", [4, COLUMNS])
    body = [
        assign(t, load(x, [0, 0], [4, COLUMNS])),
        if_(ir.gt(n, 0), assign(first, store(t, [0, 0], out))),
        ret(out),
    ]
    text = torch_codegen(program(function("main", [x, (out, InOut), n], *body, type=AIV, returns=[out.type])))
    assert "else:" not in program_part(text)


# An index that only types name


def lane_kernel(index, takes_index=True, name="index"):
    """A vector kernel for 13 valid rows: the types of its tiles name `index`, its code takes `name`."""
    own = scalar(name)
    rows = ir.min_(ir.sub(ir.max_(ir.ConstInt(13, INDEX, U), index * HALF), index * HALF), HALF)
    popped = tile("popped", [HALF, COLUMNS], valid=[rows, COLUMNS])
    doubled = tile("doubled", [HALF, COLUMNS], valid=[rows, COLUMNS])
    place = own if takes_index else lane_index()
    return function(
        "k_aiv",
        [x, out],
        *([assign(own, lane_index())] if takes_index else []),
        assign(popped, op("tile.tpop_from_aic", [], popped.type, split=1)),
        assign(doubled, binary("tile.add", popped, popped)),
        ret(store(doubled, [place * HALF, 0], out)),
        type=AIV,
        returns=[out.type],
        split_aiv=True,
        split=1,
    )


def run_group(kernel):
    begin, w = received(13)
    cube = aic(begin, push_to_aiv(w, split=1), params=(x, out))
    pair = group_of_both()
    main = function("main", [x, out], ret(call("k", [x, out], out.type)))
    target = torch.full((ROWS, COLUMNS), 9.0)
    script(cube, kernel, pair, main)["main"](1 + numbers(ROWS, COLUMNS), target)
    return target


def group_of_both():
    return function(
        "k",
        [x, out],
        evaluate(call("k_aic", [x, out])),
        ret(call("k_aiv", [x, out], out.type)),
        type=ir.FunctionType.Group,
        returns=[out.type],
    )


@pytest.mark.parametrize(
    ("symbol", "takes_index", "name"),
    [
        ("index", True, "index"),  # the variable before ExpandMixedKernel, of the same name
        ("index_3", True, "index"),  # in text, told apart by a number
        ("subblock_idx", False, "index"),  # the name that passes give; no statement takes the index
        ("subblock_idx_1", False, "index"),
    ],
)
def test_a_symbol_in_types_is_this_lane_s_index(symbol, takes_index, name):
    assert torch.equal(
        run_group(lane_kernel(scalar(symbol), takes_index, name)), expected(13, lambda t: 2 * t)
    )


def test_the_symbol_has_the_name_of_the_index_that_is_there():
    begin, w = received(13)
    cube = aic(begin, push_to_aiv(w, split=1), params=(x, out))
    text = torch_codegen(program(cube, lane_kernel(scalar("index")), group_of_both()))
    assert "min(max(13, index * 8) - index * 8, 8)" in text
    assert text.count("index = _get_subblock_idx()") == 1


def test_another_symbol_is_no_index():
    """A count of rows that no parameter has is an obstacle as ever, in lane code too."""
    begin, w = received(13)
    cube = aic(begin, push_to_aiv(w, split=1), params=(x, out))
    with pytest.raises(UnsupportedProgramError) as caught:
        torch_codegen(program(cube, lane_kernel(scalar("LEN")), group_of_both()))
    assert [item.what for item in caught.value.found] == [
        "variable 'LEN' is used, but nothing before binds it"
    ]


def test_an_index_of_a_lane_is_none_of_the_cube():
    index = scalar("subblock_idx")
    t = tile("t", [ROWS, COLUMNS], valid=[index, COLUMNS], memory=Acc)
    cube = aic(
        assign(t, load(x, [0, 0], [ROWS, COLUMNS], [ROWS, COLUMNS], memory=Acc)),
        push_to_aiv(t),
        params=(x, out),
    )
    with pytest.raises(UnsupportedProgramError, match="'subblock_idx' is used, but nothing before binds it"):
        torch_codegen(program(cube))
