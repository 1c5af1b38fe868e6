"""Values that go from one core to the other through global memory: the reader has to wait for the writer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from pypto_tmpl import ir
from pypto_tmpl.ir import MemorySpace
from pypto_tmpl.ops import facts
from pypto_tmpl.ops.cores import CoreSide
from pypto_tmpl.passes.base import PassError
from pypto_tmpl.passes.cores.kernel import OTHER, Kernel, Loop, TensorParams, evaluated_call
from pypto_tmpl.passes.cores.transfers import Transfer, free, pop, push, tile_bytes
from pypto_tmpl.passes.outline.dataflow import stored_into


@dataclass(slots=True)
class HandOvers:
    """Tokens that the cube core sends when it has stored what the vector core loads."""

    pushed: dict[int, list[ir.Stmt]] = field(default_factory=lambda: defaultdict(list))  # after a statement
    popped: dict[int, list[ir.Stmt]] = field(default_factory=lambda: defaultdict(list))  # before a statement
    slot_bytes: list[int] = field(default_factory=list)

    def add(self, store: ir.Stmt, reader: ir.Stmt, tile: ir.Var, param: ir.Var) -> None:
        """A token behind a store of ``tile``, for what follows before ``reader``."""
        assert isinstance(tile.type, ir.TileType)
        token = ir.Var(
            f"{param.name_hint}_gm_sync",
            ir.TileType(tile.type.shape, tile.type.dtype, None, None, MemorySpace.Vec),
            store.span,
        )
        self.pushed[id(store)].append(push(tile, CoreSide.VECTOR, 0, store.span))
        self.popped[id(reader)] += [
            pop(token, CoreSide.VECTOR, 0, store.span),
            free(token, CoreSide.VECTOR, store.span),
        ]
        self.slot_bytes.append(tile_bytes(tile, store))


def hand_overs(kernel: Kernel, params: TensorParams, transfers: Iterable[Transfer]) -> HandOvers:
    """The tokens that a mixed kernel needs.

    Raises PassError where a core loads what the other one stores and neither a token nor a tile that crosses
    in between makes it wait.
    """
    stores: dict[tuple[ir.Var, CoreSide], list[ir.Stmt]] = defaultdict(list)
    loads: dict[tuple[ir.Var, CoreSide], list[ir.Stmt]] = defaultdict(list)
    for stmt in kernel.statements:
        call = evaluated_call(stmt)
        if call is None:
            continue
        written = params.of(stored_into(call) or call)
        if written is not None:
            stores[written, kernel.side(stmt)].append(stmt)
        elif facts.of_value(call).has("loads") and (read := params.of(call.args[0])) is not None:
            loads[read, kernel.side(stmt)].append(stmt)
    order = _Order(kernel, list(transfers))
    found = HandOvers()
    for (param, side), written_by in stores.items():
        readers = loads.get((param, OTHER[side]), []) if side in OTHER else []
        if side is CoreSide.CUBE and len(written_by) == 1:
            store = written_by[0]
            call = evaluated_call(store)
            behind = [reader for reader in readers if order.sibling_behind(store, reader) is not None]
            first = order.sibling_behind(store, behind[0]) if behind else None
            if first is not None and call is not None and isinstance(call.args[0], ir.Var):
                found.add(store, first, call.args[0], param)
                readers = [reader for reader in readers if all(reader is not other for other in behind)]
        for store in written_by:
            for reader in readers:
                order.check(store, reader, param)
    return found


class _Order:
    """What runs before what on two cores that wait for each other where tiles cross."""

    def __init__(self, kernel: Kernel, transfers: list[Transfer]) -> None:
        self._kernel, self._transfers = kernel, transfers

    def sibling_behind(self, store: ir.Stmt, reader: ir.Stmt) -> ir.Stmt | None:
        """The statement behind a store, in the same body, that is or holds the reader."""
        body = self._kernel.parent.get(id(store))
        if not isinstance(body, ir.SeqStmts):
            return None
        inner = reader
        for outer in self._kernel.around(reader):
            if outer is body:
                return inner if self._kernel.number[id(inner)] > self._kernel.number[id(store)] else None
            inner = outer
        return None

    def check(self, store: ir.Stmt, reader: ir.Stmt, param: ir.Var) -> None:
        """Raise PassError unless a tile crosses between a store and the load of it by the other core."""
        number = self._kernel.number
        start, end = number[id(store)], number[id(reader)]
        outer = {id(stmt) for stmt in self._kernel.around(store)}
        loops = [s for s in self._kernel.around(reader) if id(s) in outer and isinstance(s, Loop)]
        if end < start and not loops:
            return
        bodies = outer | {id(stmt) for stmt in self._kernel.around(reader)}
        consumer = OTHER[self._kernel.side(store)]
        for transfer in self._transfers:
            body = self._kernel.parent[id(transfer.stmt)]
            place = number[id(transfer.stmt)]
            is_sure = id(body) in bodies and not isinstance(body, ir.IfStmt)
            if start < end:
                is_between = start < place < end
            else:
                is_between = place > start or place < end
                is_sure = is_sure and any(s is loops[0] for s in self._kernel.around(transfer.stmt))
            if is_sure and is_between and transfer.consumer is consumer:
                return
        raise PassError(
            f"the {consumer.value} core loads {param.name_hint!r}, which the other core stores, and nothing"
            " makes it wait: no tile crosses in between",
            self._kernel.function,
            reader,
        )
