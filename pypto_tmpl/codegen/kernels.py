"""What a program's functions are to each other: kernels, groups of cores, lanes and their pipes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pypto_tmpl import ir
from pypto_tmpl.codegen.bounds import IntegerBounds, ProgramBounds
from pypto_tmpl.codegen.facts import BodyFacts, Launch, code_nodes
from pypto_tmpl.codegen.lane_regions import is_lane_index
from pypto_tmpl.codegen.lazy import lazy
from pypto_tmpl.codegen.regions import is_partial_push
from pypto_tmpl.codegen.static_regions import unbound_region_params
from pypto_tmpl.ops import OpEntry, load_table
from pypto_tmpl.ops import facts as op_facts
from pypto_tmpl.ops.fact_model import PipeTarget
from pypto_tmpl.ops.whole_tiles import (
    awaits_halving,
    pipe_id,
    split_code,
    takes_whole_tiles,
)

_CORES = (ir.FunctionType.AIC, ir.FunctionType.AIV)


def _is_transfer(entry: OpEntry) -> bool:
    return entry.pipe is not None and entry.pipe.end in ("push", "pop")


def _transfers_in(facts: BodyFacts) -> list[ir.Call]:
    """The pushes and pops of a body."""
    names = facts.op_names & load_table().matching(_is_transfer)
    return [call for call in facts.calls if call.op.name in names] if names else []


@dataclass(frozen=True, slots=True)
class GroupMeta:
    """How a group runs: its members, its split code, and whether a second vector lane runs and writes.

    Its value is the vector member's; ``value`` is "aic" where only the cube member returns one.
    """

    aic: str | None
    aiv: str | None
    split: int
    dual_aiv_dispatch: bool
    lane1_writes: bool
    value: str | None = None


def giver_of(aic: ir.Function | None, aiv: ir.Function | None) -> ir.Function | None:
    """The member whose value is the group's: the vector member, unless the cube member alone returns one."""
    is_cube_s = aiv is None or (aic is not None and bool(aic.return_types) and not aiv.return_types)
    return aic if is_cube_s else aiv


class KernelMap:
    """Facts about a program's functions that an emitter of one of them needs."""

    def __init__(self, functions: Iterable[ir.Function]) -> None:
        self.functions = {function.name: function for function in functions}
        self.facts = {name: BodyFacts(function.body) for name, function in self.functions.items()}
        self._reachable: dict[str, list[ir.Function]] = {}
        self._unbound_regions: dict[str, frozenset[int]] = {}
        self._bounds = ProgramBounds(self.functions, self.facts)

    def callee(self, call: Launch) -> ir.Function | None:
        """The function of this program that ``call`` names, None for an operator or an unknown name."""
        return self.functions.get(call.op.name) if isinstance(call.op, ir.GlobalVar) else None

    def bounds(self, name: str) -> IntegerBounds:
        """Ranges of the integers that a function computes."""
        return self._bounds.of(name)

    def unbound_regions(self, name: str) -> frozenset[int]:
        """Identities of the parameters of a function whose regions its types cannot state."""
        found = self._unbound_regions.get(name)
        if found is None:
            found = self._unbound_regions[name] = unbound_region_params(self.functions[name])
        return found

    def reachable(self, function: ir.Function) -> list[ir.Function]:
        """``function`` and all that it calls, also by way of others (an adapter its kernel, say)."""
        found = self._reachable.get(function.name)
        if found is None:
            names = dict.fromkeys([function.name])
            for name in (pending := [function.name]):
                for call in self.facts[name].function_calls:
                    callee = self.callee(call)
                    if callee is not None and callee.name not in names:
                        names[callee.name] = None
                        pending.append(callee.name)
            found = self._reachable[function.name] = [self.functions[name] for name in names]
        return found

    def _calls(self, function: ir.Function) -> Iterator[ir.Call]:
        return (call for part in self.reachable(function) for call in self.facts[part.name].calls)

    def _transfers(self, function: ir.Function) -> list[ir.Call]:
        """The pushes and pops of a function and of all that it calls."""
        parts = [self.facts[part.name] for part in self.reachable(function)]
        return [call for part in parts for call in _transfers_in(part)]

    # Groups

    def members(self, calls: Iterable[Launch]) -> tuple[ir.Function | None, ir.Function | None]:
        """The first AIC and the first AIV function among the callees."""
        found: dict[ir.FunctionType, ir.Function] = {}
        for call in calls:
            function = self.callee(call)
            if function is not None:
                found.setdefault(function.func_type, function)
        return found.get(ir.FunctionType.AIC), found.get(ir.FunctionType.AIV)

    def group_members(self, group: ir.Function) -> tuple[ir.Function | None, ir.Function | None]:
        """Members of a Group function: the callees of its body, by name only where it calls none."""
        aic, aiv = self.members(self.facts[group.name].function_calls)
        if aic is None and aiv is None:
            aic = self.functions.get(group.name + "_aic")
            aiv = self.functions.get(group.name + "_aiv")
        return aic, aiv

    def meta(self, attrs: ir.AttrMap, aic: ir.Function | None, aiv: ir.Function | None) -> GroupMeta:
        """How the pair runs. The transfer operators are the truth for the split, attributes the fall-back."""
        value = "aic" if aiv is not None and giver_of(aic, aiv) is aic else None
        if aiv is not None and self._takes_whole_tiles(aic, aiv):
            return GroupMeta(aic.name if aic is not None else None, aiv.name, 0, False, True, value)
        codes = self._split_codes(function for function in (aic, aiv) if function is not None)
        if codes:
            split = max(codes)
        else:
            split = int(attrs.get("split", 0)) or int(aiv.attrs.get("split", 0) if aiv is not None else 0)
        dual = aiv is not None and (self._has(aiv, "dual_aiv_dispatch") or self._has(aiv, "split_aiv"))
        return GroupMeta(
            aic.name if aic is not None else None,
            aiv.name if aiv is not None else None,
            split,
            dual and not split,
            aiv is None or self.lane1_writes(aiv),
            value,
        )

    def _has(self, aiv: ir.Function, attr: str) -> bool:
        """Whether a vector kernel, or one that it stands for, has a true attribute."""
        return any(
            part.func_type is ir.FunctionType.AIV and bool(part.attrs.get(attr))
            for part in self.reachable(aiv)
        )

    def _takes_whole_tiles(self, aic: ir.Function | None, aiv: ir.Function) -> bool:
        """True for a vector kernel that SplitVectorKernel has yet to halve: one lane runs it."""
        if self._has(aiv, "split_aiv"):
            return False
        transfers = self._transfers(aiv)
        if transfers:
            return aic is not None and takes_whole_tiles(self._transfers(aic), transfers)
        calls = list(self._calls(aiv))
        return any(
            awaits_halving(part, calls)
            for part in self.reachable(aiv)
            if part.func_type is ir.FunctionType.AIV
        )

    def _split_codes(self, members: Iterable[ir.Function]) -> set[int]:
        """Split codes of all transfers. Each has its own: one pipe may carry rows first, then columns."""
        return {split_code(call) for function in members for call in self._transfers(function)}

    def lane1_writes(self, aiv: ir.Function) -> bool:
        """False for a kernel that both lanes run whole: then lane 1 runs for its pipe traffic only."""
        is_dual, is_split = self._has(aiv, "dual_aiv_dispatch"), self._has(aiv, "split_aiv")
        calls = list(self._calls(aiv)) if is_dual and not is_split else []
        splits = bool(calls) and any(map(split_code, self._transfers(aiv)))
        knows_lane = any(map(is_lane_index, calls))
        return not is_dual or is_split or splits or knows_lane

    @lazy
    def muted_on_lane1(self) -> frozenset[str]:
        """Names of functions whose writes may not land, as they run on lane 1 of such a kernel."""
        kernels = [f for f in self.functions.values() if f.func_type is ir.FunctionType.AIV]
        return frozenset(part.name for f in kernels if not self.lane1_writes(f) for part in self.reachable(f))

    # Lanes

    def runs_on_two_lanes(self, function: ir.Function) -> bool:
        """True for an InCore function whose vector work is split, but not yet expanded into AIC and AIV.

        While it has scopes of lane code, these alone run on two lanes.
        """
        if function.func_type is not ir.FunctionType.InCore or not function.attrs.get("split_aiv"):
            return False
        return not any(isinstance(scope, ir.SplitAivScopeStmt) for scope in self.facts[function.name].scopes)

    def is_lane_symbol(self, function: ir.Function, var: ir.Var) -> bool:
        """True for a name in types of lane code that no statement binds and that means the lane's index.

        ExpandMixedKernel copies the statement that takes the index, and leaves the old variable in types.
        Both have one name, to which the text of a dump adds a number.
        """
        name, _, number = var.name_hint.rpartition("_")
        names = {var.name_hint, name} if number.isdecimal() else {var.name_hint}
        return function.name in self._lane_code and not names.isdisjoint(self._lane_index_names)

    @lazy
    def _lane_code(self) -> frozenset[str]:
        """Functions that vector lanes run, be it for others."""
        kernels = [
            f
            for f in self.functions.values()
            if f.func_type is ir.FunctionType.AIV or self.runs_on_two_lanes(f)
        ]
        return frozenset(part.name for kernel in kernels for part in self.reachable(kernel))

    @lazy
    def _lane_index_names(self) -> frozenset[str]:
        """Names that the program gives to the index of a lane, and the one that passes give it."""
        assignments = (stmt for facts in self.facts.values() for stmt in facts.assignments)
        return frozenset(
            {"subblock_idx", *(stmt.var.name_hint for stmt in assignments if is_lane_index(stmt.value))}
        )

    def is_scheduled_alone(self, function: ir.Function) -> bool:
        """True for a vector kernel that asks for both lanes and is launched without a cube kernel."""
        attrs = function.attrs
        if function.func_type is not ir.FunctionType.AIV:
            return False
        if not (attrs.get("split") or attrs.get("dual_aiv_dispatch") or attrs.get("split_aiv")):
            return False
        if self._takes_whole_tiles(None, function):
            return False
        return function.name in self._launched or function.name not in self._called

    def is_entry(self, function: ir.Function) -> bool:
        """True for a function that users call: orchestration, or of no type, that no other function calls."""
        is_host = function.func_type in (ir.FunctionType.Orchestration, ir.FunctionType.Opaque)
        return is_host and function.name not in self._called

    @lazy
    def _called(self) -> frozenset[str]:
        return frozenset(call.op.name for facts in self.facts.values() for call in facts.function_calls)

    @lazy
    def _launched(self) -> frozenset[str]:
        """Names called from orchestration, but not within a cluster, which is a group."""
        found = set()
        for name, facts in self.facts.items():
            if self.functions[name].func_type in (*_CORES, ir.FunctionType.Group):
                continue
            clusters = [scope for scope in facts.scopes if isinstance(scope, ir.ClusterScopeStmt)]
            in_clusters = {id(node) for scope in clusters for node in code_nodes(scope)}
            found |= {call.op.name for call in facts.function_calls if id(call) not in in_clusters}
        return frozenset(found)

    # Kernel code

    @lazy
    def loading_functions(self) -> frozenset[str]:
        """Functions whose body is kernel code: kernels, and inline functions that only kernels call."""
        kernels = {f.name for f in self.functions.values() if ir.is_incore_type(f.func_type)}
        inline = {f.name for f in self.functions.values() if f.func_type is ir.FunctionType.Inline}
        called, called_outside = set(), set()
        for name, facts in self.facts.items():
            launches = facts.function_calls
            scopes = [scope for scope in facts.scopes if isinstance(scope, ir.InCoreScopeStmt)]
            in_scopes = {id(node) for scope in (scopes if launches else ()) for node in code_nodes(scope)}
            for call in launches:
                called.add(call.op.name)
                if name not in kernels and id(call) not in in_scopes:
                    called_outside.add(call.op.name)
        return frozenset(kernels | ((inline & called) - called_outside))

    # Pipes

    def may_pop_partial(self, function: ir.Function, pop: ir.Call) -> bool:
        """False only if every push that can reach ``pop`` is known to push full tiles in even parts."""
        direction, pipe = op_facts.of_value(pop).pipe_to, pipe_id(pop)
        peers = self._peers.get(function.name)
        if not peers:
            return True
        return any((peer, direction, pipe) in self._partial_pipes for peer in peers)

    @lazy
    def _peers(self) -> dict[str, set[str]]:
        """The functions at the other end of each AIC or AIV function's pipes."""
        found: dict[str, set[str]] = {}
        for function in self.functions.values():
            if function.func_type is not ir.FunctionType.Group:
                continue
            aic, aiv = self.group_members(function)
            if aic is None or aiv is None:
                continue
            for cube in self.reachable(aic):
                for vector in self.reachable(aiv):
                    found.setdefault(cube.name, set()).add(vector.name)
                    found.setdefault(vector.name, set()).add(cube.name)
        return found

    @lazy
    def _partial_pipes(self) -> set[tuple[str, PipeTarget | None, int]]:
        """(pushing function, direction, pipe id) of the pipes that may carry partly valid tiles."""
        transfers = {
            name: [(call, op_facts.of_value(call)) for call in _transfers_in(facts)]
            for name, facts in self.facts.items()
        }
        found: set[tuple[str, PipeTarget | None, int]] = set()
        before = -1
        while len(found) != before:
            before = len(found)
            for name, calls in transfers.items():
                receives_partial = any(
                    (peer, known.pipe_to, pipe_id(call)) in found
                    for call, known in calls
                    if known.pipe_end == "pop"
                    for peer in self._peers.get(name, ())
                )
                for call, known in calls:
                    if known.pipe_end == "push" and (receives_partial or is_partial_push(call)):
                        found.add((name, known.pipe_to, pipe_id(call)))
        return found
