"""What can be known of the value of an integer expression."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from math import gcd
from typing import ClassVar

from pypto_tmpl import ir
from pypto_tmpl.passes.scalars.ranges import Range


class CompareResult(IntEnum):
    """How two values are to each other; kInconsistent where what is known contradicts itself."""

    kInconsistent = 0
    kEQ = 1
    kLT = 2
    kLE = 3
    kGT = 4
    kGE = 5
    kNE = 6
    kUnknown = 7


@dataclass(frozen=True)
class ConstIntBound:
    """From ``min_value`` to ``max_value``, both included."""

    kPosInf: ClassVar[int] = 2**63 - 1
    kNegInf: ClassVar[int] = -(2**63 - 1)
    min_value: int = kNegInf
    max_value: int = kPosInf

    @classmethod
    def of(cls, found: Range) -> ConstIntBound:
        """A range whose open ends are infinite."""
        return cls(
            cls.kNegInf if found.low is None else found.low,
            cls.kPosInf if found.high is None else found.high,
        )

    def range(self) -> Range:
        """The same as a range."""
        return Range(
            None if self.min_value <= self.kNegInf else self.min_value,
            None if self.max_value >= self.kPosInf else self.max_value,
        )

    def is_const(self) -> bool:
        return self.min_value == self.max_value

    def is_non_negative(self) -> bool:
        return self.min_value >= 0

    def is_positive(self) -> bool:
        return self.min_value > 0

    def is_everything(self) -> bool:
        return self.min_value <= self.kNegInf and self.max_value >= self.kPosInf


@dataclass(frozen=True)
class ModularSet:
    """The numbers ``coeff * n + base``; a ``coeff`` of 0 is one number, of 1 all."""

    coeff: int = 1
    base: int = 0

    def __post_init__(self) -> None:
        coeff = abs(self.coeff)
        object.__setattr__(self, "coeff", coeff)
        object.__setattr__(self, "base", self.base % coeff if coeff else self.base)

    def is_exact(self) -> bool:
        return self.coeff == 0

    def is_everything(self) -> bool:
        return self.coeff == 1

    def __add__(self, other: ModularSet) -> ModularSet:
        return ModularSet(gcd(self.coeff, other.coeff), self.base + other.base)

    def __neg__(self) -> ModularSet:
        return ModularSet(self.coeff, -self.base)

    def __mul__(self, other: ModularSet) -> ModularSet:
        mixed = gcd(self.coeff * other.base, self.base * other.coeff)
        return ModularSet(gcd(self.coeff * other.coeff, mixed), self.base * other.base)

    def __floordiv__(self, divisor: int) -> ModularSet:
        if self.coeff % divisor:
            return ModularSet()
        return ModularSet(self.coeff // divisor, self.base // divisor)

    def __mod__(self, divisor: int) -> ModularSet:
        if self.coeff % divisor == 0:
            return ModularSet(0, self.base % divisor)
        return ModularSet(gcd(self.coeff, divisor), self.base)

    def __or__(self, other: ModularSet) -> ModularSet:
        """The smallest such set that holds both."""
        return ModularSet(gcd(self.coeff, other.coeff, self.base - other.base), self.base)


@dataclass(frozen=True)
class IntSet:
    """From ``min_value`` to ``max_value``, both included and expressions; None where there is no end."""

    min_value: ir.Expr | None = None
    max_value: ir.Expr | None = None

    @staticmethod
    def everything() -> IntSet:
        return IntSet()

    @staticmethod
    def single_point(value: ir.Expr) -> IntSet:
        return IntSet(value, value)

    @staticmethod
    def interval(min_value: ir.Expr, max_value: ir.Expr) -> IntSet:
        return IntSet(min_value, max_value)

    def is_everything(self) -> bool:
        return self.min_value is None and self.max_value is None

    def is_single_point(self) -> bool:
        low, high = self.min_value, self.max_value
        return low is not None and high is not None and (low is high or ir.structural_equal(low, high))

    def is_nothing(self) -> bool:
        low, high = self.min_value, self.max_value
        return isinstance(low, ir.ConstInt) and isinstance(high, ir.ConstInt) and low.value > high.value
