"""Calls that go on by themselves: what the host submits to ranks, and tasks of an orchestrator on a rank."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from pypto_tmpl import ir
from pypto_tmpl.codegen.context import Context
from pypto_tmpl.codegen.expressions import Expressions
from pypto_tmpl.codegen.facts import Launch
from pypto_tmpl.codegen.lazy import lazy
from pypto_tmpl.codegen.waiting import may_wait, writes_window
from pypto_tmpl.domains.host import SUBMITS
from pypto_tmpl.ir.bodies import statements

NamesOf: TypeAlias = Callable[[Iterable[ir.Expr]], tuple[str, ...]]
_EDGES = ("manual_dep_edges", "compiler_manual_dep_edges")


class RankLaunches:
    """Texts of such calls in one function."""

    def __init__(self, context: Context, expressions: Expressions) -> None:
        self._context, self._macros, self._expressions = context, context.macros, expressions

    @lazy
    def _unused(self) -> frozenset[int]:
        """Launches of the function whose values nobody takes."""
        body = self._context.function.body
        return frozenset(id(stmt.expr) for stmt in statements(body) if isinstance(stmt, ir.EvalStmt))

    def dispatch(self, node: Launch, callee: ir.Function, args: list[str]) -> str:
        """A call that the host submits to a rank; its results are arguments."""
        host = self._context.script.host
        name = self._context.script.function_names[callee.name]
        if host.is_sub_worker(callee):
            return str(self._macros.sub_work(name, self._marked(callee, args), self._taken(node, callee)))
        if not host.is_dispatched(callee):
            what = f"a call of {callee.name!r} by the host, which is no orchestrator of a chip"
            self._context.report(what, node.span)
            return str(self._macros.nothing())
        device = node.attrs.get("device")
        rank = self._macros.nothing() if device is None else self._expressions.alone(device)
        given = [
            self._dispatched(arg, param, direction, text)
            for arg, param, direction, text in zip(
                node.args, callee.params, callee.param_directions, args, strict=False
            )
        ]
        return str(self._macros.dispatch(rank, name, given, self._taken(node, callee)))

    def submitted(self, node: ir.Call, launch: ir.Call, args: list[str]) -> tuple[str, ...]:
        """What a call of an op submits, whose value is asked for later: a function, then arguments."""
        host, callee = self._context.script.host, self._context.script.kernels.callee(launch)
        role = SUBMITS[node.op.name]
        if callee is None:
            self._fail(node, f"of {launch.op.name!r}, which is no function of this program")
            return ()
        is_one = host.is_sub_worker if role is ir.Role.SubWorker else host.is_dispatched
        if not is_one(callee):
            what = "a sub-worker of the host" if role is ir.Role.SubWorker else "an orchestrator of a chip"
            self._fail(node, f"of {callee.name!r}, which is not {what}")
            return ()
        if len(args) != len(callee.params):
            self._fail(node, f"of {callee.name!r} with {len(args)} arguments for {len(callee.params)}")
            return ()
        if any(isinstance(param.type, ir.DistributedTensorType) for param in callee.params):
            self._fail(
                node, f"of {callee.name!r}, which takes windows: these go with a call and its `device`"
            )
            return ()
        given = [
            self._written(param, direction, self._as_parameter(arg, param, text))
            for arg, param, direction, text in zip(
                launch.args, callee.params, callee.param_directions, args, strict=True
            )
        ]
        return (self._context.script.function_names[callee.name], *given)

    def _fail(self, node: ir.Call, what: str) -> None:
        self._context.report(f"operator {node.op.name!r} {what}", node.span)

    def _as_parameter(self, arg: ir.Expr, param: ir.Var, text: str) -> str:
        """An argument of which no type tells the shape, in that of the parameter, where it is a number."""
        if not isinstance(arg.type, ir.UnknownType) or not isinstance(param.type, ir.TensorType):
            return text
        wanted = _numbers(param.type)
        if None in wanted:
            return text
        shape = [*map(self._macros.literal, wanted)]
        return str(self._macros.as_parameter(text, shape, param.type.dtype.name))

    def _taken(self, node: Launch, callee: ir.Function) -> list[int | None]:
        """The parameters that the results of a submitted call are, if somebody takes these."""
        places = [] if id(node) in self._unused else self._places(callee)
        if None in places:
            self._context.report(f"results of {callee.name!r} that are none of its parameters", node.span)
        return places

    def _marked(self, callee: ir.Function, args: list[str]) -> list[str]:
        """Arguments, those marked that the callee writes."""
        return [
            self._macros.inout(text)
            if self._is_written_window(callee, param, direction)
            else self._written(param, direction, text)
            for param, direction, text in zip(callee.params, callee.param_directions, args, strict=False)
        ]

    def _is_written_window(self, callee: ir.Function, param: ir.Var, direction: ir.ParamDirection) -> bool:
        """Whether a task writes a window of which its signature does not say so."""
        is_plain = direction is ir.ParamDirection.In and isinstance(param.type, ir.DistributedTensorType)
        return is_plain and writes_window(self._context.script.kernels, callee, param)

    def task(
        self,
        node: Launch,
        callee: ir.Function,
        args: list[str],
        core_num: ir.Expr | None,
        is_group: bool,
        names_of: NamesOf,
    ) -> str:
        """A launch by an orchestrator on a rank, where some tasks wait for others while later ones run."""
        script = self._context.script
        waits = may_wait(script.kernels, callee)
        what = [self._macros.run_group(), self._macros.literal(callee.name)]
        what = what if is_group else [script.function_names[callee.name]]
        if core_num is not None:
            blocks = self._macros.run_blocks() if waits else self._macros.run_spmd()
            what = [blocks, self._expressions.alone(core_num), *what]
        given = self._marked(callee, args)
        places: list[int | None] = []
        if id(node) not in self._unused:
            places = [None if at is None else at + len(what) - 1 for at in self._places(callee)]
        deps = [*node.deps] if isinstance(node, ir.Submit) else []
        deps += [dep for key in _EDGES for dep in node.attrs.get(key, ())]
        options = self._macros.task_options(places, names_of(deps), self._context.in_manual_scope, waits)
        return str(self._macros.task([*what, *given], options, isinstance(node, ir.Submit)))

    def _places(self, callee: ir.Function) -> list[int | None]:
        """For each result of a function the parameter that it is; a None stands for what is none.

        Of Python on the host nothing but the signature is known: its results are what it writes, in order.
        """
        count = len(callee.return_types)
        if self._context.script.host.is_sub_worker(callee):
            ways = enumerate(callee.param_directions)
            written = [at for at, way in ways if way is not ir.ParamDirection.In]
            return [*written[:count]] if len(written) >= count else [None]
        found = self._context.script.host.returned.of(callee.name) if count else ()
        return list(found) if len(found) == count else [None]

    def _dispatched(self, arg: ir.Expr, param: ir.Var, direction: ir.ParamDirection, text: str) -> str:
        """An argument of a dispatch: what the rank writes is marked, and a window has the callee's shape."""
        if not isinstance(param.type, ir.DistributedTensorType) or not isinstance(arg.type, ir.ShapedType):
            return self._written(param, direction, text)
        wanted, given = _numbers(param.type), _numbers(arg.type)
        if None in wanted or wanted == given:
            return text
        return str(self._macros.reshaped(text, [*map(self._macros.literal, wanted)]))

    def _written(self, param: ir.Var, direction: ir.ParamDirection, text: str) -> str:
        """An argument of a call that goes on by itself: what that writes is marked."""
        if not isinstance(param.type, ir.TensorType) or direction is ir.ParamDirection.In:
            return text
        return str(
            self._macros.inout(text) if direction is ir.ParamDirection.InOut else self._macros.out(text)
        )


def _numbers(type_: ir.ShapedType) -> list[int | None]:
    return [dim.value if isinstance(dim, ir.ConstInt) else None for dim in type_.shape]
