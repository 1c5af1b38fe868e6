"""Values that a user's Python code defines, by ``file.py:name`` or ``module:name``."""

from __future__ import annotations

import ast
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from pypto_tmpl.compat.imports import answering
from pypto_tmpl.errors import PyptoTmplError, allowed_note
from pypto_tmpl.execution.modules import load_module
from pypto_tmpl.snapshots.toml_file import shown_from_here


class CodeError(PyptoTmplError, ValueError):
    """Python code that a case names is not there, or fails when it is run."""

    slug = "snapshot-code"


@dataclass(frozen=True, slots=True)
class Reference:
    """A name in a file or in a module; ``folder`` is where modules are looked for first."""

    folder: Path
    home: Path | str
    name: str

    def __str__(self) -> str:
        home = self.home if isinstance(self.home, str) else shown_from_here(self.home)
        return f"{home}:{self.name}"

    def value(self) -> Any:
        """What the name stands for; the code is run once in a process. Raises CodeError."""
        module = _module(self.folder, self.home)
        if hasattr(module, self.name):
            return getattr(module, self.name)
        names = [name for name in vars(module) if not name.startswith("_")]
        where = f"{shown_from_here(Path(module.__file__ or ''))}:1"
        what = f"there is no {self.name!r} in it"
        raise CodeError(what, where=where, notes=[allowed_note("names", names, self.name)])


@cache
def _module(folder: Path, home: Path | str) -> ModuleType:
    with answering(), _importing_from(folder):
        try:
            return load_module(home) if isinstance(home, Path) else import_module(home)
        except PyptoTmplError:
            raise
        except (Exception, SystemExit) as error:
            where = home if isinstance(home, str) else _place(error, home)
            raise CodeError(f"{_shown(home)} cannot be run: {described(error)}", where=where) from error


def _shown(home: Path | str) -> str:
    return home if isinstance(home, str) else shown_from_here(home)


@contextmanager
def _importing_from(folder: Path) -> Iterator[None]:
    places = list(sys.path)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path[:] = places


def described(error: BaseException) -> str:
    """An exception of a user's code, as Python would name it, in one line."""
    return traceback.format_exception_only(error)[-1].strip()


def _place(error: BaseException, file: Path) -> str:
    """The line of a file that an exception comes from."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == str(file) and frame.lineno
    ]
    if isinstance(error, SyntaxError) and error.filename == str(file):
        lines.append(error.lineno or 1)
    return f"{shown_from_here(file)}:{lines[-1] if lines else 1}"


def line_of_name(reference: Reference) -> str:
    """``file:line`` where a name is defined, the beginning of the file where that cannot be told."""
    home = reference.home
    if isinstance(home, str):
        spec = find_spec(home) if home in sys.modules else None
        if spec is None or spec.origin is None:
            return home
        home = Path(spec.origin)
    defined = definitions(home)
    return f"{shown_from_here(home)}:{defined.get(reference.name, 1)}"


def definitions(file: Path) -> dict[str, int]:
    """The names that a file defines at its top level, with their lines; none for a file that is no Python."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError, OSError):
        return {}
    found: dict[str, int] = {}
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found[name] = node.lineno
            case ast.Assign(targets=targets):
                found |= {target.id: node.lineno for target in targets if isinstance(target, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=name)):
                found[name] = node.lineno
    return found
