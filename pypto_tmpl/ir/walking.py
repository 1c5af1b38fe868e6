"""Walks over IR."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_tmpl.ir.attrs import AttrMap
from pypto_tmpl.ir.base import IRNode
from pypto_tmpl.ir.fields import node_fields_of
from pypto_tmpl.ir.program import Program
from pypto_tmpl.ir.scalar_types import ScalarType

_WALKED: dict[type, tuple[tuple[str, bool], ...]] = {}  # fields of a class, and whether each holds many


def children(owner: object) -> Iterator[IRNode]:
    """Nodes directly below a node, type, view or attribute map, those inside its types included."""
    stack = _parts(owner)
    seen: set[int] = set()  # tuples of tuples may hold one type very often
    while stack:
        part = stack.pop()
        if isinstance(part, IRNode):
            yield part
        elif id(part) not in seen:
            seen.add(id(part))
            stack += _parts(part)


def _parts(owner: object) -> list[object]:
    """The nodes, types, attribute maps and views that ``owner`` holds, the last first."""
    found: list[object] = []
    fields = _WALKED.get(type(owner))
    if fields is None:
        if isinstance(owner, AttrMap):
            found += owner.expressions()
            return found[::-1]
        fields = _WALKED[type(owner)] = tuple((s.name, s.many) for s in node_fields_of(type(owner)))
    for name, many in fields:
        value = getattr(owner, name)
        if many:
            found += value
        elif value is not None and type(value) is not ScalarType:  # most types are, and hold nothing
            found.append(value)
    if type(owner) is Program:
        found += owner.functions.values()
    return found[::-1]


def walk(root: object) -> Iterator[IRNode]:
    """Every node below ``root`` (itself included, if a node) once, parents before children."""
    seen: set[int] = set()
    stack: list[object] = [root]
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, IRNode):
            yield node
        stack += _parts(node)
