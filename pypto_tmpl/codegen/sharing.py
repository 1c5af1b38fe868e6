"""Which values of a function may show cells of one buffer: one is read before the other is written."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_tmpl import ir
from pypto_tmpl.codegen.facts import LAUNCHES, BodyFacts
from pypto_tmpl.codegen.storage import WrittenTiles, shared_operands
from pypto_tmpl.ops import OpTable

_OUTSIDE = 0  # stands for the buffers of callers, which may be one


class SharedStorage:
    """The buffers of one function: names that may stand for one have the same root."""

    def __init__(
        self,
        function: ir.Function,
        facts: BodyFacts,
        table: OpTable,
        written: WrittenTiles,
        *,
        in_kernel: bool,
    ) -> None:
        self._table, self._written = table, written
        self._in_kernel = in_kernel
        self._parents: dict[int, int] = {}
        for var in function.params:
            self._join(id(var), _OUTSIDE)
        for target, value in facts.flows:
            if not (self._is_move(value) and target in written):  # which copies
                for root in self._roots(value):
                    self._join(id(target), root)

    def may_share(self, left: ir.Expr, right: ir.Expr) -> bool:
        """Whether two values, both tiles or both tensors, may have cells of one buffer."""
        found = {self._find(root) for root in self._roots(left)}
        return any(self._find(root) in found for root in self._roots(right))

    def _roots(self, value: ir.Expr) -> Iterator[int]:
        """The variables whose buffers a value may show."""
        if isinstance(value, ir.Var):
            yield id(value)
        elif isinstance(value, ir.TupleGetItemExpr):
            yield from self._roots(value.tuple)
        elif isinstance(value, ir.MakeTuple):
            for element in value.elements:
                yield from self._roots(element)
        elif isinstance(value, LAUNCHES):
            for operand in self._shown(value):
                yield from self._roots(operand)

    def _shown(self, call: ir.Call | ir.Submit) -> list[ir.Expr]:
        if isinstance(call.op, ir.GlobalVar):
            return list(call.args)
        if self._table.facts(call.op.name).shows(in_kernel=self._in_kernel):
            return list(call.args[:1])
        if isinstance(call, ir.Call) and self._is_move(call):
            return [] if self._written.copies(call, None) else list(call.args[:1])
        return shared_operands(call, self._table) if isinstance(call, ir.Call) else []

    def _is_move(self, value: ir.Expr) -> bool:
        return isinstance(value, ir.Call) and self._table.facts(value.op.name).has("moves")

    def _find(self, root: int) -> int:
        while (parent := self._parents.get(root, root)) != root:
            root = parent
        return root

    def _join(self, left: int, right: int) -> None:
        first, second = sorted((self._find(left), self._find(right)))
        self._parents[second] = first
