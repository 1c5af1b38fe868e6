"""Specialisations that were made before."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.language.jit.arguments import argument_infos, bound_arguments
from pypto_tmpl.language.jit.declared import Declared
from pypto_tmpl.language.jit.identity import identity_of
from pypto_tmpl.language.jit.metadata import Info, ScalarInfo
from pypto_tmpl.language.jit.program import Specialiser
from pypto_tmpl.language.jit.text import ProgramText
from pypto_tmpl.language.jit.user_source import Reads
from pypto_tmpl.language.module import parse

_LIMIT = 256


@dataclass(slots=True)
class Specialisation:
    """The program that an entry was specialised to.

    ``text`` is what it was read from, ``reads`` the Python values that this relies on; what is made of the
    program later may be kept in ``made``.
    """

    text: ProgramText
    program: ir.Program
    reads: Reads
    made: dict[Any, Any] = field(default_factory=dict)


_KNOWN: OrderedDict[tuple[Declared, Hashable], Specialisation] = OrderedDict()


def specialised(function: Declared, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Specialisation:
    """The specialisation of an entry for these arguments.

    It is made anew where shapes (but for dynamic dimensions), dtypes or scalar values differ, and where a
    Python value that its text took over has changed.
    """
    infos = tuple(argument_infos(function, bound_arguments(function, args, kwargs)))
    key = function, tuple(map(_key, infos))
    found = _KNOWN.get(key)
    if found is None or not found.reads.still_hold():
        found = _specialise(function, infos)
        _KNOWN[key] = found
        if len(_KNOWN) > _LIMIT:
            _KNOWN.popitem(last=False)
    _KNOWN.move_to_end(key)
    return found


def _key(info: Info) -> Hashable:
    """What tells the arguments apart that give different programs."""
    return (info.dtype, identity_of(info.value)) if isinstance(info, ScalarInfo) else info


def _specialise(function: Declared, infos: tuple[Info, ...]) -> Specialisation:
    reads = Reads()
    text = Specialiser(function, reads).text(infos)
    program = parse(text.text, text.filename, text.source_map, text.closure, text.unreached)
    assert isinstance(program, ir.Program)
    return Specialisation(text, program, reads)
