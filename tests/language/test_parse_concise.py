"""Concise text, which leaves the types of assigned variables to inference, reads to the same IR."""

import pytest
from corpus_check import Dump, default_corpus, find_dumps

import pypto_tmpl.language as pl
from pypto_tmpl import ir

DUMPS = find_dumps(default_corpus(), ".msgpack")

pytestmark = pytest.mark.corpus


@pytest.mark.parametrize("dump", DUMPS, ids=str)
def test_concise_text_reads_to_the_same_ir(dump: Dump) -> None:
    program = ir.deserialize_from_file(str(dump.path))
    text = ir.python_print(program, concise=True, format=False)
    difference = ir.structural_diff(pl.parse(text), program)
    loses_types = dump.is_excused("text")
    assert (difference is not None) == loses_types, difference


def test_what_a_pipe_yields_keeps_its_type() -> None:
    popped = next(dump for dump in DUMPS if "cross_core_explicit" in str(dump) and dump.stage_number == 0)
    text = ir.python_print(ir.deserialize_from_file(str(popped.path)), concise=True, format=False)
    typed = [line.strip() for line in text.splitlines() if ": pl.Tile" in line and " = " in line]
    assert typed
    assert all("pl.tile.tpop_from_ai" in line for line in typed)


@pytest.mark.parametrize(
    ("type_", "value", "expected"),
    [
        ("[16, 64], pl.FP32, pl.Mem.Vec",
         "pl.tile.create([16, 64], dtype=pl.FP32, target_memory=pl.Mem.Vec)", False),
        ("[16, 64], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[0, 0])",
         "pl.tile.create([16, 64], dtype=pl.FP32, target_memory=pl.Mem.Vec)", True),
        ("[16, 64], pl.FP32, pl.Mem.Vec",
         "pl.tile.load(x, [0, 0, 0], [1, 16, 64], [1, 16, 64], target_memory=pl.Mem.Vec)", True),
        ("[1, 16, 64], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[1, 8, 64])",
         "pl.tile.load(x, [0, 0, 0], [1, 16, 64], [1, 8, 64], target_memory=pl.Mem.Vec)", False),
    ],
)  # fmt: skip
def test_types_that_a_call_does_not_list_stay(type_: str, value: str, expected: bool) -> None:
    head = "# pypto.program: P\nimport pypto.language as pl\n@pl.function\n"
    text = (
        f"{head}def f(x: pl.Tensor[[4, 16, 64], pl.FP32]):\n    t: pl.Tile[{type_}] = {value}\n    return t\n"
    )
    function = pl.parse(text)
    concise = ir.python_print(function, concise=True, format=False)
    assert (f"t: pl.Tile[{type_}] = " in concise) == expected
    assert ir.structural_equal(pl.parse(concise), function)
