"""``mpiexec -n 2 python -m ranks.dying WAY``: rank 1 ends its process in a kernel, or never ends."""

from __future__ import annotations

import sys

import torch
from ranks.ranked import script
from ranks.test_kernels import mesh_sum

from pypto_tmpl.execution.choice import choose_engine
from pypto_tmpl.execution.load import load_script
from pypto_tmpl.execution.mpi import engine

WAYS = {
    "loop": "while True: pass",
    "exit": "__import__('os')._exit(0)",
    "kill": "__import__('os').kill(__import__('os').getpid(), 9)",
}


def main(way: str) -> None:
    """Run a sum over two ranks that does not come to its end; where rank 1 loops, rank 0 fails."""
    engine._PATIENCE = 0.5
    choose_engine("mpi")
    lines = script(mesh_sum(2))["_SCRIPT"].text.splitlines()
    place = next(number for number, line in enumerate(lines) if line.strip().startswith("_notify("))
    indent = lines[place].partition("_notify")[0]
    lines[place:place] = [f"{indent}if me == 1:", f"{indent}    {WAYS[way]}"]
    if way == "loop":
        lines[place:place] = [f"{indent}if me == 0:", f"{indent}    raise ValueError('no further')"]
    xs = torch.zeros(2, 1, 64)
    print("begins", flush=True)
    load_script("\n".join(lines), "<script>")["host"](xs, xs.clone())
    print("has ended")


if __name__ == "__main__":
    main(sys.argv[1])
