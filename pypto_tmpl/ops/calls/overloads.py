"""Which ops a spelling may mean, and which of them takes the arguments of a call.

``pl.add`` may mean ``tensor.add``, ``tensor.adds``, ``tile.add`` and ``tile.adds``: the first whose
parameters and kinds of operands fit is built. Every op may also be called by its registered name with
the operand list that the IR has.
"""

from __future__ import annotations

import keyword as python_keywords
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any

from pypto_tmpl.errors import closest
from pypto_tmpl.ops.call_model import CallSpec
from pypto_tmpl.ops.calls.arguments import is_computed, kind_of
from pypto_tmpl.ops.calls.context import Argument, shown_argument
from pypto_tmpl.ops.calls.unified_names import unified_names
from pypto_tmpl.ops.loader import load_table
from pypto_tmpl.ops.model import KwargSpec, OpEntry, OperandSpec
from pypto_tmpl.ops.signatures import (
    SameAs,
    Signature,
    builder_signatures,
    call_of,
    ir_signature,
    keyword_order,
    operand_order,
    signatures_of,
)
from pypto_tmpl.ops.table import OpTable

Path = tuple[str, ...]
_MAIN_NAMESPACES = ("tensor", "tile", "system", "array", "prefetch")


@dataclass(frozen=True, slots=True)
class Misfit:
    """Why a form does not take a call; a higher rank came closer to taking it."""

    rank: int
    message: Callable[[], str]  # most are never read


class Form:
    """One form in which one op may be called."""

    def __init__(
        self,
        entry: OpEntry,
        signature: Signature,
        is_user_form: bool,
        aliases: Mapping[str, str] = MappingProxyType({}),
        shown: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """``shown`` has what users call parameters, where that is not their name."""
        self.entry = entry
        self._aliases = aliases
        self.shown = shown
        self.signature = signature
        self.is_user_form = is_user_form
        facts = call_of(entry)
        self.call = (
            facts
            if is_user_form
            else CallSpec(literals=facts.literals, signed=facts.signed, fills=facts.fills)
        )
        self.operands = operand_order(entry) if is_user_form else entry.operand_names
        self.keywords = keyword_order(entry, signature) if is_user_form else entry.kwarg_names
        self._by_name: dict[str, OperandSpec] = dict(zip(self.operands, entry.operands, strict=False))
        for name, operand in self.call.either.items():
            self._by_name[name] = next(spec for spec in entry.operands if spec.name == operand)
        self.specs: dict[str, KwargSpec] = {spec.name: spec for spec in entry.kwargs}
        self.positional = tuple(p for p in signature.parameters if not p.keyword_only)
        self._positional = [parameter.name for parameter in self.positional]
        self._names = frozenset(signature.names)
        self._required = tuple(p.name for p in signature.parameters if p.required)
        self._defaults: tuple[tuple[str, Any], ...] = tuple(
            (p.name, p.default) for p in signature.parameters if not p.required and p.default is not None
        )

    def bind(self, args: Sequence[Argument], kwargs: Mapping[str, Argument]) -> dict[str, Argument] | Misfit:
        """The arguments by parameter with defaults filled in; None stands for an absent one."""
        if len(args) > len(self._positional):
            count = len(self._positional)
            return Misfit(count, lambda: f"{len(args)} positional arguments, and it takes {count}")
        found: dict[str, Argument] = dict(zip(self._positional, args, strict=False))
        for given, value in kwargs.items():
            name = self._aliases.get(given, given)
            if name not in self._names:
                return Misfit(len(found), partial(self._unknown, given))
            if name in found:
                return Misfit(len(found), partial("{!r} is given twice".format, given))
            found[name] = value
        for place, (name, value) in enumerate(found.items()):
            spec = self._by_name.get(name)
            if value is None:
                continue
            if spec is None:
                if name in self.specs and is_computed(value):
                    return Misfit(place, partial(self._no_option, name, value))
            elif not self._takes(name, spec, value):
                return Misfit(place, partial(self._wrong, name, spec, value))
        for name in self._required:
            if found.get(name) is None:
                return Misfit(len(found), partial(self._missing, name))
        for name, default in self._defaults:
            if found.get(name) is None:
                found[name] = found.get(default.name) if isinstance(default, SameAs) else default
        return found

    def operand_spec(self, name: str) -> OperandSpec | None:
        """What the table says of the operand that a parameter becomes, None where it becomes none."""
        return self._by_name.get(name)

    def _takes(self, name: str, spec: OperandSpec, value: Argument) -> bool:
        kinds, kind = spec.kinds, kind_of(value)
        if kind in kinds or "any" in kinds:
            return True
        if kind == "tuple":
            return name == self.call.counted
        return kind == "scalar" and name in self.call.wraps

    def _unknown(self, name: str) -> str:
        guess = closest(name, self._names)
        hint = f"did you mean {guess!r}?" if guess else f"it has {', '.join(self.signature.names)}"
        return f"it has no parameter {name!r}; {hint}"

    def _missing(self, name: str) -> str:
        return f"the {'operand' if name in self._by_name else 'keyword'} {name!r} is missing"

    def _no_option(self, name: str, value: Argument) -> str:
        return f"the keyword {name!r} cannot be {shown_argument(value)}"

    def _wrong(self, name: str, spec: OperandSpec, value: Argument) -> str:
        return f"the operand {name!r} is {shown_argument(value)}, and it takes a {' or a '.join(spec.kinds)}"


def forms_of(path: Path) -> tuple[Form, ...]:
    """The forms that a spelling may mean, best first; none where nothing is spelled so."""
    return _index(load_table()).get(path, ())


def stored_form(op: str) -> Form:
    """The form in which the IR has the calls of an op; UnknownOpError for another name."""
    return _stored_form(op, load_table())


@lru_cache(maxsize=2048)
def _stored_form(op: str, table: OpTable) -> Form:
    entry = table[op]
    return Form(entry, ir_signature(entry), False)


def spellings() -> Mapping[Path, tuple[Form, ...]]:
    """Every spelling of every op with its forms."""
    return _index(load_table())


def spelled_name(op: str) -> str:
    """The last part of an op's name as Python takes it: ``and_`` for ``and``."""
    return f"{op}_" if python_keywords.iskeyword(op) else op


@lru_cache(maxsize=4)
def _index(table: OpTable) -> Mapping[Path, tuple[Form, ...]]:
    ops: dict[Path, list[OpEntry]] = {}
    for entry in table.values():
        for path in _paths(entry):
            ops.setdefault(path, []).append(entry)
    return {
        path: (
            *_user_forms(entries, signatures_of, unified_names(path)),
            *(_stored_form(entry.name, table) for entry in entries),
        )
        for path, entries in ops.items()
    }


def builder_forms(path: Path) -> tuple[Form, ...]:
    """The forms of the function of ``ir.op`` that has the name of a spelling, best first.

    What the unified name means is among them: ``ir.op.tensor.add`` of a number is ``tensor.adds``.
    """
    return _builder_forms(path, load_table())


@lru_cache(maxsize=2048)
def _builder_forms(path: Path, table: OpTable) -> tuple[Form, ...]:
    index = _index(table)
    own = [form.entry for form in index.get(path, ()) if not form.is_user_form]
    unified = [form.entry for form in index.get(("pl", path[-1]), ()) if not form.is_user_form]
    own += [entry for entry in unified if entry not in own and entry.namespace == own[0].namespace]

    def read(entry: OpEntry) -> Sequence[Signature]:
        is_named_so = spelled_name(entry.name.rpartition(".")[2]) == path[-1]
        return builder_signatures(entry) if is_named_so else signatures_of(entry)

    return tuple(_user_forms(own, read))


def _user_forms(
    entries: Sequence[OpEntry],
    read: Callable[[OpEntry], Sequence[Signature]],
    shown: tuple[str, ...] = (),
) -> Iterator[Form]:
    """The forms of the ops that one spelling may mean; ``shown`` is what users call its first parameters.

    A parameter that another op calls otherwise in the same place is known by that name too: the first of
    ``pl.cast`` is ``input`` of a tensor and ``tile`` of a tile.
    """
    pairs = [(entry, signature) for entry in entries for signature in read(entry)]
    places = [[p.name for p in signature.parameters if not p.keyword_only] for _, signature in pairs]
    for (entry, signature), own in zip(pairs, places, strict=True):
        aliases = {
            other: name
            for names in [*places, shown]
            for other, name in zip(names, own, strict=False)
            if other not in signature.names
        }
        yield Form(entry, signature, True, aliases, dict(zip(own, shown, strict=False)))


def _paths(entry: OpEntry) -> dict[Path, None]:
    """The op's spellings in the order of the table, its registered name where it has a namespace of users."""
    found = {tuple(text.split(".")): None for text in entry.dsl}
    namespace, _, name = entry.name.rpartition(".")
    if namespace in _MAIN_NAMESPACES:
        found[("pl", namespace, spelled_name(name))] = None
    elif namespace.startswith("pld."):
        found[(*namespace.split("."), spelled_name(name))] = None
    return found
