"""Values that go from one core to the other through global memory: one has to wait for the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pypto_tmpl import ir
from pypto_tmpl.ir import MemorySpace
from pypto_tmpl.ops import facts
from pypto_tmpl.ops.cores import CoreSide
from pypto_tmpl.passes.base import PassError
from pypto_tmpl.passes.cores.core_accesses import Access, Rounds, meeting
from pypto_tmpl.passes.cores.core_order import CoreOrder
from pypto_tmpl.passes.cores.kernel import OTHER, Kernel, TensorParams, evaluated_call
from pypto_tmpl.passes.cores.transfers import Transfer, free, pop, push, tile_bytes
from pypto_tmpl.passes.outline.dataflow import Callees
from pypto_tmpl.passes.pipelining.memory import Alias, Memory, Place


@dataclass(slots=True)
class HandOvers:
    """Tokens that the cube core of a kernel sends when it has stored what the vector core loads."""

    function: ir.Function
    pushed: dict[int, list[ir.Stmt]] = field(default_factory=lambda: defaultdict(list))  # after a statement
    popped: dict[int, list[ir.Stmt]] = field(default_factory=lambda: defaultdict(list))  # before a statement
    slot_bytes: list[int] = field(default_factory=list)

    def add(self, store: ir.Stmt, reader: ir.Stmt, tile: ir.Var, tensor: ir.Var) -> None:
        """A token behind a store of ``tile``, for what follows before ``reader``."""
        assert isinstance(tile.type, ir.TileType)
        token = ir.Var(
            f"{tensor.name_hint}_gm_sync",
            ir.TileType(tile.type.shape, tile.type.dtype, None, None, MemorySpace.Vec),
            store.span,
        )
        self.pushed[id(store)].append(push(tile, CoreSide.VECTOR, 0, store.span))
        self.popped[id(reader)] += [
            pop(token, CoreSide.VECTOR, 0, store.span),
            free(token, CoreSide.VECTOR, store.span),
        ]
        self.slot_bytes.append(tile_bytes(tile, store, self.function))


def hand_overs(
    kernel: Kernel,
    kept: Mapping[CoreSide, set[int]],
    transfers: Sequence[Transfer],
    params: TensorParams,
    aliases: Sequence[Alias],
) -> HandOvers:
    """The tokens that a mixed kernel needs, given the statements (ids) that each core has.

    Parameters that callers may give cells in common are one tensor.

    Raises PassError where both cores use a tensor that one of them writes, in an order that shows, and
    neither a token nor a tile that crosses in between makes the later one wait.
    """
    tensors = _accesses(kernel, kept, params, Memory(kernel.function, Callees(), aliases))
    order = CoreOrder(kernel, transfers)
    found = _tokens(kernel, tensors, transfers, order)
    rounds = Rounds(kernel.statements)
    for accesses in tensors:
        _Check(kernel, order, rounds, accesses).run()
    return found


def _accesses(
    kernel: Kernel, kept: Mapping[CoreSide, set[int]], params: TensorParams, memory: Memory
) -> list[list[Access]]:
    """The accesses of each tensor that both cores use and one writes, in the order of the text."""
    found: dict[int, list[Access]] = defaultdict(list)
    for stmt in kernel.statements:
        sides = frozenset(side for side in OTHER if id(stmt) in kept[side])
        call = evaluated_call(stmt)
        if call is None or not sides or not _touches_cells(call):
            continue
        for touch in memory.touches(stmt):
            if touch.in_tensor:
                adds = touch.writes and bool(call.kwargs.get("atomic"))
                var = _variable(call, touch.storage, memory)
                tensor = params.of(var) or var
                place = touch.place or _element(call, var, memory)
                found[touch.storage].append(Access(stmt, tensor, sides, touch.writes, adds, place))
    return [
        accesses
        for accesses in found.values()
        if any(access.writes for access in accesses)
        and len(frozenset().union(*(access.sides for access in accesses))) > 1
    ]


def _variable(call: ir.Call, storage: int, memory: Memory) -> ir.Var:
    """The operand that is a version of a tensor."""
    return next(arg for arg in call.args if isinstance(arg, ir.Var) and memory.storage(arg) == storage)


def _element(call: ir.Call, tensor: ir.Var, memory: Memory) -> Place | None:
    """The cell of a tensor that a call reads as a number, or writes one to."""
    known = facts.of_value(call)
    indices = call.args[1] if len(call.args) > 1 else None
    value = call if known.has("reads_element") else call.args[-1]
    if not known.has("loads_itself") or not isinstance(value.type, ir.ScalarType):
        return None
    if not isinstance(indices, ir.MakeTuple):
        return None
    offsets = tuple(map(memory.followed, indices.elements))
    return Place(memory.origin(tensor), offsets, (1,) * len(offsets))


def _touches_cells(call: ir.Call) -> bool:
    """Whether a call reads or writes cells of its tensors, not only their extents or their place."""
    known = facts.of_value(call)
    return not known.has("counts") and not known.shows(in_kernel=True)


def _tokens(
    kernel: Kernel, tensors: Iterable[Sequence[Access]], transfers: Iterable[Transfer], order: CoreOrder
) -> HandOvers:
    """A token for each tensor that the cube core stores once, and the vector core loads behind that.

    What is pushed first is popped first. So a token is popped before the next statement in which anything
    else crosses, though it be read later.
    """
    number = kernel.number
    crossing: set[int] = set()  # statements in which something crosses

    def note(stmt: ir.Stmt) -> None:
        crossing.update((id(stmt), *map(id, kernel.around(stmt))))

    for transfer in transfers:
        note(transfer.stmt)
    wanted = [token for accesses in tensors if (token := _token(kernel, accesses, order)) is not None]
    placed = []
    for access, tile, reader in sorted(wanted, key=lambda token: -number[id(token[0].stmt)]):
        body = kernel.parent[id(access.stmt)]
        assert isinstance(body, ir.SeqStmts)
        behind = (
            stmt for stmt in body.stmts if number[id(access.stmt)] < number[id(stmt)] <= number[id(reader)]
        )
        place = next(stmt for stmt in behind if id(stmt) in crossing or stmt is reader)
        note(place)
        placed.append((access, tile, place))
    found = HandOvers(kernel.function)
    for access, tile, place in reversed(placed):
        found.add(access.stmt, place, tile, access.tensor)
        order.add_token(access.stmt, place)
    return found


def _token(
    kernel: Kernel, accesses: Sequence[Access], order: CoreOrder
) -> tuple[Access, ir.Var, ir.Stmt] | None:
    """The store behind which a token is pushed, what it stores, and before which statement it is needed."""
    stores = [access for access in accesses if access.writes and CoreSide.CUBE in access.sides]
    if len(stores) != 1:
        return None
    store = stores[0]
    call = evaluated_call(store.stmt)
    if call is None or not facts.of_value(call).has("lays") or not isinstance(call.args[0], ir.Var):
        return None
    for reader in accesses:
        if reader.writes or CoreSide.VECTOR not in reader.sides:
            continue
        place = kernel.sibling_behind(store.stmt, reader.stmt)
        if place is not None and not order.is_ordered(store.stmt, reader.stmt, CoreSide.VECTOR):
            return store, call.args[0], place
    return None


class _Check:
    """That each core waits for the other one where the order of two accesses of one tensor shows."""

    def __init__(self, kernel: Kernel, order: CoreOrder, rounds: Rounds, accesses: Sequence[Access]) -> None:
        self._kernel, self._order, self._rounds, self._accesses = kernel, order, rounds, accesses
        self._is_read = any(not access.writes for access in accesses)

    def run(self) -> None:
        """Raise PassError where it does not."""
        for access in self._accesses:
            if access.writes and len(access.sides) > 1:
                self._check_rounds(access, access)
        for first, second in meeting(self._accesses):
            if not first.conflicts_with(second):
                continue
            if not first.is_apart_from(second):
                self._check(first, second)
            self._check_rounds(first, second)
            self._check_rounds(second, first)

    def _check(self, first: Access, second: Access) -> None:
        if self._order.are_alternatives(first.stmt, second.stmt):
            return
        for consumer in self._waiting(first, second):
            if not self._order.is_ordered(first.stmt, second.stmt, consumer):
                raise self._error(first, second, consumer)

    def _check_rounds(self, first: Access, second: Access) -> None:
        """Let the second one be that of a later round, of each of the loops around both."""
        loops = self._order.common_loops(first.stmt, second.stmt)
        consumers = self._waiting(first, second) if loops else []
        for loop in loops if consumers else ():
            if self._rounds.are_apart(first, second, loop):
                continue
            for consumer in consumers:
                if not self._order.is_ordered_in_rounds(first.stmt, second.stmt, consumer, loop):
                    raise self._error(first, second, consumer)

    def _waiting(self, first: Access, second: Access) -> list[CoreSide]:
        """The cores that have to wait before the second access for the first one of the other core.

        What both cores write they write alike: each reads its own.
        """
        is_own = not second.writes or (len(second.sides) > 1 and not self._is_read)
        if first.writes and len(first.sides) > 1 and is_own:
            return []
        return [side for side in OTHER if side in second.sides and OTHER[side] in first.sides]

    def _error(self, first: Access, second: Access, consumer: CoreSide) -> PassError:
        does = "stores into" if second.writes else "loads"
        what = (
            f"the {consumer.value} core {does} {second.tensor.name_hint!r}, which the other core"
            f" {'stores' if first.writes else 'loads'},"
            " and nothing makes it wait: no tile crosses in between"
        )
        return PassError(what, self._kernel.function, second.stmt, second.tensor)
