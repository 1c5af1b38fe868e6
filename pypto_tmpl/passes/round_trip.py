"""Printing and reading again what every pass makes."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.language import parse
from pypto_tmpl.passes.base import Pass
from pypto_tmpl.passes.instruments import CallbackInstrument


class RoundTripError(PyptoTmplError, RuntimeError):
    """The text of a program cannot be read, or reads back as another program."""

    slug = "round-trip"


def make_roundtrip_instrument() -> CallbackInstrument:
    """An instrument that raises RoundTripError, naming the pass, where text reads back as another program."""
    return CallbackInstrument(after_pass=_read_again, name="RoundTrip")


def _read_again(pass_: Pass, program: ir.Program) -> None:
    where = f"the program after {pass_.get_name()}"
    try:
        again = parse(ir.python_print(program, format=False))
    except Exception as error:
        raise RoundTripError(f"{where} has no text that can be read: {error}") from error
    if difference := ir.structural_diff(program, again):
        raise RoundTripError(f"{where} reads back as another one: {difference}")
