"""Calls about ranks: what is for the host is no kernel's business, and the other way round."""

from __future__ import annotations

import ast

from pypto_tmpl import ir
from pypto_tmpl.domains.host import ALL_REDUCE, DEFER_WAIT, KERNEL_ONLY, WORLD_SIZE
from pypto_tmpl.domains.kernel_collectives import collective_problem
from pypto_tmpl.language.diagnostics import InvalidOperationError, ParserSyntaxError, ParserTypeError
from pypto_tmpl.language.reader import HOST_LEVELS, Reader


def check_rank_call(reader: Reader, node: ast.Call, call: ir.Call) -> None:
    """Refuse a call of an op that there is not where it stands.

    Raises: ParserSyntaxError, ParserTypeError or InvalidOperationError at the call.
    """
    name, on_host = call.op.name, reader.level in HOST_LEVELS and not reader.kernel_depth
    if name == WORLD_SIZE and not on_host:
        message = (
            f"{name}() can only be called in HOST orchestration context (not inside InCore / SPMD scopes)"
        )
        raise reader.error(ParserSyntaxError, node, message, "kernels ask pld.nranks(ctx) for their domain")
    if name in KERNEL_ONLY and on_host:
        raise reader.error(ParserSyntaxError, node, f"{name} is for kernels, and this is code of the host")
    if name == DEFER_WAIT and not (reader.kernel_depth and not ir.is_incore_type(reader.function_type)):
        message = (
            f"{name} must be in a task-level pl.at(CORE_GROUP) scope; a function that is called has no task"
        )
        raise reader.error(InvalidOperationError, node, message)
    if name == ALL_REDUCE:
        _check_signal_is_no_none(reader, node)
    problem = None if on_host else collective_problem(call)
    if problem is not None:
        raise reader.error(InvalidOperationError, node, f"{name}: {problem}")


def _check_signal_is_no_none(reader: Reader, node: ast.Call) -> None:
    """On the host a signal may be left out, which is another thing."""
    given = [*node.args[1:2], *(keyword.value for keyword in node.keywords if keyword.arg == "signal")]
    if any(isinstance(one, ast.Constant) and one.value is None for one in given):
        message = f"{ALL_REDUCE} signal cannot be None; omit the signal argument for host synthesis"
        raise reader.error(ParserTypeError, node, message)
