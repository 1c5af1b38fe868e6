"""Tensors of a host program that hold the parts of all ranks, one behind the other along the first axis."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.codegen.host_programs import HostProgram
from pypto_tmpl.execution.entry import user_name


def stacked_parameters(program: ir.Program) -> frozenset[str]:
    """The user's names of the parameters of which each rank gets its own part; none without a host."""
    host = HostProgram({function.name: function for function in program.functions.values()})
    found = () if host.function is None else host.sharded()
    return frozenset(user_name(parameter.name_hint) for parameter in found)
