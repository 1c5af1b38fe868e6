"""Whether the packages of the engine are there, and which of the started processes this one is."""

from __future__ import annotations

import os
from importlib import import_module

from pypto_tmpl.execution.engines import EngineError

_RANK_VARIABLES = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK")  # of several launchers


def require_mpi() -> None:
    """Raise EngineError if mpi4py or an MPI is not installed; of many processes one alone tells."""
    try:
        import_module("mpi4py.MPI")
        return
    except ModuleNotFoundError:
        what = "the engine 'mpi' needs mpi4py and an MPI, which are not installed"
    except (ImportError, RuntimeError) as error:
        what = f"mpi4py finds no MPI: {str(error).splitlines()[0]}"
    if any(os.environ.get(name, "0") != "0" for name in _RANK_VARIABLES):
        raise SystemExit(2)
    raise EngineError(what, notes=["pip install pypto_tmpl[mpi]"])
