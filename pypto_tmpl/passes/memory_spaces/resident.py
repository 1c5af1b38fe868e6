"""Loads into Mat that give the same panel in all rounds of a loop leave it, with the move to the matrix unit.

So it is with what the orchestration made for its kernels: nothing else knows of it, and nothing changes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pypto_tmpl import ir, ops
from pypto_tmpl.ir import FunctionType, MemorySpace, ParamDirection
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.ir.verifier.walking import definitions, used_variables
from pypto_tmpl.ops import facts
from pypto_tmpl.passes.outline.dataflow import Callees, Origins, all_definitions, reads
from pypto_tmpl.passes.tensor_to_tile.lowering import BRIDGE
from pypto_tmpl.rewrite import Rewriter, as_body, build, flat

_Calls = dict[str, list[tuple[ir.Function, ir.Call | ir.Submit]]]


def resident_parameters(program: ir.Program) -> dict[str, set[int]]:
    """Parameters (ids) by kernel that are, at every call, a tensor which the orchestration created."""
    kernels = {function.name: function for function in program.functions.values() if _loads_panels(function)}
    if not kernels:
        return {}
    calls = _calls(program)
    callees = Callees(program.functions.values())
    made: dict[str, _Made] = {}
    found: dict[str, set[int]] = {}
    for name, kernel in kernels.items():
        inputs = {place for place, way in enumerate(kernel.param_directions) if way is ParamDirection.In}
        for caller, call in calls.get(name, []):
            if (
                caller.name in calls
                or caller.func_type is not FunctionType.Orchestration
                or isinstance(call, ir.Submit)
            ):
                inputs.clear()
            elif inputs:
                own = made.setdefault(caller.name, _Made(caller, callees))
                inputs &= set(own.places(call, kernel))
        found[name] = {id(kernel.params[place]) for place in inputs if name in calls}
    return found


def _loads_panels(function: ir.Function) -> bool:
    return ir.is_incore_type(function.func_type) and any(
        _is_panel_load(stmt)
        for loop in statements(function.body)
        if isinstance(loop, ir.ForStmt)
        for stmt in flat(loop.body)
    )


def _is_panel_load(stmt: ir.Stmt) -> bool:
    return isinstance(stmt, ir.AssignStmt) and isinstance(stmt.value, ir.Call) and BRIDGE in stmt.value.attrs


def _calls(program: ir.Program) -> _Calls:
    found: _Calls = {}
    for function in program.functions.values():
        for node in ir.walk(function.body):
            if isinstance(node, ir.Call | ir.Submit) and isinstance(node.op, ir.GlobalVar):
                found.setdefault(node.op.name, []).append((function, node))
    return found


class _Made:
    """The tensors that an orchestration function makes itself."""

    def __init__(self, function: ir.Function, callees: Callees) -> None:
        self._origins = Origins(function.body, callees)
        self._created = {
            id(stmt.var)
            for stmt in statements(function.body)
            if isinstance(stmt, ir.AssignStmt) and facts.of_value(stmt.value).has("allocates")
        }

    def places(self, call: ir.Call, kernel: ir.Function) -> Iterator[int]:
        """The arguments that are such tensors and that the kernel does not also write."""
        origins = [id(self._origins.of(arg)) if isinstance(arg, ir.Var) else 0 for arg in call.args]
        directions = list(zip(origins, kernel.param_directions, strict=False))
        written = {origin for origin, way in directions if way is not ParamDirection.In}
        for place, (origin, _) in enumerate(directions):
            if origin in self._created and origin not in written:
                yield place


def with_resident_loads(function: ir.Function, resident: set[int]) -> ir.Function:
    """A kernel whose loops do not load and move again what stays the same of these parameters (ids)."""
    return _Hoisting(function, resident).rewrite(function) if resident else function


class _Hoisting(Rewriter):
    def __init__(self, function: ir.Function, resident: set[int]) -> None:
        super().__init__()
        self._resident = resident
        self._reads = Counter(id(var) for var in reads(function.body))

    def statement(self, stmt: ir.Stmt) -> list[ir.Stmt]:
        if not isinstance(stmt, ir.ForStmt) or not _runs(stmt):
            return [stmt]
        inside = list(flat(stmt.body))
        loads = [
            inner for inner in inside if isinstance(inner, ir.AssignStmt) and self._is_of_resident(inner)
        ]
        if not loads:
            return [stmt]
        bound = all_definitions(stmt.body) | {id(var) for var in definitions(stmt)}
        wanted = _wanted(inside)
        before: list[ir.Stmt] = []
        moved: dict[int, ir.Var] = {}
        for load in loads:
            spaces = wanted.get(id(load.var), [])
            is_only_moved = len(spaces) == self._reads[id(load.var)] and len(set(spaces)) == 1
            if is_only_moved and all(id(var) not in bound for var in used_variables(load.value)):
                move = ops.call("tile.move", load.var, target_memory=spaces[0], span=load.span)
                tile = ir.Var(f"{load.var.name_hint}_{spaces[0].name}", move.type, load.span)
                before += [load, ir.AssignStmt(tile, move, load.span)]
                moved[id(load.var)] = tile
        left = {id(load) for load in before}
        kept = [_with_moved(inner, moved) for inner in inside if id(inner) not in left]
        return [*before, build(stmt, body=as_body(kept, stmt.body.span))] if before else [stmt]

    def _is_of_resident(self, stmt: ir.AssignStmt) -> bool:
        """Whether it loads a panel of a resident parameter."""
        call = stmt.value
        return _is_panel_load(stmt) and isinstance(call, ir.Call) and id(call.args[0]) in self._resident


def _runs(loop: ir.ForStmt) -> bool:
    """Whether a loop certainly runs, one round after the other."""
    start, stop, step = (constant_extent(expr) for expr in (loop.start, loop.stop, loop.step))
    if loop.kind is not ir.ForKind.Sequential or start is None or stop is None or not step:
        return False
    return start < stop if step > 0 else start > stop


def _wanted(body: list[ir.Stmt]) -> dict[int, list[MemorySpace]]:
    """The spaces into which calls that always run move each tile of Mat, one by one."""
    found: dict[int, list[MemorySpace]] = {}
    for stmt in body:
        value = stmt.value if isinstance(stmt, ir.AssignStmt) else None
        if isinstance(value, ir.Call):
            for arg, spaces in zip(value.args, facts.of_value(value).operand_memory, strict=False):
                if spaces and MemorySpace.Mat not in spaces:
                    found.setdefault(id(arg), []).append(spaces[0])
    return found


def _with_moved(stmt: ir.Stmt, moved: dict[int, ir.Var]) -> ir.Stmt:
    if not isinstance(stmt, ir.AssignStmt) or not isinstance(stmt.value, ir.Call):
        return stmt
    args = [moved.get(id(arg), arg) for arg in stmt.value.args]
    return build(stmt, value=build(stmt.value, args=args))
