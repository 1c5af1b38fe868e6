"""The stages of a dump directory: which files make one, and in which order they come."""

import pytest

from pypto_tmpl.debug import StageNotFoundError, find_stages
from pypto_tmpl.debug.stages.dumps import StageFileError


def touch(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)


def test_stages_come_in_the_order_of_their_numbers(tmp_path):
    touch(tmp_path, "100_after_C.py", "9_after_A.py", "10_after_B.py", "00_frontend.py", "own.py")
    names = [stage.name for stage in find_stages(tmp_path)]
    assert names == ["00_frontend", "9_after_A", "10_after_B", "100_after_C", "own"]


def test_files_of_one_stem_are_one_stage(tmp_path):
    touch(tmp_path, "00_frontend.py", "01_after_A.py", "01_after_A.msgpack", "02_after_B.msgpack")
    touch(tmp_path, "01_after_A.log", ".hidden.py", "_own.py", "sub/03_after_C.py")
    found = [(s.name, s.text and s.text.name, s.binary and s.binary.name) for s in find_stages(tmp_path)]
    assert found == [
        ("00_frontend", "00_frontend.py", None),
        ("01_after_A", "01_after_A.py", "01_after_A.msgpack"),
        ("02_after_B", None, "02_after_B.msgpack"),
    ]


def test_a_single_text_brings_its_companion(tmp_path):
    touch(tmp_path, "01_after_A.py", "01_after_A.msgpack", "02_after_B.py")
    [stage] = find_stages(tmp_path / "01_after_A.py")
    assert (stage.text, stage.binary) == (tmp_path / "01_after_A.py", tmp_path / "01_after_A.msgpack")
    [alone] = find_stages(tmp_path / "02_after_B.py")
    assert (alone.text, alone.binary) == (tmp_path / "02_after_B.py", None)


def test_a_single_binary_is_read_as_such(tmp_path):
    touch(tmp_path, "01_after_A.py", "01_after_A.msgpack")
    [stage] = find_stages(tmp_path / "01_after_A.msgpack")
    assert (stage.text, stage.path) == (None, tmp_path / "01_after_A.msgpack")


def test_a_stage_reads_as_bytes_with_the_names_of_its_files(tmp_path):
    (tmp_path / "01_after_A.py").write_bytes(b"\xff text")
    [stage] = find_stages(tmp_path)
    content = stage.read()
    assert (content.text, content.binary, content.name) == (b"\xff text", None, "01_after_A")
    assert (content.text_name, content.binary_name) == (str(tmp_path / "01_after_A.py"), "")


def test_a_file_that_is_gone_is_told(tmp_path):
    touch(tmp_path, "01_after_A.py")
    [stage] = find_stages(tmp_path)
    (tmp_path / "01_after_A.py").unlink()
    with pytest.raises(StageFileError) as caught:
        stage.read()
    assert str(caught.value) == (
        "error[dump-file]: the dump cannot be read: No such file or directory\n"
        f"  --> {tmp_path / '01_after_A.py'}"
    )


def test_a_folder_without_dumps(tmp_path):
    touch(tmp_path, "Ascend910B/00_frontend.py", "Ascend950/00_frontend.py", "other/notes.txt")
    with pytest.raises(FileNotFoundError) as caught:
        find_stages(tmp_path)
    assert isinstance(caught.value, StageNotFoundError)
    assert str(caught.value) == (
        f"error[no-dumps]: no pass dumps in '{tmp_path}'\n"
        "   = dumps: NN_after_<Pass>.py, NN_after_<Pass>.msgpack\n"
        "   = folders in it that hold dumps: Ascend910B, Ascend950"
    )


def test_a_path_that_is_not_there(tmp_path):
    with pytest.raises(StageNotFoundError) as caught:
        find_stages(tmp_path / "nothing")
    assert str(caught.value) == f"error[no-dumps]: there is no '{tmp_path / 'nothing'}'"


def test_a_file_that_is_no_dump(tmp_path):
    touch(tmp_path, "01_after_A.log")
    with pytest.raises(StageNotFoundError) as caught:
        find_stages(tmp_path / "01_after_A.log")
    assert str(caught.value) == (
        "error[no-dumps]: '01_after_A.log' is no pass dump\n   = dumps: *.py, *.msgpack"
    )
