"""Storage: every tensor and tile lies in a range of bytes of one allocation."""

from __future__ import annotations

from pypto_tmpl import ir, ops
from pypto_tmpl.backend import BackendFacts
from pypto_tmpl.ir import IRProperty, MemorySpace
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ops import facts
from pypto_tmpl.passes.base import FunctionPass, PassError
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.memory.declared import DeclaredBuffers
from pypto_tmpl.passes.memory.placing import with_storage
from pypto_tmpl.passes.memory.sizes import storage_bytes
from pypto_tmpl.passes.memory.views import source_place, view_storage
from pypto_tmpl.passes.structure.yields import yielded
from pypto_tmpl.rewrite import as_body, build


class InitMemRef(FunctionPass):
    """Give every tensor and tile a MemRef, and allocate what tiles lie in at the top of the function.

    Views, what ops change in place, and carries of loops lie where their sources do; results of branches and
    loops, as far as they are tiles, where what they are yielded from does. A tile that is popped from a pipe
    lies in the pipe, and so do views of it: no MemRef. A function that has storage stays as it is.
    """

    __slots__ = ()
    requires = frozenset(
        {
            IRProperty.SSAForm,
            IRProperty.SplitIncoreOrch,
            IRProperty.IncoreTileOps,
            IRProperty.TileOps2D,
            IRProperty.TileMemoryInferred,
        }
    )
    produces = frozenset({IRProperty.HasMemRefs, IRProperty.NormalizedStmtStructure})
    invalidates = frozenset({IRProperty.SSAForm})

    def run(self, function: ir.Function, context: PassContext) -> ir.Function:
        if _has_storage(function):
            return function
        plan = _Plan(function, context.backend)
        placed = with_storage(function, plan.storage)
        allocations = plan.allocations()
        if not allocations:
            return placed
        return build(placed, body=as_body([*allocations, placed.body], placed.body.span))


def _has_storage(function: ir.Function) -> bool:
    """Whether a variable has a MemRef that is more than the name of a declared buffer."""
    made = (stmt.var for stmt in statements(function.body) if isinstance(stmt, ir.AssignStmt))
    types = (var.type for var in (*function.params, *made))
    memrefs = (type_.memref for type_ in types if isinstance(type_, ir.TensorType | ir.TileType))
    return any(memref is not None and not memref.is_pinned_ for memref in memrefs)


class _Plan:
    """The storage of the variables of a function, numbered in the order in which they are met."""

    def __init__(self, function: ir.Function, backend: BackendFacts | None) -> None:
        self._function, self._backend = function, backend
        self._count = 0
        self.storage: dict[int, ir.MemRef] = {}
        self._bases: dict[int, tuple[ir.Var, MemorySpace, int]] = {}  # those of tiles, when first met
        self._declared = DeclaredBuffers(function, backend)
        for param in function.params:
            self._place(param, self._own(param))
        self._visit(function.body)

    def allocations(self) -> list[ir.Stmt]:
        """The statements that allocate what tiles lie in."""
        found = list[ir.Stmt]()
        for base, space, size in self._bases.values():
            call = ops.call("tile.alloc", space.value, size)
            if self._declared.is_base(base):
                call = ops.call("tile.alloc", space.value, size, pinned=True)
            found.append(ir.AssignStmt(base, call, ir.Span.unknown()))
        return found

    def _visit(self, body: ir.Stmt) -> None:
        todo: list[tuple[ir.Stmt, bool]] = [(body, False)]
        while todo:
            stmt, is_left = todo.pop()
            match stmt:
                case _ if is_left:
                    self._place_results(stmt)
                case ir.SeqStmts():
                    todo += [(inner, False) for inner in reversed(stmt.stmts)]
                case ir.AssignStmt():
                    self._assign(stmt)
                case ir.ForStmt() | ir.WhileStmt():
                    for arg in stmt.iter_args:
                        self._place(arg, self._of(arg.initValue))
                    todo += [(stmt, True), (stmt.body, False)]
                case ir.IfStmt():
                    todo.append((stmt, True))
                    if stmt.else_body is not None:
                        todo.append((stmt.else_body, False))
                    todo.append((stmt.then_body, False))
                case ir.ScopeStmt():
                    todo.append((stmt.body, False))

    def _assign(self, stmt: ir.AssignStmt) -> None:
        var, value = stmt.var, stmt.value
        if not isinstance(var.type, ir.TensorType | ir.TileType):
            return
        is_tile = isinstance(var.type, ir.TileType)
        if isinstance(value, ir.Var) and is_tile:
            self._share(stmt, self._of(value))
        elif isinstance(value, ir.Call) and (place := source_place(value)) is not None:
            parent = self._of(value.args[place])
            self._share(stmt, None if parent is None else view_storage(value, parent, self._function))
        elif isinstance(value, ir.Call) and facts.of_value(value).pipe_end == "pop":
            self._share(stmt, None)
        elif (member := self._declared.member(var)) is not None:
            self._place(var, member)
        else:
            self._place(var, self._own(var))

    def _share(self, stmt: ir.AssignStmt, memref: ir.MemRef | None) -> None:
        member = self._declared.member(stmt.var)
        if member is not None and (memref is None or member.base_ is not memref.base_):
            what = f"{stmt.var.name_hint!r} lies where what it is made of does, not in the declared buffer"
            raise PassError(f"{what} {member.name_hint!r}", self._function, stmt)
        self._place(stmt.var, memref)

    def _place_results(self, stmt: ir.Stmt) -> None:
        """Every result takes a number, be it that it lies elsewhere in the end."""
        if isinstance(stmt, ir.IfStmt):
            others = [yielded(body) for body in (stmt.then_body, stmt.else_body) if body is not None]
            for at, var in enumerate(stmt.return_vars):
                found = [values[at] for values in others if at < len(values) and type(values[at]) is ir.Var]
                self._place_result(var, self._of(found[0]) if found else None)
        elif isinstance(stmt, ir.ForStmt | ir.WhileStmt):
            for arg, var in zip(stmt.iter_args, stmt.return_vars, strict=True):
                # Nothing that a while yields is copied: its result stays by itself.
                self._place_result(var, self._of(arg) if isinstance(stmt, ir.ForStmt) else None)

    def _place_result(self, var: ir.Var, shared: ir.MemRef | None) -> None:
        own = self._own(var)
        self._place(var, shared if shared is not None and isinstance(var.type, ir.TileType) else own)

    def _of(self, value: ir.Expr) -> ir.MemRef | None:
        return self.storage.get(id(value))

    def _place(self, var: ir.Var, memref: ir.MemRef | None) -> None:
        if memref is None:
            return
        self.storage[id(var)] = memref
        if isinstance(var.type, ir.TileType) and id(memref.base_) not in self._bases:
            assert var.type.memory_space is not None
            size = self._declared.size(memref.base_) or memref.size_
            self._bases[id(memref.base_)] = (memref.base_, var.type.memory_space, size)

    def _own(self, var: ir.Var) -> ir.MemRef | None:
        """An allocation for one variable, None for what takes none."""
        type_ = var.type
        if not isinstance(type_, ir.TensorType | ir.TileType):
            return None
        space = type_.memory_space
        if space is None:
            raise PassError(f"tile {var.name_hint!r} has no memory space", self._function, var)
        size = storage_bytes(type_, self._backend)
        if size is None and isinstance(type_, ir.TileType):
            what = f"tile {var.name_hint!r} needs a constant shape: extents known at run time only"
            raise PassError(f"{what} are its valid_shape", self._function, var)
        memref = ir.MemRef(space, 0, size or 0, self._count)
        self._count += 1
        return memref
