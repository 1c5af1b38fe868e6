"""Where a statement of a program stands, and which run of it is meant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pypto_tmpl import ir


@dataclass(frozen=True, slots=True)
class StatementPlace:
    """A statement of a stage, and the run of it that is meant.

    ``path`` leads to it in the IR of its function (``body/2/then/0``), ``text`` is its IR, ``source`` the
    ``file:line`` it was made from and ``generated_line`` its line in the traced script, ``generated_text``
    what stands there. ``iteration`` has the values of the loop variables around it, ``rank`` is that of a run
    on several. A file line of 0 and empty texts are unknown.
    """

    function: str
    path: str = ""
    text: str = ""
    variable: str = ""
    source: str = ""
    generated_line: int = 0
    generated_text: str = ""
    lane: str = ""
    block: int = 0
    iteration: Mapping[str, int] = field(default_factory=dict)
    rank: int | None = None


def statement_text(stmt: ir.Stmt) -> str:
    """The IR of a statement as text, of its head only if it has a body."""
    return ir.python_print(stmt).strip().split("\n", 1)[0]
