"""Executing a script with one namespace, and what it says where it gets two."""

from pathlib import Path

import pytest
import torch

from pypto_tmpl import ir
from pypto_tmpl.debug import torch_codegen

DUMP = Path(__file__).resolve().parents[1] / "corpus/dumps/cast_rounding/Ascend910B/00_frontend.msgpack"


FORMS = {
    "plain": {},
    "formatted": {"format": True},
    "imported": {"preamble": "import"},
    "with all helpers": {"preamble": "full"},
}


@pytest.fixture(scope="module", params=FORMS.values(), ids=FORMS)
def script(request):
    return torch_codegen(ir.deserialize_from_file(str(DUMP)), **request.param)


def test_one_namespace_is_enough(script):
    names = {}
    exec(script, names)
    assert names["torch"] is torch
    both = {}
    exec(script, both, both)
    assert both["torch"] is torch


def test_two_namespaces_are_an_error_that_says_what_is_needed(script):
    with pytest.raises(
        NameError, match=r"^exec this script with one namespace: names = {}; exec\(script, names\)$"
    ):
        exec(script, {}, {})


def test_so_is_the_namespace_of_a_function(script):
    def inside():
        exec(script)

    with pytest.raises(NameError, match="exec this script with one namespace"):
        inside()


def test_a_module_runs_as_it_stands(script, tmp_path):
    import runpy

    (tmp_path / "emitted.py").write_text(script)
    assert runpy.run_path(str(tmp_path / "emitted.py"))["torch"] is torch
