"""Tiles whose first cells may lie before the tensor they were loaded from.

A valid region begins at the origin, so it cannot leave those cells out. A clamped load whose offset may be
below 0 says where the tensor's cells begin; what ops keep of that is followed here, for the stores. A
variable whose start depends on the path, or on variables that change, has names for it besides its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from pypto_tmpl import ir
from pypto_tmpl.codegen.bounds import IntegerBounds
from pypto_tmpl.codegen.edge_rules import (
    Starts,
    UnknownStartError,
    is_zero,
    kept_starts,
    source_position,
    zero,
)
from pypto_tmpl.codegen.facts import BodyFacts
from pypto_tmpl.ops import OpEntry, OpTable, resolve_result


class Edges:
    """The first cells of the values of one function that are their tensors'.

    Raises: UnknownStartError, where asked for a value of which they are not known.
    """

    def __init__(
        self, function: ir.Function, facts: BodyFacts, table: OpTable, bounds: IntegerBounds
    ) -> None:
        self._table, self._bounds = table, bounds
        self._known: dict[int, Starts | None] = {}
        self._held: dict[int, Starts] = {}
        self._values: Mapping[int, list[ir.Expr]] = {}
        self._params: set[int] = set()
        self._changing: set[int] = set()
        loads = table.with_trait("loads")
        clamped = []
        if not loads.isdisjoint(facts.op_names):
            clamped = [call for call in facts.calls if call.kwargs and call.kwargs.get("clamp")]
        self.has_any = any(map(self._of_load, clamped))
        if self.has_any:
            self._values, self._params = facts.values, {id(param) for param in function.params}
            self._changing = {key for key, found in self._values.items() if self._is_bound_twice(key, found)}
            self._hold_what_differs(list({id(target): target for target, _ in facts.flows}.values()))
        self.holds_any = bool(self._held)  # whether a variable has names for where its cells begin

    def starts(self, value: ir.Expr) -> Starts | None:
        """Where the cells begin that a tensor had, for each axis; None where nothing precedes them."""
        if not self.has_any:
            return None
        if isinstance(value, ir.Call):
            return self._of_call(value)
        if not isinstance(value, ir.Var):
            return None
        if id(value) in self._held:
            return self._held[id(value)]
        if id(value) not in self._known:
            self._known[id(value)] = None  # a carried value may depend on itself
            values = self._values.get(id(value), ())
            try:
                self._known[id(value)] = self.starts(values[0]) if values else None
            except UnknownStartError:
                del self._known[id(value)]
                raise
        return self._known[id(value)]

    def held(self, var: ir.Var) -> list[ir.Var]:
        """The variables that hold where the cells of a variable begin at run time, if that is not fixed."""
        return [start for start in self._held.get(id(var), ()) if isinstance(start, ir.Var)]

    def bound(self, var: ir.Var, value: ir.Expr | None) -> Iterator[tuple[ir.Var, ir.Expr]]:
        """The variables that hold the start of ``var``, and what they become when that becomes ``value``."""
        held = self._held.get(id(var), ())
        starts = self.starts(value) if held and value is not None else None
        for at, name in enumerate(held):
            if isinstance(name, ir.Var):
                yield name, starts[at] if starts is not None else zero(var.span)

    def leaving(self, facts: BodyFacts) -> Iterator[ir.Expr]:
        """The values with a start that functions or other cores are given, which would not know of it."""
        if not self.has_any:
            return
        given = [stmt.value for stmt in facts.returns]
        for launch in facts.launches:
            if isinstance(launch.op, ir.GlobalVar) or self._table.facts(launch.op.name).pipe_end == "push":
                given.append(launch.args)
        for value in (value for values in given for value in values):
            with suppress(UnknownStartError):  # which is reported where the value is made
                if self.starts(value) is not None:
                    yield value

    def is_loaded(self, value: ir.Expr) -> bool:
        """Whether a value is a load's own result, which tells at run time which cells the tensor had."""
        values = self._values.get(id(value), ()) if isinstance(value, ir.Var) else (value,)
        return all(isinstance(other, ir.Call) and self._is_load(other) for other in values)

    def _of_call(self, call: ir.Call) -> Starts | None:
        entry = self._table.get(call.op.name)
        if isinstance(call.op, ir.GlobalVar) or entry is None or not isinstance(call.type, ir.ShapedType):
            return None
        found = self._of_load(call) if call.kwargs.get("clamp") else self._kept(call, entry)
        return found if found is not None and not all(map(is_zero, found)) else None

    def _is_load(self, call: ir.Call) -> bool:
        return self._table.facts(call.op.name).has("loads")

    def _of_load(self, call: ir.Call) -> Starts | None:
        if not self._is_load(call) or not isinstance(call.type, ir.ShapedType):
            return None
        named = dict(zip(self._table[call.op.name].operand_names, call.args, strict=False))
        offsets = named.get("offsets", named.get("offset"))
        if not isinstance(offsets, ir.MakeTuple):
            return None
        starts = [
            _before(offset) if self._bounds.of(offset)[0] < 0 else zero(offset.span)
            for offset in offsets.elements
        ]
        dropped = len(starts) - len(call.type.shape)  # axes of extent 1
        return tuple(starts[dropped:]) if dropped >= 0 else None

    def _kept(self, call: ir.Call, entry: OpEntry) -> Starts | None:
        """What the op's rule for regions keeps of the operands' starts."""
        if resolve_result(entry).valid == "matmul":
            left, right = self.starts(call.args[0]), self.starts(call.args[1])
            none = zero(call.span)
            return (left[-2] if left else none, right[-1] if right else none) if left or right else None
        position = source_position(entry)
        starts = self.starts(call.args[position]) if position < len(call.args) else None
        return None if starts is None else kept_starts(call, entry, starts)

    def _is_bound_twice(self, var: int, values: list[ir.Expr]) -> bool:
        return len(values) + (var in self._params) > 1

    def _hold_what_differs(self, variables: list[ir.Var]) -> None:
        """Give names to the starts that are not one fixed expression, until no other depends on them."""
        pending = True
        while pending:
            pending = False
            for var in variables:
                if (id(var) in self._held or self._differs(var)) and self._hold(var):
                    pending = True
                    self._known.clear()

    def _differs(self, var: ir.Var) -> bool:
        """Whether it depends on the path to a use, or on when it is asked, where the cells of one begin."""
        if not isinstance(var.type, ir.ShapedType):
            return False
        found = self._found(var)
        if found is None:  # of one value that is reported where it is asked for
            return self._is_bound_twice(id(var), self._values[id(var)])
        return any(not _same(starts, found[0]) for starts in found) or any(
            id(part) in self._changing for start in found[0] or () for part in ir.walk(start)
        )

    def _found(self, var: ir.Var) -> list[Starts | None] | None:
        """The starts of all that a variable is bound to, None where one of them is unknown."""
        try:
            found = [self.starts(value) for value in self._values[id(var)]]
        except UnknownStartError:
            return None
        return [*found, None] if id(var) in self._params else found

    def _hold(self, var: ir.Var) -> bool:
        """Name the start of a variable on the axes where some of its values have one; whether any is new."""
        assert isinstance(var.type, ir.ShapedType)
        found, rank, index = self._found(var), len(var.type.shape), ir.ScalarType(ir.DataType.INDEX)
        held = list(self._held.get(id(var), [zero(var.span)] * rank))
        before = len(self.held(var))
        for axis in range(rank):
            is_moving = found is None or any(starts and not is_zero(starts[axis]) for starts in found)
            if is_moving and is_zero(held[axis]):
                held[axis] = ir.Var(f"{var.name_hint}_start{axis}", index, var.span)
        self._held[id(var)] = tuple(held)
        if id(var) in self._changing:
            self._changing.update(map(id, self.held(var)))
        return len(self.held(var)) > before


def _same(left: Starts | None, right: Starts | None) -> bool:
    if left is None or right is None:
        return left is right
    return len(left) == len(right) and all(map(ir.structural_equal, left, right))


def _before(offset: ir.Expr) -> ir.Expr:
    """How many cells of a window precede the first one of its tensor."""
    index, span = ir.DataType.INDEX, offset.span
    return ir.Max(ir.Neg(offset, index, span), zero(span), index, span)
