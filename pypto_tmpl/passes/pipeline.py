"""Passes one after the other, with what is checked before, between and after them."""

from __future__ import annotations

from collections.abc import Iterable

from pypto_tmpl import ir
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.ir import IRProperty
from pypto_tmpl.ir.destinations import has_destinations
from pypto_tmpl.passes.base import Pass, PassError
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.diagnostics import DiagnosticCheck, log_warnings
from pypto_tmpl.passes.error_places import place_in_program
from pypto_tmpl.passes.properties import (
    IRPropertySet,
    get_structural_properties,
    get_verified_properties,
    verify_properties,
    with_checks,
)
from pypto_tmpl.passes.settings import DiagnosticPhase, VerificationLevel

INPUT = "the input"


class PassPipeline:
    """A list of passes that run in order."""

    def __init__(self, passes: Iterable[Pass] = ()) -> None:
        self._passes: list[Pass] = []
        for pass_ in passes:
            self.add_pass(pass_)

    def add_pass(self, pass_: Pass) -> None:
        """Append a pass."""
        if isinstance(pass_, type) and issubclass(pass_, Pass):
            raise TypeError(f"a PassPipeline holds passes: write {pass_.__name__}(), not {pass_.__name__}")
        if not isinstance(pass_, Pass):
            raise TypeError(f"a PassPipeline holds passes, got {type(pass_).__name__}")
        self._passes.append(pass_)

    def get_passes(self) -> list[Pass]:
        """The passes in order."""
        return list(self._passes)

    def get_pass_names(self) -> list[str]:
        """The names of the passes in order."""
        return [pass_.get_name() for pass_ in self._passes]

    def run(self, program: ir.Program) -> ir.Program:
        """The program after the last pass, in the current context.

        What a pass raises gets a note that names the pass. Raises VerificationError where a pass breaks what
        it promises, or the input what holds at every stage, and TypeError for what is no program.
        """
        if not isinstance(program, ir.Program):
            raise TypeError(f"a PassPipeline runs on an ir.Program, got {type(program).__name__}")
        _refuse_buffers(program, self._passes)
        context = PassContext.current() or PassContext()
        if context.get_verification_level() is not VerificationLevel.NONE:
            known = get_structural_properties().intersection(get_verified_properties())
            verify_properties(with_checks(known), program, INPUT)
        else:
            known = IRPropertySet()
        _warn(program, context, DiagnosticPhase.PRE_PIPELINE, INPUT)
        for pass_ in self._passes:
            program, known = _run_pass(pass_, program, known, context)
            _warn(program, context, DiagnosticPhase.POST_PASS, pass_.get_name())
        _warn(program, context, DiagnosticPhase.POST_PIPELINE, "the result")
        for instrument in context.get_instruments():
            instrument.after_pipeline(program)
        return program


def _refuse_buffers(program: ir.Program, passes: Iterable[Pass]) -> None:
    """Raise PassError for a program whose tiles are buffers already: passes look for values."""
    first = next((one for one in passes if IRProperty.DestinationPassing not in one.produces), None)
    if first is None:
        return
    for function in program.functions.values():
        if has_destinations(function):
            what = f"{first.get_name()} takes no program whose tiles are buffers: begin with an earlier stage"
            raise PassError(what, function)


def _run_pass(
    pass_: Pass, program: ir.Program, known: IRPropertySet, context: PassContext
) -> tuple[ir.Program, IRPropertySet]:
    """The program after a pass, and what is known to hold of it."""
    try:
        program = pass_(program)
    except Exception as error:
        if not isinstance(error, OSError):  # a dump that cannot be written is no matter of the pass
            place = "" if isinstance(error, PyptoTmplError) else place_in_program(error)
            error.add_note(f"in the pass {pass_.get_name()}{place}")
        raise
    produced = pass_.get_produced_properties()
    known = known.difference(pass_.get_invalidated_properties())
    if context.get_verification_level() is not VerificationLevel.NONE:
        unproven = produced.intersection(get_verified_properties()).difference(known)
        verify_properties(with_checks(unproven), program, pass_.get_name())
    return program, known.union_with(produced)


def _warn(program: ir.Program, context: PassContext, phase: DiagnosticPhase, place: str) -> None:
    if context.get_diagnostic_phase() is phase:
        enabled = [check for check in DiagnosticCheck if check not in context.get_disabled_diagnostics()]
        log_warnings(program, enabled, place)
