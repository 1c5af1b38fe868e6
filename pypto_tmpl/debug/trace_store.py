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
from pypto_tmpl.debug.divergence import StatementPlace
from pypto_tmpl.debug.trace import Statement, Trace, TraceFailure, TraceRecord
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.files import write_bytes, write_text

FORMAT = 2
INDEX = "index.json"
PROGRAM = "program.msgpack"


class TraceStoreError(PyptoTmplError, ValueError):
    """A folder that a trace was to be read from holds none, or a damaged one."""

    slug = "trace-store"


def save_trace(trace: Trace, folder: str | PathLike[str]) -> None:
    """Write a trace into a folder, which is made: ``index.json``, ``values-<digest>.pt``, and the program.

    The index is written last and names the file of values, so that a reader finds the old trace or the new
    one. Raises FileError.
    """
    place = Path(folder)
    values = {
        str(number): record.value
        for number, record in enumerate(trace.records)
        if isinstance(record.value, torch.Tensor)
    }
    buffer = io.BytesIO()
    torch.save(values, buffer)
    data = buffer.getvalue()
    name = f"values-{hashlib.sha256(data).hexdigest()[:16]}.pt"
    write_bytes(place / name, data, make_folders=True)
    program = None if trace.node is None else ir.serialize(trace.node)
    if program is not None:
        write_bytes(place / PROGRAM, program)
    write_text(place / INDEX, json.dumps(_index(trace, name, program), indent=1, allow_nan=True) + "\n")
    for other in place.glob("values-*.pt"):
        if other.name != name:
            other.unlink(missing_ok=True)


def _index(trace: Trace, values: str, program: bytes | None) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "program": trace.program,
        "stage": trace.stage,
        "values": values,
        "program_digest": None if program is None else hashlib.sha256(program).hexdigest(),
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
        return replace(_trace(index, values), node=_program(place, index.get("program_digest")))
    except TraceStoreError:
        raise
    except Exception as error:  # readers raise whatever damaged bytes lead to
        reason = (str(error).splitlines() or [""])[0]
        raise TraceStoreError(
            f"the trace cannot be read: {type(error).__name__}: {reason}", where=str(folder)
        ) from None


def _program(place: Path, digest: str | None) -> ir.Program | ir.Function | None:
    """The program that was run, if the folder has that very one."""
    if digest is None:
        return None
    data = (place / PROGRAM).read_bytes()
    if hashlib.sha256(data).hexdigest() != digest:
        raise TraceStoreError(f"{PROGRAM} is not that of the trace", where=str(place))
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
    )
