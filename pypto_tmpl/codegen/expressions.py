"""Expressions, names and regions within one function."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from pypto_tmpl import ir
from pypto_tmpl.codegen import scalars
from pypto_tmpl.codegen.filters import py_literal
from pypto_tmpl.codegen.known_attrs import unknown_attrs
from pypto_tmpl.codegen.names import NameTable
from pypto_tmpl.codegen.regions import RuntimeRegions, static_region
from pypto_tmpl.codegen.unsupported import Unsupported

if TYPE_CHECKING:
    from pypto_tmpl.codegen.script import ScriptBuilder

_CUBE_SPACES = frozenset(
    {
        ir.MemorySpace.Mat,
        ir.MemorySpace.Left,
        ir.MemorySpace.Right,
        ir.MemorySpace.Acc,
        ir.MemorySpace.LeftScale,
        ir.MemorySpace.RightScale,
    }
)


class ExpressionEmitter:
    """Texts of expressions in one function, and the names they use."""

    def __init__(self, script: ScriptBuilder, function: ir.Function) -> None:
        self.script = script
        self.function = function
        self.macros: Any = script.generator.expressions
        self.names = NameTable(script.reserved)
        self.in_kernel = function.name in script.kernels.loading_functions
        table = script.generator.table
        self.regions = RuntimeRegions(
            function, table, lambda pop: script.kernels.may_pop_partial(function, pop)
        )
        self.current_variable: ir.Var | None = None
        self.current_span = function.span
        self.store_once: Callable[[ir.Call], bool] = (
            self.cube_side_store if script.kernels.runs_on_two_lanes(function) else lambda call: False
        )
        self._bound: dict[int, str] = {}
        self._companions: dict[int, str] = {}
        self._nothing: set[int] = set()
        self._headers: dict[str, str] = {}
        self._dimensions = {
            id(dim): (var, axis)
            for var in reversed(function.params)
            if isinstance(var.type, ir.ShapedType)
            for axis, dim in reversed(list(enumerate(var.type.shape)))
            if isinstance(dim, ir.Var)
        }
        self._written = _written_variables(function, script)
        self._dispatch: dict[type, Callable[[Any], str]] = {
            ir.ConstInt: self._constant,
            ir.ConstFloat: self._constant,
            ir.ConstBool: self._constant,
            ir.Var: self.name_of,
            ir.IterArg: self.name_of,
            ir.Call: self._call,
            ir.Submit: self._submit,
            ir.MakeTuple: lambda node: self.macros.tuple_of([self.expr(e) for e in node.elements]),
            ir.TupleGetItemExpr: lambda node: self.macros.item(self.expr(node.tuple), node.index),
        }

    # Reporting

    def report(self, what: str, span: ir.Span) -> None:
        """Note an obstacle; generation goes on, so that one error lists them all."""
        where = span if span.is_valid() else self.current_span
        variable = self.current_variable.name_hint if self.current_variable is not None else ""
        self.script.unsupported.append(Unsupported(what, self.function.name, variable, where))

    def find_obstacles(self) -> None:
        """Report what no statement of the function would come across."""
        if "external_source" in self.function.attrs:
            self.report("a function whose body is an external kernel source", self.function.span)
        for var in self.function.params:
            self.current_variable = var
            self.check_dtype(var)
        self.current_variable = None
        for node, key in unknown_attrs(self.function.body):
            self.report(f"attribute {key!r} of a {type(node).__name__}", node.span)

    def check_dtype(self, node: ir.Expr) -> None:
        """Report an element type that no torch tensor holds."""
        if isinstance(node.type, ir.ShapedType) and node.type.dtype.name not in self.script.carriers:
            self.report(f"dtype {node.type.dtype.name} (code {node.type.dtype.code()})", node.span)

    # Names

    def bind(self, var: ir.Var) -> str:
        """The name of ``var``, which is being assigned."""
        self._nothing.discard(id(var))
        if id(var) not in self._bound:
            self._bound[id(var)] = self.names.unique(var.name_hint)
        return self._bound[id(var)]

    def bind_nothing(self, var: ir.Var) -> None:
        """Mark ``var`` as the result of an op that has no effect and no value here."""
        self._nothing.add(id(var))

    def bound_names(self) -> dict[int, str]:
        return self._bound

    def name_of(self, var: ir.Var) -> str:
        """The name of ``var``, which is being read; a dynamic extent is read off a parameter's shape."""
        if id(var) in self._bound:
            return self._bound[id(var)]
        if id(var) in self._nothing:
            return str(self.macros.nothing())
        if id(var) in self._dimensions:
            param, axis = self._dimensions[id(var)]
            name = self._bound[id(var)] = self.names.unique(var.name_hint)
            self._headers[name] = self.macros.extent(self._bound[id(param)], axis)
            return name
        self.report(f"variable {var.name_hint!r} is used, but nothing before binds it", var.span)
        return self.bind(var)

    def header_lines(self) -> list[str]:
        """Assignments at the top of the function that the body turned out to need."""
        return [self.script.generator.statements.assign(name, text) for name, text in self._headers.items()]

    @property
    def device(self) -> str | None:
        """The device of the function's tensors, None when it takes none."""
        for var in self.function.params:
            if isinstance(var.type, ir.TensorType | ir.TileType):
                return str(self.macros.device_of(self._bound[id(var)]))
        return None

    # Expressions

    def expr(self, node: ir.Expr) -> str:
        """Text of ``node`` as an operand; scalar operators are parenthesised by whoever nests them."""
        emit = self._dispatch.get(type(node))
        if emit is not None:
            return emit(node)
        if isinstance(node, ir.BinaryExpr):
            return scalars.binary(self, node)
        if isinstance(node, ir.UnaryExpr):
            return scalars.unary(self, node)
        self.report(f"expression {type(node).__name__}", node.span)
        return str(self.macros.nothing())

    def extent(self, node: ir.Expr) -> str:
        """Text of a shape's extent; an unbound one (only the run knows it) is reported."""
        return self.expr(node)

    def alone(self, node: ir.Expr) -> str:
        """Text of ``node`` where it stands alone: without the parentheses around an op's expression."""
        text = self.expr(node)
        return without_outer_parentheses(text) if type(node) is ir.Call else text

    def _constant(self, node: ir.ConstInt | ir.ConstFloat | ir.ConstBool) -> str:
        return py_literal(node.value)

    # Calls

    def is_noop(self, node: ir.Expr) -> bool:
        """True for a call of an op that has no effect in a script."""
        if not isinstance(node, ir.Call) or isinstance(node.op, ir.GlobalVar):
            return False
        entry = self.script.generator.table.get(node.op.name)
        return entry is not None and entry.is_noop

    def is_window(self, node: ir.Expr) -> bool:
        """True for an orchestration slice: a view that ends where its source ends."""
        return isinstance(node, ir.Call) and node.op.name == "tensor.slice" and not self.in_kernel

    def is_written(self, call: ir.Call) -> bool:
        """True when the first operand of ``call`` or its target may be written in place."""
        variables = [call.args[0] if call.args else None, self.current_variable]
        return any(var is not None and id(var) in self._written for var in variables)

    def cube_side_store(self, call: ir.Call) -> bool:
        """True for a write to global memory from the cube side."""
        type_ = call.args[0].type if call.args else None
        return isinstance(type_, ir.TileType) and type_.memory_space in _CUBE_SPACES

    def any_store(self, call: ir.Call) -> bool:
        return True

    def pair_call(self, call: ir.Call) -> str | None:
        """The concurrent call that ``call`` belongs to, None for any other call."""
        raise NotImplementedError

    def _call(self, node: ir.Call) -> str:
        if isinstance(node.op, ir.GlobalVar):
            return self._function_call(node)
        text = self.script.generator.ops.emit(self, node)
        target = self._global_target(node)
        if target is None:
            return text
        if self.function.name in self.script.kernels.muted_on_lane1:
            return str(self.macros.if_writes_land(text, self.expr(target)))
        return str(self.macros.store_once(text)) if self.store_once(node) else text

    def _global_target(self, node: ir.Call) -> ir.Expr | None:
        """The tensor in global memory that an op writes."""
        entry = self.script.generator.table.get(node.op.name)
        for name in entry.writes if entry is not None else ():
            position = entry.operand_names.index(name) if entry is not None else 0
            target: ir.Expr | None = node.args[position] if position < len(node.args) else None
            if target is not None and isinstance(target.type, ir.TensorType):
                return target
        return None

    def _function_call(self, node: ir.Call) -> str:
        paired = self.pair_call(node)
        if paired is not None:
            return paired
        args = self._arguments(node)
        text = self._launch(node.op.name, args, node.attrs.get("core_num"))
        predicate = node.attrs.get("predicate")
        return text if predicate is None else self._predicated(node, text, predicate)

    def _launch(self, callee: str, args: list[str], core_num: ir.Expr | None) -> str:
        name = self.script.function_names.get(callee)
        if name is None:
            self.report(f"call of {callee!r}, which is no function of this program", self.current_span)
            return str(self.macros.nothing())
        is_group = self.script.is_scheduled(callee)
        blocks = None if core_num is None else self.expr(core_num)
        if blocks is not None:
            if is_group:
                return str(self.macros.spmd_group_call(blocks, callee, args))
            return str(self.macros.spmd_call(blocks, name, args))
        return str(self.macros.group_call(callee, args) if is_group else self.macros.call(name, args))

    def _arguments(self, node: ir.Call | ir.Submit) -> list[str]:
        """Argument texts; a region that the callee's types cannot state travels with the value."""
        callee = self.script.kernels.callee(node)
        params = callee.params if callee is not None else ()
        texts = []
        for i, arg in enumerate(node.args):
            text = self.alone(arg)
            if callee is not None and i < len(params) and region_is_unbound(callee, params[i]):
                text = self.macros.with_region(text, self.region_text(arg))
            texts.append(text)
        return texts

    def _predicated(self, node: ir.Call | ir.Submit, text: str, predicate: ir.Expr) -> str:
        """A launch that happens only if ``predicate`` holds; else the outputs are as they were."""
        callee = self.script.kernels.callee(node)
        outputs: list[str] = []
        if callee is not None:
            for arg, direction in zip(node.args, callee.param_directions, strict=False):
                if direction is not ir.ParamDirection.In:
                    outputs.append(self.expr(arg))
            if callee.return_types and len(outputs) != len(callee.return_types):
                self.report(
                    f"a predicated launch of {callee.name!r}, which returns more than its outputs", node.span
                )
        single = outputs[0] if len(outputs) == 1 else self.macros.tuple_of(outputs)
        return str(self.macros.predicated(text, self.expr(predicate), single))

    def _submit(self, node: ir.Submit) -> str:
        callee = self.script.kernels.callee(node)
        args = self._arguments(node)
        if callee is not None and len(args) < len(callee.params):
            args = self._with_allocated(node, callee, args)
        text = self._launch(node.op.name, args, node.core_num)
        if node.predicate is not None:
            text = self._predicated(node, text, node.predicate)
        results = len(node.type.types) - 1 if isinstance(node.type, ir.TupleType) else 0
        return str(self.macros.submitted(text, results))

    def _with_allocated(self, node: ir.Submit, callee: ir.Function, args: list[str]) -> list[str]:
        """Arguments with the outputs that the run time allocates (spec: IR, 6.3)."""
        trailing = 0
        while trailing < len(args) and isinstance(callee.params[-1 - trailing].type, ir.CommCtxType):
            trailing += 1
        leading = len(args) - trailing
        missing = len(callee.params) - len(args)
        made: list[str] = []
        for i in range(leading, leading + missing):
            type_ = callee.params[i].type
            is_output = callee.param_directions[i] is ir.ParamDirection.Out
            if (
                not is_output
                or not isinstance(type_, ir.TensorType)
                or not all(_is_constant(d) for d in type_.shape)
            ):
                self.report(
                    f"a submit of {callee.name!r} without its parameter {callee.params[i].name_hint!r}",
                    node.span,
                )
                continue
            shape = [self.expr(dim) for dim in type_.shape]
            made.append(self.macros.new_buffer(shape, type_.dtype.name, self.device))
        return [*args[:leading], *made, *args[leading:]]

    # Regions

    def companion(self, var: ir.Var) -> str:
        """The run-time name of the region of ``var``."""
        if id(var) not in self._companions:
            self._companions[id(var)] = self.names.unique(self.macros.companion(var.name_hint))
        return self._companions[id(var)]

    def region(self, node: ir.Expr) -> tuple[str, list[str]] | None:
        """Valid region of a value: its text and the texts of its extents; None for the whole box."""
        extents = static_region(node.type)
        if extents is not None:
            if isinstance(node, ir.Var) and region_is_unbound(self.function, node):
                return self._runtime_region(self._received_region(node), len(extents))
            items = [self.expr(extent) for extent in extents]
            return self.macros.list_of(items), items
        if not self.regions.is_runtime(node) or not isinstance(node.type, ir.ShapedType):
            return None
        rank = len(node.type.shape)
        if isinstance(node, ir.Var):
            return self._runtime_region(self.companion(node), rank)
        source = self.regions.carrier(node) if isinstance(node, ir.Call) else None
        if source is not None:
            return self.region(source)
        self.report("a partly valid popped tile that is used without a name", node.span)
        return None

    def region_text(self, node: ir.Expr) -> str:
        """Text of the region of a value that is about to get a name, or to be passed on."""
        if (
            isinstance(node, ir.Call)
            and self.regions.carrier(node) is None
            and static_region(node.type) is None
        ):
            return str(self.macros.region(self._target_name()))
        found = self.region(node)
        return found[0] if found is not None else str(self.macros.region(self.expr(node)))

    def _target_name(self) -> str:
        assert self.current_variable is not None
        return self.bind(self.current_variable)

    def _runtime_region(self, name: str, rank: int) -> tuple[str, list[str]]:
        return name, [self.macros.item(name, axis) for axis in range(rank)]

    def _received_region(self, param: ir.Var) -> str:
        """The region that came along with a parameter."""
        name = self.companion(param)
        self._headers[name] = self.macros.region(self._bound[id(param)])
        return name


def region_is_unbound(function: ir.Function, var: ir.Var) -> bool:
    """True for a parameter whose type states its region by variables that the function does not have."""
    extents = static_region(var.type)
    if extents is None or not any(var is param for param in function.params):
        return False
    known = {id(param) for param in function.params}
    for param in function.params:
        if isinstance(param.type, ir.ShapedType):
            known |= {id(dim) for dim in param.type.shape}
    used = (node for extent in extents for node in ir.walk(extent) if isinstance(node, ir.Var))
    return any(id(node) not in known for node in used)


def without_outer_parentheses(text: str) -> str:
    """``text`` without a pair of parentheses that encloses all of it."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for i, char in enumerate(text):
        if char in "'\"":
            return text  # a quoted parenthesis could fool the count
        depth += (char == "(") - (char == ")")
        if depth == 0 and i < len(text) - 1:
            return text
    return text[1:-1]


def _written_variables(function: ir.Function, script: ScriptBuilder) -> set[int]:
    """Variables that some op of the function may write in place, and those they are names of."""
    table = script.generator.table
    written: set[int] = set()
    aliases: list[tuple[ir.Var, Iterable[ir.Expr]]] = []
    for node in ir.walk(function.body):
        if isinstance(node, ir.Call) and (entry := table.get(node.op.name)) is not None:
            for name in entry.writes:
                position = entry.operand_names.index(name)
                if position < len(node.args):
                    written.add(id(node.args[position]))
        elif isinstance(node, ir.IterArg):
            aliases.append((node, (node.initValue,)))
        elif isinstance(node, ir.AssignStmt) and isinstance(node.value, ir.Var):
            aliases.append((node.var, (node.value,)))
    for target, values in reversed(aliases):
        if id(target) in written:
            written.update(id(value) for value in values)
    return written


def _is_constant(extent: ir.Expr) -> bool:
    return isinstance(extent, ir.ConstInt)
