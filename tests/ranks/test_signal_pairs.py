"""Which notify ends which wait, and which writes come with it, in what a run has recorded."""

from __future__ import annotations

import pytest

from pypto_tmpl.runtime.records.dispatches import Dispatch, Message, Signal
from pypto_tmpl.runtime.records.model import CoreRecord, Records, Task
from pypto_tmpl.runtime.records.rank_parts import _shift
from pypto_tmpl.runtime.records.signals import delivered, signalled

CELL = (0, 1, 0)


def on_rank(rank: int, *messages: str) -> Dispatch:
    """A dispatch whose messages are of one stretch on a core.

    They are ``notify name start end number``, ``set``, ``wait`` and ``equal`` likewise, all on one cell, and
    ``put name start end peer``.
    """
    task, row = Task(1), CoreRecord(0, 1, 0, 24, "aiv", 0, 1, 99)
    task.records.append(row)
    found = Dispatch(rank, rank, 0, "chip", Records([task], ["kernel"]))
    for text in messages:
        kind, name, start, end, number = text.split()
        signal = None if kind == "put" else Signal(CELL, int(number), kind in ("set", "equal"))
        peer = int(number) if kind == "put" else 1 if kind in ("notify", "set") else None
        of_kind = {"set": "notify", "equal": "wait", "put": "put to peer"}.get(kind, kind)
        one = Message(of_kind, name, task, row, int(start), peer, int(end), signal)
        found.messages.append(one)
    return found


def pairs(*dispatches: Dispatch) -> list[tuple[str, str]]:
    return [(source.message.text, wait.message.text) for source, wait in signalled(dispatches)]


@pytest.mark.parametrize(
    ("sent", "waited", "wanted"),
    [
        # Two rounds that count up, of which the second has begun before the first wait looks.
        (["notify a 1 2 1", "notify b 3 4 1"], ["wait v 1 9 1", "wait w 10 11 2"], ["av", "bw"]),
        # All of several notifies that a wait needs.
        (["notify a 1 2 1", "notify b 3 4 1"], ["wait w 0 9 2"], ["aw", "bw"]),
        # The own rank takes the count back before it waits again.
        (
            ["notify a 1 2 1", "notify b 7 8 1"],
            ["wait v 0 3 1", "notify back 4 5 -1", "wait w 6 9 1"],
            ["av", "bw"],
        ),
        # The next round has begun before the count is taken back.
        (
            ["notify a 1 2 1", "notify b 3 4 1"],
            ["wait v 0 3 1", "notify back 5 6 -1", "wait w 7 9 1"],
            ["av", "bw"],
        ),
        # A number that is set over another.
        (["set a 1 2 1", "set b 3 4 2"], ["equal w 0 9 2"], ["bw"]),
        # A repeated wait has nothing new.
        (["notify a 1 2 1"], ["wait v 0 3 1", "wait w 4 5 1"], ["av"]),
        # What comes after a wait has not ended it.
        (["notify a 1 2 1", "notify b 6 7 1"], ["wait v 0 3 1"], ["av"]),
        # A window that was kept: the cell had a value before.
        (["notify a 1 2 1"], ["wait v 0 3 5"], ["av"]),
    ],
)
def test_a_wait_comes_after_those_that_made_up_its_value(
    sent: list[str], waited: list[str], wanted: list[str]
) -> None:
    assert pairs(on_rank(0, *sent), on_rank(1, *waited)) == [(one[0], one[1]) for one in wanted]


def test_writes_come_with_the_next_notify_to_the_same_rank() -> None:
    sender = on_rank(
        0, "put p 1 2 1", "put q 3 4 2", "notify a 5 6 1", "put r 7 8 1", "notify b 9 10 1", "put s 11 12 1"
    )
    receiver = on_rank(1, "wait v 0 7 1", "wait w 8 11 2")
    found = delivered(signalled([sender, receiver]))
    assert [(source.message.text, wait.message.text) for source, wait in found] == [("p", "v"), ("r", "w")]


def test_times_are_told_by_the_clock_of_the_first_process() -> None:
    one = on_rank(1, "wait v 3 7 1", "wait never 8 0 1")
    one.began, one.records.tasks[0].dispatched = 2, 3
    _shift(one, 100)
    (task,) = one.records.tasks
    assert (one.began, one.left, task.dispatched, task.finished) == (102, 0, 103, 0)
    assert [(row.start, row.end) for row in task.records] == [(101, 199)]
    assert [(message.start, message.end) for message in one.messages] == [(103, 107), (108, 0)]
