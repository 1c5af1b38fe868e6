"""Tensors that one core of a group hands to the other through memory, with nothing that orders the two.

The cores of a group run at the same time. What one writes to global memory and the other reads is in order
only if a pipe transfer stands between: pushed after the first access, popped before the second. Without one
the script computes with whatever is there when it reads. ``race_check`` finds that in a run; here it is found
in the program, where no transfer can order two accesses at all:

* one member of the group writes the tensor, the other reads it, in windows that are not known to be disjoint;
* no push behind the one access belongs to a pipe that is popped before the other, in either direction. A
  transfer in a loop around an access counts as before and behind it. (Events and ``syncall`` order nothing
  in a script, whose lanes do not wait for them.)

Parameters to which some call gives one tensor are one tensor: the same name, or what an op wrote and yielded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pypto_tmpl import ir
from pypto_tmpl.codegen.facts import LAUNCHES, Launch, launches_of
from pypto_tmpl.codegen.kernels import KernelMap
from pypto_tmpl.codegen.shared_arguments import Naming, namings
from pypto_tmpl.ir.arithmetic import constant_value
from pypto_tmpl.ops import OpTable
from pypto_tmpl.ops.fact_model import PipeTarget
from pypto_tmpl.ops.whole_tiles import pipe_id

_Pipe = tuple[PipeTarget | None, int]  # where it leads, and its id
_Window = tuple[tuple[int | None, int | None], ...]  # start and extent by axis, None where not known


class HandoverWarning(UserWarning):
    """A tensor goes from one core of a group to the other without a pipe transfer that orders it."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where something stands in a member: its rank in program order, and the loops around it."""

    rank: int
    loops: frozenset[int]

    def may_precede(self, other: _Place) -> bool:
        return self.rank < other.rank or bool(self.loops & other.loops)


@dataclass(frozen=True, slots=True)
class _Access:
    """A read or write of a tensor of the group's caller."""

    tensor: ir.Var
    kind: Literal["reads", "writes"]
    window: _Window | None
    place: _Place
    function: str
    stmt: ir.Stmt


@dataclass(slots=True)
class _Member:
    """What one core of a group does to memory, and with the other core."""

    accesses: list[_Access] = field(default_factory=list)
    sent: list[tuple[_Pipe, _Place]] = field(default_factory=list)
    received: list[tuple[_Pipe, _Place]] = field(default_factory=list)
    rank: int = 0


def handover_warnings(kernels: KernelMap, table: OpTable) -> Iterator[str]:
    """A warning for each tensor that a group of the program hands over so, with its first two statements."""
    for caller in kernels.functions.values():
        for group, body in _group_bodies(kernels, caller):
            is_whole = body is caller.body
            calls = kernels.facts[caller.name].function_calls if is_whole else launches_of(body)
            aic, aiv = kernels.members(calls)
            if aic is None and aiv is None and is_whole:
                aic, aiv = kernels.group_members(caller)
            if aic is None or aiv is None:
                continue
            told: set[tuple[int, int]] = set()
            for naming in namings(kernels, table, caller):
                given = [_named(_given(kernels, one, calls, caller), naming) for one in (aic, aiv)]
                if _uses(kernels, aic, given[0]).isdisjoint(_uses(kernels, aiv, given[1])):
                    continue
                sides = (_member(kernels, table, *one) for one in zip((aic, aiv), given, strict=True))
                for first, second in _unordered(*sides):
                    accesses = (id(first.stmt), id(second.stmt))
                    if accesses not in told:
                        told.add(accesses)
                        yield _text(group, first, second, naming)


def _uses(kernels: KernelMap, member: ir.Function, given: dict[int, ir.Var]) -> set[ir.Var]:
    """The tensors, of those that its parameters are given, that a member names at all."""
    mentions = kernels.facts[member.name].mentions
    return {tensor for param, tensor in given.items() if param in mentions}


def _named(given: dict[int, ir.Var], naming: Naming) -> dict[int, ir.Var]:
    return {param: naming.get(tensor, tensor) for param, tensor in given.items()}


def _group_bodies(kernels: KernelMap, caller: ir.Function) -> Iterator[tuple[str, ir.Stmt]]:
    if caller.func_type is ir.FunctionType.Group:
        yield caller.name, caller.body
    for scope in kernels.facts[caller.name].scopes:
        if isinstance(scope, ir.ClusterScopeStmt):
            yield scope.name_hint or caller.name, scope.body


def _given(
    kernels: KernelMap, member: ir.Function, calls: Sequence[Launch], caller: ir.Function
) -> dict[int, ir.Var]:
    """The caller's tensor behind each parameter of a member, which a call by name has in the same place."""
    call = next((call for call in calls if kernels.callee(call) is member), None)
    given = caller.params if call is None else call.args
    pairs = zip(member.params, given, strict=False)
    return {
        id(param): arg
        for param, arg in pairs
        if isinstance(arg, ir.Var) and isinstance(arg.type, ir.TensorType)
    }


def _member(kernels: KernelMap, table: OpTable, function: ir.Function, given: dict[int, ir.Var]) -> _Member:
    member = _Member()
    _Reader(kernels, table, member).read(function, given, frozenset(), is_own=True)
    return member


class _Reader:
    """Fills in a member from its function and what that calls."""

    def __init__(self, kernels: KernelMap, table: OpTable, member: _Member) -> None:
        self._kernels, self._table, self._member = kernels, table, member
        self._running: set[str] = set()

    def read(
        self, function: ir.Function, given: dict[int, ir.Var], loops: frozenset[int], *, is_own: bool
    ) -> None:
        """Go through a function; pipes of a group that it calls are not the member's own."""
        if function.name in self._running:
            return
        self._running.add(function.name)
        roots = _roots(self._kernels.facts[function.name].flows, given, self._table)
        pending: list[tuple[ir.Stmt, frozenset[int]]] = [(function.body, loops)]
        while pending:
            stmt, around = pending.pop()
            if isinstance(stmt, ir.SeqStmts):
                pending += [(child, around) for child in reversed(stmt.stmts)]
                continue
            if isinstance(stmt, ir.ForStmt | ir.WhileStmt):
                pending.append((stmt.body, around | {id(stmt)}))
            elif isinstance(stmt, ir.IfStmt):
                branches = [stmt.then_body, *([stmt.else_body] if stmt.else_body is not None else [])]
                pending += [(branch, around) for branch in reversed(branches)]
            elif isinstance(stmt, ir.ScopeStmt):
                pending.append((stmt.body, around))
            else:
                self._read_calls(function, stmt, roots, around, is_own)
        self._running.discard(function.name)

    def _read_calls(
        self,
        function: ir.Function,
        stmt: ir.Stmt,
        roots: dict[int, ir.Var],
        loops: frozenset[int],
        is_own: bool,
    ) -> None:
        nodes = self._kernels.facts[function.name].nodes_below(stmt)
        for node in reversed(nodes):  # parts come after the call that takes them
            if not isinstance(node, LAUNCHES):
                continue
            self._member.rank += 1
            place = _Place(self._member.rank, loops)
            callee = self._kernels.callee(node)
            if callee is not None:
                pairs = zip(callee.params, node.args, strict=False)
                passed = {id(param): roots[id(arg)] for param, arg in pairs if id(arg) in roots}
                self.read(callee, passed, loops, is_own=is_own and callee.func_type is not _GROUP)
            elif isinstance(node, ir.Call):
                self._note(function, stmt, node, roots, place)
                if is_own:
                    self._note_transfer(node, place)

    def _note_transfer(self, call: ir.Call, place: _Place) -> None:
        known = self._table.facts(call.op.name)
        if known.pipe_end == "push":
            self._member.sent.append(((known.pipe_to, pipe_id(call)), place))
        elif known.pipe_end == "pop":
            self._member.received.append(((known.pipe_to, pipe_id(call)), place))

    def _note(
        self, function: ir.Function, stmt: ir.Stmt, call: ir.Call, roots: dict[int, ir.Var], place: _Place
    ) -> None:
        entry = self._table.get(call.op.name)
        if entry is None or entry.is_noop:
            return
        operands = dict(zip(entry.operand_names, call.args, strict=False))
        for name, operand in operands.items():
            tensor = roots.get(id(operand))
            if tensor is None or not isinstance(operand.type, ir.TensorType):
                continue
            kind: Literal["reads", "writes"] = "writes" if name in entry.writes else "reads"
            if kind == "reads" and isinstance(call.type, ir.TensorType) and not entry.writes:
                continue  # another name of the tensor, whose uses count
            window = _window(operands) if len(_shape(operand)) == len(_shape(tensor)) else None
            self._member.accesses.append(_Access(tensor, kind, window, place, function.name, stmt))


_GROUP = ir.FunctionType.Group


def _shape(value: ir.Expr) -> Sequence[ir.Expr]:
    return value.type.shape if isinstance(value.type, ir.ShapedType) else ()


def _roots(
    flows: list[tuple[ir.Var, ir.Expr]], given: dict[int, ir.Var], table: OpTable
) -> dict[int, ir.Var]:
    """The caller's tensor that each variable stands for, as far as a tensor goes by other names."""
    roots = dict(given)
    before = -1
    while len(roots) != before:
        before = len(roots)
        for target, value in flows:
            if id(target) in roots or not isinstance(target.type, ir.TensorType):
                continue
            source = _same_tensor(value, table)
            if source is not None and id(source) in roots:
                roots[id(target)] = roots[id(source)]
    return roots


def _same_tensor(value: ir.Expr, table: OpTable) -> ir.Expr | None:
    """The operand whose storage a value has: what an op writes, else its first tensor, which it views."""
    if not isinstance(value, ir.Call):
        return value
    entry = table.get(value.op.name)
    operands = dict(zip(entry.operand_names, value.args, strict=False)) if entry is not None else {}
    written = [operands[name] for name in (entry.writes if entry is not None else ()) if name in operands]
    tensors = [arg for arg in value.args if isinstance(arg.type, ir.TensorType)]
    return next(iter([*written, *tensors]), None)


def _window(operands: dict[str, ir.Expr]) -> _Window | None:
    """The window of a load or store, with what is constant of it."""
    offsets = operands.get("offsets")
    shapes = operands.get("shapes")
    if not isinstance(offsets, ir.MakeTuple):
        return None
    if isinstance(shapes, ir.MakeTuple):
        extents: Sequence[ir.Expr] = shapes.elements
    else:
        extents = _shape(operands["tile"]) if "tile" in operands else ()
    if len(extents) != len(offsets.elements):
        return None
    return tuple(
        (constant_value(start), constant_value(size))
        for start, size in zip(offsets.elements, extents, strict=True)
    )


def _unordered(cube: _Member, vector: _Member) -> Iterator[tuple[_Access, _Access]]:
    """The first unordered write and read of each tensor; one warning a tensor is enough."""
    told: set[int] = set()
    for one, other in ((cube, vector), (vector, cube)):
        for write in one.accesses:
            for read in other.accesses if write.kind == "writes" else ():
                if read.kind != "reads" or read.tensor is not write.tensor or id(write.tensor) in told:
                    continue
                if _may_overlap(write.window, read.window) and not _is_ordered(one, write, other, read):
                    told.add(id(write.tensor))
                    yield write, read


def _may_overlap(first: _Window | None, second: _Window | None) -> bool:
    if first is None or second is None or len(first) != len(second):
        return True
    return not any(_are_apart(*one, *two) for one, two in zip(first, second, strict=True))


def _are_apart(start: int | None, size: int | None, other: int | None, extent: int | None) -> bool:
    """Whether two windows of one axis are known to share nothing."""
    if start is None or size is None or other is None or extent is None:
        return False
    return start + size <= other or other + extent <= start


def _is_ordered(one: _Member, write: _Access, other: _Member, read: _Access) -> bool:
    """Whether some transfer may put the one access before the other."""
    return _leads(one, write.place, other, read.place) or _leads(other, read.place, one, write.place)


def _leads(sender: _Member, first: _Place, receiver: _Member, second: _Place) -> bool:
    behind = {what for what, place in sender.sent if first.may_precede(place)}
    return any(what in behind and place.may_precede(second) for what, place in receiver.received)


def _text(group: str, write: _Access, read: _Access, naming: Naming) -> str:
    others = [other.name_hint for other, first in naming.items() if first is write.tensor]
    also = f", to which a call gives the tensor of {', '.join(map(repr, others))} too," if others else ""
    where = [
        f"{access.function} {access.kind} it{_at(access.stmt)}:"
        f" {' '.join(ir.python_print(access.stmt, format=False).split())}"
        for access in (write, read)
    ]
    return (
        f"group {group!r} hands {write.tensor.name_hint!r}{also} over through memory, and no push and pop"
        f" orders the two accesses, so that a script reads it before or after:\n  {where[0]}\n  {where[1]}\n"
        "  run the script with race_check to see whether they touch the same cells"
    )


def _at(stmt: ir.Stmt) -> str:
    return f" at {stmt.span.to_string()}" if stmt.span.is_valid() else ""
