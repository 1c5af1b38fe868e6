"""Calls and submits of functions of the program: groups, blocks, conditions, outputs made at run time."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest

from pypto_tmpl import ir
from pypto_tmpl.codegen.context import Context
from pypto_tmpl.codegen.expressions import Expressions
from pypto_tmpl.codegen.facts import Launch
from pypto_tmpl.codegen.groups import CallPair
from pypto_tmpl.codegen.marks import LaunchNote
from pypto_tmpl.codegen.rank_launches import RankLaunches
from pypto_tmpl.codegen.trace_emitter import Tracing
from pypto_tmpl.codegen.valid_regions import ValidRegions
from pypto_tmpl.codegen.values import Values
from pypto_tmpl.codegen.variables import Variables
from pypto_tmpl.codegen.waiting import may_wait


def _result_count(node: ir.Submit) -> int:
    return len(node.type.types) - 1 if isinstance(node.type, ir.TupleType) else 0


class Launches:
    """Texts of the calls by which functions of one program launch each other."""

    def __init__(
        self,
        context: Context,
        variables: Variables,
        values: Values,
        expressions: Expressions,
        valid: ValidRegions,
        tracing: Tracing,
    ) -> None:
        self._context, self._macros = context, context.macros
        self._variables, self._values, self._expressions = variables, values, expressions
        self._valid, self._tracing = valid, tracing
        self._on_ranks = RankLaunches(context, expressions)
        self.pair: CallPair | None = None

    def function_call(self, node: ir.Call) -> str:
        self._refuse_keywords(node)
        self._check_count(node)
        if self.pair is not None and self.pair.is_last(node):
            return self._pair_value(self.pair)
        text = self._launch(node, self._arguments(node), node.attrs.get("core_num"))
        predicate = node.attrs.get("predicate")
        return text if predicate is None else self._predicated(node, text, predicate)

    def submission(self, node: ir.Submit) -> str:
        if self.pair is not None and self.pair.is_last(node):
            return self._pair_value(self.pair)
        if self._context.runs_tasks:
            return self.submitted_call(node)
        return str(self._macros.submitted(self.submitted_call(node), _result_count(node)))

    def finished(self, node: ir.Submit) -> str:
        """Text of a submit's value where its results are of no account: its outputs and its task id."""
        if not _result_count(node):
            return str(self._macros.task_done())
        outputs = self.unchanged_results(node)
        if outputs is None:
            self._context.report(
                f"results of {node.op.name!r}, which runs in a group and returns none", node.span
            )
        texts = self._unchanged_texts(node, outputs or [])
        return str(self._macros.tuple_of([*texts, self._macros.task_done()]))

    def submitted_call(self, node: ir.Submit) -> str:
        """Text of what a submit launches, without its task id."""
        self._refuse_keywords(node)
        if self.pair is not None and self.pair.is_last(node):
            return self.pair_call(self.pair)
        callee = self._context.script.kernels.callee(node)
        args = self._arguments(node)
        if callee is not None and len(args) < len(callee.params):
            args = self._with_allocated(node, callee, args)
        text = self._launch(node, args, node.core_num)
        return text if node.predicate is None else self._predicated(node, text, node.predicate)

    def _refuse_keywords(self, node: Launch) -> None:
        for key in node.kwargs:
            self._context.report(f"keyword {key!r} of a call of {node.op.name!r}", node.span)

    def _launch(self, node: Launch, args: list[str], core_num: ir.Expr | None) -> str:
        callee = self._context.script.kernels.callee(node)
        if callee is None:
            self._context.report(f"call of {node.op.name!r}, which is no function of this program", node.span)
            return str(self._macros.nothing())
        name = self._context.script.function_names[callee.name]
        if self._context.on_host:
            return self._on_ranks.dispatch(node, callee, args)
        is_group = self._context.script.is_scheduled(callee.name) and not self._is_within_group(callee)
        if core_num is None:
            core_num = self._own_core_num(node, callee)
        if self._context.runs_tasks:
            return self._on_ranks.task(node, callee, args, core_num, is_group, self.names_of)
        if core_num is None:
            return str(
                self._macros.group_call(callee.name, args) if is_group else self._macros.call(name, args)
            )
        blocks = self._expressions.expr(core_num)
        if self._context.script.host.function is not None and may_wait(self._context.script.kernels, callee):
            called = [self._macros.run_group(), self._macros.literal(callee.name)] if is_group else [name]
            return str(self._macros.call(self._macros.run_blocks(), [blocks, *called, *args]))
        if is_group:
            return str(self._macros.spmd_group_call(blocks, callee.name, args))
        return str(self._macros.spmd_call(blocks, name, args))

    def _is_within_group(self, callee: ir.Function) -> bool:
        """True for a vector kernel that another kernel calls: its lanes run already."""
        kernels = (ir.FunctionType.AIC, ir.FunctionType.AIV)
        return callee.func_type in kernels and self._context.function.func_type in kernels

    def _own_core_num(self, node: Launch, callee: ir.Function) -> ir.Expr | None:
        """The block count that a function states itself (the older form), in terms of the caller."""
        core_num: ir.Expr | None = callee.attrs.get("core_num")
        for arg, param in zip(node.args, callee.params, strict=False):
            if param is core_num:
                return arg
        return core_num

    def _check_count(self, node: ir.Call) -> None:
        callee = self._context.script.kernels.callee(node)
        if callee is not None and len(node.args) != len(callee.params):
            what = (
                f"call of {callee.name!r}, which takes {len(callee.params)} arguments, with {len(node.args)}"
            )
            self._context.report(what, node.span)

    def _pair_value(self, pair: CallPair) -> str:
        """The value of the call that gives the pair's result, wherever the other one stands."""
        if len(pair.givers) > 1:
            self._context.report(
                f"the value of a call in group {pair.group!r} without a name", pair.last.span
            )
        return self.as_launched(pair.givers[0], self.pair_call(pair))

    def as_launched(self, launch: Launch, text: str) -> str:
        """Text of the value of a launch: that of a submit has a task id."""
        if not isinstance(launch, ir.Submit):
            return text
        return str(self._macros.submitted(text, _result_count(launch)))

    def pair_call(self, pair: CallPair) -> str:
        """The concurrent call of both members of a group, which stands where the later of the two does."""
        for call in (pair.aic, pair.aiv):
            for key in ("core_num", "predicate"):
                if call is not None and (key in call.attrs or getattr(call, key, None) is not None):
                    self._context.report(
                        f"attribute {key!r} of a call that runs in group {pair.group!r}", call.span
                    )
        aic, aiv = (self._arguments(call) if call is not None else None for call in (pair.aic, pair.aiv))
        first = aic if aic is not None else aiv
        value = None if pair.value == self._context.script.groups[pair.group].value else pair.value
        return str(self._macros.pair_call(pair.group, first, aiv if aiv != first else None, value))

    def _arguments(self, node: Launch) -> list[str]:
        """Argument texts; a region that the callee's types cannot state travels with the value."""
        callee = self._context.script.kernels.callee(node)
        for arg in node.args:
            if self._values.lane_regions.region(arg) is not None:
                what = f"a lane's part of a partly valid tile as an argument of {node.op.name!r}"
                self._context.report(what, node.span)
        unbound = self._context.script.kernels.unbound_regions(callee.name) if callee is not None else ()
        if callee is None:
            return [self._expressions.alone(arg) for arg in node.args]
        if not unbound:
            pairs = zip_longest(node.args, callee.params[: len(node.args)])
            return [
                self._tracing.argument(param, arg, self._expressions.viewed(arg, param))
                for arg, param in pairs
            ]
        texts = []
        for arg, param in zip(node.args, callee.params, strict=False):
            text = self._expressions.viewed(arg, param)
            texts.append(
                self._macros.with_region(text, self._valid.region_text(arg)) if id(param) in unbound else text
            )
        return texts

    # Notes

    def launch_note(self, node: Launch) -> LaunchNote:
        """What a launch asks of the run time, in names of the script."""
        attrs = node.attrs
        deps = list(node.deps) if isinstance(node, ir.Submit) else []
        unordered = set(attrs.get("arg_direction_overrides", ()))
        for index, direction in enumerate(attrs.get("arg_directions", ())):
            if direction is ir.ArgDirection.NoDep:
                unordered.add(index)
        deps += [*attrs.get("manual_dep_edges", ()), *attrs.get("compiler_manual_dep_edges", ())]
        return LaunchNote(
            self.names_of(deps),
            self.names_of(attrs.get("dump_vars", ())),
            tuple(sorted(unordered)),
        )

    def names_of(self, variables: Iterable[ir.Expr]) -> tuple[str, ...]:
        """Texts of variables that have a value, each once."""
        known = (var for var in variables if not isinstance(var, ir.Var) or self._variables.is_bound(var))
        return tuple(dict.fromkeys(self._expressions.again(var) for var in known))

    # Conditions

    def _predicated(self, node: Launch, text: str, predicate: ir.Expr) -> str:
        """A launch that happens only if ``predicate`` holds; else the outputs are as they were."""
        outputs = self.unchanged_results(node)
        if outputs is None:
            self._context.report(
                f"a predicated launch of {node.op.name!r}, which returns more than its outputs", node.span
            )
            return text
        texts = self._unchanged_texts(node, outputs)
        otherwise = self._macros.nothing() if not texts else texts[0]
        if len(texts) > 1:
            otherwise = self._macros.tuple_of(texts)
        return str(self._macros.predicated(text, self._expressions.expr(predicate), otherwise))

    def _unchanged_texts(self, node: Launch, outputs: list[ir.Expr]) -> list[str]:
        """Texts of the arguments that stand for the results of a launch, as the callee would return them."""
        callee = self._context.script.kernels.callee(node)
        types = callee.return_types if callee is not None else ()
        return [self._expressions.again(output, type_) for output, type_ in zip(outputs, types, strict=True)]

    def unchanged_results(self, node: Launch) -> list[ir.Expr] | None:
        """The arguments that the results of a launch are, if it does not happen; None if they are none."""
        callee = self._context.script.kernels.callee(node)
        if callee is None or not callee.return_types:
            return []
        pairs = list(zip(node.args, callee.param_directions, strict=False))
        for directions in (
            {ir.ParamDirection.Out, ir.ParamDirection.InOut},
            {ir.ParamDirection.Out},
        ):
            outputs = [arg for arg, direction in pairs if direction in directions]
            if len(outputs) == len(callee.return_types):
                return outputs
        return None

    # Outputs

    def _with_allocated(self, node: ir.Submit, callee: ir.Function, args: list[str]) -> list[str]:
        """Arguments with the outputs that the run time allocates (spec: IR, 6.3)."""
        trailing = 0
        while trailing < len(args) and isinstance(callee.params[-1 - trailing].type, ir.CommCtxType):
            trailing += 1
        leading = len(args) - trailing
        missing = len(callee.params) - len(args)
        made: list[str] = []
        for i in range(leading, leading + missing):
            param = callee.params[i]
            shape = self._shape_of_output(node, callee, i)
            if shape is None:
                what = f"a submit of {callee.name!r} without its parameter {param.name_hint!r}"
                self._context.report(what, node.span)
            else:
                dtype = param.type.dtype.name if isinstance(param.type, ir.ShapedType) else ""
                made.append(self._new_buffer(shape, dtype))
        return [*args[:leading], *made, *args[len(args) - trailing :]]

    def _new_buffer(self, shape: list[str], dtype: str) -> str:
        has_poison = self._context.script.options.poison
        return str(self._macros.new_buffer(shape, dtype, self._variables.device, has_poison))

    def _shape_of_output(self, node: ir.Submit, callee: ir.Function, index: int) -> list[str] | None:
        """Extents of a tensor that the run time allocates, None for a parameter that it does not allocate.

        A dynamic extent is read off the first argument whose parameter has it.
        """
        type_, direction = callee.params[index].type, callee.param_directions[index]
        if direction is not ir.ParamDirection.Out or not isinstance(type_, ir.TensorType):
            return None
        if type_.dtype.name not in self._context.script.carriers:
            return None
        shape: list[str] = []
        for dim in type_.shape:
            text = (
                self._expressions.expr(dim)
                if isinstance(dim, ir.ConstInt)
                else self._given_extent(node, callee, dim)
            )
            if text is None:
                return None
            shape.append(text)
        return shape

    def _given_extent(self, node: ir.Submit, callee: ir.Function, dim: ir.Expr) -> str | None:
        for arg, param in zip(node.args, callee.params, strict=False):
            if param is dim:
                return self._expressions.expr(arg)
            if isinstance(param.type, ir.ShapedType) and isinstance(arg, ir.Var):
                for axis, extent in enumerate(param.type.shape):
                    if extent is dim:
                        return self._variables.extent_text(self._expressions.expr(arg), param.type, axis)
        return None
