"""Printing and reading again what every pass makes."""

from __future__ import annotations

import re

from pypto_tmpl import ir
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.language import parse
from pypto_tmpl.passes.base import Pass
from pypto_tmpl.passes.diagnostics import LOGGER
from pypto_tmpl.passes.instruments import CallbackInstrument
from pypto_tmpl.passes.structure.normalize_stmt_structure import with_normal_bodies

_OF_CARRY = re.compile(r"\.(iter_args|return_vars)\[\d+\]\.type\b")


class RoundTripError(PyptoTmplError, RuntimeError):
    """The text of a program cannot be read, or reads back as another program."""

    slug = "round-trip"


def make_roundtrip_instrument() -> CallbackInstrument:
    """An instrument that raises RoundTripError, naming the pass, where text reads back as another program.

    Two things are not in the text: how sequences of statements nest, which means nothing, and the types of
    what loops carry, which are read as those of the initial values. Types that are others are warned of.
    """
    return CallbackInstrument(after_pass=_read_again, name="RoundTrip")


def _read_again(pass_: Pass, program: ir.Program) -> None:
    where = f"the program after {pass_.get_name()}"
    try:
        again = parse(ir.python_print(program, format=False))
    except Exception as error:
        raise RoundTripError(f"{where} has no text that can be read: {error}") from error
    if ir.structural_equal(program, again):
        return
    for difference in ir.structural_differences(*map(with_normal_bodies, (program, again))):
        if _OF_CARRY.search(difference.path) is None:
            raise RoundTripError(f"{where} reads back as another one: {difference}")
        LOGGER.warning("%s reads back with another type of what a loop carries: %s", where, difference)
