"""The generator of device code under PyPTO's path ``pypto.backend.pto_backend``."""

from __future__ import annotations

from pathlib import Path

from pypto_tmpl import ir
from pypto_tmpl.backend import get_backend_type
from pypto_tmpl.compile.host import host_code
from pypto_tmpl.compile.lower import PassOptions
from pypto_tmpl.compile.streams import assemble_texts, has_places, kernel_texts, report_of
from pypto_tmpl.generated import has_no_mark, write_generated
from pypto_tmpl.passes import MemoryPlanner, RuntimeKind
from pypto_tmpl.runtime.entry import orchestrations_of

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
    """Whether texts name source lines where nothing says so: as ``PYPTO_EMIT_PTO_LOC`` has it, else yes."""
    return has_places(None)


def generate(
    transformed_program: ir.Program,
    output_dir: str,
    skip_ptoas: bool = False,
    *,
    memory_planner: MemoryPlanner | None = None,
    emit_source_loc: bool | None = None,
    dump_ptoas_passes: bool = False,
    runtime: RuntimeKind | None = None,
) -> dict[str, str]:
    """The device code of a program after the last pass, for the chosen backend, by its paths in a build.

    ``ptoas/`` is written into ``output_dir``, where the assembler reads it; all else is for the caller to
    write. Raises PartialCodegenError with what there is where some functions have no code, which is written
    then, RuntimeError where none has, ValueError without a backend.
    """
    backend, build = get_backend_type(), Path(output_dir)
    knobs = {"emit_source_loc": emit_source_loc}
    planner = memory_planner or PassOptions(backend=backend).resolved().memory_planner
    found = kernel_texts(transformed_program, backend, planner, knobs, skip_ptoas=skip_ptoas)
    if found.why_none:
        raise RuntimeError(found.why_none)
    files = dict(found.texts) if skip_ptoas else {}
    if not skip_ptoas:
        for path, text in found.texts.items():
            write_generated(build / path, text, has_no_mark, make_folders=True)
        assemble_texts(found, build, backend, dump_passes=dump_ptoas_passes)
    host = host_code(transformed_program, backend, found, runtime, skip_ptoas=skip_ptoas)
    files |= host.texts
    errors = found.errors | host.errors
    if errors and not files and not found.texts:
        raise RuntimeError(report_of(errors))
    if errors or found.why_no_cpp:
        for path, text in files.items():
            write_generated(build / path, text, has_no_mark, make_folders=True)
        raise PartialCodegenError(report_of(errors) if errors else found.why_no_cpp, files)
    return files


def multi_chip_orch_names(transformed_program: ir.Program) -> list[str]:
    """The orchestrations of a program that has several and no driver above them, sorted; else none."""
    return orchestrations_of(transformed_program)
