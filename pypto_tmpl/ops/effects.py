"""What an op does to the storage of an operand, which may depend on a keyword of the call."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pypto_tmpl.ir.enums import ArgEffect
from pypto_tmpl.ops.model import KwargSpec, OpEntry

_RULE = re.compile(r"(?P<then>\w+)(?: if (?P<tests>\w+=\w+(?: and \w+=\w+)*) else (?P<otherwise>\w+))?")


@dataclass(frozen=True, slots=True)
class EffectRule:
    """``then`` where the keywords have these values, given by name, ``otherwise`` in other calls."""

    then: ArgEffect
    tests: tuple[tuple[str, str], ...]
    otherwise: ArgEffect

    @property
    def alternatives(self) -> tuple[ArgEffect, ...]:
        """Every effect that a call may have."""
        return (self.then, self.otherwise)

    def of_call(self, entry: OpEntry, kwargs: Mapping[str, Any]) -> ArgEffect:
        """The effect of a call with these keywords."""
        specs = {spec.name: spec for spec in entry.kwargs}
        holds = all(_value_name(specs[key], kwargs) == value for key, value in self.tests)
        return self.then if holds else self.otherwise


def parse_effect(text: str) -> EffectRule:
    """``ReadWrite if atomic=Add else Write`` in parts; ValueError or KeyError for another text."""
    found = _RULE.fullmatch(text)
    if found is None:
        raise ValueError(text)
    then = ArgEffect[found["then"]]
    otherwise = then if found["otherwise"] is None else ArgEffect[found["otherwise"]]
    tests = (found["tests"] or "").split(" and ") if found["tests"] else []
    return EffectRule(
        then, tuple((key, value) for key, _, value in (t.partition("=") for t in tests)), otherwise
    )


def _value_name(spec: KwargSpec, kwargs: Mapping[str, Any]) -> str:
    """The value of a keyword as the table writes it: a member or a coded option by its name."""
    value = kwargs.get(spec.name, spec.default)
    if isinstance(value, int) and spec.values:
        return next((name for name, code in spec.values.items() if code == value), str(value))
    return str(getattr(value, "name", value))
