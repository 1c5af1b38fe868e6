"""Copies of tiles that are read again after something was written where they lie."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir import IRProperty
from pypto_tmpl.ir.bodies import parts, statements
from pypto_tmpl.ir.verifier import verify
from pypto_tmpl.ir.verifier.walking import definitions
from pypto_tmpl.passes.base import PassError
from pypto_tmpl.passes.memory.fresh import Fresh
from pypto_tmpl.passes.memory.overwriting import Overwritten, handed_on_by, misplaced, overwritten
from pypto_tmpl.passes.memory.placed_tiles import place_of
from pypto_tmpl.passes.memory.places import Places
from pypto_tmpl.rewrite import Rewriter, base_name, build, flat
from pypto_tmpl.rewrite.rewriter import Task

_ROUNDS = 8
"""How often copies may make further ones necessary."""


def kept(function: ir.Function) -> ir.Function:
    """The function with a copy of each tile that is written over before it is read for the last time.

    Raises PassError where a copy cannot be made, or would have to be made again and again, where a tile does
    not lie where it should, and where something is read that nothing defines.
    """
    before, first = function, overwritten(function)
    found = first
    for _ in range(_ROUNDS):
        if not found:
            break
        fresh = Fresh(function)
        function = fresh.allocated(_Keeping(function, found, fresh).rewrite(function))
        found = overwritten(function)
    if found:
        lost = first[0]  # as the program has it: what is lost after so many rounds are copies of copies
        written, tile = base_name(lost.written.name_hint), base_name(lost.tile.name_hint)
        what = f"{written!r} is written where {tile!r} lies, which is read later, and no copy keeps both"
        raise PassError(what, before, lost.stmt, variable=lost.tile)
    wrong = misplaced(function)
    if wrong is not None:
        var, value, stmt = wrong
        what = f"{var.name_hint!r} does not lie where {getattr(value, 'name_hint', 'its value')!r} does"
        raise PassError(what, function, stmt)
    for use in verify(function, [IRProperty.UseAfterDef]):
        at = next((one for one in statements(function.body) if one.span is use.span), None)
        raise PassError(use.message, function, at)
    return function


class _Keeping(Rewriter):
    """Puts copies before the statements that write, or before the loop around them, for what reads later.

    What has to lie where the tile did, such as a view of it or a carry that starts with it, gets the tile
    back at its old place just before.
    """

    def __init__(self, function: ir.Function, found: list[Overwritten], fresh: Fresh) -> None:
        super().__init__()
        self._fresh = fresh
        self._copies: dict[int, ir.Var] = {}
        self._starts: dict[int, ir.Expr] = {}
        self._before: dict[int, dict[int, ir.Var]] = {}
        self._places = Places(function)
        scopes = _Scopes(function)
        for one in found:
            self._before.setdefault(id(scopes.beside(one)), {})[id(one.tile)] = one.tile

    def use(self, var: ir.Var) -> ir.Expr:
        return self._copies.get(id(var)) or super().use(var)

    def definition(self, old: ir.Var, typed: ir.Var) -> ir.Var:
        start = self._starts.get(id(old))
        return typed if start is None else build(typed, initValue=start)

    def rewriting(self, stmt: ir.Stmt) -> Task | None:
        shares = any(id(var) in self._copies for var in _sharing(stmt))
        return self._kept(stmt) if shares or id(stmt) in self._before else None

    def _kept(self, stmt: ir.Stmt) -> Task:
        made: list[ir.Stmt] = []
        restored: dict[int, ir.Var] = {}
        sharing = {id(var): id(self._places.origin(var)) for var in _sharing(stmt)}
        for var in _sharing(stmt):
            copied, place, origin = self._copies.get(id(var)), place_of(var), sharing[id(var)]
            if copied is not None and place is not None and origin not in restored:
                made.append(copy := self._fresh.copy(copied, place, stmt))
                restored[origin] = copy.var
        back = {key: restored[origin] for key, origin in sharing.items() if origin in restored}
        new = {key: var for key, var in self._before.get(id(stmt), {}).items() if key not in self._copies}
        kept: dict[int, ir.Var] = {}
        for key, tile in new.items():
            place, source = place_of(tile), super().use(tile)  # a carry may be another variable by now
            assert place is not None and isinstance(source, ir.Var)
            made.append(copy := self._fresh.copy(source, self._fresh.buffer(tile, place.size_), stmt))
            kept[key] = copy.var
        if isinstance(stmt, ir.ForStmt | ir.WhileStmt):
            for carry in stmt.iter_args:
                start = carry.initValue
                if isinstance(start, ir.Var) and (id(start) in back or id(start) in new):
                    self._starts[id(carry)] = back.get(id(start)) or super().use(start)
            meanwhile = self._copies | kept
        else:
            is_own = isinstance(stmt, ir.AssignStmt) and bool(_sharing(stmt))
            meanwhile = self._copies | back | ({} if is_own else kept)
        around, self._copies = self._copies, meanwhile
        self.forget()
        result = yield self.usual(stmt)
        self._copies = around | kept
        self.forget()
        return [*made, *result]


def _sharing(stmt: ir.Stmt) -> list[ir.Var]:
    """The tiles that a statement hands on as they lie."""
    found: list[ir.Expr] = []
    if isinstance(stmt, ir.ForStmt | ir.WhileStmt):
        found = [carry.initValue for carry in stmt.iter_args]
    elif isinstance(stmt, ir.YieldStmt):
        found = list(stmt.value)
    elif isinstance(stmt, ir.AssignStmt):
        found = handed_on_by(stmt)
    return [var for var in found if isinstance(var, ir.Var)]


class _Scopes:
    """In which statement's body each statement stands, and in which each variable is defined."""

    def __init__(self, function: ir.Function) -> None:
        self._around: dict[int, ir.Stmt] = {}
        self._defined: dict[int, ir.Stmt | None] = {}
        for stmt in statements(function.body):
            if isinstance(stmt, ir.SeqStmts):
                continue
            for part in parts(stmt):
                self._around |= {id(inner): stmt for inner in flat(part)}
            for var in definitions(stmt):
                self._defined[id(var)] = self._around.get(id(stmt))
            if isinstance(stmt, ir.ForStmt | ir.WhileStmt):
                self._defined |= {id(carry): stmt for carry in stmt.iter_args}

    def beside(self, one: Overwritten) -> ir.Stmt:
        """The statement around the writing one that stands where the tile is defined."""
        scope, stmt = self._defined.get(id(one.tile)), one.stmt
        while (around := self._around.get(id(stmt))) is not None and around is not scope:
            stmt = around
        return stmt
