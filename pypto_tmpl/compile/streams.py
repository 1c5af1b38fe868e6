"""What is generated from a compiled program beside its PyTorch script, stream by stream.

A stream gets the program after the last pass and writes its own files. The ``.pto`` texts of kernels are
one; what else a device build has, ``host.py`` tells. Where files are missing, the manifest says why.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendType, facts_of
from pypto_tmpl.compile.assembler import (
    Assembler,
    Counted,
    PtoasError,
    PtoasNotFoundError,
    assemble,
    find_ptoas,
    passes_folder,
)
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.files import make_folder
from pypto_tmpl.generated import check_place, has_no_mark
from pypto_tmpl.passes.settings import MemoryPlanner
from pypto_tmpl.runtime.entry import orchestrations_of
from pypto_tmpl.runtime.manifest import sub_build
from pypto_tmpl.streams import names_in_folders, paths_of, pto_text
from pypto_tmpl.streams.problems import PtoError

ERRORS = "report/codegen_errors.txt"
PTOAS = "ptoas"
PLACES = "PYPTO_EMIT_PTO_LOC"
_NOT_LAST = "empty: only what all passes have made becomes device code"
_NO_ADDRESSES = "empty: the memory planner PTOAS leaves addresses to the assembler, and texts have them all"
_FOLDERS = {
    PTOAS: ("ptoas",),
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


@dataclass(slots=True)
class KernelTexts:
    """The ``.pto`` texts of a program by their paths in a build, and what stops the emission of kernels.

    ``why_none`` says why there are none at all, ``why_no_cpp`` why the assembler made nothing of those there
    are. The C++ that it made is in ``assembled``, by the paths of the texts, what its passes made in
    ``dumped``.
    """

    why_none: str = ""
    texts: dict[str, str] = field(default_factory=dict)
    errors: dict[str, PyptoTmplError] = field(default_factory=dict)
    why_no_cpp: str = ""
    assembled: dict[str, Path] = field(default_factory=dict)
    dumped: list[Path] = field(default_factory=list)

    def note(self, program: ir.Program) -> str:
        """What the manifest says of the stream of a program, "" where all is there."""
        return note_of(self.errors, program) or self.why_none or self.why_no_cpp


def report_of(errors: Mapping[str, PyptoTmplError]) -> str:
    """All that stops the emission of texts, function by function."""
    blocks = [f"  [{name}]\n{error}" for name, error in errors.items()]
    return f"{_summary(errors)}:\n\n" + f"\n{'=' * 72}\n".join(blocks) + "\n"


def error_reports(
    errors: Mapping[str, PyptoTmplError], program: ir.Program
) -> dict[str, dict[str, PyptoTmplError]]:
    """What stops the emission of texts, by the paths of the reports that tell it.

    Each of several orchestrations has the report of what it launches.
    """
    found: dict[str, dict[str, PyptoTmplError]] = {}
    folders = names_in_folders(program) if orchestrations_of(program) else {}
    for name, error in errors.items():
        for folder in [folder for folder, names in folders.items() if name in names] or [""]:
            found.setdefault(f"{folder}{ERRORS}", {})[name] = error
    return found


def note_of(errors: Mapping[str, PyptoTmplError], program: ir.Program) -> str:
    """What the manifest says of a stream that lacks some texts, "" where there are no errors."""
    return f"{_summary(errors)}, see {', '.join(error_reports(errors, program))}" if errors else ""


def _summary(errors: Mapping[str, PyptoTmplError]) -> str:
    return f"{len(errors)} function(s) failed to compile"


def has_places(wanted: object) -> bool:
    """Whether texts name source lines: as asked for, else as the environment says, else yes."""
    if wanted is None:
        return os.environ.get(PLACES, "").strip().lower() not in ("0", "false", "no", "off")
    return bool(wanted)


def kernel_texts(
    program: ir.Program,
    backend: BackendType,
    planner: MemoryPlanner | None,
    knobs: Mapping[str, Any],
    *,
    skip_ptoas: bool,
    timed: Callable[[str], AbstractContextManager[object]] = nullcontext,
) -> KernelTexts:
    """The texts of the kernels; one that has none does not keep the others, or the simulation, from being.

    ``timed`` is entered with the name of each stage.
    """
    if planner is MemoryPlanner.PTOAS:
        return KernelTexts(_NO_ADDRESSES)
    found = KernelTexts()
    with_places = has_places(knobs.get("emit_source_loc"))
    for path, unit in paths_of(program, skip_ptoas=skip_ptoas).items():
        try:
            with timed(f"kernel_codegen:{unit.name}"), timed("ir_to_mlir"):
                text = pto_text(unit, backend, with_places=with_places)
        except PtoError as error:
            found.errors[unit.name] = error
        else:
            found.texts[path] = text
    return found


def assemble_texts(
    found: KernelTexts,
    build: Path,
    backend: BackendType,
    *,
    dump_passes: bool,
    counted: Counted = lambda done, total: None,
) -> None:
    """Run the assembler on the texts, which are written; ``found`` gets what it made and what it refused.

    Without an assembler the texts are what there is. Raises ForeignFileError where a file of others is in
    the way.
    """
    if not found.texts:
        return
    try:
        assembler = Assembler(find_ptoas(), facts_of(backend).ptoas_flags, dump_passes)
    except PtoasNotFoundError as error:
        noun = "text is" if len(found.texts) == 1 else "texts are"
        folders = sorted({f"{PurePosixPath(path).parent}/" for path in found.texts})
        written = f"{len(found.texts)} .pto {noun} written ({', '.join(folders)})"
        found.why_no_cpp = f"{error.what}: {written}, and no C++ of them"
        return
    places = [build / path for path in found.texts]
    for place in places:
        check_place(place.with_suffix(".cpp"), has_no_mark)
    for path, made in zip(found.texts, assemble(places, assembler, counted), strict=True):
        if isinstance(made, PtoasError):
            found.errors[PurePosixPath(path).stem] = made
        else:
            found.assembled[path] = made
    if dump_passes:
        dumped = (path for place in places for path in passes_folder(place).rglob("*"))
        found.dumped = sorted(path for path in dumped if path.is_file())


def make_stream_folders(
    build: Path,
    *,
    skip_ptoas: bool,
    is_last: bool,
    made: Mapping[str, str],
    orchestrations: Sequence[str] = (),
) -> dict[str, str]:
    """Make the folders of all streams; what the manifest says of those that are not whole.

    ``made`` are the streams there are, and what is missing in them. Without ptoas there is no folder for it.
    Of several ``orchestrations`` each has its own folders, and the build has none.
    """
    found = {}
    places = [build / sub_build(name) for name in orchestrations] or [build]
    for name, folders in _FOLDERS.items():
        if name == PTOAS and skip_ptoas:
            continue
        for folder in folders:
            for place in places:
                make_folder(place / folder)
        note = made[name] if is_last else _NOT_LAST
        if note:
            found[name] = note
    return found
