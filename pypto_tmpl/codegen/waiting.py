"""What may wait for another rank, or another block of its launch, and what later tasks come after."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.codegen.facts import Launch, code_nodes
from pypto_tmpl.codegen.kernels import KernelMap
from pypto_tmpl.ops import OpEntry, load_table


def may_wait(kernels: KernelMap, function: ir.Function) -> bool:
    """Whether a function, or what it calls, has an op that may wait."""
    waits = load_table().matching(_waits)
    return any(kernels.facts[part.name].op_names & waits for part in kernels.reachable(function))


def body_may_wait(kernels: KernelMap, body: ir.Stmt) -> bool:
    """Whether statements, or what they call, have an op that may wait."""
    waits = load_table().matching(_waits)
    for node in code_nodes(body):
        if isinstance(node, Launch):
            callee = kernels.callee(node)
            if node.op.name in waits if callee is None else may_wait(kernels, callee):
                return True
    return False


def writes_window(kernels: KernelMap, function: ir.Function, param: ir.Var) -> bool:
    """Whether a function, or what it calls, writes a window that its signature only takes.

    One-sided operations and signals count as writes of the window that they are given.
    """
    table = load_table()
    for node in code_nodes(function.body):
        if not isinstance(node, Launch):
            continue
        callee, entry = kernels.callee(node), table.get(node.op.name)
        given = [place for place, arg in enumerate(node.args) if arg is param]
        if callee is not None:
            writes = any(writes_window(kernels, callee, callee.params[place]) for place in given)
        else:
            writes = entry is not None and any(entry.operand_names[at] in entry.writes for at in given)
        if writes:
            return True
    return False


def _waits(entry: OpEntry) -> bool:
    return "waits" in entry.traits
