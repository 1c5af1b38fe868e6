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
    names = _names_of(path)
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


def jit_program_of(path: Path, wanted: str | None = None) -> tuple[str, ir.Program | None]:
    """The name of the JIT function that a kernel file defines, and its program where the file says all of it.

    That is so where it defines ``make_inputs()``, or where the annotations have all shapes and dtypes; else
    the program is None: it takes a run of the file to know the arguments. Raises KernelFileError where
    it is not clear which function is meant.
    """
    from pypto_tmpl.language.jit.function import JITFunction

    names = _names_of(path)
    found = {id(value): value for value in names.values() if isinstance(value, JITFunction)}
    entries = {value.__name__: value for value in found.values() if value.kind.is_entry}
    if wanted is None and isinstance(names.get("PROGRAM"), JITFunction):
        wanted = names["PROGRAM"].__name__
    chosen = [value for name, value in entries.items() if wanted in (None, name)]
    if len(chosen) != 1:
        notes = [f"JIT functions in it: {', '.join(entries) or 'none'}", "choose one with FILE:NAME"]
        raise KernelFileError(_unclear(path, wanted, len(chosen)), notes=notes)
    [function] = chosen
    if "make_inputs" in names:
        return function.__name__, function.specialize(*names["make_inputs"]().values())
    declared = [param.declared for param in function.parameters() if param.kind == "tensor"]
    return function.__name__, function.specialize() if declared and all(declared) else None


def _names_of(path: Path) -> dict[str, Any]:
    """The names that a file leaves when it runs as an import would run it. Raises KernelFileError."""
    from pypto_tmpl.compat.scripts import describe_failure, script_result

    try:
        status, names = script_result(path, run_name="kernel_file")
    except Exception as error:
        raise KernelFileError(f"{path} cannot be run:\n{describe_failure(error, path)}") from None
    if not names:
        raise KernelFileError(f"{path} ended by itself, with exit status {status}: it left no program")
    return names


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
