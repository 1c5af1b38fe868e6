"""Faults in plans of memory: six ways in which a compiler may place tiles wrongly."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from debug.faults.statements import Replacing

from pypto_tmpl import ir
from pypto_tmpl.rewrite import Rewriter, build

ALIGNMENT = 32
_OFFSETS = 2


@dataclass(frozen=True, slots=True)
class Change:
    """A fault: the function, the variable that is misplaced, what was done, and the program with it."""

    function: str
    variable: str
    how: str
    apply: Callable[[], ir.Program]


class _Retyped(Rewriter):
    """Variables, known by ``id``, have other types where they are bound."""

    def __init__(self, types: Mapping[int, ir.Type]) -> None:
        super().__init__()
        self._types = types

    def definition(self, old: ir.Var, typed: ir.Var) -> ir.Var:
        found = self._types.get(id(old))
        return typed if found is None else build(typed, type=found)


class _Shifted(Rewriter):
    """All tiles of an allocation lie so many bytes further."""

    def __init__(self, base: ir.Var, delta: int) -> None:
        super().__init__()
        self._base, self._delta = base, delta

    def type(self, type_: ir.Type) -> ir.Type:
        memref = type_.memref if isinstance(type_, ir.TileType) else None
        if memref is None or memref.base_.name_hint != self._base.name_hint:
            return type_
        return build(type_, memref=_at(memref, _offset(memref) + self._delta))


def _at(memref: ir.MemRef, offset: int) -> ir.MemRef:
    return build(memref, byte_offset_=ir.ConstInt(offset, ir.DataType.INT64, memref.span))


def _offset(memref: ir.MemRef) -> int:
    assert isinstance(memref.byte_offset_, ir.ConstInt)
    return memref.byte_offset_.value


def _assigned(body: ir.Stmt) -> Iterator[ir.AssignStmt]:
    """All assignments to tiles with an address, in the order of the text."""
    for stmt in _statements(body):
        type_ = stmt.var.type if isinstance(stmt, ir.AssignStmt) else None
        memref = type_.memref if isinstance(type_, ir.TileType) else None
        if memref is not None and isinstance(memref.byte_offset_, ir.ConstInt):
            assert isinstance(stmt, ir.AssignStmt)
            yield stmt


def _statements(body: ir.Stmt) -> Iterator[ir.Stmt]:
    if isinstance(body, ir.SeqStmts):
        for stmt in body.stmts:
            yield from _statements(stmt)
        return
    yield body
    for name in ("body", "then_body", "else_body"):
        inner = getattr(body, name, None)
        if isinstance(inner, ir.Stmt):
            yield from _statements(inner)


def _functions(program: ir.Program) -> Iterator[tuple[ir.Function, list[ir.AssignStmt]]]:
    for function in program.functions.values():
        yield function, list(_assigned(function.body))


def _with_function(program: ir.Program, old: ir.Function, new: ir.Function) -> ir.Program:
    return build(program, functions={n: new if f is old else f for n, f in program.functions.items()})


def _retyped(program: ir.Program, function: ir.Function, var: ir.Var, type_: ir.Type) -> ir.Program:
    return _with_function(program, function, _Retyped({id(var): type_}).rewrite(function))


def address_moved(program: ir.Program) -> Iterator[Change]:
    """One tile lies some bytes further, or before."""
    for function, stmts in _functions(program):
        for stmt in stmts:
            var, memref = stmt.var, stmt.var.type.memref
            half = max(ALIGNMENT, memref.size_ // 2 // ALIGNMENT * ALIGNMENT)
            for delta in (ALIGNMENT, -ALIGNMENT, half, -half, memref.size_, -memref.size_):
                start = _offset(memref) + delta
                if start < 0:
                    continue
                type_ = build(var.type, memref=_at(memref, start))
                yield Change(
                    function.name,
                    var.name_hint,
                    f"{var.name_hint} at {start:#x} instead of {_offset(memref):#x}",
                    lambda f=function, v=var, t=type_: _retyped(program, f, v, t),
                )


def overlaid(program: ir.Program) -> Iterator[Change]:
    """All of an allocation begins where another one of its memory begins."""
    for function, stmts in _functions(program):
        starts: dict[str, tuple[int, ir.Var, ir.MemorySpace, str]] = {}
        for stmt in stmts:
            memref, space = stmt.var.type.memref, stmt.var.type.memory_space
            known = starts.get(memref.base_.name_hint)
            if known is None or _offset(memref) < known[0]:
                name = known[3] if known else stmt.var.name_hint
                starts[memref.base_.name_hint] = (_offset(memref), memref.base_, space, name)
        for name, (start, base, space, var) in starts.items():
            for other, (other_start, _, other_space, _) in starts.items():
                if other == name or other_space is not space or other_start == start:
                    continue
                delta = other_start - start
                yield Change(
                    function.name,
                    var,
                    f"{name} at {other_start:#x}, as {other}, instead of {start:#x}",
                    lambda f=function, b=base, d=delta: _with_function(program, f, _Shifted(b, d).rewrite(f)),
                )


def dropped_carry_copy(program: ir.Program) -> Iterator[Change]:
    """What moves a tile to where its carry lies is left out: the tile is yielded from where it is."""
    for function, stmts in _functions(program):
        yielded = {
            id(value)
            for stmt in _statements(function.body)
            if isinstance(stmt, ir.YieldStmt)
            for value in stmt.value
        }
        for stmt in stmts:
            value = stmt.value
            if id(stmt.var) not in yielded or not isinstance(value, ir.Call) or value.op.name != "tile.move":
                continue
            source = value.args[0]
            if not isinstance(source, ir.Var) or source.type.memory_space is not stmt.var.type.memory_space:
                continue
            pairs = [(stmt, None), (stmt.var, source)]
            yield Change(
                function.name,
                source.name_hint,
                f"{source.name_hint} is yielded, and not {stmt.var.name_hint}, its copy",
                lambda f=function, p=pairs: _with_function(program, f, Replacing(p).rewrite(f)),
            )


def wrong_window_pitch(program: ir.Program) -> Iterator[Change]:
    """A window begins where its first row would be if its tile had rows of another length."""
    for function, stmts in _functions(program):
        for stmt in stmts:
            value = stmt.value
            if not isinstance(value, ir.Call) or value.op.name != "tile.slice":
                continue
            given, source = value.args[_OFFSETS], value.args[0].type
            if len(source.shape) != 2 or not isinstance(given, ir.MakeTuple):
                continue
            row, columns = given.elements[0], source.shape[1]
            if not isinstance(row, ir.ConstInt) or not row.value or not isinstance(columns, ir.ConstInt):
                continue
            memref = stmt.var.type.memref
            own = stmt.var.type.shape[1].value
            for pitch in sorted({own, columns.value // 2, 2 * columns.value, columns.value + 8}):
                delta = row.value * (pitch - columns.value) * source.dtype.get_byte()
                start = _offset(memref) + delta
                if delta and start >= 0:
                    type_ = build(stmt.var.type, memref=_at(memref, start))
                    yield Change(
                        function.name,
                        stmt.var.name_hint,
                        f"window {stmt.var.name_hint} with rows of {pitch} instead of {columns.value}",
                        lambda f=function, v=stmt.var, t=type_: _retyped(program, f, v, t),
                    )


def slot_reused_too_early(program: ir.Program) -> Iterator[Change]:
    """A tile lies in the slot of one that was made before it, which may still be needed."""
    for function, stmts in _functions(program):
        for number, stmt in enumerate(stmts):
            own, seen = stmt.var.type, set[tuple[str, int]]()
            for before in stmts[:number]:
                other = before.var.type
                key = (other.memref.base_.name_hint, _offset(other.memref))
                is_taken = key in seen or key[0] == own.memref.base_.name_hint
                if is_taken or other.memory_space is not own.memory_space:
                    continue
                if own.memref.size_ > other.memref.size_:
                    continue
                seen.add(key)
                type_ = build(own, memref=build(other.memref, size_=own.memref.size_))
                yield Change(
                    function.name,
                    stmt.var.name_hint,
                    f"{stmt.var.name_hint} in the slot of {before.var.name_hint}",
                    lambda f=function, v=stmt.var, t=type_: _retyped(program, f, v, t),
                )


def layout_flipped(program: ir.Program) -> Iterator[Change]:
    """A tile, or its boxes, count as lying by columns where they lie by rows, or the other way round."""
    turned = {
        ir.TileLayout.row_major: ir.TileLayout.col_major,
        ir.TileLayout.col_major: ir.TileLayout.row_major,
    }
    for function, stmts in _functions(program):
        for stmt in stmts:
            type_ = stmt.var.type
            view = type_.get_effective_tile_view()
            for flag in ("blayout", "slayout"):
                old = getattr(view, flag)
                if old not in turned or len(type_.shape) != 2:
                    continue
                flipped = build(type_, tile_view=build(view, **{flag: turned[old]}))
                yield Change(
                    function.name,
                    stmt.var.name_hint,
                    f"{stmt.var.name_hint} with {flag} {turned[old].name} instead of {old.name}",
                    lambda f=function, v=stmt.var, t=flipped: _retyped(program, f, v, t),
                )


KINDS: Mapping[str, Callable[[ir.Program], Iterator[Change]]] = {
    "address_moved": address_moved,
    "overlaid": overlaid,
    "dropped_carry_copy": dropped_carry_copy,
    "wrong_window_pitch": wrong_window_pitch,
    "slot_reused_too_early": slot_reused_too_early,
    "layout_flipped": layout_flipped,
}
