"""The code of a script with its launches marked: statements are added to its syntax tree, lines stay."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from itertools import groupby

from pypto_tmpl.runtime.records.plan import LaunchLine, ScopeLines, TaskPlan

RECORDER = "__dfx__"  # what the added statements call the recorder


def mark_launches(tree: ast.Module, plan: TaskPlan) -> ast.Module:
    """Add to a script, in place, what tells ``RECORDER`` of its launches.

    ``ask(line, deps)`` stands before a statement that launches a kernel and ``settle()`` after it,
    ``with scope(n, deps):`` around the lines of the n-th scope, ``with block(n):`` around what every block of
    a scope does, ``loop(n)`` before a parallel loop and ``iteration(n)`` first in its body.
    """
    marker = _Marker(plan)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            node.body = marker.block(node.body)
    return ast.fix_missing_locations(tree)


class _Marker:
    def __init__(self, plan: TaskPlan) -> None:
        self._plan = plan
        self._entered: list[int] = []

    def block(self, stmts: list[ast.stmt]) -> list[ast.stmt]:
        """The statements of one block, runs of those that belong to a scope inside of a ``with``."""
        marked: list[ast.stmt] = []
        for number, run in groupby(stmts, self._scope_of):
            if number is None:
                marked += [part for stmt in run for part in self._statement(stmt)]
            else:
                marked.append(self._scope(number, list(run)))
        return marked

    def _scope_of(self, stmt: ast.stmt) -> int | None:
        """The outermost scope that a whole statement belongs to and that has not been entered."""
        for number, scope in enumerate(self._plan.scopes):
            is_inside = scope.first <= stmt.lineno and (stmt.end_lineno or stmt.lineno) <= scope.last
            if is_inside and number not in self._entered:
                return number
        return None

    def _scope(self, number: int, stmts: list[ast.stmt]) -> ast.stmt:
        scope = self._plan.scopes[number]
        self._entered.append(number)
        body = [part for stmt in stmts for part in self._of_scope(number, scope, stmt)]
        self._entered.pop()
        return _with(stmts[0], "scope", [ast.Constant(number), _tuple(scope.note.deps)], body)

    def _of_scope(self, number: int, scope: ScopeLines, stmt: ast.stmt) -> Iterator[ast.stmt]:
        if not scope.is_block_loop or not scope.is_body:
            yield from self.block([stmt])
        elif isinstance(stmt, ast.For):
            stmt.body = [_with(stmt.body[0], "block", [ast.Constant(number)], stmt.body)]
            yield stmt
        else:
            yield stmt

    def _statement(self, stmt: ast.stmt) -> Iterator[ast.stmt]:
        launch = self._plan.launches.get(stmt.lineno)
        if launch is not None:
            yield _asked(stmt, launch)
        for name in ("body", "orelse"):
            inner = getattr(stmt, name, None)
            if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                setattr(stmt, name, self.block(inner))
        loop = self._plan.loops.get(stmt.lineno) if isinstance(stmt, ast.For) else None
        if loop is not None and isinstance(stmt, ast.For):
            yield _call(stmt, "loop", [ast.Constant(loop)])
            stmt.body.insert(0, _call(stmt.body[0], "iteration", [ast.Constant(loop)]))
        yield stmt
        if launch is not None:
            yield _call(stmt, "settle", [])


def _asked(stmt: ast.stmt, launch: LaunchLine) -> ast.stmt:
    return _call(stmt, "ask", [ast.Constant(stmt.lineno), _tuple(launch.note.deps)])


def _call(at: ast.stmt, method: str, args: list[ast.expr]) -> ast.stmt:
    return ast.copy_location(ast.Expr(_method(method, args)), at)


def _with(first: ast.stmt, method: str, args: list[ast.expr], body: list[ast.stmt]) -> ast.stmt:
    item = ast.withitem(_method(method, args))
    return ast.copy_location(ast.With([item], body), first)


def _method(name: str, args: list[ast.expr]) -> ast.Call:
    return ast.Call(ast.Attribute(ast.Name(RECORDER, ast.Load()), name, ast.Load()), args, [])


def _tuple(texts: Iterable[str]) -> ast.expr:
    return ast.Tuple([ast.parse(text, mode="eval").body for text in texts], ast.Load())
