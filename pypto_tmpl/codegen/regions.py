"""Valid regions of values: what their IR types say, and which variables hold a region at run time.

A ``tpop`` result typed full has the region of the part that was pushed. Only the run knows it, so such a
variable gets a companion name, and so does every variable that an op with the rule ``valid: <operand>``
derives from it. A variable whose region names what has changed when it is read has one, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from pypto_tmpl import ir
from pypto_tmpl.codegen.facts import BodyFacts, code_of
from pypto_tmpl.codegen.outdated_regions import OutdatedRegions, names_of_region
from pypto_tmpl.codegen.static_regions import static_region
from pypto_tmpl.ops import OpTable, carries_region_of

_ODD_CODES = (3, 4)


def is_partial_push(push: ir.Call) -> bool:
    """True when the pushed tile, or a lane's part of it, is not known to be fully valid."""
    uneven = push.kwargs.get("split", 0) in _ODD_CODES or push.kwargs.get("lane_stride") is not None
    return uneven or static_region(push.args[0].type) is not None


@lru_cache(maxsize=8)
def _pops(table: OpTable) -> frozenset[str]:
    """The names, legacy ones too, of the ops that pop a tile from a pipe."""
    pops = [entry for entry in table.values() if entry.pipe is not None and entry.pipe.end == "pop"]
    return frozenset(name for entry in pops for name in (entry.name, *entry.aliases))


class RuntimeRegions:
    """The variables of one function whose region only the run knows."""

    def __init__(
        self,
        facts: BodyFacts,
        table: OpTable,
        outdated: OutdatedRegions,
        may_pop_partial: Callable[[ir.Call], bool],
    ) -> None:
        self._table = table
        self._may_pop_partial = may_pop_partial
        self._held: set[int] = set()
        self._outdated = outdated.read  # of these, those of the values made of them included
        if outdated.read:
            self._keep_outdated(facts.flows)
        self.lost = list(self._lost(outdated.readers))
        pops = _pops(table) & facts.op_names
        if pops and any(call.op.name in pops and self.is_runtime(call) for call in facts.calls):
            self._spread(facts.flows)
        self.holds_any = bool(self._held or self._outdated)

    def holds(self, var: ir.Var) -> bool:
        """Whether ``var`` has a companion name with its region."""
        return self.holds_any and (id(var) in self._held or id(var) in self._outdated)

    def is_outdated(self, value: ir.Expr) -> bool:
        """Whether the region of ``value`` names what may have changed since."""
        if not self._outdated:
            return False
        if isinstance(value, ir.Call) and names_of_region(value):
            source = self.carrier(value)
            return source is not None and self.is_outdated(source)
        return id(value) in self._outdated

    def is_new(self, value: ir.Expr) -> bool:
        """Whether ``value`` is made by a call whose result brings its region along, or is fully valid."""
        if not isinstance(value, ir.Call) or static_region(value.type) is not None:
            return False
        return self._is_pop(value) or not self.is_runtime(value)

    def is_runtime(self, value: ir.Expr) -> bool:
        """Whether the region of ``value`` is known at run time only."""
        if self.is_outdated(value):
            return True
        if static_region(value.type) is not None:
            return False
        if isinstance(value, ir.Var):
            return id(value) in self._held
        if not isinstance(value, ir.Call):
            return False
        if self._is_pop(value):
            return self._may_pop_partial(value)
        source = self.carrier(value)
        return source is not None and self.is_runtime(source)

    def _is_pop(self, call: ir.Call) -> bool:
        return self._table.facts(call.op.name).pipe_end == "pop"

    def carrier(self, call: ir.Call) -> ir.Expr | None:
        """The operand whose region the result of ``call`` has by its op's rule."""
        entry = self._table.get(call.op.name)
        name = carries_region_of(entry) if entry is not None else None
        if entry is None or name is None:
            return None
        position = entry.operand_names.index(name)
        return call.args[position] if position < len(call.args) else None

    def _keep_outdated(self, flows: list[tuple[ir.Var, ir.Expr]]) -> None:
        before = -1
        while len(self._outdated) != before:
            before = len(self._outdated)
            self._outdated |= {
                id(target) for target, value in flows if names_of_region(target) and self.is_outdated(value)
            }

    def _lost(self, readers: Iterable[ir.IRNode]) -> Iterator[ir.Call]:
        """The calls whose region follows from an outdated one otherwise than by being the same."""
        for reader in readers:
            for call in code_of(reader).nodes:
                if not isinstance(call, ir.Call) or self.is_outdated(call):
                    continue
                stated = {name for arg in call.args for name in code_of(arg).names}
                unstated = names_of_region(call) - stated
                if any(self.is_outdated(arg) and unstated & names_of_region(arg) for arg in call.args):
                    yield call

    def _spread(self, flows: list[tuple[ir.Var, ir.Expr]]) -> None:
        before = -1
        while len(self._held) != before:
            before = len(self._held)
            for target, value in flows:
                if id(target) not in self._held and self.is_runtime(value):
                    self._held.add(id(target))
