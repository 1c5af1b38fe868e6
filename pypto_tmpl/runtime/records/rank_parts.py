"""The parts of a recorded run on several ranks, of which other processes may have recorded some."""

from __future__ import annotations

import ast
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pypto_tmpl.runtime.dfx import DfxOptions
from pypto_tmpl.runtime.records.arg_dump import DumpEntry
from pypto_tmpl.runtime.records.dispatches import Dispatch, Message
from pypto_tmpl.runtime.records.hooks import attach
from pypto_tmpl.runtime.records.model import CoreRecord, Records
from pypto_tmpl.runtime.records.parts import Part, dump_in, recorder_options
from pypto_tmpl.runtime.records.plan import TaskPlan
from pypto_tmpl.runtime.records.rank_recorder import RankRecorder, RankRecorders
from pypto_tmpl.runtime.records.rewrite import mark_launches


@dataclass(frozen=True, slots=True)
class ToldPart:
    """What a process has recorded of the dispatch at a place among all, but the data of its arguments."""

    place: int
    records: Records
    messages: list[Message]
    began: int
    left: int
    unmatched: list[str]
    entries: list[DumpEntry]


class RankParts:
    """Records the dispatches that this process runs, each as a part with a folder of its own."""

    def __init__(
        self,
        namespace: dict[str, Any],
        plan: TaskPlan,
        options: DfxOptions,
        folder: Path,
        on_task: Callable[[], None],
    ) -> None:
        self._options, self._folder = options, folder
        self._parts: dict[int, Part] = {}  # by the places of dispatches

        def recorder_of(dispatch: Dispatch, context: Any) -> RankRecorder:
            dump = dump_in(folder / dispatch.folder, options)
            given = recorder_options(namespace, options, dump, on_task)
            recorder = RankRecorder(plan, dispatch, context, **given)
            self._add(len(self.dispatches) - 1, recorder.unmatched, dump)
            return recorder

        self._recorders = RankRecorders(namespace, recorder_of)
        attach(namespace, plan, self._recorders)
        self._recorders.attach()

    @property
    def dispatches(self) -> Sequence[Dispatch]:
        """All dispatches, in the order of the host, which is the same in all processes."""
        return self._recorders.dispatches

    @property
    def parts(self) -> list[Part]:
        """The parts in the order of their dispatches."""
        return [self._parts[place] for place in sorted(self._parts)]

    def told(self, shift: int) -> Iterator[ToldPart | bytes]:
        """What this process has recorded: each part, and behind it the data of its arguments.

        ``shift`` are the nanoseconds by which the clock of who is told is ahead of this one's.
        """
        for place, part in sorted(self._parts.items()):
            one = self.dispatches[place]
            _shift(one, shift)
            entries = [] if part.dump is None else part.dump.entries
            yield ToldPart(place, one.records, one.messages, one.began, one.left, part.unmatched, entries)
            if part.dump is not None:
                yield from part.dump.taken_data()

    def learn(self, told: Iterable[ToldPart | bytes]) -> None:
        """Take over what another process tells."""
        part: Part | None = None
        for one in told:
            if isinstance(one, ToldPart):
                dispatch = self.dispatches[one.place]
                dispatch.records, dispatch.messages = one.records, one.messages
                dispatch.began, dispatch.left = one.began, one.left
                dump = dump_in(self._folder / dispatch.folder, self._options)
                part = self._add(one.place, one.unmatched, dump)
                if dump is not None:
                    dump.entries += one.entries
            elif part is not None and part.dump is not None:
                part.dump.add_data(one)

    def _add(self, place: int, unmatched: list[str], dump: Any) -> Part:
        one = self.dispatches[place]
        part = self._parts[place] = Part(self._folder / one.folder, one.records, unmatched, dump)
        return part


class RecordingElsewhere:
    """Records the ranks of another process than the first, which gets it all when they have ended."""

    def __init__(self, plan: TaskPlan, options: DfxOptions) -> None:
        self._plan, self._options = plan, options

    def mark(self, script: ast.Module) -> ast.Module:
        """The script with its launches marked."""
        return mark_launches(script, self._plan)

    def attach(self, namespace: dict[str, Any]) -> None:
        """Attach to a script that was loaded with its launches marked."""
        self._folder = tempfile.TemporaryDirectory(prefix="pypto_tmpl_records_")
        folder = Path(self._folder.name)
        self._parts = RankParts(namespace, self._plan, self._options, folder, lambda: None)

    def told(self, shift: int) -> Iterator[ToldPart | bytes]:
        """What was recorded, for ``RankParts.learn`` of the first process."""
        with self._folder:
            yield from self._parts.told(shift)


def _shift(dispatch: Dispatch, by: int) -> None:
    """Tell all times of a dispatch by a clock that is ahead; what has none stays without."""
    if not by:
        return
    dispatch.began, dispatch.left = (time and time + by for time in (dispatch.began, dispatch.left))
    for task in dispatch.records.tasks:
        task.dispatched, task.finished = (time and time + by for time in (task.dispatched, task.finished))
    spans: list[CoreRecord | Message] = [*dispatch.records.core_records, *dispatch.messages]
    for one in spans:
        one.start, one.end = one.start + by, one.end and one.end + by
