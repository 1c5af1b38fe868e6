"""Where the program of a run comes from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import torch

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.golden.errors import HarnessError
from pypto_tmpl.golden.spec import ScalarSpec, TensorSpec
from pypto_tmpl.ir.stage_names import pass_of


@runtime_checkable
class HasProgram(Protocol):
    """What stands for a program without being one, such as a decorated class."""

    def as_ir(self) -> ir.Program:
        """The program."""


@runtime_checkable
class Specializes(Protocol):
    """A function that is compiled for its arguments, such as a ``@pl.jit`` one.

    The tensors it is given have a shape and a dtype, but no data; scalars are Python numbers.
    """

    def specialize(self, *args: Any) -> ir.Program:
        """The program for these arguments, before any pass."""


@runtime_checkable
class Lowers(Protocol):
    """A function that gives its program after the passes only."""

    def lower(self, *args: Any) -> ir.Program:
        """The program for these arguments, after the passes."""


class ProgramSource(Protocol):
    """Gives the program, and a name for it before there is one; whether the passes have run on it already."""

    is_jit: bool

    @property
    def is_lowered(self) -> bool: ...

    @property
    def name(self) -> str: ...

    def program(self) -> ir.Program: ...


class GivenProgram:
    """The source of ``run``: a program, what stands for one, or the path of a dump.

    A dump that is named as one after a pass (``NN_after_<Pass>``) is executed as it is.
    """

    is_jit = False

    def __init__(self, given: ir.Program | HasProgram | str | os.PathLike[str]) -> None:
        self._given = given
        self._program: ir.Program | None = None

    @property
    def is_lowered(self) -> bool:
        return isinstance(self._given, str | os.PathLike) and bool(pass_of(Path(self._given).stem))

    @property
    def name(self) -> str:
        """The program's name."""
        return self.program().name

    def program(self) -> ir.Program:
        """The program. Raises HarnessError for anything else, and what reading a dump raises."""
        if self._program is None:
            self._program = self._read()
        return self._program

    def _read(self) -> ir.Program:
        given: Any = self._given
        if isinstance(given, str | os.PathLike):
            given = _read_dump(Path(given))
        elif isinstance(given, HasProgram):
            given = given.as_ir()
        if isinstance(given, ir.Function):
            given = ir.Program([given], given.name, given.span)
        if not isinstance(given, ir.Program):
            notes = ["programs: ir.Program, an object with as_ir(), the path of a .msgpack or .py dump"]
            if isinstance(given, Specializes | Lowers):
                notes.append("a @pl.jit function is run by run_jit(fn=...)")
            raise HarnessError(f"program is a {type(given).__name__}, not a program", notes=notes)
        return given


def _read_dump(path: Path) -> object:
    if path.suffix == ".msgpack":
        return ir.deserialize_from_file(str(path))
    if path.suffix == ".py":
        return pl.loads(path)
    raise HarnessError(f"{path} is no dump that can be read", notes=["dumps: *.msgpack, *.py"])


class JitFunction:
    """The source of ``run_jit``: a function, specialised for the specs."""

    is_jit = True

    def __init__(self, function: Specializes | Lowers, specs: Sequence[TensorSpec | ScalarSpec]) -> None:
        self._function = function
        self._specs = specs
        self.is_lowered = not isinstance(function, Specializes)

    @property
    def name(self) -> str:
        """The function's name."""
        return str(getattr(self._function, "__name__", type(self._function).__name__))

    def program(self) -> ir.Program:
        """The program specialised for the specs; no tensor is allocated for it."""
        args = [_metadata(spec) for spec in self._specs]
        if isinstance(self._function, Specializes):
            found: object = self._function.specialize(*args)
        elif isinstance(self._function, Lowers):
            found = self._function.lower(*args)
        else:
            raise HarnessError(
                f"fn is a {type(self._function).__name__}, not a @pl.jit function",
                notes=["functions: objects with specialize(*args) or lower(*args), giving an ir.Program"],
            )
        if not isinstance(found, ir.Program):
            raise HarnessError(f"{self.name} was specialised to a {type(found).__name__}, not a program")
        return found


def _metadata(spec: TensorSpec | ScalarSpec) -> object:
    if isinstance(spec, ScalarSpec):
        return spec.to_python()
    return torch.empty(spec.extents, dtype=spec.dtype, device="meta")
