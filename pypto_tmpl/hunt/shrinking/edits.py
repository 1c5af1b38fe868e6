"""Edits that make the text of a program smaller: each gives the texts of all programs that are one edit away.

Whether a text is a program at all, the language says afterwards: it is faster to ask than edits are to prove.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TypeAlias, cast

from pypto_tmpl.hunt.programs.drawing import ENTRY

Edit: TypeAlias = Callable[[ast.Module], Iterator[ast.Module]]
_ROOTS = ("pl", "self")
_SMALL = 8  # what hardware moves at once has eight elements or more


def statement_count(text: str) -> int:
    """How many statements the functions of a program have."""
    return len(list(_statements(ast.parse(text))))


def without_statements(tree: ast.Module, size: int) -> Iterator[ast.Module]:
    """Without each run of ``size`` statements, in the order of the text, and without empty blocks."""
    total = len(list(_units(tree)))
    for start in range(0, total, size):
        copied = _copy(tree)
        gone = {id(stmt) for stmt in list(_units(copied))[start : start + size]}
        yield _without(copied, gone)


def unwrapped(tree: ast.Module) -> Iterator[ast.Module]:
    """With each loop, branch and scope replaced by what is in it, once."""
    for number, stmt in enumerate(_statements(tree)):
        for block in ("body", "orelse"):
            if isinstance(stmt, ast.For | ast.While | ast.If | ast.With) and getattr(stmt, block, None):
                copied = _copy(tree)
                found = list(_statements(copied))[number]
                yield _replaced(copied, found, [*_bindings(found), *_yielded(getattr(found, block))])


def without_variables(tree: ast.Module) -> Iterator[ast.Module]:
    """Without each assignment, the variable being one of those that its value was made of."""
    for number, stmt in enumerate(_statements(tree)):
        if not isinstance(stmt, ast.Assign | ast.AnnAssign) or stmt.value is None:
            continue
        target = stmt.targets[0] if isinstance(stmt, ast.Assign) else stmt.target
        if not isinstance(target, ast.Name):
            continue
        names = {n.id: n for n in ast.walk(stmt.value) if isinstance(n, ast.Name) and n.id not in _ROOTS}
        for name in names.keys() - {target.id}:
            copied = _copy(tree)
            found = list(_statements(copied))[number]
            owner = _owner(copied, found)
            changed = _replaced(copied, found, [])
            _Renamed(target.id, name).visit(owner)
            yield changed


def simpler_expressions(tree: ast.Module) -> Iterator[ast.Module]:
    """With each call and each sum replaced by a part of it, and each keyword left out."""
    for number, node in enumerate(_values(tree)):
        parts = _parts(node)
        for position in range(len(parts)):
            copied = _copy(tree)
            found = list(_values(copied))[number]
            _Put(found, _parts(found)[position]).visit(copied)
            yield copied
        if isinstance(node, ast.Call):
            for position in range(len(node.keywords)):
                copied = _copy(tree)
                call = list(_values(copied))[number]
                assert isinstance(call, ast.Call)
                del call.keywords[position]
                yield copied


def smaller_numbers(tree: ast.Module) -> Iterator[ast.Module]:
    """With each number of the functions replaced by smaller ones: in lists, which may be shapes, by 0."""
    listed = {id(n) for part in ast.walk(tree) if isinstance(part, ast.List) for n in _integers(part)}
    for number, node in enumerate(_numbers(tree)):
        for value in (0,) if id(node) in listed else dict.fromkeys((0, 1, node.value // 2)):
            if value < node.value:
                copied = _copy(tree)
                list(_numbers(copied))[number].value = value
                yield copied


def smaller_shapes(tree: ast.Module) -> Iterator[ast.Module]:
    """With the multiples of a number halved wherever they stand, in types, too: windows stay inside."""
    found = sorted({n.value for n in _integers(tree) if n.value > _SMALL}, reverse=True)
    for value in found:
        copied = _copy(tree)
        for node in _integers(copied):
            if node.value % value == 0:
                node.value //= 2
        yield copied


def without_parameters(tree: ast.Module) -> Iterator[ast.Module]:
    """Without each parameter; what calls give for it goes, too."""
    for function in _functions(tree):
        for position, parameter in enumerate(function.args.args):
            if parameter.arg == "self":
                continue
            copied = _copy(tree)
            found = next(one for one in _functions(copied) if one.name == function.name)
            del found.args.args[position]
            _drop_argument(copied, function.name, position - 1)
            yield copied


def without_results(tree: ast.Module) -> Iterator[ast.Module]:
    """Without each of several values that ``main`` returns, and without the type that it says it returns."""
    for function in _functions(tree):
        if function.name != ENTRY:
            continue
        last = function.body[-1]
        if isinstance(last, ast.Return) and isinstance(last.value, ast.Tuple):
            for position in range(len(last.value.elts)):
                copied = _copy(tree)
                found = next(one for one in _functions(copied) if one.name == ENTRY)
                kept = [one for k, one in enumerate(last.value.elts) if k != position]
                found.body[-1] = ast.Return(kept[0] if len(kept) == 1 else ast.Tuple(kept, ast.Load()))
                found.returns = None
                yield copied


# Walking


def _copy(tree: ast.Module) -> ast.Module:
    return ast.parse(ast.unparse(tree))


def _functions(tree: ast.Module) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """The statements of all functions, in the order of the text."""
    for function in _functions(tree):
        yield from _inside(function.body)


def _inside(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for stmt in body:
        yield stmt
        for block in ("body", "orelse"):
            yield from _inside(getattr(stmt, block, []))


def _units(tree: ast.Module) -> Iterator[ast.stmt]:
    """What may be left out: functions but for the entry, and statements.

    Functions that callers have results of go on returning them: other compilers refuse programs without.
    """
    for function in _functions(tree):
        is_entry = function.name == ENTRY
        if not is_entry:
            yield function
        has_results = not is_entry or function.returns is not None
        for stmt in _inside(function.body):
            if not (has_results and isinstance(stmt, ast.Return)):
                yield stmt


def _values(tree: ast.Module) -> Iterator[ast.expr]:
    """The expressions of statements that may have simpler ones."""
    for stmt in _statements(tree):
        for field in ("value", "test", "iter"):
            root = getattr(stmt, field, None)
            if isinstance(root, ast.expr):
                yield from (n for n in ast.walk(root) if isinstance(n, ast.Call | ast.BinOp | ast.Compare))


def _parts(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.Call):
        return [arg for arg in node.args if isinstance(arg, ast.Call | ast.Name | ast.BinOp)]
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    return []


class _Number(ast.Constant):
    """A constant that is an integer."""

    value: int


def _integers(root: ast.AST) -> Iterator[_Number]:
    for node in ast.walk(root):
        if isinstance(node, ast.Constant) and type(node.value) is int:
            yield cast("_Number", node)


def _all_numbers(tree: ast.Module) -> Iterator[_Number]:
    return _integers(tree)


def _numbers(tree: ast.Module) -> Iterator[_Number]:
    """Those of statements, without the ones in types."""
    for stmt in _statements(tree):
        for field in ("value", "test", "iter"):
            root = getattr(stmt, field, None)
            if isinstance(root, ast.expr):
                yield from _integers(root)


def _owner(tree: ast.Module, stmt: ast.stmt) -> ast.FunctionDef:
    return next(function for function in _functions(tree) if stmt in list(_inside(function.body)))


# Changing


def _without(tree: ast.Module, gone: set[int]) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            node.body = [one for one in node.body if id(one) not in gone]
    for function in _functions(tree):
        function.body = _kept(function.body, gone) or [ast.Pass()]
    return tree


def _kept(body: list[ast.stmt], gone: set[int]) -> list[ast.stmt]:
    kept: list[ast.stmt] = []
    for stmt in body:
        if id(stmt) in gone:
            continue
        if hasattr(stmt, "body"):
            stmt.body = _kept(stmt.body, gone)
            if getattr(stmt, "orelse", None):
                stmt.orelse = _kept(stmt.orelse, gone)  # type: ignore[attr-defined]
            if not stmt.body:
                continue
        kept.append(stmt)
    return kept


def _replaced(tree: ast.Module, stmt: ast.stmt, by: list[ast.stmt]) -> ast.Module:
    for node in ast.walk(tree):
        for block in ("body", "orelse"):
            body = getattr(node, block, None)
            if isinstance(body, list) and stmt in body:
                place = body.index(stmt)
                body[place : place + 1] = by
                if block == "body" and not body:
                    body.append(ast.Pass())
                return ast.fix_missing_locations(tree)
    return tree


def _bindings(stmt: ast.stmt) -> list[ast.stmt]:
    """What a loop binds before its first round."""
    if not isinstance(stmt, ast.For) or not isinstance(stmt.iter, ast.Call):
        return []
    bounds = stmt.iter.args
    start = bounds[0] if len(bounds) > 1 else ast.Constant(0)
    index, carries = stmt.target, []
    if isinstance(index, ast.Tuple):
        index, carried = index.elts
        init = next((k.value for k in stmt.iter.keywords if k.arg == "init_values"), None)
        if isinstance(carried, ast.Tuple) and isinstance(init, ast.Tuple | ast.List):
            carries = [
                ast.Assign([name], value) for name, value in zip(carried.elts, init.elts, strict=False)
            ]
    return [ast.Assign([index], start), *carries]


def _yielded(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of a block, what it yields being assigned."""
    found: list[ast.stmt] = []
    for stmt in body:
        value = getattr(stmt, "value", None)
        if (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Attribute)
            and value.func.attr == "yield_"
        ):
            target = stmt.targets[0] if isinstance(stmt, ast.Assign) else getattr(stmt, "target", None)
            if target is None:
                continue
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            found += [ast.Assign([name], arg) for name, arg in zip(names, value.args, strict=False)]
        else:
            found.append(stmt)
    return found


def _drop_argument(tree: ast.Module, function: str, position: int) -> None:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        is_call = isinstance(node.func, ast.Attribute) and node.func.attr == function
        is_launch = (
            bool(node.args) and isinstance(node.args[0], ast.Attribute) and node.args[0].attr == function
        )
        place = position + 1 if is_launch and not is_call else position
        if (is_call or is_launch) and place < len(node.args):
            del node.args[place]


class _Renamed(ast.NodeTransformer):
    """Uses of one name are uses of another one."""

    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new

    def visit_Name(self, node: ast.Name) -> ast.Name:
        if node.id == self.old:
            node.id = self.new
        return node


class _Put(ast.NodeTransformer):
    """One expression in the place of another one."""

    def __init__(self, old: ast.expr, new: ast.expr) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)
