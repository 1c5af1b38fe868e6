"""Blobs in files."""

import os
import stat

import pytest
from ir import wire_blobs as blobs

from pypto_tmpl import ir
from pypto_tmpl.ir.wire import WireError, files

NODE = ir.BreakStmt(ir.Span.unknown())


@pytest.mark.parametrize("kind", [str, lambda path: path])
def test_files_hold_the_bytes_of_serialize(tmp_path, kind):
    path = tmp_path / "node.msgpack"
    ir.serialize_to_file(NODE, kind(path))
    assert path.read_bytes() == ir.serialize(NODE)
    assert isinstance(ir.deserialize_from_file(kind(path)), ir.BreakStmt)
    assert os.listdir(tmp_path) == ["node.msgpack"]


def test_missing_file(tmp_path):
    with pytest.raises(WireError) as caught:
        ir.deserialize_from_file(tmp_path / "none.msgpack")
    path = tmp_path / "none.msgpack"
    what = "error[wire-file]: the file cannot be read: No such file or directory"
    assert str(caught.value) == f"{what}\n  --> {path}"
    assert caught.value.__suppress_context__


def test_folder_instead_of_a_file(tmp_path):
    for action in (ir.deserialize_from_file, lambda path: ir.serialize_to_file(NODE, path)):
        with pytest.raises(WireError, match=r"the file cannot be (read|written): Is a directory"):
            action(tmp_path)


def test_faults_name_the_file_and_the_field(tmp_path):
    path = tmp_path / "bad.msgpack"
    path.write_bytes(blobs.pack(blobs.returns(0, blobs.ref(5))))
    with pytest.raises(WireError) as caught:
        ir.deserialize_from_file(str(path))
    what = "error[wire-dangling-reference]: there is no node with the id 5"
    assert str(caught.value) == f"{what}\n  --> {path}: value[0]"
    path.write_bytes(b"\xc1")
    with pytest.raises(WireError) as caught:
        ir.deserialize_from_file(path)
    what = "error[wire-malformed]: no MessagePack value starts so"
    assert str(caught.value) == f"{what}\n  --> {path}: byte 0"


def test_missing_folder(tmp_path):
    path = tmp_path / "none" / "node.msgpack"
    with pytest.raises(WireError) as caught:
        ir.serialize_to_file(NODE, path)
    what = "error[wire-file]: the file cannot be written: No such file or directory"
    assert str(caught.value) == f"{what}\n  --> {path}"


def test_failed_writes_leave_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "node.msgpack"
    path.write_bytes(b"old")
    bad = ir.Var("\ud800", ir.UnknownType(), ir.Span.unknown())
    with pytest.raises(WireError):
        ir.serialize_to_file(bad, path)
    assert path.read_bytes() == b"old"

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "replace", fail)
    with pytest.raises(WireError, match="No space left on device"):
        ir.serialize_to_file(NODE, path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["node.msgpack"]


def test_replaced_files_keep_their_mode_and_links(tmp_path):
    path, link = tmp_path / "node.msgpack", tmp_path / "link"
    path.write_bytes(b"old")
    path.chmod(0o640)
    link.symlink_to(path)
    ir.serialize_to_file(NODE, link)
    assert link.is_symlink()
    assert path.read_bytes() == ir.serialize(NODE)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_devices_are_written_through():
    ir.serialize_to_file(NODE, os.devnull)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
