"""Calls say of each argument how the function that they call uses it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from pypto_tmpl import ir
from pypto_tmpl.ir import ArgDirection, ForKind, FunctionType, IRProperty, ParamDirection
from pypto_tmpl.ir.bodies import parts
from pypto_tmpl.ops.returned_parameters import ReturnedParameters, Versions
from pypto_tmpl.passes.base import ProgramPass
from pypto_tmpl.passes.checks.calls import launch_of, launches
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.rewrite import Rewriter, build

_WRAPPERS = (FunctionType.Group, FunctionType.Spmd)
_DIRECTIONS, _OVERRIDES = "arg_directions", "arg_direction_overrides"
_STRENGTH = (ParamDirection.In, ParamDirection.Out, ParamDirection.InOut)

Directions = Mapping[str, tuple[ParamDirection, ...]]
"""What functions do to their parameters, by the name of the function."""


class DeriveCallDirections(ProgramPass):
    """Give calls and submits of functions the directions of their arguments; those that have some keep them.

    What a function only writes is written for the first time, and nothing has to be waited for, unless the
    storage may have been written before: in another round of a loop, by a call before, by the caller.
    """

    __slots__ = ()
    requires = frozenset({IRProperty.SplitIncoreOrch})
    produces = frozenset({IRProperty.CallDirectionsResolved})

    def run(self, program: ir.Program, context: PassContext) -> ir.Program:
        directions = _promoted(program.functions.values())
        functions = [
            build(function, param_directions=directions[function.name])
            for function in program.functions.values()
        ]
        returned = ReturnedParameters(functions)
        return build(program, functions=[_directed(function, directions, returned) for function in functions])


def _directed(function: ir.Function, directions: Directions, returned: ReturnedParameters) -> ir.Function:
    if next(launches(function), None) is None:
        return function
    return _Directing(_Uses(function, directions, Versions(function, returned)).found).rewrite(function)


class _Directing(Rewriter):
    def __init__(self, found: Mapping[int, list[ArgDirection]]) -> None:
        super().__init__()
        self._found = found

    def expression(self, expr: ir.Expr) -> ir.Expr:
        found = self._found.get(id(expr))
        if found is None or not isinstance(expr, ir.Call | ir.Submit):
            return expr
        return build(expr, attrs=expr.attrs.with_(**{_DIRECTIONS: found}))


def _promoted(functions: Iterable[ir.Function]) -> Directions:
    """The directions of parameters; a wrapper does to its own what is done where it passes them."""
    found = {function.name: tuple(function.param_directions) for function in functions}
    wrappers = [function for function in functions if function.func_type in _WRAPPERS]
    has_changed = True
    while has_changed:
        has_changed = False
        for wrapper in wrappers:
            own = {id(param): at for param, at in zip(wrapper.params, found[wrapper.name], strict=True)}
            for call in launches(wrapper):
                for arg, direction in zip(call.args, found.get(call.op.name, ()), strict=False):
                    if id(arg) in own:
                        own[id(arg)] = max(own[id(arg)], direction, key=_STRENGTH.index)
            promoted = tuple(own.values())
            has_changed |= promoted != found[wrapper.name]
            found[wrapper.name] = promoted
    return found


class _Uses:
    """How the calls of a function use their arguments (``found``, by the id of the call)."""

    def __init__(self, function: ir.Function, directions: Directions, versions: Versions) -> None:
        self.found: dict[int, list[ArgDirection]] = {}
        self._directions = directions
        self._versions = versions
        self._kept_by_caller = {
            id(param)
            for param, direction in zip(function.params, directions[function.name], strict=True)
            if direction is ParamDirection.InOut
        }
        self._written = _Written()
        self._loops = 0  # loops around of which one round follows another
        self._visit(function.body)

    def _visit(self, body: ir.Stmt) -> None:
        written = self._written
        todo: list[ir.Stmt | Callable[[], None]] = [body]
        while todo:
            item = todo.pop()
            if not isinstance(item, ir.Stmt):
                item()
            elif isinstance(item, ir.IfStmt) and item.else_body is not None:
                todo += [written.join, item.else_body, written.other_branch, item.then_body]
                written.enter()
            elif isinstance(item, ir.WhileStmt | ir.ForStmt) and not _is_parallel(item):
                todo += [self._leave, item.body]
                self._loops += 1
            else:
                if (call := launch_of(item)) is not None:
                    self._look_at(call)
                todo += reversed(parts(item))

    def _leave(self) -> None:
        self._loops -= 1

    def _look_at(self, call: ir.Call | ir.Submit) -> None:
        directions = self._directions.get(call.op.name, ())
        is_known = len(call.args) == len(directions)
        if not is_known and not (isinstance(call, ir.Submit) and len(call.args) < len(directions)):
            return
        pairs = list(zip(call.args, directions, strict=False))
        if call.args and not call.arg_directions:
            found = [self._use(arg, direction) for arg, direction in pairs]
            for place in call.attrs.get(_OVERRIDES, ()):
                found[place] = ArgDirection.NoDep
            self.found[id(call)] = found
        for arg, direction in pairs:
            if direction is not ParamDirection.In and (root := self._versions.origin(arg)) is not None:
                self._written.note(id(root))

    def _use(self, arg: ir.Expr, direction: ParamDirection) -> ArgDirection:
        if not isinstance(arg.type, ir.TensorType | ir.TupleType):
            return ArgDirection.Scalar
        if direction is not ParamDirection.Out:
            return ArgDirection.Input if direction is ParamDirection.In else ArgDirection.InOut
        root = self._versions.origin(arg)
        may_be_written = (
            self._loops or root is None or id(root) in self._kept_by_caller or self._written.has(id(root))
        )
        return ArgDirection.InOut if may_be_written else ArgDirection.OutputExisting


def _is_parallel(loop: ir.ForStmt | ir.WhileStmt) -> bool:
    return isinstance(loop, ir.ForStmt) and loop.kind is ForKind.Parallel


class _Written:
    """The storage that calls have written so far; a branch does not see what the other one writes."""

    def __init__(self) -> None:
        self._count: Counter[int] = Counter()
        self._order: list[int] = []
        self._marks: list[int] = []
        self._aside: list[list[int]] = []

    def has(self, root: int) -> bool:
        return self._count[root] > 0

    def note(self, *roots: int) -> None:
        self._count.update(roots)
        self._order += roots

    def enter(self) -> None:
        """A branch begins, to which another one follows."""
        self._marks.append(len(self._order))

    def other_branch(self) -> None:
        """The other branch begins."""
        mark = self._marks.pop()
        self._aside.append(self._order[mark:])
        self._count.subtract(self._aside[-1])
        del self._order[mark:]

    def join(self) -> None:
        """Both branches are behind."""
        self.note(*self._aside.pop())
