"""The export of kernel insights: for each kernel of a build, the timeline of its statements.

The files lie as those of PyPTO's tool do, which has them from the vendor's simulator of instructions. Here
they are of the simulation in PyTorch, by the host's clock, and say so.
"""

from __future__ import annotations

import csv
import io
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from pypto_tmpl import ir
from pypto_tmpl.errors import PyptoTmplError, allowed_note
from pypto_tmpl.execution.entry import Parameter
from pypto_tmpl.execution.lines import without_source
from pypto_tmpl.files import write_text
from pypto_tmpl.generated import check_place, write_generated
from pypto_tmpl.ir.carriers import TORCH_NAMES
from pypto_tmpl.runtime.built_script import BuiltScript
from pypto_tmpl.runtime.calling import complete_call
from pypto_tmpl.runtime.execute import execute_build
from pypto_tmpl.runtime.manifest import Manifest, read_manifest
from pypto_tmpl.runtime.options import runtime_options
from pypto_tmpl.runtime.platforms import simulator_of
from pypto_tmpl.runtime.statement_times import KernelCall, StatementTimer

NAME = "kernel_insight_all_funcs"
POINTER = "latest_all_funcs_kernel_insight_export_root.txt"
EXPORTED, NOT_CALLED = "exported", "collect_failed"
COLUMNS = (
    "func", "status", "source_cpp", "symbol", "demangled", "app", "kernel_lib", "case_dir", "build_dir",
    "collect_dir", "export_dir", "export_src", "artifact_count", "trace_json", "visualize_data_bin",
    "core_trace_count", "instr_csv_count", "duration_sec", "message",
)  # fmt: skip
_FUNCTION = re.compile(r"func\.func @([\w.$]+)\(")
_SIMULATED = {"simulated": True, "clock": "host"}


class InsightError(PyptoTmplError, ValueError):
    """Nothing can be exported of a build."""

    slug = "insight"


@dataclass(frozen=True, slots=True)
class Export:
    """What became of one kernel; ``folder`` has its files."""

    func: str
    status: str
    folder: Path
    trace: Path | None
    seconds: float
    message: str


@dataclass(frozen=True, slots=True)
class ExportRun:
    """All of an export: its folder, and its kernels in order."""

    root: Path
    exports: tuple[Export, ...]

    @property
    def failed(self) -> tuple[Export, ...]:
        """The kernels without a trace."""
        return tuple(export for export in self.exports if export.status != EXPORTED)


def kernel_sources(build: Path, manifest: Manifest) -> dict[str, str]:
    """The kernels of a build by their names in its script. Raises InsightError where it has none."""
    script = BuiltScript(build, manifest)
    program, record = script.program, script.record
    if program is None or record is None:
        what = f"{build}: the script was edited, or the build has no intact dump of its program"
        raise InsightError(what, notes=["compile it with dump_passes=True"])
    names = {f.name for f in program.functions.values() if ir.is_incore_type(f.func_type)}
    found = {name: made_from for made_from, name in record.names.items() if made_from in names}
    if not found:
        raise InsightError(f"{build}: stage {manifest.stage} of the program has no kernels")
    return found


def kernel_texts(build: Path, manifest: Manifest) -> dict[str, Path]:
    """The ``.pto`` texts of kernels by their names; members of a group have one text."""
    found: dict[str, Path] = {}
    for name in manifest.files:
        path = build / name
        if path.suffix == ".pto" and path.is_file():
            for func in _FUNCTION.findall(path.read_text(encoding="utf-8", errors="replace")):
                found.setdefault(func, path)
    return found


def export_insights(
    build: Path,
    *,
    functions: Sequence[str] = (),
    output_root: Path | None = None,
    name: str = NAME,
    clock: Callable[[], time.struct_time] = time.localtime,
) -> ExportRun:
    """Run a build and write the timelines of its kernels, or of some.

    Inputs are those saved in ``data/in``, zeros where there are none. Raises InsightError, ManifestError,
    ForeignFileError where another's file has the name of the pointer, and whatever the program raises.
    """
    build = build.resolve()
    manifest = read_manifest(build)
    manifest.require_entry(build)
    kernels = kernel_sources(build, manifest)
    for wanted in functions:
        if wanted not in kernels.values():
            notes = [allowed_note("kernels", sorted(kernels.values()), wanted)]
            raise InsightError(f"the build has no kernel {wanted!r}", notes=notes)
    check_place(build / POINTER, _is_pointer)
    script = BuiltScript(build, manifest)
    timer = StatementTimer(str(script.path), kernels)
    options = runtime_options({"platform": simulator_of(manifest.backend).name})
    arguments = _arguments(build, manifest)
    with timer.watching():
        execute_build(build, manifest, arguments, options)
    root = (output_root or build).resolve() / f"{name}_{time.strftime('%Y%m%d_%H%M%S', clock())}"
    chosen = list(functions) or sorted(kernels.values())
    exports = tuple(_exported(root, func, timer.calls, script, build) for func in chosen)
    _write_summaries(root, build, kernel_texts(build, manifest), exports)
    write_generated(build / POINTER, f"{root}\n", _is_pointer)
    return ExportRun(root, exports)


def trace_events(func: str, calls: Sequence[KernelCall], script: BuiltScript) -> dict[str, Any]:
    """The timeline of a kernel as Chrome trace events: a lane for each thread, a bar for each line."""
    lines, sources = script.known.lines, script.sources()
    began = min((start for call in calls for _, start, _ in call.bars()), default=0)
    lanes = {thread: lane for lane, thread in enumerate(dict.fromkeys(call.thread for call in calls))}
    events: list[dict[str, Any]] = [_meta("process_name", 0, f"{func} (simulated, host clock)")]
    events += [_meta("thread_name", lane, f"lane {lane}") for lane in lanes.values()]
    for number, call in enumerate(calls):
        for line, start, end in call.bars():
            args = {"line": line, "source": sources.get(str(line), ""), "call": number, "simulated": True}
            events.append(
                {
                    "ph": "X",
                    "cat": "statement",
                    "name": without_source(lines[line - 1]).strip(),
                    "pid": 1,
                    "tid": lanes[call.thread],
                    "ts": (start - began) / 1000,
                    "dur": (end - start) / 1000,
                    "args": args,
                }
            )
    return {"traceEvents": events, "displayTimeUnit": "ns", "otherData": {**_SIMULATED, "kernel": func}}


def _meta(name: str, lane: int, value: str) -> dict[str, Any]:
    return {"ph": "M", "cat": "__metadata", "name": name, "pid": 1, "tid": lane, "args": {"name": value}}


def _exported(root: Path, func: str, calls: Sequence[KernelCall], script: BuiltScript, build: Path) -> Export:
    """Write the files of a kernel."""
    began, folder = time.perf_counter(), root / "funcs" / func / "export"
    own = [call for call in calls if call.kernel == func]
    if not own:
        seconds = time.perf_counter() - began
        return Export(func, NOT_CALLED, folder, None, seconds, "the run did not call the kernel")
    trace = folder / "simulator" / "trace.json"
    data = trace_events(func, own, script)
    write_text(trace, json.dumps(data, indent=1) + "\n")
    write_text(folder / "simulator" / "statements.csv", _statements_csv(data["traceEvents"]))
    message = "simulated in PyTorch: no instructions, and no visualize_data.bin of the vendor's viewer"
    return Export(func, EXPORTED, folder, trace, time.perf_counter() - began, message)


def _statements_csv(events: Sequence[Mapping[str, Any]]) -> str:
    """How often each line ran and how long in all, in the order of the script."""
    found: dict[int, tuple[str, str, int, float]] = {}
    for event in events:
        if event["ph"] == "X":
            line = event["args"]["line"]
            _, _, calls, total = found.get(line, ("", "", 0, 0.0))
            found[line] = (event["name"], event["args"]["source"], calls + 1, total + event["dur"])
    rows = [(line, *found[line][:3], round(found[line][3], 3)) for line in sorted(found)]
    return _csv(("line", "statement", "source", "calls", "total_us"), rows)


def _csv(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return text.getvalue()


def _write_summaries(root: Path, build: Path, texts: Mapping[str, Path], exports: Sequence[Export]) -> None:
    sources = dict.fromkeys(str(texts[export.func]) for export in exports if export.func in texts)
    facts = (f"build_dir={build}", f"source_count={len(sources)}", "simulated=PyTorch, host clock")
    write_text(root / "README.txt", "\n".join([*facts, "sources:", *sources]) + "\n")
    rows = []
    for export in exports:
        row = dict.fromkeys(COLUMNS, "")
        row |= {"func": export.func, "status": export.status, "symbol": export.func, "build_dir": str(build)}
        row |= {"export_dir": str(export.folder), "message": export.message}
        made = texts[export.func].with_suffix(".cpp") if export.func in texts else None
        row["source_cpp"] = str(made) if made is not None and made.is_file() else ""
        row |= {"artifact_count": "2", "instr_csv_count": "1"} if export.trace else {"artifact_count": "0"}
        row |= {"trace_json": str(export.trace or ""), "core_trace_count": "0"}
        row["duration_sec"] = f"{export.seconds:.3f}"
        rows.append([row[column] for column in COLUMNS])
    write_text(root / "manifest_export.csv", _csv(COLUMNS, rows))
    failed = sum(export.status != EXPORTED for export in exports)
    counts = [f"total={len(exports)}", f"exported={len(exports) - failed}", f"failed={failed}"]
    lines = [f"{export.func}\t{export.status}\t{export.trace or ''}" for export in exports]
    write_text(root / "summary.txt", "\n".join([f"run_root={root}", *counts, "", "exports:", *lines]) + "\n")


def _is_pointer(data: bytes) -> bool:
    """One line that is the path of a folder."""
    text = data.decode("utf-8", "replace")
    return text.count("\n") == 1 and Path(text.strip()).is_absolute()


def _arguments(build: Path, manifest: Manifest) -> list[object]:
    """What the program is run on: the inputs that a run saved, zeros in the place of others."""
    saved = {path.stem: path for path in (build / "data" / "in").glob("*.pt")}
    values: list[object] = []
    for param in manifest.entry.parameters:
        if param.name in saved:
            value = torch.load(saved[param.name], map_location="cpu", weights_only=True)
            values.append(value.item() if param.is_scalar else value.contiguous())
        else:
            values.append(0 if param.is_scalar else _zeros(param, build))
    return complete_call(manifest.entry, False, values, manifest.program).arguments


def _zeros(param: Parameter, build: Path) -> torch.Tensor:
    shape = [extent for extent in param.shape or () if isinstance(extent, int)]
    if len(shape) != len(param.shape or ()):
        what = f"{param.name!r} has an extent that only a run knows, and {build}/data/in has no tensor of it"
        raise InsightError(what, notes=["golden.run saves inputs; run the program first"])
    if param.is_packed and shape:
        shape[-1] //= 2
    dtype: torch.dtype = getattr(torch, TORCH_NAMES[param.dtype])
    return torch.zeros(shape, dtype=dtype)
