"""The drawn faults: how many, how they spread, that they show, and that they are where they say."""

import json
import os
from collections import Counter
from dataclasses import replace

import pytest
import torch
from corpus_check import compare_with_golden, default_corpus, load_program
from debug.faults import KINDS, draw
from debug.faults.programs import corpus_program, read_text
from debug.faults.scoring import Score, is_exact, score, table

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.debug import find_stages, torch_codegen
from pypto_tmpl.debug.search.divergence import Divergence
from pypto_tmpl.execution.statement_place import StatementPlace

pytestmark = pytest.mark.xdist_group("faults")  # drawing them takes long

SEED = 1


@pytest.fixture(scope="module")
def faults():
    return draw(SEED)


def real_text(fault):
    return read_text(next(s.path for s in corpus_program(fault.program).stages if s.name == fault.stage))


def test_each_kind_has_three_over_many_programs_and_stages(faults):
    assert Counter(fault.kind for fault in faults) == dict.fromkeys(KINDS, 3)
    assert len(KINDS) == 10
    assert len({fault.program for fault in faults}) >= 10
    assert len({fault.stage for fault in faults}) >= 5


def test_a_seed_draws_the_same_faults_again(faults):
    assert draw(SEED, list(KINDS)[:1]) == faults[:3]


def test_a_right_stage_comes_before_every_fault(faults):
    for fault in faults:
        assert corpus_program(fault.program).stages[0].name < fault.stage


def test_every_fault_changes_what_golden_says_and_the_real_stage_does_not(faults):
    """By the check of the corpus, which is another one than that of the drawing and stricter."""
    for fault in faults:
        program = load_program(default_corpus() / "programs" / f"{fault.program}.py")
        assert run(program, real_text(fault), fault.options) is None, fault.name
        assert run(program, fault.text, fault.options) is not None, fault.name


def run(program, text, options):
    namespace = {"__name__": "emitted"}
    given = {name: bool(value) for name, value in options.items()}
    exec(torch_codegen(pl.parse(text, "stage"), check_shapes=True, options=given), namespace)
    try:
        return compare_with_golden(program, namespace[program.entry])
    except Exception as error:
        return f"raises {error}"


def test_one_statement_is_wrong_and_it_is_the_one_that_is_told(faults):
    for fault in faults:
        right, wrong = real_text(fault).splitlines(), fault.text.splitlines()
        if fault.dropped:
            at = next(i for i, line in enumerate(right) if line.strip() == fault.dropped)
            assert wrong[:at] == right[:at] and len(wrong) == len(right) - 1, fault.name
        else:
            (changed,) = (i for i, (a, b) in enumerate(zip(right, wrong, strict=True), 1) if a != b)
            assert changed == fault.line, fault.name
        if fault.line:
            assert wrong[fault.line - 1].strip() == fault.statement, fault.name


def test_a_written_fault_is_a_dump_as_the_compiler_writes_it(faults, tmp_path):
    fault = next(fault for fault in faults if fault.kind == "wrong_offset")
    fault.write(tmp_path)
    stages = find_stages(tmp_path / "passes_dump")
    at = [stage.name for stage in stages].index(fault.stage)
    program = corpus_program(fault.program)
    assert [s.text.read_text() for s in stages[:at]] == [read_text(s.path) for s in program.stages[:at]]
    assert stages[at].text.read_text() == fault.text
    for stage in stages:
        binary = ir.deserialize_from_file(str(stage.binary))
        assert ir.python_print(binary, format=False) == stage.text.read_text()
    saved = {file.stem: torch.load(file) for file in (tmp_path / "inputs").iterdir()}
    assert all(torch.equal(saved[name], tensor) for name, tensor in program.inputs.items())
    assert {file.stem for file in (tmp_path / "expected").iterdir()} == set(program.expected)
    truth = json.loads((tmp_path / "fault.json").read_text())
    assert (truth["function"], truth["line"]) == (fault.function, fault.line)


def test_later_stages_have_the_same_fault_or_are_left_out(faults):
    fault = next(fault for fault in faults if fault.kind == "wrong_constant")
    program = corpus_program(fault.program)
    later = [(name, text) for name, text in fault.stages() if name > fault.stage]
    assert all(program.outcome(name, text, fault.options) for name, text in later)


def answer(fault, **changes):
    """What a search says that names the fault, with some of it changed."""
    place = StatementPlace(fault.function, source=f"{fault.stage}.py:{fault.line}", variable="v")
    found = Divergence(fault.stage, stage_before(fault), "scan", "statement", place, place_stage=fault.stage)
    of_place = {name: value for name, value in changes.items() if hasattr(place, name)}
    of_found = {name: value for name, value in changes.items() if name not in of_place}
    return replace(found, place=replace(place, **of_place), **of_found)


def stage_before(fault):
    names = [stage.name for stage in corpus_program(fault.program).stages]
    return names[names.index(fault.stage) - 1]


def test_only_the_statement_itself_is_an_exact_answer(faults):
    for fault in (fault for fault in faults if fault.line):
        assert is_exact(fault, answer(fault))
        assert not is_exact(fault, answer(fault, source=f"{fault.stage}.py:{fault.line + 1}"))
        assert not is_exact(fault, answer(fault, source=""))
        assert not is_exact(fault, answer(fault, function="another"))
        assert not is_exact(fault, answer(fault, first_bad=stage_before(fault)))
        assert not is_exact(fault, answer(fault, place_stage=stage_before(fault)))


def test_a_lost_statement_may_be_named_where_it_still_stands(faults):
    told = 0
    for fault in (fault for fault in faults if fault.dropped):
        lost, stage = fault.dropped.partition(":")[0], stage_before(fault)
        path = next(found.path for found in corpus_program(fault.program).stages if found.name == stage)
        lines = read_text(path).splitlines()
        numbers = [number for number, line in enumerate(lines, 1) if line.strip().startswith(f"{lost}:")]
        if len(numbers) != 1:
            continue
        told += 1
        above = [line.split("def ")[1] for line in lines[: numbers[0]] if line.strip().startswith("def ")]
        before = {"place_stage": stage, "function": above[-1].partition("(")[0], "variable": lost}
        assert is_exact(fault, answer(fault, source=f"{stage}.py:{numbers[0]}", **before))
        assert not is_exact(fault, answer(fault, source=f"{stage}.py:{numbers[0] + 1}", **before))
        for part in ("variable", "function"):
            wrong = before | {part: "another", "source": f"{stage}.py:{numbers[0]}"}
            assert not is_exact(fault, answer(fault, **wrong))
    assert told


def test_the_search_names_nearly_all_of_them(faults):
    """All of them where everything is checked, else one of each kind."""
    chosen = faults if os.environ.get("CI") else faults[::3]
    missed = [fault.name for fault in chosen if not score(fault).is_exact]
    assert len(missed) <= len(chosen) // 10, missed


def test_results_are_told_in_a_table(faults):
    exact = Score(faults[0], answer(faults[0]))
    missed = Score(faults[1], answer(faults[1], function="another"))
    broken = Score(faults[2], None, "ValueError: | no")
    page = table([exact, missed, broken])
    assert "| 1 | 3 | 3 | 3 | 2 | 1 |" in page
    rows = [line for line in page.splitlines() if line.startswith(("| 1 | wrong", "| 2 | ", "| 3 | "))]
    assert [row.rsplit("|", 2)[1].strip() for row in rows] == ["yes", "**no**", "**no**"]
    assert "ValueError: \\| no" in rows[2]
