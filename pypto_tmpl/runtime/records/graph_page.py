"""``deps_graph.html``: the graph of tasks as one page that needs nothing else."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from pypto_tmpl.resources import template_root
from pypto_tmpl.runtime.records.graph_layout import HEIGHT, WIDTH, lay_out
from pypto_tmpl.runtime.records.model import Arg, Records, Task, task_label
from pypto_tmpl.runtime.records.tensors import dtype_name

_TEMPLATE = "report/deps_graph.html.jinja"
_LONGEST = 24  # characters of a name that fit into a node


def graph_page(records: Records, title: str) -> str:
    """The page's text."""
    tasks = [task.task_id for task in records.tasks]
    edges = [(edge.pred, edge.succ) for task in records.tasks for edge in task.edges]
    layout = lay_out(tasks, edges)
    after: dict[int, dict[int, None]] = {task: {} for task in tasks}
    for pred, succ in edges:
        after.setdefault(pred, {})[succ] = None
    nodes = [_node(task, layout.corners[task.task_id], list(after[task.task_id])) for task in records.tasks]
    return (
        _environment()
        .get_template(_TEMPLATE)
        .render(
            title=title,
            nodes=nodes,
            edges=[_curve(layout.corners, *edge) for edge in layout.edges],
            edge_count=len(set(edges)),
            implied=len(set(edges)) - len(layout.edges),
            width=layout.width,
            height=layout.height,
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


def _node(task: Task, corner: tuple[int, int], after: list[int]) -> dict[str, Any]:
    took = (task.finished - task.dispatched) / 1000
    before = list(dict.fromkeys(edge.pred for edge in task.edges))
    return {
        "id": task.task_id,
        "label": task.label,
        "name": task.name or "not launched",
        "short": _shortened(task.name or "not launched"),
        "kind": _kind(task),
        "x": corner[0],
        "y": corner[1],
        "took": f"{took:.1f} us",
        "blocks": task.block_num,
        "scope": "manual" if task.is_manual else "auto",
        "waits_for": [(one, task_label(one)) for one in before],
        "waited_for_by": [(one, task_label(one)) for one in after],
        "args": [_arg(arg) for arg in task.args],
    }


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


def _curve(corners: Any, pred: int, succ: int) -> dict[str, Any]:
    (x, y), (to_x, to_y) = corners[pred], corners[succ]
    x, y, to_x = x + WIDTH // 2, y + HEIGHT, to_x + WIDTH // 2
    bend = max(20, (to_y - y) // 2)
    return {"pred": pred, "succ": succ, "path": f"M{x} {y}C{x} {y + bend} {to_x} {to_y - bend} {to_x} {to_y}"}
