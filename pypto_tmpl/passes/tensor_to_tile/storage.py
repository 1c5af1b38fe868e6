"""Tiles that share storage where the tensors did not: what is written into one must not show in the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import parts
from pypto_tmpl.ops import facts
from pypto_tmpl.passes.base import PassError
from pypto_tmpl.passes.outline.dataflow import own_reads
from pypto_tmpl.passes.tensor_to_tile.demand import flows
from pypto_tmpl.passes.tensor_to_tile.lowering import is_cast

_SLICE = "tensor.slice"


@dataclass(slots=True)
class Sharing:
    """Tiles that were copies as tensors: others, windows of others, and what is written over an operand."""

    windows: list[ir.Var] = field(default_factory=list)
    overwriting: list[ir.Var] = field(default_factory=list)

    def note(self, before: ir.Call, tile: ir.Var, value: ir.Expr) -> None:
        """Note a conversion of which the tile op shares storage, and the op on tensors does not."""
        known = facts.of_value(value)
        if not isinstance(tile.type, ir.TileType):
            return
        is_window = before.op.name == _SLICE and known.view_of is not None
        if is_window or (isinstance(value, ir.Var) and is_cast(before)):
            self.windows.append(tile)
        elif known.returned is not None and facts.of(before.op).returned is None:
            self.overwriting.append(tile)


def refuse_shared_writes(function: ir.Function, sharing: Sharing) -> None:
    """PassError where a value would change because another tile of the same storage is written."""
    if not sharing.windows and not sharing.overwriting:
        return
    storage = Storage(function, ir.TileType)
    for result in filter(storage.has_many_uses, sharing.overwriting):
        place = storage.place_of(result)
        operand = next(iter(storage.written(place)), None)
        if operand is not None:
            names = (storage.sharing(operand) - storage.derived(result)) | {id(operand)}
            storage.refuse_reads(names, place)
    for window in filter(storage.has_many_uses, sharing.windows):
        of_window = storage.derived(window)
        family = storage.sharing(window)
        for target, place in storage.writes_into(family):
            if place > storage.place_of(window):
                storage.refuse_reads(family - of_window if target in of_window else of_window, place)


def refuse_changed_views(function: ir.Function, storage: Storage) -> None:
    """PassError where a kernel, still on tensors, writes what a view of a parameter shows, or into the view.

    As a tile the view is one of a copy.
    """
    params = set(map(id, function.params))
    for place, found in enumerate(storage.places):
        var = found.stmt.var if isinstance(found.stmt, ir.AssignStmt) else None
        if var is None or not _is_view(_value(found.stmt)) or not storage.sharing(var) & params:
            continue
        of_view = storage.derived(var)
        for target, written in storage.writes_into(storage.sharing(var)):
            if target in of_view:
                what = f"writes into {var.name_hint!r}, which is a view of a parameter"
                raise PassError(what, function, storage.places[written].stmt, var)
            if written > place:
                storage.refuse_reads(of_view, written)


def _is_view(value: ir.Expr | None) -> bool:
    known = facts.of_value(value)
    return not known.written and (known.returned is not None or known.shows(in_kernel=True))


@dataclass(frozen=True, slots=True)
class _Place:
    """A statement, the loops around it, outermost first, and the sides of branches that it is on."""

    stmt: ir.Stmt
    loops: tuple[ir.Stmt, ...]
    sides: tuple[tuple[int, int], ...]


class Storage:
    """The tiles, or tensors, of a kernel by storage, and where they are read and written.

    Parameters are distinct but for the pairs that are given.
    """

    def __init__(
        self, function: ir.Function, kind: type[ir.Type], shared: Iterable[tuple[ir.Var, ir.Var]] = ()
    ) -> None:
        self._function = function
        self._kind = kind
        self.places = list(_places(function.body))
        self._place: dict[int, int] = {}
        self._families: dict[int, set[int]] = {}
        self._used_once: dict[int, bool] = {}
        self._reads: dict[int, list[tuple[int, ir.Var]]] = {}
        self._writes: dict[int, list[int]] = {}
        self._loops: dict[int, tuple[ir.Stmt, ...]] = {}
        self._next: dict[int, set[int]] = {}
        self._beside: dict[int, set[int]] = {}
        for number, place in enumerate(self.places):
            for var in own_reads(place.stmt):
                self._reads.setdefault(id(var), []).append((number, var))
            for target in self.written(number):
                self._writes.setdefault(id(target), []).append(number)
            for var in _defined(place.stmt):
                self._place[id(var)] = number
                self._loops[id(var)] = place.loops
            for arg in getattr(place.stmt, "iter_args", ()):
                self._loops[id(arg)] = (*place.loops, place.stmt)
            for var, source in _shared(place.stmt, kind):
                self._next.setdefault(id(source), set()).add(id(var))
                self._join(var, source)
        for one, other in shared:
            self._join(one, other)

    def _join(self, one: ir.Expr, other: ir.Expr) -> None:
        self._beside.setdefault(id(one), set()).add(id(other))
        self._beside.setdefault(id(other), set()).add(id(one))

    def place_of(self, var: ir.Var) -> int:
        """Where a variable is defined."""
        return self._place[id(var)]

    def sharing(self, var: ir.Var) -> set[int]:
        """The variables (ids) that may share storage with one, itself too."""
        if id(var) not in self._families:
            found = closure(id(var), self._beside)
            self._families |= dict.fromkeys(found, found)
        return self._families[id(var)]

    def has_many_uses(self, var: ir.Var) -> bool:
        """Whether one of those that may share storage with a variable is used twice, or again in a loop.

        If not, each of them is the last one when it is used.
        """
        family = self.sharing(var)
        key = id(family)
        if key not in self._used_once:
            self._used_once[key] = all(self._is_used_once(name) for name in family)
        return not self._used_once[key]

    def _is_used_once(self, name: int) -> bool:
        reads = self._reads.get(name, [])
        around = self._loops.get(name, ())
        return not reads or (len(reads) == 1 and self.places[reads[0][0]].loops == around)

    def derived(self, var: ir.Var) -> set[int]:
        """The variables (ids) that a variable, or a part of it, becomes."""
        return closure(id(var), self._next)

    def writes_into(self, names: set[int]) -> Iterator[tuple[int, int]]:
        """The variables (ids) of some that are written in place, and where."""
        return ((name, place) for name in names for place in self._writes.get(name, ()))

    def written(self, place: int) -> Iterator[ir.Var]:
        """The variables that a statement writes in place."""
        value = _value(self.places[place].stmt)
        for number in facts.of_value(value).written:
            assert isinstance(value, ir.Call)
            target = value.args[number]
            if isinstance(target, ir.Var) and isinstance(target.type, self._kind):
                yield target

    def refuse_reads(self, names: set[int], written: int) -> None:
        """PassError if one of the variables is read after a statement, or in a later round of its loop."""
        at = self.places[written]
        for number, var in (read for name in names for read in self._reads.get(name, ())):
            place, around = self.places[number], self._loops.get(id(var), ())
            again = any(loop in place.loops and loop not in around for loop in at.loops)
            if (number > written or again) and not _are_exclusive(at, place):
                what = f"{var.name_hint!r} would change: its storage is written before it is read"
                raise PassError(what, self._function, at.stmt, var)


def _are_exclusive(one: _Place, other: _Place) -> bool:
    sides = dict(one.sides)
    return any(sides.get(branch, side) != side for branch, side in other.sides)


def closure(start: int, edges: dict[int, set[int]]) -> set[int]:
    """What can be reached along edges, with the start."""
    found, todo = {start}, [start]
    while todo:
        new = edges.get(todo.pop(), set()) - found
        found |= new
        todo += new
    return found


def _shared(stmt: ir.Stmt, kind: type[ir.Type]) -> Iterator[tuple[ir.Var, ir.Expr]]:
    """The variables that a statement defines, each with one of the same storage."""
    pairs = list(flows(stmt))
    value = _value(stmt)
    if isinstance(stmt, ir.AssignStmt) and isinstance(value, ir.Call):
        known = facts.of_value(value)
        shown = known.view_of if known.shows(in_kernel=True) else None
        pairs += [(stmt.var, value.args[n]) for n in (known.returned, shown) if n is not None]
    return ((var, source) for var, source in pairs if isinstance(var.type, kind))


def _value(stmt: ir.Stmt) -> ir.Expr | None:
    if isinstance(stmt, ir.AssignStmt):
        return stmt.value
    return stmt.expr if isinstance(stmt, ir.EvalStmt) else None


def _defined(stmt: ir.Stmt) -> Iterable[ir.Var]:
    return (stmt.var,) if isinstance(stmt, ir.AssignStmt) else getattr(stmt, "return_vars", ())


def _places(body: ir.Stmt) -> Iterator[_Place]:
    todo = [_Place(body, (), ())]
    while todo:
        place = todo.pop()
        yield place
        loops, inside = place.loops, list[_Place]()
        if isinstance(place.stmt, ir.ForStmt | ir.WhileStmt):
            loops = (*loops, place.stmt)
        for side, part in enumerate(parts(place.stmt)):
            is_branch = isinstance(place.stmt, ir.IfStmt)
            sides = (*place.sides, (id(place.stmt), side)) if is_branch else place.sides
            inside.append(_Place(part, loops, sides))
        todo += reversed(inside)
