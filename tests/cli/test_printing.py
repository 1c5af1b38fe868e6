"""``print``, ``diff`` and ``gen`` on both forms of a dump."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from pypto_tmpl import ir
from pypto_tmpl.cli import main

FOLDER = Path(__file__).resolve().parents[1] / "corpus/dumps/ragged_tail_max/Ascend910B"
TEXT, BINARY = FOLDER / "00_frontend.py", FOLDER / "00_frontend.msgpack"


def run(*args):
    return CliRunner().invoke(main, [str(arg) for arg in args])


@pytest.mark.parametrize("dump", [TEXT, BINARY], ids=["text", "binary"])
def test_print_gives_the_text_of_either_form(dump):
    assert run("print", dump).stdout.rstrip("\n") == TEXT.read_text().rstrip("\n")


@pytest.mark.parametrize("dump", [TEXT, BINARY], ids=["text", "binary"])
def test_print_writes_the_binary_form(dump, tmp_path):
    target = tmp_path / "out.msgpack"
    assert run("print", dump, "--msgpack", "-o", target).exit_code == 0
    assert ir.structural_equal(ir.deserialize_from_file(str(target)), ir.deserialize_from_file(str(BINARY)))


def test_the_binary_form_of_a_binary_dump_has_the_same_bytes(tmp_path):
    target = tmp_path / "out.msgpack"
    run("print", BINARY, "--msgpack", "-o", target)
    assert target.read_bytes() == BINARY.read_bytes()


def test_diff_of_the_two_forms_of_one_dump():
    result = run("diff", TEXT, BINARY)
    assert (result.exit_code, result.stdout) == (0, "structurally equal\n")


def test_diff_names_the_path_and_shows_both_lines(tmp_path):
    changed = tmp_path / "changed.py"
    changed.write_text(TEXT.read_text().replace("pl.min(64, n_valid - c)", "pl.min(32, n_valid - c)"))
    result = run("diff", TEXT, changed)
    assert result.exit_code == 1
    assert result.stdout == (
        "['kernel'].body[3].body[0].value.left.value: 64 and 32 differ\n"
        "  left:  width: pl.Scalar[pl.INDEX] = pl.min(64, n_valid - c)\n"
        "  right: width: pl.Scalar[pl.INDEX] = pl.min(32, n_valid - c)\n"
    )


def test_gen_makes_the_same_script_of_both_forms():
    assert run("gen", TEXT).stdout == run("gen", BINARY).stdout != ""


def test_gen_writes_a_file_and_keeps_it_when_the_dump_is_broken(tmp_path):
    script, broken = tmp_path / "script.py", tmp_path / "broken.msgpack"
    assert run("gen", BINARY, "-o", script).exit_code == 0
    good = script.read_text()
    broken.write_bytes(BINARY.read_bytes()[:-10])
    result = run("gen", broken, "-o", script)
    assert result.exit_code == 2
    assert "Traceback" not in result.stderr and result.stderr.startswith("error[")
    assert script.read_text() == good


@pytest.mark.parametrize("command", ["gen", "print"])
def test_a_missing_file_is_one_clear_message(command, tmp_path):
    result = run(command, tmp_path / "no.msgpack")
    assert result.exit_code == 2
    assert result.stderr == f"error[dump]: there is no file '{tmp_path / 'no.msgpack'}'\n"


def test_another_kind_of_file_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    result = run("gen", tmp_path / "notes.txt")
    assert result.exit_code == 2
    assert result.stderr == (
        "error[dump]: 'notes.txt' is no dump that can be read\n   = dumps: *.py, *.msgpack\n"
    )


def test_a_text_dump_with_an_error_points_at_it(tmp_path):
    bad = tmp_path / "bad.py"
    bad.write_text(TEXT.read_text().replace("pl.tile.row_max(head, tmp0)", "pl.tile.row_max(head, tmp9)"))
    result = run("gen", bad)
    assert result.exit_code == 2
    assert "tmp9" in result.stderr and "bad.py" in result.stderr and "Traceback" not in result.stderr


def test_a_link_is_written_through_and_a_pipe_is_not_replaced(tmp_path):
    real, link = tmp_path / "real.py", tmp_path / "link.py"
    link.symlink_to(real)
    assert run("gen", BINARY, "-o", link).exit_code == 0
    assert link.is_symlink() and real.read_text().startswith('"""')
    null = tmp_path / "null"
    null.symlink_to("/dev/null")
    assert run("gen", BINARY, "-o", null).exit_code == 0
    assert null.is_char_device()


@pytest.mark.parametrize("command", ["gen", "print"])
def test_a_place_that_cannot_be_written_is_one_clear_message(command, tmp_path):
    result = run(command, BINARY, "-o", tmp_path)
    assert result.exit_code == 2
    assert result.stderr == f"error[file]: the file cannot be written: Is a directory\n  --> {tmp_path}\n"
    missing = run(command, BINARY, "-o", tmp_path / "no/script.py")
    assert missing.exit_code == 2
    assert "the file cannot be written: No such file or directory" in missing.stderr


def test_a_prefix_that_is_no_name_is_refused():
    result = run("print", BINARY, "--prefix", "1bad")
    assert result.exit_code == 2
    assert "--prefix is a name, not '1bad'" in result.stderr


@pytest.mark.parametrize("command", ["print", "gen"])
def test_a_file_that_the_system_refuses_is_named(command):
    name = "a" * 300 + ".py"
    result = run(command, name)
    assert result.exit_code == 2
    assert result.stderr == f"error[system]: File name too long\n  --> {name}\n"
