"""Programs that the compiler truly got wrong: the stage that validation names, and the statement behind it.

Each dump holds the frontend, the last stage that is right, and the first that is wrong.
"""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from corpus_check import load_program

from pypto_tmpl.debug import Options, Validation, find_stages, first_divergence

FAULTY = Path(__file__).resolve().parents[2] / "corpus" / "faulty"


@dataclass(frozen=True)
class Answer:
    """The cause as a reader of both dumps finds it.

    ``line`` is in the text of the first wrong stage, or of the one before where the statement got lost.
    """

    program: str
    stage: str
    line: int
    statement: str
    because: str
    is_lost: bool = False
    writer: int = 0  # line of the statement that overwrote what is read, or that writes it too late
    verdict: str = "wrong"


ANSWERS = [
    # `kept` is the first half of a pair made before `a` was multiplied.
    Answer("pair_read_later", "01", 11, "= a", "a has been overwritten", writer=10),
    Answer(
        "work_before_escape",
        "03",
        12,
        "pl.tile.adds(t, 100.0)",
        "no statement of the bad stage makes this value",
        is_lost=True,
    ),
    # A break leaves the carry of the loop as it was; here the branch hands on the half of it.
    Answer("escape_after_update", "03", 17, "pl.yield_(s_half)", "it hands on s_half"),
    Answer("signed_offset", "05", 11, "if d__ssa_v0 < 0:", "has no such branch", is_lost=True),
    # x is read after the loop, whose rounds the bad stage writes into x itself.
    Answer("carry_overwrites_input", "12", 9, "pl.tile.load(b__ssa_v0", "has been overwritten", writer=17),
    Answer("read_between", "37", 9, "pl.tile.load(x__ssa_v0", "has been overwritten", writer=17),
    Answer(
        "batched_product_added_atomically",
        "14",
        15,
        "pl.tile.store(matmul_0, [0, 0, 0], out__ssa_v0, [1, 16, 32])",
        "it has no atomic, the good stage atomic=Add",
    ),
    Answer(
        "loop_result_stored_by_lanes",
        "21",
        65,
        "pl.tile.store(t__rv_v2, [0, 0], out__ssa_v0)",
        "it writes at [0, 0], not at [16, 0]",
    ),
    # [1, 16] stands for a column of 16 rows, of which each lane needs all: lanes divide columns of 128.
    Answer(
        "row_scale_in_column_lanes",
        "21",
        17,
        "pl.tile.slice(sc__rm_a0_tmp_v0, [1, 8], [0, subblock_idx * 8])",
        "cut along axis 0, but the lanes divide axis 1",
        verdict="failed",
    ),
    Answer(
        "scalar_written_by_unsplit_kernel",
        "22",
        16,
        "pl.tensor.write(peak__ssa_v0, [0, 5], v__ssa_v0)",
        "variable 'v__ssa_v0' is used, but nothing before binds it",
        verdict="failed",
    ),
    # The second block is loaded ahead of the pipeline; its first store is yet to come.
    Answer(
        "feedback_through_memory",
        "27",
        18,
        "h__ssa_v0_1",
        "is read before another statement writes it",
        writer=39,
    ),
    Answer(
        "pipeline_through_scratch",
        "30",
        10,
        "pl.tile.load(scratch__ssa_v0",
        "is read before another statement writes it",
        writer=15,
    ),
]


def case(program):
    data = load_program(FAULTY / f"programs/{program}.py")
    inputs = data.make_inputs()
    golden = {name: tensor.clone() for name, tensor in inputs.items()}
    data.golden(golden)
    (folder,) = (FAULTY / f"dumps/{program}").iterdir()
    return folder, inputs, {name: golden[name] for name in data.outputs}


def line_of(source):
    return int(source.rpartition(":")[2])


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer.program)
def test_validation_names_the_stage(answer):
    folder, inputs, expected = case(answer.program)
    with closing(Validation(folder, inputs, expected, Options(jobs=1)).results()) as results:
        verdicts = [(stage.stage.name[:2], stage.verdict) for stage in results]
    assert verdicts[-1] == (answer.stage, answer.verdict)
    assert {verdict for _, verdict in verdicts[:-1]} == {"ok"}


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer.program)
def test_the_search_names_the_statement_that_is_the_cause(answer):
    folder, inputs, expected = case(answer.program)
    found = first_divergence(folder, inputs, expected, Options(jobs=1))
    last_good, first_bad = [stage.name for stage in find_stages(folder)][-2:]
    assert (found.first_bad, found.last_good) == (first_bad, last_good)
    assert found.place_stage == (last_good if answer.is_lost else first_bad)
    assert line_of(found.place.source) == answer.line
    assert answer.statement in found.place.text
    text = (folder / f"{found.place_stage}.py").read_text().splitlines()[answer.line - 1]
    assert answer.statement in text.replace("__FREE_VAR", "")
    assert any(answer.because in reason for reason in found.evidence), found.evidence
    assert (0 if found.writer is None else line_of(found.writer.source)) == answer.writer
    if answer.writer:
        assert "    written by: " in "\n".join(found.lines())


def test_an_undefined_value_is_told_with_the_core_that_has_it():
    folder, inputs, expected = case("scalar_written_by_unsplit_kernel")
    found = first_divergence(folder, inputs, expected)
    assert (found.kind, found.place.function, found.good_place.function) == (
        "rejected",
        "kernel_aic",
        "kernel",
    )
    assert any(reason.startswith("kernel_aiv binds it: v__ssa_v0: ") for reason in found.evidence)
