"""Which earlier tasks a task waits for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pypto_tmpl.runtime.records.model import Arg, ArgType, Edge
from pypto_tmpl.runtime.records.tensors import View


@dataclass(frozen=True, slots=True)
class _Writer:
    task_id: int
    view: View


class Producers:
    """The tasks that last wrote each cell, as the device's run time keeps them.

    A task that reads cells waits for all that wrote them since they were last read and written in one.
    """

    def __init__(self) -> None:
        self._writers: dict[int, list[_Writer]] = {}

    def written_before(self, view: View) -> bool:
        """Whether a task has written any of these cells."""
        return any(writer.view.overlaps(view) for writer in self._writers.get(view.buffer.number, ()))

    def type_of(self, direction: str, view: View) -> ArgType:
        """How an argument of a declared direction counts: what is written once more is read as well.

        A task that writes a part of a buffer leaves the rest as an earlier one wrote it.
        """
        if direction == "In":
            return "INPUT"
        return "INOUT" if direction == "InOut" or self.written_before(view) else "OUTPUT"

    def submit(self, task_id: int, args: Iterable[Arg]) -> list[Edge]:
        """Enter a task; the edges to what it waits for, in the order of its arguments."""
        edges: list[Edge] = []
        written: list[tuple[Arg, View]] = []
        for arg in args:
            if arg.view is None or arg.type in ("NO_DEP", "SCALAR"):
                continue
            if arg.type != "OUTPUT":
                edges += self._edges(task_id, arg.index, arg.view)
            if arg.type != "INPUT":
                written.append((arg, arg.view))
        for arg, view in written:
            writers = self._writers.setdefault(view.buffer.number, [])
            if arg.type == "INOUT":
                writers[:] = [writer for writer in writers if not view.covers(writer.view)]
            writers.append(_Writer(task_id, view))
        return edges

    def _edges(self, task_id: int, index: int, view: View) -> list[Edge]:
        return [
            Edge(writer.task_id, task_id, index, view, writer.view, writer.view.covers(view))
            for writer in self._writers.get(view.buffer.number, ())
            if writer.view.overlaps(view)
        ]
