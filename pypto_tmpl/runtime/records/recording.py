"""Recording one run: hooks before it, files in ``dfx_outputs/`` after it."""

from __future__ import annotations

import ast
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.codegen.record import Script
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.execution.engines import LISTENER
from pypto_tmpl.generated import write_generated
from pypto_tmpl.runtime.dfx import DfxOptions
from pypto_tmpl.runtime.records.arg_dump import MARKED
from pypto_tmpl.runtime.records.dispatches import Dispatch
from pypto_tmpl.runtime.records.graph_page import graph_page, graph_page_of_ranks
from pypto_tmpl.runtime.records.hooks import attach
from pypto_tmpl.runtime.records.model import Records
from pypto_tmpl.runtime.records.ownership import same_form
from pypto_tmpl.runtime.records.parts import Part, dump_in, recorder_options
from pypto_tmpl.runtime.records.plan import TaskPlan, task_plan
from pypto_tmpl.runtime.records.pmu import pmu_csv, pmu_ops_csv
from pypto_tmpl.runtime.records.rank_index import INDEX, index_of_ranks
from pypto_tmpl.runtime.records.rank_parts import RankParts, RecordingElsewhere, ToldPart
from pypto_tmpl.runtime.records.recorder import Recorder
from pypto_tmpl.runtime.records.rewrite import mark_launches
from pypto_tmpl.runtime.records.swimlane import chip_swimlane_records, l2_perf_records, name_map
from pypto_tmpl.runtime.records.task_graph import deps
from pypto_tmpl.runtime.records.ticker import TaskTicker
from pypto_tmpl.runtime.records.trace_events import merged_swimlane, swimlane_of_ranks

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
    """Records the tasks of one run of a build as the diagnostic flags ask.

    Where several ranks run, each dispatch has files of its own in ``rank<r>/d<k>/``; what shows all ranks
    stands beside these folders. Ranks that other processes run are recorded there, by a ``copy`` of this.
    """

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
        self._backend, self._options = backend, options
        self._marker = LaunchMarker(program, script)
        self._title, self._build_name = program.name, build.resolve().name
        self._folder = build / FOLDER
        self._part: Part | None = None  # of a run without ranks
        self._ranks: RankParts | None = None

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
        parts = self._parts
        unmatched = [one for part in parts for one in part.unmatched]
        yield from (f"nothing is dumped: {one}" for one in dict.fromkeys(unmatched))
        dumps = [part.dump for part in parts if part.dump is not None]
        if not any(part.records.core_records for part in parts):
            yield f"{NO_TASK}: the records hold nothing"
        elif dumps and all(d.is_empty for d in dumps) and self._options.enable_dump_args == MARKED:
            yield (
                "nothing is dumped: no task takes a tensor that the program marks"
                " (dumps=[...], pl.dump_tag); 2 dumps all arguments"
            )

    def attach(self, namespace: dict[str, Any]) -> None:
        """Attach to a script that was loaded with its launches marked."""
        plan = self._marker.plan
        if "_submit" in namespace:
            self._ranks = RankParts(namespace, plan, self._options, self._folder, self._on_task)
            namespace[LISTENER] = self
            return
        dump = dump_in(self._folder, self._options)
        recorder = Recorder(plan, **recorder_options(namespace, self._options, dump, self._on_task))
        self._part = Part(self._folder, recorder.records, recorder.unmatched, dump)
        attach(namespace, plan, recorder)

    @property
    def copy(self) -> RecordingElsewhere:
        """What records in another process."""
        return RecordingElsewhere(self._marker.plan, self._options)

    def learn(self, told: Iterator[ToldPart | bytes]) -> None:
        """Take over what a copy has recorded."""
        assert self._ranks is not None, "the script has been attached to"
        self._ranks.learn(told)

    @property
    def _parts(self) -> Sequence[Part]:
        if self._ranks is not None:
            return self._ranks.parts
        return [] if self._part is None else [self._part]

    def write(self) -> list[Path]:
        """Write the files that the flags ask for; what ran until an error is in them too.

        Returns them; of several ranks those of all, and the folders of dispatches.
        """
        written = [path for part in self._parts for path in self._write(part)]
        if self._ranks is None:
            return written
        texts = dict(self._texts_of_ranks(self._ranks.dispatches))
        return [*self._write_texts(self._folder, texts), *(part.folder for part in self._parts)]

    def _write(self, part: Part) -> list[Path]:
        written = self._write_texts(part.folder, dict(self._texts(part.records)))
        return written if part.dump is None else [*written, part.dump.close()]

    def _write_texts(self, folder: Path, texts: Mapping[str, str]) -> list[Path]:
        for name, text in texts.items():
            write_generated(folder / name, text, same_form(text), make_folders=True)
        return [folder / name for name in texts]

    def _texts(self, records: Records) -> Iterator[tuple[str, str]]:
        options = self._options
        if options.enable_chip_swimlane:
            if options.times_as_l2_records:
                yield "l2_perf_records.json", _json(l2_perf_records(records))
            else:
                level = options.enable_chip_swimlane
                yield (
                    "chip_swimlane_records.json",
                    _json(chip_swimlane_records(records, level, self._backend)),
                )
            yield _swimlane_name(), _json(merged_swimlane(records))
        if options.enable_dep_gen:
            yield "deps.json", _json(deps(records))
            yield "deps_graph.html", graph_page(records, self._title)
        if options.enable_chip_swimlane or options.enable_dep_gen:
            yield f"name_map_{self._build_name}.json", _json(name_map(records.functions))
        if options.enable_pmu and records.core_records:
            yield "pmu.csv", pmu_csv(records, options.enable_pmu, self._backend)
            yield "pmu_ops.csv", pmu_ops_csv(records)
        elif options.enable_pmu:
            yield "pmu_empty.txt", f"There is no pmu.csv: {NO_TASK}.\n"

    def _texts_of_ranks(self, dispatches: Sequence[Dispatch]) -> Iterator[tuple[str, str]]:
        yield INDEX, _json(index_of_ranks(dispatches))
        if self._options.enable_chip_swimlane:
            yield _swimlane_name(), _json(swimlane_of_ranks(dispatches))
        if self._options.enable_dep_gen:
            yield "deps_graph.html", graph_page_of_ranks(dispatches, self._title)


def _swimlane_name() -> str:
    return f"merged_swimlane_{time.strftime('%Y%m%d_%H%M%S')}.json"


def _json(data: Any) -> str:
    return json.dumps(data, indent=2) + "\n"
