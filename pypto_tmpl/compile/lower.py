"""The one way of a program from what the user gave to the stage that is executed.

Builds, JIT kernels and ``JITFunction.lower`` go through ``lower``; a pipeline of passes comes in at
``pipeline_for`` and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from pypto_tmpl import ir


class PassObserver(Protocol):
    """What a pass pipeline tells while it runs; the pipeline numbers its passes from 1."""

    def frontend(self, program: ir.Program) -> None:
        """The program before the first pass."""

    def after_pass(self, position: int, name: str, program: ir.Program) -> None:
        """The program after a pass."""


class Pipeline(Protocol):
    """The passes: returns the program after the last one and tells the observer of every one."""

    def __call__(
        self, program: ir.Program, observer: PassObserver, knobs: Mapping[str, Any]
    ) -> ir.Program: ...


class _Unobserved:
    """The observer of a program of which nothing is written."""

    def frontend(self, program: ir.Program) -> None:
        """Let it pass."""

    def after_pass(self, position: int, name: str, program: ir.Program) -> None:
        """Let it pass."""


def lower(
    program: ir.Program,
    knobs: Mapping[str, Any] | None = None,
    observer: PassObserver | None = None,
    *,
    is_lowered: bool = False,
) -> ir.Program:
    """The program after the passes that the knobs ask for; one that ``is_lowered`` has been through them.

    Raises whatever the passes raise.
    """
    observer = observer or _Unobserved()
    observer.frontend(program)
    pipeline = None if is_lowered else pipeline_for(knobs or {})
    return program if pipeline is None else pipeline(program, observer, knobs or {})


def pipeline_for(knobs: Mapping[str, Any]) -> Pipeline | None:
    """The passes for a compilation: none, whatever the knobs ask.

    A program is executed as it is written. Passes refuse, with an error, programs of which that can be done
    (``docs/passes.md``), so that a compilation through ``PassManager`` would take fewer programs than today.
    """
    return None
