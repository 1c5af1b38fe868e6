"""What variables of a host function stand for, and what templates get of windows and tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pypto_tmpl import ir


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number, as Python text."""

    text: str


@dataclass(frozen=True, slots=True)
class HostTensor:
    """A tensor of the host, by its key among the tensors that the driver gets."""

    key: str


@dataclass(frozen=True, slots=True)
class Buffer:
    """A window buffer of a domain: ``name`` is its key there, ``count`` its bytes as text."""

    domain: str
    name: str
    count: str = ""


@dataclass(frozen=True, slots=True)
class Window:
    """A view of a window buffer; each chip has one of its own."""

    buffer: Buffer
    type: ir.TensorType


@dataclass(frozen=True, slots=True)
class Context:
    """The communication context of a domain."""

    domain: str


@dataclass(frozen=True, slots=True)
class Results:
    """What a task of a chip gives: None where no argument stands for a result."""

    parts: tuple[Meaning | None, ...]


Meaning = Scalar | HostTensor | Buffer | Window | Context | Results


@dataclass(frozen=True, slots=True)
class Domain:
    """A communication domain as its template reads it; no ``workers`` are all there are."""

    name: str
    workers: Sequence[int]
    buffers: Sequence[Buffer]


@dataclass(frozen=True, slots=True)
class Created:
    """A tensor that the host makes before anything runs."""

    key: str
    extents: Sequence[str]
    dtype: str
    initial: float


@dataclass(frozen=True, slots=True)
class Argument:
    """A tensor of a task: its text, and how the task takes it."""

    text: str
    how: str


@dataclass(slots=True)
class ChipTask:
    """One submission to a chip; ``device`` is "" where any may run it, or where it is one of the host."""

    name: str
    callee: str
    device: str
    is_builtin: bool = False
    is_of_host: bool = False
    tensors: list[Argument] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    scalars: list[str] = field(default_factory=list)
