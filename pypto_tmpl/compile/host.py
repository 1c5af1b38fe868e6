"""What a device build has beside its kernels' texts: code of the host, entries of kernels, their list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendType
from pypto_tmpl.compile.streams import KernelTexts, note_of
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.passes.settings import RuntimeKind
from pypto_tmpl.streams.orchestration import host_texts, wrapper_texts

_NO_CPP = "the entries of kernels have an #error where the C++ belongs that ptoas makes of the .pto texts"
_NO_KERNELS = "empty: there are no .pto texts of kernels"
_NO_HOST = "empty: the program has no orchestration function"


@dataclass(slots=True)
class HostCode:
    """Texts by their paths in a build, what stops the emission of others, and what the manifest says.

    ``odd_cpp`` tells of C++ of the assembler that is not that of the kernels.
    """

    texts: dict[str, str] = field(default_factory=dict)
    errors: dict[str, PyptoTmplError] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    odd_cpp: str = ""


def host_code(
    program: ir.Program,
    backend: BackendType,
    kernels: KernelTexts,
    run_time: RuntimeKind | None,
    *,
    skip_ptoas: bool,
) -> HostCode:
    """The code of the host, and the entries of kernels around the C++ that the assembler has made.

    Where there is none at all, ``kernels`` says what is written all the same.
    """
    kind = run_time or RuntimeKind.TENSORMAP_AND_RINGBUFFER
    host = host_texts(program, backend, skip_ptoas=skip_ptoas, run_time=kind.value)
    assembled = {path: _text_of(kernels, path) for path in kernels.texts}
    wrappers = wrapper_texts(program, backend, {} if skip_ptoas else assembled)
    found = HostCode(host.texts | wrappers.texts, {**host.errors, **wrappers.errors})
    functions = program.functions.values()
    has_host = any(f.func_type is ir.FunctionType.Orchestration for f in functions)
    if wrappers.undefined:
        names = ", ".join(dict.fromkeys(wrappers.undefined))
        found.odd_cpp = f"ptoas made no function of {names}, which the entries call"
    found.notes = {
        "kernels": "" if skip_ptoas else found.odd_cpp or _kernels_note(kernels, wrappers.errors, program),
        "orchestration": note_of(host.errors, program) or ("" if has_host else _NO_HOST),
    }
    if kernels.why_no_cpp and found.texts:
        kernels.why_no_cpp += f"; written all the same: {_written(found.texts)}"
    return found


def _text_of(kernels: KernelTexts, path: str) -> str | None:
    made = kernels.assembled.get(path)
    return None if made is None else made.read_text(encoding="utf-8")


def _kernels_note(kernels: KernelTexts, errors: Mapping[str, PyptoTmplError], program: ir.Program) -> str:
    if not kernels.texts:
        return note_of(kernels.errors, program) or _NO_KERNELS
    return note_of(errors, program) or (_NO_CPP if len(kernels.assembled) < len(kernels.texts) else "")


def _written(texts: Iterable[str]) -> str:
    """The texts of the host in a few words: single files by their paths, the entries of kernels by number."""
    paths = sorted(texts)
    entries = [path for path in paths if "kernels" in PurePosixPath(path).parts]
    files = [path for path in paths if path not in entries]
    if entries:
        noun = "entry" if len(entries) == 1 else "entries"
        files.append(f"{len(entries)} {noun} of kernels, with an #error where that C++ belongs")
    return ", ".join(files)
