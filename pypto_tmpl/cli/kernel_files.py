"""Kernel files as users write them: what reading alone cannot make a program of, Python does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.errors import PyptoTmplError


class KernelFileError(PyptoTmplError, ValueError):
    """A kernel file that fails when it is run, or does not say which program is meant."""

    slug = "kernel-file"


def program_of(path: Path, wanted: str | None = None) -> ir.Program | ir.Function:
    """The program or function that a kernel file defines, found by running it.

    It runs as an import would run it: what stands below ``if __name__ == "__main__"`` does not. ``wanted`` is
    its name, or that of the variable that holds it; without one it is ``PROGRAM``, or the only program, or
    else the only function. Raises KernelFileError.
    """
    from pypto_tmpl.compat.scripts import describe_failure, script_result

    try:
        status, names = script_result(path, run_name="kernel_file")
    except Exception as error:
        raise KernelFileError(f"{path} cannot be run:\n{describe_failure(error, path)}") from None
    if not names:
        raise KernelFileError(f"{path} ended by itself, with exit status {status}: it left no program")
    found = {id(node): (name, node) for name, node in _nodes(names)}
    programs = [(name, node) for name, node in found.values() if isinstance(node, ir.Program)]
    if wanted is not None:
        chosen = [node for name, node in found.values() if wanted in (name, node.name)]
    elif "PROGRAM" in names:
        chosen = [node for name, node in _nodes({"PROGRAM": names["PROGRAM"]})]
    else:
        chosen = [node for _, node in programs or found.values()]
    if len(chosen) == 1:
        return chosen[0]
    raise KernelFileError(_unclear(path, wanted, len(chosen)), notes=_notes(names, list(found.values())))


def _nodes(names: Mapping[str, Any]) -> list[tuple[str, ir.Program | ir.Function]]:
    from pypto_tmpl.golden.sources import HasProgram

    found: list[tuple[str, ir.Program | ir.Function]] = []
    for name, value in names.items():
        if isinstance(value, ir.Program | ir.Function):
            found.append((name, value))
        elif not isinstance(value, type) and isinstance(value, HasProgram):
            found.append((name, value.as_ir()))
    return found


def _unclear(path: Path, wanted: str | None, count: int) -> str:
    if wanted is not None:
        return f"{path} defines {count or 'no'} program or function {wanted!r}"
    return f"{path} defines {count or 'no'} programs, where one is expected"


def _notes(names: Mapping[str, Any], found: list[tuple[str, ir.Program | ir.Function]]) -> list[str]:
    from pypto_tmpl.language.jit.function import JITFunction

    notes = (
        [f"it defines: {', '.join(name for name, _ in found)}; choose one with --program"] if found else []
    )
    jit = [name for name, value in names.items() if isinstance(value, JITFunction)]
    if jit and not found:
        notes.append(
            f"JIT functions get their program from their arguments ({', '.join(jit)}): use `pypto-tmpl run`"
        )
    return notes
