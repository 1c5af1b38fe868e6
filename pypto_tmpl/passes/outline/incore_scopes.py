"""InCore scopes become kernels."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir import IRProperty
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ops import facts
from pypto_tmpl.passes.base import PassError, ProgramPass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.outline.outliner import FunctionNames, Outliner
from pypto_tmpl.passes.outline.outlining import Kind
from pypto_tmpl.rewrite import build

_PARENTS = (ir.FunctionType.Opaque, ir.FunctionType.Orchestration)
_KEPT = ("slot_num", "windowize", "deferred_completion_waiter")


class OutlineIncoreScopes(ProgramPass):
    """Make an InCore function of every InCore scope; an Opaque function with one becomes Orchestration."""

    __slots__ = ()
    requires = frozenset({IRProperty.SSAForm})
    produces = frozenset({IRProperty.SSAForm, IRProperty.SplitIncoreOrch, IRProperty.AivSplitValid})

    def run(self, program: ir.Program, context: PassContext) -> ir.Program:
        names = FunctionNames(program)
        functions: list[ir.Function] = []
        for function in program.functions.values():
            outliner = _InCore(function, names)
            functions += outliner.outlined() if function.func_type in _PARENTS else [function]
        return build(program, functions=functions)


class _InCore(Outliner):
    exports_stores = True

    def __init__(self, owner: ir.Function, names: FunctionNames) -> None:
        super().__init__(owner, names)
        has_regions = any(map(self.is_region, statements(owner.body)))
        self._folds = has_regions and owner.func_type is ir.FunctionType.Opaque

    def before(self, stmt: ir.Stmt) -> ir.Stmt | list[ir.Stmt]:
        symbol = self._symbol(stmt.value) if self._folds and isinstance(stmt, ir.AssignStmt) else None
        if symbol is None or not isinstance(stmt, ir.AssignStmt):
            return super().before(stmt)
        self.bind(stmt.var, symbol)
        return []

    def _symbol(self, value: ir.Expr) -> ir.Var | None:
        """The symbol that a value is, as the extent of a parameter."""
        if isinstance(value, ir.Call) and facts.of_value(value).has("extent"):
            tensor, axis = value.args
            is_param = any(tensor is param for param in self.owner.params)
            if is_param and isinstance(tensor.type, ir.ShapedType) and isinstance(axis, ir.ConstInt):
                extent = tensor.type.shape[axis.value]
                return extent if isinstance(extent, ir.Var) else None
        return None

    def outlined(self) -> list[ir.Function]:
        parent, *made = super().outlined()
        if made and parent.func_type is ir.FunctionType.Opaque:
            parent = build(parent, func_type=ir.FunctionType.Orchestration)
        return [parent, *made]

    def is_region(self, stmt: ir.Stmt) -> bool:
        return isinstance(stmt, ir.InCoreScopeStmt)

    def word(self, scope: ir.ScopeStmt) -> str:
        return "incore"

    def kind(self, scope: ir.ScopeStmt) -> Kind:
        assert isinstance(scope, ir.InCoreScopeStmt)
        attrs: dict[str, object] = {}
        regions = {s.split for s in statements(scope.body) if isinstance(s, ir.SplitAivScopeStmt)}
        if regions and scope.split is not ir.SplitMode.NONE:
            what = f"the scope {scope.name_hint!r} asks for a split and has regions of two lanes of its own"
            raise PassError(what, self.owner, scope)
        if regions:
            attrs["split_aiv"] = True
        split = regions.pop() if len(regions) == 1 else scope.split
        if split is not ir.SplitMode.NONE:
            attrs["split"] = split.value
        attrs |= {key: scope.attrs[key] for key in _KEPT if key in scope.attrs}
        return Kind(ir.FunctionType.InCore, attrs=attrs)
