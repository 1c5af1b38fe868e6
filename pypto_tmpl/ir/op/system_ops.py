"""Calls of ops that synchronise cores or hand tiles over."""

from pypto_tmpl import ir
from pypto_tmpl.ops.calls.functions import members_of

__getattr__, __dir__ = members_of(__name__, ("pl", "system"))
AUTO = -1  # an address that the compiler is to choose


def syncall_soft(
    core_type: str, gm_workspace: ir.Expr, used_cores: ir.Expr | None = None, *, span: ir.Span | None = None
) -> ir.Call:
    """A barrier over all cores that counts in a workspace in global memory."""
    cores = 0 if used_cores is None else used_cores
    keywords = {"core_type": core_type, "mode": "soft", "gm_workspace": gm_workspace, "used_cores": cores}
    call: ir.Call = __getattr__("syncall")(span=span, **keywords)
    return call
