"""``deps_graph.html``: the graph of tasks as one page that needs nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from pypto_tmpl.resources import template_root
from pypto_tmpl.runtime.records.dispatches import Dispatch, by_owner
from pypto_tmpl.runtime.records.graph_layout import HEIGHT, PER_ROW, WIDTH, Layout, lay_out
from pypto_tmpl.runtime.records.model import Arg, Records, Task, task_label
from pypto_tmpl.runtime.records.signals import Sent, signalled
from pypto_tmpl.runtime.records.tensors import dtype_name

_TEMPLATE = "report/deps_graph.html.jinja"
_LONGEST = 24  # characters of a name that fit into a node


_GAP = 30  # between frames, in pixels
_HEAD = 24  # of a frame, with its title
_LETTER = 8  # widest of a title


def graph_page(records: Records, title: str) -> str:
    """The page's text."""
    tasks = [task.task_id for task in records.tasks]
    layout = lay_out(tasks, _edges(records))
    nodes = _nodes(records, layout, (0, 0), lambda task: str(task), "")
    drawn = [_edge(layout.corners, str, *edge) for edge in layout.edges]
    count = len(set(_edges(records)))
    return _page(title, nodes, drawn, (), count, count - len(drawn), layout.width, layout.height)


def graph_page_of_ranks(dispatches: Sequence[Dispatch], title: str) -> str:
    """The page of a run on several ranks: a column of frames for each, one for each of its dispatches.

    Dashed lines go from tasks that notify to those that wait for that.
    """
    ranks = {rank: own for rank, own in by_owner(dispatches).items() if rank is not None}
    per_row = max(2, PER_ROW // max(1, len(ranks)))
    nodes: list[dict[str, Any]] = []
    edges: list[dict[str, Any]] = []
    frames: list[dict[str, Any]] = []
    corners: dict[str, tuple[int, int]] = {}
    left = height = count = 0
    for own in ranks.values():
        top, width = 0, 0
        for one in own:
            layout = lay_out([task.task_id for task in one.records.tasks], _edges(one.records), per_row)
            at, name = (left + _GAP, top + _GAP + _HEAD), partial(_name, one)
            label = f"rank {one.rank}, {one.label} "
            nodes += _nodes(one.records, layout, at, name, label)
            corners |= {name(task): (x + at[0], y + at[1]) for task, (x, y) in layout.corners.items()}
            edges += [_edge(corners, name, *edge) for edge in layout.edges]
            count += len(set(_edges(one.records)))
            title_of_frame = f"{one.owner}, {one.label} {one.name}"
            size = (max(layout.width, _LETTER * len(title_of_frame) + _HEAD), max(layout.height, HEIGHT))
            frames.append(
                {
                    "x": left + _GAP,
                    "y": top + _GAP,
                    "width": size[0],
                    "height": size[1] + _HEAD,
                    "title": title_of_frame,
                }
            )
            top, width = top + _GAP + _HEAD + size[1], max(width, size[0])
        left, height = left + _GAP + width, max(height, top)
    implied = count - len(edges)
    between = dict.fromkeys((_sender(source), _sender(wait)) for source, wait in signalled(dispatches))
    signals = [pair for pair in between if pair[0] != pair[1]]
    edges += [_edge(corners, str, *pair) | {"kind": "signal"} for pair in signals]
    _note_signals(nodes, signals)
    return _page(title, nodes, edges, frames, count, implied, left + _GAP, height + _GAP, len(signals))


def _name(dispatch: Dispatch, task_id: int) -> str:
    """How the page names a task of a dispatch."""
    return f"{dispatch.rank}-{dispatch.number}-{task_id}"


def _sender(sent: Sent) -> str:
    """How the page names the task of a message."""
    return _name(sent.dispatch, sent.message.task.task_id)


def _note_signals(nodes: Sequence[dict[str, Any]], signals: Sequence[tuple[str, str]]) -> None:
    """Add to what tasks wait for those that notify them."""
    by_id = {node["id"]: node for node in nodes}
    for source, target in signals:
        by_id[target]["waits_for"].append((source, by_id[source]["label"]))
        by_id[source]["waited_for_by"].append((target, by_id[target]["label"]))


def _edges(records: Records) -> list[tuple[int, int]]:
    return [(edge.pred, edge.succ) for task in records.tasks for edge in task.edges]


def _page(
    title: str,
    nodes: Sequence[dict[str, Any]],
    edges: Sequence[dict[str, Any]],
    frames: Sequence[dict[str, Any]],
    count: int,
    implied: int,
    width: int,
    height: int,
    signals: int = 0,
) -> str:
    return (
        _environment()
        .get_template(_TEMPLATE)
        .render(
            title=title,
            nodes=nodes,
            edges=edges,
            frames=frames,
            edge_count=count,
            implied=implied,
            signals=signals,
            width=width,
            height=height,
            node_width=WIDTH,
            node_height=HEIGHT,
        )
    )


@lru_cache(maxsize=1)
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(template_root()),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _nodes(
    records: Records, layout: Layout, at: tuple[int, int], name: Callable[[int], str], before_label: str
) -> list[dict[str, Any]]:
    """What the page shows of tasks, whose corners are counted from ``at``."""
    after: dict[int, dict[int, None]] = {task.task_id: {} for task in records.tasks}
    for pred, succ in _edges(records):
        after.setdefault(pred, {})[succ] = None

    def others(tasks: Iterable[int]) -> list[tuple[str, str]]:
        return [(name(one), f"{before_label}{task_label(one)}") for one in dict.fromkeys(tasks)]

    nodes = []
    for task in records.tasks:
        took = (task.finished - task.dispatched) / 1000
        x, y = layout.corners[task.task_id]
        nodes.append(
            {
                "id": name(task.task_id),
                "label": f"{before_label}{task.label}",
                "short_label": task.label,
                "name": task.name or "not launched",
                "short": _shortened(task.name or "not launched"),
                "kind": _kind(task),
                "x": x + at[0],
                "y": y + at[1],
                "took": f"{took:.1f} us",
                "blocks": task.block_num,
                "scope": "manual" if task.is_manual else "auto",
                "waits_for": others(edge.pred for edge in task.edges),
                "waited_for_by": others(after[task.task_id]),
                "args": [_arg(arg) for arg in task.args],
            }
        )
    return nodes


def _kind(task: Task) -> str:
    cubes = "AIC" in task.kernel_ids
    vectors = any(subtask != "AIC" for subtask in task.kernel_ids)
    return "mixed" if cubes and vectors else "cube" if cubes else "vector" if vectors else "empty"


def _arg(arg: Arg) -> str:
    if arg.view is None:
        return f"{arg.type} {arg.name} = {arg.value}"
    return f"{arg.type} {arg.name}: {dtype_name(arg.view.dtype)}{list(arg.view.shape)}"


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 9]}…{name[-8:]}"


def _edge(corners: Any, name: Callable[[Any], str], pred: Any, succ: Any) -> dict[str, Any]:
    """What the page shows of an edge between two tasks, by the ids of their corners."""
    (x, y), (to_x, to_y) = (corners.get(one, corners.get(name(one))) for one in (pred, succ))
    x, y, to_x = x + WIDTH // 2, y + HEIGHT, to_x + WIDTH // 2
    bend = max(20, (to_y - y) // 2)
    path = f"M{x} {y}C{x} {y + bend} {to_x} {to_y - bend} {to_x} {to_y}"
    return {"pred": name(pred), "succ": name(succ), "path": path, "kind": "task"}
