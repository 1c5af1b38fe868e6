"""The committed scripts: emitted anew they are the same, and executed they agree with the goldens."""

from pathlib import Path

import pytest
from corpus_check import compare_with_golden, load_program

from pypto_tmpl.snapshots.cases import find_cases
from pypto_tmpl.snapshots.config import find_config
from pypto_tmpl.snapshots.results import stale_scripts
from pypto_tmpl.snapshots.sources import DumpSource
from pypto_tmpl.snapshots.streams import StreamSource

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "golden_scripts"
CONFIG = find_config(ROOT)
ALL_CASES = find_cases(CONFIG)
CASES = [case for case in ALL_CASES if isinstance(case.source, DumpSource)]
IDS = [case.name for case in CASES]
TEXTS = [case for case in ALL_CASES if isinstance(case.source, StreamSource)]


@pytest.mark.whole
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_script_is_unchanged(case, golden_script):
    golden_script(case)


@pytest.mark.parametrize("case", TEXTS, ids=[case.name for case in TEXTS])
def test_text_is_unchanged(case, golden_script):
    golden_script(case)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_script_agrees_with_golden(case):
    program = load_program(ROOT / "tests/corpus/programs" / f"{case.name.partition('/')[0]}.py")
    namespace = {}
    exec(compile(case.script.read_text(), f"<golden {case.name}>", "exec"), namespace)
    assert compare_with_golden(program, namespace[program.entry]) is None


def test_there_are_as_many_cases_as_stages_with_a_dump():
    # 33 frontends, 28 ConvertTensorToTileOps, 31 ExpandMixedKernel, 31 last (two have a frontend only)
    assert len(CASES) == 123
    assert {case.name.partition("/")[0] for case in CASES if case.name.endswith("/frontend")} == {
        path.stem for path in (ROOT / "tests/corpus/programs").glob("*.py")
    }


def test_every_script_has_a_case():
    # the kernels of examples/, the helpers, and the texts of twelve programs
    assert len(ALL_CASES) == len(CASES) + 15 + 1 + len(TEXTS)
    assert len({case.name.partition("/")[0] for case in TEXTS}) == 12
    assert stale_scripts(CONFIG, ALL_CASES) == []
    assert len([path for path in GOLDEN.rglob("*") if path.is_file()]) == len(ALL_CASES)
