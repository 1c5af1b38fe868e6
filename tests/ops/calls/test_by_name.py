"""``ops.call``: calls by the registered name; the calls of the real dumps are built again as they are."""

from collections.abc import Callable

import pytest
from corpus_check import Dump
from ops.calls.operands import D, Mem, S, scalar, tensor, text, tile, type_text
from ops.typing.test_inference_corpus import DUMPS, is_refined, op_calls, without_memref

from pypto_tmpl import ir, ops

X, T = tensor(32, 64), tile(16, 64)
N = scalar()


@pytest.mark.corpus
@pytest.mark.parametrize("dump", DUMPS, ids=str)
def test_a_recorded_call_is_built_again(dump: Dump) -> None:
    """Operands and keywords give the recorded call; its type too, but for the place in memory."""
    for call in op_calls(dump):
        stated = without_memref(call.type)
        declared = stated if is_refined(call, dump) else None
        found = ops.call(call.op.name, *call.args, span=call.span, result_type=declared, **dict(call.kwargs))
        placed = without_memref(found.type)
        expected = ir.Call(call.op, call.args, call.kwargs, None, placed, call.span)
        again = ir.Call(found.op, found.args, found.kwargs, None, placed, found.span)
        assert ir.structural_diff(again, expected) is None
        assert ir.structural_diff(placed, stated) is None, ir.python_print(call)


@pytest.mark.parametrize(
    ("call", "printed", "type_"),
    [
        (
            lambda: ops.call("tile.load", X, [8, N], [16, 64], [4, 64], target_memory="Mat"),
            "pl.tile.load(x, [8, n], [16, 64], [4, 64], target_memory=pl.Mem.Mat)",
            "pl.Tile[[16, 64], pl.FP32, pl.Mem.Mat, pl.TileView(valid_shape=[4, 64])]",
        ),
        (
            lambda: ops.call("tile.load", X, offsets=[0, 0], shapes=[16, 64], valid_shape=[16, 64]),
            "pl.tile.load(x, [0, 0], [16, 64], [16, 64])",
            "pl.Tile[[16, 64], pl.FP32]",
        ),
        (
            lambda: ops.call("tile.adds", tile(16, 64, dtype=D.BF16), 2),
            "pl.tile.adds(t, pl.const(2, pl.BF16))",
            "pl.Tile[[16, 64], pl.BF16, pl.Mem.Vec]",
        ),
        (  # a constant that has a dtype keeps it
            lambda: ops.call("tile.adds", T, ir.ConstInt(2, D.INDEX, S)),
            "pl.tile.adds(t, 2)",
            "pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec]",
        ),
        (
            lambda: ops.call("tile.cast", T, target_type="BF16", mode="rint"),
            "pl.tile.cast(t, target_type=pl.BF16, mode='rint')",
            "pl.Tile[[16, 64], pl.BF16, pl.Mem.Vec]",
        ),
        (lambda: ops.call("tile.get_block_idx"), "pl.tile.get_block_idx()", "pl.Scalar[pl.INDEX]"),
        (  # a region that is absent before an operand that is there
            lambda: ops.call("tensor.slice", X, [1, 8], [0, 0], None, [0]),
            "pl.tensor.slice(x, [1, 8], [0, 0], [], [0])",
            "pl.Tensor[[8], pl.FP32]",
        ),
        (
            lambda: ops.call("tile.tpop_from_aic", split=1, result_type=T.type),
            "pl.tile.tpop_from_aic(split=1)",
            "pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec]",
        ),
    ],
)
def test_a_call_has_the_operands_and_the_type_of_its_op(
    call: Callable[[], ir.Call], printed: str, type_: str
) -> None:
    found = call()
    assert (text(found), type_text(found)) == (printed, type_)


def test_the_span_is_the_one_given() -> None:
    span = ir.Span("k.py", 3, 4)
    found = ops.call("tile.adds", T, 2.0, span=span)
    assert (found.span, found.args[1].span) == (span, span)
    assert ops.call("tile.neg", T).span == ir.Span.unknown()


@pytest.mark.parametrize(
    ("call", "message", "hint"),
    [
        (lambda: ops.call("tile.neg"), "tile.neg: the operand 'tile' is missing", None),
        (
            lambda: ops.call("tile.neg", X),
            "tile.neg: the operand 'tile' is pl.Tensor[[32, 64], pl.FP32], and it takes a tile",
            None,
        ),
        (lambda: ops.call("tile.neg", T, T), "tile.neg: 2 positional arguments, and it takes 1", None),
        (
            lambda: ops.call("tile.load", X, [0, 0], [16, 64], [16, 64], target_mem="Vec"),
            "tile.load: it has no parameter 'target_mem'; did you mean 'target_memory'?",
            None,
        ),
        (
            lambda: ops.call("tile.load", X, [0, 0], [16, 64], [16, 64], target_memory="Vex"),
            "tile.load: the keyword 'target_memory' is a MemorySpace, not 'Vex'",
            "allowed: DDR, Vec, Mat, Left, Right, Acc, Bias, ScalarLocal, LeftScale, RightScale; "
            "did you mean 'Vec'?",
        ),
        (
            lambda: ops.call("tile.load", X, [0, 0.5], [16, 64], [16, 64]),
            "tile.load: a list of extents or offsets holds integers, not pl.Scalar[pl.FP32]",
            None,
        ),
        (
            lambda: ops.call("tile.add", T, tile(8, 64, name="u")),
            "tile.add: the extents 16 and 8 do not agree: 'lhs' is pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] "
            "and 'rhs' is pl.Tile[[8, 64], pl.FP32, pl.Mem.Vec]",
            None,
        ),
        (
            lambda: ops.call("tile.store", T, None, X),
            "tile.store: the operand 'offsets' is missing",
            None,
        ),
        (
            lambda: ops.call("tile.mgather", X, tile(16, 1, dtype=D.INT32), None, [16, 64]),
            "tile.mgather: the operand 'scratch' is missing, and 'valid_shape' after it is given",
            None,
        ),
        (
            lambda: ops.call("tile.tpop_from_aic", split=1),
            "tile.tpop_from_aic: its operands do not tell the type of the result",
            "give result_type",
        ),
    ],
)
def test_a_call_that_the_op_does_not_take_is_refused(
    call: Callable[[], ir.Call], message: str, hint: str | None
) -> None:
    with pytest.raises(ops.OpCallError) as caught:
        call()
    assert (str(caught.value), caught.value.hint) == (message, hint)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(ops.UnknownOpError, match="no op 'tile.nge'"):
        ops.call("tile.nge", T)


@pytest.mark.parametrize("op", [5, None, ir.Op("tile.add")], ids=repr)
def test_an_op_is_called_by_its_name(op: object) -> None:
    with pytest.raises(ops.OpCallError, match="^an op is called by its registered name, a str, got "):
        ops.call(op)


def test_memory_spaces_are_members_or_names() -> None:
    named, member = (ops.call("tile.move", T, target_memory=space) for space in ("Left", Mem.Left))
    assert ir.structural_equal(named, member)
