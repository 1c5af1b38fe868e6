"""Recording one run: hooks before it, files in ``dfx_outputs/`` after it."""

from __future__ import annotations

import ast
import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.codegen.record import Script
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.generated import write_generated
from pypto_tmpl.runtime.dfx import DfxOptions
from pypto_tmpl.runtime.records.arg_dump import FIRST, MARKED, SECOND, ArgDump
from pypto_tmpl.runtime.records.graph_page import graph_page
from pypto_tmpl.runtime.records.hooks import attach, block_of, task_id_setter
from pypto_tmpl.runtime.records.ownership import same_form
from pypto_tmpl.runtime.records.plan import TaskPlan, task_plan
from pypto_tmpl.runtime.records.pmu import pmu_csv, pmu_ops_csv
from pypto_tmpl.runtime.records.recorder import Recorder
from pypto_tmpl.runtime.records.rewrite import mark_launches
from pypto_tmpl.runtime.records.swimlane import chip_swimlane_records, l2_perf_records, name_map
from pypto_tmpl.runtime.records.task_graph import deps
from pypto_tmpl.runtime.records.ticker import TaskTicker
from pypto_tmpl.runtime.records.trace_events import merged_swimlane

FOLDER = "dfx_outputs"
NO_TASK = "no task ran on a core"


class RecordsError(PyptoTmplError, ValueError):
    """A run whose tasks cannot be recorded."""

    slug = "records"


class LaunchMarker:
    """Marks the launches of a script when it is loaded, which is when there is a tree to mark."""

    def __init__(self, program: ir.Program, script: Script | None) -> None:
        self._program, self._script = program, script
        self._plan: TaskPlan | None = None

    @property
    def knows_lines(self) -> bool:
        """False for a script that was edited."""
        return self._script is not None

    @property
    def plan(self) -> TaskPlan:
        """What the script launches."""
        assert self._plan is not None, "the script is loaded first"
        return self._plan

    def mark(self, tree: ast.Module) -> ast.Module:
        """The script with its launches marked."""
        self._plan = task_plan(self._program, self._script, tree)
        return mark_launches(tree, self._plan)


class Counting:
    """Tells of the tasks of one run as they are launched, and records nothing."""

    def __init__(self, program: ir.Program, script: Script | None, on_task: Callable[[], None]) -> None:
        self._marker, self._on_task = LaunchMarker(program, script), on_task

    def mark(self, script: ast.Module) -> ast.Module:
        """The script with its launches marked."""
        return self._marker.mark(script)

    def attach(self, namespace: dict[str, Any]) -> None:
        """Attach to a script that was loaded with its launches marked."""
        attach(namespace, self._marker.plan, TaskTicker(self._on_task))

    remarks: Sequence[str] = ()

    def write(self) -> list[Path]:
        """Nothing was recorded."""
        return []


class Recording:
    """Records the tasks of one run of a build as the diagnostic flags ask."""

    def __init__(
        self,
        build: Path,
        backend: str,
        options: DfxOptions,
        program: ir.Program,
        script: Script | None,
        on_task: Callable[[], None] | None = None,
    ) -> None:
        self._on_task = on_task or (lambda: None)
        self._build, self._backend, self._options = build, backend, options
        self._marker = LaunchMarker(program, script)
        self._title = program.name
        self._folder = build / FOLDER
        self._dump: ArgDump | None = None
        self._recorder: Recorder | None = None

    @property
    def notes(self) -> Sequence[str]:
        """What is not recorded, and why."""
        if self._marker.knows_lines:
            return []
        return ["the script was edited: of what it launches only whole functions are recorded"]

    def mark(self, script: ast.Module) -> ast.Module:
        """The script with its launches marked."""
        return self._marker.mark(script)

    @property
    def remarks(self) -> Iterator[str]:
        """Why files of the run are empty, or not as full as was asked."""
        assert self._recorder is not None
        yield from (f"nothing is dumped: {one}" for one in dict.fromkeys(self._recorder.unmatched))
        if not self._recorder.records.core_records:
            yield f"{NO_TASK}: the records hold nothing"
        elif self._dump is not None and self._dump.is_empty and self._options.enable_dump_args == MARKED:
            yield (
                "nothing is dumped: no task takes a tensor that the program marks"
                " (dumps=[...], pl.dump_tag); 2 dumps all arguments"
            )

    def attach(self, namespace: dict[str, Any]) -> None:
        """Attach to a script that was loaded with its launches marked."""
        options = self._options
        if options.enable_dump_args:
            files = FIRST if options.dumps_as_tensor_dump else SECOND
            self._dump = ArgDump(self._folder, files, options.enable_dump_args)
        self._recorder = Recorder(
            self._marker.plan,
            counts_work=bool(options.enable_pmu),
            sink=self._dump,
            block_of=block_of(namespace),
            on_task_id=task_id_setter(namespace),
            on_task=self._on_task,
        )
        attach(namespace, self._marker.plan, self._recorder)

    def write(self) -> list[Path]:
        """Write the files that the flags ask for; what ran until an error is in them too."""
        assert self._recorder is not None
        texts = dict(self._texts())
        for name, text in texts.items():
            write_generated(self._folder / name, text, same_form(text), make_folders=True)
        written = [self._folder / name for name in texts]
        if self._dump is not None:
            written.append(self._dump.close())
        return written

    def _texts(self) -> Iterator[tuple[str, str]]:
        assert self._recorder is not None
        records, options = self._recorder.records, self._options
        if options.enable_chip_swimlane:
            if options.times_as_l2_records:
                yield "l2_perf_records.json", _json(l2_perf_records(records))
            else:
                level = options.enable_chip_swimlane
                yield (
                    "chip_swimlane_records.json",
                    _json(chip_swimlane_records(records, level, self._backend)),
                )
            stamp = time.strftime("%Y%m%d_%H%M%S")
            yield f"merged_swimlane_{stamp}.json", _json(merged_swimlane(records))
        if options.enable_dep_gen:
            yield "deps.json", _json(deps(records))
            yield "deps_graph.html", graph_page(records, self._title)
        if options.enable_chip_swimlane or options.enable_dep_gen:
            yield f"name_map_{self._build.resolve().name}.json", _json(name_map(records.functions))
        if options.enable_pmu and records.core_records:
            yield "pmu.csv", pmu_csv(records, options.enable_pmu, self._backend)
            yield "pmu_ops.csv", pmu_ops_csv(records)
        elif options.enable_pmu:
            yield "pmu_empty.txt", f"There is no pmu.csv: {NO_TASK}.\n"


def _json(data: Any) -> str:
    return json.dumps(data, indent=2) + "\n"
