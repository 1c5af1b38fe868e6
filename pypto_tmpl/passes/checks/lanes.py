"""Regions that the two vector lanes of a cluster share, and what goes into and out of them."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendFacts
from pypto_tmpl.ir.bodies import parts, statements
from pypto_tmpl.ir.enums import is_incore_type
from pypto_tmpl.ir.verifier.diagnostics import Findings
from pypto_tmpl.passes.checks.calls import call_of

BOUNDARIES = frozenset({"tile.aiv_shard", "tile.aic_gather", "tensor.aiv_shard", "tensor.aic_gather"})


def aiv_split_valid(
    function: ir.Function, findings: Findings, program: ir.Program, backend: BackendFacts | None
) -> None:
    """Lane regions stand in kernels, none in another, and the kernel says how it is split.

    Values are shared out and gathered in a region alone, by its split, until the regions are lowered.
    """
    regions = [stmt for stmt in statements(function.body) if isinstance(stmt, ir.SplitAivScopeStmt)]
    is_lowered = not regions and bool(function.attrs.get("split_aiv"))
    todo: list[tuple[ir.Stmt, ir.SplitAivScopeStmt | None]] = [(function.body, None)]
    while todo:
        stmt, region = todo.pop()
        if isinstance(stmt, ir.SplitAivScopeStmt):
            if region is not None:
                findings.add(0, "a lane region stands in another one", stmt.span)
            elif not is_incore_type(function.func_type):
                what = f"a lane region stands in the {function.func_type.name} function {function.name!r}"
                findings.add(0, what, stmt.span)
            region = stmt
        call = call_of(stmt)
        if call is not None and call.op.name in BOUNDARIES and not is_lowered:
            _check_boundary(call, region, findings)
        todo += [(part, region) for part in reversed(parts(stmt))]
    if regions and is_incore_type(function.func_type):
        _check_attributes(function, regions, findings)


def _check_boundary(call: ir.Call, region: ir.SplitAivScopeStmt | None, findings: Findings) -> None:
    if region is None:
        findings.add(0, f"{call.op.name} stands outside of all lane regions", call.span)
    elif call.kwargs.get("split") != region.split.value:
        split = call.kwargs.get("split")
        what = f"{call.op.name} has split={split} in a lane region of split {region.split.value}"
        findings.add(0, f"{what} ({region.split.name})", call.span)


def _check_attributes(function: ir.Function, regions: list[ir.SplitAivScopeStmt], findings: Findings) -> None:
    """``split_aiv`` is set, and ``split`` is what all regions have, unless they differ or have none."""
    if function.attrs.get("split_aiv") is not True:
        what = f"the kernel {function.name!r} has lane regions, but no split_aiv=True"
        findings.add(0, what, function.span)
    splits = {region.split for region in regions}
    common = splits.pop().value if len(splits) == 1 else 0
    said = function.attrs.get("split") or 0
    if said != common:
        what = f"the kernel {function.name!r} has split {said}, its lane regions have"
        others = ", ".join(dict.fromkeys(str(region.split.value) for region in regions))
        findings.add(0, f"{what} {others}", function.span)
