"""Where the tasks of a graph are drawn: in rows by what they wait for, few lines crossing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

WIDTH, HEIGHT, GAP_X, GAP_Y = 168, 40, 22, 46  # of a node and between nodes, in pixels
PER_ROW = 12  # more tasks of one depth go to rows below


@dataclass(frozen=True, slots=True)
class Layout:
    """Corners of the nodes by task, the edges that are drawn, and the size of it all."""

    corners: Mapping[int, tuple[int, int]]
    edges: Sequence[tuple[int, int]]
    width: int
    height: int


def lay_out(tasks: Sequence[int], edges: Iterable[tuple[int, int]], per_row: int = PER_ROW) -> Layout:
    """Lay out tasks, each below all that it waits for (their order is one in which they can run).

    Parts that nothing connects stand beside each other, at most ``per_row`` tasks in a row. An edge that
    others imply is not drawn.
    """
    drawn = direct_edges(tasks, edges)
    before: dict[int, list[int]] = {task: [] for task in tasks}
    for pred, succ in drawn:
        before[succ].append(pred)
    ranks: dict[int, int] = {}
    for task in tasks:
        ranks[task] = 1 + max((ranks[pred] for pred in before[task]), default=-1)
    parts = []
    for part in _connected(tasks, drawn):
        rows: list[list[int]] = [[] for _ in range(1 + max(ranks[task] for task in part))]
        for task in part:
            rows[ranks[task]].append(task)
        parts.append(_placed(rows, before, per_row))
    return _packed(parts, drawn, per_row)


def direct_edges(tasks: Sequence[int], edges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The edges, each once, without those that a longer way implies."""
    bits = {task: 1 << number for number, task in enumerate(tasks)}
    before: dict[int, list[int]] = {task: [] for task in tasks}
    for pred, succ in dict.fromkeys(edges):
        if pred in bits and succ in bits:
            before[succ].append(pred)
    ancestors: dict[int, int] = {}
    kept: list[tuple[int, int]] = []
    for task in tasks:
        implied = all_of = 0
        for pred in before[task]:
            implied |= ancestors[pred]
            all_of |= ancestors[pred] | bits[pred]
        ancestors[task] = all_of
        kept += [(pred, task) for pred in before[task] if not implied & bits[pred]]
    return kept


def _connected(tasks: Sequence[int], edges: Iterable[tuple[int, int]]) -> list[list[int]]:
    """The tasks in groups that edges connect, by their first tasks."""
    group = {task: task for task in tasks}

    def first(task: int) -> int:
        while group[task] != task:
            group[task] = group[group[task]]
            task = group[task]
        return task

    order = {task: number for number, task in enumerate(tasks)}
    for pred, succ in edges:
        low, high = sorted((first(pred), first(succ)), key=order.__getitem__)
        group[high] = low
    parts: dict[int, list[int]] = {}
    for task in tasks:
        parts.setdefault(first(task), []).append(task)
    return list(parts.values())


@dataclass(frozen=True, slots=True)
class _Part:
    """Connected tasks: their corners from that of the part, and its size with the gaps after it."""

    corners: Mapping[int, tuple[int, int]]
    width: int
    height: int


def _placed(ranks: list[list[int]], before: Mapping[int, list[int]], per_row: int) -> _Part:
    full = min(per_row, max(map(len, ranks))) * (WIDTH + GAP_X)
    centres: dict[int, float] = {}
    corners: dict[int, tuple[int, int]] = {}
    y = 0
    for rank in ranks:
        ordered = sorted(rank, key=lambda task: _mean([centres[pred] for pred in before[task]]))
        for first in range(0, len(ordered), per_row):
            row = ordered[first : first + per_row]
            x = (full - len(row) * (WIDTH + GAP_X)) // 2
            for task in row:
                corners[task] = (x, y)
                centres[task] = x + WIDTH / 2
                x += WIDTH + GAP_X
            y += HEIGHT + GAP_Y
    return _Part(corners, full, y)


def _packed(parts: Sequence[_Part], edges: Sequence[tuple[int, int]], per_row: int) -> Layout:
    """Parts beside each other, as many as fit into the widest row, those of a row at one height."""
    limit = per_row * (WIDTH + GAP_X)
    corners: dict[int, tuple[int, int]] = {}
    x = y = height = width = 0
    for part in parts:
        if x + part.width > limit:
            x, y, height = 0, y + height, 0
        for task, (left, top) in part.corners.items():
            corners[task] = (GAP_X + x + left, GAP_X + y + top)
        x, height = x + part.width, max(height, part.height)
        width = max(width, x)
    return Layout(corners, edges, width + GAP_X, GAP_X + y + height)


def _mean(numbers: list[float]) -> float:
    return sum(numbers) / len(numbers) if numbers else 0.0
