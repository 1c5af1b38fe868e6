"""What each vector lane holds of a partly valid tile, where the types state one extent for both lanes.

Before LowerAutoVectorSplit the type of an ``aiv_shard`` states ``ceil(V / 2)`` of V valid cells. Lane L
really holds ``clamp(V - L*S, 0, S)`` of them, and so does all that is computed from its part; the pass puts
that into the types. Here it is found by the ops' own region rules, for the extents that a shard has cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from pypto_tmpl import ir, ops
from pypto_tmpl.codegen.facts import BodyFacts, code_nodes
from pypto_tmpl.codegen.static_regions import static_region
from pypto_tmpl.ir.arithmetic import constant_value, simplify
from pypto_tmpl.ir.bodies import direct
from pypto_tmpl.ir.extents import as_extent, same_extent
from pypto_tmpl.ops import OpEntry, OpTable
from pypto_tmpl.ops import facts as op_facts
from pypto_tmpl.ops.typing.words import resolve_result


@dataclass(frozen=True, slots=True)
class _LaneExtent:
    """An extent that depends on the lane, as a function of the lane's index."""

    of: Callable[[ir.Expr], ir.Expr]
    lane: ir.Expr

    @property
    def here(self) -> ir.Expr:
        """The extent on the lane that runs."""
        return self.of(self.lane)


_Extents = tuple[_LaneExtent | None, ...]  # by axis; None where the type says it


@dataclass(frozen=True, slots=True)
class _Given:
    """An operand with such extents, and the call that takes it."""

    call: ir.Call
    names: Mapping[str, ir.Expr]
    type: ir.ShapedType
    extents: _Extents


class LaneRegions:
    """The values of one function whose regions differ between lanes, although their types do not say so."""

    def __init__(self, body: ir.Stmt, facts: BodyFacts, table: OpTable, runs_on_two_lanes: bool) -> None:
        self._table = table
        self._found: dict[int, _Extents] = {}
        self._shards: dict[int, tuple[ir.Expr, int, set[int]]] = {}
        shards = table.with_trait("shards")
        if not shards.isdisjoint(facts.op_names):
            self._shards = _shards(body, facts, shards, runs_on_two_lanes)
        if self._shards:
            self._spread(facts)

    def region(self, value: ir.Expr) -> tuple[ir.Expr, ...] | None:
        """The valid extents of ``value`` on the lane that runs; None for a value whose type is right."""
        found = self._extents(value) if self._shards else None
        if found is None:
            return None
        return tuple(stated if e is None else e.here for stated, e in zip(_stated(value), found, strict=True))

    def _spread(self, facts: BodyFacts) -> None:
        before = -1
        while len(self._found) != before:
            before = len(self._found)
            for target, value in facts.flows:
                extents = None if id(target) in self._found else self._extents(value)
                if extents is not None and _alike(target, value):
                    self._found[id(target)] = extents

    def _extents(self, value: ir.Expr) -> _Extents | None:
        if isinstance(value, ir.Var):
            return self._found.get(id(value))
        if not isinstance(value, ir.Call) or not isinstance(value.type, ir.ShapedType):
            return None
        if id(value) in self._shards:
            return _cut(value, *self._shards[id(value)])
        entry = self._table.get(value.op.name)
        return None if entry is None else self._by_rule(value, entry)

    def _by_rule(self, call: ir.Call, entry: OpEntry) -> _Extents | None:
        """The extents of an op's result, as its rule takes them from an operand."""
        names = dict(zip(entry.operand_names, call.args, strict=False))
        for word in (resolve_result(entry).valid or "").split(" or "):
            if word == "argument" and "valid_shape" in names:
                return None
            if word == "matmul":
                return self._product(call, names)
            source = names.get(word, call.args[0] if call.args else None)
            rule = _same if word in names else _RULES.get(word)
            if source is None or rule is None:
                continue
            extents = self._extents(source)
            if extents is None or not isinstance(source.type, ir.ShapedType):
                return None
            found = tuple(rule(_Given(call, names, source.type, extents)))
            fits = len(found) == len(_stated(call)) and any(found)
            return found if fits else None
        return None

    def _product(self, call: ir.Call, names: Mapping[str, ir.Expr]) -> _Extents | None:
        """Rows of the left factor and columns of the right one."""
        left, right = (self._extents(names[name]) if name in names else None for name in ("lhs", "rhs"))
        if left is None and right is None:
            return None
        batch = [None] * (len(_stated(call)) - 2)
        return (*batch, left[-2] if left is not None else None, right[-1] if right is not None else None)


def lane_variable(body: ir.Stmt) -> ir.Var | None:
    """The variable that a body takes the lane's index into before anything else branches."""
    for stmt in direct(body):
        if isinstance(stmt, ir.AssignStmt) and is_lane_index(stmt.value):
            return stmt.var
    return None


def is_lane_index(value: ir.Expr) -> bool:
    """True for the call of an op that gives the index of the vector lane."""
    return op_facts.of_value(value).has("lane_index")


def _shards(
    body: ir.Stmt, facts: BodyFacts, shards: frozenset[str], on_two_lanes: bool
) -> dict[int, tuple[ir.Expr, int, set[int]]]:
    """Shards by identity, each with its lane's index, the split around it, and all names of lane indices."""
    indices = {id(stmt.var) for stmt in facts.assignments if is_lane_index(stmt.value)}
    contexts = [(body, 0)] if on_two_lanes else []
    scopes = [scope for scope in facts.scopes if isinstance(scope, ir.SplitAivScopeStmt)]
    contexts += [(scope.body, scope.split.value) for scope in scopes]
    found = {}
    for part, split in contexts:
        lane: ir.Expr = lane_variable(part) or ops.call("tile.get_subblock_idx", span=part.span)
        for node in code_nodes(part):
            if isinstance(node, ir.Call) and node.op.name in shards:
                found[id(node)] = (lane, split, indices)
    return found


def _stated(value: ir.Expr) -> Sequence[ir.Expr]:
    """The valid extents that the type of a value states."""
    return _stated_by(value.type)


def _stated_by(type_: ir.Type) -> Sequence[ir.Expr]:
    return static_region(type_) or (type_.shape if isinstance(type_, ir.ShapedType) else ())


def _alike(target: ir.Var, value: ir.Expr) -> bool:
    """Whether the type of a variable states what its value's does; else it may hold other values too."""
    pairs = (_stated(target), _stated(value))
    return len(pairs[0]) == len(pairs[1]) and all(map(same_extent, *pairs))


def _cut(shard: ir.Call, lane: ir.Expr, around: int, indices: set[int]) -> _Extents | None:
    """What a shard leaves to each lane, None where the type says it right."""
    axis = int(shard.kwargs.get("split", around)) - 1
    source, stated = shard.args[0].type, _stated(shard)
    if not isinstance(source, ir.ShapedType) or not 0 <= axis < len(stated):
        return None
    if any(id(node) in indices for node in ir.walk(stated[axis])):
        return None
    box, valid = source.shape[axis], _stated_by(source)[axis]
    stride = _stride(shard, box)

    def of(index: ir.Expr) -> ir.Expr:
        start = ir.mul(index, stride)
        return ir.min_(ir.sub(ir.max_(valid, start), start), stride)

    first, second = (simplify(of(as_extent(index))) for index in (0, 1))
    if same_extent(first, stated[axis]) and same_extent(second, stated[axis]):
        return None
    if constant_value(box) is None and same_extent(box, valid):
        return None
    return tuple(_LaneExtent(of, lane) if a == axis else None for a in range(len(stated)))


def _stride(shard: ir.Call, box: ir.Expr) -> ir.Expr:
    """Cells between the starts of the lanes: half of the box, which an odd constant has rounded up."""
    stated, extent = shard.kwargs.get("lane_stride"), constant_value(box)
    if stated is not None:
        return as_extent(int(stated))
    return as_extent((extent + 1) // 2) if extent is not None else ir.floordiv(box, 2)


# Rules: from an operand's extents to those of the result


def _same(given: _Given) -> Iterable[_LaneExtent | None]:
    return given.extents


def _same_or_full(given: _Given) -> Iterable[_LaneExtent | None]:
    """As the operand's, if the result's type says that it has the operand's region at all."""
    before, after = _stated_by(given.type), _stated(given.call)
    alike = len(before) == len(after) and all(map(same_extent, before, after))
    return given.extents if alike else ()


def _without(*axes: int) -> Callable[[_Given], Iterable[_LaneExtent | None]]:
    """The extents but those of axes that the op changes."""

    def rule(given: _Given) -> Iterable[_LaneExtent | None]:
        changed = {axis % len(given.extents) for axis in axes}
        return (None if axis in changed else extent for axis, extent in enumerate(given.extents))

    return rule


def _reduced_axis(given: _Given) -> Iterable[_LaneExtent | None]:
    axis = int(given.call.kwargs.get("axis", -1)) % len(given.extents)
    kept = (None,) if given.call.kwargs.get("keep_dim", True) else ()
    return (*given.extents[:axis], *kept, *given.extents[axis + 1 :])


def _last_two_swapped(given: _Given) -> Iterable[_LaneExtent | None]:
    return (*given.extents[:-2], *reversed(given.extents[-2:]))


def _transposed(given: _Given) -> Iterable[_LaneExtent | None]:
    axes = [constant_value(given.names[name]) for name in ("axis1", "axis2") if name in given.names]
    extents = list(given.extents)
    if len(axes) == 2 and axes[0] is not None and axes[1] is not None:
        extents[axes[0]], extents[axes[1]] = extents[axes[1]], extents[axes[0]]
    return extents


def _joined(given: _Given) -> Iterable[_LaneExtent | None]:
    """Of a gather: what both lanes hold together, or lane 0 alone."""
    axis = int(given.call.kwargs.get("split", 0)) - 1
    return (
        None if extent is None else _on_both(extent, adds=index == axis)
        for index, extent in enumerate(given.extents)
    )


def _on_both(extent: _LaneExtent, *, adds: bool) -> _LaneExtent:
    first, second = extent.of(as_extent(0)), extent.of(as_extent(1))
    total = simplify(ir.add(first, second) if adds else first)
    return _LaneExtent(lambda lane: total, extent.lane)


def _reshaped(given: _Given) -> Iterable[_LaneExtent | None]:
    """Axes that keep their extent and their order; a row may so become a column."""
    found: list[_LaneExtent | None] = [None] * len(_stated(given.call))
    shape = given.call.type.shape if isinstance(given.call.type, ir.ShapedType) else ()
    free = 0
    for extent, box, stated in zip(given.extents, given.type.shape, _stated_by(given.type), strict=True):
        for axis in range(free, len(found)) if extent is not None else ():
            if same_extent(shape[axis], box) and same_extent(_stated(given.call)[axis], stated):
                found[axis], free = extent, axis + 1
                break
    return found


def _window(given: _Given) -> Iterable[_LaneExtent | None]:
    """What a window shows: as much as it asks for of what lies behind its offset."""
    starts = _elements(given, "offset", "offsets") or [
        given.names[name] for name in ("index_row", "index_col") if name in given.names
    ]
    wanted = _elements(given, "valid_shape") or _elements(given, "shape", "shapes")
    if not len(starts) == len(wanted) == len(given.extents):
        return ()
    return (
        None if extent is None else _shown(extent, start, size)
        for extent, start, size in zip(given.extents, starts, wanted, strict=True)
    )


def _shown(extent: _LaneExtent, start: ir.Expr, size: ir.Expr) -> _LaneExtent:
    def of(lane: ir.Expr) -> ir.Expr:
        return ir.min_(ir.max_(ir.sub(extent.of(lane), start), 0), size)

    return _LaneExtent(of, extent.lane)


def _elements(given: _Given, *names: str) -> Sequence[ir.Expr]:
    for name in names:
        value = given.names.get(name)
        if isinstance(value, ir.MakeTuple):
            return value.elements
    return ()


_RULES: Mapping[str, Callable[[_Given], Iterable[_LaneExtent | None]]] = MappingProxyType(
    {
        "same_or_full": _same_or_full,
        "reduce_first": _without(0),
        "reduce_last": _without(-1),
        "reduce_second_last": _without(-2),
        "double_last": _without(-1),
        "packed_mask": _without(-1),
        "scaled_last": _without(-1),
        "reduce_axis": _reduced_axis,
        "swap_last2": _last_two_swapped,
        "relaid": _last_two_swapped,
        "transpose": _transposed,
        "split_axis_doubled": _joined,
        "reshape": _reshaped,
        "window": _window,
        "write_union": _same,
    }
)
