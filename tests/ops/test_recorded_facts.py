"""The recorded stages of this repository agree with what the op table says of cores, spaces and storage."""

from pathlib import Path

import pytest
from ops import recorded_facts as recorded

from pypto_tmpl import ir
from pypto_tmpl.ops import facts, load_table
from pypto_tmpl.ops.op_facts import OpFacts

TESTS = Path(__file__).resolve().parents[1]
STAGES = [
    path
    for corpus in ("corpus", "pass_corpus")
    for path in sorted((TESTS / corpus / "dumps").rglob("*.msgpack"))
    if recorded.stage_number(path) >= recorded.MEMORY_IS_KNOWN
]

COLUMN = ir.Var("c", ir.TileType([16, 1], ir.DataType.FP32), ir.Span.unknown())


def read(path: Path) -> ir.Program:
    program = ir.deserialize_from_file(path)
    assert isinstance(program, ir.Program)
    return program


@pytest.mark.parametrize("path", STAGES, ids=lambda path: f"{path.parts[-3]}-{path.stem[:2]}")
def test_recorded_calls(path: Path) -> None:
    stage, found = recorded.stage_number(path), []
    for function in recorded.kernels(read(path)):
        found += recorded.wrong_spaces(function)
        if stage >= recorded.LAYOUTS_ARE_RESOLVED:
            found += recorded.wrong_layouts(function)
        if stage >= recorded.CORES_ARE_APART:
            found += recorded.wrong_cores(function)
        if stage >= recorded.STORAGE_IS_KNOWN:
            is_shared = stage >= recorded.STORAGE_IS_SHARED
            found += recorded.wrong_storage(function, path.parent.name, is_shared=is_shared)
    assert found == []


def test_functions_go_to_the_core_of_their_calls() -> None:
    seen = []
    for before in STAGES:
        after = before.with_name("22_after_ExpandMixedKernel.msgpack")
        if recorded.stage_number(before) >= recorded.CORES_ARE_APART or not after.exists():
            continue
        expanded = read(after)
        for function in recorded.kernels(read(before)):
            if function.func_type is ir.FunctionType.InCore:
                seen.append((recorded.side_of(function), recorded.outcome(function, expanded)))
    assert len(seen) > 3
    assert [pair for pair in seen if pair[0] is not pair[1]] == []


# What the pass makes besides: loads at the entry, stores at the exit, tiles that are filled by parts.
ALWAYS = {"tile.load", "tile.store", "tile.create"}
CONVERTED = [
    path
    for corpus in ("corpus", "pass_corpus")
    for path in sorted((TESTS / corpus / "dumps").rglob("11_after_ConvertTensorToTileOps.msgpack"))
]


@pytest.mark.parametrize("path", CONVERTED, ids=lambda path: path.parts[-3])
def test_tensor_ops_become_what_the_table_says(path: Path) -> None:
    before = recorded.names_of(read(path.with_name("00_frontend.msgpack")))
    after = {name for name in recorded.names_of(read(path)) if name.startswith("tile.")}
    lowered = {tile for name in before for tile in load_table()[name].lowered_names}
    assert after <= lowered | before | ALWAYS


def test_a_contradiction_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The checks above are no empty ones: with other facts the records contradict."""
    path = next(path for path in STAGES if recorded.stage_number(path) >= recorded.STORAGE_IS_SHARED)
    wrong = OpFacts(
        disjoint={"": ("all",)}, operand_memory=((ir.MemorySpace.Bias,),) * 3, view_of=0, row_major=True
    )
    monkeypatch.setattr(facts, "of_value", lambda value: wrong)
    functions = list(recorded.kernels(read(path)))
    assert any(list(recorded.wrong_spaces(function)) for function in functions)
    columns = ir.Call(ir.Op("tile.exp"), [COLUMN], COLUMN.type, COLUMN.span)
    function = ir.Function("f", [COLUMN], [], ir.EvalStmt(columns, COLUMN.span), COLUMN.span)
    assert len(list(recorded.wrong_layouts(function))) == 1
    assert any(list(recorded.wrong_storage(f, "Ascend910B", is_shared=True)) for f in functions)
