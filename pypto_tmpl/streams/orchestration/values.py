"""What variables of an orchestration function stand for, and what templates get of tasks and tensors."""

from __future__ import annotations

from dataclasses import dataclass, field

from pypto_tmpl import ir


@dataclass(frozen=True, slots=True)
class Cpp:
    """A C++ variable.

    ``is_valid`` is the id of a task that was submitted for certain; ``size`` tells an array, and how many
    elements it has; ``made`` is the type of what a launch makes, which has no name yet.
    """

    name: str
    is_valid: bool = False
    size: int | None = None
    made: str = ""


@dataclass(frozen=True, slots=True)
class Results:
    """What a launch gives: its results in order, None where nothing on the host stands for one."""

    parts: tuple[Meaning | None, ...]


Meaning = Cpp | Results


@dataclass(frozen=True, slots=True)
class Created:
    """A tensor that the run time allocates; ``initial`` is the value that it is filled with."""

    name: str
    info: str
    shape: list[str]
    dtype: str
    manual_dep: bool
    initial: str | None = None


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a task: how it is added, and its text."""

    how: str
    text: str


@dataclass(frozen=True, slots=True)
class Predicate:
    """The condition under which a task runs: an element of a tensor compared with a number."""

    tensor: str
    indices: list[str]
    comparison: str
    target: int


@dataclass(slots=True)
class Task:
    """One submission, as its template reads it."""

    comment: str
    params: str
    mixed: str
    submit: str = ""
    kernel: int = 0
    lanes: list[str] = field(default_factory=list)
    made: list[Created] = field(default_factory=list)
    arguments: list[Argument] = field(default_factory=list)
    dumped: list[str] = field(default_factory=list)
    dependencies: list[Cpp] = field(default_factory=list)
    waits_first: bool = True
    blocks: str | None = None
    blocks_setter: str = ""
    sync_start: bool = False
    early: bool = False
    predicate: Predicate | None = None
    outputs: str = ""


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel that an orchestration function launches; ``signature`` are the directions of its tensors."""

    id: int
    function: ir.Function
    signature: tuple[str, ...]
