"""Where in a blob a map stands; searched for only when there is an error to report."""

from __future__ import annotations

from typing import Any, TypeAlias

_Trail: TypeAlias = "tuple[_Trail, str] | None"


def path_of(root: object, target: object) -> str:
    """Path from ``root`` to the very object ``target``, as in ``functions[0].value.body``; '' for the root.

    The maps that hold the fields of a node are no steps of their own.
    """
    todo: list[tuple[Any, _Trail]] = [(root, None)]
    while todo:
        item, trail = todo.pop()
        if item is target:
            return _text(trail)
        if type(item) is dict:
            fields = item.get("fields")
            inner = fields if type(fields) is dict else item
            todo += [(value, (trail, f".{key}")) for key, value in inner.items()]
        elif type(item) is list:
            todo += [(value, (trail, f"[{i}]")) for i, value in enumerate(item)]
    return ""


def _text(trail: _Trail) -> str:
    steps: list[str] = []
    while trail is not None:
        trail, step = trail
        steps.append(step)
    return "".join(reversed(steps)).lstrip(".")
