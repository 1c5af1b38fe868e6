"""The inputs and goldens that a run has saved in its build, by the names of the entry's parameters."""

from __future__ import annotations

from pathlib import Path

import torch

from pypto_tmpl.compile.build import DATA
from pypto_tmpl.debug.validate.tensors_io import load_tensors
from pypto_tmpl.golden.data import GOLDENS, INPUTS, saved_names
from pypto_tmpl.runtime.manifest import Manifest

Tensors = dict[str, torch.Tensor]


def saved_tensors(build: Path, manifest: Manifest) -> tuple[Tensors, Tensors] | None:
    """Inputs and goldens of a build's last run; None where it has none.

    They are saved by the names of specs, which go by position. Raises TensorFileError for damaged files.
    """
    folder = build / DATA
    inputs, goldens = folder / INPUTS, folder / GOLDENS
    if not any(goldens.glob("*.pt")):
        return None
    params = [param.name for param in manifest.entry.parameters]
    names = saved_names(folder)
    renamed = dict(zip(names, params, strict=True)) if len(names) == len(params) else {}
    found = [load_tensors(side) if any(side.glob("*.pt")) else {} for side in (inputs, goldens)]
    given, expected = ({renamed.get(name, name): value for name, value in side.items()} for side in found)
    return given, expected
