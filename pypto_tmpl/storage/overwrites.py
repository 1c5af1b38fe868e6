"""Reads of tiles whose bytes hold something else by then, found without running a function.

What is followed is which values the bytes surely hold. An op puts its result where the type of the result
says; a second name, a carry or the result of a branch is there only if its value is: nothing moves it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import flat, trailing_yield
from pypto_tmpl.ir.printer.names import assign_names
from pypto_tmpl.ir.verifier.walking import all_definitions
from pypto_tmpl.ops import OpTable
from pypto_tmpl.storage.destinations import as_assignments
from pypto_tmpl.storage.places import FunctionPlaces, Place, has_addresses, pool_of
from pypto_tmpl.storage.views import is_alike, shown_place


@dataclass(frozen=True, slots=True)
class OverwriteFacts:
    """An overwrite as plain data; a line that is not known is 0, ``by`` empty where nobody wrote."""

    function: str
    tile: str
    line: int
    memory: str
    first: int
    last: int
    by: str
    by_line: int
    is_left: bool
    text: str


@dataclass(frozen=True, slots=True)
class Overwrite:
    """A tile that is read where its value is not: ``statement`` reads ``tile`` from the bytes of ``place``.

    By then ``by``, where ``written`` tells, has taken these bytes; or, if it ``is_left``, that is a value
    which should be there, and lies elsewhere. Bytes that are ``given_back`` were those of a slot of a pipe,
    which whoever pushes may write.
    """

    function: str
    tile: ir.Var
    statement: ir.Stmt
    place: Place
    first: int
    last: int
    by: ir.Var | None = None
    written: ir.Stmt | None = None
    is_left: bool = False
    given_back: ir.Stmt | None = None
    where: Place | None = None  # the place of what was left elsewhere
    is_planned: bool = True  # offsets are addresses
    names: Mapping[int, str] = field(default_factory=dict, compare=False, repr=False)  # in the text, by id

    @property
    def memory(self) -> str:
        """Where the bytes are: a memory, or an allocation where no addresses are planned."""
        return _memory(self.place, self.is_planned)

    def text(self) -> str:
        """One line: which tile, read where, and who wrote the bytes, or what nobody copied to them."""
        where, line = f"at {self.bytes}", _line(self.statement)
        read = f"{self._name(self.tile)} is read{line and f' on {line}'}"
        if self.given_back is not None:
            given = _line(self.given_back)
            return f"{self.function}: {read} {where}, in a slot that is given back{given and f' on {given}'}"
        if self.by is None:
            return f"{self.function}: {read} {where}, where nothing has put it"
        by, line = self._name(self.by), _line(self.written)
        if not self.is_left:
            return f"{self.function}: written by {line}{line and ' '}{by} {where} while {read}"
        missing = f"to which nothing copies {by}{line and f' on {line}'}"
        return f"{self.function}: {read} {where}, {missing}{self._lies()}"

    @property
    def bytes(self) -> str:
        """The memory, and in it the first and the last byte that do not hold the tile."""
        return f"{self.memory} {self.first:#x}-{self.last:#x}"

    def facts(self) -> OverwriteFacts:
        """The same without the program."""
        return OverwriteFacts(
            self.function,
            self._named(self.tile),
            _number(self.statement),
            self.memory,
            self.first,
            self.last,
            "" if self.by is None else self._named(self.by),
            _number(self.written),
            self.is_left,
            self.text().removeprefix(f"{self.function}: "),
        )

    def _lies(self) -> str:
        """Where what was left elsewhere lies, as far as that is known."""
        if self.where is None or self.where.address is None:
            return ""
        other = "" if self.where.layout == self.place.layout else f" {self.where.layout}"
        return f", which lies at {_memory(self.where, self.is_planned)} {self.where.address:#x}{other}"

    def _name(self, var: ir.Var) -> str:
        return f"`{self._named(var)}`"

    def _named(self, var: ir.Var) -> str:
        return self.names.get(id(var), var.name_hint)


def _memory(place: Place, is_planned: bool) -> str:
    return place.space.name if is_planned else place.base.name_hint


def _line(stmt: ir.Stmt | None) -> str:
    number = _number(stmt)
    return f"line {number}" if number else ""


def _number(stmt: ir.Stmt | None) -> int:
    return 0 if stmt is None or not stmt.span.is_valid() else stmt.span.begin_line


def overwrites(
    program: ir.Program | ir.Function, table: OpTable, *, copies_yields: bool = False, placed: bool = False
) -> list[Overwrite]:
    """What the functions of a program read from bytes that hold something else, in the order of the text.

    In one that ``copies_yields``, loops and branches copy what they yield to where it is to lie. One that is
    ``placed`` has addresses though all may be 0.
    """
    program = as_assignments(program, table)
    functions = list(program.functions.values()) if isinstance(program, ir.Program) else [program]
    is_planned = placed or has_addresses(functions)
    walks = (_Walk(function, table, is_planned, copies_yields) for function in functions)
    return [found for walk in walks for found in walk.found()]


@dataclass(frozen=True, slots=True)
class _Cell:
    """What some bytes hold: the values that are surely there, and who may have written them last."""

    held: frozenset[int] = frozenset()
    writers: frozenset[int] = frozenset()

    def met(self, other: _Cell) -> _Cell:
        """What is known where two paths meet."""
        return _Cell(self.held & other.held, self.writers | other.writers)


_State = tuple[_Cell, ...]


@dataclass(frozen=True, slots=True)
class _Cause:
    """Why a variable is not where it is read: what lies elsewhere, or has overwritten it."""

    by: ir.Var
    statement: ir.Stmt
    is_left: bool


class _Walk:
    """Follows one function; the bytes of its places are cut into cells at the ends of all of them."""

    def __init__(self, function: ir.Function, table: OpTable, is_planned: bool, copies_yields: bool) -> None:
        self._function, self._table = function, table
        self._places = FunctionPlaces(function, table)
        self._is_planned, self._copies_yields = is_planned, copies_yields
        self._cells = _Cells(self._places, is_planned)
        self._state: _State = (_Cell(),) * self._cells.count
        self._roots: dict[int, int] = {}
        self._writing: dict[int, tuple[ir.Var, ir.Stmt]] = {}
        self._causes: dict[int, _Cause] = {}
        self._seen: dict[int, tuple[Place | None, int]] = {}  # by view: where its elements lie, and of what
        self._given_back: dict[int, ir.Stmt] = {}  # where the slot of a popped tile is, by tile
        self._found: dict[tuple[int, int], Overwrite] = {}
        self._reports = True
        variables = {id(var): var for var, _ in all_definitions(function)}
        self._names = assign_names(list(variables.values()), ("pl", "pld", "self"))

    def found(self) -> list[Overwrite]:
        """Each tile that is read wrongly, once for each statement that reads it."""
        if self._cells.count:
            self._body(self._function.body)
        return list(self._found.values())

    # Statements

    def _body(self, body: ir.Stmt) -> None:
        for stmt in flat(body):
            match stmt:
                case ir.AssignStmt():
                    self._assign(stmt)
                case ir.EvalStmt():
                    self._evaluate(stmt.expr, stmt)
                case ir.ForStmt() | ir.WhileStmt():
                    self._loop(stmt)
                case ir.IfStmt():
                    self._branch(stmt)
                case ir.ScopeStmt():
                    self._body(stmt.body)
                case ir.ReturnStmt():
                    for value in stmt.value:
                        self._reads(value, stmt)

    def _evaluate(self, value: ir.Expr, stmt: ir.Stmt) -> None:
        if isinstance(value, ir.Call) and self._places.rings.of(value) is not None:
            self._given_back |= {self._root(tile): stmt for tile in value.args}
            return
        self._clobber(value, stmt)
        self._reads(value, stmt)

    def _clobber(self, value: ir.Expr, stmt: ir.Stmt) -> None:
        """An op may write its workspaces before it has read what else it reads."""
        for tile in self._places.workspaces(value):
            self._put(tile, stmt)

    def _assign(self, stmt: ir.AssignStmt) -> None:
        var, value = stmt.var, stmt.value
        place = self._places.of(var)
        if isinstance(value, ir.Var) and place is not None:
            self._take([(var, value)], stmt)
            return
        if self._places.is_view(var, value):
            assert isinstance(value, ir.Call)
            self._view(stmt, value, place)
            return
        self._clobber(value, stmt)
        self._reads(value, stmt)
        if place is None:
            return
        facts = self._table.facts(value.op.name) if isinstance(value, ir.Call) else None
        changed = self._changed(value)
        old = None if changed is None else self._places.of(changed)
        if changed is not None and old is not None and old.is_same(place):
            self._take([(var, changed)], stmt)
        elif facts is not None and facts.has("allocates"):
            self._put(var, stmt, keeps=True)
        else:
            self._put(var, stmt)

    def _view(self, stmt: ir.AssignStmt, value: ir.Call, place: Place | None) -> None:
        """A view stands for its tile where that lies there, or else for nothing that lies anywhere."""
        var, source = stmt.var, value.args[self._table.facts(value.op.name).view_of or 0]
        seen, root = self._seen.get(id(source), (self._places.of(source), self._root(source)))
        shown = None if place is None or seen is None else shown_place(value, place, seen, self._table)
        self._seen[id(var)] = (shown, root)
        if place is None or seen is None or shown is not None and is_alike(shown, place):
            self._roots[id(var)] = root
            return
        self._forget([id(var)])
        self._roots[id(var)] = id(var)
        assert isinstance(source, ir.Var)
        self._causes[id(var)] = _Cause(source, stmt, is_left=True)

    def _changed(self, value: ir.Expr) -> ir.Expr | None:
        """The operand that an op changes in place, of which it keeps what it does not write."""
        if not isinstance(value, ir.Call):
            return None
        facts = self._table.facts(value.op.name)
        return None if facts.returned is None or facts.has("accumulates") else value.args[facts.returned]

    def _loop(self, stmt: ir.ForStmt | ir.WhileStmt) -> None:
        self._take([(carry, carry.initValue) for carry in stmt.iter_args], stmt)
        last = trailing_yield(stmt.body)
        pairs = list(zip(stmt.iter_args, () if last is None else last.value, strict=False))
        reports, self._reports = self._reports, False
        while True:
            start = self._state
            self._body(stmt.body)
            self._take(pairs, last or stmt)
            self._state = _met(start, self._state)
            if self._state == start:
                break
        self._reports = reports
        if reports:
            self._body(stmt.body)
            self._take(pairs, last or stmt)
            self._state = _met(start, self._state)
        self._take(list(zip(stmt.return_vars, stmt.iter_args, strict=False)), stmt)

    def _branch(self, stmt: ir.IfStmt) -> None:
        start, ends = self._state, []
        causes: dict[int, _Cause] = {}
        for body in (stmt.then_body, stmt.else_body):
            self._state = start
            if body is not None:
                self._body(body)
                last = trailing_yield(body)
                if last is not None:
                    self._take(list(zip(stmt.return_vars, last.value, strict=False)), last)
            ends.append(self._state)
            causes |= self._causes
        self._state, self._causes = _met(*ends), causes

    # What they do to the bytes

    def _reads(self, value: ir.Expr, stmt: ir.Stmt) -> None:
        """Note what a value reads from bytes that do not hold it."""
        for tile in self._tiles_in(value):
            wrong = self._wrong_cells(tile, self._places.of(tile)) if self._reports else ()
            if wrong:
                self._note(tile, stmt, wrong)
            elif self._reports and self._root(tile) in self._given_back:
                self._note_given_back(tile, stmt)

    def _tiles_in(self, value: ir.Expr) -> Iterator[ir.Var]:
        if isinstance(value, ir.Var):
            yield value
        elif isinstance(value, ir.Call):
            entry = self._table.get(value.op.name)
            scratch = [operand.scratch for operand in entry.operands] if entry is not None else []
            for at, arg in enumerate(value.args):
                if at >= len(scratch) or not scratch[at]:
                    yield from self._tiles_in(arg)
        elif isinstance(value, ir.MakeTuple):
            for element in value.elements:
                yield from self._tiles_in(element)

    def _wrong_cells(self, value: ir.Expr, place: Place | None) -> Sequence[int]:
        """The cells of the valid part of a place that do not surely hold a value."""
        cells = () if place is None else self._cells.valid(place)
        root = self._root(value)
        return [cell for cell in cells if root not in self._state[cell].held]

    def _note(self, tile: ir.Var, stmt: ir.Stmt, wrong: Sequence[int]) -> None:
        place, cause = self._places.of(tile), self._causes.get(self._root(tile))
        assert place is not None
        first, last = self._cells.ends(wrong)
        found = Overwrite(
            self._function.name,
            tile,
            stmt,
            place,
            first,
            last,
            is_planned=self._is_planned,
            names=self._names,
        )
        if cause is None:
            cause = self._overwriting(tile, wrong)
        if cause is not None:
            where = self._places.of(cause.by) if cause.is_left else None
            found = replace(found, by=cause.by, written=cause.statement, is_left=cause.is_left, where=where)
        self._found.setdefault((id(tile), id(stmt)), found)

    def _note_given_back(self, tile: ir.Var, stmt: ir.Stmt) -> None:
        place, given_back = self._places.of(tile), self._given_back[self._root(tile)]
        if place is not None:
            first, end = place.reach
            found = Overwrite(
                self._function.name,
                tile,
                stmt,
                place,
                first,
                end - 1,
                given_back=given_back,
                is_planned=self._is_planned,
                names=self._names,
            )
            self._found.setdefault((id(tile), id(stmt)), found)

    def _overwriting(self, tile: ir.Expr, wrong: Sequence[int]) -> _Cause | None:
        """The last that has written over bytes of a tile."""
        root = self._root(tile)
        writers = {writer for cell in wrong for writer in self._state[cell].writers} - {root}
        if not writers:
            return None
        var, stmt = self._writing[max(writers, key=list(self._writing).index)]
        return _Cause(var, stmt, is_left=False)

    def _put(self, var: ir.Var, stmt: ir.Stmt, *, keeps: bool = False) -> None:
        """A new value is put where a variable lies; one that ``keeps`` what is there is nobody's yet."""
        key, place = id(var), self._places.of(var)
        assert place is not None
        self._forget([key])
        self._given_back.pop(key, None)
        self._roots[key] = key
        self._writing.pop(key, None)
        self._writing[key] = (var, stmt)
        cells = list(self._state)
        for cell in self._cells.of(place):
            cells[cell] = (
                replace(cells[cell], held=cells[cell].held | {key})
                if keeps
                else _Cell(frozenset({key}), frozenset({key}))
            )
        for cell in self._cells.perhaps(place):
            cells[cell] = replace(cells[cell], held=frozenset(), writers=cells[cell].writers | {key})
        self._state = tuple(cells)

    def _take(self, pairs: Iterable[tuple[ir.Var, ir.Expr]], stmt: ir.Stmt) -> None:
        """Variables stand for values, all at once, where these lie there; else nothing is where they are."""
        taken: list[tuple[ir.Var, Place, bool, _Cause | None]] = []
        made: list[ir.Var] = []
        for target, value in pairs:
            place, source = self._places.of(target), self._places.of(value)
            if place is None:
                self._reads(value, stmt)
            elif source is None or self._copies_yields and not place.is_same(source):
                self._reads(value, stmt)
                made.append(target)
            elif place.address is None and source.address is None:
                self._roots[id(target)] = self._root(value)
            else:
                wrong = self._wrong_cells(value, place) if place.is_same(source) else self._cells.of(place)
                cause = self._cause_of(value, place, source, stmt, wrong) if wrong else None
                taken.append((target, place, not wrong, cause))
        self._forget([id(target) for target, *_ in taken])
        for target, place, is_there, cause in taken:
            key = id(target)
            self._roots[key] = key
            if is_there:
                cells = list(self._state)
                for cell in self._cells.of(place):
                    cells[cell] = replace(cells[cell], held=cells[cell].held | {key})
                self._state = tuple(cells)
            elif cause is not None:
                self._causes[key] = cause
        for target in made:
            self._put(target, stmt)

    def _cause_of(
        self, value: ir.Expr, place: Place, source: Place, stmt: ir.Stmt, wrong: Sequence[int]
    ) -> _Cause | None:
        if place.is_same(source):
            return self._causes.get(self._root(value)) or self._overwriting(value, wrong)
        assert isinstance(value, ir.Var)
        return _Cause(value, stmt, is_left=True)

    def _forget(self, keys: Sequence[int]) -> None:
        """Names that are given anew stand for nothing that lies anywhere."""
        gone = frozenset(keys)
        for key in keys:
            self._causes.pop(key, None)
        self._state = tuple(
            replace(cell, held=cell.held - gone) if cell.held & gone else cell for cell in self._state
        )

    def _root(self, value: ir.Expr) -> int:
        return self._roots.get(id(value), id(value))


class _Cells:
    """The bytes of the pools of a function, cut where any of its places begins or ends."""

    def __init__(self, places: FunctionPlaces, is_planned: bool) -> None:
        self._is_planned = is_planned
        edges: dict[ir.MemorySpace | ir.Var, set[int]] = {}
        for place in places.all():
            pool = pool_of(place, is_planned)
            edges.setdefault(pool, set()).update((*place.reach, place.valid_reach[1]))
        self._bytes: list[tuple[int, int]] = []
        self._firsts: dict[tuple[ir.MemorySpace | ir.Var, int], int] = {}
        for pool, ends in edges.items():
            ordered = sorted(ends)
            self._firsts |= {(pool, start): len(self._bytes) + at for at, start in enumerate(ordered)}
            self._bytes += zip(ordered, [*ordered[1:], ordered[-1]], strict=True)
        self.count = len(self._bytes)

    def of(self, place: Place) -> Sequence[int]:
        """The cells of a place, none where it is known at run time only where that begins."""
        return self._reached(place) if place.address is not None else ()

    def valid(self, place: Place) -> Sequence[int]:
        """The cells of the part of a place that has values, none where that begins at run time only."""
        return self._within(place, place.valid_reach) if place.address is not None else ()

    def perhaps(self, place: Place) -> Sequence[int]:
        """The cells in which a place may lie that is known at run time only."""
        return self._reached(place) if place.address is None else ()

    def _reached(self, place: Place) -> Sequence[int]:
        return self._within(place, place.reach)

    def _within(self, place: Place, reach: tuple[int, int]) -> Sequence[int]:
        pool = pool_of(place, self._is_planned)
        first, last = (self._firsts[pool, byte] for byte in reach)
        return range(first, last)

    def ends(self, cells: Sequence[int]) -> tuple[int, int]:
        """The first and the last byte of some cells."""
        return min(self._bytes[cell][0] for cell in cells), max(self._bytes[cell][1] for cell in cells) - 1


def _met(one: _State, two: _State) -> _State:
    return tuple(left if left == right else left.met(right) for left, right in zip(one, two, strict=True))
