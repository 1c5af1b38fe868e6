"""Whole kernels against the texts recorded from upstream, of the same last stage."""

from pathlib import Path

import pytest

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendType
from pypto_tmpl.compile.streams import kernel_texts
from pypto_tmpl.passes.settings import MemoryPlanner
from pypto_tmpl.streams import pto_texts

RECORDED = Path(__file__).parent / "recorded"
BUILDS = sorted(RECORDED.glob("*/*"))


def test_the_recordings_are_there() -> None:
    assert len(BUILDS) == 12
    assert len(list(RECORDED.rglob("*.pto"))) == 21


@pytest.mark.parametrize("build", BUILDS, ids=lambda build: f"{build.parent.name}-{build.name}")
def test_the_texts_are_those_recorded(build: Path) -> None:
    program = ir.deserialize_from_file(str(build / "last.msgpack"))
    texts = pto_texts(program, BackendType[build.name])
    recorded = {path.relative_to(build).as_posix(): path.read_text() for path in build.rglob("*.pto")}
    assert texts.keys() == recorded.keys()
    for name, text in recorded.items():
        assert texts[name].splitlines() == text.splitlines(), name


def test_without_places_the_same_lines_end_earlier() -> None:
    build = RECORDED / "softmax_rows" / "Ascend910B"
    program = ir.deserialize_from_file(str(build / "last.msgpack"))
    text = pto_texts(program, BackendType.Ascend910B, with_places=False)["ptoas/main_incore_0.pto"]
    recorded = (build / "ptoas/main_incore_0.pto").read_text()
    assert text.splitlines() == [line.partition(" loc(")[0] for line in recorded.splitlines()]


def test_a_build_heeds_its_knobs() -> None:
    program = ir.deserialize_from_file(str(RECORDED / "softmax_rows" / "Ascend910B" / "last.msgpack"))
    found = kernel_texts(program, BackendType.Ascend950, None, {"emit_source_loc": False}, skip_ptoas=False)
    text = found.texts["ptoas/main_incore_0.pto"]
    assert text.splitlines()[0] == 'module attributes {pto.target_arch = "a5"} {'
    assert " loc(" not in text


def test_a_planner_that_leaves_addresses_open_has_no_texts() -> None:
    program = ir.deserialize_from_file(str(RECORDED / "softmax_rows" / "Ascend910B" / "last.msgpack"))
    found = kernel_texts(program, BackendType.Ascend910B, MemoryPlanner.PTOAS, {}, skip_ptoas=False)
    assert not found.texts
    assert "the memory planner PTOAS leaves addresses to the assembler" in found.note(program)
