"""What the names of a body stand for while it is rewritten, and the names that rebinding gives them.

The language keeps one variable a name, of one type. A name that a JIT body binds again is therefore
renamed (``x``, ``x_v1``, ``x_v2``), with one exception: where a loop or a branch writes a value that is
read outside of it, its last assignment writes the variable that the outside reads.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from pypto_tmpl.language.jit.liveness import (
    Frame,
    assigned_in,
    bound_by,
    first_event,
    has_jump,
    is_live_after,
    is_live_after_jump,
    straight_line,
)
from pypto_tmpl.language.jit.metadata import Extent, Info, TensorInfo


@dataclass(frozen=True, slots=True)
class Local:
    """A variable of the generated function.

    ``extent`` is what its value is as an extent, where that is known; ``depth`` that of the block that bound
    it, 0 for a parameter.
    """

    name: str
    info: Info = None
    extent: Extent = None
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Constant:
    """A name that is replaced by a value."""

    value: Any


Binding: TypeAlias = Local | Constant


@dataclass(slots=True)
class OpenBody:
    """The body of the function, of a loop or of a branch: ``exits`` are names that must leave it in place."""

    exits: dict[str, str] = field(default_factory=dict)
    left: Counter[str] = field(default_factory=Counter)  # assignments to come
    keeps_names: bool = False  # a jump may leave it between two assignments


class Bindings:
    """The names of one function."""

    def __init__(self, params: Iterable[str], body: Sequence[ast.stmt]) -> None:
        self._params = set(params)
        self._taken = {node.id for s in body for node in ast.walk(s) if isinstance(node, ast.Name)}
        self._taken |= self._params
        self._known: dict[str, Binding] = {}
        self._frames: list[Frame] = []
        self._open: list[OpenBody] = []
        self._anchors: dict[str, tuple[str, int]] = {}

    def find(self, name: str) -> Binding | None:
        """What a name stands for here; None for one that the function does not bind."""
        return self._known.get(name)

    def hold(self, name: str, binding: Binding) -> None:
        """Let a name stand for something without an assignment: a parameter or a loop's variable."""
        self._known[name] = binding

    def hold_parameter(self, name: str, info: Info, value: Any = None) -> None:
        """Let a name stand for a parameter, or for the value that is baked in its place."""
        if value is not None:
            self._known[name] = Constant(value)
            return
        self._known[name] = Local(name, info)
        if isinstance(info, TensorInfo):
            for axis, extent in enumerate(info.shape):
                if isinstance(extent, str):
                    self._anchors.setdefault(extent, (name, axis))

    def anchor(self, dimension: str) -> tuple[str, int] | None:
        """The first parameter that has a dynamic dimension, and on which axis."""
        return self._anchors.get(dimension)

    def assign(self, name: str, info: Info, extent: Extent) -> str:
        """The variable that the next assignment of a name writes."""
        opened, depth = self._open[-1], len(self._frames)
        opened.left[name] -= 1
        before = self._known.get(name)
        if name in opened.exits and (opened.keeps_names or opened.left[name] <= 0):
            chosen = opened.exits[name]
        elif before is None or (isinstance(before, Local) and not self._is_new(before, info, depth)):
            chosen = before.name if isinstance(before, Local) else name
        else:
            chosen = self.version(name)
        self._known[name] = Local(chosen, info, extent, depth)
        return chosen

    def is_carried(self, name: str) -> bool:
        """True if the value leaves the innermost loop or branch."""
        return name in self._open[-1].exits

    def forget_assignment(self, name: str, value: Any) -> None:
        """Let a name stand for a value instead of assigning it."""
        self._open[-1].left[name] -= 1
        self._known[name] = Constant(value)

    def _is_new(self, before: Local, info: Info, depth: int) -> bool:
        """True where an assignment makes a new variable: at one depth, or because the type changes."""
        changes_type = before.info is not None and info is not None and before.info != info
        return before.depth == depth or changes_type

    def version(self, name: str) -> str:
        """A name of the form ``x_v1`` that nothing has yet."""
        number = 1
        while f"{name}_v{number}" in self._taken:
            number += 1
        self._taken.add(f"{name}_v{number}")
        return f"{name}_v{number}"

    @contextmanager
    def function(self, body: Sequence[ast.stmt]) -> Iterator[None]:
        """Inside it the statements of the function are worked through."""
        with self._opened(OpenBody(), body, is_loop=False):
            yield

    @contextmanager
    def block(
        self, statements: Sequence[ast.stmt], is_loop: bool = False, condition: ast.expr | None = None
    ) -> Iterator[None]:
        """Inside it the statements of a block are worked through."""
        self._frames.append(Frame(statements, is_loop, condition))
        try:
            yield
        finally:
            self._frames.pop()

    def at(self, position: int) -> None:
        """Note which statement of the innermost block is worked on."""
        self._frames[-1].position = position

    def carried(self, blocks: Sequence[Sequence[ast.stmt]], is_loop: bool) -> list[str]:
        """Names whose values a loop hands from round to round, or that are read after the loop or branch."""
        found = []
        for name in assigned_in([statement for block in blocks for statement in block]):
            is_handed_on = is_loop and any(first_event(block, name) == "read" for block in blocks)
            leaves_by_jump = not is_loop and any(has_jump(block) for block in blocks)
            if (
                is_handed_on
                or is_live_after(self._frames, name)
                or (leaves_by_jump and is_live_after_jump(self._frames, name))
            ):
                found.append(name)
        return found

    @contextmanager
    def branch(
        self,
        body: Sequence[ast.stmt],
        names: Sequence[str],
        is_loop: bool,
        condition: ast.expr | None = None,
    ) -> Iterator[None]:
        """Inside it the body of a loop or branch is worked through; ``names`` are those it carries."""
        exits = {name: self._exit(name) for name in names}
        opened = OpenBody(exits, keeps_names=has_jump(body))
        with self._opened(opened, body, is_loop, condition):
            yield

    @contextmanager
    def _opened(
        self,
        opened: OpenBody,
        body: Sequence[ast.stmt],
        is_loop: bool,
        condition: ast.expr | None = None,
    ) -> Iterator[None]:
        opened.left = Counter(name for s in straight_line(body) for name in bound_by(s))
        self._open.append(opened)
        try:
            with self.block(body, is_loop, condition):
                yield
        finally:
            self._open.pop()

    def _exit(self, name: str) -> str:
        found = self._known.get(name)
        return found.name if isinstance(found, Local) else name

    def constants(self, names: Iterable[str]) -> list[tuple[str, Any]]:
        """The names among ``names`` that stand for values, with these; they have become variables now."""
        found = []
        for name in names:
            binding = self._known.get(name)
            if isinstance(binding, Constant) and isinstance(binding.value, (bool, int, float)):
                chosen = self.version(name) if name in self._params else name
                self._known[name] = Local(chosen, None, None, len(self._frames))
                found.append((chosen, binding.value))
        return found

    def snapshot(self) -> dict[str, Binding]:
        """The names as they stand, for ``restore``."""
        return dict(self._known)

    def restore(self, known: dict[str, Binding]) -> dict[str, Binding]:
        """Go back to ``known``; return how the names stood."""
        left, self._known = self._known, dict(known)
        return left

    def join(self, branches: Sequence[dict[str, Binding]], names: Iterable[str]) -> None:
        """After a loop or branch: ``names``, which it carries, are in their places; others are as before.

        What only a branch bound stays visible.
        """
        for name in names:
            found = [b for branch in branches if isinstance(b := branch.get(name), Local)]
            if found:
                self._known[name] = replace(found[0], name=self._exit(name), extent=None)
        for branch in branches:
            for name, binding in branch.items():
                self._known.setdefault(name, binding)

    def forget_extents(self, names: Iterable[str]) -> None:
        """The values of these names are not known inside a loop, whose rounds change them."""
        for name in names:
            found = self._known.get(name)
            if isinstance(found, Local):
                self._known[name] = replace(found, extent=None)
