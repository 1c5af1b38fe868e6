"""Printing and reading again what every pass makes."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pypto_tmpl import ir
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.ir.bodies import flat
from pypto_tmpl.ir.destinations import has_destinations
from pypto_tmpl.language import parse
from pypto_tmpl.passes.base import Pass
from pypto_tmpl.passes.diagnostics import LOGGER
from pypto_tmpl.passes.instruments import CallbackInstrument
from pypto_tmpl.passes.structure.normalize_stmt_structure import with_normal_bodies
from pypto_tmpl.rewrite import Rewriter, build

_TYPE_OF_CARRY = re.compile(r"\.(iter_args|return_vars)\[\d+\]\.type\b")


class RoundTripError(PyptoTmplError, RuntimeError):
    """The text of a program cannot be read, or reads back as another program."""

    slug = "round-trip"


def make_roundtrip_instrument() -> CallbackInstrument:
    """An instrument that raises RoundTripError, naming the pass, where text reads back as another program.

    What text has no form for is no error, and text of buffers is not read. It warns of communication domains,
    which are comments, and of what loops carry where that has other types than the initial values; how
    sequences nest means nothing.
    """
    checked: ir.Program | None = None

    def check(pass_: Pass, program: ir.Program) -> None:
        nonlocal checked
        # what a pass has left alone was read already
        if program is not checked and not has_destinations(program):
            for warning in read_again(f"the program after {pass_.get_name()}", program):
                LOGGER.warning(warning)
            checked = program

    return CallbackInstrument(after_pass=check, name="RoundTrip")


def read_again(where: str, program: ir.Program) -> list[str]:
    """Read the text of a program; what of it text cannot say, a line each.

    Raises RoundTripError, which names ``where``, if it reads back as another one.
    """
    try:
        again = parse(ir.python_print(program, format=False))
    except Exception as error:
        raise RoundTripError(f"{where} has no text that can be read: {error}") from error
    return compare_with_text(where, program, again)


def compare_with_text(where: str, program: ir.Program, again: ir.IRNode) -> list[str]:
    """What text cannot say of a program, a line each, where ``again`` was read from its text.

    Raises RoundTripError, which names ``where``, if that is another program.
    """
    if ir.structural_equal(program, again):
        return []
    opening = _WithoutDomains()
    told = opening.rewrite(program)
    assert isinstance(again, ir.Program)
    lost = []
    for difference in ir.structural_differences(with_normal_bodies(told), with_normal_bodies(again)):
        if _TYPE_OF_CARRY.search(difference.path) is None:
            raise RoundTripError(f"{where} reads back as another one: {difference}")
        lost.append(f"{where} reads back with another type of what a loop carries: {difference}")
    if opening.has_opened:
        lost.append(f"{where} reads back without its communication domains: text has them as comments")
    return lost


class _WithoutDomains(Rewriter):
    """Opens communication domains; tensors do not say in which windows of these they lie."""

    def __init__(self) -> None:
        super().__init__()
        self.has_opened = False

    def statement(self, stmt: ir.Stmt) -> ir.Stmt | Iterable[ir.Stmt]:
        if not isinstance(stmt, ir.CommDomainScopeStmt):
            return stmt
        self.has_opened = True
        return flat(stmt.body)

    def type(self, type_: ir.Type) -> ir.Type:
        return build(type_, window_buffer=None) if isinstance(type_, ir.DistributedTensorType) else type_
