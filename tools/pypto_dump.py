"""Dump what PyPTO's passes make of a program: a compiler for ``pypto-tmpl hunt``.

python tools/pypto_dump.py PROGRAM.py OUT --backend Ascend910B

OUT then has a folder ``passes_dump``. It needs an installed ``pypto``, and none of its names but public ones;
``pypto-tmpl exec tools/pypto_dump.py ...`` runs it on the passes of pypto_tmpl.
"""

import argparse
import importlib.util
import sys
from pathlib import Path

from pypto import ir
from pypto.backend import BackendType, set_backend_type
from pypto.ir import OptimizationStrategy, PassContext, PassManager

FOLDER = "passes_dump"


def load_programs(path: Path) -> list[ir.Program]:
    """The programs that a file defines."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return [value for value in vars(module).values() if isinstance(value, ir.Program)]


def main(arguments: list[str] | None = None) -> int:
    """Dump one program, as a command. Returns 0, or 2 for a file that does not define just one."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--backend", choices=["Ascend910B", "Ascend950"], default="Ascend910B")
    given = parser.parse_args(arguments)
    set_backend_type(getattr(BackendType, given.backend))
    programs = load_programs(given.program)
    if len(programs) != 1:
        print(f"{given.program} defines {len(programs)} programs, not one", file=sys.stderr)
        return 2
    folder = given.out / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    with PassContext([]):
        manager = PassManager.get_strategy(OptimizationStrategy.Default)
        manager.run_passes(programs[0], dump_ir=True, output_dir=str(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
