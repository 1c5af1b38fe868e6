"""Which products are to be made in blocks, and how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from pypto_tmpl import ir, ops
from pypto_tmpl.backend import BackendFacts
from pypto_tmpl.ir import MemorySpace
from pypto_tmpl.passes.base import PassError
from pypto_tmpl.passes.diagnostics import LOGGER
from pypto_tmpl.passes.tensor_to_tile.storage import Storage
from pypto_tmpl.passes.tiles.bands import MATRIX, rank_of
from pypto_tmpl.passes.tiles.l0_blocks import Product
from pypto_tmpl.passes.tiles.l0_choice import Block, problem_of, sizes
from pypto_tmpl.passes.tiles.uses import Uses, call_of

_CAST = "tile.cast"
_LOAD = "tile.load"
_STORE = "tile.store"
_BYTE = 8


class Places(NamedTuple):
    """Where a product has its operands."""

    operands: int
    left: int
    right: int
    bias: int | None = None
    accumulator: int | None = None


PRODUCTS: Mapping[str, Places] = MappingProxyType(
    {
        "tile.matmul": Places(2, 0, 1),
        "tile.matmul_bias": Places(3, 0, 1, bias=2),
        "tile.matmul_acc": Places(3, 1, 2, accumulator=0),
    }
)
_CAST_MODE = 1  # rint
_STORE_OPERANDS = 3


@dataclass(frozen=True, slots=True)
class Destination:
    """Where the blocks of a product may go one by one: a store, or a tile in Mat of a dtype."""

    store: ir.Stmt | None = None
    dtype: ir.DataType | None = None
    cast: ir.AssignStmt | None = None  # the conversion that goes with it


class Products:
    """The products of a function."""

    def __init__(self, function: ir.Function, backend: BackendFacts) -> None:
        self._owner = function
        self._backend = backend
        self.uses = Uses(function)
        self._storage = Storage(function, ir.TileType)

    def product(self, var: ir.Var, before: ir.Call, call: ir.Call) -> Product | None:
        """A product that may be made in blocks; the operands of ``call`` are rewritten already."""
        places = PRODUCTS.get(call.op.name)
        if places is None:
            return None
        self._refuse_too_large(call, places)
        if len(call.args) != places.operands:
            return None
        left, right = call.args[places.left], call.args[places.right]
        bias = None if places.bias is None else call.args[places.bias]
        allowed = (MemorySpace.Mat,) if bias is not None else (MemorySpace.Mat, MemorySpace.Vec)
        if _space(left) not in allowed or _space(right) is not MemorySpace.Mat:
            return None
        if bias is not None and _space(bias) is not MemorySpace.Mat:
            return None
        problem = problem_of(left, right, call, self._backend, has_bias=bias is not None)
        if problem is None:
            return None
        accumulator = None if places.accumulator is None else call.args[places.accumulator]
        product = Product(self._owner, var, call, var.name_hint, left, right, problem, accumulator, bias)
        if places.bias is not None:
            load = self.uses.call(before.args[places.bias])
            product.bias_load = load if load is not None and load.op.name == _LOAD else None
        return product if self._may_be_split(product) else None

    def _may_be_split(self, product: Product) -> bool:
        problem = product.problem
        if problem.depth % problem.step and not problem.has_bias:
            what = f"the depth {problem.depth} is no multiple of {problem.step}"
            return self.decline(product, what, "PH-AT-007")
        extents = (problem.rows, problem.columns, problem.depth)
        if problem.has_bias and any(extent % problem.step for extent in extents):
            what = f"its extents {extents} are no multiples of {problem.step}, as a product with a bias needs"
            return self.decline(product, what, "PH-AT-011")
        return True

    def decline(self, product: Product, what: str, code: str = "") -> bool:
        """Tell that a product stays whole; False."""
        where = f"{product.call.span}: " if product.call.span.is_valid() else ""
        hint = f"{code} " if code else ""
        text = f"{hint}{where}{product.call.op.name} {product.name!r} stays whole: {what}"
        LOGGER.info("AutoTileMatmulL0: %s (function %r)", text, self._owner.name)
        return False

    def _refuse_too_large(self, call: ir.Call, places: Places) -> None:
        """Operands that a program has put into L0 itself must fit."""
        for place in (places.left, places.right):
            value = call.args[place]
            space = _space(value)
            if space not in (MemorySpace.Left, MemorySpace.Right):
                continue
            extents, limit = sizes(value), self._backend.capacity(space)
            assert isinstance(value.type, ir.TileType)
            size = extents[0] * extents[1] * value.type.dtype.get_bit() // _BYTE if extents else 0
            if limit is not None and size > limit:
                name = value.name_hint if isinstance(value, ir.Var) else "an operand"
                what = f"{name!r} takes {size} bytes of {space.name}, which has {limit}"
                raise PassError(f"{call.op.name}: {what}", self._owner, call, value)

    def destination(self, stmt: ir.AssignStmt) -> Destination | None:
        """Where the blocks of a product may go: to the store that alone reads it, or to products in turn."""
        users = self.uses.users(stmt.var)
        if len(users) == 1 and (store := call_of(users[0])) is not None and store.op.name == _STORE:
            is_plain = len(store.args) == _STORE_OPERANDS and rank_of(store.args[2]) == MATRIX
            is_it = store.args[0] is stmt.var
            if (
                is_plain
                and is_it
                and self.uses.are_together(stmt, users[0])
                and self._is_kept(stmt, users[0])
            ):
                return Destination(store=users[0])
            return None
        if (
            len(users) == 1
            and isinstance(users[0], ir.AssignStmt)
            and (dtype := self.scratch_dtype(users[0]))
        ):
            return Destination(dtype=dtype, cast=users[0]) if self.uses.are_together(stmt, users[0]) else None
        assert isinstance(stmt.var.type, ir.TileType)
        if self._backend.requires.low_precision_mat_scratch or not self._feeds_products(stmt.var):
            return None
        return Destination(dtype=stmt.var.type.dtype)

    def _is_kept(self, first: ir.Stmt, last: ir.Stmt) -> bool:
        """Whether no operand of a product is written between it and the store that takes its place."""
        call = call_of(first)
        assert call is not None
        families = [self._storage.sharing(arg) for arg in call.args if isinstance(arg, ir.Var)]
        order = self.uses.order
        return not any(
            order[id(first)] < place < order[id(last)]
            for family in families
            for _, place in self._storage.writes_into(family)
        )

    def scratch_dtype(self, stmt: ir.AssignStmt) -> ir.DataType | None:
        """The dtype of a conversion that comes free on the way to Mat, if only products read the result."""
        call = call_of(stmt)
        if call is None or call.op.name != _CAST or call.kwargs["mode"] != _CAST_MODE:
            return None
        source, dtype = call.args[0].type, call.kwargs["target_type"]
        assert isinstance(source, ir.TileType) and isinstance(dtype, ir.DataType)
        is_free = source.dtype == ir.DataType.FP32 and dtype in (ir.DataType.BF16, ir.DataType.FP16)
        return dtype if is_free and self._feeds_products(stmt.var) else None

    def in_mat(self, value: ir.Expr, span: ir.Span, dtype: ir.DataType, made: list[ir.Stmt]) -> ir.Var:
        """A product converted by laying it into a tile in Mat; ``made`` gets the statements, at ``span``."""
        type_ = value.type
        assert isinstance(type_, ir.TileType)
        name = f"{value.name_hint if isinstance(value, ir.Var) else 'product'}_mat"
        shape = ir.MakeTuple(type_.shape, span)
        create = ops.call("tile.create", shape, dtype=dtype, target_memory=MemorySpace.Mat, span=span)
        target = ir.Var(name, create.type, span)
        call = ops.call("tile.assemble", target, value, [0, 0], span=span)
        result = ir.Var(f"{name}_t0", call.type, span)
        made += [ir.AssignStmt(target, create, span), ir.AssignStmt(result, call, span)]
        return result

    def _feeds_products(self, var: ir.Var) -> bool:
        users = self.uses.users(var)
        return bool(users) and all(_multiplies(stmt, var) for stmt in users)

    def choice(self, product: Product, destination: Destination | None) -> Block | None:
        """The blocks in which a product is made; None where it fits as it is, or stays whole."""
        problem = product.problem
        if product.accumulator is not None or destination is None:
            block = problem.choose(is_whole=True)
        else:
            block = problem.choose(output_stays=destination.store is None)
        if block is None:
            self.decline(product, "no blocks of it fit")
            return None
        if block.n < problem.columns and product.bias is not None and product.bias_load is None:
            self.decline(product, "parts of its bias cannot be loaded")
            return None
        is_whole = (block.m, block.n, block.k) == (problem.rows, problem.columns, problem.depth)
        return None if is_whole else block


def _multiplies(stmt: ir.Stmt, var: ir.Var) -> bool:
    call = call_of(stmt)
    places = PRODUCTS.get(call.op.name) if call is not None else None
    if call is None or places is None:
        return False
    factors = {places.left, places.right}
    return all(place in factors for place, arg in enumerate(call.args) if arg is var)


def _space(value: ir.Expr) -> MemorySpace | None:
    return value.type.memory_space if isinstance(value.type, ir.TileType) else None
