"""Verifying as a pass, and under upstream's names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pypto_tmpl import ir
from pypto_tmpl.ir import IRProperty
from pypto_tmpl.ir.verifier import Diagnostic
from pypto_tmpl.passes.base import Pass, create_program_pass
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
