"""What functions write, from what their bodies and the functions they call do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pypto_tmpl import ir
from pypto_tmpl.ir import ParamDirection
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ops import facts
from pypto_tmpl.passes.outline.dataflow import Callees, Origins, own_reads
from pypto_tmpl.rewrite import build


def with_directions(functions: Sequence[ir.Function]) -> list[ir.Function]:
    """The functions with their parameters written where they, or what they call, write them."""
    found = [
        _of_kernel(function) if ir.is_incore_type(function.func_type) else function for function in functions
    ]
    while True:
        callees = Callees(found)
        again = [
            function if ir.is_incore_type(function.func_type) else _of_caller(function, callees)
            for function in found
        ]
        if all(new is old for new, old in zip(again, found, strict=True)):
            return found
        found = again


def _of_kernel(function: ir.Function) -> ir.Function:
    origins = Origins(function.body, Callees())
    written: set[int] = set()
    read: set[int] = set()
    for stmt in statements(function.body):
        targets = list(written_tensors(stmt))
        written |= {id(origins.of(target)) for target in targets}
        others = [var for var in own_reads(stmt) if not any(var is target for target in targets)]
        if isinstance(stmt, ir.AssignStmt | ir.EvalStmt) and not _is_renaming(stmt):
            read |= {id(origins.of(var)) for var in others}
    directions = []
    for param, direction in zip(function.params, function.param_directions, strict=True):
        if direction is ParamDirection.In and id(param) in written:
            direction = ParamDirection.InOut if id(param) in read else ParamDirection.Out
        directions.append(direction)
    return build(function, param_directions=directions)


def _is_renaming(stmt: ir.Stmt) -> bool:
    return isinstance(stmt, ir.AssignStmt) and isinstance(stmt.value, ir.Var)


def written_tensors(stmt: ir.Stmt) -> Iterator[ir.Var]:
    """The tensors in memory that a statement writes."""
    value = stmt.value if isinstance(stmt, ir.AssignStmt) else getattr(stmt, "expr", None)
    if isinstance(value, ir.Call):
        for place in facts.of(value.op).written:
            target = value.args[place]
            if isinstance(target, ir.Var) and isinstance(target.type, ir.TensorType):
                yield target


def _of_caller(function: ir.Function, callees: Callees) -> ir.Function:
    origins, own = Origins(function.body, callees), Origins(function.body, Callees())
    directions = {
        id(param): direction
        for param, direction in zip(function.params, function.param_directions, strict=True)
    }
    for stmt in statements(function.body):
        value = stmt.value if isinstance(stmt, ir.AssignStmt) else getattr(stmt, "expr", None)
        for arg, direction in callees.directions(value):
            key = id(origins.of(arg))
            if direction is ParamDirection.InOut and id(own.of(arg)) not in directions:
                direction = ParamDirection.Out  # it reads what was written before, here
            if key in directions and direction is not ParamDirection.In:
                directions[key] = _merged(directions[key], direction)
    return build(function, param_directions=[directions[id(param)] for param in function.params])


def _merged(one: ParamDirection, other: ParamDirection) -> ParamDirection:
    return other if one is ParamDirection.In else one if other is ParamDirection.Out else other
