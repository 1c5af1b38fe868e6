"""Contexts of communication: values that the host makes and everything below it is given."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendFacts
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ir.verifier.diagnostics import Findings
from pypto_tmpl.passes.checks.calls import call_of, launches

GET_CONTEXT = "pld.system.get_comm_ctx"


def dist_tensor_ctx_materialized(
    function: ir.Function, findings: Findings, program: ir.Program, backend: BackendFacts | None
) -> None:
    """Below the host no function asks for a context: it has one as a parameter for each window.

    Whoever calls such a function hands over contexts.
    """
    if function.level is not ir.Level.HOST:
        windows = [param for param in function.params if isinstance(param.type, ir.DistributedTensorType)]
        contexts = [param for param in function.params if isinstance(param.type, ir.CommCtxType)]
        if len(windows) != len(contexts):
            what = f"{function.name!r} has {len(windows)} windows as parameters and {len(contexts)} contexts"
            findings.add(0, what, function.span)
        for call in filter(None, map(call_of, statements(function.body))):
            if call.op.name == GET_CONTEXT:
                what = f"{function.name!r} asks for the context of a window instead of being given it"
                findings.add(0, what, call.span)
    for launch in launches(function):
        callee = program.get_function(launch.op.name)
        for place, param in enumerate(callee.params if callee is not None else ()):
            given = launch.args[place].type if place < len(launch.args) else None
            if isinstance(param.type, ir.CommCtxType) and not isinstance(given, ir.CommCtxType):
                what = f"the call of {launch.op.name!r} gives no context for {param.name_hint!r}"
                findings.add(0, what, launch.span)
