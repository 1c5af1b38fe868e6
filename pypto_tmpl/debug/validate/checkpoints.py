"""Expected intermediates: what a variable inside a program should hold, whatever a stage makes of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import torch

from pypto_tmpl.codegen.tracing import TraceSelection, TraceSite
from pypto_tmpl.compare.tensors import Rules, TensorVerdict, compare_tensors
from pypto_tmpl.debug.trace.records import TraceRecord, record_of
from pypto_tmpl.debug.trace.value_match import Comparable, part_of
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.execution.entry import user_name


class CheckpointError(PyptoTmplError, ValueError):
    """No stage has a variable of the name of a checkpoint."""

    slug = "checkpoint"


def checkpoint_selection(names: Sequence[str]) -> TraceSelection | None:
    """The values that checkpoints are compared with; what passes add to a name follows two underscores."""
    if not names:
        return None
    return TraceSelection(names=tuple(glob for name in names for glob in (name, f"{name}__*")))


def checkpoint_verdicts(
    namespace: Mapping[str, Any], checkpoints: Mapping[str, torch.Tensor], rules: Rules
) -> list[TensorVerdict]:
    """The verdicts on the checkpoints of which a script that has run had values.

    A variable that is made tile by tile, on two lanes or in several blocks counts as a whole: each tile
    stands where it agrees with what is expected, the others in the order in which they were made. Where all
    of them do not make up what is expected, the last of each lane do.
    """
    sites = [TraceSite(*site) for site in namespace["_TRACE_SITES"]]
    records = [record_of(found) for found in namespace["_TRACE"].records()]
    verdicts = []
    for name, expected in checkpoints.items():
        found = [record for record in records if _is_value_of(sites[record.site], name)]
        if found:
            verdicts.append(_verdict(name, sites, found, expected, rules))
    return verdicts


def _is_value_of(site: TraceSite, name: str) -> bool:
    return site.kind in ("value", "write") and name in (
        user_name(site.variable),
        site.variable.split("__")[0],
    )


def _verdict(
    name: str, sites: Sequence[TraceSite], found: list[TraceRecord], expected: torch.Tensor, rules: Rules
) -> TensorVerdict:
    """The verdict on the definition that fits best: passes may copy a value under the same name."""
    by_site: dict[int, list[TraceRecord]] = defaultdict(list)
    for record in found:
        by_site[record.site].append(record)
    best: TensorVerdict | None = None
    for records in by_site.values():
        verdict = _compared(name, records, expected, rules)
        if verdict.passed:
            return verdict
        if best is None or (verdict.shape is not None and best.shape is None):
            best = verdict
    assert best is not None
    return best


def _compared(
    name: str, records: Sequence[TraceRecord], expected: torch.Tensor, rules: Rules
) -> TensorVerdict:
    values = [record.region() for record in records]
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    if len(tensors) != len(values):
        last = values[-1]
        return compare_tensors(name, torch.tensor(0.0 if last is None else last), expected, rules)
    if tensors[-1].shape == expected.shape:
        return compare_tensors(name, tensors[-1], expected, rules)
    whole = _assembled(tensors, expected)
    if whole is None:  # the last round only, as where there are no lanes
        last_of_lanes = {record.lane: value for record, value in zip(records, tensors, strict=True)}
        whole = _assembled(list(last_of_lanes.values()), expected)
    if whole is not None:
        return compare_tensors(name, whole, expected, rules)
    shapes = ", ".join(dict.fromkeys(str(list(tensor.shape)) for tensor in tensors))
    reason = f"{len(tensors)} values of shape {shapes} do not make up {list(expected.shape)}"
    tolerance = rules.tolerance(name, expected.dtype)
    return TensorVerdict(name, False, float("nan"), tolerance, reason)


def _assembled(parts: Sequence[torch.Tensor], expected: torch.Tensor) -> torch.Tensor | None:
    """Parts put together to a tensor of the expected shape; None if they are too many, too few or uneven."""
    shape = parts[0].shape
    if any(part.shape != shape for part in parts) or len(shape) != expected.dim():
        return None
    if any(n == 0 or extent % n for n, extent in zip(shape, expected.shape, strict=True)):
        return None
    slots = list(product(*(range(0, b, a) for a, b in zip(shape, expected.shape, strict=True))))
    if len(slots) != len(parts):
        return None
    whole = torch.empty(expected.shape, dtype=parts[0].dtype)
    for part, offsets in _placed(parts, slots, expected):
        whole[tuple(slice(o, o + n) for o, n in zip(offsets, shape, strict=True))] = part
    return whole


def _placed(
    parts: Sequence[torch.Tensor], slots: list[tuple[int, ...]], expected: torch.Tensor
) -> Iterator[tuple[torch.Tensor, tuple[int, ...]]]:
    free, rest, whole = dict.fromkeys(slots), [], Comparable.of(expected)
    for part in parts:
        place = part_of(Comparable.of(part), whole)
        if place in free:
            del free[place]
            yield part, place
        else:
            rest.append(part)
    yield from zip(rest, free, strict=True)
