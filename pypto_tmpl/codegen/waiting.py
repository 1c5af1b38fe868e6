"""What may wait for another rank, or another block of its launch."""

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


def _waits(entry: OpEntry) -> bool:
    return "waits" in entry.traits
