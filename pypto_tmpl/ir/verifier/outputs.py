"""Rules on parameters that are written: what a function writes reaches its caller."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_tmpl.ir.attrs import AttrKind
from pypto_tmpl.ir.base import Expr, Stmt
from pypto_tmpl.ir.bodies import parts, statements
from pypto_tmpl.ir.enums import AtomicType, FunctionType, ParamDirection
from pypto_tmpl.ir.expr import Call, GlobalVar, Submit
from pypto_tmpl.ir.leaves import Var
from pypto_tmpl.ir.program import Function, Program
from pypto_tmpl.ir.stmt import AssignStmt, IfStmt, WhileStmt
from pypto_tmpl.ir.types import ShapedType
from pypto_tmpl.ir.verifier.diagnostics import Findings
from pypto_tmpl.ir.verifier.walking import Steps, definitions, evaluated, own_expressions, run, used_variables
from pypto_tmpl.ir.walking import walk

ATOMIC_ADD_DTYPES = frozenset({"FP32", "BF16", "FP16", "INT32", "INT16", "INT8"})
_DESTINATIONS = {
    "tile.store": 2,
    "tensor.assemble": 0,
    "pld.tensor.put": 0,
    "pld.tile.put": 0,
    "pld.tensor.remote_store": 1,
    "pld.tile.remote_store": 1,
}
"""Which operand of an op with the keyword ``atomic`` is added to."""


def out_param_not_shadowed(function: Function, findings: Findings) -> None:
    """An output parameter is not replaced by a new tensor: what is written there would be lost."""
    outputs = {
        id(var)
        for var, direction in zip(function.params, function.param_directions, strict=True)
        if direction is not ParamDirection.In
    }
    for stmt in statements(function.body):
        if not isinstance(stmt, AssignStmt) or id(stmt.var) not in outputs:
            continue
        if isinstance(stmt.value, Call) and stmt.value.op.name in ("tensor.create", "tensor.full"):
            message = f"the output parameter {stmt.var.name_hint!r} is reassigned by {stmt.value.op.name}"
            findings.add(501, message, stmt.span)


def in_out_use_valid(function: Function, findings: Findings, program: Program | None) -> None:
    """What was passed as an output of a call is not read afterwards under its old name.

    Directions are those of the callee, so there is nothing to check without a program.
    """
    exempt = (FunctionType.Group, FunctionType.Spmd)
    if program is not None and function.func_type not in exempt:
        run(_Stale(findings, program).check(function.body))


class _Stale:
    """A walk that knows which variables a call has written, and by which function."""

    def __init__(self, findings: Findings, program: Program) -> None:
        self.findings = findings
        self.program = program
        self.written: dict[int, str] = {}

    def check(self, stmt: Stmt) -> Steps:
        """Check ``stmt`` in the order in which it reads, writes and defines."""
        self.read(own_expressions(stmt), stmt)
        if isinstance(stmt, WhileStmt):
            self.read((stmt.condition,), stmt)
        for var in definitions(stmt):
            self.written.pop(id(var), None)
        if isinstance(stmt, IfStmt):
            yield self.branches(stmt)
        else:
            for part in parts(stmt):
                yield self.check(part)

    def branches(self, stmt: IfStmt) -> Steps:
        """Each branch starts from what was written before; afterwards either may have been taken."""
        before = self.written
        after = dict(before) if stmt.else_body is None else {}
        for branch in parts(stmt):
            self.written = dict(before)
            yield self.check(branch)
            after.update(self.written)
        self.written = after

    def read(self, exprs: tuple[Expr, ...], stmt: Stmt) -> None:
        for var in used_variables(*exprs):
            if id(var) in self.written:
                message = f"{var.name_hint!r} is read after {self.written[id(var)]!r} wrote it"
                self.findings.add(0, message, stmt.span)
        for node in evaluated(*exprs):
            if isinstance(node, Call):
                self.written.update((id(var), node.op.name) for var in self.outputs(node))

    def outputs(self, call: Call) -> Iterator[Var]:
        callee = self.program.get_function(call.op.name) if isinstance(call.op, GlobalVar) else None
        if callee is not None:
            for arg, direction in zip(call.args, callee.param_directions, strict=False):
                if isinstance(arg, Var) and direction is not ParamDirection.In:
                    yield arg


def manual_deps_on_submit_only(function: Function, findings: Findings) -> None:
    """Function calls and submits state their dependencies by operands, never by manual_dep_edges."""
    for node in walk(function.body):
        if not isinstance(node, Call | Submit) or "manual_dep_edges" not in node.attrs:
            continue
        if isinstance(node, Submit):
            findings.add(1, f"a submit of {node.op.name!r} has the attribute manual_dep_edges", node.span)
        elif isinstance(node.op, GlobalVar):
            findings.add(0, f"a call of {node.op.name!r} has the attribute manual_dep_edges", node.span)


def atomic_add_dtype_valid(function: Function, findings: Findings) -> None:
    """The destination of an atomic addition has a dtype that the hardware adds."""
    for node in walk(function.body):
        if not isinstance(node, Call) or node.kwargs.kinds.get("atomic") is not AttrKind.INT:
            continue
        if node.kwargs["atomic"] != AtomicType.Add:
            continue
        index = _DESTINATIONS.get(node.op.name, len(node.args))
        target = node.args[index].type if index < len(node.args) else node.type
        if isinstance(target, ShapedType) and target.dtype.name not in ATOMIC_ADD_DTYPES:
            findings.add(0, f"{node.op.name} adds atomically to {target.dtype.name}", node.span)
