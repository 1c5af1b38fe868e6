"""Where a script has its helpers: with it, or in ``pypto_tmpl.preamble``."""

import re
import traceback

import pytest
import torch
from codegen.builders import (
    AIV,
    Acc,
    assign,
    binary,
    function,
    load,
    numbers,
    program,
    program_part,
    ret,
    run,
    store,
    tensor,
    tile,
)
from codegen.kernels import aic, aiv, group, out, pop_from_aic, push_to_aiv, x
from codegen.kernels import main as entry

import pypto_tmpl.preamble
from pypto_tmpl import __version__
from pypto_tmpl.codegen.options import OptionError
from pypto_tmpl.codegen.preamble import PreambleError
from pypto_tmpl.debug import source_lines, torch_codegen

FORMS = ["script", "import", "full"]
t, u = tile("t", [4, 8], memory=Acc), tile("u", [4, 8])


def mixed(times=1.0, pops=1):
    """A group whose cube core sends x to its vector core, which stores that as often as it is added."""
    cube = aic(assign(t, load(x, [0, 0], [4, 8], memory=Acc)), push_to_aiv(t))
    doubled = tile("doubled", [4, 8])
    sums = [assign(doubled, binary("tile.add", u, u))] if times == 2 else []
    vector = aiv(
        *[assign(u, pop_from_aic([4, 8])) for _ in range(pops)],
        *sums,
        ret(store(doubled if sums else u, [0, 0], out)),
    )
    return program(cube, vector, group(), entry())


def outcome(namespace):
    target = torch.zeros(4, 8)
    namespace["main"](numbers(4, 8), target)
    return target


@pytest.mark.parametrize("form", FORMS)
def test_a_group_runs_in_every_form(form):
    assert torch.equal(outcome(run(torch_codegen(mixed(), preamble=form))), numbers(4, 8))


def test_scripts_that_share_the_module_keep_their_groups_apart():
    """Both have a group "k" of k_aic and k_aiv."""
    once, twice = (run(torch_codegen(mixed(times), preamble="import")) for times in (1, 2))
    for namespace, times in ((once, 1), (twice, 2), (once, 1)):
        assert torch.equal(outcome(namespace), numbers(4, 8) * times)


def test_a_script_names_what_it_imports():
    text = torch_codegen(mixed(), preamble="import")
    (imported,) = re.findall(r"^from pypto_tmpl\.preamble import (.*)$", text, re.MULTILINE)
    assert imported.split(", ") == ["_compare_shapes", "_cross_core_rt", "_run_group_call", "_tile_store"]
    assert "helpers follow" not in text
    assert re.findall(r"^(\w+) =", text, re.MULTILINE) == ["_GROUP_META"]


def test_the_program_is_the_same_in_every_form():
    texts = [torch_codegen(mixed(), preamble=form) for form in FORMS]
    functions = [program_part(text)[text.index("def main") :] for text in (texts[0], texts[2])]
    head = texts[1][texts[1].index("def main") : texts[1].index("_GROUP_META =")]
    functions = [program_part(text[text.index("def main") :]).strip() for text in (texts[0], texts[2])]
    assert functions == [head.strip(), head.strip()]


def test_reports_name_the_lines_of_the_program():
    node = mixed(pops=2)
    text = torch_codegen(node, preamble="import")
    namespace = run(text)
    with pytest.raises(RuntimeError) as caught:
        outcome(namespace)
    assert ": u = _cross_core_rt.pop_from_aic(0); missing: tpush_to_aiv(split=0, id=0) by aic" in str(
        caught.value
    )
    assert "aic: finished" in str(caught.value)


def test_a_frame_of_the_module_shows_its_line():
    with pytest.raises(ValueError) as caught:
        pypto_tmpl.preamble._run_spmd(-1, print)
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.filename, last.line) == (
        "<pypto_tmpl.preamble>",
        'raise ValueError(f"core_num must be at least 0, not {core_num}")',
    )


def test_the_module_has_a_version_and_names_what_it_lacks():
    assert pypto_tmpl.preamble.__version__ == __version__
    with pytest.raises(ImportError, match="_tile_lod"):
        exec("from pypto_tmpl.preamble import _tile_lod")
    assert "_GROUP_META" not in vars(pypto_tmpl.preamble)


@pytest.mark.parametrize(
    ("rest", "what"), [({"options": {"poison": True}}, "options"), ({"trace": True}, "a trace")]
)
def test_what_a_script_that_imports_cannot_have(rest, what):
    with pytest.raises(OptionError, match=f"a script with {what} carries its helpers"):
        torch_codegen(mixed(), preamble="import", **rest)


def test_a_helper_of_a_user_is_no_part_of_the_module(tmp_path):
    own = tmp_path / "preamble"
    own.mkdir()
    source = pypto_tmpl.preamble.template_root() / "preamble" / "regions.py.jinja"
    (own / "regions.py.jinja").write_text(source.read_text())
    kernel = function("main", [x, out], ret(store(x, [0, 0], out)), type=AIV)
    assert "def _tile_store" in torch_codegen(kernel, template_dirs=tmp_path)
    with pytest.raises(PreambleError) as caught:
        torch_codegen(kernel, template_dirs=tmp_path, preamble="import")
    assert "the helper '_overlap' is a user's, and no part of pypto_tmpl.preamble" in str(caught.value)


@pytest.mark.parametrize("form", FORMS)
def test_source_lines_are_found_in_every_form(form):
    kernel = function("main", [tensor("y", [2])], ret(1))
    assert source_lines(kernel, torch_codegen(kernel, preamble=form)) == {}
    assert torch_codegen(kernel, preamble=form) != ""


def test_entries_come_first_and_then_what_they_call():
    text = torch_codegen(mixed())
    assert re.findall(r"^def (\w+)", program_part(text), re.MULTILINE) == ["main", "k", "k_aic", "k_aiv"]
