"""Runs on several ranks: how many devices a script asks for, and on which ranks an output is wrong."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

import torch

from pypto_tmpl.compare.rule import wrong_elements
from pypto_tmpl.compare.tolerance import Tolerance
from pypto_tmpl.golden.errors import HarnessError

_MARKER = re.compile(r"#\s*ci:\s*devices=(\d+)")


def marked_devices(script: Path) -> int:
    """How many devices the first ``# ci: devices=N`` in the text of a script asks for; 1 without one."""
    try:
        found = _MARKER.search(script.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return 1
    return 1 if found is None else int(found[1])


def check_devices(device_ids: Sequence[int] | None) -> None:
    """Raise HarnessError if the script that runs is marked to need more devices than it was given."""
    script = Path(sys.argv[0])
    if device_ids is None or script.suffix != ".py" or len(device_ids) >= (needed := marked_devices(script)):
        return
    given = f"{len(device_ids)} device{'s' * (len(device_ids) != 1)}, {list(device_ids)}"
    raise HarnessError(
        f"{script.name} is marked `# ci: devices={needed}`, and runs on {given}",
        notes=[f"name as many devices as in: -d {','.join(map(str, range(needed)))}"],
    )


def wrong_ranks(
    actual: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance, equal_nan: bool = False
) -> str:
    """A line with the ranks whose part of a stacked tensor is wrong; the first axis counts the ranks.

    Both tensors have one shape and dtype.
    """
    counts = [
        int(wrong_elements(part, wanted, tolerance, equal_nan).sum())
        for part, wanted in zip(actual, expected, strict=True)
    ]
    wrong = [f"rank {rank} ({count})" for rank, count in enumerate(counts) if count]
    right = [str(rank) for rank, count in enumerate(counts) if not count]
    agree = f"; right: {', '.join(right)}" if right else ""
    return f"wrong elements by rank: {', '.join(wrong)}{agree}"
