"""Whether a block of statements reads a name before it writes it, and who reads it afterwards."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

Event = Literal["read", "write", None]


def targets(node: ast.expr) -> Iterator[str]:
    """The names that an assignment target binds; a subscript binds none."""
    match node:
        case ast.Name(id=name):
            yield name
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            for element in elements:
                yield from targets(element)
        case ast.Starred(value=value):
            yield from targets(value)


def bound_by(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement itself binds, not those that statements inside it bind."""
    match statement:
        case ast.Assign(targets=found):
            for target in found:
                yield from targets(target)
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            yield from targets(target)
        case ast.With(items=items):
            for item in items:
                if item.optional_vars is not None:
                    yield from targets(item.optional_vars)


def straight_line(statements: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a block that run exactly once when it does, those in ``with`` included."""
    for statement in statements:
        yield statement
        if isinstance(statement, ast.With):
            yield from straight_line(statement.body)


def assigned_in(statements: Iterable[ast.stmt]) -> list[str]:
    """The names that a block binds at any depth, in the order of the text; loop variables do not count."""
    found: dict[str, None] = {}
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.stmt):
                found.update(dict.fromkeys(bound_by(node)))
    return list(found)


def has_jump(statements: Iterable[ast.stmt]) -> bool:
    """True if ``break`` or ``continue`` of the loop around is among the statements."""
    for statement in statements:
        match statement:
            case ast.Break() | ast.Continue():
                return True
            case ast.If(body=body, orelse=orelse):
                if has_jump([*body, *orelse]):
                    return True
            case ast.With(body=body):
                if has_jump(body):
                    return True
    return False


def _reads(node: ast.AST | None, name: str) -> bool:
    return node is not None and any(
        isinstance(inner, ast.Name) and inner.id == name and not isinstance(inner.ctx, ast.Store)
        for inner in ast.walk(node)
    )


def first_event(statements: Iterable[ast.stmt], name: str) -> Event:
    """What happens first: a read on some path, a write on every path, or neither."""
    for statement in statements:
        if (event := _event(statement, name)) is not None:
            return event
    return None


def _event(statement: ast.stmt, name: str) -> Event:
    match statement:
        case ast.For(target=target, iter=iterator, body=body):
            if _reads(iterator, name):
                return "read"
            if name in targets(target):
                return None  # the variable of the loop is one of its own
            return "read" if first_event(body, name) == "read" else None
        case ast.While(test=test, body=body):
            return "read" if _reads(test, name) or first_event(body, name) == "read" else None
        case ast.If(test=test, body=body, orelse=orelse):
            if _reads(test, name):
                return "read"
            events = {first_event(body, name), first_event(orelse, name)}
            return "read" if "read" in events else "write" if events == {"write"} else None
        case ast.With(items=items, body=body):
            if any(_reads(item.context_expr, name) for item in items):
                return "read"
            return "write" if name in bound_by(statement) else first_event(body, name)
        case ast.Assign() | ast.AnnAssign():
            if _reads(statement, name):
                return "read"
            return "write" if name in bound_by(statement) else None
    return "read" if _reads(statement, name) or name in bound_by(statement) else None


@dataclass(slots=True)
class Frame:
    """A block that is being worked through: where it stands, and whether it is run again and again.

    ``condition`` is what a ``while`` reads before every round.
    """

    statements: Sequence[ast.stmt]
    is_loop: bool
    condition: ast.expr | None = None
    position: int = 0

    def starts_with_read(self, name: str) -> bool:
        """True if a round of the loop may read the name before it writes it."""
        return _reads(self.condition, name) or first_event(self.statements, name) == "read"


def is_live_after(frames: Sequence[Frame], name: str) -> bool:
    """True if the value of a name may be read after the statement at which the blocks stand."""
    for index, frame in reversed(list(enumerate(frames))):
        for statement in frame.statements[frame.position + 1 :]:
            event = _event(statement, name)
            if event == "read":
                return True
            if has_jump([statement]) and is_live_after_jump(frames[: index + 1], name):
                return True
            if event == "write":
                return False
        if frame.is_loop and frame.starts_with_read(name):
            return True
    return False


def is_live_after_jump(frames: Sequence[Frame], name: str) -> bool:
    """True if the value of a name may be read after a jump out of, or to the start of, the loop around."""
    loops = [index for index, frame in enumerate(frames) if frame.is_loop]
    if not loops:
        return False
    return frames[loops[-1]].starts_with_read(name) or is_live_after(frames[: loops[-1]], name)
