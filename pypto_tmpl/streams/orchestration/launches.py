"""Launches of kernels: one submission for each task, and what its results stand for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pypto_tmpl import ir
from pypto_tmpl.ir.enums import ArgDirection
from pypto_tmpl.ops.returned_parameters import ReturnedParameters
from pypto_tmpl.streams.orchestration.dispatch import Dispatch, Dispatches, Given, blocks_of
from pypto_tmpl.streams.orchestration.predicates import predicate_of
from pypto_tmpl.streams.orchestration.scalars import Scalars
from pypto_tmpl.streams.orchestration.spelling import MADE_TENSOR, TASK_ID, run_time_dtype
from pypto_tmpl.streams.orchestration.state import State
from pypto_tmpl.streams.orchestration.values import Argument, Cpp, Created, Kernel, Meaning, Results, Task
from pypto_tmpl.streams.problems import Obstacle

_HOW = {
    ArgDirection.Input: "input", ArgDirection.Output: "output", ArgDirection.OutputExisting: "output",
    ArgDirection.InOut: "inout", ArgDirection.NoDep: "no_dep",
}  # fmt: skip
_SIGNATURE = {"input": "IN", "output": "OUT", "inout": "INOUT", "no_dep": "INOUT"}
_NO_KERNEL = "INVALID_KERNEL_ID"


class Launches:
    """Emits the launches of one function and numbers its kernels."""

    def __init__(
        self, state: State, scalars: Scalars, dispatches: Dispatches, returned: ReturnedParameters
    ) -> None:
        self._state = state
        self._scalars = scalars
        self._dispatches = dispatches
        self._returned = returned
        self._count = 0
        self.kernels: dict[str, Kernel] = {}

    def launch(self, call: ir.Call | ir.Submit, var: ir.Var | None) -> None:
        """The lines of a launch; ``var`` is bound to what it gives. Raises Obstacle."""
        callee = self._dispatches.callee(call)
        tasks = self._dispatches.of(call)
        if isinstance(call, ir.Submit) and len(tasks) != 1:
            raise Obstacle(
                f"the launch of {callee.name!r} is {len(tasks)} tasks and has no one id", call.span
            )
        made: dict[ir.Var, Cpp] = {}
        outputs = ""
        for dispatch in tasks:
            task = self._task(dispatch, callee, call)
            if isinstance(call, ir.Submit):
                task.outputs = outputs = f"task_{self._count - 1}_outs"
            self._state.line(self._state.templates.tasks.task(task))
            made |= self._outputs(dispatch, task)
        if var is not None:
            self._bind(var, call, made, outputs)

    def _task(self, dispatch: Dispatch, callee: ir.Function, call: ir.Call | ir.Submit) -> Task:
        number = self._count
        self._count += 1
        kernel_names = [kernel.name for kernel in dispatch.kernels]
        is_direct = callee in dispatch.kernels
        task = Task(
            self._state.templates.tasks.comment(number, kernel_names, "" if is_direct else callee.name),
            f"params_t{number}",
            f"mixed_{number}",
            waits_first=is_direct,
        )
        scalars: list[Argument] = []
        for given in dispatch.arguments:
            if given.expr is None:
                task.made.append(self._made(given, task, call))
                task.arguments.append(Argument("output", task.made[-1].info))
            elif isinstance(given.expr.type, ir.TensorType):
                how = _HOW.get(given.direction)
                if how is None:
                    raise Obstacle(
                        f"{given.param.name_hint!r} is a tensor that is taken as a scalar", call.span
                    )
                task.arguments.append(Argument(how, self._state.variable(given.expr).name))
            else:
                scalars.append(Argument("scalar", self._scalars.word(given.expr)))
        signature = tuple(_SIGNATURE[argument.how] for argument in task.arguments)
        task.arguments += scalars
        self._address(task, dispatch, signature)
        self._say_how(task, call)
        return task

    def _address(self, task: Task, dispatch: Dispatch, signature: tuple[str, ...]) -> None:
        """Which kernels run, and on which cores."""
        ids = [self._number(kernel, signature) for kernel in dispatch.kernels]
        if dispatch.cube is not None and dispatch.vector is not None:
            lanes = [str(ids[0]), str(ids[1]), str(ids[1]) if dispatch.is_dual else _NO_KERNEL]
        elif dispatch.is_dual:
            lanes = [_NO_KERNEL, str(ids[0]), str(ids[0])]
        else:
            task.submit = "rt_submit_aiv_task" if dispatch.cube is None else "rt_submit_aic_task"
            task.kernel = ids[0]
            return
        task.submit, task.lanes = "rt_submit_task", lanes

    def _number(self, kernel: ir.Function, signature: tuple[str, ...]) -> int:
        """The number of a kernel: the next one when it is first launched."""
        known = self.kernels.get(kernel.name)
        if known is None:
            known = self.kernels[kernel.name] = Kernel(len(self.kernels), kernel, signature)
        return known.id

    def _say_how(self, task: Task, call: ir.Call | ir.Submit) -> None:
        """What a launch asks of the run time."""
        attrs = call.attrs
        user = [*(call.deps if isinstance(call, ir.Submit) else ()), *attrs.get("manual_dep_edges", ())]
        task.dependencies = self.dependencies(user, attrs.get("compiler_manual_dep_edges", ()))
        task.dumped = [self._state.variable(var).name for var in attrs.get("dump_vars", ())]
        blocks = blocks_of(call)
        if blocks is not None:
            task.blocks = self._scalars.text(blocks)
            task.blocks_setter = self._state.facts.core_count_method
        submit = call if isinstance(call, ir.Submit) else None
        task.sync_start = bool(submit.sync_start if submit else attrs.get("sync_start"))
        task.early = bool(submit.allow_early_resolve if submit else attrs.get("allow_early_resolve"))
        predicate = submit.predicate if submit else attrs.get("predicate")
        if predicate is not None:
            task.predicate = predicate_of(predicate, self._state, self._scalars)

    def dependencies(self, user: Iterable[ir.Expr], compiler: Iterable[ir.Expr]) -> list[Cpp]:
        """The ids to wait for, each once; an array is one for each of its elements.

        What the compiler found is left out where its scope has closed: the run time orders such tasks itself.
        """
        found: dict[str, Cpp] = {}
        for expr, is_own in [*((e, True) for e in user), *((e, False) for e in compiler)]:
            meaning = self._state.meanings.get(expr) if isinstance(expr, ir.Var) else None
            if not isinstance(meaning, Cpp) or not self._state.is_visible(meaning):
                if not is_own:
                    continue
                meaning = None if isinstance(meaning, Cpp) else self._state.variable(expr)
            if meaning is None:
                name = expr.name_hint if isinstance(expr, ir.Var) else str(expr)
                raise Obstacle(
                    f"Task dependency deps=[{name}] cannot be honored: its scope has closed", expr.span
                )
            if meaning.size is None:
                found[meaning.name] = meaning
                continue
            for place in range(meaning.size):
                element = str(self._state.templates.values.element(meaning.name, place))
                found[element] = Cpp(element)
        return list(found.values())

    # Outputs that the run time makes

    def _made(self, given: Given, task: Task, call: ir.Call | ir.Submit) -> Created:
        """A tensor that the launch leaves out; its extents must be known."""
        type_ = given.param.type
        if not isinstance(type_, ir.TensorType):
            raise Obstacle(f"{call.op.name!r} needs its argument {given.param.name_hint!r}", call.span)
        if not all(isinstance(extent, ir.ConstInt) for extent in type_.shape):
            what = f"the extents of {given.param.name_hint!r}, which {call.op.name!r} leaves to the run time"
            raise Obstacle(f"{what}, are not known", call.span)
        info = f"{task.params}_synth_out_{len(task.made)}"
        return Created("", info, self._scalars.extents(type_.shape), run_time_dtype(type_.dtype), False)

    def _outputs(self, dispatch: Dispatch, task: Task) -> dict[ir.Var, Cpp]:
        """The tensors that the run time has made, by the parameters that they are for."""
        made = [given.param for given in dispatch.arguments if given.expr is None]
        output = self._state.templates.tasks.output
        return {param: Cpp(output(task.outputs, i), made=MADE_TENSOR) for i, param in enumerate(made)}

    # Results

    def _bind(self, var: ir.Var, call: ir.Call | ir.Submit, made: dict[ir.Var, Cpp], outputs: str) -> None:
        """Let a variable stand for the results of a launch: the arguments that the callee returns."""
        types = var.type.types if isinstance(var.type, ir.TupleType) else (var.type,)
        callee = self._dispatches.callee(call)
        places = self._returned.of(callee.name)
        found: list[Meaning | None] = []
        for index, type_ in enumerate(types):
            if isinstance(type_, ir.ScalarType) and type_.dtype == ir.DataType.TASK_ID:
                text = self._state.templates.tasks.task_id(outputs)
                found.append(Cpp(text, is_valid=True, made=TASK_ID))
                continue
            place = places[index] if index < len(places) else None
            if place is None:
                found.append(None)
            elif place < len(call.args):
                found.append(self._state.meaning(call.args[place]))
            else:
                found.append(made.get(callee.params[place]))
        self._state.bind(var, Results(tuple(found)))


def result_at(results: Sequence[Meaning | None], index: int, callee: str, span: ir.Span) -> Meaning:
    """A result of a launch. Raises Obstacle for one that no argument is."""
    found = results[index] if index < len(results) else None
    if found is None:
        raise Obstacle(
            f"result {index} of {callee!r} is none of its arguments, and the host has no other", span
        )
    return found
