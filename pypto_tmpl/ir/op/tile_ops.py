"""Calls of ops on tiles in on-chip memory."""

from pypto_tmpl.ops import load_table
from pypto_tmpl.ops.calls.arguments import keyword_of
from pypto_tmpl.ops.calls.functions import members_of

__getattr__, __dir__ = members_of(__name__, ("pl", "tile"), others={"create_tile": "create"})


def resolve_gather_compare_cmp_mode(cmp_mode: str | int) -> int:
    """The code of a comparison, given by its name or as it is; OpCallError for another one."""
    keywords = {spec.name: spec for spec in load_table()["tile.gather_compare"].kwargs}
    return int(keyword_of(keywords["cmp_mode"], cmp_mode))
