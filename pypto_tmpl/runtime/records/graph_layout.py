"""Where the tasks of a graph are drawn: in rows by what they wait for, few lines crossing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

WIDTH, HEIGHT, GAP_X, GAP_Y = 168, 40, 22, 46  # of a node and between nodes, in pixels
PER_ROW = 12  # more tasks of one rank go to rows below


@dataclass(frozen=True, slots=True)
class Layout:
    """Corners of the nodes by task, the edges that are drawn, and the size of it all."""

    corners: Mapping[int, tuple[int, int]]
    edges: Sequence[tuple[int, int]]
    width: int
    height: int


def lay_out(tasks: Sequence[int], edges: Iterable[tuple[int, int]]) -> Layout:
    """Lay out tasks, each after all that it waits for (their order is one in which they can run).

    An edge that others imply is not drawn.
    """
    drawn = direct_edges(tasks, edges)
    before: dict[int, list[int]] = {task: [] for task in tasks}
    for pred, succ in drawn:
        before[succ].append(pred)
    ranks: dict[int, int] = {}
    for task in tasks:
        ranks[task] = 1 + max((ranks[pred] for pred in before[task]), default=-1)
    rows: list[list[int]] = [[] for _ in range(1 + max(ranks.values(), default=-1))]
    for task in tasks:
        rows[ranks[task]].append(task)
    return _placed(rows, before, drawn)


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


def _placed(ranks: list[list[int]], before: Mapping[int, list[int]], edges: list[tuple[int, int]]) -> Layout:
    widest = min(PER_ROW, max(map(len, ranks), default=1))
    full = widest * (WIDTH + GAP_X)
    centres: dict[int, float] = {}
    corners: dict[int, tuple[int, int]] = {}
    y = GAP_X
    for rank in ranks:
        ordered = sorted(rank, key=lambda task: _mean([centres[pred] for pred in before[task]]))
        for first in range(0, len(ordered), PER_ROW):
            row = ordered[first : first + PER_ROW]
            x = GAP_X + (full - len(row) * (WIDTH + GAP_X)) // 2
            for task in row:
                corners[task] = (x, y)
                centres[task] = x + WIDTH / 2
                x += WIDTH + GAP_X
            y += HEIGHT + GAP_Y
    return Layout(corners, edges, full + GAP_X, y)


def _mean(numbers: list[float]) -> float:
    return sum(numbers) / len(numbers) if numbers else 0.0
