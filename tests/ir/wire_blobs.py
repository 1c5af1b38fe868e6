"""Decoded blobs of small IR, to be changed and packed by tests of the wire format."""

from __future__ import annotations

import copy
from typing import Any

import msgpack

SPAN: dict[str, Any] = {
    "begin_column": -1,
    "begin_line": -1,
    "end_column": -1,
    "end_line": -1,
    "filename": "",
}
I64: dict[str, Any] = {"dtype": 20, "type_kind": "ScalarType"}
BOOL: dict[str, Any] = {"dtype": 0, "type_kind": "ScalarType"}
UNKNOWN: dict[str, Any] = {"type_kind": "UnknownType"}
PTR: dict[str, Any] = {"type_kind": "Ptr"}
OP: dict[str, Any] = {"is_global_var": False, "name": "tile.add"}


def node(number: int, tag: str, **fields: Any) -> dict[str, Any]:
    return {"fields": {"span": SPAN, **fields}, "id": number, "type": tag}


def ref(number: int) -> dict[str, int]:
    return {"ref": number}


def var(number: int, name: str = "x", type: Any = I64) -> dict[str, Any]:
    return node(number, "Var", name_hint=name, type=type)


def const(number: int, value: Any = 1, type: Any = I64) -> dict[str, Any]:
    return node(number, "ConstInt", type=type, value=value)


def add(number: int, left: Any, right: Any) -> dict[str, Any]:
    return node(number, "Add", type=I64, left=left, right=right)


def stmt(number: int, tag: str, **fields: Any) -> dict[str, Any]:
    return node(number, tag, leading_comments=[], **fields)


def returns(number: int, *values: Any) -> dict[str, Any]:
    return stmt(number, "ReturnStmt", value=list(values))


def scope(number: int, tag: str, **fields: Any) -> dict[str, Any]:
    return stmt(number, tag, **{"name_hint": "", "attrs": [], "body": returns(number + 1), **fields})


def call(number: int, *args: Any, **fields: Any) -> dict[str, Any]:
    given = {"op": OP, "args": list(args), "attrs": [], "kwargs": [], "type": UNKNOWN}
    return node(number, "Call", **{**given, **fields})


def submit(number: int, *args: Any, **fields: Any) -> dict[str, Any]:
    given = {
        "op": OP,
        "args": list(args),
        "deps": [],
        "core_num": None,
        "sync_start": False,
        "allow_early_resolve": False,
        "predicate": None,
        "attrs": [],
        "kwargs": [],
        "type": UNKNOWN,
    }
    return node(number, "Submit", **{**given, **fields})


def for_stmt(number: int, **fields: Any) -> dict[str, Any]:
    given = {
        "loop_var": var(number + 1, "i"),
        "start": const(number + 2, 0),
        "stop": const(number + 3, 8),
        "step": const(number + 4, 1),
        "iter_args": [],
        "body": returns(number + 5),
        "return_vars": [],
        "kind": 0,
        "attrs": [],
    }
    return stmt(number, "ForStmt", **{**given, **fields})


def memref_node(number: int, **fields: Any) -> dict[str, Any]:
    given = {
        "name_hint": "m",
        "type": {"type_kind": "MemRefType"},
        "base": var(number + 1, "m", PTR),
        "byte_offset": const(number + 2, 0),
        "size": 64,
        "is_pinned": False,
        "slot_count": 1,
        "slot_index": None,
    }
    return node(number, "MemRef", **{**given, **fields})


def memref_map(number: int, **fields: Any) -> dict[str, Any]:
    """A memref as it stands in a type."""
    given = {
        "base": "m",
        "base_node": var(number + 1, "m", PTR),
        "byte_offset": const(number + 2, 0),
        "size": 64,
    }
    return {**given, **fields}


def tensor(*shape: Any, **fields: Any) -> dict[str, Any]:
    return {"dtype": 52, "shape": list(shape), "type_kind": "TensorType", **fields}


def tile(*shape: Any, **fields: Any) -> dict[str, Any]:
    return {"dtype": 52, "shape": list(shape), "type_kind": "TileType", "memory_space": 1, **fields}


def function(number: int, **fields: Any) -> dict[str, Any]:
    """The worked example of the specification: ``bump(x) = x + 1``."""
    given = {
        "attrs": [],
        "body": returns(number + 2, add(number + 3, ref(number + 1), const(number + 4))),
        "func_type": 0,
        "level": None,
        "name": "bump",
        "param_directions": [0],
        "params": [var(number + 1)],
        "requires_runtime_binding": False,
        "return_types": [I64],
        "role": None,
    }
    return node(number, "Function", **{**given, **fields})


def program(number: int, *entries: Any, **fields: Any) -> dict[str, Any]:
    return node(number, "Program", **{"name": "p", "functions": list(entries), **fields})


def entry(value: Any, name: str = "bump") -> dict[str, Any]:
    return {"key": {"is_global_var": True, "name": name}, "value": value}


def attr(key: str, value: Any) -> dict[str, Any]:
    return {"key": key, "value": value}


def without(blob: Any, *path: Any) -> Any:
    """A copy of ``blob`` without the value at ``path``."""
    changed = copy.deepcopy(blob)
    owner = changed
    for step in path[:-1]:
        owner = owner[step]
    del owner[path[-1]]
    return changed


def with_value(blob: Any, value: Any, *path: Any) -> Any:
    """A copy of ``blob`` with ``value`` at ``path``."""
    changed = copy.deepcopy(blob)
    owner = changed
    for step in path[:-1]:
        owner = owner[step]
    owner[path[-1]] = value
    return changed


def sort_keys(value: Any) -> Any:
    """``value`` with the keys of all maps in ascending order, as writers have them."""
    if isinstance(value, dict):
        return {key: sort_keys(value[key]) for key in sorted(value)}
    return [sort_keys(item) for item in value] if isinstance(value, list) else value


def pack(blob: Any) -> bytes:
    packed: bytes = msgpack.packb(sort_keys(blob))
    return packed
