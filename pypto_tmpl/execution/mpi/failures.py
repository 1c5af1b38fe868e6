"""Errors that cross processes: the one of the first process that failed itself is raised in all."""

from __future__ import annotations

import builtins
import pickle
import traceback
from dataclasses import dataclass
from typing import Any

from pypto_tmpl.execution.engines import SCRIPT


class Elsewhere(RuntimeError):
    """Ends the fibers of a process when a rank of another one has failed."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An error as it is told: its class and arguments, and where in the script it was raised."""

    kind: str
    args: tuple[Any, ...]
    notes: tuple[str, ...]
    place: tuple[str, int, str] | None  # file, line, function

    def error(self, world: Any, program: Any) -> BaseException:
        """The error as if it had been raised here, at the line where it was."""
        made = self._class(world, program)(*self.args)
        for note in self.notes:
            made.add_note(note)
        return made if self.place is None else _raised_at(made, *self.place)

    def _class(self, world: Any, program: Any) -> type[BaseException]:
        helpers = type(world.fibers)._switch.__globals__
        for names in (vars(builtins), program.__globals__, helpers):
            for name in (self.kind, f"_{self.kind}"):
                found = names.get(name)
                if isinstance(found, type) and issubclass(found, BaseException):
                    return found
        return type(self.kind, (RuntimeError,), {})


def packed(error: BaseException, program: Any) -> Failure:
    """An error as other processes are told of it."""
    script = program.__globals__[SCRIPT].name
    frames = [one for one in traceback.extract_tb(error.__traceback__) if one.filename == script]
    own = next((one for one in reversed(frames) if not one.name.startswith("_")), None)
    place = None if own is None else (own.filename, own.lineno or 1, own.name)
    args = tuple(arg if _is_plain(arg) else str(arg) for arg in error.args)
    return Failure(type(error).__name__, args, tuple(getattr(error, "__notes__", ())), place)


def _is_plain(value: object) -> bool:
    try:
        pickle.loads(pickle.dumps(value))
    except Exception:
        return False
    return True


def _raised_at(error: BaseException, file: str, line: int, function: str) -> BaseException:
    """The error with a traceback that ends at a line, as those who look for lines want it."""
    code = compile("\n" * (line - 1) + "raise error", file, "exec").replace(co_name=function)
    try:
        exec(code, {"error": error})
    except BaseException as raised:
        return raised
    raise AssertionError
