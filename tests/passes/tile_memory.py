"""A run of a kernel on the bytes of its allocations: a tile is what lies in its place when it is read.

Written for tests of where tiles lie, of FP32 tiles and of the few ops below. Second names, views, carries and
results move nothing: they are read where their types say. Types cannot say where a window lies that begins
where only the run tells: it is read where its call says, and so are views of it.
"""

import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import direct
from pypto_tmpl.passes.memory.placed_tiles import place_of
from pypto_tmpl.rewrite import base_name

BYTES = 4
"""Of an element."""
COMPUTED: dict[str, Callable[..., torch.Tensor]] = {
    "tile.add": torch.add,
    "tile.sub": torch.sub,
    "tile.mul": torch.mul,
    "tile.adds": torch.add,
    "tile.muls": torch.mul,
    "tile.move": torch.clone,
    "tile.matmul": torch.matmul,
    "tile.matmul_acc": torch.addmm,
}
VIEWS = ("tile.reshape", "tile.slice")
SCALARS: dict[type, Callable[[Any, Any], Any]] = {
    ir.Add: operator.add,
    ir.Sub: operator.sub,
    ir.Mul: operator.mul,
    ir.FloorMod: operator.mod,
    ir.Lt: operator.lt,
    ir.Eq: operator.eq,
}


def stored_by(kernel: ir.Function, tensors: dict[str, torch.Tensor]) -> torch.Tensor:
    """What a kernel stores of these inputs, by the name of the parameter."""
    return _Run(tensors).stored(kernel.body)


class _Run:
    def __init__(self, tensors: dict[str, torch.Tensor]) -> None:
        self._tensors = tensors
        self._memory: dict[int, torch.Tensor] = {}
        self._windows: dict[int, torch.Tensor] = {}
        self._scalars: dict[int, Any] = {}
        self._stored = torch.empty(0)

    def stored(self, body: ir.Stmt) -> torch.Tensor:
        self._run(body)
        return self._stored

    def _cells(self, tile: ir.Expr) -> torch.Tensor:
        if id(tile) in self._windows:
            return self._windows[id(tile)]
        place, type_ = place_of(tile), tile.type
        assert place is not None and isinstance(type_, ir.TileType) and type_.dtype is ir.DataType.FP32
        shape = self._values(type_.shape)
        start = self._value(place.byte_offset_) // BYTES
        cells = self._memory[id(place.base_)][start : start + shape[0] * shape[1]].view(shape)
        if not isinstance(place.byte_offset_, ir.ConstInt):  # a slot of this round
            self._windows[id(tile)] = cells
        return cells

    def _values(self, expressions: Sequence[ir.Expr]) -> list[int]:
        return [self._value(expr) for expr in expressions]

    def _value(self, expr: ir.Expr) -> Any:
        """A tile, as it lies now, or a scalar."""
        if place_of(expr) is not None:
            return self._cells(expr)
        match expr:
            case ir.ConstInt() | ir.ConstFloat():
                return expr.value
            case ir.Var():
                return self._scalars.get(id(expr))
            case ir.Cast():
                return self._value(expr.operand)
            case ir.Call() if expr.op.name == "tensor.read":
                tensor, place = expr.args
                assert isinstance(tensor, ir.Var) and isinstance(place, ir.MakeTuple)
                return int(self._tensors[base_name(tensor.name_hint)][self._value(place.elements[0])])
        assert isinstance(expr, ir.BinaryExpr)
        return SCALARS[type(expr)](self._value(expr.left), self._value(expr.right))

    def _bind(self, variables: tuple[ir.Var, ...], values: list[Any]) -> None:
        self._scalars |= {
            id(var): value for var, value in zip(variables, values, strict=True) if place_of(var) is None
        }

    def _run(self, stmt: ir.Stmt) -> list[Any]:
        """Run a statement; what the yield at its end gives."""
        match stmt:
            case ir.SeqStmts():
                return [self._run(inner) for inner in direct(stmt)][-1]
            case ir.AssignStmt():
                self._assign(stmt)
            case ir.YieldStmt():
                return [self._value(value) for value in stmt.value]
            case ir.IfStmt():
                taken = stmt.then_body if self._value(stmt.condition) else stmt.else_body
                self._bind(stmt.return_vars, [] if taken is None else self._run(taken))
            case ir.ForStmt():
                self._bind(stmt.iter_args, [self._value(carry.initValue) for carry in stmt.iter_args])
                for count in range(*(self._value(bound) for bound in (stmt.start, stmt.stop, stmt.step))):
                    self._bind((stmt.loop_var,), [count])
                    self._bind(stmt.iter_args, self._run(stmt.body))
                self._bind(stmt.return_vars, [self._value(carry) for carry in stmt.iter_args])
            case ir.WhileStmt():
                self._bind(stmt.iter_args, [self._value(carry.initValue) for carry in stmt.iter_args])
                while self._value(stmt.condition):
                    self._bind(stmt.iter_args, self._run(stmt.body))
                self._bind(stmt.return_vars, [self._value(carry) for carry in stmt.iter_args])
            case _:
                assert isinstance(stmt, ir.ReturnStmt)
        return []

    def _assign(self, stmt: ir.AssignStmt) -> None:
        call = stmt.value
        self._windows.pop(id(stmt.var), None)
        if id(call) in self._windows:
            self._windows[id(stmt.var)] = self._windows[id(call)]
        elif not isinstance(call, ir.Call) or call.op.name == "tensor.read":
            self._bind((stmt.var,), [self._value(call)])
        elif call.op.name == "tile.alloc":
            self._memory[id(stmt.var)] = torch.full((self._value(call.args[1]) // BYTES,), torch.nan)
        elif call.op.name == "tile.load":
            tensor, cells = call.args[0], self._cells(stmt.var)
            assert isinstance(tensor, ir.Var)
            cells[:] = self._part(self._tensors[base_name(tensor.name_hint)], call.args[1], cells.shape)
        elif call.op.name == "tile.store":
            self._stored = self._cells(call.args[0]).clone()
        elif call.op.name in VIEWS:
            self._show(stmt.var, call)
        else:
            found = COMPUTED[call.op.name](*map(self._value, call.args))
            self._cells(stmt.var)[:] = found

    def _show(self, var: ir.Var, call: ir.Call) -> None:
        """Note where a view lies that the run tells of."""
        source, offsets, type_ = call.args[0], call.args[2:], var.type
        starts = offsets[0].elements if offsets and isinstance(offsets[0], ir.MakeTuple) else ()
        if id(source) in self._windows or not all(isinstance(start, ir.ConstInt) for start in starts):
            assert isinstance(type_, ir.TileType)
            cells, shape = self._cells(source), self._values(type_.shape)
            self._windows[id(var)] = self._part(cells, offsets[0], shape) if starts else cells.view(shape)

    def _part(self, cells: torch.Tensor, offsets: ir.Expr, shape: Sequence[int]) -> torch.Tensor:
        assert isinstance(offsets, ir.MakeTuple)
        places = zip(self._values(offsets.elements), shape, strict=True)
        return cells[tuple(slice(start, start + extent) for start, extent in places)]
