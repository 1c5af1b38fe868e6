"""Tensors from files: what is read, under which names, and what is refused."""

import os

import numpy
import pytest
import torch

from pypto_tmpl.debug.validate.tensors_io import TensorFileError, load_tensors

FORMS = "   = tensor files: <name>.pt, <name>.npy, <name>.npz, <name>.safetensors"


def refusal(path):
    with pytest.raises(TensorFileError) as caught:
        load_tensors(path)
    return str(caught.value)


def test_a_folder_has_a_file_for_each_tensor(tmp_path):
    torch.save(torch.tensor([1.5, 2.5], dtype=torch.bfloat16), tmp_path / "x.pt")
    torch.save(3, tmp_path / "n.pt")
    numpy.save(tmp_path / "table.npy", numpy.array([[1, 2]], dtype=">i4"))
    numpy.save(tmp_path / "scalar.npy", numpy.float32(0.5))
    (tmp_path / "notes.txt").write_text("not a tensor")
    found = load_tensors(tmp_path)
    assert sorted(found) == ["n", "scalar", "table", "x"]
    assert (found["x"].dtype, found["x"].tolist()) == (torch.bfloat16, [1.5, 2.5])
    assert (found["n"].tolist(), found["scalar"].tolist(), found["scalar"].shape) == (3, 0.5, ())
    assert (found["table"].dtype, found["table"].tolist()) == (torch.int32, [[1, 2]])


def test_a_file_may_hold_several(tmp_path):
    torch.save({"a": torch.ones(2), "n": True}, tmp_path / "all.pt")
    numpy.savez(tmp_path / "all.npz", a=numpy.ones(2), b=numpy.array(7))
    assert {name: tensor.tolist() for name, tensor in load_tensors(tmp_path / "all.pt").items()} == {
        "a": [1.0, 1.0],
        "n": True,
    }
    assert {name: tensor.tolist() for name, tensor in load_tensors(tmp_path / "all.npz").items()} == {
        "a": [1.0, 1.0],
        "b": 7,
    }


def test_safetensors(tmp_path):
    torch_files = pytest.importorskip("safetensors.torch")
    torch_files.save_file({"x": torch.ones(2).bfloat16()}, tmp_path / "all.safetensors")
    assert load_tensors(tmp_path)["x"].dtype == torch.bfloat16


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    (tmp_path / "x.safetensors").write_bytes(b"")

    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr("pypto_tmpl.debug.validate.tensors_io.import_module", missing)
    assert refusal(tmp_path) == (
        "error[tensor-file]: .safetensors files need the package safetensors\n"
        f"  --> {tmp_path / 'x.safetensors'}\n   = pip install safetensors"
    )


class Evil:
    def __reduce__(self):
        return os.mkdir, ("made_by_a_pickle",)


def test_a_pickle_is_not_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    torch.save(Evil(), tmp_path / "x.pt")
    numpy.save(tmp_path / "y.npy", numpy.array([Evil()], dtype=object), allow_pickle=True)
    assert refusal(tmp_path / "x.pt") == (
        "error[tensor-file]: the file holds more than tensors, or is damaged; it was not unpickled\n"
        f"  --> {tmp_path / 'x.pt'}\n   = write it by torch.save(tensor, path), or with a dict of tensors"
    )
    assert refusal(tmp_path / "y.npy").startswith(
        "error[tensor-file]: the tensors cannot be read: ValueError: "
    )
    assert not (tmp_path / "made_by_a_pickle").exists()


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (["a"], "'x' is a list, no tensor"),
        ({"a": "text"}, "'a' is a str, no tensor"),
        ({1: torch.ones(1)}, "1 is no name of a tensor"),
    ],
)
def test_other_content_is_refused(tmp_path, content, text):
    torch.save(content, tmp_path / "x.pt")
    assert refusal(tmp_path) == f"error[tensor-file]: {text}\n  --> {tmp_path / 'x.pt'}"


@pytest.mark.parametrize("name", ["x.pt", "x.npy", "x.npz"])
@pytest.mark.parametrize("data", [b"", b"garbage", b"PK\x03\x04", b"\x93NUMPY\x01\x00"])
def test_damaged_files_are_one_message(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    text = refusal(tmp_path)
    assert text.startswith("error[tensor-file]: the ") and f"  --> {tmp_path / name}" in text
    assert len(text.splitlines()) <= 3


def test_one_name_in_two_files_is_refused(tmp_path):
    torch.save(torch.ones(1), tmp_path / "x.pt")
    numpy.save(tmp_path / "x.npy", numpy.ones(1))
    assert refusal(tmp_path) == f"error[tensor-file]: tensor 'x' is there twice\n  --> {tmp_path / 'x.pt'}"


def test_nothing_to_read(tmp_path):
    assert refusal(tmp_path) == f"error[tensor-file]: no tensors in '{tmp_path}'\n{FORMS}"
    assert refusal(tmp_path / "no") == f"error[tensor-file]: there is no '{tmp_path / 'no'}'\n{FORMS}"
    (tmp_path / "x.txt").write_text("")
    assert refusal(tmp_path / "x.txt") == f"error[tensor-file]: 'x.txt' is no tensor file\n{FORMS}"
