"""Clusters become Group functions, blocks become Spmd functions."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir import IRProperty
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ir.verifier.walking import used_variables
from pypto_tmpl.passes.base import PassError, ProgramPass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.outline.dataflow import Callees, all_definitions
from pypto_tmpl.passes.outline.outliner import FunctionNames, Outliner
from pypto_tmpl.passes.outline.outlining import Kind
from pypto_tmpl.rewrite import build

_LEFT_ALONE = (ir.FunctionType.Group, ir.FunctionType.Spmd)


class OutlineClusterScopes(ProgramPass):
    """Make a Group function of every cluster, and an Spmd function of every Spmd scope that is in none.

    How many blocks there are goes to the call. A cluster around one Spmd scope is a Group of these blocks.
    """

    __slots__ = ()
    requires = frozenset({IRProperty.SSAForm})
    produces = frozenset({IRProperty.SSAForm, IRProperty.ClusterOutlined})

    def run(self, program: ir.Program, context: PassContext) -> ir.Program:
        names = FunctionNames(program)
        callees = Callees(program.functions.values())
        functions: list[ir.Function] = []
        for function in program.functions.values():
            is_left = function.func_type in _LEFT_ALONE
            functions += [function] if is_left else _Clusters(function, names, callees).outlined()
        return build(program, functions=functions)


class _Clusters(Outliner):
    def __init__(self, owner: ir.Function, names: FunctionNames, callees: Callees) -> None:
        super().__init__(owner, names)
        self.callees = callees
        clusters = [stmt for stmt in statements(owner.body) if isinstance(stmt, ir.ClusterScopeStmt)]
        self._blocks = {id(spmd): cluster for cluster in clusters for spmd in _spmd_scopes(cluster)}

    def is_region(self, stmt: ir.Stmt) -> bool:
        return isinstance(stmt, ir.ClusterScopeStmt) or (
            isinstance(stmt, ir.SpmdScopeStmt) and id(stmt) not in self._blocks
        )

    def before(self, stmt: ir.Stmt) -> ir.Stmt | list[ir.Stmt]:
        if isinstance(stmt, ir.ClusterScopeStmt):
            self._check(stmt)
        return super().before(stmt)

    def word(self, scope: ir.ScopeStmt) -> str:
        return "cluster" if isinstance(scope, ir.ClusterScopeStmt) else "spmd"

    def kind(self, scope: ir.ScopeStmt) -> Kind:
        if isinstance(scope, ir.SpmdScopeStmt):
            return Kind(ir.FunctionType.Spmd)
        has_blocks = bool(_spmd_scopes(scope))
        return Kind(
            ir.FunctionType.Group, attrs={"spmd_unwrapped": True} if has_blocks else {}, unwraps=has_blocks
        )

    def launched(self, scope: ir.ScopeStmt) -> ir.ScopeStmt:
        blocks = _spmd_scopes(scope)
        return build(blocks[0], attrs={**scope.attrs, **blocks[0].attrs}) if blocks else scope

    def _check(self, cluster: ir.ClusterScopeStmt) -> None:
        blocks = _spmd_scopes(cluster)
        if len(blocks) > 1:
            raise PassError("a cluster has more than one Spmd scope", self.owner, blocks[1])
        defined = all_definitions(cluster.body)
        for spmd in blocks:
            for var in used_variables(spmd.core_num):
                if id(var) in defined:
                    what = f"the number of blocks depends on {var.name_hint!r}, which the cluster defines"
                    raise PassError(what, self.owner, spmd, var)


def _spmd_scopes(scope: ir.ScopeStmt) -> list[ir.SpmdScopeStmt]:
    if not isinstance(scope, ir.ClusterScopeStmt):
        return []
    return [stmt for stmt in statements(scope.body) if isinstance(stmt, ir.SpmdScopeStmt)]
