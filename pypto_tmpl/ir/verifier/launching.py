"""Rules on what stands ready to be run: launches, scopes of the run time, carries and memory."""

from __future__ import annotations

from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ir.enums import ArgDirection, FunctionType, MemorySpace, ParamDirection, is_incore_type
from pypto_tmpl.ir.expr import Call, GlobalVar, Submit
from pypto_tmpl.ir.program import Function, Program
from pypto_tmpl.ir.stmt import AssignStmt, ForStmt
from pypto_tmpl.ir.types import ShapedType, TensorType, TileType
from pypto_tmpl.ir.verifier.diagnostics import Findings
from pypto_tmpl.ir.walking import walk

ACC_STORE_DTYPES = frozenset({"INT32", "FP32", "FP16", "BF16"})
_ALLOWED = {
    ParamDirection.In: {ArgDirection.Input, ArgDirection.NoDep},
    ParamDirection.InOut: {ArgDirection.InOut, ArgDirection.OutputExisting, ArgDirection.NoDep},
    ParamDirection.Out: {
        ArgDirection.Output,
        ArgDirection.OutputExisting,
        ArgDirection.InOut,
        ArgDirection.NoDep,
    },
}
"""What a call may say of a tensor that the function uses in this way; of other arguments it says Scalar."""


def call_directions_resolved(function: Function, findings: Findings, program: Program | None) -> None:
    """Every call of a function says of each argument how it is used, as the function uses it."""
    for node in walk(function.body):
        if not isinstance(node, Call | Submit) or not isinstance(node.op, GlobalVar) or not node.args:
            continue
        said = node.attrs.get("arg_directions", ())
        callee = program.get_function(node.op.name) if program is not None else None
        if len(said) != len(node.args):
            what = f"directions of {len(said)} of its {len(node.args)} arguments"
            findings.add(0, f"the call of {node.op.name!r} has {what}", node.span)
        elif callee is not None:
            for place, (arg, direction) in enumerate(zip(node.args, said, strict=True)):
                is_tensor = isinstance(arg.type, TensorType)
                allowed = _ALLOWED[callee.param_directions[place]] if is_tensor else {ArgDirection.Scalar}
                if direction not in allowed:
                    what = f"the call of {node.op.name!r} takes argument {place} as {direction.name}"
                    findings.add(0, what, node.span)


def tile_memory_inferred(function: Function, findings: Findings) -> None:
    """Every tile of a kernel has a memory space."""
    if not is_incore_type(function.func_type):
        return
    for stmt in statements(function.body):
        type_ = stmt.var.type if isinstance(stmt, AssignStmt) else None
        if isinstance(stmt, AssignStmt) and isinstance(type_, TileType) and type_.memory_space is None:
            findings.add(0, f"the tile {stmt.var.name_hint!r} has no memory space", stmt.span)


def runtime_scopes_materialized(function: Function, findings: Findings) -> None:
    """The run time makes no scopes of its own in orchestration functions."""
    if function.func_type is FunctionType.Orchestration and function.attrs.get("auto_scope") is not False:
        findings.add(
            0, f"the Orchestration function {function.name!r} has no auto_scope=False", function.span
        )


def iter_arg_carry_classified(function: Function, findings: Findings) -> None:
    """Counted loops of orchestration functions say of each carry whether it is a value of its own."""
    if function.func_type is not FunctionType.Orchestration:
        return
    for stmt in statements(function.body):
        for place, arg in enumerate(stmt.iter_args if isinstance(stmt, ForStmt) else ()):
            if isinstance(stmt, ForStmt) and f"iter_arg_rebind_{place}" not in stmt.attrs:
                findings.add(0, f"the carry {arg.name_hint!r} has no iter_arg_rebind_{place}", stmt.span)


def acc_to_gm_store_valid(function: Function, findings: Findings) -> None:
    """What accumulators are stored as has a dtype that the hardware stores."""
    for node in walk(function.body):
        if not isinstance(node, Call) or node.op.name != "tile.store":
            continue
        source, target = node.args[0].type, node.args[2].type
        is_acc = isinstance(source, TileType) and source.memory_space is MemorySpace.Acc
        if is_acc and isinstance(target, ShapedType) and target.dtype.name not in ACC_STORE_DTYPES:
            findings.add(0, f"an accumulator is stored as {target.dtype.name}", node.span)
