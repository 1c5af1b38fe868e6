"""What commands that run passes have in common: their options, and how errors of passes are told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from pypto_tmpl.errors import PyptoTmplError, allowed_note
from pypto_tmpl.ir.enums import BackendType

if TYPE_CHECKING:
    from pypto_tmpl.passes import PassContext

STRATEGIES = ("Default", "DebugTileOptimization")
STRATEGY = click.option(
    "--strategy",
    type=click.Choice(STRATEGIES),
    default="Default",
    show_default=True,
    help="Which passes; DebugTileOptimization leaves out what lowers tensors.",
)
PLANNER = click.option(
    "--planner",
    type=click.Choice(["PYPTO", "PTOAS", "DSA_RP"], case_sensitive=False),
    default="PYPTO",
    show_default=True,
    help="Who plans memory: passes that another planner makes needless do not run.",
)
BUFFERS = click.option(
    "--buffers", is_flag=True, help="End in LowerToBuffers: tiles are buffers, and writes name them."
)
BACKEND = click.option(
    "--backend", type=click.Choice([*BackendType.__members__]), help="What it is compiled for."
)


def strategy_passes(strategy: str, planner: str, *, buffers: bool = False) -> list[str]:
    """The passes of a strategy in order."""
    from pypto_tmpl.passes import MemoryPlanner
    from pypto_tmpl.passes.strategies import OptimizationStrategy, pass_names

    return pass_names(OptimizationStrategy(strategy), MemoryPlanner[planner], buffers=buffers)


def pass_context(planner: str, verify: str | None = None) -> PassContext:
    """The context of a run of passes; the level of checks is that of the environment unless it is given."""
    from pypto_tmpl.passes import MemoryPlanner, PassContext, VerificationLevel, make_roundtrip_instrument
    from pypto_tmpl.passes.settings import get_default_verification_level

    level = VerificationLevel[verify.upper()] if verify is not None else get_default_verification_level()
    instruments = [make_roundtrip_instrument()] if level is VerificationLevel.ROUNDTRIP else []
    return PassContext(instruments, level, memory_planner=MemoryPlanner[planner])


@contextmanager
def lowering(backend_name: str | None) -> Iterator[None]:
    """Make a backend that of the process; an error says in which pass it arose, or that it needs a backend.

    Raises UsageError where the kernel file chose another backend.
    """
    from pypto_tmpl import backend
    from pypto_tmpl.passes.base import NoBackendError

    if backend_name is not None:
        try:
            backend.set_backend_type(backend.BackendType[backend_name])
        except ValueError as error:
            raise click.UsageError(f"--backend {backend_name}: {error}") from None
    try:
        yield
    except PyptoTmplError as error:
        error.notes += tuple(getattr(error, "__notes__", ()))
        if isinstance(error, NoBackendError):
            error.notes += (allowed_note("choose one with --backend", [*BackendType.__members__]),)
        raise
