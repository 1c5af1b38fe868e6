"""Scripts carry of the pipes between cores what their programs use."""

import re

import pytest
import torch
from codegen.builders import Acc, assign, load, numbers, program, ret, run, store, tile
from codegen.kernels import aic, aiv, group, out, pop_from_aic, push_to_aiv, x
from codegen.kernels import main as entry

from pypto_tmpl.codegen.kernels import KernelMap
from pypto_tmpl.codegen.pipe_use import EVERY_USE, PipeUse, pipe_use
from pypto_tmpl.codegen.script_code import code_in
from pypto_tmpl.debug import torch_codegen

CUBE, VECTOR = aic(), aiv()
KERNELS = KernelMap([CUBE, VECTOR, group()])
GROUPS = {"k": KERNELS.meta(group().attrs, CUBE, VECTOR)}


def used(cube="", vector="", caller='_run_group_call("k")'):
    codes = {
        name: [code_in(text)] for name, text in [("k", caller), (CUBE.name, cube), (VECTOR.name, vector)]
    }
    helpers = {name for (code,) in codes.values() for name in re.findall(r"\w+", code)}
    return pipe_use(codes, helpers, KERNELS, GROUPS)


def one_way(split=0, rows=4):
    """A group whose cube core sends x to its vector core, which stores it."""
    t, u = tile("t", [4, 8], memory=Acc), tile("u", [rows, 8])
    cube = aic(assign(t, load(x, [0, 0], [4, 8], memory=Acc)), push_to_aiv(t, split=split))
    vector = aiv(assign(u, pop_from_aic([rows, 8], split=split)), ret(store(u, [0, 0], out)))
    return program(cube, vector, group(), entry())


def test_what_a_program_does_not_name_it_does_not_use():
    found = used("_cross_core_rt.push_to_aiv(t, 0, copy=False)", "u = _cross_core_rt.pop_from_aic(0, id=1)")
    methods = frozenset({"push_to_aiv", "pop_from_aic"})
    assert found == PipeUse(methods, cuts=False, mixes_splits=False, regions=False, nests=False)


@pytest.mark.parametrize(
    ("pushed", "popped", "cuts", "mixes"),
    [("0", "0", False, False), ("1", "1", True, False), ("1", "2", True, True), ("0", "2", True, True)],
)
def test_splits(pushed, popped, cuts, mixes):
    found = used(f"_cross_core_rt.push_to_aiv(t, {pushed})", f"u = _cross_core_rt.pop_from_aic({popped})")
    assert (found.cuts, found.mixes_splits, found.regions) == (cuts, mixes, False)


@pytest.mark.parametrize("release", ["tfree_to_aic()", "tfree_to_aic(split=0)", "tfree_to_aiv(split=1)"])
def test_what_releases_a_slot_cuts_nothing(release):
    found = used(f"_cross_core_rt.{release}")
    assert (found.cuts, found.regions) == (False, False)


@pytest.mark.parametrize(
    "text",
    [
        "_cross_core_rt.push_to_aiv(t, 3)",
        "_cross_core_rt.push_to_aiv(t, 1, 8)",
        "_cross_core_rt.push_to_aiv(t, 0, valid_shape=[n, 8])",
        "_cross_core_rt.push_to_aic(torch.add(t, 0), 0)",
        "_cross_core_rt.pop_from_aiv(split)",
        "_cross_core_rt.tfree_to_aiv(split=3)",
        "n = _region(t)",
        "part = _aiv_shard(t, 1)",
    ],
)
def test_other_tiles_than_whole_ones_in_halves(text):
    found = used("_cross_core_rt.push_to_aiv(t, 0)", text)
    assert found.regions and found.cuts and found.mixes_splits


def test_a_program_without_groups_is_asked_nothing():
    assert pipe_use({"f": ["return 1"]}, set(), KERNELS, {}) == EVERY_USE


def test_comments_and_strings_are_no_code():
    found = used("x = 1  # _cross_core_rt.push_to_aiv(t, 3)", '"""_run_group_call, _region"""')
    assert not found.methods and not found.regions and not found.nests


def test_a_lane_that_starts_lanes():
    assert used(vector='_run_group_call("other")').nests
    assert not used(vector="pass").nests


@pytest.mark.parametrize(("split", "rows"), [(0, 4), (1, 2)])
def test_a_script_has_the_methods_that_it_calls(split, rows):
    text = torch_codegen(one_way(split, rows))
    runtime = text[text.index("class _CrossCoreRuntime") : text.index("_cross_core_rt = ")]
    methods = re.findall(r"def ([a-z]\w+)", runtime)
    assert methods == ["reset", "snapshot", "keep", "push_to_aiv", "pop_from_aic"]
    assert ("def _lane_parts" in text) == (split == 1)
    assert "valid_shape" not in runtime and ".inner" not in text and "_merge_lanes" not in text


def test_it_has_all_with_options():
    text = torch_codegen(one_way(), options={"strict_leftovers": True})
    assert "def pop_from_aiv" in text and "valid_shape=None" in text and ".inner" in text


def test_it_runs():
    target = torch.zeros(4, 8)
    run(torch_codegen(one_way()))["main"](numbers(4, 8), target)
    assert torch.equal(target, numbers(4, 8))
