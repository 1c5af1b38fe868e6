"""Expressions within one function, and the valid regions of their values."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pypto_tmpl import ir
from pypto_tmpl.codegen import scalars
from pypto_tmpl.codegen.bounds import IntegerBounds
from pypto_tmpl.codegen.edges import Edges
from pypto_tmpl.codegen.filters import py_literal
from pypto_tmpl.codegen.float_literals import within
from pypto_tmpl.codegen.known_attrs import unknown_attrs
from pypto_tmpl.codegen.lane_regions import LaneRegions
from pypto_tmpl.codegen.lifetimes import COPIES, Views
from pypto_tmpl.codegen.operands import Operand
from pypto_tmpl.codegen.origins import WINDOWS, window_is_inside
from pypto_tmpl.codegen.poison import Suspect, fresh_variables, suspects
from pypto_tmpl.codegen.regions import POPS, RuntimeRegions, static_region
from pypto_tmpl.codegen.sharing import SharedStorage
from pypto_tmpl.codegen.storage import MOVE, TRANSFERS, ChangingTiles, WrittenTiles, written_operand
from pypto_tmpl.codegen.variables import VariableEmitter
from pypto_tmpl.ops import OpEntry

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
_CHECKED = frozenset({"tile.load", "tile.extract"})  # refuse poison in what they read
_TFREES = frozenset({"system.tfree_to_aic", "system.tfree_to_aiv"})
# CPython gives up at 200 open brackets (an operator call opens up to three) and, depending on its version, at
# some 3000 levels of syntax.
MAX_NESTING = 60
MAX_CHAIN = 1000
MAX_PARTS = 10_000  # of one statement: parts that share parts could be told in no end of text


class ExpressionEmitter(VariableEmitter):
    """Texts of expressions in one function."""

    def __init__(self, script: ScriptBuilder, function: ir.Function) -> None:
        super().__init__(script, function)
        self.facts = script.kernels.facts[function.name]
        self.in_kernel = function.name in script.kernels.loading_functions
        self.is_muted = function.name in script.kernels.muted_on_lane1
        table = script.generator.table
        self.regions = RuntimeRegions(
            self.facts, table, lambda pop: script.kernels.may_pop_partial(function, pop)
        )
        self.lane_regions = LaneRegions(
            function.body, self.facts, table, script.kernels.runs_on_two_lanes(function)
        )
        self._fresh = fresh_variables(self.facts, table)
        self.suspects: list[Suspect] = []  # of the statement being emitted
        self.store_once: Callable[[ir.Call], bool] = (
            self.cube_side_store if script.kernels.runs_on_two_lanes(function) else lambda call: False
        )
        self._written = WrittenTiles(self.facts, table)
        self._nesting = self._chain = self._parts = 0
        self._leaves: dict[type, Callable[[Any], str]] = {
            ir.ConstInt: _constant,
            ir.ConstFloat: _constant,
            ir.ConstBool: _constant,
            ir.Var: self.name_of,
            ir.IterArg: self.name_of,
        }
        self._dispatch: dict[type, Callable[[Any], str]] = {
            ir.Call: self._call,
            ir.Submit: self._submit,
            ir.MakeTuple: lambda node: self.macros.tuple_of([self.expr(e) for e in node.elements]),
            ir.TupleGetItemExpr: lambda node: self.macros.item(self.expr(node.tuple), node.index),
        }

    @cached_property
    def _changing(self) -> ChangingTiles:
        return ChangingTiles(self.function, self.facts, self.script.generator.table)

    @cached_property
    def bounds(self) -> IntegerBounds:
        """Ranges of the integers that the function computes."""
        return self.script.kernels.bounds(self.function.name)

    @cached_property
    def edges(self) -> Edges:
        """The values that begin before the tensors they were loaded from."""
        return Edges(self.facts, self.script.generator.table, self.bounds)

    @cached_property
    def _storage(self) -> SharedStorage:
        in_kernel = self.function.name in self.script.kernels.loading_functions
        table = self.script.generator.table
        return SharedStorage(self.function, self.facts, table, self._written, in_kernel=in_kernel)

    @cached_property
    def _views(self) -> Views:
        return Views(self.facts, self.script.generator.table, self._written)

    @cached_property
    def device(self) -> str | None:
        """Text of the device of the function's tensors, None when it takes none."""
        for var in self.function.params:
            if isinstance(var.type, ir.TensorType | ir.TileType):
                return str(self.macros.device_of(self.bind(var)))
        return None

    def find_obstacles(self) -> None:
        """Report what no statement of the function would come across."""
        if "external_source" in self.function.attrs:
            self.report("a function whose body is an external kernel source", self.function.span)
        for var in self.function.params:
            self.current_variable = var
            self.check_dtype(var)
        self.current_variable = None
        for node, key in unknown_attrs(self.facts):
            self.report(f"attribute {key!r} of a {type(node).__name__}", node.span)

    # Expressions

    def expr(self, node: ir.Expr) -> str:
        """Text of ``node`` as an operand; scalar operators are parenthesised by whoever nests them."""
        emit = self._leaves.get(type(node))
        if emit is not None:
            return emit(node)
        self._parts += 1
        if self._nesting >= MAX_NESTING or self._parts > MAX_PARTS:
            return self._refused(node)
        self._nesting += 1
        emit = self._dispatch.get(type(node))
        if emit is not None:
            text = emit(node)
        elif isinstance(node, ir.BinaryExpr):
            text = scalars.binary(self, node)
        elif isinstance(node, ir.UnaryExpr):
            text = scalars.unary(self, node)
        else:
            self.report(f"expression {type(node).__name__}", node.span)
            text = str(self.macros.nothing())
        self._nesting -= 1
        return text

    def _refused(self, node: ir.Expr) -> str:
        """A placeholder for what is nested too deep or makes its statement too large; reported once."""
        if self._parts <= MAX_PARTS:
            self.report(f"an expression nested more than {MAX_NESTING} deep", node.span)
            self._parts = MAX_PARTS + 1
        elif self._parts == MAX_PARTS + 1:
            self.report(f"a statement of more than {MAX_PARTS} operators and calls", node.span)
        return str(self.macros.nothing())

    def begin_statement(self) -> None:
        """Count the parts of a statement anew."""
        self._parts = 0

    def chained(self, count: int) -> bool:
        """Enter ``count`` operators nested on the left; False (and reported) if Python refuses so many."""
        self._chain += count
        if self._chain <= MAX_CHAIN:
            return True
        self.report(f"an expression of more than {MAX_CHAIN} operators in a row", self.current_span)
        self._chain -= count
        return False

    def unchained(self, count: int) -> None:
        """Leave ``count`` operators."""
        self._chain -= count

    def alone(self, node: ir.Expr) -> str:
        """Text of ``node`` where it stands alone: without the parentheses around an op's expression."""
        text = self.expr(node)
        return without_outer_parentheses(text) if type(node) is ir.Call else text

    def viewed(self, node: ir.Expr, taker: ir.Var | None) -> str:
        """Text of ``node`` where ``taker`` gets it: a window loses the leading 1s that the taker lacks.

        FuseCreateAssembleToSlice makes windows of the rank of the tensor that they are cut from.
        """
        extra = 0 if taker is None else _leading_ones(node.type, taker.type)
        return self.alone(node) if not extra else str(self.macros.without_leading(self.expr(node), extra))

    def again(self, node: ir.Expr, type_: ir.Type | None = None) -> str:
        """Text of an expression that stands elsewhere too: its obstacles have been reported there.

        Where a value of ``type_`` is wanted, a window loses its leading 1s.
        """
        reported, unbound = len(self.script.unsupported), len(self.unbound)
        text = self.expr(node)
        extra = 0 if type_ is None else _leading_ones(node.type, type_)
        text = self.macros.without_leading(text, extra) if extra else text
        del self.script.unsupported[reported:]
        self.forget(unbound)
        return text

    def operand(self, node: ir.Expr) -> str:
        """Text of ``node`` as an operand of an op, which may put it next to any operator."""
        return scalars.as_operand(self, node, self.expr(node))

    # Operator calls

    def is_noop(self, node: ir.Expr) -> bool:
        """True for a call of an op that has no effect in a script."""
        if not isinstance(node, ir.Call) or isinstance(node.op, ir.GlobalVar):
            return False
        entry = self.script.generator.table.get(node.op.name)
        return entry is not None and entry.is_noop

    def check_noop(self, node: ir.Expr) -> None:
        """Report operands and keywords that an op without effect does not have."""
        if isinstance(node, ir.Call):
            self.script.generator.ops.check_noop(self, node)

    def is_window(self, node: ir.Expr) -> bool:
        """True for an orchestration slice: a view that ends where its source ends."""
        return isinstance(node, ir.Call) and node.op.name == "tensor.slice" and not self.in_kernel

    def is_written(self, call: ir.Call) -> bool:
        """True when the first operand of ``call`` or its target may be written in place."""
        if call.op.name == MOVE:
            return self._written.copies(call, self.current_variable)
        variables = [*call.args[:1], *([] if self.current_variable is None else [self.current_variable])]
        if call.op.name in TRANSFERS:
            return any(map(self._changing.may_change, variables))
        return any(map(self._written.__contains__, variables))

    def is_plain_window(self, call: ir.Call) -> bool:
        """Whether the window that ``call`` reads lies inside of its operand, also when the script runs."""
        if call.op.name not in WINDOWS:
            return False
        if not window_is_inside(self.script.generator.table, self.bounds, call):
            return False
        origin = self.script.origins.of(self.function.name, call.args[0])
        return origin.is_whole and (origin.is_clean or call.op.name not in _CHECKED)

    def may_be_view(self, call: ir.Call) -> bool:
        """Whether what ``call`` copies may be shown instead: nothing is written before it is used.

        A traced script copies: what it records of memory tells when cells were read.
        """
        if self.script.trace is not None:
            return False
        if call.op.name not in COPIES or not self._views.may_be_view(call):
            return False
        is_checked = call.op.name in _CHECKED
        return not is_checked or self.script.origins.of(self.function.name, call.args[0]).is_clean

    def may_share(self, left: ir.Expr, right: ir.Expr) -> bool:
        """Whether two values may show cells of one buffer."""
        return self._storage.may_share(left, right)

    def suspect(self, entry: OpEntry, call: ir.Call, operands: list[Operand], result: Operand) -> None:
        """Note the operands of ``call`` whose padding its result must not show."""
        if any(map(self._is_fresh, call.args)) or any(map(self._is_partial, call.args)):
            family = self.script.generator.table.family_of(entry.name)
            self.suspects += suspects(
                entry, family, call.args, operands, result, self._is_fresh, self._is_partial
            )

    def _is_fresh(self, value: ir.Expr) -> bool:
        return id(value) in self._fresh

    def _is_partial(self, value: ir.Expr) -> bool:
        is_named = isinstance(value, ir.Var)
        return is_named and (self.known_extents(value) is not None or self.regions.is_runtime(value))

    def cube_side_store(self, call: ir.Call) -> bool:
        """True for a write to global memory from the cube side."""
        type_ = call.args[0].type if call.args else None
        return isinstance(type_, ir.TileType) and type_.memory_space in _CUBE_SPACES

    def any_store(self, call: ir.Call) -> bool:
        return True

    def _call(self, node: ir.Call) -> str:
        if isinstance(node.op, ir.GlobalVar):
            return self.function_call(node)
        text = self.script.generator.ops.emit(self, self._released(node))
        if not self.is_muted and not self.store_once(node):
            return self.traced_value(node, text)
        target = self.global_target(node)
        if target is None:
            return self.traced_value(node, text)
        if self.is_muted:
            return str(self.macros.if_writes_land(text, self.again(target)))
        return str(self.macros.store_once(text))

    def _released(self, node: ir.Call) -> ir.Call:
        """A tfree with the pipe of the tile that it frees, which StampTfreeSplit will write into it."""
        pipe = self._popped_from.get(id(node.args[0])) if node.op.name in _TFREES and node.args else None
        if pipe is None or "id" in node.kwargs:
            return node
        kwargs = {**dict(node.kwargs.items()), "id": pipe}
        return ir.Call(node.op, node.args, kwargs, node.type, node.span)

    @cached_property
    def _popped_from(self) -> dict[int, int]:
        """The pipes other than 0 that variables of the function hold a tile of."""
        found: dict[int, int] = {}
        before = -1
        while len(found) != before:
            before = len(found)
            for target, value in self.facts.flows:
                pipe = found.get(id(value))
                if isinstance(value, ir.Call) and value.op.name in POPS:
                    pipe = value.kwargs.get("id")
                if pipe:
                    found.setdefault(id(target), int(pipe))
        return found

    def traced_value(self, node: ir.Call, text: str) -> str:
        """Text of an op's call, which a traced script records."""
        return text

    def global_target(self, node: ir.Call) -> ir.Expr | None:
        """The tensor in global memory that an op writes."""
        entry = self.script.generator.table.get(node.op.name)
        target = written_operand(entry, node) if entry is not None else None
        return target if target is not None and isinstance(target.type, ir.TensorType) else None

    def function_call(self, node: ir.Call) -> str:
        """Text of a call of a function of the program."""
        raise NotImplementedError

    def _submit(self, node: ir.Submit) -> str:
        return self.submission(node)

    def submission(self, node: ir.Submit) -> str:
        """Text of a launch with its results and its task id."""
        raise NotImplementedError

    # Regions

    def region(self, node: ir.Expr) -> tuple[str, list[str]] | None:
        """Valid region of a value: its text and the texts of its extents; None for the whole box."""
        extents = self.known_extents(node)
        if extents is not None:
            if id(node) in self.unbound_regions and isinstance(node, ir.Var):
                return self._runtime_region(self.received_region(node), len(extents))
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

    def known_extents(self, node: ir.Expr) -> tuple[ir.Expr, ...] | None:
        """Valid extents of a value as far as types tell, which before lowering tell lanes not apart."""
        return self.lane_regions.region(node) or static_region(node.type)

    def region_text(self, node: ir.Expr) -> str:
        """Text of the region of a value, also where that is the whole box."""
        found = self.region(node)
        if found is not None:
            return found[0]
        if isinstance(node, ir.Var):
            return str(self.macros.region(self.name_of(node)))
        shape = node.type.shape if isinstance(node.type, ir.ShapedType) else ()
        return str(self.macros.list_of([self.expr(extent) for extent in shape]))

    def _runtime_region(self, name: str, rank: int) -> tuple[str, list[str]]:
        return name, [self.macros.item(name, axis) for axis in range(rank)]


def _leading_ones(given: ir.Type, wanted: ir.Type) -> int:
    """How many leading extents of 1 a tensor has that one of the wanted rank lacks; 0 where it is no such."""
    if not isinstance(given, ir.TensorType) or not isinstance(wanted, ir.TensorType):
        return 0
    extra = len(given.shape) - len(wanted.shape)
    leading = given.shape[:extra] if extra > 0 else ()
    return extra if leading and all(isinstance(d, ir.ConstInt) and d.value == 1 for d in leading) else 0


def _constant(node: ir.ConstInt | ir.ConstFloat | ir.ConstBool) -> str:
    """A literal as it is written; what its dtype makes of it where that has no number so large."""
    return py_literal(within(node.value, node.dtype) if isinstance(node, ir.ConstFloat) else node.value)


def without_outer_parentheses(text: str) -> str:
    """``text`` without a pair of parentheses that encloses all of it and is more than a tuple's."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for i, char in enumerate(text):
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
            if depth == 0 and i < len(text) - 1:
                return text
        elif char in "'\"" or (depth == 1 and char in ",:"):
            return text  # a quoted parenthesis could fool the count; commas and colons need theirs
    return text[1:-1]
