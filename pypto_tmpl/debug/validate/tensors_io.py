"""Tensors from ``.pt``, ``.npy``, ``.npz`` and ``.safetensors`` files; nothing that a pickle holds is run."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from pypto_tmpl.errors import PyptoTmplError

Found = Mapping[str, torch.Tensor]


class TensorFileError(PyptoTmplError, ValueError):
    """A file or folder that tensors were to be read from does not hold any, or not in a known form."""

    slug = "tensor-file"


def load_tensors(path: Path) -> dict[str, torch.Tensor]:
    """The tensors of a folder with a file for each, or of one file that holds several, by name.

    A file that holds one tensor gives it the name of the file, a file that holds named ones keeps their
    names. Raises TensorFileError.
    """
    if not path.exists():
        raise TensorFileError(f"there is no {str(path)!r}", notes=[_forms()])
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix in _READERS)
    elif path.suffix in _READERS:
        files = [path]
    else:
        raise TensorFileError(f"{path.name!r} is no tensor file", notes=[_forms()])
    if not files:
        raise TensorFileError(f"no tensors in {str(path)!r}", notes=[_forms()])
    found: dict[str, torch.Tensor] = {}
    for file in files:
        for name, tensor in _read(file).items():
            if name in found:
                raise TensorFileError(f"tensor {name!r} is there twice", where=str(file))
            found[name] = tensor
    return found


def _forms() -> str:
    return f"tensor files: {', '.join(f'<name>{suffix}' for suffix in _READERS)}"


def _read(file: Path) -> Found:
    try:
        return _READERS[file.suffix](file)
    except TensorFileError:
        raise
    except Exception as error:  # readers raise whatever damaged bytes lead to
        reason = (str(error).splitlines() or [""])[0]
        raise TensorFileError(
            f"the tensors cannot be read: {type(error).__name__}: {reason}", where=str(file)
        ) from None


def _read_pt(file: Path) -> Found:
    try:
        value = torch.load(file, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:
        raise TensorFileError(
            "the file holds more than tensors, or is damaged; it was not unpickled",
            where=str(file),
            notes=["write it by torch.save(tensor, path), or with a dict of tensors"],
        ) from None
    return _named(value, file)


def _named(value: Any, file: Path) -> Found:
    values = value if isinstance(value, dict) else {file.stem: value}
    for name, item in values.items():
        if not isinstance(name, str):
            raise TensorFileError(f"{name!r} is no name of a tensor", where=str(file))
        if not isinstance(item, torch.Tensor | bool | int | float):
            kind = type(item).__name__
            raise TensorFileError(f"{name!r} is a {kind}, no tensor", where=str(file))
    return {
        name: item if isinstance(item, torch.Tensor) else torch.tensor(item) for name, item in values.items()
    }


def _read_npy(file: Path) -> Found:
    numpy = _module("numpy", file)
    return {file.stem: _from_numpy(numpy, numpy.load(file, allow_pickle=False))}


def _read_npz(file: Path) -> Found:
    numpy = _module("numpy", file)
    with numpy.load(file, allow_pickle=False) as arrays:
        return {name: _from_numpy(numpy, arrays[name]) for name in arrays.files}


def _from_numpy(numpy: ModuleType, array: Any) -> torch.Tensor:
    native: torch.Tensor = torch.from_numpy(numpy.array(array, dtype=array.dtype.newbyteorder("=")))
    return native


def _read_safetensors(file: Path) -> Found:
    found: Found = _module("safetensors.torch", file).load_file(file)
    return found


def _module(name: str, file: Path) -> ModuleType:
    try:
        return import_module(name)
    except ImportError:
        package = name.partition(".")[0]
        raise TensorFileError(
            f"{file.suffix} files need the package {package}",
            where=str(file),
            notes=[f"pip install {package}"],
        ) from None


_READERS: dict[str, Callable[[Path], Found]] = {
    ".pt": _read_pt,
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".safetensors": _read_safetensors,
}
