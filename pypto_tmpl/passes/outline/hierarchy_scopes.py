"""Scopes of a level of the machine become functions of that level."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir import IRProperty
from pypto_tmpl.passes.base import ProgramPass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.outline.outliner import FunctionNames, Outliner
from pypto_tmpl.passes.outline.outlining import Kind
from pypto_tmpl.rewrite import build

_ROLES = {ir.Role.Orchestrator: "_orch", ir.Role.SubWorker: "_sub_worker"}


class OutlineHierarchyScopes(ProgramPass):
    """Make an Opaque function of every Hierarchy scope of the Opaque functions, with its level and role."""

    __slots__ = ()
    requires = frozenset({IRProperty.SSAForm})
    produces = frozenset(
        {IRProperty.SSAForm, IRProperty.HierarchyOutlined, IRProperty.OrchestrationReferencesResolved}
    )

    def run(self, program: ir.Program, context: PassContext) -> ir.Program:
        names = FunctionNames(program)
        functions: list[ir.Function] = []
        for function in program.functions.values():
            is_opaque = function.func_type is ir.FunctionType.Opaque
            functions += _Hierarchy(function, names).outlined() if is_opaque else [function]
        return build(program, functions=functions)


class _Hierarchy(Outliner):
    def is_region(self, stmt: ir.Stmt) -> bool:
        return isinstance(stmt, ir.HierarchyScopeStmt)

    def kind(self, scope: ir.ScopeStmt) -> Kind:
        assert isinstance(scope, ir.HierarchyScopeStmt)
        return Kind(ir.FunctionType.Opaque, scope.level, scope.role)

    def word(self, scope: ir.ScopeStmt) -> str:
        assert isinstance(scope, ir.HierarchyScopeStmt)
        level = scope.level.name.lower().replace("cluster_", "cluster")
        return f"{level}{_ROLES.get(scope.role, '') if scope.role else ''}"
