"""Calling the entry of a script that is loaded: stages, traces, builds and kernels are all called here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from pypto_tmpl.execution.apart import CPU, call_apart
from pypto_tmpl.execution.entry import Entry
from pypto_tmpl.execution.extents import Value
from pypto_tmpl.execution.threads import script_threads


@dataclass(frozen=True, slots=True)
class LoadedScript:
    """The names of a script, what is called of it, and the functions that several threads pay for."""

    namespace: dict[str, Any]
    entry: Entry
    large: Sequence[str] = ()

    def call(self, arguments: Sequence[Any]) -> Any:
        """What the entry returns, on the threads that suit the script."""
        with script_threads(self.namespace, self.large):
            return self.namespace[self.entry.script_name](*arguments)

    def call_in_place(self, values: Sequence[Value], device: torch.device = CPU) -> None:
        """Call the entry as a device does: on arguments by position, into which it writes."""
        call_apart(lambda *apart: self.call(apart), self.entry.parameters, values, device)
