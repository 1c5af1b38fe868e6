"""What all drawings of programs share: a source of choices, fresh names, and how much is left to draw."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import ClassVar, TypeVar

from pypto_tmpl import ir
from pypto_tmpl.language import parse

Item = TypeVar("Item")
BACKENDS = ("Ascend910B", "Ascend950")
HEAD = "import pypto.language as pl\n\n\n@pl.program\nclass Hunted:\n"
_PLANNERS, _RARELY = (20, 1, 1), 0.08
ENTRY = "main"
"""The function of a program that is run."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Arguments of ``compile`` by their names; what is None or false is not told."""

    memory_planner: str | None = None
    buffers: bool = False
    analyze_auto_scopes_for_deps: bool = False


@dataclass(frozen=True, slots=True)
class HuntedProgram:
    """A program as text of the language, of the ``kind`` and the number that it was drawn by.

    What its frontend script computes is what it means. ``backend`` is the one it is compiled for;
    ``ranges`` are the first number and the one behind the last that an input of integers may hold.
    ``settings`` are what our own passes are told besides.
    """

    kind: str
    seed: int
    text: str
    backend: str = "Ascend910B"
    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)
    settings: Settings = Settings()

    @property
    def compiled_for(self) -> str:
        """The backend and the settings, as users read them."""
        return ", ".join([self.backend, *(f"{k}={v}" for k, v in asdict(self.settings).items() if v)])

    def parsed(self) -> ir.Program:
        """The IR of the text. Raises the errors of the language, of which a drawn program has none."""
        node = parse(self.text)
        assert isinstance(node, ir.Program)
        return node


class Drawing:
    """Draws the text of one program; the same number gives the same text, on every machine.

    Subclasses write ``functions``, methods that stand four columns in. ``budget`` is how many more
    statements they want.
    """

    kind: ClassVar[str]
    head: ClassVar[str] = HEAD

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = random.Random(f"{self.kind} {seed}")
        self.ranges: dict[str, tuple[int, int]] = {}
        self.backend = BACKENDS[seed % 2]
        self.names_tasks = False
        self.budget = 0
        self._count = 0

    def functions(self) -> str:
        """The methods of the program, of which ``main`` is run."""
        raise NotImplementedError

    def program(self) -> HuntedProgram:
        """The program of the number."""
        text = self.head + self.functions().strip("\n") + "\n"
        source = random.Random(f"settings {self.kind} {self.seed}")
        planner = source.choices((None, "PTOAS", "DSA_RP"), _PLANNERS)[0]
        buffers, names_tasks = (source.random() < _RARELY for _ in range(2))
        buffers &= planner is None  # who else plans, copies carries
        settings = Settings(planner, buffers, names_tasks or self.names_tasks)
        return HuntedProgram(self.kind, self.seed, text, self.backend, self.ranges, settings)

    def one(self, items: Sequence[Item]) -> Item:
        """One of some things, each as likely as the others."""
        return self.random.choice(items)

    def maybe(self, probability: float) -> bool:
        """True that often."""
        return self.random.random() < probability

    def name(self, letters: str) -> str:
        """A name that the program does not have yet."""
        self._count += 1
        return f"{letters}{self._count}"


def inside(lines: Sequence[str]) -> list[str]:
    """Lines of a block, four columns further in."""
    return [f"    {line}" for line in lines]


def function(head: str, lines: Sequence[str]) -> str:
    """The text of a method: its decorator and ``def`` as they stand, and the lines of its body."""
    return head.rstrip("\n") + "\n" + "".join(f"        {line}\n" for line in lines)
