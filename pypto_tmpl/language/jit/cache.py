"""Specialisations that were made before."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.language.jit.arguments import argument_infos, bound_arguments
from pypto_tmpl.language.jit.function import JITFunction
from pypto_tmpl.language.jit.metadata import Info
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


_KNOWN: OrderedDict[tuple[JITFunction, tuple[Info, ...]], Specialisation] = OrderedDict()


def specialised(function: JITFunction, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Specialisation:
    """The specialisation of an entry for these arguments.

    It is made anew where shapes (but for dynamic dimensions), dtypes or scalar values differ, and where a
    Python value that its text took over has changed.
    """
    infos = tuple(argument_infos(function, bound_arguments(function, args, kwargs)))
    found = _KNOWN.get((function, infos))
    if found is None or not found.reads.still_hold():
        found = _specialise(function, infos)
        _KNOWN[function, infos] = found
        if len(_KNOWN) > _LIMIT:
            _KNOWN.popitem(last=False)
    _KNOWN.move_to_end((function, infos))
    return found


def _specialise(function: JITFunction, infos: tuple[Info, ...]) -> Specialisation:
    reads = Reads()
    text = Specialiser(function, reads).text(infos)
    program = parse(text.text, text.filename, source_map=text.source_map, closure=text.closure)
    assert isinstance(program, ir.Program)
    return Specialisation(text, program, reads)
