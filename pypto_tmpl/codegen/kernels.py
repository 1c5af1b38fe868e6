"""What a program's functions are to each other: kernels, groups of cores, lanes and their pipes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from pypto_tmpl import ir
from pypto_tmpl.codegen.regions import is_partial_push
from pypto_tmpl.errors import PyptoTmplError

_TPUSH = {"tile.tpush_to_aiv": "to_aiv", "tile.tpush_to_aic": "to_aic"}
_TPOP = {"tile.tpop_from_aic": "to_aiv", "tile.tpop_from_aiv": "to_aic"}
_TRANSFERS = {**_TPUSH, **_TPOP}


class SplitConflictError(PyptoTmplError, ValueError):
    """Operators on one pipe of a group split along different axes."""

    slug = "split-conflict"


@dataclass(frozen=True, slots=True)
class GroupMeta:
    """How a group runs: its members, its split code, and whether a second vector lane runs and writes."""

    aic: str | None
    aiv: str | None
    split: int
    dual_aiv_dispatch: bool
    lane1_writes: bool


def calls_in(root: object) -> Iterator[ir.Call]:
    """Every call below ``root``, in program order."""
    return (node for node in ir.walk(root) if isinstance(node, ir.Call))


class KernelMap:
    """Facts about a program's functions that an emitter of one of them needs."""

    def __init__(self, functions: Iterable[ir.Function]) -> None:
        self.functions = {function.name: function for function in functions}
        self._calls = {name: list(calls_in(function.body)) for name, function in self.functions.items()}

    def callee(self, call: ir.Call | ir.Submit) -> ir.Function | None:
        """The function of this program that ``call`` names, None for an operator or an unknown name."""
        return self.functions.get(call.op.name) if isinstance(call.op, ir.GlobalVar) else None

    def members(self, calls: Iterable[ir.Call]) -> tuple[ir.Function | None, ir.Function | None]:
        """The first AIC and the first AIV function among the callees."""
        found: dict[ir.FunctionType, ir.Function] = {}
        for call in calls:
            function = self.callee(call)
            if function is not None:
                found.setdefault(function.func_type, function)
        return found.get(ir.FunctionType.AIC), found.get(ir.FunctionType.AIV)

    def group_members(self, group: ir.Function) -> tuple[ir.Function | None, ir.Function | None]:
        """Members of a Group function: the callees of its body, by name only where it calls none."""
        aic, aiv = self.members(self._calls[group.name])
        if aic is None and aiv is None:
            aic = self.functions.get(group.name + "_aic")
            aiv = self.functions.get(group.name + "_aiv")
        return aic, aiv

    def meta(
        self, name: str, attrs: ir.AttrMap, aic: ir.Function | None, aiv: ir.Function | None
    ) -> GroupMeta:
        """How the pair runs. The transfer operators are the truth for the split, attributes the fall-back.

        Raises: SplitConflictError when one pipe carries splits along different axes.
        """
        members = [function for function in (aic, aiv) if function is not None]
        codes = self._split_codes(name, members)
        if codes:
            split = max(codes)
        else:
            split = int(attrs.get("split", 0)) or int(aiv.attrs.get("split", 0) if aiv is not None else 0)
        dual = aiv is not None and bool(aiv.attrs.get("dual_aiv_dispatch") or aiv.attrs.get("split_aiv"))
        return GroupMeta(
            aic.name if aic is not None else None,
            aiv.name if aiv is not None else None,
            split,
            dual and not split,
            aiv is None or self.lane1_writes(aiv),
        )

    def _split_codes(self, name: str, members: Iterable[ir.Function]) -> set[int]:
        """Split codes of all transfers, checked for one axis a pipe."""
        codes: set[int] = set()
        by_pipe: dict[tuple[str, int], int] = {}
        for function in members:
            for call in self._calls[function.name]:
                direction = _TRANSFERS.get(call.op.name)
                if direction is None:
                    continue
                code = int(call.kwargs.get("split", 0))
                codes.add(code)
                if code:
                    pipe = (direction, _pipe_id(call))
                    first = by_pipe.setdefault(pipe, code)
                    if first % 2 != code % 2:
                        raise SplitConflictError(
                            f"group {name!r} splits one pipe along two axes: code {first} and code {code}",
                            where=call.span.to_string() if call.span.is_valid() else "",
                            notes=("codes 1 and 3 split rows, codes 2 and 4 columns",),
                        )
        return codes

    def lane1_writes(self, aiv: ir.Function) -> bool:
        """False for a kernel that both lanes run whole: then lane 1 runs for its pipe traffic only."""
        calls = self._calls[aiv.name]
        is_split = any(call.op.name in _TRANSFERS and call.kwargs.get("split", 0) for call in calls)
        knows_lane = any(call.op.name == "tile.get_subblock_idx" for call in calls)
        return (
            not aiv.attrs.get("dual_aiv_dispatch")
            or is_split
            or bool(aiv.attrs.get("split_aiv"))
            or knows_lane
        )

    def runs_on_two_lanes(self, function: ir.Function) -> bool:
        """True for an InCore function whose vector work is split, but not yet expanded into AIC and AIV."""
        return function.func_type is ir.FunctionType.InCore and bool(function.attrs.get("split_aiv"))

    def needs_two_lanes(self, function: ir.Function) -> bool:
        """True for a vector kernel whose attributes ask for both vector lanes."""
        attrs = function.attrs
        wants = bool(attrs.get("split") or attrs.get("dual_aiv_dispatch") or attrs.get("split_aiv"))
        return function.func_type is ir.FunctionType.AIV and wants

    @cached_property
    def muted_on_lane1(self) -> frozenset[str]:
        """Names of AIV functions that run in a group and whose lane 1 must not write."""
        names = set()
        for function in self.functions.values():
            if function.func_type is ir.FunctionType.AIV and not self.lane1_writes(function):
                names.add(function.name)
        return frozenset(names)

    @cached_property
    def loading_functions(self) -> frozenset[str]:
        """Functions whose body is kernel code: kernels, and inline functions that only kernels call."""
        kernels = {f.name for f in self.functions.values() if ir.is_incore_type(f.func_type)}
        inline = {f.name for f in self.functions.values() if f.func_type is ir.FunctionType.Inline}
        called, called_outside = set(), set()
        for name, calls in self._calls.items():
            in_scopes = _calls_in_kernel_scopes(self.functions[name].body)
            for call in calls:
                called.add(call.op.name)
                if name not in kernels and id(call) not in in_scopes:
                    called_outside.add(call.op.name)
        return frozenset(kernels | ((inline & called) - called_outside))

    def may_pop_partial(self, function: ir.Function, pop: ir.Call) -> bool:
        """False only if every push that can reach ``pop`` is known to push full tiles in even parts."""
        direction, pipe = _TPOP[pop.op.name], _pipe_id(pop)
        peers = self._peers.get(function.name)
        if not peers:
            return True
        return any((peer, direction, pipe) in self._partial_pipes for peer in peers)

    @cached_property
    def _peers(self) -> dict[str, set[str]]:
        """The functions at the other end of each AIC or AIV function's pipes."""
        found: dict[str, set[str]] = {}
        for function in self.functions.values():
            if function.func_type is not ir.FunctionType.Group:
                continue
            aic, aiv = self.group_members(function)
            if aic is not None and aiv is not None:
                found.setdefault(aic.name, set()).add(aiv.name)
                found.setdefault(aiv.name, set()).add(aic.name)
        return found

    @cached_property
    def _partial_pipes(self) -> set[tuple[str, str, int]]:
        """(pushing function, direction, pipe id) of the pipes that may carry partly valid tiles."""
        found: set[tuple[str, str, int]] = set()
        before = -1
        while len(found) != before:
            before = len(found)
            for name, calls in self._calls.items():
                receives_partial = any(
                    (peer, _TPOP[call.op.name], _pipe_id(call)) in found
                    for call in calls
                    if call.op.name in _TPOP
                    for peer in self._peers.get(name, ())
                )
                for call in calls:
                    if call.op.name in _TPUSH and (receives_partial or is_partial_push(call)):
                        found.add((name, _TPUSH[call.op.name], _pipe_id(call)))
        return found


def _pipe_id(call: ir.Call) -> int:
    return int(call.kwargs.get("id", 0))


def _calls_in_kernel_scopes(body: ir.Stmt) -> set[int]:
    """Identities of the calls that stand in an InCore scope of an unoutlined function."""
    scopes = [node for node in ir.walk(body) if isinstance(node, ir.InCoreScopeStmt)]
    return {id(call) for scope in scopes for call in calls_in(scope)}
