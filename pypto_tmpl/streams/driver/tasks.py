"""Tasks: calls of orchestrations of chips and of sub-workers, and collectives on every chip of a domain."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pypto_tmpl import ir
from pypto_tmpl.domains.host import is_sub_worker
from pypto_tmpl.ir.enums import ArgDirection, ParamDirection
from pypto_tmpl.ops.returned_parameters import ReturnedParameters
from pypto_tmpl.streams.driver.state import State
from pypto_tmpl.streams.driver.values import Argument, ChipTask, Context, Meaning, Results, Window
from pypto_tmpl.streams.orchestration.spelling import run_time_dtype
from pypto_tmpl.streams.problems import Obstacle

_DECLARED = {
    ParamDirection.In: "INPUT", ParamDirection.Out: "OUTPUT_EXISTING", ParamDirection.InOut: "INOUT",
}  # fmt: skip
_GIVEN = {
    ArgDirection.Input: "INPUT", ArgDirection.Output: "OUTPUT_EXISTING",
    ArgDirection.OutputExisting: "OUTPUT_EXISTING", ArgDirection.InOut: "INOUT",
}  # fmt: skip


class Tasks:
    """Emits the tasks of one host function; ``collectives`` are those it runs, with where it first does."""

    def __init__(
        self,
        state: State,
        program: ir.Program,
        returned: ReturnedParameters,
        scalar: Callable[[ir.Expr], str],
    ) -> None:
        self._state = state
        self._functions = {function.name: function for function in program.functions.values()}
        self._returned = returned
        self._scalar = scalar
        self.collectives: dict[str, ir.Span] = {}

    def launch(self, call: ir.Call | ir.Submit, var: ir.Var | None) -> None:
        """Run an orchestration on a chip, or a sub-worker; ``var`` stands for what it returns.

        Raises Obstacle.
        """
        callee = self._functions.get(call.op.name)
        is_worker = callee is not None and is_sub_worker(callee)
        if callee is None or not (is_worker or callee.func_type is ir.FunctionType.Orchestration):
            raise Obstacle(_no_task(call.op.name, callee), call.span)
        if len(call.args) != len(callee.params):
            what = f"{callee.name!r} takes {len(callee.params)} arguments, {len(call.args)} given"
            raise Obstacle(what, call.span)
        task = self._task(call, callee.name)
        task.is_of_host = is_worker
        if is_worker and task.device:
            raise Obstacle(f"{callee.name!r} runs on the host, and the call names a device", call.span)
        for param, direction, arg in zip(callee.params, callee.param_directions, call.args, strict=True):
            shape = param.type.shape if isinstance(param.type, ir.TensorType) else ()
            self._add(task, arg, _DECLARED[direction], shape)
        self._state.line(self._state.macros.task(task))
        if var is not None:
            self._bind(var, call, callee)

    def collective(self, call: ir.Call, name: str, scalars: Sequence[str]) -> str:
        """The task of a collective, which gets its domain's size and context, and then ``scalars``."""
        self.collectives.setdefault(name, call.span)
        task = self._task(call, name)
        task.is_builtin = True
        directions = call.arg_directions
        if len(directions) != len(call.args):
            raise Obstacle(f"the call of {name} does not say how it takes its arguments", call.span)
        for arg, direction in zip(call.args, directions, strict=True):
            self._add(task, arg, _GIVEN.get(direction, ""), ())
        domain = self._state.window(call.args[0]).buffer.domain
        task.scalars = [self._state.macros.domain_size(domain, task.device)]
        task.scalars += [self._state.macros.context(domain, task.device), *scalars]
        return str(self._state.macros.task(task))

    def _task(self, call: ir.Call | ir.Submit, callee: str) -> ChipTask:
        device = call.attrs.get("device")
        text = "" if device is None else self._scalar(device)
        return ChipTask(self._state.next_task(), callee, text)

    def _add(self, task: ChipTask, arg: ir.Expr, how: str, shape: Sequence[ir.Expr]) -> None:
        """An argument: tensors stand before scalars, and windows ask for the order of their domain."""
        macros = self._state.macros
        if isinstance(arg.type, ir.CommCtxType):
            found = self._state.meaning(arg)
            if not isinstance(found, Context):
                raise Obstacle("a communication context is expected here", arg.span)
            task.scalars.append(macros.context(found.domain, self._device(task, arg)))
        elif not isinstance(arg.type, ir.TensorType):
            task.scalars.append(self._scalar(arg))
        elif not how:
            raise Obstacle("a tensor is taken as a scalar", arg.span)
        elif isinstance(arg.type, ir.DistributedTensorType):
            window = self._state.window(arg)
            device = self._device(task, arg)
            task.tensors.append(Argument(self._window(window, device, shape), how))
            if window.buffer.domain not in task.tokens:
                task.tokens.append(window.buffer.domain)
        else:
            task.tensors.append(Argument(macros.host_tensor(self._state.tensor(arg).key), how))

    def _window(self, window: Window, device: str, shape: Sequence[ir.Expr]) -> str:
        """A chip's own instance of a window, in the shape that the callee knows, else in its own."""
        is_known = bool(shape) and all(isinstance(extent, ir.ConstInt) for extent in shape)
        extents = [self._scalar(extent) for extent in (shape if is_known else window.type.shape)]
        return str(
            self._state.macros.window(window.buffer, device, extents, run_time_dtype(window.type.dtype))
        )

    def _device(self, task: ChipTask, arg: ir.Expr) -> str:
        if not task.device:
            raise Obstacle("a window is that of one device, and the call names none (device=)", arg.span)
        return task.device

    def _places(self, callee: ir.Function) -> Sequence[int | None]:
        """The arguments that the results are: of Python on the host those that it writes, in order."""
        if not is_sub_worker(callee):
            return self._returned.of(callee.name)
        ways = enumerate(callee.param_directions)
        return [place for place, way in ways if way is not ParamDirection.In][: len(callee.return_types)]

    def _bind(self, var: ir.Var, call: ir.Call | ir.Submit, callee: ir.Function) -> None:
        """Let a variable stand for the results: the arguments that the callee returns."""
        found: list[Meaning | None] = []
        for place in self._places(callee):
            found.append(None if place is None else self._state.meaning(call.args[place]))
        if isinstance(var.type, ir.TupleType):
            self._state.bind(var, Results(tuple(found)))
        elif isinstance(var.type, ir.TensorType):
            self._state.bind(var, result_at(Results(tuple(found)), 0, callee.name, call.span))


def result_at(results: Results, index: int, callee: str, span: ir.Span) -> Meaning:
    """A result of a task. Raises Obstacle for one that no argument is."""
    found = results.parts[index] if index < len(results.parts) else None
    if found is None:
        raise Obstacle(f"result {index} of {callee!r} is none of its arguments", span)
    return found


def _no_task(name: str, callee: ir.Function | None) -> str:
    if callee is None:
        return f"the program has no function {name!r}"
    return f"{name!r} is neither an orchestration of a chip nor a sub-worker, and the host runs nothing else"
