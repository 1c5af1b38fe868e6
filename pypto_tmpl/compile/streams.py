"""What is generated from a compiled program, stream by stream.

A stream gets the program after the last pass and writes its own files. Today there is one, the PyTorch
script; the kernels' ``.pto`` text and the orchestration are streams of the same shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from pypto_tmpl import ir
from pypto_tmpl.codegen.formatting import format_script
from pypto_tmpl.execution.entry import Entry
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

    ``large`` are the functions whose ops are so large that several threads pay.
    """

    path: str
    entry: Entry
    large: tuple[str, ...]
    text: str


def torch_script(program: ir.Program, entry: Entry) -> TorchScript:
    """The script of a program. Raises UnsupportedProgramError listing all that has no meaning here."""
    made = make_script(program)
    name = made.script.names[entry.name]
    path = f"{TORCH_FOLDER}/{name}.py"
    text = format_script(made.script.text)
    return TorchScript(path, replace(entry, script_name=name), made.large(), text)
