"""Where the reference functions are found, and what their operands look like."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

REFERENCES: dict[str, Callable[..., torch.Tensor]] = {}


@dataclass(frozen=True)
class RuntimeCall:
    """What the run-time of the pipes is told: a method, and its arguments by name without the defaults."""

    method: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Shaped:
    """A tile or tensor: its whole box, and how far its region goes."""

    data: torch.Tensor
    valid: list[int]

    @property
    def part(self) -> torch.Tensor:
        """The valid elements as numbers: float64 or int64."""
        box = self.data[tuple(slice(0, extent) for extent in self.valid)]
        return box.double() if box.dtype.is_floating_point else box.long()


def reference_of(op: str) -> Callable[..., Any]:
    """The function of an op. Raises AssertionError that says where one is to be written."""
    assert op in REFERENCES, (
        f"{op} has no reference: write one in tests/ops/references/, see docs/adding-an-op.md"
    )
    return REFERENCES[op]


def reference(*names: str, **constants: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function for the ops of these names, with these constants as further arguments."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            assert name not in REFERENCES, name
            REFERENCES[name] = lambda **arguments: function(**arguments, **constants)
        return function

    return register


def wrapped(numbers: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Integers reduced into the range of a dtype, two's complement; of 64 bits they are their bits."""
    info = torch.iinfo(dtype)
    if info.bits == 64:
        return numbers
    lowest = info.min
    return (numbers - lowest) % (1 << info.bits) + lowest
