"""How far a value may be from the expected one."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from math import isfinite


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


def exponent_text(value: float) -> str:
    """``5e-02``: exponent form with two digits of exponent, and as many digits as the value has."""
    if not isfinite(value):
        return str(value)
    mantissa, exponent = f"{Decimal(repr(float(value))).normalize():e}".split("e")
    return f"{mantissa}e{exponent[0]}{exponent[1:]:>02}"
