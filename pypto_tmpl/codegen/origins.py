"""Where values come from across the functions of a program: whether they have the extents that their types
state, and whether they may hold the poison of buffers that nobody has written.

A kernel may be handed a window that ends where its tensor ends: the type of a parameter alone proves nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from pypto_tmpl import ir
from pypto_tmpl.codegen.bounds import IntegerBounds
from pypto_tmpl.codegen.facts import LAUNCHES, Launch, callers_by_name
from pypto_tmpl.codegen.kernels import KernelMap
from pypto_tmpl.codegen.lazy import lazy
from pypto_tmpl.ops import OpTable

_TENSORS = (ir.ShapedType, ir.TupleType)  # what has cells, or may hold what has
_ENTRIES = frozenset({ir.FunctionType.Opaque, ir.FunctionType.Orchestration})  # called with what they declare


class Origin(NamedTuple):
    """What is known of a value for sure."""

    is_whole: bool  # it has the extents of its type
    is_clean: bool  # it holds no poison


@dataclass(frozen=True)
class _Place:
    """A function whose values are looked at."""

    function: ir.Function
    params: dict[int, int]  # identity -> position
    in_kernel: bool


class Origins:
    """Answers for all functions of a program, worked out when asked."""

    def __init__(
        self,
        kernels: KernelMap,
        table: OpTable,
    ) -> None:
        self._kernels, self._table = kernels, table
        self._places: dict[str, _Place] = {}
        self._known: dict[tuple[str, int], Origin] = {}
        self._inside: dict[int, bool] = {}

    @lazy
    def _callers(self) -> dict[str, list[tuple[str, Launch]]]:
        return callers_by_name(self._kernels.facts)

    def _place(self, name: str) -> _Place:
        found = self._places.get(name)
        if found is None:
            function = self._kernels.functions[name]
            params = {id(param): at for at, param in enumerate(function.params)}
            found = self._places[name] = _Place(function, params, name in self._kernels.loading_functions)
        return found

    def of(self, function: str, value: ir.Expr) -> Origin:
        """What is known of a value of a function."""
        key = (function, id(value))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._worked_out(function, value)
        return found

    def is_inside(self, function: str, call: ir.Call) -> bool:
        """Whether the window that a call of a function reads lies inside of its operand in a run."""
        return self.ends_inside(function, call) and self.of(function, call.args[0]).is_whole

    def ends_inside(self, function: str, call: ir.Call) -> bool:
        """Whether that window lies inside of the extents that the type of the operand states."""
        found = self._inside.get(id(call))
        if found is None:
            bounds = self._kernels.bounds(function)
            found = self._inside[id(call)] = _is_inside(self._table, bounds, call)
        return found

    def _worked_out(self, function: str, value: ir.Expr) -> Origin:
        is_whole = is_clean = True
        seen: set[tuple[str, int]] = set()
        pending = [(function, value)]
        while pending and (is_whole or is_clean):
            name, node = pending.pop()
            if (name, id(node)) in seen or not isinstance(node.type, _TENSORS):
                continue
            seen.add((name, id(node)))
            found = self._sources(self._place(name), node)
            if isinstance(found, Origin):
                is_whole, is_clean = is_whole and found.is_whole, is_clean and found.is_clean
                continue
            pending += found
            if isinstance(node, ir.Call) and self._table.facts(node.op.name).has("window"):
                own = self._of_window(self._place(name), node)
                is_whole, is_clean = is_whole and own.is_whole, is_clean and own.is_clean
        return Origin(is_whole, is_clean)

    def _sources(self, place: _Place, node: ir.Expr) -> Origin | list[tuple[str, ir.Expr]]:
        """What a value comes from, or what is known of it by itself."""
        name = place.function.name
        if isinstance(node, ir.Var):
            known = self._kernels.facts[name].values
            values = [(name, value) for value in known.get(id(node), ())]
            if id(node) not in place.params:
                return values or Origin(False, False)
            outer = self._arguments(place, place.params[id(node)])
            return outer if isinstance(outer, Origin) else [*values, *outer]
        if isinstance(node, ir.TupleGetItemExpr):
            return [(name, node.tuple)]
        if isinstance(node, ir.MakeTuple):
            return [(name, element) for element in node.elements]
        if isinstance(node, LAUNCHES):
            return self._of_launch(name, node)
        return Origin(False, False)

    def _arguments(self, place: _Place, position: int) -> Origin | list[tuple[str, ir.Expr]]:
        callers = self._callers.get(place.function.name)
        if callers is None:
            return Origin(place.function.func_type in _ENTRIES, True)
        found: list[tuple[str, ir.Expr]] = []
        for name, launch in callers:
            if position >= len(launch.args):  # an output that the launch makes
                return Origin(False, False)
            found.append((name, launch.args[position]))
        return found

    def _of_launch(self, name: str, node: ir.Call | ir.Submit) -> Origin | list[tuple[str, ir.Expr]]:
        arguments = [(name, arg) for arg in node.args if isinstance(arg.type, ir.ShapedType)]
        if isinstance(node.op, ir.GlobalVar):
            callee = self._kernels.facts.get(node.op.name)
            makes = callee is None or not self._table.with_trait("allocates").isdisjoint(callee.op_names)
            return Origin(False, False) if makes or not arguments else arguments
        if self._table.facts(node.op.name).has("allocates"):
            return Origin(True, "init_value" in node.kwargs)
        entry = self._table.get(node.op.name)
        if entry is None or "derives" not in entry.traits:
            return Origin(False, False)
        if entry.returns is not None:
            return [(name, node.args[entry.operand_names.index(entry.returns)])]
        return arguments or Origin(True, True)

    def _of_window(self, place: _Place, call: ir.Call) -> Origin:
        """What a window adds: a view may end where its source ends, a copy is padded there."""
        is_inside = self.ends_inside(place.function.name, call)
        is_view = self._table.facts(call.op.name).has("copied_in_kernels") and not place.in_kernel
        return Origin(is_inside or not is_view, is_inside)


def _is_inside(table: OpTable, bounds: IntegerBounds, call: ir.Call) -> bool:
    operands, args = _operands_of(table, call.op.name), call.args
    shape = args[operands.shape] if 0 <= operands.shape < len(args) else None
    whole = args[0].type if args else None
    if not isinstance(shape, ir.MakeTuple) or not isinstance(whole, ir.ShapedType):
        return False
    valid = _elements(args, operands.valid)
    if valid is not shape.elements and not all(map(_same, valid, shape.elements)):
        return False
    offsets = _elements(args, operands.offsets)
    if operands.indices:
        offsets = [*offsets, *(args[at] for at in operands.indices if at < len(args))]
    return bounds.are_inside(offsets, shape.elements, whole.shape)


class _WindowOperands(NamedTuple):
    """Where the operands of an op stand that say which window it reads; -1 for one that it does not have."""

    shape: int
    valid: int
    offsets: int
    indices: tuple[int, ...]


@lru_cache(maxsize=256)
def _operands_of(table: OpTable, op: str) -> _WindowOperands:
    at = {name: position for position, name in enumerate(table[op].operand_names)}
    return _WindowOperands(
        at.get("shapes", at.get("shape", -1)),
        at.get("valid_shape", -1) if table.facts(op).copies_window else -1,  # a view shows the whole window
        at.get("offsets", at.get("offset", -1)),
        tuple(at[name] for name in ("index_row", "index_col") if name in at),
    )


def _elements(args: Sequence[ir.Expr], at: int) -> Sequence[ir.Expr]:
    value = args[at] if 0 <= at < len(args) else None
    return value.elements if isinstance(value, ir.MakeTuple) else ()


def _same(left: ir.Expr, right: ir.Expr) -> bool:
    return type(left) is ir.ConstInt and type(right) is ir.ConstInt and left.value == right.value
