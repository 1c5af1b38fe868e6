"""Every op call of the real dumps gets from its operands the type that the dump states."""

from collections.abc import Iterator

import pytest
from corpus_check import Dump, default_corpus, find_dumps

from pypto_tmpl import ir
from pypto_tmpl.ir.walking import walk
from pypto_tmpl.ops import load_table
from pypto_tmpl.ops.typing import InferenceError, built_type, infer_type

TABLE = load_table()
DUMPS = find_dumps(default_corpus(), ".msgpack")

pytestmark = pytest.mark.corpus


def op_calls(dump: Dump) -> Iterator[ir.Call]:
    for node in walk(ir.deserialize_from_file(str(dump.path))):
        if isinstance(node, ir.Call) and not isinstance(node.op, ir.GlobalVar):
            yield node


def without_memref(type_: ir.Type) -> ir.Type:
    """The type before a pass places it in memory."""
    match type_:
        case ir.TupleType(types=types):
            return ir.TupleType([without_memref(part) for part in types])
        case ir.TileType():
            return ir.TileType(type_.shape, type_.dtype, None, type_.tile_view, type_.memory_space)
        case ir.TensorType():
            return ir.TensorType(type_.shape, type_.dtype, None, type_.tensor_view)
    return type_


def is_empty(call: ir.Call) -> bool:
    """Whether the dump says that nothing of a new tile is valid: a lane that has no part in a split."""
    view = call.type.tile_view if isinstance(call.type, ir.TileType) else None
    return view is not None and all(getattr(extent, "value", None) == 0 for extent in view.valid_shape)


def is_refined(call: ir.Call, dump: Dump) -> bool:
    """Whether a pass gave the call a type that its operands do not tell."""
    if call.op.name in ("tile.tpop_from_aic", "tile.tpop_from_aiv"):
        return True  # what is popped, only the annotation says
    if call.op.name in ("tile.create", "tile.full") and is_empty(call):
        return True
    if call.op.name == "tile.load":  # a window of three axes, read as the two of the tile that it fills
        return len(call.type.shape) < len(call.args[2].elements)
    # Lanes halve the values of this program but leave its loop carries whole, as the text check knows too.
    in_carries = call.op.name in ("tile.add", "tile.mul", "tile.neg")
    return dump.program == "swiglu_scope" and dump.stage_number >= 21 and in_carries


@pytest.mark.parametrize("dump", DUMPS, ids=str)
def test_the_operands_give_the_stated_type(dump: Dump) -> None:
    for call in op_calls(dump):
        if not is_refined(call, dump):
            found = infer_type(TABLE[call.op.name], call.args, call.kwargs)
            stated = without_memref(call.type)
            difference = ir.structural_diff(without_memref(found), stated)
            assert difference is None, f"{ir.python_print(call, format=False)}: {difference}"


@pytest.mark.parametrize("dump", DUMPS, ids=str)
def test_real_calls_meet_what_the_ops_require(dump: Dump) -> None:
    """What the language refuses when it builds an op, no dump has."""
    for call in op_calls(dump):
        if not is_refined(call, dump):
            built_type(TABLE[call.op.name], call.args, call.kwargs, {})


def test_wrong_operands_of_real_calls_are_refused() -> None:
    """The calls above are not accepted because everything is."""
    ops = {
        f"{namespace}.{name}" for namespace in ("tensor", "tile") for name in ("add", "sub", "mul", "matmul")
    }
    tried = 0
    for call in (call for dump in DUMPS[::8] for call in op_calls(dump) if call.op.name in ops):
        other = type(call.args[1].type)([3, 5], call.args[1].type.dtype)
        args = [call.args[0], ir.Var("v", other, ir.Span.unknown())]
        with pytest.raises(InferenceError, match="'rhs' is pl.T"):
            built_type(TABLE[call.op.name], args, call.kwargs, {})
        tried += 1
    assert tried > 20
