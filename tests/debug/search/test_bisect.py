"""The first wrong stage and statement of a dump: how it is found, and what is said of the statement."""

from pathlib import Path

import pytest
import torch
from corpus_check import load_program
from scaled_dumps import expected, inputs, scaled_text, write_dump

from pypto_tmpl.debug import EntryError, MissingTensorError, Options, first_divergence
from pypto_tmpl.debug.trace.value_match import EXACT, Comparable, part_of, same, worst_cell

CORPUS = Path(__file__).resolve().parents[2] / "corpus"
FAULTY = CORPUS / "faulty"
GOOD, BAD = scaled_text(), scaled_text(odd=3.0)


def find(folder, **options):
    run = []
    scan = options.pop("scan", False)
    found = first_divergence(
        folder,
        inputs(),
        expected(),
        Options(**options),
        scan=scan,
        progress=lambda r: run.append(r.stage.name),
    )
    return found, [name[:2] for name in run]


@pytest.mark.parametrize(
    ("program", "last_good", "variable", "text"),
    [
        (
            "ragged_tail_max_full",
            "07_after_FlattenCallExpr",
            "best__ssa_v3",
            "pl.tile.maximum(best__iter_v1, best__rm_a1_tmp_v0)",
        ),
        (
            "layer_norm_pipeline_full",
            "11_after_ConvertTensorToTileOps",
            "s1__tile_1",
            "pl.tile.add(s1__iter_v1, s1__rm_a1_tmp_v0)",
        ),
    ],
)
def test_programs_that_the_compiler_got_wrong(program, last_good, variable, text):
    """Operands of two shapes meet: [32, 1] and [1, 32], of which torch would make [32, 32]."""
    data = load_program(FAULTY / f"programs/{program}.py")
    tensors = data.make_inputs()
    golden = {name: tensor.clone() for name, tensor in tensors.items()}
    data.golden(golden)
    dumps = FAULTY / f"dumps/{program}/Ascend910B"
    found = first_divergence(dumps, tensors, {name: golden[name] for name in data.outputs})
    assert found is not None
    assert (found.first_bad, found.last_good) == ("20_after_ResolveBackendOpLayouts", last_good)
    assert (found.kind, found.place.variable) == ("rejected", variable)
    assert found.place.text.endswith(text)
    line = int(found.place.source.rpartition(":")[2])
    stage = dumps / "20_after_ResolveBackendOpLayouts.py"
    assert stage.read_text().splitlines()[line - 1].strip() == found.place.text
    assert any("got shape" in reason for reason in found.evidence)


def test_the_stage_is_found_by_binary_search(tmp_path):
    folder = write_dump(tmp_path, *[GOOD] * 11, *[BAD] * 5)
    found, run = find(folder)
    assert (found.first_bad, found.last_good, found.search) == (
        "11_after_Pass11",
        "10_after_Pass10",
        "binary search",
    )
    assert len(run) <= 6 and run[:2] == ["00", "15"]
    place = found.place
    assert (found.kind, place.function, place.path, place.variable) == (
        "statement",
        "main",
        "body/0/body/1",
        "b",
    )
    assert place.iteration == {"r": 0} and place.source == f"{folder}/11_after_Pass11.py:10"
    assert "pl.tensor.muls" in place.text and place.generated_text.startswith("b = ")
    assert found.bad.at_index == 3 * 512 and found.good.at_index == 2 * 512  # x[15, 31] = 512
    assert found.evidence == ("it reads 3.0 as operand 1, not 2.0",)


def test_the_stages_are_checked_in_order_where_the_last_one_is_good(tmp_path):
    found, run = find(write_dump(tmp_path, GOOD, GOOD, BAD, GOOD))
    assert (found.first_bad, found.last_good) == ("02_after_Pass2", "01_after_Pass1")
    assert found.search.startswith("scan, since the verdicts")
    assert sorted(run) == ["00", "01", "02", "03"]


def test_the_stages_are_checked_in_order_on_request(tmp_path):
    found, run = find(write_dump(tmp_path, GOOD, GOOD, BAD, BAD), scan=True)
    assert (found.first_bad, found.search, run) == ("02_after_Pass2", "scan", ["00", "01", "02"])


def test_a_stage_that_cannot_be_read_is_passed_over(tmp_path):
    found, _ = find(write_dump(tmp_path, GOOD, "this is no dump", BAD))
    assert (found.first_bad, found.last_good) == ("02_after_Pass2", "00_frontend")


def test_all_good(tmp_path):
    found, run = find(write_dump(tmp_path, GOOD, GOOD, GOOD))
    assert found is None and sorted(run) == ["00", "01", "02"]


def test_without_a_good_stage_the_narrowest_place_is_named(tmp_path):
    found, _ = find(write_dump(tmp_path, BAD, BAD))
    assert (found.first_bad, found.last_good, found.kind) == ("00_frontend", "", "kernel")
    assert (found.tensor, found.cells) == ("out", "all in rows 8-15 of each 16")
    assert found.place.function == "main"
    assert "there is no good stage to compare with" in found.evidence
    assert any("narrowest place known is this kernel" in line for line in found.lines())


def test_a_statement_that_got_lost_is_shown_as_it_was(tmp_path):
    line = next(line for line in GOOD.splitlines(True) if "assemble(out, b" in line)
    found, _ = find(write_dump(tmp_path, GOOD, GOOD.replace(line, "")))
    assert (found.place_stage, found.last_good) == ("00_frontend", "00_frontend")
    assert "pl.tensor.assemble(out, b, [r + 8, 0])" in found.place.text
    assert any("it is in 00_frontend, but not here" in line for line in found.lines())


def test_a_loop_that_ends_early_is_named(tmp_path):
    found, _ = find(write_dump(tmp_path, GOOD, GOOD.replace("pl.range(0, 64, 16)", "pl.range(0, 48, 16)")))
    assert (found.place.path, found.place.variable) == ("body/0", "r")
    assert found.evidence == (
        "its variable takes the values 0, 16, 32 (3 rounds); it took 0, 16, 32, 48 (4 rounds)",
    )


def test_renamed_variables_are_seen_through(tmp_path):
    found, _ = find(
        write_dump(tmp_path, GOOD, scaled_text(ssa="__ssa_v0"), scaled_text(odd=3.0, ssa="__ssa_v1"))
    )
    assert (found.first_bad, found.place.variable) == ("02_after_Pass2", "b")


@pytest.mark.parametrize(
    ("program", "good", "bad", "right", "wrong", "function", "because"),
    [
        (
            "swiglu_scope",
            "38_after_DeriveCallDirections",
            "45_after_Simplify",
            "tpush_to_aiv(t__tile_1, split=0)",
            "tpush_to_aiv(t__tile_1, split=2)",
            "scope_incore_3_aic",
            "it has split=2, the other ends of the pipes have split=0",
        ),
        (
            "swiglu_scope",
            "20_after_ResolveBackendOpLayouts",
            "21_after_LowerAutoVectorSplit",
            "aiv_shard(t__tile_1, split=1)",
            "aiv_shard(t__tile_1, split=2)",
            "scope_incore_2",
            "the script fails here, and all values before it are as in the good stage",
        ),
        (
            "jit_gelu_spmd",
            "09_after_OutlineIncoreScopes",
            "10_after_OutlineClusterScopes",
            "gelu_rows(x__ssa_v0, y__ssa_v0)",
            "gelu_rows(y__ssa_v0, x__ssa_v0)",
            "gelu_rows_spmd",
            "it hands over y as x",
        ),
        (
            "mixed_c2v_up_down",
            "21_after_LowerAutoVectorSplit",
            "22_after_ExpandMixedKernel",
            "store(nxt__tile, [0 + subblock_idx * 16,",
            "store(nxt__tile, [0 + subblock_idx * 8,",
            "main_incore_0_aiv",
            "it writes at [8, 0], not at [16, 0]",
        ),
    ],
    ids=["push", "shard", "call", "store"],
)
def test_a_wrong_statement_of_a_real_stage_is_named(
    tmp_path, monkeypatch, program, good, bad, right, wrong, function, because
):
    """The last of its kind in the text is made wrong; the one before it is not."""
    # Which statement is the first to see a store over the other lane's cells depends on who is first.
    monkeypatch.setenv("PYPTO_TMPL_SCHEDULE_SEED", "0")
    data = load_program(CORPUS / f"programs/{program}.py")
    tensors = data.make_inputs()
    golden = {name: tensor.clone() for name, tensor in tensors.items()}
    data.golden(golden)
    dumps = CORPUS / f"dumps/{program}/Ascend910B"
    (tmp_path / f"{good}.py").write_text((dumps / f"{good}.py").read_text())
    before, _, after = (dumps / f"{bad}.py").read_text().rpartition(right)
    assert before
    (tmp_path / f"{bad}.py").write_text(f"{before}{wrong}{after}")
    found = first_divergence(tmp_path, tensors, {name: golden[name] for name in data.outputs})
    assert found is not None and (found.first_bad, found.last_good) == (bad, good)
    line = before.count("\n") + 1
    assert (found.place.function, found.place.source) == (function, f"{tmp_path / bad}.py:{line}")
    assert because in found.evidence


def test_a_wrong_request_is_told(tmp_path):
    folder = write_dump(tmp_path, GOOD, BAD)
    with pytest.raises(EntryError):
        find(folder, entry="nosuch")
    with pytest.raises(MissingTensorError):
        first_divergence(folder, {"x": inputs()["x"]}, {"nosuch": expected()["out"]})


def test_the_result_is_plain_data(tmp_path):
    found, _ = find(write_dump(tmp_path, GOOD, BAD))
    data = found.as_dict()
    assert (data["place"]["variable"], data["place"]["iteration"]) == ("b", {"r": 0})
    assert data["bad"]["shape"] == (8, 32)


# Comparing values

WHOLE = torch.arange(64.0).reshape(8, 8)


def value(tensor):
    return Comparable.of(tensor)


def test_values_are_the_same_whatever_their_shape():
    assert same(value(WHOLE), value(WHOLE.reshape(1, 64)))
    assert not same(value(WHOLE), value(WHOLE.t().contiguous()))
    assert not same(value(WHOLE), value(WHOLE[:4]))


@pytest.mark.parametrize(
    ("one", "other", "rounded"),
    [
        (torch.tensor([1.0]), torch.tensor([1.0 + 1e-6]), True),
        (torch.tensor([1.0]), torch.tensor([1.001]), False),
        (torch.tensor([1e-9, 1.0]), torch.tensor([0.0, 1.0]), True),
        (torch.tensor([100.0, 1.0]), torch.tensor([-3.4e38, 1.0]), False),
        (torch.tensor([100.0]), torch.tensor([float("-inf")]), False),
        (torch.tensor([float("nan")]), torch.tensor([float("nan")]), True),
        (torch.tensor([3]), torch.tensor([4]), False),
        (torch.tensor([1.0]).bfloat16(), torch.tensor([1.0078125]).bfloat16(), True),
    ],
)
def test_floats_agree_up_to_rounding(one, other, rounded):
    assert same(value(one), value(other)) is rounded
    assert same(value(one), value(other), EXACT) is bool(one.isnan().all())


def test_a_part_is_found_where_it_stands():
    assert part_of(value(WHOLE[4:]), value(WHOLE)) == (4, 0)
    assert part_of(value(WHOLE[:, 4:6]), value(WHOLE)) == (0, 4)
    assert part_of(value(WHOLE[5:, :]), value(WHOLE)) == (5, 0), "the end of an axis, if it does not divide"
    assert part_of(value(WHOLE[4:] + 1), value(WHOLE)) is None
    assert part_of(value(torch.tensor(1.0)), value(torch.tensor(1.0))) is None


def test_a_part_is_looked_for_elsewhere_than_where_another_stands():
    whole = value(torch.zeros(16, 8))
    assert part_of(value(torch.zeros(8, 8)), whole) == (0, 0)
    assert part_of(value(torch.zeros(8, 8)), whole, besides=(0, 0)) == (8, 0)
    rows = value(torch.arange(128.0).reshape(16, 8))
    assert part_of(value(rows.tensor[:8]), rows, besides=(0, 0)) is None


def test_the_worst_cell():
    other = WHOLE.clone()
    other[3, 5] += 7
    other[1, 1] -= 2
    assert worst_cell(value(WHOLE), value(other)) == (3, 5)
    assert worst_cell(value(WHOLE), value(WHOLE[:4])) is None
