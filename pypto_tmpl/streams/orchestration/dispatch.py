"""Which kernels a launch runs, through groups and wrappers, and the arguments that they get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ir.enums import ArgDirection
from pypto_tmpl.ops.returned_parameters import ReturnedParameters
from pypto_tmpl.streams.problems import Obstacle
from pypto_tmpl.streams.tensors import GM_PIPE_BUFFER
from pypto_tmpl.streams.units import pipe_bytes

_KERNELS = (ir.FunctionType.AIC, ir.FunctionType.AIV)
_FLOAT_BYTES = 4


@dataclass(frozen=True, slots=True)
class Given:
    """An argument of a kernel; without ``expr`` the run time makes it, as ``param`` says."""

    param: ir.Var
    expr: ir.Expr | None
    direction: ArgDirection


@dataclass(frozen=True, slots=True)
class Dispatch:
    """One task: its kernels, and the arguments in the order of their parameters."""

    cube: ir.Function | None
    vector: ir.Function | None
    arguments: tuple[Given, ...]

    @property
    def kernels(self) -> tuple[ir.Function, ...]:
        """The kernels in the order of their numbers."""
        return tuple(kernel for kernel in (self.cube, self.vector) if kernel is not None)

    @property
    def is_dual(self) -> bool:
        """Whether both vector cores run the vector kernel."""
        return self.vector is not None and bool(self.vector.attrs.get("dual_aiv_dispatch"))


class Dispatches:
    """Follows the launches of a program to the kernels."""

    def __init__(self, program: ir.Program, returned: ReturnedParameters) -> None:
        self._functions = {function.name: function for function in program.functions.values()}
        self._returned = returned

    def callee(self, call: ir.Call | ir.Submit) -> ir.Function:
        """The function that a launch names. Raises Obstacle where there is none that can be launched."""
        found = self._functions.get(call.op.name)
        if found is None:
            raise Obstacle(f"the program has no function {call.op.name!r}", call.span)
        return found

    def of(self, call: ir.Call | ir.Submit) -> list[Dispatch]:
        """The tasks of a launch, in order. Raises Obstacle."""
        callee = self.callee(call)
        directions = call.arg_directions
        if len(directions) != len(call.args):
            raise Obstacle(
                f"the launch of {callee.name!r} does not say how it takes its arguments", call.span
            )
        given = [*zip(call.args, directions, strict=True)]
        missing = callee.params[len(given) :]
        if missing and not isinstance(call, ir.Submit):
            raise Obstacle(
                f"{callee.name!r} takes {len(callee.params)} arguments, {len(given)} given", call.span
            )
        arguments = [Given(p, *g) for p, g in zip(callee.params, given, strict=False)]
        arguments += [Given(param, None, ArgDirection.Output) for param in missing]
        return self._of(callee, arguments, call.span)

    def _of(self, callee: ir.Function, arguments: Sequence[Given], span: ir.Span) -> list[Dispatch]:
        kind = callee.func_type
        if kind in _KERNELS:
            is_cube = kind is ir.FunctionType.AIC
            return [Dispatch(callee if is_cube else None, None if is_cube else callee, tuple(arguments))]
        if kind not in (ir.FunctionType.Group, ir.FunctionType.Spmd):
            what = f"the function {callee.name!r} of type {kind.name} cannot be launched as a task"
            raise Obstacle(what, span)
        inner = self._inner(callee, arguments)
        cubes = [task for task in inner if task.vector is None]
        vectors = [task for task in inner if task.cube is None]
        if len(cubes) == len(vectors) == 1 and len(inner) == 2:
            return [_joined(callee, cubes[0], vectors[0])]
        if not inner or (cubes and vectors):
            raise Obstacle(f"{callee.name!r} is no group of a cube and a vector kernel", callee.span)
        return inner

    def _inner(self, wrapper: ir.Function, arguments: Sequence[Given]) -> list[Dispatch]:
        """The tasks that the calls in a wrapper are."""
        known: dict[ir.Expr, Given] = dict(zip(wrapper.params, arguments, strict=True))
        calls: dict[ir.Var, ir.Call] = {}
        found: list[Dispatch] = []
        for stmt in statements(wrapper.body):
            value = stmt.value if isinstance(stmt, ir.AssignStmt) else None
            value = stmt.expr if isinstance(stmt, ir.EvalStmt) else value
            if isinstance(value, ir.Call) and isinstance(value.op, ir.GlobalVar):
                callee = self.callee(value)
                inner = [
                    _inside(param, arg, known, value)
                    for param, arg in zip(callee.params, value.args, strict=True)
                ]
                found += self._of(callee, inner, value.span)
                if isinstance(stmt, ir.AssignStmt):
                    calls[stmt.var] = value
                    self._bind(stmt.var, value, 0, known)
            elif isinstance(stmt, ir.AssignStmt) and isinstance(value, ir.TupleGetItemExpr):
                call = calls.get(value.tuple) if isinstance(value.tuple, ir.Var) else None
                if call is not None:
                    self._bind(stmt.var, call, value.index, known)
            elif not isinstance(stmt, ir.SeqStmts | ir.ReturnStmt):
                what = f"a {type(value or stmt).__name__} in the wrapper {wrapper.name!r} runs on no core"
                raise Obstacle(what, stmt.span)
        return found

    def _bind(self, var: ir.Var, call: ir.Call, index: int, known: dict[ir.Expr, Given]) -> None:
        """A result of a call in a wrapper is the argument that the callee returns."""
        places = self._returned.of(call.op.name)
        place = places[index] if index < len(places) else None
        if place is not None and call.args[place] in known:
            known[var] = known[call.args[place]]


def _inside(param: ir.Var, arg: ir.Expr, known: Mapping[ir.Expr, Given], call: ir.Call) -> Given:
    """An argument of a call in a wrapper as the caller of the wrapper gave it."""
    if isinstance(arg, ir.ConstInt | ir.ConstFloat | ir.ConstBool):
        return Given(param, arg, ArgDirection.Scalar)
    found = known.get(arg)
    if found is None:
        raise Obstacle(f"the call of {call.op.name!r} in a wrapper computes its argument {arg}", call.span)
    return Given(param if found.expr is not None else found.param, found.expr, found.direction)


def _joined(group: ir.Function, cube: Dispatch, vector: Dispatch) -> Dispatch:
    """The task of a cube and a vector kernel, which share one list of arguments."""
    both = [[(id(g.expr), g.direction) for g in task.arguments] for task in (cube, vector)]
    if both[0] != both[1]:
        raise Obstacle(f"the kernels of {group.name!r} take other arguments each", group.span)
    return Dispatch(cube.cube, vector.vector, cube.arguments)


@dataclass(frozen=True, slots=True)
class PipeBuffer:
    """A buffer in global memory that the pipes of a launch's kernels go through."""

    floats: int
    blocks: ir.Expr | None


def pipe_buffers(function: ir.Function, dispatches: Dispatches) -> dict[ir.Expr, PipeBuffer]:
    """The buffers of pipes that an orchestration function makes, by their variables."""
    found: dict[ir.Expr, PipeBuffer] = {}
    for stmt in statements(function.body):
        value = stmt.value if isinstance(stmt, ir.AssignStmt) else None
        value = stmt.expr if isinstance(stmt, ir.EvalStmt) else value
        if not isinstance(value, ir.Call | ir.Submit) or not isinstance(value.op, ir.GlobalVar):
            continue
        try:
            tasks = dispatches.of(value)
        except Obstacle:  # told where the launch is emitted
            continue
        params = dispatches.callee(value).params
        for param, arg in zip(params, value.args, strict=False):
            if param.name_hint == GM_PIPE_BUFFER:
                size = max(pipe_bytes(kernel) for task in tasks for kernel in task.kernels)
                found[arg] = PipeBuffer(size // _FLOAT_BYTES, blocks_of(value))
    return found


def blocks_of(call: ir.Call | ir.Submit) -> ir.Expr | None:
    """In how many blocks a launch runs, None for one that says nothing of blocks."""
    blocks = call.core_num if isinstance(call, ir.Submit) else None
    blocks = call.attrs.get("core_num") if blocks is None else blocks
    if isinstance(blocks, int):
        return ir.ConstInt(blocks, ir.DataType.INDEX, call.span)
    return blocks
