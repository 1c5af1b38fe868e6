"""What a device build has beside its kernels' texts: code of the host, entries of kernels, their list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendType
from pypto_tmpl.compile.streams import KernelTexts, note_of
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.passes.settings import RuntimeKind
from pypto_tmpl.streams.orchestration import host_texts, wrapper_texts

_NO_CPP = "empty: they hold what ptoas makes of the .pto texts, and there is none"
_NO_HOST = "empty: the program has no orchestration function"


@dataclass(slots=True)
class HostCode:
    """Texts by their paths in a build, what stops the emission of others, and what the manifest says."""

    texts: dict[str, str] = field(default_factory=dict)
    errors: dict[str, PyptoTmplError] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)


def host_code(
    program: ir.Program,
    backend: BackendType,
    kernels: KernelTexts,
    run_time: RuntimeKind | None,
    *,
    skip_ptoas: bool,
) -> HostCode:
    """The code of the host; of kernels, the entries of those that the assembler has made C++ of."""
    kind = run_time or RuntimeKind.TENSORMAP_AND_RINGBUFFER
    host = host_texts(program, backend, skip_ptoas=skip_ptoas, run_time=kind.value)
    assembled = {
        path: made.read_text(encoding="utf-8", errors="replace") for path, made in kernels.assembled.items()
    }
    wrappers = wrapper_texts(program, backend, assembled)
    found = HostCode(host.texts | wrappers.texts, {**host.errors, **wrappers.errors})
    functions = program.functions.values()
    has_host = any(f.func_type is ir.FunctionType.Orchestration for f in functions)
    found.notes = {
        "kernels": "" if skip_ptoas else _kernels_note(kernels, wrappers.errors),
        "orchestration": note_of(host.errors) or ("" if has_host else _NO_HOST),
    }
    return found


def _kernels_note(kernels: KernelTexts, errors: Mapping[str, PyptoTmplError]) -> str:
    return note_of(errors) or ("" if kernels.assembled else _NO_CPP)
