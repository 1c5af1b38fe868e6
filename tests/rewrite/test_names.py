"""Names that passes give."""

import pytest
from codegen.builders import assign, function, scalar

from pypto_tmpl.rewrite import GeneratedName, Names, base_name


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("acc__ssa_v0", ("acc", "ssa", 0, "")),
        ("i__idx_v12", ("i", "idx", 12, "")),
        ("data__rs_segment_cols_tmp_v13", ("data", "tmp", 13, "rs_segment_cols")),
        ("c_mat__tile_v2", ("c_mat", "tile", 2, "")),
    ],
)
def test_a_generated_name_has_parts(name, parts):
    found = GeneratedName.parse(name)
    assert (found.base, found.role, found.version, found.qualifier) == parts
    assert str(found) == name


@pytest.mark.parametrize("name", ["acc", "acc__ssa", "acc_ssa_v0", "__ssa_v0", "ret0__out", "x__other_v1"])
def test_other_names_have_none(name):
    assert GeneratedName.parse(name) is None


def test_a_suffix_is_taken_off_before_another_is_added():
    names = Names(["acc__iter_v0"])
    assert base_name("acc__ssa_v3") == "acc"
    assert names.fresh("acc__ssa_v3", "iter") == "acc__iter_v1"
    assert names.fresh("acc", "iter") == "acc__iter_v2"
    assert names.fresh("acc", "tmp", "chunk") == "acc__chunk_tmp_v0"


def test_names_of_a_function_are_taken():
    kernel = function("k", [scalar("x__ssa_v0")], assign(scalar("y"), scalar("z")))
    names = Names.of(kernel)
    assert names.fresh("x", "ssa") == "x__ssa_v1"
    assert [names.unique("y"), names.unique("y"), names.unique("w")] == ["y_1", "y_2", "w"]


def test_an_unknown_role_is_refused():
    with pytest.raises(ValueError, match="'load' is no role of a generated name; roles are ssa, iter,"):
        Names().fresh("x", "load")
