"""The folder of a hunt: what has been found, how far it has come, and the page over it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.files import write_bytes, write_text
from pypto_tmpl.generated import JSON_MARK, check_place, is_record, is_report_page, json_in
from pypto_tmpl.hunt.findings import Coverage, Finding, Signature
from pypto_tmpl.hunt.options import HuntError
from pypto_tmpl.hunt.programs.drawing import HuntedProgram, Settings
from pypto_tmpl.hunt.report.fault import DATA, DIFFERENCE, PROGRAM, Fault
from pypto_tmpl.hunt.report.page import page_text

STATE, PAGE, FAULTS = "hunt.json", "index.html", "faults"


@dataclass(slots=True)
class Found:
    """A fault that is known, the folder that it has, and in how many programs it has shown."""

    fault: Fault
    folder: str
    programs: int = 1


@dataclass(slots=True)
class Record:
    """What a hunt has done so far; ``next`` is the first number of which not all programs below were judged.

    ``unfinished`` are numbers of judged programs with faults that are still being shrunk. ``ignored`` counts
    the faults that were not to be told of, by their signatures.
    """

    folder: Path
    drawing: Mapping[str, Any]
    next: int = 0
    programs: int = 0
    seconds: float = 0.0
    found: dict[Signature, Found] = field(default_factory=dict)
    unfinished: list[int] = field(default_factory=list)
    ignored: dict[str, int] = field(default_factory=dict)
    coverage: Coverage = field(default_factory=Coverage)

    def add(self, fault: Fault) -> Found:
        """Write the folder of a fault. Raises FileError."""
        signature = fault.finding.signature
        name = f"{len(self.found) + 1:03d}_{fault.name}"
        found = Found(fault, f"{FAULTS}/{name}")
        for path, data in fault.files.items():
            write_bytes(self.folder / found.folder / path, data, make_folders=True)
        self.found[signature] = found
        return found

    def write(self) -> None:
        """Write how far the hunt has come, and the page. Raises FileError."""
        state = {
            **JSON_MARK,
            "drawing": dict(self.drawing),
            "next": self.next,
            "programs": self.programs,
            "seconds": round(self.seconds, 3),
            "unfinished": self.unfinished,
            "ignored": self.ignored,
            "coverage": self.coverage.as_dict(),
            "faults": [
                {"folder": one.folder, "programs": one.programs, "signature": asdict(signature)}
                for signature, one in self.found.items()
            ],
        }
        write_text(self.folder / STATE, json.dumps(state, indent=1) + "\n")
        page = page_text(
            [(one.folder, one.programs, one.fault) for one in self.found.values()],
            self.programs,
            self.seconds,
            self.ignored,
            self.drawing,
        )
        write_bytes(self.folder / PAGE, page.encode("utf-8", "replace"))


def begin(folder: Path, drawing: Mapping[str, Any]) -> Record:
    """The record of a new hunt. Raises HuntError for a folder that has one, ForeignFileError, FileError."""
    if (folder / STATE).exists():
        check_place(folder / STATE, is_record)
        raise HuntError(
            f"{folder} holds a hunt already", notes=["go on with it: --resume; or give another folder"]
        )
    check_place(folder / PAGE, is_report_page)
    record = Record(folder, drawing)
    record.write()
    return record


def resume(folder: Path, drawing: Mapping[str, Any]) -> Record:
    """The record of a hunt that has begun. Raises HuntError where there is none, or one of other programs."""
    path = folder / STATE
    try:
        state = json_in(path.read_bytes())
    except OSError as error:
        raise HuntError(f"{folder} holds no hunt: {error.strerror or error}", where=str(path)) from None
    if not isinstance(state, dict) or not JSON_MARK.items() <= state.items():
        raise HuntError("this is no record of a hunt", where=str(path))
    try:
        return _record(folder, state, drawing)
    except (KeyError, TypeError) as error:
        raise HuntError(f"the record of a hunt cannot be read: {error}", where=str(path)) from None


def _record(folder: Path, state: Mapping[str, Any], drawing: Mapping[str, Any]) -> Record:
    if state["drawing"] != dict(drawing):
        notes = [f"it had {_told(state['drawing'])}", f"given now: {_told(drawing)}"]
        what = "the hunt was of other programs or of another compiler"
        raise HuntError(what, where=str(folder / STATE), notes=notes)
    record = Record(
        folder,
        drawing,
        state["next"],
        state["programs"],
        state["seconds"],
        unfinished=state["unfinished"],
        ignored=state["ignored"],
        coverage=Coverage(**state["coverage"]),
    )
    for entry in state["faults"]:
        found = _read_fault(folder / entry["folder"])
        record.found[Signature(**entry["signature"])] = Found(found, entry["folder"], entry["programs"])
    return record


def _told(drawing: Mapping[str, Any]) -> str:
    """What was drawn, as options of the command line."""
    kinds = "".join(f" --kind {kind}" for kind in drawing["kinds"])
    return f"--compiler {shlex.quote(drawing['compiler'])} --seed {drawing['seed']}{kinds}"


def _read_fault(folder: Path) -> Fault:
    try:
        data = json.loads((folder / DATA).read_bytes())
        text = (folder / PROGRAM).read_text(encoding="utf-8")
        difference = folder / DIFFERENCE
        finding = Finding(**data["finding"] | {"lines": tuple(data["finding"]["lines"])})
        drawn, counts = data["drawn"], data["statements"]
        ranges = {name: (first, end) for name, (first, end) in data["ranges"].items()}
        return Fault(
            finding,
            HuntedProgram(
                drawn["kind"], drawn["seed"], text, data["backend"], ranges, Settings(**data["settings"])
            ),
            (drawn["kind"], drawn["seed"]),
            (counts["drawn"], counts["shrunk"]),
            difference.read_text(encoding="utf-8") if difference.exists() else "",
            data["compiler"],
        )
    except (OSError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, PyptoTmplError):
            raise
        raise HuntError(f"the folder of a fault cannot be read: {error}", where=str(folder)) from None
