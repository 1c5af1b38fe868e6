"""Regions that authors have written for lanes, taken apart: each by its own mode."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir import SplitMode
from pypto_tmpl.ir.bodies import flat, statements
from pypto_tmpl.ops import facts
from pypto_tmpl.passes.base import PassError
from pypto_tmpl.passes.cores.kernel import NOTIFY, Kernel, evaluated_call
from pypto_tmpl.passes.cores.lane import Lane, lane_index
from pypto_tmpl.passes.cores.lane_memory import LaneMemory
from pypto_tmpl.passes.cores.lane_plan import LanePlan
from pypto_tmpl.passes.cores.lane_rules import rule_of
from pypto_tmpl.passes.cores.replacing import Retyping
from pypto_tmpl.passes.cores.written_lanes import WrittenLanes
from pypto_tmpl.passes.outline.dataflow import own_reads
from pypto_tmpl.rewrite import Names, build


def with_regions_lowered(kernel: Kernel, memory: LaneMemory) -> ir.Function:
    """A kernel without its regions: what stands in them is written for one lane.

    Lanes wait for each other at the end of a region, and no longer do without it.
    """
    function = kernel.function
    names = Names.of(function)
    replacements: dict[int, list[ir.Stmt]] = {}
    types: dict[int, ir.Type] = {}
    for region in kernel.statements:
        if not isinstance(region, ir.SplitAivScopeStmt):
            if isinstance(region, ir.ScopeStmt):
                raise PassError("a scope is left in a kernel that has regions of lanes", function, region)
            continue
        if any(isinstance(outer, ir.ScopeStmt) for outer in kernel.around(region)):
            raise PassError("a region of lanes stands in another one", function, region)
        if region.split is SplitMode.NONE:
            found: dict[int, list[ir.Stmt]] = {}
        elif has_boundary(region):
            lanes = WrittenLanes(kernel, region)
            found = lanes.replacements
            types |= lanes.types
        else:
            plan = _planned(kernel, region, names, memory)
            found = plan.replacements
            types |= plan.lane_types()
        replacements |= found | _placed_calls(region, found)
    memory.check()
    attrs = function.attrs.without("split", "split_aiv")
    if "split" in function.attrs:
        attrs = attrs.with_(split=function.attrs["split"])
    attrs = attrs.with_(split_aiv=True, split_aiv_region_validated=True)
    return build(function, body=_Opening(replacements, types).rewrite(function.body), attrs=attrs)


def _placed_calls(
    region: ir.SplitAivScopeStmt, replacements: dict[int, list[ir.Stmt]]
) -> dict[int, list[ir.Stmt]]:
    """What statements become that must not run on both cores: in a region, the vector cores run them."""
    found: dict[int, list[ir.Stmt]] = {}
    for stmt in statements(region.body):
        call = evaluated_call(stmt)
        if call is None or call.op.name != NOTIFY:
            continue
        placed = build(call, attrs=call.attrs.with_(core_placement="aiv"))
        is_bound = isinstance(stmt, ir.AssignStmt)
        new = build(stmt, value=placed) if is_bound else build(stmt, expr=placed)
        found[id(stmt)] = [new if one is stmt else one for one in replacements.get(id(stmt), [stmt])]
    return found


def has_boundary(region: ir.SplitAivScopeStmt) -> bool:
    """Whether the author says where tiles cross: then the code is for half tiles already."""
    calls = map(evaluated_call, statements(region.body))
    return any(call is not None and facts.of_value(call).core == "mixed" for call in calls)


def _planned(kernel: Kernel, region: ir.SplitAivScopeStmt, names: Names, memory: LaneMemory) -> LanePlan:
    """The plan of a region whose code is for whole tiles."""
    index, defined = lane_index(names, region.span)
    plan = LanePlan(kernel, Lane(kernel.function, region.split.value - 1, index), rule_of, memory)
    plan.follow(region.body)
    inside = {id(stmt) for stmt in statements(region)}
    for stmt in kernel.statements:
        leaked = next((var for var in own_reads(stmt) if plan.axis(var) is not None), None)
        if id(stmt) not in inside and leaked is not None:
            name = leaked.name_hint
            what = f"{name!r} is read outside of the region of lanes that makes it: each has one half of it"
            raise PassError(what, kernel.function, stmt, leaked)
    first = next(flat(region.body), None)
    if first is not None:
        plan.replacements[id(first)] = [defined, *plan.replacements.get(id(first), [first])]
    return plan


class _Opening(Retyping):
    """Puts the statements of regions in their place."""

    def statement(self, stmt: ir.Stmt) -> list[ir.Stmt]:
        return list(flat(stmt.body)) if isinstance(stmt, ir.SplitAivScopeStmt) else [stmt]
