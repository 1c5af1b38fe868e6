"""Snapshots of the texts of a device build, a file for each stream of a program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendType
from pypto_tmpl.generated import SCRIPT_MARK
from pypto_tmpl.snapshots.sources import DumpSource, SnapshotError
from pypto_tmpl.snapshots.toml_file import shown_from_here
from pypto_tmpl.streams import pto_texts
from pypto_tmpl.streams.orchestration import host_texts
from pypto_tmpl.streams.problems import DriverError, OrchestrationError, StreamError

Texts = Callable[[ir.Program, BackendType], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class StreamForm:
    """A stream as snapshots hold it: its file, how a comment begins there, and what makes its texts.

    A text of Python has its mark where scripts have it: users' files may begin with a comment about it.
    """

    file: str
    comment: str
    texts: Texts

    @property
    def mark(self) -> str:
        """The first line of its files."""
        return f'"""{SCRIPT_MARK}"""' if self.comment == "#" else f"{self.comment} {SCRIPT_MARK}"


def _host_texts(ending: str, stops: type[StreamError] = OrchestrationError) -> Texts:
    """The texts of the host whose paths end so; errors of one kind stand in their way."""

    def texts(program: ir.Program, backend: BackendType) -> Mapping[str, str]:
        found = host_texts(program, backend)
        for error in found.errors.values():
            if isinstance(error, stops):
                raise error
        return {path: text for path, text in found.texts.items() if path.endswith(ending)}

    return texts


STREAMS: Mapping[str, StreamForm] = {
    "pto": StreamForm("kernels.pto", "//", pto_texts),
    "orchestration": StreamForm("orchestration.cpp", "//", _host_texts(".cpp")),
    "config": StreamForm("kernel_config.py", "#", _host_texts("kernel_config.py")),
    "driver": StreamForm("host_orch.py", "#", _host_texts("host_orch.py", DriverError)),
}


@dataclass(frozen=True, slots=True)
class StreamSource:
    """The last stage of a program, and the stream that is made of it."""

    file: Path
    backend: BackendType
    stream: str

    def text(self) -> str:
        """All texts of the stream, each under its path in a build, behind the mark of what is emitted."""
        program = DumpSource(self.file).program()
        if not isinstance(program, ir.Program):
            what = "the dump holds a function: a device build is made of a program"
            raise SnapshotError(what, where=f"{shown_from_here(self.file)}:1")
        form = STREAMS[self.stream]
        parts = [f"{form.mark}\n"]
        for path, text in sorted(form.texts(program, self.backend).items()):
            parts.append(f"{form.comment} {path}\n{text.rstrip()}\n")
        return "\n".join(parts)
