"""Poison in emitted scripts: what is said of kernels that read padding, and that others are left alone."""

import pytest
import torch
from codegen.builders import (
    AIV,
    FP32,
    Acc,
    Orchestration,
    U,
    as_expr,
    assign,
    binary,
    body_text,
    call,
    carry,
    evaluate,
    for_loop,
    function,
    load,
    op,
    program,
    ret,
    scalar,
    script,
    store,
    tensor,
    tile,
    unary,
    yields,
)
from corpus_check import default_corpus, failure_reason, find_dumps

from pypto_tmpl import ir
from pypto_tmpl.debug import torch_codegen

x, out = tensor("x", [4, 64]), tensor("out", [4, 64])
column = tensor("column", [4, 1])
POISON = {"poison": True}


def run(*body, poison=True, params=(x, out), target=None):
    """What a kernel leaves in `out`, which was filled with 9."""
    namespace = script(function("kernel", params, *body, type=AIV), options={"poison": poison})
    target = torch.full((4, 64), 9.0) if target is None else target
    namespace["kernel"](torch.full((4, 64), -1.0), target)
    return target


def refusal(*body, **rest):
    with pytest.raises(RuntimeError) as caught:
        run(*body, **rest)
    return str(caught.value)


def line_of(text, *body, params=(x, out)):
    """Number of the line that holds `text` in the script of such a kernel."""
    lines = torch_codegen(program(function("kernel", params, *body, type=AIV)), options=POISON).splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if line.strip() == text]
    return number


def partial(name, valid=40):
    return tile(name, [4, 64], valid=[4, valid])


# A06: reductions of 40 of 64 columns of -1

t, p, e = partial("t"), tile("p", [4, 64]), tile("e", [4, 64])
r, tmp = tile("r", [4, 1]), tile("tmp", [4, 64])
LOAD = assign(t, load(x, [0, 0], [4, 64], [4, 40]))


def reduced(name, *before, of=t):
    """The first cell that a reduction stores."""
    target = torch.full((4, 1), 9.0)
    result = op(f"tile.{name}", [of, tmp], r.type)
    scratch = assign(tmp, op("tile.create", [[4, 64]], tmp.type, dtype=FP32))
    body = [LOAD, scratch, *before, assign(r, result), ret(store(r, [0, 0], column))]
    run(*body, params=(x, column), target=target)
    assert len(set(target.flatten().tolist())) == 1
    return target[0, 0].item()


def padded(pad):
    return assign(p, op("tile.fillpad", [t], p.type, pad_value=pad))


def test_reductions_take_the_valid_elements():
    assert reduced("row_max") == -1
    assert reduced("row_sum") == -40


def test_reductions_of_what_was_padded():
    assert reduced("row_max", padded(ir.PadValue.min), of=p) == -1
    assert reduced("row_sum", padded(ir.PadValue.zero), of=p) == -40


def test_the_classic_mistake_is_no_read_of_padding():
    """exp of padded zeros is 1: wrong numbers, but the kernel's own."""
    once = 2.718281828459045**-1
    exp = assign(e, unary("tile.exp", p))
    assert reduced("row_sum", padded(ir.PadValue.zero), exp, of=e) == pytest.approx(40 * once + 24)
    assert reduced("row_sum", padded(ir.PadValue.min), exp, of=e) == pytest.approx(40 * once)


# A07: an op that reads padding. u is valid in 60 columns, as its first operand is; the second has but 40.

a, b, u = partial("a", 60), partial("b", 40), partial("u", 60)
READS_PADDING = [
    assign(a, load(x, [0, 0], [4, 64], [4, 60])),
    assign(b, load(x, [0, 0], [4, 64], [4, 40])),
    assign(u, binary("tile.add", a, b)),
]
STORE = ret(store(u, [0, 0], out))
CHECK = '_check_poison("u", u, [4, 60], (b, [4, 40]))'
SCRATCH = assign(tmp, op("tile.create", [[4, 64]], tmp.type, dtype=FP32))


def told(*body):
    """What is said of a kernel that begins in this way."""
    line = line_of(CHECK, *body)
    return f"poison: the padding of b gets into 80 valid cells of u, made just before line {line}, in kernel"


def test_an_op_that_reads_padding_is_named():
    body = [*READS_PADDING, STORE]
    assert refusal(*body) == told(*body)


def test_without_poison_padding_is_zero():
    target = run(*READS_PADDING, STORE, poison=False)
    assert target[0].tolist() == [-2] * 40 + [-1] * 20 + [9] * 4


def test_the_first_such_op_is_named_not_what_follows():
    v = partial("v", 60)
    body = [*READS_PADDING, assign(v, unary("tile.exp", u)), ret(store(v, [0, 0], out))]
    assert refusal(*body) == told(*body)
    reduction = assign(r, op("tile.row_max", [u, tmp], r.type))
    body = [SCRATCH, *READS_PADDING, reduction, ret(store(r, [0, 0], out))]
    assert refusal(*body) == told(*body)


def test_a_contraction_over_padding():
    """K is 64 by the left operand, but only 40 rows of the right one are valid."""
    left, right = tile("left", [4, 64], memory=Acc), tile("right", [64, 4], valid=[40, 4], memory=Acc)
    product, y = tile("product", [4, 4], memory=Acc), tensor("y", [64, 4])
    body = [
        assign(left, load(x, [0, 0], [4, 64], memory=Acc)),
        assign(right, load(y, [0, 0], [64, 4], [40, 4], memory=Acc)),
        assign(product, op("tile.matmul", [left, right], product.type)),
        ret(store(product, [0, 0], out)),
    ]
    namespace = script(function("kernel", [x, y, out], *body, type=AIV), options=POISON)
    with pytest.raises(RuntimeError) as caught:
        namespace["kernel"](torch.ones(4, 64), torch.ones(64, 4), torch.zeros(4, 4))
    assert str(caught.value).startswith(
        "poison: the padding of right gets into 16 valid cells of product, made just before line "
    )


def test_cells_that_a_window_brings_in_from_padding():
    """The slice claims columns 32 to 63, of which 40 to 63 are padding."""
    part = tile("part", [4, 32])
    body = [
        LOAD,
        assign(part, op("tile.slice", [t, [4, 32], [0, 32]], part.type)),
        ret(store(part, [0, 0], out)),
    ]
    assert refusal(*body).startswith(
        "poison: the padding of t gets into 96 valid cells of part, made just before line "
    )


# Buffers that nobody has written


def test_a_created_tile_that_is_stored():
    new = tile("new", [4, 64])
    body = [
        assign(new, op("tile.create", [[4, 64]], new.type, dtype=FP32)),
        ret(store(new, [0, 0], out)),
    ]
    line = line_of("return _tile_store(new, [0, 0], out)", *body)
    assert refusal(*body) == (
        f"poison: line {line}, in kernel, writes 256 valid cells of new"
        " that are padding or were never written"
    )


def test_an_accumulator_that_nobody_has_started():
    new, total, i = tile("new", [4, 64]), tile("total", [4, 64]), scalar("i")
    acc = carry("acc", new, new.type)
    body = [
        LOAD,
        padded(ir.PadValue.zero),
        assign(new, op("tile.create", [[4, 64]], new.type, dtype=FP32)),
        for_loop(i, 2, yields(binary("tile.add", acc, p)), carries=[acc], results=[total]),
        ret(store(total, [0, 0], out)),
    ]
    assert "writes 256 valid cells of acc or total that" in refusal(*body)
    named = tile("named", [4, 64])
    body[3] = for_loop(
        i, 2, assign(named, binary("tile.add", acc, p)), yields(named), carries=[acc], results=[total]
    )
    assert refusal(*body).startswith(
        "poison: what was never written of new or acc gets into 256 valid cells of named, made just before"
    )


def test_an_accumulator_that_a_predicate_starts():
    """init_cond overwrites it in the first round, so nothing of it is read."""
    left, right = tile("left", [4, 64], memory=Acc), tile("right", [64, 64], memory=Acc)
    new, total, i = tile("new", [4, 64], memory=Acc), tile("total", [4, 64], memory=Acc), scalar("i")
    acc, step = carry("acc", new, new.type), tile("step", [4, 64], memory=Acc)
    y = tensor("y", [64, 64])
    is_first = ir.Eq(i, as_expr(0), ir.DataType.BOOL, U)
    body = [
        assign(left, load(x, [0, 0], [4, 64], memory=Acc)),
        assign(right, load(y, [0, 0], [64, 64], memory=Acc)),
        assign(new, op("tile.create", [[4, 64]], new.type, dtype=FP32)),
        for_loop(
            i,
            4,
            assign(
                step,
                op("tile.matmul_acc", [acc, left, right, is_first], acc.type),
            ),
            yields(step),
            carries=[acc],
            results=[total],
        ),
        ret(store(total, [0, 0], out)),
    ]
    namespace = script(function("kernel", [x, y, out], *body, type=AIV), options=POISON)
    target = torch.zeros(4, 64)
    namespace["kernel"](torch.ones(4, 64), torch.eye(64), target)
    assert target.flatten().tolist() == [4.0] * 256


def test_a_buffer_that_is_written_in_part_and_read_by_another_kernel():
    """The first kernel writes two of four rows; the second one reads all."""
    buffer, rows = tensor("buffer", [4, 64]), tile("rows", [2, 64])
    writer = function(
        "writer",
        [x, out],
        assign(rows, load(x, [0, 0], [2, 64])),
        ret(store(rows, [0, 0], out)),
        type=AIV,
        returns=[out.type],
    )
    whole = tile("whole", [4, 64])
    reader = function(
        "reader",
        [x, out],
        assign(whole, load(x, [0, 0], [4, 64])),
        ret(store(whole, [0, 0], out)),
        type=AIV,
        returns=[out.type],
    )
    main = function(
        "main",
        [x, out],
        assign(buffer, op("tensor.create", [[4, 64]], buffer.type, dtype=FP32)),
        evaluate(call("writer", [x, buffer], out.type)),
        ret(call("reader", [buffer, out], out.type)),
        type=Orchestration,
        returns=[out.type],
    )
    namespace = script(writer, reader, main, options=POISON)
    with pytest.raises(RuntimeError) as caught:
        namespace["main"](torch.ones(4, 64), torch.zeros(4, 64))
    assert "in reader, reads 128 valid cells of x that are padding or were never written" in str(caught.value)


# What gets no check


@pytest.mark.parametrize(
    "body",
    [
        [LOAD, assign(partial("u"), unary("tile.exp", t))],
        [LOAD, assign(partial("u"), binary("tile.add", t, t))],
        [LOAD, assign(p, op("tile.fillpad", [t], p.type, pad_value=ir.PadValue.zero))],
        [LOAD, assign(r, op("tile.row_sum", [t, tmp], r.type))],
        [LOAD, ret(store(t, [0, 0], out))],
        [assign(p, load(x, [0, 0], [4, 64])), assign(e, binary("tile.add", p, p))],
    ],
    ids=["unary", "same region", "fillpad", "reduction", "store", "whole"],
)
def test_ops_that_cannot_let_padding_in_have_no_check(body):
    scratch = assign(tmp, op("tile.create", [[4, 64]], tmp.type, dtype=FP32))
    assert "_check_poison" not in body_text(scratch, *body, params=[x, out], options=POISON)


def test_a_lane_without_valid_cells_has_no_check():
    """What SplitVectorKernel leaves of a load on lane 1 is a new tile of which nothing is valid."""
    new, u = tile("new", [4, 64], valid=[0, 0]), tile("u", [4, 64], valid=[0, 0])
    body = [
        assign(new, op("tile.create", [[4, 64]], new.type, dtype=FP32)),
        assign(u, unary("tile.exp", new)),
        ret(store(u, [0, 0], out)),
    ]
    assert "_check_poison" not in body_text(*body, params=[x, out], options=POISON)
    assert run(*body).flatten().tolist() == [9.0] * 256


def test_nan_of_the_inputs_is_the_program_s_own():
    namespace = script(function("kernel", [x, out], *READS_PADDING, STORE, type=AIV), options=POISON)
    source = torch.full((4, 64), float("nan"))
    with pytest.raises(RuntimeError, match="the padding of b gets into 80 valid cells of u"):
        namespace["kernel"](source, torch.zeros(4, 64))
    same = tile("same", [4, 64], valid=[4, 60])
    body = [READS_PADDING[0], assign(same, binary("tile.add", a, a)), ret(store(same, [0, 0], out))]
    namespace = script(function("kernel", [x, out], *body, type=AIV), options=POISON)
    target = torch.zeros(4, 64)
    namespace["kernel"](source, target)
    assert int(target.isnan().sum()) == 240


# Real kernels read no padding, and nothing that nobody has written


@pytest.mark.corpus
@pytest.mark.parametrize("dump", find_dumps(default_corpus(), ".msgpack"), ids=str)
def test_real_dumps_compute_their_golden_under_poison(dump, monkeypatch):
    monkeypatch.setenv("PYPTO_TMPL_POISON", "1")
    assert failure_reason("run", dump) is None
