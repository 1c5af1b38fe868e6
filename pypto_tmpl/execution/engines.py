"""What runs the ranks of host programs in this process: threads, or an engine that was chosen instead."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from pypto_tmpl.errors import PyptoTmplError, allowed_note
from pypto_tmpl.execution.exits import tell_exits

THREADS, MPI = "threads", "mpi"
ENGINES = (THREADS, MPI)
SCRIPT = "_SCRIPT"  # the name of a script's own text among its names
LISTENER = "_LISTENER"  # that of what records its runs, where something does
MakeEngine = Callable[[Any], Any]


class EngineError(PyptoTmplError, ValueError):
    """An engine that there is not, that cannot be had here, or that cannot do what is asked of it."""

    slug = "engine"


@dataclass(frozen=True, slots=True)
class ScriptText:
    """The text of a script and the name that stands for its file: what other processes load it from."""

    text: str
    name: str


class ListenerElsewhere(Protocol):
    """What records how a script runs in another process than the first, to which it is sent by pickle."""

    def mark(self, script: ast.Module) -> ast.Module:
        """The script as it is to be executed."""

    def attach(self, namespace: dict[str, Any]) -> None:
        """Record a script that has been loaded so."""

    def told(self, shift: int) -> Iterator[Any]:
        """What was recorded; the clock of the first process is ahead of the own one by ``shift`` ns."""


class Listener(Protocol):
    """What records how a script runs, and learns from ``copy``s in other processes when it has run."""

    @property
    def copy(self) -> ListenerElsewhere:
        """What records in another process."""

    def learn(self, told: Iterator[Any]) -> None:
        """Take over what another process tells."""


class _Chosen:
    """The engine of this process; None are threads."""

    make: MakeEngine | None = None


def check_engine(name: str) -> None:
    """Refuse a name that no engine has.   Raises: EngineError."""
    if name not in ENGINES:
        raise EngineError(f"there is no engine {name!r}", notes=[allowed_note("engines", ENGINES, name)])


def use_engine(make: MakeEngine | None) -> None:
    """Let ``make(world)`` run the ranks of host programs from now on; None are threads."""
    _Chosen.make = make


def is_of_processes() -> bool:
    """Whether ranks are processes, of which this one sees its own alone."""
    return _Chosen.make is not None


def attach_engine(namespace: dict[str, Any], text: str, name: str) -> None:
    """Let the ranks of a script that has been loaded run as the process has chosen when it is called."""
    if (ranks := ranks_of(namespace)) is not None:
        ranks.engine = _engine_of
        namespace[SCRIPT] = ScriptText(text, name)


def ranks_of(namespace: Mapping[str, Any]) -> Any:
    """What the ranks of a loaded script run on, None for a script without a host."""
    run = namespace.get("_run_host")
    return None if run is None else run.__globals__["_ranks"]


def _engine_of(world: Any) -> Any:
    if _Chosen.make is not None:
        return _Chosen.make(world)
    tell_exits(world)
    return None
