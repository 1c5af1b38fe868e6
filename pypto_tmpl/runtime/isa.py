"""Where the device's own headers are, which external kernel sources include and nothing here reads."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "PTO_ISA_ROOT"


def pto_isa_include_dir() -> str:
    """``include`` below PTO_ISA_ROOT, or below ``pto-isa`` where that is not set; it need not exist."""
    return str(Path(os.environ.get(VARIABLE) or "pto-isa") / "include")


def ensure_pto_isa_root() -> str:
    """The folder of PTO_ISA_ROOT, or ``pto-isa``; FileNotFoundError where that does not exist."""
    root = Path(os.environ.get(VARIABLE) or "pto-isa")
    if not root.is_dir():
        raise FileNotFoundError(
            f"{root} is no folder; set {VARIABLE} to the device's headers, which nothing here has"
        )
    return str(root)
