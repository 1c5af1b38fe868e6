"""The registry of ops as users of ``ir`` ask it."""

import pytest
from ops.calls.operands import D, tensor, tile, type_text

from pypto_tmpl import ir, ops

HERE = ir.Span("k.py", 3, 4)
T = tile(16, 64)


def test_an_op_is_known_by_its_name() -> None:
    assert ir.is_op_registered("tile.add") and not ir.is_op_registered("tile.sum")
    assert ir.get_op("tile.add") == ir.Op("tile.add")
    with pytest.raises(ops.UnknownOpError, match="did you mean 'tile.add'"):
        ir.get_op("tile.addd")


def test_an_op_tells_its_keywords() -> None:
    op = ir.get_op("tile.cast")
    assert op.get_attr_keys() == ["target_type", "mode"]
    assert op.has_attr("mode") and not op.has_attr("clamp")
    assert ir.Op("tile.nothing").get_attr_keys() == []


@pytest.mark.parametrize(("code", "dtype"), [(0x40, D.BF16), (0x33, D.FP16), (0x13, D.INT32)])
def test_a_data_type_may_be_its_code(code: int, dtype: D) -> None:
    assert ir.op.tile.cast(T, code).type.dtype == dtype


@pytest.mark.parametrize("code", [0xFF, True])
def test_what_is_no_code_of_a_data_type_is_refused(code: int) -> None:
    with pytest.raises(ops.OpCallError, match="'target_type' is a data type, not "):
        ir.op.tile.cast(T, code)


def test_a_call_has_the_type_that_its_operands_give() -> None:
    found = ir.create_op_call("tile.cast", [T], {"target_type": D.BF16, "mode": 1}, HERE)
    assert (found.span, type_text(found)) == (HERE, "pl.Tile[[16, 64], pl.BF16, pl.Mem.Vec]")
    assert dict(found.kwargs) == {"target_type": D.BF16, "mode": 1}


def test_the_keywords_may_be_left_out() -> None:
    found = ir.create_op_call("tile.add", [T, T], HERE)
    assert (found.span, found.args, found.type) == (HERE, (T, T), T.type)


@pytest.mark.parametrize(
    ("op", "args", "keywords", "message"),
    [
        ("tile.adds", [T, 1], {}, "tile.adds: args[1] is an expression, not 1"),
        ("tile.neg", [T], {"mode": 1}, "tile.neg: it has no keyword 'mode'; its keywords: none"),
        ("tile.neg", [], {"tile": T}, "tile.neg: it has no keyword 'tile'; its keywords: none"),
        (
            "tile.cast",
            [T],
            {"target_type": 3.5, "mode": 1},
            "tile.cast: the keyword 'target_type' is a data type, not 3.5",
        ),
        (
            "tile.neg",
            [tensor(16, 64)],
            {},
            "tile.neg: the operand 'tile' is pl.Tensor[[16, 64], pl.FP32], and it takes a tile",
        ),
    ],
)
def test_what_an_op_does_not_take_is_refused(op: str, args: list, keywords: dict, message: str) -> None:
    with pytest.raises(ops.OpCallError) as caught:
        ir.create_op_call(op, args, keywords, HERE)
    assert str(caught.value) == message


def test_a_call_of_an_unknown_op_is_refused() -> None:
    with pytest.raises(ops.UnknownOpError, match="no op 'tile.nothing'"):
        ir.create_op_call("tile.nothing", [T], {"mode": 1}, HERE)


@pytest.mark.parametrize(
    ("op", "index", "kwargs", "effect"),
    [
        ("tile.store", 0, {}, "Read"),
        ("tile.store", 2, {}, "Write"),
        ("tile.store", 2, {"atomic": ir.AtomicType.Add}, "ReadWrite"),
        ("tile.matmul_acc", 0, {}, "ReadWrite"),
        ("tensor.write", 0, {}, "Write"),
        ("tile.mgather", 2, {}, "Read"),
        ("tile.mgather", 2, {"coalesce": 1, "target_memory": ir.MemorySpace.Mat}, "Write"),
        ("system.syncall", 0, {"mode": "soft"}, "ReadWrite"),
        ("pld.system.notify", 0, {"op": 1}, "Write"),
        ("pld.system.notify", 0, {"op": 0}, "ReadWrite"),
        ("pld.tensor.all_to_all_v", 2, {}, "ReadWrite"),
        ("pld.tensor.all_to_all_v", 4, {}, "Write"),
    ],
)
def test_effects_on_operands(op: str, index: int, kwargs: dict[str, object], effect: str) -> None:
    assert ir.get_op_arg_effect(op, index, **kwargs) is ir.ArgEffect[effect]


def test_declared_effects() -> None:
    assert ir.op_has_declared_arg_effects("tile.store") and ir.op_has_declared_arg_effect("tile.store", 2)
    assert not ir.op_has_declared_arg_effect("tile.store", 0)
    assert ir.op_has_declared_arg_effects("pld.system.wait")  # which says that there are none
    assert not ir.op_has_declared_arg_effects("tile.add")


def test_effect_of_no_operand() -> None:
    with pytest.raises(IndexError, match=r"tile\.add has 2 operands, there is no operand 2"):
        ir.get_op_arg_effect("tile.add", 2)


def test_memory_of_operands_and_result() -> None:
    space = ir.MemorySpace
    spec = ir.get_op_memory_spec("tile.matmul_bias")
    assert (spec.inputs, spec.output) == (((space.Left,), (space.Right,), (space.Bias,)), space.Acc)
    assert ir.get_op_memory_spec("tile.store").inputs[0] == (space.Vec, space.Acc)
    assert ir.get_op_memory_spec("tensor.dim") is None


def test_a_write_channel_is_refused_and_not_guessed() -> None:
    for op in ("tile.store", "tensor.write", "tile.add"):
        with pytest.raises(NotImplementedError, match=rf"{op}: its write channel is not known"):
            ir.get_op_write_channel(op)
    with pytest.raises(LookupError, match=r"tile\.stor\b"):
        ir.get_op_write_channel("tile.stor")
