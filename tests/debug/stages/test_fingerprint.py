"""The digest of IR: equal only for what is structurally equal, and the same in every process."""

import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest
from corpus_check import find_dumps
from scaled_dumps import HEAD, scaled_text, tensor

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.debug.stages.fingerprint import fingerprint

CORPUS = Path(__file__).resolve().parents[2] / "corpus"


def of_text(text):
    return fingerprint(pl.parse(text))


def statement(text, parameters=("x", "y")):
    listed = ", ".join(f"{parameter}: {tensor()}" for parameter in parameters)
    body = f"        z: {tensor()} = {text}\n        return z\n"
    return f"{HEAD}    @pl.function\n    def main(self, {listed}):\n{body}"


def test_names_comments_and_positions_do_not_count():
    plain = scaled_text()
    assert of_text(plain) == of_text(scaled_text(ssa="__ssa_v0"))
    commented = plain.replace("        return", "\n        # done\n        return")
    assert commented != plain and of_text(commented) == of_text(plain)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("pl.tensor.add(x, x)", "pl.tensor.add(x, y)"),
        ("pl.tensor.add(x, y)", "pl.tensor.add(y, x)"),
        ("pl.tensor.add(x, y)", "pl.tensor.sub(x, y)"),
        ("pl.tensor.muls(x, -1)", "pl.tensor.muls(x, -2)"),
        ("pl.tensor.muls(x, 1)", "pl.tensor.muls(x, 1.0)"),
        ("pl.tensor.muls(x, 0.0)", "pl.tensor.muls(x, -0.0)"),
        ("pl.tensor.slice(x, [8, 32], [0, 0])", "pl.tensor.slice(x, [8, 32], [8, 0])"),
    ],
)
def test_every_difference_counts(one, other):
    assert of_text(statement(one)) != of_text(statement(other))


@pytest.mark.corpus
def test_stages_of_real_dumps_are_told_apart_as_structural_equality_does():
    for _, dumps in itertools.groupby(find_dumps(CORPUS, ".msgpack"), lambda d: d.path.parent):
        dumps = list(dumps)
        nodes = [ir.deserialize_from_file(str(dump.path)) for dump in dumps]
        for before, after in itertools.pairwise(nodes):
            assert (fingerprint(before) == fingerprint(after)) is ir.structural_equal(before, after, True)
        again = [ir.deserialize_from_file(str(dump.path)) for dump in dumps]
        assert list(map(fingerprint, again)) == list(map(fingerprint, nodes))


def test_it_does_not_depend_on_the_process(tmp_path):
    dump = tmp_path / "scaled.py"
    dump.write_text(scaled_text())
    code = (
        "import sys, pypto_tmpl.language as pl; from pypto_tmpl.debug.stages.fingerprint import fingerprint; "
        "print(fingerprint(pl.loads(sys.argv[1])).hex())"
    )
    for seed in ("0", "1"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        run = subprocess.run([sys.executable, "-c", code, str(dump)], env=environment, capture_output=True)
        assert run.stdout.decode().strip() == of_text(scaled_text()).hex()
