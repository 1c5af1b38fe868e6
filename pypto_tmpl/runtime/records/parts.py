"""What of a recorded run has a folder of its own: the run, or each of its dispatches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pypto_tmpl.runtime.dfx import DfxOptions
from pypto_tmpl.runtime.records.arg_dump import FIRST, SECOND, ArgDump
from pypto_tmpl.runtime.records.hooks import block_of, task_id_setter
from pypto_tmpl.runtime.records.model import Records


@dataclass(frozen=True, slots=True)
class Part:
    """A folder and what belongs there; ``unmatched`` are marks that no argument is."""

    folder: Path
    records: Records
    unmatched: list[str]
    dump: ArgDump | None


def dump_in(folder: Path, options: DfxOptions) -> ArgDump | None:
    """What dumps arguments into a folder, if that is asked for."""
    files = FIRST if options.dumps_as_tensor_dump else SECOND
    return ArgDump(folder, files, options.enable_dump_args) if options.enable_dump_args else None


def recorder_options(
    namespace: dict[str, Any], options: DfxOptions, dump: ArgDump | None, on_task: Callable[[], None]
) -> dict[str, Any]:
    """What a recorder of the tasks of a loaded script is made with."""
    return {
        "counts_work": bool(options.enable_pmu),
        "sink": dump,
        "block_of": block_of(namespace),
        "on_task_id": task_id_setter(namespace),
        "on_task": on_task,
    }
