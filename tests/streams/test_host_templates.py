"""Templates of a user's folder for the host, in the place of the project's."""

from pathlib import Path

import pytest
from streams import host_builds as h

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendType
from pypto_tmpl.overlays import using_templates
from pypto_tmpl.resources import template_root
from pypto_tmpl.streams.orchestration import host_texts

FILE = "orchestration/statements.cpp.jinja"


def test_a_file_of_the_user_counts_and_so_does_a_change_of_it(tmp_path: Path) -> None:
    a = h.tensor("a__ssa_v0")
    stmt = h.scope(ir.EvalStmt(h.call("step", {a: h.INOUT}), h.SPAN))
    program = h.program(h.kernel("step"), h.host([a], stmt))
    own = (template_root() / FILE).read_text()
    (tmp_path / FILE).parent.mkdir()
    (tmp_path / FILE).write_text(own.replace("PTO2_SCOPE(", "MY_SCOPE("))
    with using_templates([tmp_path]):
        text = host_texts(program, BackendType.Ascend910B).texts["orchestration/main.cpp"]
        assert "    MY_SCOPE() {" in text.splitlines()
        (tmp_path / FILE).write_text(own.replace("PTO2_SCOPE(", "ANOTHER_SCOPE("))
        text = host_texts(program, BackendType.Ascend910B).texts["orchestration/main.cpp"]
        assert "    ANOTHER_SCOPE() {" in text.splitlines()
    text = host_texts(program, BackendType.Ascend910B).texts["orchestration/main.cpp"]
    assert "    PTO2_SCOPE() {" in text.splitlines()


def test_a_macro_that_fails_names_its_line(tmp_path: Path) -> None:
    a = h.tensor("a__ssa_v0")
    program = h.program(
        h.kernel("step"), h.host([a], h.scope(ir.EvalStmt(h.call("step", {a: h.INOUT}), h.SPAN)))
    )
    own = (template_root() / FILE).read_text()
    (tmp_path / FILE).parent.mkdir()
    (tmp_path / FILE).write_text(own.replace('MANUAL" if is_manual', 'MANUAL" if is_manaul'))
    with using_templates([tmp_path]), pytest.raises(RuntimeError, match="'is_manaul' is undefined"):
        host_texts(program, BackendType.Ascend910B)
