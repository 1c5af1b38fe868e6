"""What a script is made from: the program of a dump, of Python code, or of a kernel with its arguments."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.generated import SCRIPT_MARK
from pypto_tmpl.golden.sources import HasProgram, JitFunction, Lowers, Specializes
from pypto_tmpl.golden.spec import ScalarSpec, TensorSpec
from pypto_tmpl.snapshots.arguments import argument
from pypto_tmpl.snapshots.code import Reference, described, line_of_name
from pypto_tmpl.snapshots.config import Arguments
from pypto_tmpl.snapshots.toml_file import shown_from_here


class SnapshotError(PyptoTmplError, ValueError):
    """A case of which no script can be made."""

    slug = "snapshot"


class Source(Protocol):
    """Gives the program of a case."""

    def program(self) -> ir.Program | ir.Function:
        """The program as it is now. Raises PyptoTmplError with file and line."""


@dataclass(frozen=True, slots=True)
class PreambleSource:
    """The helpers that scripts import: no program."""

    def text(self) -> str:
        """All of them, under the mark of an emitted script."""
        from pypto_tmpl.preamble import preamble_text  # it executes them

        return f'"""Run-time helpers\n\n{SCRIPT_MARK}\n"""\n\n{preamble_text()}'


@dataclass(frozen=True, slots=True)
class DumpSource:
    """A dump, in text or in binary form."""

    file: Path

    def program(self) -> ir.Program | ir.Function:
        """The program that the dump holds."""
        if self.file.suffix == ".msgpack":
            node: object = ir.deserialize_from_file(str(self.file))
        else:
            node = pl.loads(self.file)
        if not isinstance(node, ir.Program | ir.Function):
            what = f"the dump holds a {type(node).__name__}, not a program or function"
            raise SnapshotError(what, where=f"{shown_from_here(self.file)}:1")
        return node


@dataclass(frozen=True, slots=True)
class ProgramSource:
    """A program or function that Python code defines."""

    reference: Reference

    def program(self) -> ir.Program | ir.Function:
        """The program, from code that is run anew in every process."""
        found = self.reference.value()
        if not isinstance(found, type) and isinstance(found, HasProgram):
            found = found.as_ir()
        if isinstance(found, ir.Program | ir.Function):
            return found
        notes = ["programs: ir.Program, ir.Function, an object with as_ir()"]
        if isinstance(found, Specializes):
            notes.append("a @pl.jit function is a case of [[...kernels]]")
        what = f"{self.reference} is of type {type(found).__name__}, not a program"
        raise SnapshotError(what, where=line_of_name(self.reference), notes=notes)


@dataclass(frozen=True)
class KernelSource:
    """A JIT function, with its arguments or what makes them."""

    reference: Reference
    arguments: Arguments | None = None
    maker: Reference | None = None

    def program(self) -> ir.Program | ir.Function:
        """The program, specialised for the arguments; without any, for the annotations."""
        kernel = self.reference.value()
        if not isinstance(kernel, Specializes | Lowers):
            what = f"{self.reference} is of type {type(kernel).__name__}, not a @pl.jit function"
            notes = ["a program is a case of [[...programs]]"] if isinstance(kernel, ir.Program) else []
            raise SnapshotError(what, where=line_of_name(self.reference), notes=notes)
        given = self._given()
        try:
            return _specialised(kernel, given)
        except PyptoTmplError:
            raise
        except Exception as error:  # whatever the user's code and arguments lead to
            what = f"{self.reference} cannot be specialised: {described(error)}"
            notes = [] if given else ["arguments = [...] says what for: tensors as 'FP32[64, 128]', numbers"]
            raise SnapshotError(what, where=line_of_name(self.reference), notes=notes) from error

    def _given(self) -> Any:
        if self.maker is None:
            return self.arguments if self.arguments is not None else []
        make = self.maker.value()
        try:
            return make()
        except Exception as error:
            what = f"{self.maker} cannot make arguments: {described(error)}"
            raise SnapshotError(what, where=line_of_name(self.maker)) from error


def _specialised(kernel: Any, given: Any) -> ir.Program | ir.Function:
    if isinstance(given, dict):
        named = {name: argument(value) for name, value in given.items()}
        found: ir.Program | ir.Function = kernel.specialize(**named)
        return found
    if not isinstance(given, list | tuple):
        raise TypeError(f"its arguments are a {type(given).__name__}, not a list or a dict")
    if given and all(isinstance(value, TensorSpec | ScalarSpec) for value in given):
        return JitFunction(kernel, given).program()
    found = kernel.specialize(*(argument(value) for value in given))
    return found
