"""Visitors and mutators as PyPTO's users write them: one method for each class of node.

``visit_add`` is asked before ``visit_binary_expr``, ``visit_expr`` and ``visit_stmt`` before all others. What
a subclass does not override is walked without recursion; what it does override goes on by calling the method
of the base class.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import as_body, flat
from pypto_tmpl.rewrite.rewriter import Rewriter, Task


class _NodeMethods:
    """The methods, and which of them a subclass overrides. Names and order are those of PyPTO."""

    def _resume(self, op: Any, method: str) -> Any:
        """Go on with ``op`` where the subclass does not override ``method``, or calls it."""
        if method not in self._route(op):
            raise TypeError(f"{method} does not take a {type(op).__name__}")
        later = self._overridden(op, method)
        return later(op) if later else self._default(op)

    def _overridden(self, op: Any, after: str = "") -> Callable[[Any], Any] | None:
        """The first method for ``op`` that the subclass overrides, of those that come after ``after``."""
        route = self._route(op)
        cls: Any = self.__class__
        for name in route[route.index(after) + 1 if after else 0 :]:
            if _is_overridden(cls, name):
                method: Callable[[Any], Any] = getattr(self, name)
                return method
        return None

    def _route(self, op: Any) -> tuple[str, ...]:
        cls: Any = self.__class__
        return _methods(cls, op.__class__)

    def _default(self, op: Any) -> Any:
        raise NotImplementedError

    def visit_program(self, op: ir.Program) -> Any:
        return self._resume(op, "visit_program")

    def visit_function(self, op: ir.Function) -> Any:
        return self._resume(op, "visit_function")

    def visit_expr(self, op: ir.Expr) -> Any:
        return self._resume(op, "visit_expr")

    def visit_stmt(self, op: ir.Stmt) -> Any:
        return self._resume(op, "visit_stmt")

    def visit_binary_expr(self, op: ir.BinaryExpr) -> Any:
        return self._resume(op, "visit_binary_expr")

    def visit_unary_expr(self, op: ir.UnaryExpr) -> Any:
        return self._resume(op, "visit_unary_expr")

    def visit_var(self, op: ir.Var) -> Any:
        return self._resume(op, "visit_var")

    def visit_iter_arg(self, op: ir.IterArg) -> Any:
        return self._resume(op, "visit_iter_arg")

    def visit_mem_ref(self, op: ir.MemRef) -> Any:
        return self._resume(op, "visit_mem_ref")

    def visit_window_buffer(self, op: ir.WindowBuffer) -> Any:
        return self._resume(op, "visit_window_buffer")

    def visit_const_int(self, op: ir.ConstInt) -> Any:
        return self._resume(op, "visit_const_int")

    def visit_const_float(self, op: ir.ConstFloat) -> Any:
        return self._resume(op, "visit_const_float")

    def visit_const_bool(self, op: ir.ConstBool) -> Any:
        return self._resume(op, "visit_const_bool")

    def visit_call(self, op: ir.Call) -> Any:
        return self._resume(op, "visit_call")

    def visit_submit(self, op: ir.Submit) -> Any:
        return self._resume(op, "visit_submit")

    def visit_make_tuple(self, op: ir.MakeTuple) -> Any:
        return self._resume(op, "visit_make_tuple")

    def visit_tuple_get_item_expr(self, op: ir.TupleGetItemExpr) -> Any:
        return self._resume(op, "visit_tuple_get_item_expr")

    def visit_add(self, op: ir.Add) -> Any:
        return self._resume(op, "visit_add")

    def visit_sub(self, op: ir.Sub) -> Any:
        return self._resume(op, "visit_sub")

    def visit_mul(self, op: ir.Mul) -> Any:
        return self._resume(op, "visit_mul")

    def visit_floor_div(self, op: ir.FloorDiv) -> Any:
        return self._resume(op, "visit_floor_div")

    def visit_floor_mod(self, op: ir.FloorMod) -> Any:
        return self._resume(op, "visit_floor_mod")

    def visit_float_div(self, op: ir.FloatDiv) -> Any:
        return self._resume(op, "visit_float_div")

    def visit_min(self, op: ir.Min) -> Any:
        return self._resume(op, "visit_min")

    def visit_max(self, op: ir.Max) -> Any:
        return self._resume(op, "visit_max")

    def visit_pow(self, op: ir.Pow) -> Any:
        return self._resume(op, "visit_pow")

    def visit_eq(self, op: ir.Eq) -> Any:
        return self._resume(op, "visit_eq")

    def visit_ne(self, op: ir.Ne) -> Any:
        return self._resume(op, "visit_ne")

    def visit_lt(self, op: ir.Lt) -> Any:
        return self._resume(op, "visit_lt")

    def visit_le(self, op: ir.Le) -> Any:
        return self._resume(op, "visit_le")

    def visit_gt(self, op: ir.Gt) -> Any:
        return self._resume(op, "visit_gt")

    def visit_ge(self, op: ir.Ge) -> Any:
        return self._resume(op, "visit_ge")

    def visit_and(self, op: ir.And) -> Any:
        return self._resume(op, "visit_and")

    def visit_or(self, op: ir.Or) -> Any:
        return self._resume(op, "visit_or")

    def visit_xor(self, op: ir.Xor) -> Any:
        return self._resume(op, "visit_xor")

    def visit_bit_and(self, op: ir.BitAnd) -> Any:
        return self._resume(op, "visit_bit_and")

    def visit_bit_or(self, op: ir.BitOr) -> Any:
        return self._resume(op, "visit_bit_or")

    def visit_bit_xor(self, op: ir.BitXor) -> Any:
        return self._resume(op, "visit_bit_xor")

    def visit_bit_shift_left(self, op: ir.BitShiftLeft) -> Any:
        return self._resume(op, "visit_bit_shift_left")

    def visit_bit_shift_right(self, op: ir.BitShiftRight) -> Any:
        return self._resume(op, "visit_bit_shift_right")

    def visit_abs(self, op: ir.Abs) -> Any:
        return self._resume(op, "visit_abs")

    def visit_neg(self, op: ir.Neg) -> Any:
        return self._resume(op, "visit_neg")

    def visit_not(self, op: ir.Not) -> Any:
        return self._resume(op, "visit_not")

    def visit_bit_not(self, op: ir.BitNot) -> Any:
        return self._resume(op, "visit_bit_not")

    def visit_cast(self, op: ir.Cast) -> Any:
        return self._resume(op, "visit_cast")

    def visit_assign_stmt(self, op: ir.AssignStmt) -> Any:
        return self._resume(op, "visit_assign_stmt")

    def visit_if_stmt(self, op: ir.IfStmt) -> Any:
        return self._resume(op, "visit_if_stmt")

    def visit_for_stmt(self, op: ir.ForStmt) -> Any:
        return self._resume(op, "visit_for_stmt")

    def visit_while_stmt(self, op: ir.WhileStmt) -> Any:
        return self._resume(op, "visit_while_stmt")

    def visit_in_core_scope_stmt(self, op: ir.InCoreScopeStmt) -> Any:
        return self._resume(op, "visit_in_core_scope_stmt")

    def visit_cluster_scope_stmt(self, op: ir.ClusterScopeStmt) -> Any:
        return self._resume(op, "visit_cluster_scope_stmt")

    def visit_hierarchy_scope_stmt(self, op: ir.HierarchyScopeStmt) -> Any:
        return self._resume(op, "visit_hierarchy_scope_stmt")

    def visit_spmd_scope_stmt(self, op: ir.SpmdScopeStmt) -> Any:
        return self._resume(op, "visit_spmd_scope_stmt")

    def visit_split_aiv_scope_stmt(self, op: ir.SplitAivScopeStmt) -> Any:
        return self._resume(op, "visit_split_aiv_scope_stmt")

    def visit_runtime_scope_stmt(self, op: ir.RuntimeScopeStmt) -> Any:
        return self._resume(op, "visit_runtime_scope_stmt")

    def visit_seq_stmts(self, op: ir.SeqStmts) -> Any:
        return self._resume(op, "visit_seq_stmts")

    def visit_yield_stmt(self, op: ir.YieldStmt) -> Any:
        return self._resume(op, "visit_yield_stmt")

    def visit_return_stmt(self, op: ir.ReturnStmt) -> Any:
        return self._resume(op, "visit_return_stmt")

    def visit_eval_stmt(self, op: ir.EvalStmt) -> Any:
        return self._resume(op, "visit_eval_stmt")

    def visit_break_stmt(self, op: ir.BreakStmt) -> Any:
        return self._resume(op, "visit_break_stmt")

    def visit_continue_stmt(self, op: ir.ContinueStmt) -> Any:
        return self._resume(op, "visit_continue_stmt")


@cache
def _methods(visitor: Any, node: Any) -> tuple[str, ...]:
    """The methods of a visitor that a node of a class is given to, in order."""
    snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", node.__name__).lower()
    first = [name for name, base in (("expr", ir.Expr), ("stmt", ir.Stmt)) if issubclass(node, base)]
    last = [name for name, base in _GENERAL if issubclass(node, base)]
    return tuple(name for name in map("visit_{}".format, [*first, snake, *last]) if hasattr(visitor, name))


_GENERAL = (("binary_expr", ir.BinaryExpr), ("unary_expr", ir.UnaryExpr), ("var_like", ir.Var))


@cache
def _is_overridden(visitor: Any, name: str) -> bool:
    owner = next(cls for cls in visitor.__mro__ if name in vars(cls))
    return owner not in (_NodeMethods, IRVisitor, IRMutator)


class IRVisitor(_NodeMethods):
    """Visits every node below one, those in types and attributes included."""

    def visit_var_like(self, op: ir.Var) -> None:
        """Any variable, as the methods of its classes do where they are not overridden."""
        self._resume(op, "visit_var_like")

    def _default(self, op: Any) -> None:
        todo: list[Any] = list(ir.children(op))[::-1]
        while todo:
            node = todo.pop()
            method = self._overridden(node)
            if method:
                method(node)
            else:
                todo += list(ir.children(node))[::-1]


class IRMutator(_NodeMethods):
    """Rewrites a tree: a method returns what stands in the place of its node, the same object for no change.

    A statement may become a ``SeqStmts``. What a variable becomes is asked once, where it is met first, and
    holds for all its occurrences; where it is bound, that must be a variable again.
    """

    _engine: _Engine

    def __new__(cls, *_: object, **__: object) -> IRMutator:
        self = super().__new__(cls)
        self._engine = _Engine(self)
        return self

    def _default(self, op: Any) -> Any:
        return self._engine.default(op)


class _Engine(Rewriter):
    """The rewriter of a mutator, which is asked about each node that it has a method of its own for."""

    def __init__(self, mutator: IRMutator) -> None:
        super().__init__()
        self._mutator = mutator
        self._at_default: object = None

    def default(self, node: Any) -> Any:
        """``node`` with its parts rewritten, whatever the mutator does for nodes of its class."""
        if isinstance(node, ir.Var) and not isinstance(node, ir.MemRef | ir.WindowBuffer):
            return self.bound(node) or node
        if isinstance(node, ir.SeqStmts):
            return self._run(super().body(node))
        if isinstance(node, ir.Function):
            return self._run(super()._function(node))
        if isinstance(node, ir.Stmt):
            return as_body(self._run(self.usual(node)), node.span)
        self._at_default = node
        return self._run(self._step(node))

    def use(self, var: ir.Var) -> ir.Expr:
        known = self.bound(var)
        method = self._mutator._overridden(var)
        if known is not None or method is None:
            return known or var
        new: ir.Expr = method(var)
        self._bindings.bind(var, new)
        return new

    def definition(self, old: ir.Var, typed: ir.Var) -> ir.Var:
        method = self._mutator._overridden(typed)
        if method is None:
            return typed
        known = self.bound(old)
        new = known if known is not None and typed is old else method(typed)
        if not isinstance(new, ir.Var):
            raise TypeError(f"{old.name_hint!r} is bound here: it becomes a Var, not a {type(new).__name__}")
        return new

    def _asked(self, node: object) -> Callable[[Any], Any] | None:
        if node is self._at_default:
            self._at_default = None
            return None
        return self._mutator._overridden(node)

    def _step(self, node: object) -> Task:
        if isinstance(node, ir.Function):
            return self._function(node)
        method = self._asked(node)
        return _answer(node, method) if method else super()._step(node)

    def _function(self, function: ir.Function) -> Task:
        method = self._mutator._overridden(function)
        return _answer(function, method) if method else super()._function(function)

    def body(self, body: ir.Stmt) -> Task:
        method = self._mutator._overridden(body) if isinstance(body, ir.SeqStmts) else None
        return _answer(body, method) if method else super().body(body)

    def _statement(self, stmt: ir.Stmt) -> Task:
        method = self._mutator._overridden(stmt)
        return _answer_statements(stmt, method) if method else super()._statement(stmt)


def _answer(node: object, method: Callable[[Any], Any]) -> Task:
    yield from ()
    return method(node)


def _answer_statements(stmt: ir.Stmt, method: Callable[[Any], Any]) -> Task:
    yield from ()
    found = method(stmt)
    return list(flat(found)) if found is not None else []
