"""``ranks.json``: the contents of what a run on several ranks has recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pypto_tmpl.runtime.records.dispatches import Dispatch
from pypto_tmpl.runtime.records.signals import Sent, delivered, signalled

INDEX = "ranks.json"


def index_of_ranks(dispatches: Sequence[Dispatch]) -> dict[str, Any]:
    """``ranks.json``: which dispatch each folder is of, which notify has ended which wait, and which writes
    these waits were told of.
    """
    signals = signalled(dispatches)
    return {
        "version": 1,
        "simulated": True,
        "dispatches": [
            {
                "rank": one.rank,
                "device": one.device,
                "dispatch": one.number,
                "name": one.name,
                "folder": one.folder,
                "tasks": len(one.records.tasks),
            }
            for one in dispatches
            if one.rank is not None
        ],
        "signals": [_pair(*pair) for pair in signals],
        "writes": [_pair(*pair) for pair in delivered(signals)],
    }


def _pair(source: Sent, target: Sent) -> dict[str, Any]:
    return {"from": _place(source), "to": _place(target)}


def _place(sent: Sent) -> dict[str, Any]:
    where = {"rank": sent.dispatch.rank, "dispatch": sent.dispatch.number}
    return {**where, "task_id": str(sent.message.task.task_id), "text": sent.message.text}
