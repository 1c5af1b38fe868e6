"""What stops the emission of a text, said with function, variable and source line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pypto_tmpl import ir
from pypto_tmpl.codegen.unsupported import Unsupported
from pypto_tmpl.errors import PyptoTmplError


class StreamError(PyptoTmplError, ValueError):
    """A function that no text can be made of; ``found`` lists what stands in the way."""

    slug = "stream"
    text = "text"

    def __init__(self, found: tuple[Unsupported, ...] = ()) -> None:
        noun = "thing" if len(found) == 1 else "things"
        what = f"{len(found)} {noun} cannot become {self.text}"
        super().__init__(what, notes=[str(item) for item in found])
        self.found = found

    def __reduce__(self) -> tuple[type[StreamError], tuple[tuple[Unsupported, ...]]]:
        return type(self), (self.found,)


class PtoError(StreamError):
    """A kernel that has no ``.pto`` text."""

    slug = "pto"
    text = ".pto text"


class OrchestrationError(StreamError):
    """An orchestration function that has no C++ text."""

    slug = "orchestration"
    text = "C++ text"


class DriverError(StreamError):
    """A host function that has no Python text."""

    slug = "driver"
    text = "the driver of several chips"


class SubWorkerError(StreamError):
    """A sub-worker of the host whose Python is not known."""

    slug = "sub-worker"
    text = "a Python module"


class CollectiveError(StreamError):
    """A collective over chips whose own build has no text."""

    slug = "collective"
    text = "the build of a collective"


class WrapperError(StreamError):
    """A kernel that has no wrapper, which takes its arguments from the run time."""

    slug = "wrapper"
    text = "a kernel wrapper"


class Obstacle(Exception):
    """Raised where the text of a statement cannot be made; the function and the variable are added above."""

    def __init__(self, what: str, span: ir.Span | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.span = span
        self.variable = ""


class BrokenError(Exception):
    """A variable is read whose statement has no text: that statement's obstacle has been told already."""


@contextmanager
def told_of(stmt: ir.Stmt, function: str, broken: set[ir.Var], problems: list[Unsupported]) -> Iterator[None]:
    """Note what is in the way of a statement among ``problems``, and its variables as ``broken``."""
    try:
        yield
    except (Obstacle, BrokenError) as error:
        broken.update(_bound_by(stmt))
        if isinstance(error, Obstacle):
            span = error.span if error.span is not None and error.span.is_valid() else stmt.span
            variable = error.variable or (stmt.var.name_hint if isinstance(stmt, ir.AssignStmt) else "")
            problems.append(Unsupported(error.what, function, variable, span))


def _bound_by(stmt: ir.Stmt) -> tuple[ir.Var, ...]:
    """The variables that a statement binds behind itself."""
    if isinstance(stmt, ir.AssignStmt):
        return (stmt.var,)
    return stmt.return_vars if isinstance(stmt, ir.ForStmt | ir.WhileStmt | ir.IfStmt) else ()
