"""Calls about ranks: what is for the host is no kernel's business, and the other way round."""

from __future__ import annotations

import ast

from pypto_tmpl import ir
from pypto_tmpl.domains.host import ALL_REDUCE, DEFER_WAIT, KERNEL_ONLY, WORLD_SIZE
from pypto_tmpl.ir.extents import constant_extent
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
        _check_all_reduce(reader, node, call, on_host)


def _check_all_reduce(reader: Reader, node: ast.Call, call: ir.Call, on_host: bool) -> None:
    """A signal of the right shape in kernels, where there is one block; on the host it may be left out."""
    given = [*node.args[1:2], *(keyword.value for keyword in node.keywords if keyword.arg == "signal")]
    if any(isinstance(one, ast.Constant) and one.value is None for one in given):
        message = f"{ALL_REDUCE} signal cannot be None; omit the signal argument for host synthesis"
        raise reader.error(ParserTypeError, node, message)
    if on_host:
        return
    if len(call.args) < 2:
        message = f"{ALL_REDUCE} requires an explicit signal outside host orchestrator functions"
        raise reader.error(InvalidOperationError, node, message)
    if call.kwargs.get("core_num", 1) != 1:
        message = "core_num > 1 is supported only in a HOST orchestrator"
        raise reader.error(InvalidOperationError, node, message)
    problem = _signal_problem(call)
    if problem is not None:
        raise reader.error(InvalidOperationError, node, f"{ALL_REDUCE}: {problem}")


def _signal_problem(call: ir.Call) -> str | None:
    """Why a signal does not fit a collective in a kernel: [NR, 1], of a ring [2 * (NR - 1), NR]."""
    type_ = call.args[1].type
    assert isinstance(type_, ir.TensorType)
    if len(type_.shape) != 2:
        return f"signal must be 2D [NR, 1], got rank {len(type_.shape)}"
    rows, ranks = map(constant_extent, type_.shape)
    if call.kwargs.get("mode", "mesh") == "ring":
        if rows is not None and ranks is not None and rows != 2 * (ranks - 1):
            return f"signal shape[0] ({rows}) must equal 2*(NR-1) = {2 * (ranks - 1)} for NR = {ranks}"
        return None
    return None if ranks in (1, None) else f"signal shape[1] must be 1 (one cell per rank), got {ranks}"
