"""Products in blocks that fit the memories of the matrix unit."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendFacts
from pypto_tmpl.ir import IRProperty, MemorySpace
from pypto_tmpl.passes.base import FunctionPass, PassError
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.tiles.bands import plus
from pypto_tmpl.passes.tiles.hand_pipelines import pipeline_attrs
from pypto_tmpl.passes.tiles.l0_blocks import Place, Product, deep, grid
from pypto_tmpl.passes.tiles.l0_choice import Block
from pypto_tmpl.passes.tiles.l0_products import PRODUCTS, Destination, Products
from pypto_tmpl.passes.tiles.split_depth import with_output_blocks
from pypto_tmpl.passes.tiles.uses import call_of, without_unused
from pypto_tmpl.rewrite import Rewriter, build
from pypto_tmpl.rewrite.rewriter import Task

_TILES = frozenset(
    {
        IRProperty.SSAForm,
        IRProperty.SplitIncoreOrch,
        IRProperty.IncoreTileOps,
        IRProperty.TileOps2D,
        IRProperty.NormalizedStmtStructure,
    }
)


class AutoTileMatmulL0(FunctionPass):
    """Make products in blocks where they or their operands are too large for L0, or blocks are faster.

    Blocks of the depth are added up in a pipeline. Blocks of the result go to memory one by one, or to a tile
    in Mat from which further products take them. Without a backend products stay as they are. All blocks of a
    result have one accumulator, also under planners with which PyPTO considers two. Where the context asks
    for two (``enable_pypto_l0c_double_buffer``), blocks of a result are an error: not done yet.
    """

    __slots__ = ()
    requires = _TILES
    produces = _TILES

    def run(self, function: ir.Function, context: PassContext) -> ir.Function:
        backend = context.backend
        if backend is None or not ir.is_incore_type(function.func_type):
            return function
        function = with_output_blocks(function, backend)
        tiling = _Tiling(function, backend, context.get_enable_pypto_l0c_double_buffer())
        return without_unused(tiling.rewrite(function), tiling.loaded_in_parts)


class _Tiling(Rewriter):
    def __init__(self, function: ir.Function, backend: BackendFacts, is_alternating: bool) -> None:
        super().__init__()
        self._owner = function
        self._is_alternating = is_alternating
        self._products = Products(function, backend)
        self._pipelines = pipeline_attrs(function, backend, self._products.uses)
        self._stored: dict[int, tuple[Product, Block]] = {}
        self._converted: set[int] = set()
        self.loaded_in_parts: list[ir.Var] = []

    def rewriting(self, stmt: ir.Stmt) -> Task | None:
        call = call_of(stmt)
        if id(stmt) in self._stored and call is not None:
            return self._grid_of_stores(stmt, call)
        if not isinstance(stmt, ir.AssignStmt) or call is None:
            return None
        if call.op.name in PRODUCTS:
            return self._product(stmt, call)
        if id(stmt) in self._converted:
            return self._nothing()
        if (dtype := self._products.scratch_dtype(stmt)) is not None:
            source = self._products.uses.call(call.args[0])
            if source is not None and source.op.name in PRODUCTS:
                return self._into_mat(stmt, call, dtype)
        return None

    def statement(self, stmt: ir.Stmt) -> ir.Stmt:
        attrs = self._pipelines.get(id(stmt.loop_var)) if isinstance(stmt, ir.ForStmt) else None
        return build(stmt, attrs=attrs) if attrs is not None else stmt

    def _nothing(self) -> Task:
        """What was made in another place already."""
        yield from ()
        return []

    def _product(self, stmt: ir.AssignStmt, before: ir.Call) -> Task:
        call = yield before
        assert isinstance(call, ir.Call)
        product = self._products.product(stmt.var, before, call)
        destination = self._products.destination(stmt) if product is not None else None
        block = self._products.choice(product, destination) if product is not None else None
        if product is None or block is None:
            return [build(stmt, value=call)]
        problem = product.problem
        self._note_bias(product, before, block)
        if (block.m, block.n) == (problem.rows, problem.columns):
            extents = (problem.rows, problem.columns, block.k)
            result: ir.Expr = deep(product, f"{product.name}_l0", product.name, extents, (0, 0))
            self.bind(stmt.var, result)
            return product.made
        if self._is_alternating:
            what = (
                f"{call.op.name}: {product.name!r} is made in blocks, and with"
                " enable_pypto_l0c_double_buffer=True these may alternate between two accumulators, which is"
                " not implemented"
            )
            raise PassError(what, self._owner, stmt)
        assert destination is not None
        if destination.store is not None:
            self._stored[id(destination.store)] = product, block
            return []
        self.bind(
            destination.cast.var if destination.cast is not None else stmt.var,
            self._scratch(product, block, destination),
        )
        if destination.cast is not None:
            self._converted.add(id(destination.cast))
        return product.made

    def _note_bias(self, product: Product, before: ir.Call, block: Block) -> None:
        place = PRODUCTS[before.op.name].bias
        if place is not None and block.n < product.problem.columns:
            bias = before.args[place]
            assert isinstance(bias, ir.Var)
            self.loaded_in_parts.append(bias)

    def _scratch(self, product: Product, block: Block, destination: Destination) -> ir.Expr:
        """A product whose blocks are laid into a tile in Mat."""
        shape = [product.problem.rows, product.problem.columns]
        name = f"{product.name}_mat"
        create = product.emit("tile.create", shape, dtype=destination.dtype, target_memory=MemorySpace.Mat)

        def lay(block_name: str, target: ir.Expr, value: ir.Expr, row: Place, column: Place) -> ir.Var:
            return product.let(block_name, product.emit("tile.assemble", target, value, [row, column]))

        return grid(product, block, product.let(name, create), name, lay)

    def _grid_of_stores(self, stmt: ir.Stmt, before: ir.Call) -> Task:
        product, block = self._stored[id(stmt)]
        offsets, target = (yield before.args[1]), (yield before.args[2])
        assert isinstance(offsets, ir.MakeTuple)
        row_before, column_before = offsets.elements

        def store(name: str, tensor: ir.Expr, value: ir.Expr, row: Place, column: Place) -> ir.Var:
            where = [plus(row_before, row), plus(column_before, column)]
            call = product.emit(
                "tile.store", value, ir.MakeTuple(where, before.span), tensor, **before.kwargs
            )
            return product.let(name, call)

        base = target.name_hint if isinstance(target, ir.Var) else product.name
        result = grid(product, block, target, base, store)
        if isinstance(stmt, ir.AssignStmt):
            self.bind(stmt.var, result)
        return product.made

    def _into_mat(self, stmt: ir.AssignStmt, before: ir.Call, dtype: ir.DataType) -> Task:
        """A product that is converted for other products: it is on the way from the accumulator to Mat."""
        value = yield before.args[0]
        made: list[ir.Stmt] = []
        result = self._products.in_mat(value, stmt.span, dtype, made)
        self.bind(stmt.var, result)
        return made
