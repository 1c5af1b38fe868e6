"""What users call the parameters of unified names, where the ops behind them say otherwise (spec: API)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_PAIRS = ("lhs", "rhs")
_FIRST = ("input",)

UNIFIED_NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        **dict.fromkeys(("col_expand", "row_expand"), _PAIRS),
        **{
            f"{side}_expand_{op}": _PAIRS
            for side in ("col", "row")
            for op in ("add", "sub", "mul", "div", "max", "min", "expdif")
        },
        **dict.fromkeys(("reshape", "slice", "transpose", "set_validshape"), _FIRST),
        **dict.fromkeys(("fillpad", "fillpad_expand"), ("value",)),
        **dict.fromkeys(("aic_gather", "aiv_shard"), ("x",)),
        "gather_row": ("dst",),
        "read": ("src", "offset"),
        "write": ("dst", "offset"),
    }
)
"""Parameters of ``pl.<name>`` from the first one on."""


def unified_names(path: tuple[str, ...]) -> tuple[str, ...]:
    """What users call the first parameters of a spelling, where that is not what the ops call them."""
    return UNIFIED_NAMES.get(path[-1], ()) if len(path) == 2 and path[0] == "pl" else ()
