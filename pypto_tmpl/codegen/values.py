"""What is known of the values of one function: their regions, their storage, and where they come from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeGuard

from pypto_tmpl import ir
from pypto_tmpl.codegen.bounds import IntegerBounds
from pypto_tmpl.codegen.context import Context
from pypto_tmpl.codegen.edges import Edges
from pypto_tmpl.codegen.lane_regions import LaneRegions
from pypto_tmpl.codegen.lazy import lazy
from pypto_tmpl.codegen.lifetimes import Views
from pypto_tmpl.codegen.outdated_regions import OutdatedRegions
from pypto_tmpl.codegen.packed import splits_bytes
from pypto_tmpl.codegen.poison import fresh_variables
from pypto_tmpl.codegen.quiet import Quiet
from pypto_tmpl.codegen.regions import RuntimeRegions
from pypto_tmpl.codegen.sharing import SharedStorage
from pypto_tmpl.codegen.static_regions import static_region
from pypto_tmpl.codegen.storage import ChangingTiles, WrittenTiles, written_operand
from pypto_tmpl.ops import OpEntry


def _is_noop(entry: OpEntry) -> bool:
    return entry.is_noop


class Values:
    """Answers of the analyses of one function; what few functions need is worked out when asked."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._table = context.table
        function, facts, kernels = context.function, context.facts, context.script.kernels
        self.runtime_regions = RuntimeRegions(
            facts,
            self._table,
            OutdatedRegions(function, facts),
            lambda pop: kernels.may_pop_partial(function, pop),
        )
        self.lane_regions = LaneRegions(
            function.body, facts, self._table, kernels.runs_on_two_lanes(function)
        )

    @lazy
    def _fresh(self) -> set[int]:
        return fresh_variables(self._context.facts, self._table)

    @lazy
    def _written(self) -> WrittenTiles:
        return WrittenTiles(self._context.facts, self._table)

    @lazy
    def _changing(self) -> ChangingTiles:
        return ChangingTiles(self._context.function, self._context.facts, self._table)

    @lazy
    def bounds(self) -> IntegerBounds:
        """Ranges of the integers that the function computes."""
        return self._context.script.kernels.bounds(self._context.function.name)

    @lazy
    def edges(self) -> Edges:
        """The values that begin before the tensors they were loaded from."""
        return Edges(self._context.function, self._context.facts, self._table, self.bounds)

    @lazy
    def _storage(self) -> SharedStorage:
        in_kernel = self._context.function.name in self._context.script.kernels.loading_functions
        table = self._table
        return SharedStorage(
            self._context.function, self._context.facts, table, self._written, in_kernel=in_kernel
        )

    @lazy
    def _views(self) -> Views:
        return Views(self._context.facts, self._table, self._written)

    @lazy
    def quiet(self) -> Quiet | None:
        """What needs no statement; None in a traced script, which records it."""
        if self._context.script.trace is not None:
            return None
        return Quiet(self._context.facts, self._table, self.runtime_regions, self.edges)

    @lazy
    def popped_from(self) -> dict[int, int]:
        """The pipes other than 0 that variables of the function hold a tile of."""
        found: dict[int, int] = {}
        before = -1
        while len(found) != before:
            before = len(found)
            for target, value in self._context.facts.flows:
                pipe = found.get(id(value))
                if isinstance(value, ir.Call) and self._table.facts(value.op.name).pipe_end == "pop":
                    pipe = value.kwargs.get("id")
                if pipe:
                    found.setdefault(id(target), int(pipe))
        return found

    def is_noop(self, node: ir.Expr) -> TypeGuard[ir.Call]:
        """True for a call of an op that has no effect in a script."""
        return (
            isinstance(node, ir.Call) and node.op.name in self.noops and not isinstance(node.op, ir.GlobalVar)
        )

    @lazy
    def noops(self) -> frozenset[str]:
        """The ops of the function that have no effect in a script."""
        return self._context.facts.op_names & self._table.matching(_is_noop)

    def is_window(self, node: ir.Expr) -> bool:
        """True for an orchestration slice: a view that ends where its source ends."""
        if self._context.in_kernel or not isinstance(node, ir.Call):
            return False
        known = self._table.facts(node.op.name)
        return known.has("window") and known.has("copied_in_kernels")

    def is_written(self, call: ir.Call) -> bool:
        """True when the first operand of ``call`` or its target may be written in place."""
        known = self._table.facts(call.op.name)
        if known.has("moves"):
            return self._written.copies(call, self._context.current_variable)
        variables = [
            *call.args[:1],
            *([] if self._context.current_variable is None else [self._context.current_variable]),
        ]
        if known.is_transfer:
            return any(map(self._changing.may_change, variables))
        return any(map(self._written.__contains__, variables))

    def is_plain_window(self, call: ir.Call) -> bool:
        """Whether the window that ``call`` reads lies inside of its operand, also when the script runs."""
        known = self._table.facts(call.op.name)
        if not known.has("window"):
            return False
        if not self._context.script.origins.ends_inside(self._context.function.name, call):
            return False
        origin = self._context.script.origins.of(self._context.function.name, call.args[0])
        return origin.is_whole and (origin.is_clean or not known.has("checks_poison"))

    def may_be_view(self, call: ir.Call) -> bool:
        """Whether what ``call`` copies may be shown instead: nothing is written before it is used.

        A traced script copies: what it records of memory tells when cells were read.
        """
        if self._context.script.trace is not None:
            return False
        known = self._table.facts(call.op.name)
        if not known.copies_window or not self._views.may_be_view(call):
            return False
        return not known.has("checks_poison") or self.is_clean(call)

    def is_clean(self, call: ir.Call) -> bool:
        """Whether all cells of what ``call`` reads have been written, also when the script runs."""
        return self._context.script.origins.of(self._context.function.name, call.args[0]).is_clean

    def misfits(self) -> Iterable[tuple[ir.Var, str]]:
        """Variables that cannot lie where they are to, and why."""
        return ()

    def copied_views(self) -> Iterable[tuple[ir.Var, ir.Call]]:
        """Views of bytes that are written, if elements of four bits make them copies."""
        views = {id(call): call for call in self._context.facts.calls if self._is_split_view(call)}
        for var, value in self._context.facts.flows if views else ():
            if id(value) in views and self._changing.may_change(var):
                yield var, views[id(value)]

    def _is_split_view(self, call: ir.Call) -> bool:
        facts = None if isinstance(call.op, ir.GlobalVar) else self._table.facts(call.op.name)
        return facts is not None and facts.view_of is not None and splits_bytes(call)

    def may_share(self, left: ir.Expr, right: ir.Expr) -> bool:
        """Whether two values may show cells of one buffer."""
        if isinstance(left.type, ir.TileType) != isinstance(right.type, ir.TileType):
            return False  # loads copy
        return self._storage.may_share(left, right)

    def is_fresh(self, value: ir.Expr) -> bool:
        return id(value) in self._fresh

    def is_partial(self, value: ir.Expr) -> bool:
        is_named = isinstance(value, ir.Var)
        return is_named and (self.known_extents(value) is not None or self.runtime_regions.is_runtime(value))

    def known_extents(self, node: ir.Expr) -> tuple[ir.Expr, ...] | None:
        """Valid extents of a value as far as types tell, which before lowering tell lanes not apart."""
        if self.runtime_regions.is_outdated(node):
            return None
        return self.lane_regions.region(node) or static_region(node.type)

    def global_target(self, node: ir.Call) -> ir.Expr | None:
        """The tensor in global memory that an op writes."""
        entry = self._table.get(node.op.name)
        target = written_operand(entry, node) if entry is not None else None
        return target if target is not None and isinstance(target.type, ir.TensorType) else None
