"""``mpiexec -n 2 python -m ranks.recorded_run FOLDER``: builds a program of two ranks, and records a run."""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from ranks.test_kernels import mesh_sum

from pypto_tmpl.compile import compile_options, compile_program
from pypto_tmpl.execution.choice import choose_engine
from pypto_tmpl.runtime import execute_compiled


def main(folder: Path) -> None:
    """Dump all arguments of a sum over two ranks."""
    choose_engine("mpi")
    folder.mkdir()
    build = compile_program(mesh_sum(2), folder, compile_options({})).directory
    execute_compiled(build, [torch.ones(2, 1, 64), torch.zeros(2, 1, 64)], enable_dump_args=2)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
