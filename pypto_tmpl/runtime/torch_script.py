"""The PyTorch script of a program, as builds keep it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from pypto_tmpl import ir
from pypto_tmpl.codegen.layout import formatted
from pypto_tmpl.execution.entry import Entry, functions_of
from pypto_tmpl.execution.kept_record import record_path, record_text
from pypto_tmpl.execution.script import make_script
from pypto_tmpl.generated import is_record, is_script, write_generated

FOLDER = "torch"


@dataclass(frozen=True, slots=True)
class TorchScript:
    """The generated script, and the entry with the name that it has there.

    ``large`` are the functions whose ops are so large that several threads pay; ``record`` tells what its
    lines were made from, and is kept beside it. ``path`` is relative to the build.
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

    def write(self, build: Path) -> Iterator[str]:
        """Write script and record into a build, one with each path that is asked for.

        Raises ForeignFileError, FileError.
        """
        write_generated(build / self.path, self.text, is_script, make_folders=True)
        yield self.path
        write_generated(build / self.record_path, self.record, is_record)
        yield self.record_path


def torch_script(
    program: ir.Program,
    entry: Entry,
    folder: str = FOLDER,
    *,
    storage: bool = False,
    copy_yields: bool = False,
    placed: bool = False,
) -> TorchScript:
    """The script of a program, by values or on the bytes of its tiles (``make_script`` has the choices).

    Raises UnsupportedProgramError listing all that has no meaning here.
    """
    made = make_script(program, takes_notes=True, storage=storage, copy_yields=copy_yields, placed=placed)
    name = made.script.names[entry.name]
    script = formatted(made.script)
    record = record_text(script, functions_of(program))
    return TorchScript(
        f"{folder}/{name}.py", replace(entry, script_name=name), made.large(), script.text, record
    )
