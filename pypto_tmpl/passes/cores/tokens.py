"""Tokens: tiles that cross for the sake of order alone, so that a core waits for what the other one did."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from pypto_tmpl import ir
from pypto_tmpl.ir import MemorySpace, TileLayout
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.ops.cores import CoreSide
from pypto_tmpl.passes.cores.core_accesses import Access, Meeting
from pypto_tmpl.passes.cores.kernel import OTHER, Flows, Kernel, Loop, evaluated_call
from pypto_tmpl.passes.cores.pipe_setup import is_set_up
from pypto_tmpl.passes.cores.transfers import Transfer, free, pop, push, tile_bytes

_SENT_FROM = {CoreSide.CUBE: MemorySpace.Acc, CoreSide.VECTOR: MemorySpace.Vec}
"""The memory out of which a core sends tiles."""


@dataclass(frozen=True, slots=True)
class Token:
    """A tile that is pushed behind a statement, and popped before another one of the body, or at its end."""

    consumer: CoreSide
    tile: ir.Var
    tensor: ir.Var
    behind: ir.Stmt
    before: ir.Stmt | None
    is_alone: bool  # nothing else is under way with it


def _by_side() -> dict[CoreSide, dict[int, list[ir.Stmt]]]:
    return {side: defaultdict(list) for side in OTHER}


@dataclass(slots=True)
class HandOvers:
    """The statements of tokens on either side, before and behind the statements of a kernel (ids)."""

    ahead: dict[CoreSide, dict[int, list[ir.Stmt]]] = field(default_factory=_by_side)
    behind: dict[CoreSide, dict[int, list[ir.Stmt]]] = field(default_factory=_by_side)
    slot_bytes: dict[CoreSide, list[int]] = field(default_factory=lambda: defaultdict(list))  # by consumer
    places: list[tuple[Token, ir.Stmt | None]] = field(default_factory=list)  # before what each is popped


def placed(kernel: Kernel, tokens: Iterable[Token], transfers: Iterable[Transfer]) -> HandOvers:
    """The statements of tokens. A token is popped before the next statement in which anything else crosses.

    What is pushed first is popped first; where a core may jump out of a body, nothing is under way.
    """
    number = kernel.number
    crossing: set[int] = set()
    for transfer in transfers:
        crossing.update((id(transfer.stmt), *map(id, kernel.around(transfer.stmt))))
    for stmt in kernel.statements:
        crossing.update(map(id, _left_by(kernel, stmt)))
    found = HandOvers()
    for token in sorted(tokens, key=lambda token: -number[id(token.behind)]):
        body = kernel.parent[id(token.behind)]
        assert isinstance(body, ir.SeqStmts)
        later = (stmt for stmt in body.stmts if number[id(stmt)] > number[id(token.behind)])
        place = next((stmt for stmt in later if id(stmt) in crossing or stmt is token.before), None)
        crossing.update(map(id, kernel.around(token.behind)))
        crossing.update(id(stmt) for stmt in (place, token.behind if token.is_alone else None) if stmt)
        found.places.append((token, place))
    found.places.reverse()
    for token, _ in found.places:
        found.behind[OTHER[token.consumer]][id(token.behind)].append(_pushed(kernel, token))
    for token, place in found.places:
        var = _landed(kernel, token)
        found.slot_bytes[token.consumer].append(tile_bytes(var, token.behind, kernel.function))
        span = token.behind.span if place is None else place.span
        pops: list[ir.Stmt] = [
            pop(var, token.consumer, _mode(kernel, token), span), free(var, token.consumer, span)
        ]  # fmt: skip
        if place is None or isinstance(place, ir.YieldStmt):
            found.behind[token.consumer][id(last_of(kernel.parent[id(token.behind)]))] += pops
        else:
            found.ahead[token.consumer][id(place)] += pops
    return found


def last_of(body: ir.Stmt) -> ir.Stmt:
    """The last statement of a body that does something."""
    assert isinstance(body, ir.SeqStmts)
    return next(stmt for stmt in reversed(body.stmts) if not isinstance(stmt, ir.YieldStmt))


def _left_by(kernel: Kernel, stmt: ir.Stmt) -> Iterator[ir.Stmt]:
    """A jump, and the statements that it leaves."""
    if isinstance(stmt, ir.BreakStmt | ir.ContinueStmt | ir.ReturnStmt):
        yield stmt
        for outer in kernel.around(stmt):
            if isinstance(outer, Loop) and not isinstance(stmt, ir.ReturnStmt):
                return
            yield outer


def _mode(kernel: Kernel, token: Token) -> int:
    """How lanes share what goes to the cube core: both send their parts."""
    split = kernel.function.split
    is_split = token.consumer is CoreSide.CUBE and kernel.function.attrs.get("split_aiv")
    return split.value if is_split and split is not None else 0


def _pushed(kernel: Kernel, token: Token) -> ir.Stmt:
    return push(token.tile, token.consumer, _mode(kernel, token), token.behind.span)


def _landed(kernel: Kernel, token: Token) -> ir.Var:
    """What a token is on the other side."""
    type_ = token.tile.type
    assert isinstance(type_, ir.TileType)
    shape, view, space = list(type_.shape), None, MemorySpace.Vec
    if token.consumer is CoreSide.CUBE:
        if mode := _mode(kernel, token):
            extent = constant_extent(shape[mode - 1])
            assert extent is not None
            shape[mode - 1] = ir.ConstInt(2 * extent, ir.DataType.INDEX, token.behind.span)
        view = ir.TileView(tuple(shape), blayout=TileLayout.col_major, slayout=TileLayout.row_major)
        space = MemorySpace.Mat
    landed = ir.TileType(tuple(shape), type_.dtype, None, view, space)
    return ir.Var(f"{token.tensor.name_hint}_gm_sync", landed, token.behind.span)


def _moves_tile(stmt: ir.Stmt) -> bool:
    """Whether a statement loads or stores a tile: elements go their own ways, which tiles do not order."""
    call = evaluated_call(stmt)
    values = () if call is None else (call, *call.args[:1])
    return any(isinstance(value.type, ir.TileType) for value in values)


class Fences:
    """Finds tokens that make a core wait for an access of the other one.

    None is found for elements, in regions that are written for lanes, and where a kernel sets up its pipes.
    """

    def __init__(
        self, kernel: Kernel, kept: Mapping[CoreSide, set[int]], transfers: Iterable[Transfer]
    ) -> None:
        self._kernel, self._kept = kernel, kept
        self._arriving = {id(transfer.var): transfer.consumer for transfer in transfers}
        self._flows: Flows | None = None

    def between(self, pair: Meeting, accesses: Iterable[Access]) -> Token | None:
        """A token behind the first access of two, for the second one; None where no tile can be sent.

        It is pushed as late as it may be: behind further stores into the tensor (``accesses``) on that core.
        """
        first, second, consumer, loop = pair.first, pair.second, pair.consumer, pair.loop
        kernel, producer = self._kernel, OTHER[consumer]
        attrs = kernel.function.attrs
        is_in_region = consumer is CoreSide.CUBE and attrs.get("split_aiv_region_validated")
        moves_tiles = all(map(_moves_tile, (first.stmt, second.stmt)))
        if is_in_region or not moves_tiles or is_set_up(kernel.statements):
            return None
        body = loop.body if loop is not None else self._common_body(first.stmt, second.stmt)
        if not isinstance(body, ir.SeqStmts):
            return None
        start = self._in_body(first.stmt, body)
        end = None if loop is not None else self._in_body(second.stmt, body)
        number = kernel.number
        limit = len(kernel.statements) if end is None else number[id(end)]
        others = [access for access in accesses if producer in access.sides]
        found = [(self._in_body(access.stmt, body), access) for access in others]
        late = [
            (stmt, access)
            for stmt, access in found
            if stmt is not None and start is not None and number[id(start)] < number[id(stmt)] < limit
        ]
        for stmt, access in sorted(late, key=lambda pair: -number[id(pair[1].stmt)]):
            if access.writes and first.writes and (token := self._sent(access, stmt, body, end, consumer)):
                return token
        return self._sent(first, start, body, end, consumer) if start is not None else None

    def _common_body(self, first: ir.Stmt, second: ir.Stmt) -> ir.Stmt | None:
        outer = {id(stmt) for stmt in self._kernel.around(first)}
        return next((stmt for stmt in self._kernel.around(second) if id(stmt) in outer), None)

    def _in_body(self, stmt: ir.Stmt, body: ir.Stmt) -> ir.Stmt | None:
        """The statement of a body that is, or holds, another."""
        inner = stmt
        for outer in self._kernel.around(stmt):
            if outer is body:
                return inner
            inner = outer
        return None

    def _sent(
        self, access: Access, stmt: ir.Stmt | None, body: ir.SeqStmts, end: ir.Stmt | None, consumer: CoreSide
    ) -> Token | None:
        """A token behind an access, which the statement ``stmt`` of the body is or holds."""
        if stmt is None:
            return None
        call = evaluated_call(access.stmt)
        own: list[ir.Expr] = [*call.args[:1]] if call is not None and stmt is access.stmt else []
        own += [access.stmt.var] if own and isinstance(access.stmt, ir.AssignStmt) else []
        for tile in own:
            if isinstance(tile, ir.Var) and self._can_be_sent(tile, OTHER[consumer]):
                return Token(consumer, tile, access.tensor, stmt, end, is_alone=True)
        candidates = self._known_at(stmt, body) if access.writes else self._made_of(access, stmt, body, end)
        for tile, behind in candidates:
            if self._can_be_sent(tile, OTHER[consumer]):
                return Token(consumer, tile, access.tensor, behind, end, is_alone=True)
        return None

    def _known_at(self, stmt: ir.Stmt, body: ir.SeqStmts) -> Iterator[tuple[ir.Var, ir.Stmt]]:
        """The tiles that are there behind a statement of a body: a core sends them when it has stored."""
        number = self._kernel.number
        inner: ir.Stmt = stmt
        for outer in (body, *self._kernel.around(body)):
            for one in reversed(outer.stmts if isinstance(outer, ir.SeqStmts) else ()):
                if number[id(one)] <= number[id(inner)] and isinstance(one, ir.AssignStmt):
                    yield one.var, stmt
            inner = outer

    def _made_of(
        self, access: Access, stmt: ir.Stmt, body: ir.SeqStmts, end: ir.Stmt | None
    ) -> Iterator[tuple[ir.Var, ir.Stmt]]:
        """What is made of a tile that was loaded: when a core sends it, the load is done."""
        if not isinstance(access.stmt, ir.AssignStmt):
            return
        self._flows = self._flows or Flows(self._kernel)
        made, todo = set[int](), [access.stmt.var]
        while todo:
            var = todo.pop()
            if id(var) not in made:
                made.add(id(var))
                todo += self._flows.into[id(var)]
        number = self._kernel.number
        limit = len(self._kernel.statements) if end is None else number[id(end)]
        for one in body.stmts:
            is_between = number[id(stmt)] <= number[id(one)] < limit
            if is_between and isinstance(one, ir.AssignStmt) and id(one.var) in made:
                yield one.var, one

    def _can_be_sent(self, tile: ir.Var, producer: CoreSide) -> bool:
        """Whether a core has a tile where it sends from, as a whole."""
        type_ = tile.type
        if not isinstance(type_, ir.TileType) or type_.memory_space is not _SENT_FROM[producer]:
            return False
        stmt = self._kernel.defined_by.get(id(tile))
        is_there = stmt is not None and id(stmt) in self._kept[producer]
        if self._arriving.get(id(tile), producer) is not producer or not is_there:
            return False
        valid = [constant_extent(extent) for extent in type_.get_effective_tile_view().valid_shape]
        return None not in valid and valid == [constant_extent(extent) for extent in type_.shape]
