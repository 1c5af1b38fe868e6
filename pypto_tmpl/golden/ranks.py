"""Runs on several ranks: how many devices a script asks for."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

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
