"""A direct interpreter of scalar IR, written from the specification, to compare scripts with."""

import math
from fractions import Fraction
from typing import Any

from pypto_tmpl import ir

BINARY = {
    ir.Add: lambda a, b: a + b,
    ir.Sub: lambda a, b: a - b,
    ir.Mul: lambda a, b: a * b,
    ir.FloorMod: lambda a, b: a - b * math.floor(Fraction(a, b)),
    ir.FloorDiv: lambda a, b: math.floor(Fraction(a, b)),
    ir.Min: lambda a, b: a if a < b else b,
    ir.Max: lambda a, b: b if a < b else a,
    ir.Lt: lambda a, b: a < b,
    ir.Le: lambda a, b: a <= b,
    ir.Eq: lambda a, b: a == b,
    ir.Gt: lambda a, b: a > b,
    ir.And: lambda a, b: a and b,
}


class Yielded(Exception):
    """A yield ends its body; ``args`` are the values."""


class Returned(Exception):
    """A return ends the function; ``args`` are the values."""


class Broken(Exception):
    pass


class Continued(Exception):
    pass


class Interpreter:
    """Runs one call of a function; calls of other functions are runs of their own."""

    def __init__(self, program: ir.Program) -> None:
        self.program = program
        self.values: dict[int, Any] = {}

    def call(self, name: str, args: list[Any]) -> Any:
        function = self.program[name]
        assert function is not None
        run = type(self)(self.program)
        run.values = {id(param): arg for param, arg in zip(function.params, args, strict=True)}
        try:
            run.execute(function.body)
        except Returned as returned:
            return returned.args[0] if len(returned.args) == 1 else returned.args
        return None

    # Expressions

    def value(self, node: ir.Expr) -> Any:
        if isinstance(node, ir.ConstInt | ir.ConstBool):
            return node.value
        if isinstance(node, ir.Var):
            return self.values[id(node)]
        if isinstance(node, ir.BinaryExpr):
            return BINARY[type(node)](self.value(node.left), self.value(node.right))
        if isinstance(node, ir.Not):
            return not self.value(node.operand)
        if isinstance(node, ir.MakeTuple):
            return tuple(self.value(element) for element in node.elements)
        if isinstance(node, ir.TupleGetItemExpr):
            return self.value(node.tuple)[node.index]
        assert isinstance(node, ir.Call | ir.Submit)
        if isinstance(node.op, ir.GlobalVar):
            result = self.call(node.op.name, [self.value(arg) for arg in node.args])
            if isinstance(node, ir.Call):
                return result
            return (*(result if isinstance(result, tuple) else (result,)), 0)
        assert node.op.name in ("tile.get_block_idx", "tile.get_subblock_idx")
        return 0

    # Statements

    def execute(self, stmt: ir.Stmt) -> None:
        if isinstance(stmt, ir.SeqStmts):
            for child in stmt.stmts:
                self.execute(child)
        elif isinstance(stmt, ir.AssignStmt):
            self.values[id(stmt.var)] = self.value(stmt.value)
        elif isinstance(stmt, ir.EvalStmt):
            self.value(stmt.expr)
        elif isinstance(stmt, ir.ReturnStmt):
            raise Returned(*(self.value(value) for value in stmt.value))
        elif isinstance(stmt, ir.YieldStmt):
            raise Yielded(*(self.value(value) for value in stmt.value))
        elif isinstance(stmt, ir.BreakStmt):
            raise Broken
        elif isinstance(stmt, ir.ContinueStmt):
            raise Continued
        elif isinstance(stmt, ir.IfStmt):
            self._branch(stmt)
        elif isinstance(stmt, ir.ForStmt):
            self._for(stmt)
        elif isinstance(stmt, ir.WhileStmt):
            self._while(stmt)
        else:
            self._scope(stmt)

    def _bind(self, variables: tuple[ir.Var, ...], values: tuple[Any, ...]) -> None:
        for var, value in zip(variables, values, strict=True):
            self.values[id(var)] = value

    def _branch(self, stmt: ir.IfStmt) -> None:
        body = stmt.then_body if self.value(stmt.condition) else stmt.else_body
        if body is None:
            return
        try:
            self.execute(body)
        except Yielded as yielded:
            self._bind(stmt.return_vars, yielded.args)

    def _round(self, stmt: ir.ForStmt | ir.WhileStmt) -> None:
        try:
            self.execute(stmt.body)
        except Yielded as yielded:
            self._bind(stmt.iter_args, yielded.args)
        except Continued:
            pass

    def _start(self, stmt: ir.ForStmt | ir.WhileStmt) -> None:
        self._bind(stmt.iter_args, tuple(self.value(arg.initValue) for arg in stmt.iter_args))

    def _end(self, stmt: ir.ForStmt | ir.WhileStmt) -> None:
        self._bind(stmt.return_vars, tuple(self.values[id(arg)] for arg in stmt.iter_args))

    def _for(self, stmt: ir.ForStmt) -> None:
        start, stop, step = (self.value(bound) for bound in (stmt.start, stmt.stop, stmt.step))
        self._start(stmt)
        try:
            for value in range(start, stop, step):
                self.values[id(stmt.loop_var)] = value
                self._round(stmt)
        except Broken:
            pass
        self._end(stmt)

    def _while(self, stmt: ir.WhileStmt) -> None:
        self._start(stmt)
        try:
            while self.value(stmt.condition):
                self._round(stmt)
        except Broken:
            pass
        self._end(stmt)

    def _scope(self, stmt: ir.Stmt) -> None:
        assert isinstance(stmt, ir.ScopeStmt)
        predicate = stmt.attrs.get("predicate")
        if predicate is None or self.value(predicate):
            rounds = self.value(stmt.core_num) if isinstance(stmt, ir.SpmdScopeStmt) else 1
            for _ in range(rounds):
                self.execute(stmt.body)
        if "task_id_var" in stmt.attrs:
            self.values[id(stmt.attrs["task_id_var"])] = 0
