"""The page over all faults of a hunt, in the design of the other reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pypto_tmpl.debug.report.html import rendered
from pypto_tmpl.hunt.findings import WRONG
from pypto_tmpl.hunt.report.fault import Fault

_KINDS = {"-": "gone", "+": "came", "@": "place"}


def page_text(
    found: Sequence[tuple[str, int, Fault]],
    programs: int,
    seconds: float,
    ignored: Mapping[str, int],
    drawing: Mapping[str, Any],
) -> str:
    """The HTML: ``found`` are folders, numbers of programs and faults, in the order of the finding."""
    stages = Counter(fault.finding.pass_name for _, _, fault in found)
    return rendered(
        "hunt.html.jinja",
        {},
        styles=("snapshots.css", "hunt.css"),
        scripts=(),
        faults=[
            {
                "folder": folder,
                "programs": count,
                "title": fault.headline,
                "wrong": WRONG[fault.finding.wrong],
                "finding": fault.finding,
                "backend": fault.program.compiled_for,
                "drawn": fault.drawn,
                "statements": fault.statements,
                "text": fault.program.text.rstrip(),
                "difference": _lines(fault.difference),
            }
            for folder, count, fault in found
        ],
        stages=stages.most_common(),
        programs=programs,
        rate=programs / seconds if seconds else 0.0,
        ignored=sorted(ignored.items()),
        drawing=dict(drawing),
    )


def _lines(difference: str) -> list[tuple[str, str]]:
    """The lines of a difference, each with its kind."""
    return [(_KINDS.get(line[:1], ""), line) for line in difference.splitlines()]
