"""Values that go from one core to the other through global memory: one has to wait for the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from pypto_tmpl import ir
from pypto_tmpl.ops import facts
from pypto_tmpl.ops.cores import CoreSide
from pypto_tmpl.passes.base import PassError
from pypto_tmpl.passes.cores.core_accesses import Access, Meeting, Rounds, meeting
from pypto_tmpl.passes.cores.core_order import CoreOrder
from pypto_tmpl.passes.cores.kernel import OTHER, Kernel, TensorParams, evaluated_call
from pypto_tmpl.passes.cores.tokens import Fences, HandOvers, Token, placed
from pypto_tmpl.passes.cores.transfers import Transfer
from pypto_tmpl.passes.outline.dataflow import Callees
from pypto_tmpl.passes.pipelining.memory import Alias, Memory, Place


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
    order, rounds = CoreOrder(kernel, transfers), Rounds(kernel.statements)
    tokens = [token for accesses in tensors if (token := _token(kernel, accesses, order)) is not None]
    found = placed(kernel, tokens, transfers)
    for token, place in found.places:
        order.add_token(token.consumer, token.behind, place)
    fences = Fences(kernel, kept, transfers)
    for accesses in tensors:
        for pair in _unordered(order, rounds, accesses):
            token = fences.between(pair, accesses)
            if token is None:
                raise _error(kernel, pair)
            tokens.append(token)
            order.add_token(token.consumer, token.behind, token.before)
    if len(tokens) == len(found.places):
        return found
    found, order = placed(kernel, tokens, transfers), CoreOrder(kernel, transfers)
    for token, place in found.places:
        order.add_token(token.consumer, token.behind, place)
    for accesses in tensors:
        for pair in _unordered(order, rounds, accesses):
            raise _error(kernel, pair)
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


def _token(kernel: Kernel, accesses: Sequence[Access], order: CoreOrder) -> Token | None:
    """A token for a tensor that the cube core stores once, and the vector core loads behind that."""
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
            return Token(CoreSide.VECTOR, call.args[0], store.tensor, store.stmt, place, is_alone=False)
    return None


def _unordered(order: CoreOrder, rounds: Rounds, accesses: Sequence[Access]) -> Iterator[Meeting]:
    """The accesses of a tensor that nothing orders; what is found may be ordered before more is asked for."""
    is_read = any(not access.writes for access in accesses)
    for access in accesses:
        if access.writes and len(access.sides) > 1:
            yield from _unordered_in_rounds(order, rounds, access, access, is_read)
    for first, second in meeting(accesses):
        if not first.conflicts_with(second):
            continue
        if not rounds.are_apart_at_once(first, second) and not order.are_alternatives(
            first.stmt, second.stmt
        ):
            for consumer in _waiting(first, second, is_read):
                if not order.is_ordered(first.stmt, second.stmt, consumer):
                    yield Meeting(first, second, consumer, None)
        yield from _unordered_in_rounds(order, rounds, first, second, is_read)
        yield from _unordered_in_rounds(order, rounds, second, first, is_read)


def _unordered_in_rounds(
    order: CoreOrder, rounds: Rounds, first: Access, second: Access, is_read: bool
) -> Iterator[Meeting]:
    """The same with the second one in a later round, of each of the loops around both."""
    loops = order.common_loops(first.stmt, second.stmt)
    consumers = _waiting(first, second, is_read) if loops else []
    for loop in loops if consumers else ():
        if rounds.are_apart(first, second, loop):
            continue
        for consumer in consumers:
            if not order.is_ordered_in_rounds(first.stmt, second.stmt, consumer, loop):
                yield Meeting(first, second, consumer, loop)


def _waiting(first: Access, second: Access, is_read: bool) -> list[CoreSide]:
    """The cores that have to wait before the second access for the first one of the other core.

    What both cores write they write alike: each reads its own.
    """
    is_own = not second.writes or (len(second.sides) > 1 and not is_read)
    if first.writes and len(first.sides) > 1 and is_own:
        return []
    return [side for side in OTHER if side in second.sides and OTHER[side] in first.sides]


def _error(kernel: Kernel, found: Meeting) -> PassError:
    does = "stores into" if found.second.writes else "loads"
    what = (
        f"the {found.consumer.value} core {does} {found.second.tensor.name_hint!r}, which the other core"
        f" {'stores' if found.first.writes else 'loads'},"
        " and nothing makes it wait: no tile crosses in between"
    )
    return PassError(what, kernel.function, found.second.stmt, found.second.tensor)
