"""The generator of device code under PyPTO's path ``pypto.backend.pto_backend``, which refuses."""

from __future__ import annotations

from typing import NoReturn

from pypto_tmpl import ir
from pypto_tmpl.passes import MemoryPlanner, RuntimeKind
from pypto_tmpl.runtime.refusals import refuse
from pypto_tmpl.upstream.codegen import INSTEAD, NEEDS

# Attributes of functions, as the passes write them.
DUAL_AIV_DISPATCH_ATTR = "dual_aiv_dispatch"
EXTERNAL_SOURCE_ATTR = "external_source"
EXTERNAL_INCLUDE_DIRS_ATTR = "external_include_dirs"


class PartialCodegenError(RuntimeError):
    """Some kernels of a program have no code; ``files`` holds those that have, by path."""

    def __init__(self, message: str, files: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.files = dict(files or {})


def emit_source_loc_default() -> bool:
    """Whether device code names source lines: no, as none is made."""
    return False


def generate(
    transformed_program: ir.Program,
    output_dir: str,
    skip_ptoas: bool = False,
    *,
    memory_planner: MemoryPlanner | None = None,
    emit_source_loc: bool | None = None,
    dump_ptoas_passes: bool = False,
    runtime: RuntimeKind | None = None,
) -> NoReturn:
    """Refused: there is no device code here."""
    refuse("pto_backend.generate", NEEDS, INSTEAD)


def multi_chip_orch_names(transformed_program: ir.Program) -> list[str]:
    """The orchestrations of a program that has several and no driver above them, sorted; else none."""
    functions = list(transformed_program.functions.values())
    is_driven = any(f.level is not None and f.level.value >= ir.Level.HOST.value for f in functions)
    names = sorted(f.name for f in functions if f.func_type is ir.FunctionType.Orchestration)
    return names if len(names) > 1 and not is_driven else []
