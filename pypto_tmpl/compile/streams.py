"""What is generated from a compiled program beside its PyTorch script, stream by stream.

A stream gets the program after the last pass and writes its own files. There is none yet: the folders that
PyPTO's streams have stay empty, and the manifest says of each why.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from pypto_tmpl import ir
from pypto_tmpl.files import make_folder

_NONE_YET = "empty: nothing generates it yet"
_FOLDERS = {
    "ptoas": ("ptoas",),
    "kernels": ("kernels/aic", "kernels/aiv"),
    "orchestration": ("orchestration",),
}


class Stream(Protocol):
    """One kind of generated files."""

    @property
    def name(self) -> str:
        """What the stream is called in the times of a compilation."""

    def emit(self, program: ir.Program, knobs: Mapping[str, Any]) -> Mapping[str, str]:
        """Texts by their paths in the build directory; ``knobs`` are those that were given."""


def make_stream_folders(build: Path, *, skip_ptoas: bool, made: frozenset[str]) -> dict[str, str]:
    """Make the folders of all streams; what the manifest says of each that is not ``made``.

    Without ptoas there is no folder for what it makes.
    """
    found = {}
    for name, folders in _FOLDERS.items():
        if name == "ptoas" and skip_ptoas:
            continue
        for folder in folders:
            make_folder(build / folder)
        if name not in made:
            found[name] = _NONE_YET
    return found
