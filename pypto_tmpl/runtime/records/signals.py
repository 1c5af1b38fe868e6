"""Which notify has ended which wait, and which writes came with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pypto_tmpl.runtime.records.dispatches import Dispatch, Message, Signal

_WRITES = ("put to peer", "remote store")


@dataclass(frozen=True, slots=True)
class Sent:
    """A message of a dispatch."""

    dispatch: Dispatch
    message: Message


def signalled(dispatches: Sequence[Dispatch]) -> list[tuple[Sent, Sent]]:
    """Each notify with the wait that it has ended.

    A wait comes after the notifies that have made up the value that it was for, as far as no wait
    on the cell has come after them before. What processes did at the same time has no further order.
    """
    notifies: dict[tuple[int, int, int], list[tuple[Sent, Signal]]] = {}
    waits: dict[tuple[int, int, int], list[tuple[Sent, Signal]]] = {}
    for dispatch in dispatches:
        for message in dispatch.messages:
            if message.signal is not None:
                found = notifies if message.kind == "notify" else waits
                at = Sent(dispatch, message), message.signal
                found.setdefault(message.signal.cell, []).append(at)
    pairs = [pair for cell, own in waits.items() for pair in _of_cell(notifies.get(cell, []), own)]
    places = {id(one): place for place, one in enumerate(dispatches)}
    return sorted(pairs, key=lambda pair: places[id(pair[1].dispatch)])


def _of_cell(
    notifies: Sequence[tuple[Sent, Signal]], waits: Sequence[tuple[Sent, Signal]]
) -> Iterator[tuple[Sent, Sent]]:
    """The pairs of one cell."""
    notifies = sorted(notifies, key=lambda one: one[0].message.start)
    value = taken = 0
    for wait, wanted in sorted(waits, key=lambda one: one[0].message.end):
        until = taken + sum(one.message.start < wait.message.end for one, _ in notifies[taken:])
        least = _after_resets(notifies[:until], taken, wait.message.start)
        sources: list[Sent] = []
        while taken < until and (taken < least or not wanted.is_reached(value)):
            source, change = notifies[taken]
            value, taken = change.changed(value), taken + 1
            if change.is_exact:
                sources.clear()
            if change.is_exact or change.number > 0:
                sources.append(source)
        yield from ((source, wait) for source in sources)


def _after_resets(notifies: Sequence[tuple[Sent, Signal]], first: int, time: int) -> int:
    """How many notifies come first because what takes a value back is among them, before a time."""
    for place in range(len(notifies), first, -1):
        one, change = notifies[place - 1]
        if one.message.start < time and (change.is_exact or change.number < 0):
            return place
    return first


def delivered(signals: Sequence[tuple[Sent, Sent]]) -> Iterator[tuple[Sent, Sent]]:
    """Each write to a window of another rank with the wait that is told of it.

    These are the writes to the rank that a notify goes to, which the same core has made before it and
    told no earlier notify of.
    """
    for source, wait in signals:
        found: list[Message] = []
        for one in source.dispatch.messages:
            if one is source.message:
                break
            if one.row is source.message.row and one.peer == source.message.peer:
                if one.kind == "notify":
                    found.clear()
                elif one.kind in _WRITES:
                    found.append(one)
        yield from ((Sent(source.dispatch, one), wait) for one in found)
