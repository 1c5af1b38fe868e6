"""Which earlier tasks a task waits for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from pypto_tmpl.runtime.records.model import Arg, ArgType, Edge
from pypto_tmpl.runtime.records.tensors import View

# Where a task is launched: in which run of which parallel loop, in which iterations; None in no such loop.
Place: TypeAlias = tuple[tuple[int, int], tuple[tuple[int, int], ...]] | None


@dataclass(slots=True, eq=False)
class _Writer:
    """A task that wrote cells; ``hidden`` is where a task was launched that read and wrote all of them."""

    task_id: int
    view: View
    place: Place
    hidden: Place = None


class Producers:
    """The tasks that last wrote each cell, as the device's run time keeps them.

    A task that reads cells waits for all that wrote them since they were last read and written in one.
    Iterations of one run of a parallel loop do not wait for each other.
    """

    def __init__(self) -> None:
        self._writers: dict[int, list[_Writer]] = {}

    def type_of(self, direction: str, view: View, place: Place) -> ArgType:
        """How an argument of a declared direction counts: what is written once more is read as well.

        A task that writes a part of a buffer leaves the rest as an earlier one wrote it.
        """
        if direction == "In":
            return "INPUT"
        is_written = any(True for _ in self._before(view, place))
        return "INOUT" if direction == "InOut" or is_written else "OUTPUT"

    def submit(self, task_id: int, args: Iterable[Arg], place: Place) -> list[Edge]:
        """Enter a task; the edges to what it waits for, in the order of its arguments."""
        edges: list[Edge] = []
        written: list[tuple[Arg, View]] = []
        for arg in args:
            if arg.view is None or arg.type in ("NO_DEP", "SCALAR"):
                continue
            if arg.type != "OUTPUT":
                edges += [
                    Edge(
                        writer.task_id,
                        task_id,
                        arg.index,
                        arg.view,
                        writer.view,
                        writer.view.covers(arg.view),
                    )
                    for writer in self._before(arg.view, place)
                ]
            if arg.type != "INPUT":
                written.append((arg, arg.view))
        for arg, view in written:
            if arg.type == "INOUT":
                self._hide(view, place)
            self._writers.setdefault(view.buffer.number, []).append(_Writer(task_id, view, place))
        return edges

    def _before(self, view: View, place: Place) -> Iterator[_Writer]:
        """The writers of these cells that a task launched at a place waits for."""
        for writer in self._writers.get(view.buffer.number, ()):
            is_hidden = writer.hidden is not None and not _are_independent(writer.hidden, place)
            if not is_hidden and not _are_independent(writer.place, place) and writer.view.overlaps(view):
                yield writer

    def _hide(self, view: View, place: Place) -> None:
        """Forget the writers of cells that are read and written; other iterations still wait for them."""
        writers = self._writers.get(view.buffer.number, [])
        seen = [writer for writer in self._before(view, place) if view.covers(writer.view)]
        for writer in seen:
            writer.hidden = place
        gone = seen if place is None else []
        writers[:] = [w for w in writers if w not in gone and not _is_past(w.hidden, place)]


def _are_independent(one: Place, other: Place) -> bool:
    """Whether two launches are in different iterations of one run of a parallel loop."""
    return one is not None and other is not None and one[0] == other[0] and one[1] != other[1]


def _is_past(hidden: Place, place: Place) -> bool:
    """Whether what a writer is hidden by is in a loop that has ended."""
    return hidden is not None and (place is None or hidden[0] != place[0])
