"""Nodes with some fields replaced."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar

from pypto_tmpl import ir
from pypto_tmpl.ir.construct import construct
from pypto_tmpl.ir.fields import fields_of

N = TypeVar("N")


def build(node: N, **changes: Any) -> N:
    """``node`` with other values in some of its fields, built by its constructor; itself if none changes.

    Fields are those of the class (``Function`` has ``func_type`` and ``params`` without directions). The
    ``functions`` of a program are given in any order: their keys follow their names. A function whose type
    changes gets the level and the role of the new one. A variable that changes is a new variable.

    Raises TypeError for a name that is no field, and what the constructor raises.
    """
    cls: type = type(node)
    names = _names(cls)
    unknown = changes.keys() - names.keys()
    if unknown:
        raise TypeError(f"{cls.__name__} has no field {min(unknown)!r}; its fields are {', '.join(names)}")
    if isinstance(node, ir.Program) and "functions" in changes:
        given = changes.pop("functions")
        functions = tuple(given.values() if isinstance(given, dict) else given)
        if not _is_same(tuple(node.functions.values()), functions):
            changes["functions"] = functions
    changed = {name: value for name, value in changes.items() if not _is_same(getattr(node, name), value)}
    if not changed:
        return node
    fields = {name: getattr(node, name) for name in names} | changed
    if isinstance(node, ir.Function) and "func_type" in changed:
        fields |= {name: changed.get(name) for name in ("level", "role")}
    if isinstance(node, ir.MemRef | ir.WindowBuffer) and ("base" in changed or "base_" in changed):
        fields["name_hint"] = changed.get("name_hint")
    built: N = construct(cls, fields)
    return built


@cache
def _names(cls: type) -> dict[str, None]:
    """The names of the fields of a class, in order."""
    return dict.fromkeys(spec.name for spec in fields_of(cls))


def _is_same(old: object, new: object) -> bool:
    """True where a field would not change: parts by identity, plain values by type and value."""
    if old is new:
        return True
    if isinstance(old, ir.AttrMap | ir.IRNode | ir.Type):
        return False
    if isinstance(old, tuple) and isinstance(new, tuple | list):
        return len(old) == len(new) and all(map(_is_same, old, new))
    if isinstance(old, float) and isinstance(new, float):
        return old.hex() == new.hex()
    return type(old) is type(new) and not isinstance(old, ir.TensorView | ir.TileView) and old == new
