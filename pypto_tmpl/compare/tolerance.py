"""How far a value may be from the expected one."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from math import isfinite

import torch


@dataclass(frozen=True, slots=True)
class Tolerance:
    """A cell is right when ``|actual - expected| <= atol + rtol * |expected|``.

    Raises ValueError for a negative or NaN part.
    """

    rtol: float
    atol: float

    def __post_init__(self) -> None:
        for name, value in (("rtol", self.rtol), ("atol", self.atol)):
            if not value >= 0:
                raise ValueError(f"{name} must be 0 or more, got {value!r}")

    def of(self, *dtypes: torch.dtype) -> Tolerance:
        """What of a tolerance for all tensors holds for one: integers have ``atol`` alone, bools nothing.

        ``rtol`` is meant for what rounds, and would let a wrong index pass.
        """
        if any(dtype.is_floating_point or dtype.is_complex for dtype in dtypes):
            return self
        return EXACT if all(dtype is torch.bool for dtype in dtypes) else Tolerance(0.0, self.atol)


EXACT = Tolerance(0.0, 0.0)


def exponent_text(value: float) -> str:
    """``5e-02``: exponent form with two digits of exponent, and as many digits as the value has."""
    if not isfinite(value):
        return str(value)
    mantissa, exponent = f"{Decimal(repr(float(value))).normalize():e}".split("e")
    return f"{mantissa}e{exponent[0]}{exponent[1:]:>02}"
