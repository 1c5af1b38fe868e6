"""Which parameters the tensors that functions return are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import parts, statements, trailing_yield
from pypto_tmpl.ops import facts


class ReturnedParameters:
    """The parameters that the functions of a program return, by position; found once for each function."""

    def __init__(self, functions: Iterable[ir.Function]) -> None:
        self._functions = {function.name: function for function in functions}
        self._found: dict[str, tuple[int | None, ...]] = {}

    def of(self, name: str) -> tuple[int | None, ...]:
        """For each result of a function the parameter that it is, None where it is none.

        What counts is the first return in the order of the text: lanes that return elsewhere return the same.
        """
        if name not in self._found:
            self._found[name] = ()  # of a function that calls itself nothing is known
            function = self._functions.get(name)
            first = first_return(function) if function is not None else None
            if function is not None and first is not None:
                places = {id(param): place for place, param in enumerate(function.params)}
                values = returned_values(first, Versions(function, self))
                self._found[name] = tuple(places.get(id(value)) for value in values)
        return self._found[name]


def first_return(function: ir.Function) -> ir.ReturnStmt | None:
    """The first return in the order of the text."""
    return next((stmt for stmt in statements(function.body) if isinstance(stmt, ir.ReturnStmt)), None)


def returned_values(stmt: ir.ReturnStmt, versions: Versions) -> tuple[ir.Expr, ...]:
    """What a return gives: parameters instead of versions of them.

    A tuple that a call gave is taken apart where all of its elements are parameters.
    """
    if len(stmt.value) == 1 and isinstance(stmt.value[0].type, ir.TupleType):
        params = [param for param in versions.elements(stmt.value[0]) if param is not None]
        is_whole = params and len(params) == len(stmt.value[0].type.types)
        return tuple(params) if is_whole else stmt.value
    return tuple(versions.parameter(value) or value for value in stmt.value)


class Versions:
    """Which parameter each tensor of a function is a later version of, and so shares the storage of.

    With ``through_views``, what shows a part of a tensor counts as a version of it.
    """

    def __init__(
        self, function: ir.Function, returned: ReturnedParameters, *, through_views: bool = False
    ) -> None:
        self._through_views = through_views
        self._params = {id(param) for param in function.params}
        self._returned = returned
        self._calls: dict[int, ir.Expr] = {}
        self._origins: dict[int, ir.Var | None] = {}
        changing: set[int] = set()  # carries that are one tensor in one round and another in the next
        while found := self._follow(function.body, changing):
            changing |= found

    def parameter(self, value: ir.Expr) -> ir.Var | None:
        """The parameter that a tensor is a version of."""
        origin = self.origin(value) if isinstance(value.type, ir.TensorType) else None
        return origin if id(origin) in self._params else None

    def elements(self, value: ir.Expr) -> list[ir.Var | None]:
        """The parameters that the elements of a tuple are versions of."""
        assert isinstance(value.type, ir.TupleType)
        found = [self._result(value, index) for index in range(len(value.type.types))]
        origins = [None if shown is None else self.origin(shown) for shown in found]
        return [origin if id(origin) in self._params else None for origin in origins]

    def origin(self, value: ir.Expr) -> ir.Var | None:
        """The first version of a value, be it a parameter or not; None where it may be one or another."""
        shown: ir.Expr | None = value
        while shown is not None and not isinstance(shown, ir.Var):
            shown = self.before(shown)
        return None if shown is None else self._origins.get(id(shown), shown)

    def before(self, value: ir.Expr) -> ir.Expr | None:
        """What a value is the next version of; None where it is new."""
        if isinstance(value, ir.Var):
            return value
        if isinstance(value, ir.TupleGetItemExpr):
            return self._result(value.tuple, value.index)
        if isinstance(value, ir.Call) and isinstance(value.op, ir.GlobalVar):
            return self._result(value, 0)
        known = facts.of_value(value)
        place = known.view_of if known.returned is None and self._through_views else known.returned
        return value.args[place] if isinstance(value, ir.Call) and place is not None else None

    def _follow(self, body: ir.Stmt, changing: set[int]) -> set[int]:
        """Find the origins, taking other carries than these for one tensor; returns those that are not."""
        self._origins.clear()
        found: set[int] = set()
        for stmt, is_behind in _visits(body):
            if isinstance(stmt, ir.AssignStmt):
                self._calls[id(stmt.var)] = self._calls.get(id(stmt.value), stmt.value)
                shown = self.before(stmt.value)
                self._origins[id(stmt.var)] = stmt.var if shown is None else self.origin(shown)
            elif isinstance(stmt, ir.ForStmt | ir.WhileStmt):
                values = _yielded(stmt.body)
                for place, (arg, result) in enumerate(zip(stmt.iter_args, stmt.return_vars, strict=True)):
                    start = None if id(arg) in changing else self.origin(arg.initValue)
                    self._origins[id(arg)] = self._origins[id(result)] = start
                    if is_behind and start is not None and self._at(values, place) is not start:
                        found.add(id(arg))
            elif isinstance(stmt, ir.IfStmt) and is_behind and stmt.else_body is not None:
                sides = [_yielded(side) for side in (stmt.then_body, stmt.else_body)]
                for place, result in enumerate(stmt.return_vars):
                    one, other = (self._at(values, place) for values in sides)
                    self._origins[id(result)] = one if one is other else None
        return found

    def _at(self, values: tuple[ir.Expr, ...], place: int) -> ir.Var | None:
        return self.origin(values[place]) if place < len(values) else None

    def _result(self, value: ir.Expr, index: int) -> ir.Expr | None:
        """The argument that a result of a call is the next version of."""
        call = self._calls.get(id(value), value)
        if not isinstance(call, ir.Call | ir.Submit) or not isinstance(call.op, ir.GlobalVar):
            return None
        places = self._returned.of(call.op.name)
        place = places[index] if index < len(places) else None
        return call.args[place] if place is not None and place < len(call.args) else None


def _yielded(body: ir.Stmt) -> tuple[ir.Expr, ...]:
    last = trailing_yield(body)
    return last.value if last is not None else ()


def _visits(body: ir.Stmt) -> Iterator[tuple[ir.Stmt, bool]]:
    """The statements in the order of the text, those that hold others once before and once behind these."""
    stack = [(body, False)]
    while stack:
        stmt, is_behind = stack.pop()
        yield stmt, is_behind
        inside = () if is_behind else parts(stmt)
        if inside:
            stack.append((stmt, True))
            stack += ((part, False) for part in reversed(inside))
