"""Traces on the disk: an index in JSON beside one file of tensors; no code in them is ever run."""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import asdict, replace
from os import PathLike
from pathlib import Path
from typing import Any

import torch

from pypto_tmpl import ir
from pypto_tmpl.codegen.tracing import TraceSite
from pypto_tmpl.debug.trace.records import Statement, Trace, TraceFailure, TraceRecord
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.execution.statement_place import StatementPlace
from pypto_tmpl.generated import JSON_MARK, check_place, has_no_mark, is_record, write_generated

FORMAT = 2
INDEX = "index.json"


class TraceStoreError(PyptoTmplError, ValueError):
    """A folder that a trace was to be read from holds none, or a damaged one."""

    slug = "trace-store"


def save_trace(trace: Trace, folder: str | PathLike[str]) -> None:
    """Write a trace into a folder, which is made: an index, its values and its program, named by digest.

    ``index.json`` is written last and names the other files, so that a reader finds the old trace or the new
    one. Raises FileError, ForeignFileError where other files would be lost.
    """
    place = Path(folder)
    check_trace_folder(place)
    values = {
        str(number): record.value
        for number, record in enumerate(trace.records)
        if isinstance(record.value, torch.Tensor)
    }
    buffer = io.BytesIO()
    torch.save(values, buffer)
    data = buffer.getvalue()
    name = _digest_name("values", data, ".pt")
    write_generated(place / name, data, has_no_mark, make_folders=True)
    kept = [name]
    if trace.node is not None:
        program = ir.serialize(trace.node)
        kept.append(_digest_name("program", program, ".msgpack"))
        write_generated(place / kept[-1], program, has_no_mark)
    index = json.dumps(_index(trace, *kept), indent=1, allow_nan=True) + "\n"
    write_generated(place / INDEX, index, is_record)
    for stem, suffix in (("values", ".pt"), ("program", ".msgpack")):
        for other in place.glob(f"{stem}-*{suffix}"):
            is_own = _is_plain(other) and other.name == _digest_name(stem, other.read_bytes(), suffix)
            if is_own and other.name not in kept:
                other.unlink(missing_ok=True)


def check_trace_folder(folder: str | PathLike[str]) -> None:
    """Refuse a folder whose ``index.json`` is no trace's. Raises ForeignFileError."""
    check_place(Path(folder) / INDEX, is_record)


def _digest_name(stem: str, data: bytes, suffix: str) -> str:
    """The name of a file of a trace, which tells by the digest whose it is."""
    return f"{stem}-{hashlib.sha256(data).hexdigest()[:16]}{suffix}"


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _index(trace: Trace, values: str, program: str | None = None) -> dict[str, Any]:
    return JSON_MARK | {
        "format": FORMAT,
        "program": trace.program,
        "stage": trace.stage,
        "values": values,
        "program_file": program,
        "limit": trace.limit,
        "left_out": trace.left_out,
        "failure": None if trace.failure is None else asdict(trace.failure),
        "sites": [site._asdict() for site in trace.sites],
        "script": trace.script,
        "statements": {str(number): asdict(found) for number, found in trace.statements.items()},
        "records": [_record_dict(trace, record) for record in trace.records],
    }


def _record_dict(trace: Trace, record: TraceRecord) -> dict[str, Any]:
    found = asdict(record) | {"value": None, "name": trace.variable(record)}
    if isinstance(record.value, torch.Tensor):
        found |= {"dtype": str(record.value.dtype).removeprefix("torch."), "shape": list(record.value.shape)}
    else:
        found["value"] = record.value
    return found


def load_trace(folder: str | PathLike[str]) -> Trace:
    """Read a trace that ``save_trace`` has written.   Raises: TraceStoreError."""
    place = Path(folder)
    if not (place / INDEX).is_file():
        raise TraceStoreError(f"there is no trace in {str(folder)!r}", notes=[f"a trace has an {INDEX}"])
    try:
        index = json.loads((place / INDEX).read_text(encoding="utf-8"))
        if index["format"] != FORMAT:
            raise TraceStoreError(f"trace format {index['format']!r}, expected {FORMAT}", where=str(folder))
        file = place / Path(index["values"]).name
        values = torch.load(file, map_location="cpu", weights_only=True)
        return replace(_trace(index, values), node=_program(place, index["program_file"]))
    except TraceStoreError:
        raise
    except Exception as error:  # readers raise whatever damaged bytes lead to
        reason = (str(error).splitlines() or [""])[0]
        raise TraceStoreError(
            f"the trace cannot be read: {type(error).__name__}: {reason}", where=str(folder)
        ) from None


def _program(place: Path, name: str | None) -> ir.Program | ir.Function | None:
    """The program that was run, where the trace has one."""
    if name is None:
        return None
    data = (place / Path(name).name).read_bytes()
    if _digest_name("program", data, ".msgpack") != Path(name).name:
        raise TraceStoreError(f"{name} is not that of the trace", where=str(place))
    node = ir.deserialize(data)
    return node if isinstance(node, ir.Program | ir.Function) else None


def _trace(index: dict[str, Any], values: dict[str, torch.Tensor]) -> Trace:
    statements = {
        int(number): Statement(found["text"], found["line"], found["line_text"], tuple(found["loops"]))
        for number, found in index["statements"].items()
    }
    failure = index["failure"]
    if failure is not None:
        place = failure["place"] and StatementPlace(**failure["place"])
        failure = TraceFailure(failure["text"], place)
    return Trace(
        program=index["program"],
        stage=index["stage"],
        script=index["script"],
        sites=[TraceSite(**site) for site in index["sites"]],
        records=[
            _record(found, values.get(str(number), found["value"]))
            for number, found in enumerate(index["records"])
        ],
        statements=statements,
        limit=index["limit"],
        failure=failure,
    )


def _record(found: dict[str, Any], value: Any) -> TraceRecord:
    return TraceRecord(
        site=found["site"],
        order=tuple(found["order"]),
        call=found["call"],
        lane=found["lane"],
        block=found["block"],
        at=tuple(found["at"]),
        valid=None if found["valid"] is None else tuple(found["valid"]),
        window=None if found["window"] is None else tuple(found["window"]),
        part=found["part"],
        value=value,
        rank=found.get("rank"),
    )
