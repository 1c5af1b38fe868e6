"""Verifying as a pass, and under upstream's names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pypto_tmpl import ir
from pypto_tmpl.ir import IRProperty
from pypto_tmpl.ir.verifier import Diagnostic
from pypto_tmpl.passes.base import Pass, create_program_pass
from pypto_tmpl.passes.diagnostics import DiagnosticCheck, DiagnosticCheckSet, warnings_of
from pypto_tmpl.passes.performance import PERF_HINTS, perf_hints_of
from pypto_tmpl.passes.properties import (
    get_default_verify_properties,
    verify_or_throw,
    verify_properties,
    violations,
)


def run_verifier(properties: Iterable[IRProperty] | None = None) -> Pass:
    """A pass that changes nothing and raises VerificationError unless the program has the properties.

    They are those of ``get_default_verify_properties`` unless given. Raises ValueError for one that has no
    check.
    """
    wanted = list(get_default_verify_properties() if properties is None else properties)
    name = "RunVerifier"

    def verified(program: ir.Program) -> ir.Program:
        verify_properties(wanted, program, name)
        return program

    violations(wanted, ir.Program([], "nothing", ir.Span.unknown()))
    return create_program_pass(verified, name)


class DiagnosticCheckRegistry:
    """The checks of what is no fault of a program."""

    @staticmethod
    def run_checks(checks: Iterable[DiagnosticCheck], program: ir.Program) -> list[Diagnostic]:
        """What the checks say of a program: warnings, then hints; some are not implemented."""
        wanted = list(checks)
        return [*warnings_of(program, wanted), *perf_hints_of(program, wanted)]

    @staticmethod
    def get_all_checks() -> DiagnosticCheckSet:
        """All checks."""
        return DiagnosticCheckSet(DiagnosticCheck)

    @staticmethod
    def get_warning_checks() -> DiagnosticCheckSet:
        """The checks that warn."""
        return DiagnosticCheckSet(DiagnosticCheck).difference(PERF_HINTS)

    @staticmethod
    def get_perf_hint_checks() -> DiagnosticCheckSet:
        """The checks that say what could be faster."""
        return DiagnosticCheckSet(PERF_HINTS)


class PropertyVerifierRegistry:
    """The checks of properties."""

    @staticmethod
    def verify(properties: Iterable[IRProperty], program: ir.Program) -> list[Diagnostic]:
        """What violates the properties."""
        return violations(properties, program)

    @staticmethod
    def verify_or_throw(properties: Iterable[IRProperty], program: ir.Program) -> None:
        """Raise VerificationError if anything does."""
        verify_or_throw(properties, program)

    @staticmethod
    def generate_report(diagnostics: Sequence[Diagnostic]) -> str:
        """The findings as text, one a line."""
        return "\n".join(f"{found} (function {found.function!r})" for found in diagnostics)
