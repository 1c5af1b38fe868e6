"""The first statement that reads wrong bytes: its operand, who has written them, and where."""

import json
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner
from corpus_check import load_program, prepared_inputs
from storage.placed_kernels import inputs, placed

from pypto_tmpl import ir
from pypto_tmpl.cli import main
from pypto_tmpl.debug import Options, find_stages, first_divergence
from pypto_tmpl.storage.overwrites import OverwriteFacts

CORPUS = Path(__file__).resolve().parents[2] / "corpus"
APART = """
    a @ 0x1000 FP32[16, 64] = load(x)
    b @ 0x2000 FP32[16, 64] = load(y)
    w @ 0x1800 FP32[8, 64] = pl.tile.slice(a, [8, 64], [8, 0])
    v @ 0x3000 FP32[8, 64] = pl.tile.muls(w, 2.0)
    d @ 0x1000 FP32[16, 64] = pl.tile.assemble(a, v, [0, 0])
    c @ 0x4000 FP32[16, 64] = pl.tile.add(d, b)
    store(c)
"""
X, Y = inputs()
WANTED = torch.cat([2 * X[8:], X[8:]]) + Y


@pytest.fixture
def search(tmp_path):
    """Bisects two stages, of which the second has another plan."""

    def run(wrong: str, **options):
        for name, body in (("35_after_AllocateMemoryAddr", APART), ("36_after_FoldNoOpReshape", wrong)):
            (tmp_path / f"{name}.py").write_text(ir.python_print(placed(body), format=False))
        tensors = {"x": X, "y": Y, "n": torch.tensor(0), "out": torch.zeros(16, 64)}
        return first_divergence(
            tmp_path, tensors, {"out": WANTED}, Options(entry="kernel", jobs=1, **options)
        )

    return run


def test_a_right_plan_has_no_divergence(search):
    assert search(APART) is None


def test_the_overwriting_statement_is_named_with_both_variables_and_the_bytes(search):
    found = search(APART.replace("0x2000", "0x1400"))
    assert (found.first_bad, found.last_good, found.kind) == (
        "36_after_FoldNoOpReshape",
        "35_after_AllocateMemoryAddr",
        "bytes",
    )
    assert found.overwrite == OverwriteFacts(
        "kernel",
        tile="w",
        line=13,
        memory="Vec",
        first=0x1800,
        last=0x1FFF,
        by="b",
        by_line=11,
        is_left=False,
        text="written by line 11 `b` at Vec 0x1800-0x1fff while `w` is read on line 13",
    )
    assert (found.place.variable, found.place.source[-3:]) == ("w", ":13")
    assert (found.writer.variable, found.writer.source[-3:]) == ("b", ":11")
    assert f"    bytes: {found.overwrite.text}" in list(found.lines())
    assert json.dumps(found.as_dict())


def test_a_window_that_begins_elsewhere_is_told_with_its_tile(search):
    found = search(APART.replace("w @ 0x1800", "w @ 0x1400"))
    assert found.overwrite.text == (
        "`w` is read on line 13 at Vec 0x1400-0x1bff, to which nothing copies `a` on line 12,"
        " which lies at Vec 0x1000"
    )
    assert found.writer is None


def test_a_tile_beyond_its_allocation_is_told_as_the_statement_that_places_it(search):
    found = search(APART.replace("c @ 0x4000", "c @ 0x20000"))
    assert (found.kind, found.place.variable, found.place.source[-3:]) == ("rejected", "c", ":15")
    assert found.evidence == (
        "a tile of 4096 bytes at Vec 0x20000, in an allocation of 65536 bytes from 0x1000 on",
    )


def test_by_values_no_plan_is_wrong(search):
    assert search(APART.replace("0x2000", "0x1400"), storage="off") is None


def test_on_bytes_alone_a_wrong_value_is_found_as_by_values(search):
    found = search(APART.replace("muls(w, 2.0)", "muls(w, 3.0)"), storage="planned")
    assert (found.kind, found.place.variable, found.overwrite) == ("statement", "v", None)


@pytest.mark.parametrize(
    ("storage", "stage", "memory"),
    [("both", "35_after_AllocateMemoryAddr", "Vec"), ("on", "34_after_MemoryReuse", "mem_vec_3")],
)
def test_the_recorded_swap_of_carries_is_named(tmp_path, storage, stage, memory):
    program = load_program(CORPUS / "programs/carried_swap.py")
    tensors = prepared_inputs(program)
    wanted = {name: tensor.clone() for name, tensor in tensors.items()}
    program.golden(wanted)
    for folder, saved in (("in", tensors), ("out", {name: wanted[name] for name in program.outputs})):
        (tmp_path / folder).mkdir()
        for name, tensor in saved.items():
            torch.save(tensor, tmp_path / folder / f"{name}.pt")
    dumps = CORPUS / "dumps/carried_swap/Ascend910B"
    words = ["bisect", str(dumps), "--inputs", str(tmp_path / "in"), "--expected", str(tmp_path / "out")]
    words += ["--entry", program.entry, "--format", "json", "--storage", storage]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 1, done.output
    found = json.loads(done.output)
    assert (found["first_bad"], found["place"]["text"].partition(" = ")[2]) == (stage, "pl.tile.add(a, b)")
    overwrite = found["overwrite"]
    assert (overwrite["tile"], overwrite["by"], overwrite["memory"]) == ("a", "b", memory)
    assert (overwrite["first"], overwrite["last"]) == (0, 0xFFF)
    text = next(one.text for one in find_stages(dumps) if one.name == stage).read_text().splitlines()
    assert "pl.tile.add(a, b)" in text[overwrite["line"] - 1]
    assert "pl.yield_(b, " in text[overwrite["by_line"] - 1]
