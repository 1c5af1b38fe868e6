"""Tensors of a host program that hold the parts of all ranks, one behind the other along the first axis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from pypto_tmpl import ir
from pypto_tmpl.codegen.host_programs import HostProgram
from pypto_tmpl.execution.entry import returned_names, user_name
from pypto_tmpl.ir.bodies import last_of


def stacked_tensors(functions: Iterable[ir.Function]) -> frozenset[str]:
    """The user's names of the parameters of which each rank gets its own part, and of windows that the host
    returns; none without a host.
    """
    host = HostProgram({function.name: function for function in functions})
    if host.function is None:
        return frozenset()
    parameters = (user_name(parameter.name_hint) for parameter in host.handed_out())
    return frozenset([*parameters, *_returned_windows(host.function)])


def asked_ranks(functions: Iterable[ir.Function], extents: Mapping[str, int]) -> int | None:
    """How many ranks a host program asks for where no devices are named; None without a host.

    ``extents`` has the first extent of each parameter that is a tensor.
    """
    host = HostProgram({function.name: function for function in functions})
    if host.function is None:
        return None
    names = (user_name(parameter.name_hint) for parameter in host.sharded())
    return max([host.least_ranks(), *(extents[name] for name in names if name in extents)])


def _returned_windows(function: ir.Function) -> Iterator[str]:
    last = last_of(function.body)
    values = last.value if isinstance(last, ir.ReturnStmt) else ()
    for name, value in zip(returned_names(function.body), values, strict=True):
        if name and isinstance(value.type, ir.DistributedTensorType):
            yield name
