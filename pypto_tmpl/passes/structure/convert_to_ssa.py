"""Each variable is assigned once: what loops carry and what branches merge has names of its own."""

from __future__ import annotations

from collections import Counter

from pypto_tmpl import ir
from pypto_tmpl.ir import IRProperty
from pypto_tmpl.ops import load_table
from pypto_tmpl.ops.typing import infer_type
from pypto_tmpl.passes.base import FunctionPass, PassError
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.structure.jumps import assigned_variables, jumps_after
from pypto_tmpl.passes.structure.liveness import live_after_loops
from pypto_tmpl.passes.structure.lost import lost_variables, refuse_lost_variables
from pypto_tmpl.passes.structure.normalize_stmt_structure import normalized
from pypto_tmpl.passes.structure.sources import Sources
from pypto_tmpl.passes.structure.yields import with_yielded, without_empty_yield
from pypto_tmpl.rewrite import GeneratedName, Rewriter, base_name, build
from pypto_tmpl.rewrite.rewriter import Task


class ConvertToSSA(FunctionPass):
    """Give every assignment a variable of its own: ``x__ssa_vN``, counted for each variable of the source.

    A loop carries what its body assigns of what was there before (``x__iter_vN``, afterwards ``x__rv_vN``),
    and what it assigns first and is read afterwards. A branch merges what its sides assign (``x__phi_vN``).
    """

    __slots__ = ()
    produces = frozenset({IRProperty.SSAForm})
    invalidates = frozenset({IRProperty.NormalizedStmtStructure})

    def run(self, function: ir.Function, context: PassContext) -> ir.Function:
        if function.level is ir.Level.HOST and function.role is ir.Role.SubWorker:
            return function
        converted = _SSA(function).rewrite(function)
        if not any(lost_variables(function, converted)):
            return converted
        reached = _Reached().rewrite(function)
        converted = _SSA(reached).rewrite(reached)
        refuse_lost_variables(function, converted)
        return converted


class _Reached(Rewriter):
    """Leaves out branches that are never taken: what they read may be assigned nowhere else."""

    def statement(self, stmt: ir.Stmt) -> ir.Stmt | None:
        if (
            not isinstance(stmt, ir.IfStmt)
            or stmt.return_vars
            or not isinstance(stmt.condition, ir.ConstBool)
        ):
            return stmt
        return stmt.then_body if stmt.condition.value else stmt.else_body


class _SSA(Rewriter):
    """``bound(x)`` is the version of a variable of the source that is visible at the place."""

    def __init__(self, function: ir.Function) -> None:
        super().__init__()
        self._owner = function
        self._versions: Counter[int] = Counter()
        self._live = live_after_loops(function.body)
        self._sources = Sources(function)
        self._changes: list[tuple[ir.Var, ir.Expr | None]] = []

    # Names and what is visible

    def bind(self, old: ir.Var, new: ir.Expr | None) -> None:
        self._changes.append((old, self.bound(old)))
        super().bind(old, new)

    def definition(self, old: ir.Var, typed: ir.Var) -> ir.Var:
        """Parameters are version 0; what loops carry by themselves keeps its name."""
        if any(old is param for param in self._owner.params):
            return self._version(old, "ssa", typed.type)
        if isinstance(typed, ir.IterArg):
            return ir.IterArg(old.name_hint, typed.type, typed.initValue, old.span)
        return ir.Var(old.name_hint, typed.type, old.span)

    def _version(self, old: ir.Var, role: str, type_: ir.Type, stmt: ir.Stmt | None = None) -> ir.Var:
        """The next version of a variable; what a loop or branch makes of it stands where that does."""
        name = GeneratedName(base_name(old.name_hint), role, self._versions[id(old)])
        self._versions[id(old)] += 1
        return ir.Var(str(name), type_, old.span if stmt is None else stmt.span)

    def _taken_back(self, mark: int) -> dict[ir.Var, ir.Expr | None]:
        """What was bound since then, as it was bound last; all variables read as before again."""
        before: dict[ir.Var, ir.Expr | None] = {}
        for var, value in self._changes[mark:]:
            before.setdefault(var, value)
        bound = {var: self.bound(var) for var, value in before.items() if self.bound(var) is not value}
        for var in bound:
            super().bind(var, before[var])
        del self._changes[mark:]
        return bound

    # Statements

    def body(self, body: ir.Stmt) -> Task:
        """The rounds of an unrolled loop become one sequence, also where they assign nothing."""
        made = yield super().body(body)
        return normalized(made)

    def rewriting(self, stmt: ir.Stmt) -> Task | None:
        if isinstance(stmt, ir.AssignStmt):
            return self._assignment(stmt)
        if isinstance(stmt, ir.ForStmt | ir.WhileStmt):
            return self._loop(stmt)
        return self._branch(stmt) if isinstance(stmt, ir.IfStmt) else None

    def _assignment(self, stmt: ir.AssignStmt) -> Task:
        value = self._with_own_region(stmt.value, (yield stmt.value))
        declared = yield stmt.var.type
        new = self._version(stmt.var, "ssa", type_of_value(declared, value))
        self.bind(stmt.var, new)
        return [build(stmt, var=new, value=value)]

    def _with_own_region(self, before: ir.Expr, value: ir.Expr) -> ir.Expr:
        """``value`` with the region that follows from its operands, where what it names has changed."""
        if not isinstance(before, ir.Call) or not isinstance(value, ir.Call):
            return value
        named = _names_of_region(before)
        for old, new in zip(before.args if named else (), value.args, strict=False):
            visible = {self.bound(scalar) or scalar for scalar in named & _names_of_region(old)}
            if not visible <= _names_of_region(new):
                entry = load_table().get(value.op.name)
                return (
                    value if entry is None else build(value, type=infer_type(entry, value.args, value.kwargs))
                )
        return value

    def _refuse_other_region(self, stmt: ir.Stmt, var: ir.Var, one: ir.Expr, other: ir.Expr) -> None:
        """Raise PassError where one type cannot tell the valid region of either value."""
        named = _names_of_region(one), _names_of_region(other)
        if named[0] != named[1]:
            what = f"the valid region of {var.name_hint!r} depends on the way through the function"
            raise PassError(what, self._owner, stmt, var)

    def _loop(self, stmt: ir.ForStmt | ir.WhileStmt) -> Task:
        changes: dict[str, object] = {}
        if isinstance(stmt, ir.ForStmt):
            for name in ("start", "stop", "step", "attrs"):
                changes[name] = yield getattr(stmt, name)
        mark = len(self._changes)
        carries = list((yield self._definitions(stmt.iter_args)))
        carried = self._carried(stmt)
        self._refuse_lost_values(stmt, set(map(id, carried)))
        inits = [self.bound(var) or self._initial(var, stmt) for var in carried]
        for var, init in zip(carried, inits, strict=True):
            name = self._version(var, "iter", init.type).name_hint
            carries.append(ir.IterArg(name, init.type, init, stmt.span))
            self.bind(var, carries[-1])
        after = [self._version(var, "rv", init.type, stmt) for var, init in zip(carried, inits, strict=True)]
        if isinstance(stmt, ir.ForStmt):
            index = self._version(stmt.loop_var, "idx", stmt.loop_var.type)
            changes["loop_var"] = index
            self.bind(stmt.loop_var, index)
        else:
            changes["condition"] = yield stmt.condition
        body = yield self.body(stmt.body)
        for var, init in zip(carried, inits, strict=True):
            self._refuse_other_region(stmt, var, init, self.bound(var) or var)
        body = with_yielded(body, [self.bound(var) or var for var in carried], stmt)
        self._taken_back(mark)
        results = list((yield self._definitions(stmt.return_vars)))
        for var, result in zip(carried, after, strict=True):
            self.bind(var, result)
        results += after
        return [build(stmt, iter_args=carries, body=body, return_vars=results, **changes)]

    def _carried(self, stmt: ir.ForStmt | ir.WhileStmt) -> list[ir.Var]:
        """What a loop carries besides its own carries: what was there before, then what escapes it."""
        assigned = {id(v): v for v in assigned_variables(stmt.body)}.values()
        before = [var for var in assigned if self.bound(var) is not None]
        live = self._live[id(stmt)]
        escaping = [var for var in assigned if self.bound(var) is None and id(var) in live]
        return [*sorted(before, key=_name), *sorted(escaping, key=_name)]

    def _refuse_lost_values(self, stmt: ir.ForStmt | ir.WhileStmt, carried: set[int]) -> None:
        """Raise PassError for a jump after an assignment of its round: it leaves carries as they were."""
        for jump, assigned in jumps_after(stmt.body):
            for var in assigned:
                if id(var) in carried:
                    what = f"a jump leaves the loop, or this round, after {var.name_hint!r} was assigned"
                    raise PassError(what, self._owner, jump, var)

    def _initial(self, var: ir.Var, stmt: ir.Stmt) -> ir.Expr:
        """What a variable that a loop assigns first is before it: what shares its storage."""
        for candidate in self._sources.sharing(var):
            if (visible := self.bound(candidate)) is not None:
                return visible
        what = f"{var.name_hint!r} is read after a loop that may not have assigned it"
        raise PassError(what, self._owner, stmt, var)

    def _branch(self, stmt: ir.IfStmt) -> Task:
        condition = yield stmt.condition
        mark = len(self._changes)
        then_body = yield self.body(stmt.then_body)
        then = self._taken_back(mark)
        else_body = (yield self.body(stmt.else_body)) if stmt.else_body is not None else None
        other = self._taken_back(mark)
        results = []
        for var in stmt.return_vars:
            results.append(self._version(var, "rv", (yield var.type)))
        merged: list[tuple[ir.Var, ir.Expr, ir.Expr]] = []
        for var in sorted({**then, **other}, key=_name):
            here, there = then.get(var, self.bound(var)), other.get(var, self.bound(var))
            if here is not None and there is not None:
                self._refuse_other_region(stmt, var, here, there)
                merged.append((var, here, there))
                results.append(self._version(var, "phi", here.type, stmt))
        for var, result in zip([*stmt.return_vars, *(var for var, *_ in merged)], results, strict=True):
            self.bind(var, result)
        if merged:
            then_body = with_yielded(then_body, [value for _, value, _ in merged], stmt)
            otherwise = else_body or ir.SeqStmts([], stmt.span)
            else_body = with_yielded(otherwise, [value for *_, value in merged], stmt)
        elif not results:
            then_body = without_empty_yield(then_body)
            else_body = without_empty_yield(else_body) if else_body is not None else None
        changes = {"condition": condition, "then_body": then_body, "else_body": else_body}
        return [build(stmt, return_vars=results, **changes)]


def _names_of_region(value: ir.Expr) -> set[ir.Var]:
    """The variables that the valid region of a value names by its type."""
    view: ir.TensorView | ir.TileView | None = None
    if isinstance(value.type, ir.TensorType):
        view = value.type.tensor_view
    elif isinstance(value.type, ir.TileType):
        view = value.type.tile_view
    extents = view.valid_shape if view is not None else ()
    return {node for extent in extents for node in ir.walk(extent) if isinstance(node, ir.Var)}


def _name(var: ir.Var) -> str:
    return var.name_hint


def type_of_value(declared: ir.Type, value: ir.Expr) -> ir.Type:
    """The type of a variable: that of its value where it has a shape; a memory that was declared stays."""
    if not isinstance(value.type, ir.ShapedType):
        return declared
    memref = getattr(declared, "memref", None)
    return build(value.type, memref=memref) if memref is not None else value.type
