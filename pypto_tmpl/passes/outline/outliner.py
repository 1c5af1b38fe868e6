"""Regions of a function that become functions, and the calls in their place."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from dataclasses import dataclass, field
from typing import ClassVar

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ir.verifier.walking import definitions
from pypto_tmpl.passes.outline.dataflow import Callees, reads
from pypto_tmpl.passes.outline.launches import launch
from pypto_tmpl.passes.outline.outlining import Kind, Region, region_of
from pypto_tmpl.rewrite import Names, Rewriter


class FunctionNames:
    """The names of a program's functions, and which function each was made of."""

    def __init__(self, program: ir.Program) -> None:
        self._owners: dict[str, str] = {function.name: "" for function in program.functions.values()}

    def of_region(self, owner: str, hint: str, ordinal: str) -> str:
        """The name of a function made of a region of ``owner``: its hint, if it has one and that is free."""
        found = hint or f"{owner}_{ordinal}"
        if hint and self._owners.get(hint) == owner:
            found = self._numbered(hint)
        elif hint and hint in self._owners:
            found = f"{owner}_{hint}"
        if found in self._owners:
            found = self._numbered(found)
        self._owners[found] = owner
        return found

    def _numbered(self, name: str) -> str:
        number = 0
        while f"{name}_{number}" in self._owners:
            number += 1
        return f"{name}_{number}"


@dataclass(slots=True)
class _Made:
    """A function that is being made: its name, what it reads, and how many regions it has by their words."""

    name: str
    uses: Counter[int]
    regions: Counter[str] = field(default_factory=Counter)


class Outliner(Rewriter):
    """Makes functions of the regions of one function; subclasses say which regions and what functions."""

    exports_stores: ClassVar[bool] = False
    callees = Callees()

    def __init__(self, owner: ir.Function, names: FunctionNames) -> None:
        super().__init__()
        self.owner = owner
        self.made: list[ir.Function] = []
        self._names = names
        self._variables = Names.of(owner)
        self._root = _Made(owner.name, Counter())
        self._open: list[_Made | None] = []  # the scopes around, those that are no regions too
        self._uses = Counter(map(id, reads(owner.body)))
        self._defined = {id(param) for param in owner.params}
        self._tasks: set[int] = set()  # the ids of tasks that the launches of regions bind
        for stmt in statements(owner.body):
            self._defined |= {id(var) for var in definitions(stmt)}
            if isinstance(stmt, ir.ScopeStmt) and "task_id_var" in stmt.attrs:
                self._defined.add(id(stmt.attrs["task_id_var"]))

    def outlined(self) -> list[ir.Function]:
        """The function with calls in the place of regions, and the functions of the regions."""
        for stmt in statements(self.owner.body):
            if isinstance(stmt, ir.ScopeStmt) and self.is_region(stmt):
                self._tasks.add(id(self.launched(stmt).attrs.get("task_id_var")))
        return [self.rewrite(self.owner), *self.made]

    @abstractmethod
    def is_region(self, stmt: ir.Stmt) -> bool:
        """Whether a statement becomes a function."""

    @abstractmethod
    def kind(self, scope: ir.ScopeStmt) -> Kind:
        """What function a region becomes."""

    @abstractmethod
    def word(self, scope: ir.ScopeStmt) -> str:
        """What stands before the number in the name of a region without a name."""

    def launched(self, scope: ir.ScopeStmt) -> ir.ScopeStmt:
        """The scope that says how the function of a region is launched."""
        return scope

    def before(self, stmt: ir.Stmt) -> ir.Stmt | list[ir.Stmt]:
        if (
            isinstance(stmt, ir.AssignStmt)
            and id(stmt.var) in self._tasks
            and isinstance(stmt.value, ir.Call)
        ):
            return []  # a placeholder: the launch binds it
        if isinstance(stmt, ir.ScopeStmt):
            self._open.append(self._opened(stmt) if self.is_region(stmt) else None)
        return stmt

    def statement(self, stmt: ir.Stmt) -> ir.Stmt | list[ir.Stmt]:
        opened = self._open.pop() if isinstance(stmt, ir.ScopeStmt) else None
        if opened is None or not isinstance(stmt, ir.ScopeStmt):
            return stmt

        def is_read_outside(var: ir.Var) -> bool:
            return self._uses[id(var)] > opened.uses[id(var)]

        region = region_of(stmt, is_read_outside, self._defined, self.callees, self.exports_stores)
        self.made.append(region.function(opened.name, self.kind(stmt)))
        return self._call(opened.name, region)

    def _opened(self, scope: ir.ScopeStmt) -> _Made:
        """The function that is made of a region from here on."""
        around = next((made for made in reversed(self._open) if made is not None), self._root)
        word = self.word(scope)
        name = self._names.of_region(around.name, scope.name_hint, f"{word}_{around.regions[word]}")
        around.regions[word] += 1
        return _Made(name, Counter(map(id, reads(scope.body))))

    def _call(self, name: str, region: Region) -> list[ir.Stmt]:
        """The call of the function of a region, and what takes its results apart."""
        scope, outputs = region.scope, list(region.outputs)
        for stored in region.exported:
            version = ir.Var(self._variables.fresh(stored.name_hint, "ssa"), stored.type, stored.span)
            self.bind(stored, version)
            outputs.append(version)
        types = [var.type for var in outputs]
        call, task = launch(self.launched(scope), name, region.inputs, types, self._variables)
        if task is not None:
            outputs.append(task)
        if not outputs:
            return [ir.EvalStmt(call, scope.span)]
        if len(outputs) == 1 and task is None:
            return [ir.AssignStmt(outputs[0], call, scope.span)]
        result = ir.Var(self._variables.fresh("ret", "tmp"), call.type, scope.span)
        found: list[ir.Stmt] = [ir.AssignStmt(result, call, scope.span)]
        for index, var in enumerate(outputs):
            element = ir.TupleGetItemExpr(result, index, scope.span)
            found.append(ir.AssignStmt(var, element, scope.span))
        return found
