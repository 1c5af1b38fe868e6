"""Walking and rewriting IR.

Both classes dispatch on the node class: a subclass defines ``visit_<ClassName>`` or ``mutate_<ClassName>``
for the classes it cares about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from pypto_tmpl.ir.attrs import AttrMap
from pypto_tmpl.ir.base import Expr, IRNode, set_fields
from pypto_tmpl.ir.expr import Var, next_unique_id
from pypto_tmpl.ir.fields import fields_of, node_fields_of

N = TypeVar("N")


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
    if isinstance(owner, AttrMap):
        found += owner.expressions()
        return found[::-1]
    for spec in node_fields_of(type(owner)):
        value = getattr(owner, spec.name)
        if spec.many:
            found += value
        elif value is not None:
            found.append(value)
    found += getattr(owner, "functions", {}).values()
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


class IRVisitor:
    """Visits a tree depth first; override ``visit_<ClassName>(node)`` and call ``visit_children``."""

    def visit(self, node: object) -> None:
        method: Callable[[Any], None] = getattr(self, f"visit_{type(node).__name__}", self.visit_children)
        method(node)

    def visit_children(self, node: object) -> None:
        for child in children(node):
            self.visit(child)


class IRMutator:
    """Rewrites a tree; override ``mutate_<ClassName>(node)`` and call ``mutate_children`` to descend.

    A node whose parts do not change is returned as it is. A rewritten Var (its type, say) is replaced at
    all its occurrences, since results are remembered per object.
    """

    def __init__(self) -> None:
        self._done: dict[int, tuple[object, object]] = {}

    def mutate(self, node: N) -> N:
        key = id(node)
        if key not in self._done:
            method = getattr(self, f"mutate_{type(node).__name__}", self.mutate_children)
            self._done[key] = (node, method(node))  # the node is kept alive: ids are not reused
        return self._done[key][1]  # type: ignore[return-value]

    def replace(self, old: Var, new: Expr) -> None:
        """From now on every occurrence of ``old`` becomes ``new``."""
        self._done[id(old)] = (old, new)

    def mutate_children(self, node: N) -> N:
        """``node`` with its parts mutated; the same object if none of them changed."""
        if isinstance(node, AttrMap):
            return node.map_expressions(self.mutate)  # type: ignore[return-value]
        changes: dict[str, object] = {}
        for spec in node_fields_of(type(node)):
            value = getattr(node, spec.name)
            if value is None:
                continue
            new = tuple(self.mutate(item) for item in value) if spec.many else self.mutate(value)
            same = all(a is b for a, b in zip(new, value, strict=True)) if spec.many else new is value
            if not same:
                changes[spec.name] = new
        functions = getattr(node, "functions", None)
        if functions is not None:
            mutated = {name: self.mutate(function) for name, function in functions.items()}
            if any(mutated[name] is not functions[name] for name in functions):
                changes["functions"] = mutated
        return copy_with(node, **changes) if changes else node


def copy_with(node: N, **changes: object) -> N:
    """A copy of a node, type or view with some fields replaced; a Var copy is a new variable."""
    twin = object.__new__(type(node))
    for spec in fields_of(type(node)):
        set_fields(twin, **{spec.name: changes.get(spec.name, getattr(node, spec.name))})
    if isinstance(node, Var):
        set_fields(twin, _unique_id=next_unique_id())
    return twin
