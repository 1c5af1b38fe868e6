"""Faults for our own passes, each of a kind that compilers have had, to be put in one at a time.

Two dozen were chosen before anybody looked whether a hunt finds them; passes and kinds of the last eight were
drawn by a number. Of eight others it was known that a hunt missed them, or the fault that they stand for
(``was_missed``): they are no proof.

A fault changes what a pass is given, what it makes where it changes a program at all, or a rule inside of it
while it is at work: other passes stay right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import as_body, direct, flat
from pypto_tmpl.passes import PASSES
from pypto_tmpl.passes.memory import memory_reuse, packing
from pypto_tmpl.passes.pipelining import halves, order
from pypto_tmpl.passes.structure import unroll_loops
from pypto_tmpl.passes.structure.normalize_stmt_structure import map_bodies
from pypto_tmpl.passes.tensor import fuse_create_assemble_to_slice, merged_buffers
from pypto_tmpl.rewrite import Rewriter, build, substitute

Change = Callable[[ir.Program], ir.Program]
KERNELS = (ir.FunctionType.InCore, ir.FunctionType.AIC, ir.FunctionType.AIV)
HERE = ir.Span.unknown()


@dataclass(frozen=True)
class Seeded:
    """A fault: the pass, what kind it is, and how it is put in."""

    name: str
    stage: str
    kind: str
    was_missed: bool = False
    given: Change | None = None
    made: Change | None = None
    rules: tuple[tuple[Any, str, Any], ...] = ()

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Put the fault in for a while."""
        cls = PASSES[self.stage]
        transform = cls.transform

        def wrong(pass_: Any, program: ir.Program, context: Any) -> ir.Program:
            with ExitStack() as stack:
                for owner, attribute, value in self.rules:
                    stack.enter_context(patch.object(owner, attribute, value))
                given = program if self.given is None else self.given(program)
                after: ir.Program = transform(pass_, given, context)
            if after is given and given is not program:
                return program
            return after if self.made is None or after is program else self.made(after)

        with patch.object(cls, "transform", wrong):
            yield


class _Editing(Rewriter):
    """Rewrites statements and expressions by two functions; kernels alone where that is asked for."""

    def __init__(
        self,
        statement: Callable[[ir.Stmt], Any] | None = None,
        expression: Callable[[ir.Expr], ir.Expr] | None = None,
        only: Callable[[ir.Function], bool] | None = None,
    ) -> None:
        super().__init__()
        self.of_statement, self.of_expression, self.of_only = statement, expression, only

    def statement(self, stmt: ir.Stmt) -> Any:
        return stmt if self.of_statement is None else self.of_statement(stmt)

    def expression(self, expr: ir.Expr) -> ir.Expr:
        return expr if self.of_expression is None else self.of_expression(expr)

    def __call__(self, program: ir.Program) -> ir.Program:
        only = self.of_only
        functions = [
            _Editing(self.of_statement, self.of_expression).rewrite(function)
            if only is None or only(function)
            else function
            for function in program.functions.values()
        ]
        return build(program, functions=functions)


def call_of(stmt: ir.Stmt) -> ir.Call | None:
    value = stmt.value if isinstance(stmt, ir.AssignStmt) else getattr(stmt, "expr", None)
    return value if isinstance(value, ir.Call) else None


def is_op(node: Any, *names: str) -> bool:
    return isinstance(node, ir.Call) and isinstance(node.op, ir.Op) and node.op.name in names


def is_kernel(function: ir.Function) -> bool:
    return function.func_type in KERNELS


def index(value: int) -> ir.ConstInt:
    return ir.ConstInt(value, ir.DataType.INDEX, HERE)


def with_args(call: ir.Call, *args: ir.Expr) -> ir.Call:
    return build(call, args=args)


# What becomes of statements and expressions


def swapped(*names: str) -> Callable[[ir.Expr], ir.Expr]:
    """The first two operands of an op change places."""

    def change(expr: ir.Expr) -> ir.Expr:
        if not is_op(expr, *names) or expr.args[0].type != expr.args[1].type:
            return expr
        return with_args(expr, expr.args[1], expr.args[0], *expr.args[2:])

    return change


def swapped_arguments(expr: ir.Expr) -> ir.Expr:
    """The first two arguments of a call of a function that are of one type change places."""
    if not isinstance(expr, ir.Call) or not isinstance(expr.op, ir.GlobalVar):
        return expr
    args = list(expr.args)
    for one in range(len(args)):
        for other in range(one + 1, len(args)):
            if args[one].type == args[other].type and args[one] is not args[other]:
                args[one], args[other] = args[other], args[one]
                return with_args(expr, *args)
    return expr


def first_row(name: str, place: int) -> Callable[[ir.Expr], ir.Expr]:
    """The window of an op begins in row 0."""

    def change(expr: ir.Expr) -> ir.Expr:
        if not is_op(expr, name):
            return expr
        offsets = expr.args[place]
        is_tuple = isinstance(offsets, ir.MakeTuple)
        moved = build(offsets, elements=(index(0), *offsets.elements[1:])) if is_tuple else index(0)
        return with_args(expr, *expr.args[:place], moved, *expr.args[place + 1 :])

    return change


def without_work_before_jumps(stmt: ir.Stmt) -> ir.Stmt:
    """A branch that ends in a jump does nothing else."""
    if not isinstance(stmt, ir.IfStmt):
        return stmt
    last = list(flat(stmt.then_body))[-1:]
    is_jump = bool(last) and isinstance(last[0], ir.BreakStmt | ir.ContinueStmt)
    return build(stmt, then_body=last[0]) if is_jump else stmt


def exchanged_branches(stmt: ir.Stmt) -> ir.Stmt:
    if not isinstance(stmt, ir.IfStmt) or stmt.else_body is None:
        return stmt
    return build(stmt, then_body=stmt.else_body, else_body=stmt.then_body)


def exchanged_yields(stmt: ir.Stmt) -> ir.Stmt:
    """Two values of one type that a body yields change places."""
    if not isinstance(stmt, ir.YieldStmt) or len(stmt.value) < 2:
        return stmt
    first, second, *rest = stmt.value
    return build(stmt, value=(second, first, *rest)) if first.type == second.type else stmt


def at_most(expr: ir.Expr) -> ir.Expr:
    """What is less is at most, too."""
    return ir.le(expr.left, expr.right) if isinstance(expr, ir.Lt) else expr


def one_less(expr: ir.Expr) -> ir.Expr:
    """The sum of an index and a step is the index."""
    is_sum = (
        isinstance(expr, ir.Add) and isinstance(expr.left, ir.Var) and isinstance(expr.right, ir.ConstInt)
    )
    return expr.left if is_sum else expr


def loads_first(program: ir.Program) -> ir.Program:
    """Loads of kernels move above the stores right before them whose results have no name."""

    def moved(body: ir.Stmt) -> ir.Stmt:
        stmts = list(direct(body))
        for at in range(1, len(stmts)):
            before, stmt = stmts[at - 1], stmts[at]
            is_unnamed = isinstance(before, ir.EvalStmt) and is_op(before.expr, "tile.store")
            if is_unnamed and is_op(call_of(stmt), "tile.load"):
                stmts[at - 1 : at + 1] = stmt, before
        return as_body(stmts, body.span)

    class Moving(Rewriter):
        def statement(self, stmt: ir.Stmt) -> ir.Stmt:
            return map_bodies(stmt, moved)

        def function(self, function: ir.Function) -> ir.Function:
            return build(function, body=moved(function.body))

    functions = [Moving().rewrite(f) if is_kernel(f) else f for f in program.functions.values()]
    return build(program, functions=functions)


def stale_windows(program: ir.Program) -> ir.Program:
    """A window of a tile begins where the one before it does."""
    before: list[ir.Expr] = []

    def change(expr: ir.Expr) -> ir.Expr:
        if not is_op(expr, "tile.extract"):
            return expr
        tile, row, *others = expr.args
        stale = before[0] if before else row
        before[:] = [row if isinstance(row, ir.ConstInt) else index(0)]
        return with_args(expr, tile, stale, *others)

    return edit(expression=change)(program)


def unsplit_pushes(expr: ir.Expr) -> ir.Expr:
    """Pushes do not say that they push half of a tile."""
    is_push = is_op(expr, "tile.tpush_to_aic", "tile.tpush_to_aiv")
    return build(expr, kwargs=expr.kwargs.with_(split=0)) if is_push and expr.kwargs.get("split") else expr


def operands_moved_back(program: ir.Program) -> ir.Program:
    """What an op has read is put into the layout of its result, in the place of that."""
    made = {
        id(stmt.var): stmt.value
        for function in program.functions.values()
        for stmt in ir.walk(function)
        if isinstance(stmt, ir.AssignStmt) and "__row_major_tmp" in stmt.var.name_hint
    }

    def change(expr: ir.Expr) -> ir.Expr:
        call = made.get(id(expr.args[0])) if is_op(expr, "tile.move", "tile.reshape") else None
        if not isinstance(call, ir.Call) or call.args[0].type != expr.args[0].type:
            return expr
        return with_args(expr, call.args[0], *expr.args[1:])

    return edit(expression=change)(program)


def without_last_assemble(program: ir.Program) -> ir.Program:
    """Functions that are called lose the last of what they put together."""

    def change(function: ir.Function) -> ir.Function:
        stmts = [stmt for stmt in ir.walk(function) if is_op(call_of(stmt), "tensor.assemble")]
        if function.name == "main" or not stmts or not isinstance(lost := stmts[-1], ir.AssignStmt):
            return function
        kept = _Editing(lambda stmt: None if stmt is lost else stmt).rewrite(function)
        return build(kept, body=substitute(kept.body, {lost.var: call_of(lost).args[0]}))

    return build(program, functions=[change(function) for function in program.functions.values()])


def without_last_store(program: ir.Program) -> ir.Program:
    """Vector kernels lose the last of several stores."""

    def change(function: ir.Function) -> ir.Function:
        stmts = list(flat(function.body))
        stores = [at for at, stmt in enumerate(stmts) if is_op(call_of(stmt), "tile.store")]
        if function.func_type is not ir.FunctionType.AIV or len(stores) < 2:
            return function
        lost = stmts[stores[-1]]
        kept = [stmt for stmt in stmts if stmt is not lost]
        body = ir.SeqStmts(kept, function.body.span)
        if isinstance(lost, ir.AssignStmt):
            body = substitute(body, {lost.var: call_of(lost).args[2]})
        return build(function, body=body)

    return build(program, functions=[change(function) for function in program.functions.values()])


def without_copies(stmt: ir.Stmt) -> ir.Stmt:
    """A copy to another place is just another name."""
    is_copy = isinstance(stmt, ir.AssignStmt) and stmt.var.name_hint.endswith("_mv")
    return build(stmt, value=stmt.value.args[0]) if is_copy and is_op(stmt.value, "tile.move") else stmt


def first_lane(expr: ir.Expr) -> ir.Expr:
    """Both lanes take the place of the first."""
    return index(0) if is_op(expr, "tile.get_subblock_idx") else expr


def nearest(expr: ir.Expr) -> ir.Expr:
    """A cast rounds to the nearest, whatever it should do."""
    if not is_op(expr, "tile.cast") or expr.kwargs.get("mode") in (None, 1):
        return expr
    return build(expr, kwargs=expr.kwargs.with_(mode=1))


def rounded_constant(expr: ir.Expr) -> ir.Expr:
    """A constant of an expansion has lost its digits."""
    if isinstance(expr, ir.ConstFloat) and abs(expr.value + 0.16666658222675323) < 1e-6:
        return build(expr, value=-0.1)
    return expr


def lowered_addresses(program: ir.Program) -> ir.Program:
    """Every place that does not begin at 0 begins half as far from there."""

    class Lowering(Rewriter):
        def type(self, type_: ir.Type) -> ir.Type:
            place = type_.memref if isinstance(type_, ir.TileType) else None
            if (
                place is None
                or not isinstance(place.byte_offset_, ir.ConstInt)
                or not place.byte_offset_.value
            ):
                return type_
            offset = place.byte_offset_
            half = ir.ConstInt(offset.value // 64 * 32, ir.DataType.INT64, HERE)
            return build(type_, memref=ir.MemRef(place.base_, half, place.size_))

    return build(program, functions=[Lowering().rewrite(f) for f in program.functions.values()])


def exchanged_parameters(program: ir.Program) -> ir.Program:
    """The first two parameters of Inline functions change places."""

    def change(function: ir.Function) -> ir.Function:
        if function.func_type is not ir.FunctionType.Inline or len(function.params) < 2:
            return function
        first, second, *rest = function.params
        return build(function, params=(second, first, *rest))

    return build(program, functions=[change(function) for function in program.functions.values()])


def exchanged_results(program: ir.Program) -> ir.Program:
    """Kernels return their first two results in the other order, and callers do not know."""

    def change(stmt: ir.Stmt) -> ir.Stmt:
        if not isinstance(stmt, ir.ReturnStmt) or len(stmt.value) < 2:
            return stmt
        first, second, *rest = stmt.value
        return build(stmt, value=(second, first, *rest)) if first.type == second.type else stmt

    return _Editing(statement=change, only=is_kernel)(program)


def later_start(stmt: ir.Stmt) -> ir.Stmt:
    """Loops of kernels leave out their first round."""
    if not isinstance(stmt, ir.ForStmt) or not isinstance(stmt.start, ir.ConstInt) or stmt.iter_args:
        return stmt
    return build(stmt, start=index(stmt.start.value + 1))


def no_rounds_lost(numbers: Callable[..., range]) -> Callable[..., range]:
    return lambda *args: numbers(*args)[:-1]


def nothing(*_: Any) -> tuple[()]:
    return ()


def always(*_: Any) -> bool:
    return True


def without_conflicts(claim: Callable[..., Any]) -> Callable[..., Any]:
    from dataclasses import replace

    def wrong(*args: Any) -> Any:
        return replace(claim(*args), conflicts=0, inside=0, moment=0)

    return wrong


def edit(
    statement: Callable[[ir.Stmt], Any] | None = None,
    expression: Callable[[ir.Expr], ir.Expr] | None = None,
    only: Callable[[ir.Function], bool] | None = None,
) -> Change:
    return _Editing(statement, expression, only)


def is_orchestration(function: ir.Function) -> bool:
    return function.func_type is ir.FunctionType.Orchestration


_unroll = unroll_loops._Unroll
FAULTS = (
    Seeded("inlined arguments exchanged", "InlineFunctions", "wrong operand", given=exchanged_parameters),
    Seeded(
        "last round not unrolled",
        "UnrollLoops",
        "dropped statements",
        rules=((_unroll, "_numbers", no_rounds_lost(_unroll._numbers)),),
    ),
    Seeded(
        "work before a jump lost",
        "CtrlFlowTransform",
        "dropped statements",
        given=edit(without_work_before_jumps),
    ),
    Seeded("branches yield each other's values", "ConvertToSSA", "wrong branch", made=edit(exchanged_yields)),
    Seeded("less taken for at most", "Simplify", "wrong branch", given=edit(expression=at_most)),
    Seeded(
        "operands of nested calls exchanged",
        "FlattenCallExpr",
        "wrong operand",
        made=edit(expression=swapped("tensor.sub", "tile.sub")),
    ),
    Seeded(
        "arguments of outlined kernels exchanged",
        "OutlineIncoreScopes",
        "wrong operand",
        made=edit(expression=swapped_arguments, only=lambda f: not is_kernel(f)),
    ),
    Seeded(
        "stores begin in row 0",
        "ConvertTensorToTileOps",
        "wrong offset",
        made=edit(expression=first_row("tile.store", 1), only=is_kernel),
    ),
    Seeded(
        "loads begin in row 0",
        "ConvertTensorToTileOps",
        "stale index",
        made=edit(expression=first_row("tile.load", 1), only=is_kernel),
    ),
    Seeded(
        "buffers merged that are still read",
        "OptimizeOrchTensors",
        "missing copy",
        was_missed=True,
        rules=((merged_buffers, "_is_free", always),),
    ),
    Seeded(
        "a constant without its digits",
        "LowerCompositeOps",
        "lost keyword",
        was_missed=True,
        made=edit(expression=rounded_constant),
    ),
    Seeded(
        "the rounding of a cast lost",
        "LegalizeTileCast",
        "lost keyword",
        was_missed=True,
        given=edit(expression=nearest),
    ),
    Seeded(
        "windows of tiles begin in row 0",
        "CanonicalizeTileSlice",
        "wrong offset",
        was_missed=True,
        made=edit(expression=first_row("tile.extract", 1)),
    ),
    Seeded(
        "factors exchanged",
        "InferTileMemorySpace",
        "wrong operand",
        given=edit(expression=swapped("tile.matmul")),
    ),
    Seeded(
        "both lanes take the first place",
        "LowerAutoVectorSplit",
        "wrong offset",
        made=edit(expression=first_lane),
    ),
    Seeded(
        "the last store of a vector kernel lost",
        "ExpandMixedKernel",
        "dropped statements",
        made=without_last_store,
    ),
    Seeded("results in another order", "NormalizeReturnOrder", "wrong operand", made=exchanged_results),
    Seeded(
        "loads moved above stores",
        "SkewCrossCorePipeline",
        "reordered loads",
        was_missed=True,
        rules=((halves, "_are_apart", always),),
    ),
    Seeded(
        "the index of the round before",
        "LowerPipelineLoops",
        "stale index",
        made=edit(expression=one_less, only=is_kernel),
    ),
    Seeded(
        "loads moved above stores",
        "CanonicalizeIOOrder",
        "reordered loads",
        was_missed=True,
        rules=((order.Order, "_conflicts", nothing),),
    ),
    Seeded(
        "carries not copied",
        "MemoryReuse",
        "missing copy",
        was_missed=True,
        made=edit(without_copies),
    ),
    Seeded(
        "buffers shared by what is in use",
        "MemoryReuse",
        "missing copy",
        was_missed=True,
        rules=(
            (packing, "_claim", without_conflicts(packing._claim)),
            (memory_reuse, "kept", lambda function: function),
        ),
    ),
    Seeded("addresses too low", "AllocateMemoryAddr", "wrong offset", made=lowered_addresses),
    Seeded(
        "a read in between not seen",
        "FuseCreateAssembleToSlice",
        "reordered loads",
        rules=((fuse_create_assemble_to_slice, "_is_legal", always),),
    ),
    Seeded("a window where the one before is", "CanonicalizeTileSlice", "stale index", made=stale_windows),
    Seeded(
        "the last assemble of a called function lost",
        "OutlineHierarchyScopes",
        "dropped statements",
        made=without_last_assemble,
    ),
    Seeded(
        "branches exchanged",
        "ExpandMixedKernel",
        "wrong branch",
        made=edit(exchanged_branches, only=is_kernel),
    ),
    Seeded(
        "loads moved above unnamed stores",
        "LowerPipelineLoops",
        "reordered loads",
        made=loads_first,
    ),
    Seeded(
        "pushes without their split",
        "SkewCrossCorePipeline",
        "lost keyword",
        made=edit(expression=unsplit_pushes),
    ),
    Seeded(
        "stores begin in row 0",
        "LegalizeTileCast",
        "wrong offset",
        made=edit(expression=first_row("tile.store", 1), only=is_kernel),
    ),
    Seeded("operands moved back", "ResolveBackendOpLayouts", "missing copy", made=operands_moved_back),
    Seeded(
        "loads moved above unnamed stores",
        "InitMemRef",
        "reordered loads",
        made=loads_first,
    ),
)
