"""What can be wrong with a compiled program, and what tells one fault from another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Wrong: TypeAlias = Literal[
    "values",
    "storage",
    "schedule",
    "input",
    "script",
    "verifier",
    "text",
    "dump",
    "crash",
    "refused",
    "time",
    "program",
]
WRONG: Mapping[Wrong, str] = {
    "values": "it computes something else than the program",
    "storage": "it computes something else on the bytes in which its tiles lie",
    "schedule": "its cores depend on an order that nothing keeps",
    "input": "it writes to an input that the program only reads",
    "script": "it fails when it is run",
    "verifier": "it breaks a rule of the IR",
    "text": "its text does not read back as it",
    "dump": "files of its dump are damaged or missing",
    "crash": "the compiler crashes",
    "refused": "the compiler refuses a valid program",
    "time": "it takes longer than it may",
    "program": "the program itself is not valid: the fault is the hunt's",
}


@dataclass(frozen=True, slots=True, order=True)
class Signature:
    """One fault: the pass that made the first wrong stage, what is wrong, and the op of the statement.

    ``op`` is that of the first wrong statement; where there is none, the place or the message.
    """

    stage: str
    wrong: str
    op: str = ""

    def __str__(self) -> str:
        return " / ".join(part for part in (self.stage, self.wrong, self.op) if part)


Shows: TypeAlias = Literal["", "parameters", "results", "plan"]
"""Where it shows: in tensors of parameters, in what is returned alone, in the plan of the memory."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with a program at the first stage at which something is.

    ``stage`` and ``before`` are the names of that stage and of the last good one, ``detail`` is what was
    seen, and ``shows`` where. ``statement`` is the first wrong one, ``lines`` say what is known of it.
    """

    stage: str
    wrong: Wrong
    detail: str
    before: str = ""
    op: str = ""
    statement: str = ""
    lines: tuple[str, ...] = ()
    shows: Shows = ""

    @property
    def pass_name(self) -> str:
        """The pass that made the stage; the name of the stage where no pass did."""
        return self.stage.partition("_after_")[2] or self.stage

    @property
    def signature(self) -> Signature:
        """What tells this fault from others."""
        return Signature(self.pass_name, self.wrong, self.op)

    def is_like(self, other: Finding) -> bool:
        """Whether the same is wrong at the same stage, whatever the statement.

        What is wrong in parameters is not like what is wrong in results alone, which `bisect` does not see.
        """
        if other.shows == "parameters" and self.shows == "results":
            return False
        return (self.pass_name, self.wrong) == (other.pass_name, other.wrong)


@dataclass(slots=True)
class Coverage:
    """The ops that the programs had at any stage, and the passes that changed something, with how often."""

    ops: dict[str, int] = field(default_factory=dict)
    passes: dict[str, int] = field(default_factory=dict)

    def add(self, other: Coverage) -> None:
        """Count what another one has counted, too."""
        for mine, found in ((self.ops, other.ops), (self.passes, other.passes)):
            for name, count in found.items():
                mine[name] = mine.get(name, 0) + count

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"ops": self.ops, "passes": self.passes}
