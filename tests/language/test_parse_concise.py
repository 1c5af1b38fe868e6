"""Concise text, which leaves the types of assigned variables to inference, reads to the same IR."""

import pytest
from corpus_check import TEXT_LOSES_CARRY_TYPES_FROM, Dump, default_corpus, find_dumps

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.ir.visitor import walk

DUMPS = find_dumps(default_corpus(), ".msgpack")

pytestmark = pytest.mark.corpus


def loses_types(dump: Dump, program: ir.IRNode) -> bool:
    """Whether a pass gave values types that their operands do not tell, or carries types that text never has.

    A window of three axes is read as a tile of two; of a lane without a part of a split nothing is valid.
    """
    if dump.stage_number >= TEXT_LOSES_CARRY_TYPES_FROM.get(dump.program, 100):
        return True
    calls = [
        node for node in walk(program) if isinstance(node, ir.Call) and isinstance(node.type, ir.TileType)
    ]
    return any(
        (call.op.name == "tile.load" and len(call.type.shape) < len(call.args[2].elements))
        or (call.op.name in ("tile.create", "tile.full") and call.type.tile_view is not None
            and any(getattr(extent, "value", None) == 0 for extent in call.type.tile_view.valid_shape))
        for call in calls
    )  # fmt: skip


@pytest.mark.parametrize("dump", DUMPS, ids=str)
def test_concise_text_reads_to_the_same_ir(dump: Dump) -> None:
    program = ir.deserialize_from_file(str(dump.path))
    text = ir.python_print(program, concise=True, format=False)
    difference = ir.structural_diff(pl.parse(text), program)
    assert (difference is not None) == loses_types(dump, program), difference


def test_what_a_pipe_yields_keeps_its_type_in_concise_text() -> None:
    popped = next(dump for dump in DUMPS if "cross_core_explicit" in str(dump) and dump.stage_number == 0)
    text = ir.python_print(ir.deserialize_from_file(str(popped.path)), concise=True, format=False)
    typed = [line.strip() for line in text.splitlines() if ": pl.Tile" in line and " = " in line]
    assert typed
    assert all("pl.tile.tpop_from_ai" in line for line in typed)
