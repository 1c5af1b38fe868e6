"""What the statements of a kernel do to memory, and whether two of them may change places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pypto_tmpl import ir
from pypto_tmpl.ir.arithmetic import constant_difference
from pypto_tmpl.ir.bodies import parts, statements
from pypto_tmpl.ops import facts
from pypto_tmpl.passes.outline.dataflow import Callees, Origins
from pypto_tmpl.passes.structure.yields import results, yielded
from pypto_tmpl.passes.tensor.windows import Access, access_of
from pypto_tmpl.rewrite import substitute

MAX_TERMS = 32
"""Up to how many parts an offset is followed through the scalars that it names."""
_SHAPED = (ir.TensorType, ir.TileType, ir.ArrayType, ir.TupleType)


@dataclass(frozen=True, slots=True)
class Place:
    """A window of a tensor: of which one, where it begins, and how large it is."""

    tensor: ir.Var
    offsets: tuple[ir.Expr, ...]
    shape: tuple[int, ...]

    def is_apart_from(self, other: Place) -> bool:
        """Whether two windows of one tensor have no cell in common, whatever the variables are."""
        if self.tensor is not other.tensor or len(self.shape) != len(other.shape):
            return False
        for axis, (mine, others) in enumerate(zip(self.offsets, other.offsets, strict=True)):
            gap = constant_difference(mine, others)
            if gap is not None and (gap >= other.shape[axis] or -gap >= self.shape[axis]):
                return True
        return False


@dataclass(frozen=True, slots=True)
class Touch:
    """Storage that a statement reads or writes, all of it where there is no place."""

    storage: int
    writes: bool
    in_tensor: bool
    place: Place | None

    def conflicts_with(self, other: Touch) -> bool:
        """Whether the order of the two counts."""
        if self.storage != other.storage or not (self.writes or other.writes):
            return False
        return self.place is None or other.place is None or not self.place.is_apart_from(other.place)


@dataclass(frozen=True, slots=True)
class Alias:
    """Two parameters that may have cells in common; where they do, they may be one tensor (``is_one``)."""

    first: ir.Var
    second: ir.Var
    is_one: bool


class Memory:
    """The storage of a function's variables: views, versions and carries have that of what they show.

    So have parameters that callers may give cells in common.
    """

    def __init__(self, function: ir.Function, callees: Callees, aliases: Sequence[Alias] = ()) -> None:
        self._callees = callees
        self._in_kernel = ir.is_incore_type(function.func_type)
        self._parents: dict[int, int] = {}
        self._scalars: dict[ir.Var, ir.Expr] = {}
        self._origins = Origins(function.body, callees)
        self._same: dict[int, ir.Var] = {}
        for alias in aliases:
            self._join(alias.first, alias.second)
        parts = {id(one) for alias in aliases if not alias.is_one for one in (alias.first, alias.second)}
        for alias in aliases:
            if id(alias.first) not in parts and id(alias.second) not in parts:
                self._same.setdefault(id(alias.second), self._same.get(id(alias.first), alias.first))
        self._merged: dict[int, ir.Var] = {}  # results of branches and loops that are one tensor in any case
        for stmt in statements(function.body):
            self._note(stmt)
        self._note_merged(function.body)

    def storage(self, var: ir.Var) -> int:
        """A number that variables have in common where they may share storage."""
        found = id(var)
        while (parent := self._parents.get(found, found)) != found:
            self._parents[found] = self._parents.get(parent, parent)
            found = parent
        return found

    def origin(self, var: ir.Var) -> ir.Var:
        """The first version of a tensor; one of the parameters for those that are one tensor."""
        found = self._first(var)
        return self._same.get(id(found), found)

    def _first(self, var: ir.Var) -> ir.Var:
        found = self._origins.of(var)
        return self._merged.get(id(found), found)

    def _note_merged(self, body: ir.Stmt) -> None:
        """Note, in the order in which they are bound, which results are versions of one tensor."""
        todo: list[tuple[ir.Stmt, bool]] = [(body, True)]
        while todo:
            stmt, enters = todo.pop()
            if enters:
                todo += [(stmt, False), *((part, True) for part in reversed(parts(stmt)))]
                continue
            for variables, values in results(stmt):
                first = {id(one): one for one in (self._first(v) for v in values if isinstance(v, ir.Var))}
                if len(first) == 1 and all(isinstance(value, ir.Var) for value in values):
                    self._merged.setdefault(id(variables[-1]), *first.values())

    def followed(self, expr: ir.Expr) -> ir.Expr:
        """An expression with the scalars that it names written out."""
        named = (part for part in ir.walk(expr) if isinstance(part, ir.Var) and part in self._scalars)
        return substitute(expr, {var: self._scalars[var] for var in named})

    def touches(self, stmt: ir.Stmt) -> list[Touch]:
        """What a statement, and what is inside of it, reads and writes."""
        inside = list(statements(stmt))
        found = [touch for each in inside for touch in self._touches(each)]
        if len(inside) == 1:
            return found
        return [Touch(touch.storage, touch.writes, touch.in_tensor, None) for touch in found]

    def _note(self, stmt: ir.Stmt) -> None:
        match stmt:
            case ir.AssignStmt():
                if isinstance(stmt.var.type, ir.ScalarType):
                    self._note_scalar(stmt)
                for source in self._shown(stmt.value):
                    self._join(stmt.var, source)
            case ir.ForStmt() | ir.WhileStmt():
                values = yielded(stmt.body) or [arg.initValue for arg in stmt.iter_args]
                for arg, var, value in zip(stmt.iter_args, stmt.return_vars, values, strict=True):
                    for source in (arg.initValue, var, value):
                        self._join(arg, source)
            case ir.IfStmt():
                for body in (stmt.then_body, stmt.else_body):
                    values = () if body is None else yielded(body)
                    for var, value in zip(stmt.return_vars, values, strict=False):
                        self._join(var, value)

    def _note_scalar(self, stmt: ir.AssignStmt) -> None:
        value = self.followed(stmt.value)
        parts = list(ir.walk(value))
        if len(parts) <= MAX_TERMS and not any(isinstance(part, ir.Call) for part in parts):
            self._scalars[stmt.var] = value

    def _shown(self, value: ir.Expr) -> Iterator[ir.Expr]:
        """The operands whose storage a value may be, or be a part of."""
        match value:
            case ir.Var():
                yield value
            case ir.TupleGetItemExpr():
                yield value.tuple
            case ir.MakeTuple():
                yield from value.elements
            case ir.Call() | ir.Submit() if isinstance(value.op, ir.GlobalVar):
                yield from (arg for arg, _ in self._callees.directions(value))
            case ir.Call():
                known = facts.of(value.op)
                view = known.view_of if known.shows(in_kernel=self._in_kernel) else None
                yield from (value.args[at] for at in (known.returned, view) if at is not None)

    def _join(self, var: ir.Var, other: ir.Expr) -> None:
        if isinstance(other, ir.Var) and isinstance(var.type, _SHAPED) and isinstance(other.type, _SHAPED):
            self._parents[self.storage(other)] = self.storage(var)

    def _touches(self, stmt: ir.Stmt) -> Iterator[Touch]:
        """What a statement touches without what is inside of it."""
        value = call_of(stmt)
        if value is None:
            return
        known = facts.of(value.op)
        written = {id(value.args[at]) for at in known.written}
        if known.pipe_end == "free":  # what was popped is gone
            written |= {id(arg) for arg in value.args}
        if isinstance(value.op, ir.GlobalVar):
            directions = self._callees.directions(value)
            written |= {id(arg) for arg, way in directions if way is not ir.ParamDirection.In}
            if not directions:
                written |= {id(arg) for arg in value.args}
        place = access_of(value) if isinstance(value, ir.Call) else None
        for arg in _variables(value.args):
            is_place = place is not None and arg is place[0]
            yield Touch(
                self.storage(arg),
                id(arg) in written,
                isinstance(arg.type, ir.TensorType),
                self._place(*place) if is_place and place is not None else None,
            )

    def _place(self, tensor: ir.Var, access: Access) -> Place:
        offsets = tuple(map(self.followed, access.offsets))
        return Place(self.origin(tensor), offsets, access.shape)


def call_of(stmt: ir.Stmt) -> ir.Call | ir.Submit | None:
    """The call that a statement is."""
    value = stmt.value if isinstance(stmt, ir.AssignStmt) else getattr(stmt, "expr", None)
    return value if isinstance(value, ir.Call | ir.Submit) else None


def _variables(args: tuple[ir.Expr, ...]) -> Iterator[ir.Var]:
    """The variables with storage among operands, those in tuples of operands too."""
    for arg in args:
        for part in arg.elements if isinstance(arg, ir.MakeTuple) else (arg,):
            if isinstance(part, ir.Var) and isinstance(part.type, _SHAPED):
                yield part


def is_event(stmt: ir.Stmt) -> bool:
    """Whether another core or task notices something in a statement: such keep their order."""
    return any(_is_noticed(inner) for inner in statements(stmt))


def _is_noticed(stmt: ir.Stmt) -> bool:
    if isinstance(stmt, ir.InlineStmt | ir.BreakStmt | ir.ContinueStmt | ir.ReturnStmt):
        return True
    value = call_of(stmt)
    if value is None:
        return False
    known = facts.of(value.op)
    return isinstance(value.op, ir.GlobalVar) or not (known.has("quiet") or known.has("counts"))
