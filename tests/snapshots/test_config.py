"""Configurations of snapshots: what they mean, and that every slip is an error with file and line."""

from pathlib import Path

import pytest

from pypto_tmpl.snapshots.config import find_config, read_config
from pypto_tmpl.snapshots.toml_file import ConfigError, read_toml

GOOD = """[snapshots]
golden = "golden"

[[snapshots.programs]]
program = "kernels:PROGRAM"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()  # nothing above counts
    return tmp_path


def written(folder, text, name="pypto-tmpl.toml"):
    (folder / name).write_text(text)
    return folder / name


BROKEN = {
    "[snapshots\n": ("pypto-tmpl.toml:1", "this is no TOML"),
    GOOD + "x = \n": ("pypto-tmpl.toml:6", "this is no TOML"),
    'golden = "x"\n': ("pypto-tmpl.toml:1", "unknown table 'golden'"),
    GOOD + "[other]\n": ("pypto-tmpl.toml:6", "unknown table 'other'"),
    GOOD.replace("golden =", "goldn ="): ("pypto-tmpl.toml:2", "unknown key 'goldn'"),
    GOOD.replace('"golden"', "3"): ("pypto-tmpl.toml:2", "golden is of type int, where str is expected"),
    GOOD.replace("program =", "programm ="): ("pypto-tmpl.toml:5", "unknown key 'programm'"),
    GOOD + "check_shapes = 'no'\n": (
        "pypto-tmpl.toml:6",
        "check_shapes is of type str, where bool is expected",
    ),
    GOOD.replace('golden = "golden"', ""): ("pypto-tmpl.toml:1", "the key 'golden' is missing"),
    GOOD + "name = 3\n": ("pypto-tmpl.toml:6", "name is of type int, where str is expected"),
    GOOD + '[[snapshots.dumps]]\ndumps = "d"\nstages = ["last", 1]\n': (
        "pypto-tmpl.toml:8",
        "stages[1] is of type int, where str is expected",
    ),
    GOOD.replace("[[", 'preamble = "used"\n\n[['): ("pypto-tmpl.toml:4", "preamble is 'used'"),
    GOOD.replace('"golden"', '"."'): ("pypto-tmpl.toml:2", "not a folder below that of this file"),
    GOOD.replace('"golden"', '"../x"'): ("pypto-tmpl.toml:2", "leaves the folder of this file"),
    GOOD[: GOOD.index("[[")]: ("pypto-tmpl.toml:1", "there are no cases"),
    "": ("pypto-tmpl.toml:1", "there is no table [snapshots]"),
}


@pytest.mark.parametrize("text", BROKEN)
def test_a_slip_is_an_error_with_file_and_line(folder, text):
    where, what = BROKEN[text]
    with pytest.raises(ConfigError) as caught:
        read_config(written(folder, text))
    assert caught.value.where == where
    assert what in caught.value.what


def test_a_word_that_is_none_is_told_with_those_that_there_are(folder):
    with pytest.raises(ConfigError) as caught:
        read_config(written(folder, GOOD.replace("[[", 'preamble = "imports"\n\n[[')))
    assert str(caught.value) == (
        "error[snapshot-config]: preamble is 'imports'\n"
        "  --> pypto-tmpl.toml:4\n"
        "   = values: script, import; did you mean 'import'?"
    )


def test_an_unknown_key_is_told_with_those_that_there_are(folder):
    with pytest.raises(ConfigError) as caught:
        read_config(written(folder, GOOD.replace("program =", "programm =")))
    assert str(caught.value) == (
        "error[snapshot-config]: unknown key 'programm'\n"
        "  --> pypto-tmpl.toml:5\n"
        "   = keys: name, check_shapes, preamble, program; did you mean 'program'?"
    )


def test_the_nearest_configuration_counts(folder):
    written(folder, GOOD)
    below = folder / "a/b"
    below.mkdir(parents=True)
    written(folder / "a", "[project]\nname = 'a'\n", "pyproject.toml")
    assert find_config(below).folder == folder
    written(folder / "a", GOOD.replace("[snap", "[tool.pypto-tmpl.snap"), "pyproject.toml")
    assert find_config(below).folder == folder / "a"


def test_a_misspelt_table_of_a_project_is_an_error(folder):
    written(folder, "[project]\nname = 'x'\n[tool.pypto-tmpl.snapshot]\n", "pyproject.toml")
    with pytest.raises(ConfigError) as caught:
        find_config(folder)
    assert str(caught.value) == (
        "error[snapshot-config]: unknown table 'snapshot'\n"
        "  --> pyproject.toml:3\n"
        "   = tables: snapshots; did you mean 'snapshots'?"
    )


def test_two_configurations_in_one_folder_are_an_error(folder):
    written(folder, GOOD)
    written(folder, GOOD.replace("[snap", "[tool.pypto-tmpl.snap"), "pyproject.toml")
    with pytest.raises(ConfigError, match="configured twice"):
        find_config(folder)


def test_without_a_configuration_the_way_to_one_is_told(folder):
    with pytest.raises(ConfigError, match="snapshot init"):
        find_config(folder)


def test_lines_of_keys(folder):
    text = (
        '# one\n[a]\nx = [\n  "b",\n  "c",\n]\n\n# two\ny = 1\n'
        '[[a.t]]\nz = """\n[a]\n"""\n[[a.t]]\nz = {u = 1}\n'
    )
    file = read_toml(written(folder, text))
    lines = {
        ("a", "x"): 3,
        ("a", "x", 1): 3,
        ("a", "y"): 9,
        ("a", "t", 0): 10,
        ("a", "t", 0, "z"): 11,
        ("a", "t", 1, "z", "u"): 15,
        ("a", "nothing"): 2,
        (): 1,
    }
    assert {keys: file.line_of(keys) for keys in lines} == lines


def test_paths_are_shown_from_here(folder, monkeypatch):
    file = read_toml(written(folder, GOOD))
    assert file.place(("snapshots", "golden")) == "pypto-tmpl.toml:2"
    monkeypatch.chdir(Path("/"))
    assert file.place(()) == f"{folder.relative_to('/').as_posix()}/pypto-tmpl.toml:1"
