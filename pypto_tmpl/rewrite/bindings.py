"""What variables read as at the place where a rewriter is, and what of that holds behind branches."""

from __future__ import annotations

from bisect import bisect
from dataclasses import dataclass, field
from typing import NamedTuple

from pypto_tmpl import ir


class _Open:
    """The meaning of a variable that depends on the branch that ran."""


class _Binding(NamedTuple):
    var: ir.Var
    value: ir.Expr | _Open
    since: int


@dataclass(slots=True)
class _Hidden:
    """The bindings of a then-branch while its else-branch is rewritten: those made between two times."""

    start: int
    end: int
    ends: dict[int, _Binding | None]  # of variables from before the if, what they read as behind the branch
    again: list[_Binding] = field(default_factory=list)  # of variables that the other branch binds too


class Mark(NamedTuple):
    """Where a body begins: how many definitions and bindings there were, and the time."""

    replaced: int
    bound: int
    time: int


_ADVICE = "a rewriter that makes versions of variables takes a program in SSA form"


class Bindings:
    """The bindings of one rewriter; times tell in which branch or loop each was made.

    Definitions may bind a variable to one and the same as often as they like. Where one gives another
    than the one before, branches and loops around it take notice. A variable that is bound outside of what is
    rewritten is known from its first definition inside.
    """

    def __init__(self) -> None:
        self._now: dict[int, _Binding] = {}
        self._kept: dict[int, _Binding] = {}  # variables that were bound, to themselves
        self._replaced: list[_Binding] = []
        self._hidden: list[_Hidden] = []
        self._time = self._count = 0

    def value(self, var: ir.Var) -> ir.Expr | None:
        """What ``var`` reads as, None for itself. Raises ValueError where branches have left that open."""
        found = self._visible(var)
        if found is None:
            return None
        if isinstance(found.value, _Open):
            raise ValueError(
                f"{var.name_hint!r} reads as one variable behind one branch of an if and as another behind"
                f" the other: {_ADVICE}, or rewrites the if by itself (Rewriter.rewriting)"
            )
        return found.value

    def before_definition(self, var: ir.Var) -> ir.Expr | None:
        """What a variable that is about to be bound reads as, None for itself or where that is open."""
        found = self._visible(var)
        return None if found is None or isinstance(found.value, _Open) else found.value

    def is_bound_to(self, var: ir.Var, value: ir.Expr | None) -> bool:
        """Whether ``var`` reads as that now."""
        return _meaning(self._visible(var), var) is (var if value is None else value)

    def bind(self, var: ir.Var, value: ir.Expr | None) -> None:
        """From here on ``var`` reads as ``value``, as itself for None."""
        if value is None:
            self._count += 1
            self._now.pop(id(var), None)
        else:
            self._set(var, value)

    def _set(self, var: ir.Var, value: ir.Expr | _Open) -> None:
        self._count += 1
        self._time += 1
        self._now[id(var)] = _Binding(var, value, self._time)

    def note_definition(self, var: ir.Var, value: ir.Expr) -> None:
        """Say that a definition is about to bind ``var``."""
        if isinstance(var, ir.IterArg):  # it belongs to its loop, and nothing else reads it
            return
        found = self._now.get(id(var)) or self._kept.get(id(var))
        if found is None:
            if value is var:
                self._kept[id(var)] = _Binding(var, var, self._time)
        elif branch := self._hiding(found):
            branch.again.append(found)
            self._set(var, value)
        elif found.value is not value:
            self._replaced.append(found)

    def enter(self) -> Mark:
        """The mark of a body that begins."""
        self._time += 1
        return Mark(len(self._replaced), self._count, self._time)

    def has_bound_since(self, mark: Mark) -> bool:
        """Whether anything was bound in the body."""
        return self._count > mark.bound

    def other_branch(self, mark: Mark) -> None:
        """Have all variables read as before the mark of a then-branch."""
        replaced = self._replaced_since(mark)
        ends = {key: self._now.get(key) for key in replaced}
        self._time += 1
        self._hidden.append(_Hidden(mark.time, self._time, ends))
        self._now.update(replaced)

    def join(self, mark: Mark) -> None:
        """Leave open what reads differently behind the two branches."""
        branch = self._hidden.pop()
        replaced = self._replaced_since(mark)
        pairs = [(old, branch.ends.get(key, old)) for key, old in replaced.items()]
        pairs += [(old, old) for old in branch.again]
        for old, end in pairs:
            here = self._now.get(id(old.var))
            if _meaning(end, old.var) is not _meaning(here, old.var):
                self._set(old.var, _Open())

    def refuse_versions(self, mark: Mark) -> None:
        """Raise ValueError for a variable from before a loop that the loop's body binds to another one."""
        for key, old in self._replaced_since(mark).items():
            if _meaning(self._now.get(key), old.var) is not old.value:
                raise ValueError(
                    f"{old.var.name_hint!r} is bound before a loop and, to another variable, in it:"
                    f" {_ADVICE}, or rewrites the loop by itself (Rewriter.rewriting)"
                )

    def _replaced_since(self, mark: Mark) -> dict[int, _Binding]:
        """The bindings from before a mark that definitions after it replaced."""
        found: dict[int, _Binding] = {}
        for old in self._replaced[mark.replaced :]:
            if old.since < mark.time:
                found.setdefault(id(old.var), old)
        self._replaced[mark.replaced :] = found.values()
        return found

    def _visible(self, var: ir.Var) -> _Binding | None:
        found = self._now.get(id(var))
        return None if found is None or self._hiding(found) else found

    def _hiding(self, binding: _Binding) -> _Hidden | None:
        """The branch that a binding was made in, if its other branch is being rewritten."""
        at = bisect(self._hidden, binding.since, key=lambda branch: branch.start) - 1
        return self._hidden[at] if at >= 0 and binding.since < self._hidden[at].end else None


def _meaning(binding: _Binding | None, var: ir.Var) -> object:
    return var if binding is None else binding.value
