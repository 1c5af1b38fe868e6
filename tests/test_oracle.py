"""Recorded calls of an independent model of the instructions: a sample here, all where $PYPTO_TMPL_ORACLE is.

How the records are compared is tested on numbers made up here.
"""

import os
from pathlib import Path

import oracle_check
import pytest
import torch
from oracle_records import disagreement, load_records

FOLDER = Path(__file__).resolve().parent / "oracle"
SAMPLE = [pytest.param(record, id=record.id) for record in load_records(FOLDER)]
INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize("record", SAMPLE)
def test_a_recorded_call(record):
    assert record.standing is not None
    assert oracle_check.failure_reason(record) is None


def test_the_sample_is_small_and_shows_every_standing():
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 1_000_000
    assert {record.standing for record in load_records(FOLDER)} == {"yes", "no", "adopted"}


@pytest.mark.skipif("PYPTO_TMPL_ORACLE" not in os.environ, reason="needs the whole record")
def test_all_records(capsys):
    failed = oracle_check.main(["--jobs", "1"])
    printed = capsys.readouterr().out
    assert failed == 0, printed
    assert printed.splitlines()[-1] == "1845/1845"


@pytest.mark.parametrize(
    ("compare", "got", "want", "agrees"),
    [
        ("bits", [1.0, NAN], [1.0, NAN], True),
        ("bits", [0.0, 1.0], [-0.0, 1.0], False),
        ("exact", [0.0, NAN], [-0.0, NAN], False),
        ("exact", [1.0, -NAN], [1.0, NAN], True),
        ("value", [0.0, NAN], [-0.0, NAN], True),
        ("value", [1.0, NAN], [1.0, 2.0], False),
        ({"ulp": 1.0}, [1.0 + 2**-23, INF], [1.0, INF], True),
        ({"ulp": 1.0}, [1.0 + 2**-22, INF], [1.0, INF], False),
        ({"ulp": 1.0}, [1.0, -INF], [1.0, INF], False),
        ({"rtol": 1e-3}, [100.09, 1.0], [100.0, 1.0], True),
        ({"rtol": 1e-3}, [100.11, 1.0], [100.0, 1.0], False),
        ({"atol": 1e-3}, [1.0009, 2.0], [1.0, 2.0], True),
        ({"atol": 1e-3}, [1.0011, 2.0], [1.0, 2.0], False),
        ({"atol": 1e-3}, [2.0**30 + 64, 2.0], [2.0**30, 2.0], True),  # half a unit in the last place
        ({"atol": 1e-3}, [NAN, 2.0], [1.0, 2.0], False),
    ],
)
def test_the_modes_of_comparison(compare, got, want, agrees):
    everywhere = torch.ones(2, dtype=torch.bool)
    why = disagreement(torch.tensor(got), torch.tensor(want), everywhere, compare)
    assert (why is None) == agrees, why


def test_only_defined_cells_count():
    got, want = torch.tensor([[1, 2], [3, 4]]), torch.tensor([[1, 0], [0, 0]])
    cells = torch.tensor([[True, False], [True, False]])
    assert disagreement(got, want, cells, "exact") == "1 of 2 cells differ; first at [1, 0]: 3, want 0"
    assert disagreement(got, want, cells & False, "exact") is None


def test_dtype_and_shape_count():
    cells = torch.ones(2, dtype=torch.bool)
    zeros = torch.zeros(2)
    assert disagreement(zeros.double(), zeros, cells, "value") == "dtype torch.float64, want torch.float32"
    assert disagreement(zeros[None], zeros, cells, "value") == "shape [1, 2], want [2]"


def test_an_op_that_is_not_in_the_table_fails(tmp_path, capsys):
    text = (FOLDER / "manifest.yaml").read_text()
    (tmp_path / "manifest.yaml").write_text(text.replace("op: tile.abs", "op: tile.nosuch"))
    (tmp_path / "sample.npz").write_bytes((FOLDER / "sample.npz").read_bytes())
    options = ["--oracle", str(tmp_path), "--op", "nosuch", "--jobs", "1"]
    assert oracle_check.main(options) == 1
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("tile.nosuch: ")
    assert printed[0].endswith("MissingOpError: not in the op table")
    assert printed[-1].startswith("0/")
