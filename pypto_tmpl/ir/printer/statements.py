"""Text of statements other than scopes (spec: DSL, 12.8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pypto_tmpl.ir.attrs import AttrKind
from pypto_tmpl.ir.base import Expr, Stmt
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.enums import ForKind
from pypto_tmpl.ir.expr import Call, GlobalVar, MakeTuple
from pypto_tmpl.ir.extents import same_extents
from pypto_tmpl.ir.leaves import ConstInt, IterArg, Var
from pypto_tmpl.ir.printer.calls import CallPrinter
from pypto_tmpl.ir.printer.pieces import (
    MANY,
    Pieces,
    PrintError,
    check_size,
    comment_text,
    is_index_scalar,
    joined,
    lines_of,
    option,
)
from pypto_tmpl.ir.printer.spellings import LANE_INDEX_OP, LOOPS, TASK_INVALID_OP
from pypto_tmpl.ir.stmt import (
    AssignStmt,
    BreakStmt,
    ContinueStmt,
    EvalStmt,
    ForStmt,
    HierarchyScopeStmt,
    IfStmt,
    InCoreScopeStmt,
    InlineStmt,
    ReturnStmt,
    ScopeStmt,
    SeqStmts,
    SpmdScopeStmt,
    WhileStmt,
    YieldStmt,
)
from pypto_tmpl.ir.types import TileType

_METHODS: dict[type, str] = {
    AssignStmt: "_assign",
    EvalStmt: "_eval",
    ReturnStmt: "_return",
    YieldStmt: "_yield",
    IfStmt: "_if",
    ForStmt: "_for",
    WhileStmt: "_while",
    InlineStmt: "_inline",
    BreakStmt: "_jump",
    ContinueStmt: "_jump",
}


class Block(NamedTuple):
    """Where statements stand: ``targets`` are what a yield binds, None where a yield returns."""

    indent: str = ""
    targets: tuple[Var, ...] | None = ()

    def inner(self, targets: tuple[Var, ...] | None) -> Block:
        return Block(self.indent + "    ", targets)


class StatementPrinter(CallPrinter):
    """Statements; collects the variables that they define, in the order of the text."""

    def start_function(self) -> None:
        """Forget what is known of the previous function."""
        self.defined = {}
        self.lanes: set[int] = set()  # variables that are the index of the lane
        self.in_signature = False
        self.called: set[str] = set()
        self.current: Stmt | None = None  # where an error is, should one come up

    def define(self, var: Var) -> Var:
        self.defined.setdefault(id(var), var)
        return var

    def statements(self, body: Stmt, block: Block) -> Pieces:
        """The statements of ``body``, ``pass`` where there are none."""
        found = flat_statements(body)
        shown = 0
        for index, node in enumerate(found):
            follower = found[index + 1] if index + 1 < len(found) else None
            yield self.comments(node, block)
            if not is_task_placeholder(node, follower):
                shown += 1
                self.current = node
                yield self.statement(node, block)
        if not shown:
            yield f"{block.indent}pass\n"

    def statement(self, node: Stmt, block: Block) -> Pieces:
        """One statement without its comments; PrintError for a class that has no text."""
        if isinstance(node, ScopeStmt):
            return self.scope(node, block)
        method = _METHODS.get(type(node))
        if method is None:
            raise PrintError(f"no text for a statement of class {type(node).__name__}")
        pieces: Pieces = getattr(self, method)(node, block)
        return pieces

    def scope(self, node: ScopeStmt, block: Block) -> Pieces:
        raise NotImplementedError

    def comments(self, node: Stmt, block: Block) -> Pieces:
        for comment in node.leading_comments:
            for line in lines_of(comment):
                yield f"{block.indent}# {comment_text(line)}".rstrip() + "\n"

    def annotation(self, var: Var, value: Expr | None = None) -> Pieces:
        """``: <type>`` of a variable that is bound; nothing in concise text where the value tells it."""
        if not self.concise or _tells_no_type(value):
            yield ": "
            yield self.type(var.type)

    def _assign(self, node: AssignStmt, block: Block) -> Pieces:
        yield block.indent
        yield self.define(node.var)
        if index_assigned(node, LANE_INDEX_OP) is not None:
            self.lanes.add(id(node.var))
        yield self.annotation(node.var, node.value)
        yield " = "
        yield self.expr(node.value)
        yield "\n"

    def _eval(self, node: EvalStmt, block: Block) -> Pieces:
        yield block.indent
        yield self.expr(node.expr)
        yield "\n"

    def _return(self, node: ReturnStmt | YieldStmt, block: Block) -> Pieces:
        yield f"{block.indent}return"
        if node.value:
            yield " "
            yield joined(self.expr(value) for value in node.value)
        yield "\n"

    def _yield(self, node: YieldStmt, block: Block) -> Pieces:
        if block.targets is None:
            yield self._return(node, block)
            return
        yield block.indent
        if block.targets:
            yield joined(self.define(var) for var in block.targets)
            if len(block.targets) == 1:
                yield self.annotation(block.targets[0])
            yield " = "
        yield f"{self.prefix}.yield_("
        yield joined(self.expr(value) for value in node.value)
        yield ")\n"

    def _if(self, node: IfStmt, block: Block) -> Pieces:
        inner = block.inner(node.return_vars)
        yield f"{block.indent}if "
        yield self.expr(node.condition)
        yield ":\n"
        self._define_all(node.return_vars)
        yield self.statements(node.then_body, inner)
        if node.else_body is not None:
            yield f"{block.indent}else:\n"
            yield self.statements(node.else_body, inner)

    def _for(self, node: ForStmt, block: Block) -> Pieces:
        yield f"{block.indent}for "
        yield self.define(node.loop_var)
        if node.iter_args:
            yield ", "
            yield self._carries(node.iter_args)
        yield f" in {self.prefix}.{LOOPS[node.kind]}("
        yield joined(self._for_arguments(node))
        self._define_all(node.return_vars)
        yield "):\n"
        yield self.statements(node.body, block.inner(node.return_vars))

    def _for_arguments(self, node: ForStmt) -> Pieces:
        bounds = [node.start, node.stop, node.step]
        if _is_index(node.step, 1):
            bounds.pop()
            if _is_index(node.start, 0):
                bounds.pop(0)
        for bound in bounds:
            yield self.expr(bound)
        keys = list(node.attrs)
        if node.kind is ForKind.Pipeline and node.attrs.kinds.get("pipeline_stages") is AttrKind.INT:
            keys.remove("pipeline_stages")
            yield f"stage={node.attrs['pipeline_stages']}"
        if node.iter_args:
            yield option("init_values", self._init_values(node.iter_args))
        if keys:
            yield option("attrs", self.attributes(node.attrs, keys))

    def _while(self, node: WhileStmt, block: Block) -> Pieces:
        inner = block.inner(node.return_vars)
        if node.iter_args:
            yield f"{block.indent}for "
            yield self._carries(node.iter_args)
            yield f" in {self.prefix}.while_(init_values="
            yield self._init_values(node.iter_args)
            yield f"):\n{inner.indent}{self.prefix}.cond("
            yield self.expr(node.condition)
            yield ")\n"
        else:
            yield f"{block.indent}while "
            yield self.expr(node.condition)
            yield ":\n"
        self._define_all(node.return_vars)
        yield self.statements(node.body, inner)

    def _carries(self, iter_args: Sequence[IterArg]) -> Pieces:
        yield "("
        yield joined(self.define(arg) for arg in iter_args)
        yield ",)" if len(iter_args) == 1 else ")"

    def _init_values(self, iter_args: Sequence[IterArg]) -> Pieces:
        yield "("
        yield joined(self.expr(arg.initValue) for arg in iter_args)
        yield ",)" if len(iter_args) == 1 else ")"

    def _define_all(self, variables: Sequence[Var]) -> None:
        """Results of a loop or branch: variables of one hint are numbered from the outside in."""
        for var in variables:
            self.define(var)

    def _inline(self, node: InlineStmt, block: Block) -> Pieces:
        if not node.body:
            raise PrintError(
                "an empty InlineStmt has a text only as the body of a function bound at run time"
            )
        for line in lines_of(node.body):
            yield (block.indent + line if line else "") + "\n"

    def _jump(self, node: BreakStmt | ContinueStmt, block: Block) -> Pieces:
        yield block.indent + ("break\n" if isinstance(node, BreakStmt) else "continue\n")


def flat_statements(body: Stmt) -> list[Stmt]:
    """The statements of a body, those of nested sequences included."""
    found: list[Stmt] = []
    visited = 0
    stack: list[Iterator[Stmt]] = [iter((body,))]
    while stack:
        for node in stack[-1]:
            visited += 1
            if visited == MANY:
                check_size(body)
            if isinstance(node, SeqStmts):
                stack.append(iter(node.stmts))
                break
            found.append(node)
        else:
            stack.pop()
    return found


def task_of(node: ScopeStmt) -> Var | None:
    """The variable of ``with ... as``, None for a scope that takes none."""
    takes_one = isinstance(node, (InCoreScopeStmt, HierarchyScopeStmt, SpmdScopeStmt))
    task = node.attrs.get("task_id_var") if takes_one else None
    return task if isinstance(task, Var) else None


def is_task_placeholder(node: Stmt, follower: Stmt | None) -> bool:
    """True for the assignment that ``as tid`` of the following scope stands for."""
    return (
        isinstance(node, AssignStmt)
        and isinstance(follower, ScopeStmt)
        and task_of(follower) is node.var
        and is_plain_call(node.value, TASK_INVALID_OP)
    )


def is_plain_call(node: Expr, op: str) -> bool:
    """True for a call of the op without operands, keywords or attributes."""
    if not isinstance(node, Call) or node.op.name != op:
        return False
    return not (node.args or node.kwargs or node.attrs)


def index_assigned(node: Stmt, op: str) -> Var | None:
    """The INDEX variable that the statement sets to the value of ``op``, None for any other statement."""
    if not isinstance(node, AssignStmt) or not is_plain_call(node.value, op):
        return None
    return node.var if is_index_scalar(node.var.type) else None


def _tells_no_type(node: Expr | None) -> bool:
    """Whether an op makes a tile of extents that it does not list, such as the next one in a pipe."""
    if not isinstance(node, Call) or isinstance(node.op, GlobalVar) or not isinstance(node.type, TileType):
        return False
    if any(isinstance(operand.type, TileType) for operand in node.args):
        return False
    view = node.type.tile_view
    told = [operand.elements for operand in node.args if isinstance(operand, MakeTuple)]
    wanted = [node.type.shape, view.valid_shape if view is not None else ()]
    return any(extents and not any(same_extents(extents, given) for given in told) for extents in wanted)


def _is_index(node: Expr, value: int) -> bool:
    return isinstance(node, ConstInt) and node.value == value and node.dtype == DataType.INDEX
