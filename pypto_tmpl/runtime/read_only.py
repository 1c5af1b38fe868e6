"""Arguments that a program only reads, and that a run has changed: which, where, and by which statement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch

from pypto_tmpl import ir
from pypto_tmpl.compare.packed import as_numbers
from pypto_tmpl.compare.rule import wrong_elements
from pypto_tmpl.compare.tolerance import EXACT
from pypto_tmpl.execution.changes import changing_statements, same_cells
from pypto_tmpl.execution.entry import Entry, Parameter
from pypto_tmpl.execution.extents import Value
from pypto_tmpl.execution.statement_place import StatementPlace

KEPT = 1 << 30  # bytes of arguments that are copied, to tell afterwards which cells are not as they were
OnChanged = Callable[["ChangedInput"], None]


@dataclass(frozen=True, slots=True)
class ChangedInput:
    """An argument that was changed; ``cells`` says where, ``place`` by which statement, if that is known."""

    name: str
    cells: str
    place: StatementPlace | None = None

    def __str__(self) -> str:
        text = f"the run has changed {self.name!r}, which the program only reads: {self.cells}"
        if self.place is None:
            return text
        where = f", {self.place.source}" if self.place.source else ""
        return f"{text}; changed by {self.place.function}{where}: {self.place.text}"


@dataclass(slots=True)
class ReadOnly:
    """The arguments of a call that are only to be read, as they were before it.

    Torch counts the writes to a tensor and its views (``versions``), but not in inference mode. Cells are
    compared only where it has counted one, or could not.
    """

    entry: Entry
    values: Sequence[Value]
    versions: dict[str, int] = field(default_factory=dict)
    copies: dict[str, torch.Tensor] = field(default_factory=dict)

    def __post_init__(self) -> None:
        tensors = [(p, v) for p, v in self._pairs() if isinstance(v, torch.Tensor)]
        fits = sum(value.numel() * value.element_size() for _, value in tensors) <= KEPT
        for param, value in tensors:
            if not (value.is_inference() or torch.is_inference_mode_enabled()):
                self.versions[param.name] = value._version
            if fits:
                self.copies[param.name] = value.detach().clone()

    def _pairs(self) -> list[tuple[Parameter, Value]]:
        pairs = list(zip(self.entry.parameters, self.values, strict=True))
        written = {_storage(value) for param, value in pairs if param.is_written} - {None}
        # What shares its storage with an output changes with it.
        return [(p, v) for p, v in pairs if not p.is_written and _storage(v) not in written]

    def changed(self, program: Callable[[], ir.Program | None]) -> list[ChangedInput]:
        """The arguments that are not as they were; ``program`` is asked for the statement then."""
        found = {
            param.name: text
            for param, value in self._pairs()
            if isinstance(value, torch.Tensor) and (text := self._difference(param.name, value))
        }
        places = self._places(program(), list(found)) if found else {}
        return [ChangedInput(name, cells, places.get(name)) for name, cells in found.items()]

    def _difference(self, name: str, value: torch.Tensor) -> str:
        """Which cells are not as they were; "" for a tensor that is as it was."""
        is_counted = name in self.versions
        if is_counted and value._version == self.versions[name]:
            return ""
        before = self.copies.get(name)
        if before is None:
            what = "it was written to, in cells that are not known of arguments this large"
            return what if is_counted else ""
        if same_cells(value, before):
            return ""
        value, before = as_numbers(value), as_numbers(before)
        bad = wrong_elements(value, before, EXACT, equal_nan=True)
        if not bool(bad.any()):
            return "some cells have other bits of an equal value"
        first = tuple(int(i) for i in bad.nonzero()[0])
        cells = f"{int(bad.sum())} of {bad.numel()} cells"
        return f"{cells}, first at {list(first)}: {value[first].item()}, it was {before[first].item()}"

    def _places(self, program: ir.Program | None, names: list[str]) -> dict[str, StatementPlace]:
        """The statements behind the changes, by one more run on the arguments as they were."""
        if program is None or any(name not in self.copies for name in names):
            return {}
        tensors = {}
        for param, value in zip(self.entry.parameters, self.values, strict=True):
            given = self.copies.get(param.name, value)
            tensors[param.name] = given if isinstance(given, torch.Tensor) else torch.tensor(given)
        try:
            return changing_statements(program, self.entry.name, tensors, {}, names)
        except Exception:  # the change is told without it
            return {}


def _storage(value: Value) -> int | None:
    return value.untyped_storage().data_ptr() if isinstance(value, torch.Tensor) and value.numel() else None
