"""Choosing what runs the ranks of host programs."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_tmpl.execution.engines import MPI, THREADS, check_engine, is_of_processes, use_engine
from pypto_tmpl.execution.mpi.launch import require_mpi


def choose_engine(name: str | None, devices: Sequence[int] | None = None) -> None:
    """Let ranks run so from now on, in this process; None leaves it as it is.

    ``devices`` are those of the ranks, where they are known.

    With ``mpi`` the first process goes on alone. The others, started by the same mpiexec, do not return from
    here: they run ranks of the calls that the first one makes, and end with it.
    Raises: EngineError for an engine that there is not, or whose packages are not installed, and for another
    number of devices than of processes.
    """
    if name is not None:
        check_engine(name)
    if name == THREADS:
        use_engine(None)
    if name == MPI:
        require_mpi()
    if name == MPI or is_of_processes():
        from pypto_tmpl.execution.mpi.serving import join_team  # which needs mpi4py

        join_team(devices)
