"""Runs on several ranks: how many devices a script asks for."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import torch

from pypto_tmpl import ir
from pypto_tmpl.execution.stacked import asked_ranks
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
    if device_ids is not None:
        given = f"{len(device_ids)} device{'s' * (len(device_ids) != 1)}, {list(device_ids)}"
        _check_marker(len(device_ids), given)


def check_ranks(program: ir.Program | None, extents: Mapping[str, int]) -> None:
    """The same of a program of several ranks for which no devices are named: its arguments tell how many.

    ``extents`` has the first extent of each parameter that is a tensor.
    """
    count = None if program is None else asked_ranks(program.functions.values(), extents)
    if count is None:
        return
    _check_marker(count, f"{count} rank{'s' * (count != 1)}, since it names no devices")


def parts_of_nobody(
    device_ids: Sequence[int] | None, outputs: Mapping[str, torch.Tensor], stacked: Iterable[str]
) -> Iterator[str]:
    """A line for each output that has parts for more ranks than there were: nobody computed these."""
    if device_ids is None:
        return
    ran = len(device_ids)
    for name in stacked:
        if name in outputs and (parts := len(outputs[name])) > ran:
            yield f"{name!r} has parts for {parts} ranks, of which {ran} ran, on devices {list(device_ids)}"


def _check_marker(count: int, given: str) -> None:
    script = Path(sys.argv[0])
    if script.suffix != ".py" or count >= (needed := marked_devices(script)):
        return
    raise HarnessError(
        f"{script.name} is marked `# ci: devices={needed}`, and runs on {given}",
        notes=[f"name as many devices as in: -d {','.join(map(str, range(needed)))}"],
    )
