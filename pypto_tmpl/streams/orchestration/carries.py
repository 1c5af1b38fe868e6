"""Values that loops hand from one round to the next, and that branches hand on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import flat
from pypto_tmpl.ir.enums import ForKind
from pypto_tmpl.streams.orchestration.expressions import variables_of
from pypto_tmpl.streams.orchestration.scalars import Scalars
from pypto_tmpl.streams.orchestration.spelling import TASK_ID, TENSOR, declared_type
from pypto_tmpl.streams.orchestration.state import State
from pypto_tmpl.streams.orchestration.values import Cpp
from pypto_tmpl.streams.problems import Obstacle

_REBIND, _SIZE = "iter_arg_rebind_", "iter_arg_array_size_"


@dataclass(frozen=True, slots=True)
class Carry:
    """A C++ variable that a yield sets.

    ``size`` tells the ids of tasks, one for each round of a parallel loop; ``slot`` is the one that the round
    at hand sets, "" where all are handed on at once. ``type`` is empty where the yield must be the variable.
    """

    name: str
    type: str
    size: int | None = None
    start: str = ""
    step: str = ""
    is_by_slot: bool = False
    slot: str = ""


class Carries:
    """Declares and sets the carries of one function."""

    def __init__(self, state: State, scalars: Scalars) -> None:
        self._state = state
        self._scalars = scalars
        self._macros = state.templates.statements

    def begin_loop(self, stmt: ir.ForStmt | ir.WhileStmt, start: str, step: str) -> list[Carry | None]:
        """Declare the carries of a loop; None for one that stays what it begins as."""
        attrs = stmt.attrs if isinstance(stmt, ir.ForStmt) else ir.AttrMap()
        found: list[Carry | None] = []
        for place, (arg, var) in enumerate(zip(stmt.iter_args, stmt.return_vars, strict=True)):
            size = attrs.get(f"{_SIZE}{place}")
            if size is not None:
                found.append(self._ids(stmt, arg, var, int(size), start, step))
            elif isinstance(arg.type, ir.ArrayType):
                found.append(self._same(arg, var))
            elif attrs.get(f"{_REBIND}{place}") is False:
                meaning = self._state.meaning(arg.initValue) if isinstance(arg.initValue, ir.Var) else None
                if meaning is None:
                    found.append(self._declare(arg, var))
                    continue
                self._state.bind(arg, meaning)
                self._state.bind(var, meaning)
                found.append(None)
            else:
                found.append(self._declare(arg, var))
        return found

    def in_loop(self, carries: list[Carry | None], variable: str) -> None:
        """Tell the carries of a parallel loop how its rounds are counted."""
        for place, carry in enumerate(carries):
            if carry is not None and carry.is_by_slot:
                slot = self._state.templates.values.slot(variable, carry.start, carry.step)
                carries[place] = replace(carry, slot=slot)

    def begin_branch(self, stmt: ir.IfStmt) -> list[Carry | None]:
        """Declare the results of a branch."""
        found: list[Carry | None] = []
        for var in stmt.return_vars:
            if isinstance(var.type, ir.ArrayType):
                raise Obstacle("branches that hand on arrays have no form on the host", var.span)
            type_ = declared_type(var.type)
            if not self._state.is_hoisted(var):
                self._seed(var, type_, whole=False)
            found.append(Carry(self._state.variable(var).name, type_))
        return found

    def declare_before(self, scope: ir.RuntimeScopeStmt, level: int = 1) -> None:
        """Declare what a scope sets and something behind it reads."""
        for stmt in flat(scope.body):
            if isinstance(stmt, ir.RuntimeScopeStmt):
                self.declare_before(stmt, level + 1)
                continue
            variables: tuple[ir.Var, ...] = (stmt.var,) if isinstance(stmt, ir.AssignStmt) else ()
            variables += stmt.return_vars if isinstance(stmt, ir.ForStmt | ir.WhileStmt | ir.IfStmt) else ()
            for var in variables:
                if self._state.hoists.get(var, 0) >= level and var not in self._state.meanings:
                    self._seed(
                        var, declared_type(var.type), whole=not isinstance(stmt, ir.AssignStmt | ir.IfStmt)
                    )

    def hand_over(self, stmt: ir.YieldStmt, carries: Sequence[Carry | None]) -> None:
        """Set the carries to what a body yields; all values are those before any is set."""
        pairs = [(c, v) for c, v in zip(carries, stmt.value, strict=True) if c is not None]
        texts = [self._value(carry, value) for carry, value in pairs]
        changed = [carry.name for (carry, _), text in zip(pairs, texts, strict=True) if text != carry.name]
        reads = [self._reads(value) for _, value in pairs]
        for place, (carry, _) in enumerate(pairs):
            earlier = {c.name for c, _ in pairs[:place]} & set(changed)
            if earlier & reads[place] and carry.type:
                name = self._state.names.take(f"{carry.name}_next", whole=True)
                self._state.line(self._macros.declare(carry.type, name, texts[place]))
                texts[place] = name
        for (carry, _), text in zip(pairs, texts, strict=True):
            self._set(carry, text)

    def _set(self, carry: Carry, text: str) -> None:
        if carry.slot:
            element = self._state.templates.values.element(carry.name, carry.slot)
            self._state.line(self._macros.assign(element, text))
        elif carry.size is not None and text != carry.name:
            self._state.line(self._macros.copy_ids(carry.name, carry.size, text))
        elif not carry.type and text != carry.name:
            raise Obstacle(f"the array {carry.name!r} is another one in the next round")
        elif text != carry.name:
            self._state.line(self._macros.assign(carry.name, text))

    def _value(self, carry: Carry, value: ir.Expr) -> str:
        """What is yielded as text."""
        if isinstance(value.type, ir.ScalarType) and value.type.dtype != ir.DataType.TASK_ID:
            return self._scalars.text(value)
        found = self._state.variable(value)
        wanted = None if carry.slot else carry.size
        if found.size != wanted and carry.type:
            raise Obstacle(f"{found.name!r} does not hold as many task ids as {carry.name!r}", value.span)
        return found.name

    def _reads(self, value: ir.Expr) -> set[str]:
        """The C++ variables that a yielded value is made of."""
        found = {self._state.meanings.get(var) for var in variables_of(value)}
        return {meaning.name for meaning in found if isinstance(meaning, Cpp)}

    def _same(self, arg: ir.IterArg, var: ir.Var) -> Carry:
        """An array, which is changed in place."""
        meaning = self._state.variable(arg.initValue)
        self._state.bind(arg, meaning)
        self._state.bind(var, meaning)
        return Carry(meaning.name, "", meaning.size)

    def _declare(self, arg: ir.IterArg, var: ir.Var) -> Carry:
        type_ = declared_type(var.type)
        init = arg.initValue
        text = (
            self._scalars.text(init)
            if isinstance(init.type, ir.ScalarType)
            else self._state.variable(init).name
        )
        is_declared = self._state.is_hoisted(var)
        name = self._state.declare(var, whole=True)
        text = self._macros.assign(name, text) if is_declared else self._macros.declare(type_, name, text)
        self._state.line(text)
        for bound in (arg, var):
            self._state.bind(bound, Cpp(name))
        return Carry(name, type_)

    def _ids(
        self, stmt: ir.ForStmt | ir.WhileStmt, arg: ir.IterArg, var: ir.Var, size: int, start: str, step: str
    ) -> Carry:
        """Ids of tasks, one for each round: rounds of a parallel loop wait for those before the loop."""
        first = self._state.variable(arg.initValue)
        name = self._state.declare(var, whole=True)
        if first.size is None:
            self._state.line(self._macros.ids(name, size, first.name))
        else:
            if first.size != size:
                raise Obstacle(f"{first.name!r} holds {first.size} task ids, not {size}", var.span)
            self._state.line(self._macros.ids(name, size, self._state.templates.values.invalid()))
            self._state.line(self._macros.copy_ids(name, size, first.name))
        own = Cpp(name, size=size)
        is_parallel = isinstance(stmt, ir.ForStmt) and stmt.kind is ForKind.Parallel
        self._state.bind(arg, first if is_parallel else own)
        self._state.bind(var, own)
        return Carry(name, TASK_ID, size, start, step, is_by_slot=is_parallel)

    def _seed(self, var: ir.Var, type_: str, *, whole: bool) -> None:
        """Declare a variable whose value comes later."""
        values = {TENSOR: self._state.first_tensor, TASK_ID: self._state.templates.values.invalid()}
        value = values.get(type_, "0")
        if not value:
            raise Obstacle(f"{var.name_hint!r} has no tensor of the caller to begin with", var.span)
        name = self._state.declare(var, whole=whole)
        self._state.bind(var, Cpp(name))
        self._state.line(self._macros.declare(type_, name, value))
