"""Values that bodies yield, laid where the carries and results lie that they become, instead of copies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pypto_tmpl import ir
from pypto_tmpl.backend import get_backend_type, is_backend_configured
from pypto_tmpl.ir.bodies import parts, statements, trailing_yield
from pypto_tmpl.ir.verifier.walking import Steps, run
from pypto_tmpl.passes.memory.fresh import Fresh
from pypto_tmpl.passes.memory.no_alias import operands_apart
from pypto_tmpl.passes.memory.overwriting import handed_on_by, overwritten
from pypto_tmpl.passes.memory.placed_tiles import allocations, are_apart, is_pinned, space_of
from pypto_tmpl.passes.memory.places import Places

_OF_CUBE = frozenset({ir.MemorySpace.Acc, ir.MemorySpace.Left, ir.MemorySpace.Right, ir.MemorySpace.Mat})
Plan = Mapping[int, ir.MemRef]
"""New places of tiles, by variable (id)."""


def join_yielded(function: ir.Function, places: Places, fresh: Fresh) -> None:
    """Lay what bodies yield in memories of the cube core where it is handed on to, if that keeps all values.

    With a tile go its other names: what an op leaves in it, what it is carried as, and what is handed on
    there already. Those move that fewer statements compute. Where neither can move to the others, both go to
    a buffer of their own in Acc, within which nothing copies.
    """
    links = _Links(function, places)
    if links.apart:
        joining = _Joining(function, places, fresh, links)
        for target, value in links.apart:
            joining.join(target, value)


class _Links:
    """Tiles that have to lie in one place, and those that become others which lie elsewhere."""

    def __init__(self, function: ir.Function, places: Places) -> None:
        self.apart: list[tuple[ir.Var, ir.Var]] = []
        """Carries and results, each with a tile that is yielded for it and lies elsewhere."""
        self._places = places
        self._webs: dict[int, list[ir.Var]] = {}
        run(self._visit(function.body))

    def web(self, var: ir.Var) -> list[ir.Var]:
        """The tiles that have to lie where one does."""
        return self._webs.get(id(var), [var])

    def tie(self, one: ir.Expr, other: ir.Expr) -> None:
        """Two tiles have to lie in one place."""
        if not self._is_placed(one) or not self._is_placed(other):
            return
        assert isinstance(one, ir.Var) and isinstance(other, ir.Var)
        first, second = self.web(one), self.web(other)
        if first is not second:
            joined = [*first, *second]
            self._webs |= {id(var): joined for var in joined}

    def _is_placed(self, value: ir.Expr) -> bool:
        return self._places.where(value) is not None and space_of(value) in _OF_CUBE

    def _visit(self, stmt: ir.Stmt) -> Steps:
        if isinstance(stmt, ir.AssignStmt):
            self._places.follow_operand(stmt)
            for value in handed_on_by(stmt):
                self.tie(stmt.var, value)
        elif isinstance(stmt, ir.ForStmt | ir.WhileStmt):
            self._places.follow_start(stmt)
            for carry, result in zip(stmt.iter_args, stmt.return_vars, strict=True):
                self.tie(carry, carry.initValue)
                self.tie(carry, result)
        for part in parts(stmt):
            yield self._visit(part)
        if isinstance(stmt, ir.IfStmt):
            self._places.follow_branches(stmt)
            for part in parts(stmt):
                self._hand_on(stmt.return_vars, part)
        elif isinstance(stmt, ir.ForStmt | ir.WhileStmt):
            self._hand_on(stmt.iter_args, stmt.body)

    def _hand_on(self, targets: Sequence[ir.Var], body: ir.Stmt) -> None:
        end = trailing_yield(body)
        for target, value in zip(targets, () if end is None else end.value, strict=False):
            goal, source = self._places.where(target), self._places.where(value)
            if goal is None or source is None or not isinstance(value, ir.Var):
                continue
            if not are_apart(goal, source):
                self.tie(target, value)
            elif self._is_placed(value):
                self.apart.append((target, value))


class _Joining:
    def __init__(self, function: ir.Function, places: Places, fresh: Fresh, links: _Links) -> None:
        self._function, self._places, self._fresh, self._links = function, places, fresh, links
        self._backend = get_backend_type().name if is_backend_configured() else ""
        self._made = {
            id(stmt.var): stmt for stmt in statements(function.body) if isinstance(stmt, ir.AssignStmt)
        }
        self._pinned = {base for base, (_, call) in allocations(function).items() if is_pinned(call)}
        self._lost = self._overwritten({})

    def join(self, target: ir.Var, value: ir.Var) -> None:
        """Lay a value where it is handed on to, or the other way round, if nothing is lost by it."""
        for plan in self._plans(target, value):
            lost = self._overwritten(plan)
            if lost <= self._lost and not self._meets_operand(plan):
                self._places.plan |= plan
                self._lost = lost
                self._links.tie(target, value)
                return

    def _plans(self, target: ir.Var, value: ir.Var) -> Iterator[Plan]:
        goal, source = self._places.where(target), self._places.where(value)
        assert goal is not None and source is not None
        ways = sorted([(value, goal), (target, source)], key=lambda way: self._computed(way[0]))
        found = [self._moved(var, place) for var, place in ways]
        yield from (plan for plan in found if plan is not None)
        if space_of(value) is ir.MemorySpace.Acc:
            buffer = self._fresh.buffer(target, max(goal.size_, source.size_))
            both = [self._moved(var, buffer) for var in (target, value)]
            if both[0] is not None and both[1] is not None:
                yield {**both[0], **both[1]}

    def _computed(self, var: ir.Var) -> int:
        """How many statements compute what would have to move with a tile."""
        return sum(id(one) in self._made for one in self._links.web(var))

    def _moved(self, var: ir.Var, goal: ir.MemRef) -> Plan | None:
        """A tile and its other names in another place, None where they do not fit or have to stay."""
        own, plan = self._places.where(var), dict[int, ir.MemRef]()
        for one in self._links.web(var):
            place = self._places.where(one)
            assert own is not None and place is not None
            if are_apart(own, place) or place.size_ > goal.size_ or id(place.base_) in self._pinned:
                return None
            is_whole = place.size_ == goal.size_
            plan[id(one)] = goal if is_whole else ir.MemRef(goal.base_, goal.byte_offset_, place.size_)
        return plan

    def _overwritten(self, plan: Plan) -> set[tuple[int, int]]:
        """The tiles that are written over while they are needed, with the statements that write."""
        lost = overwritten(self._function, lambda value: plan.get(id(value)) or self._places.where(value))
        return {(id(one.tile), id(one.stmt)) for one in lost}

    def _meets_operand(self, plan: Plan) -> bool:
        """Whether a result comes to lie on an operand on which its op may not write."""
        for stmt in self._made.values():
            own = plan.get(id(stmt.var)) or self._places.where(stmt.var)
            if own is None or not isinstance(stmt.value, ir.Call):
                continue
            for operand in operands_apart(stmt.value, self._backend):
                place = plan.get(id(operand)) or self._places.where(operand)
                is_new = id(stmt.var) in plan or id(operand) in plan
                if is_new and place is not None and place.base_ is own.base_:
                    return True
        return False
