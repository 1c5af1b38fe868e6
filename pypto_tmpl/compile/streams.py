"""What is generated from a compiled program, stream by stream.

A stream gets the program after the last pass and writes its own files. Today there is one, the PyTorch
script; the kernels' ``.pto`` text and the orchestration are streams of the same shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any, Protocol

from pypto_tmpl import ir
from pypto_tmpl.codegen.layout import formatted
from pypto_tmpl.execution.entry import Entry, functions_of
from pypto_tmpl.execution.kept_record import record_path, record_text
from pypto_tmpl.execution.script import make_script

TORCH_FOLDER = "torch"


class Stream(Protocol):
    """One kind of generated files."""

    @property
    def name(self) -> str:
        """What the stream is called in the times of a compilation."""

    def emit(self, program: ir.Program, knobs: Mapping[str, Any]) -> Mapping[str, str]:
        """Texts by their paths in the build directory; ``knobs`` are those that were given."""


@dataclass(frozen=True, slots=True)
class TorchScript:
    """The generated script, and the entry with the name that it has there.

    ``large`` are the functions whose ops are so large that several threads pay; ``record`` tells what its
    lines were made from, and is kept beside it.
    """

    path: str
    entry: Entry
    large: tuple[str, ...]
    text: str
    record: str

    @property
    def record_path(self) -> str:
        """Where the record is kept."""
        return record_path(PurePosixPath(self.path)).as_posix()


def torch_script(program: ir.Program, entry: Entry) -> TorchScript:
    """The script of a program. Raises UnsupportedProgramError listing all that has no meaning here."""
    made = make_script(program, takes_notes=True)
    name = made.script.names[entry.name]
    script = formatted(made.script)
    record = record_text(script, functions_of(program))
    path = f"{TORCH_FOLDER}/{name}.py"
    return TorchScript(path, replace(entry, script_name=name), made.large(), script.text, record)
