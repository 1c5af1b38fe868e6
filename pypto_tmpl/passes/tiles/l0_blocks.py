"""The statements of a product in blocks: loops over the depth, and over rows and columns of the result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pypto_tmpl import ir
from pypto_tmpl.ir import MemorySpace
from pypto_tmpl.passes.tiles.bands import plus
from pypto_tmpl.passes.tiles.l0_choice import Block, Problem, Regime
from pypto_tmpl.passes.tiles.recipe import Making
from pypto_tmpl.rewrite import build

Place = int | ir.Expr
Sink = Callable[[str, ir.Expr, ir.Expr, Place, Place], ir.Var]
"""Puts a block into the result: name, what the result is so far, the block, its row and column."""
STAGES = 2


@dataclass(slots=True)
class Product(Making):
    """A product with its operands, and the statements that are made for it."""

    name: str
    left: ir.Expr
    right: ir.Expr
    problem: Problem
    accumulator: ir.Expr | None = None
    bias: ir.Expr | None = None
    bias_load: ir.Call | None = None  # how the bias came into Mat

    @property
    def span(self) -> ir.Span:
        """What is made of a product stands where its statement does."""
        return self.subject.span

    def loop(
        self,
        names: tuple[str, str, str],
        bounds: tuple[int, int],
        init: ir.Expr,
        step: Callable[[ir.Var, ir.IterArg], ir.Expr],
        attrs: dict[str, object] | None,
    ) -> ir.Var:
        """A loop from 0 that carries a value; of no attributes it is no pipeline."""
        span, index = self.span, ir.ScalarType(ir.DataType.INDEX)
        loop_var = ir.Var(names[0], index, span)
        carry = ir.IterArg(names[1], init.type, init, span)
        with self.body() as made:
            made.append(ir.YieldStmt([step(loop_var, carry)], span))
        body = self.block(made)
        result = ir.Var(names[2], init.type, span)
        kind = ir.ForKind.Sequential if attrs is None else ir.ForKind.Pipeline
        start, stop, stride = (_index(value) for value in (0, *bounds))
        self.made.append(
            ir.ForStmt(loop_var, start, stop, stride, [carry], body, [result], span, kind, attrs)
        )
        return result

    def extracted(
        self, name: str, source: ir.Expr, place: Sequence[Place], shape: Sequence[int], space: MemorySpace
    ) -> ir.Var:
        """A block of an operand in L0."""
        return self.let(name, self.emit("tile.extract", source, *place, list(shape), target_memory=space))

    def left_in_mat(self) -> None:
        """Bring a left operand of vector cores to where blocks of it can be taken from."""
        assert isinstance(self.left.type, ir.TileType)
        if self.left.type.memory_space is not MemorySpace.Mat:
            self.left = self.let(
                f"{self.name}_l0_lmat", self.emit("tile.move", self.left, target_memory=MemorySpace.Mat)
            )

    def bias_block(self, name: str, column: Place, columns: int) -> ir.Expr:
        """The bias of some columns in its table; a part of it is loaded by itself."""
        bias = self.bias
        assert bias is not None
        if columns < self.problem.columns:
            bias = self.let(f"{name}_mat", self._bias_load(column, columns))
        return self.let(name, self.emit("tile.move", bias, target_memory=MemorySpace.Bias))

    def _bias_load(self, column: Place, columns: int) -> ir.Call:
        load = self.bias_load
        assert load is not None and isinstance(load.type, ir.TileType)
        tensor, offsets = load.args[:2]
        assert isinstance(offsets, ir.MakeTuple)
        shape = ir.MakeTuple([load.type.shape[0], _index(columns)], load.span)
        where = ir.MakeTuple([offsets.elements[0], plus(offsets.elements[1], column)], load.span)
        type_ = build(load.type, shape=tuple(shape.elements))
        return build(load, args=[tensor, where, shape, shape], type=type_)

    def multiplied(self, name: str, left: ir.Expr, right: ir.Expr, bias: ir.Expr | None) -> ir.Var:
        """The product of two blocks."""
        if bias is not None:
            return self.let(name, self.emit("tile.matmul_bias", left, right, bias))
        return self.let(name, self.emit("tile.matmul", left, right))


def _index(value: int) -> ir.ConstInt:
    return ir.ConstInt(value, ir.DataType.INDEX, ir.Span.unknown())


def deep(
    product: Product, name: str, result: str, block: tuple[int, int, int], place: tuple[int, int]
) -> ir.Var:
    """Rows and columns of a product, the depth in steps; named ``result`` if the steps are all equal."""
    rows, columns, step = block
    row, column = place
    whole = product.problem.depth // step * step
    accumulator: ir.Expr | None = product.accumulator
    bias: ir.Expr | None = None
    needs_loop = whole > step
    if accumulator is None and needs_loop:
        create = product.emit(
            "tile.create", [rows, columns], dtype=product.problem.out, target_memory=MemorySpace.Acc
        )
        accumulator = product.let(f"{name}_init", create)
    product.left_in_mat()
    if product.bias is not None:
        bias = product.bias_block(f"{name}_bias", column, columns)
    is_fresh = product.accumulator is None

    def factors(suffix: str, depth: Place, size: int) -> tuple[ir.Var, ir.Var]:
        left, right = MemorySpace.Left, MemorySpace.Right
        return (
            product.extracted(f"{name}_a{suffix}", product.left, (row, depth), (rows, size), left),
            product.extracted(f"{name}_b{suffix}", product.right, (depth, column), (size, columns), right),
        )

    def once(index: ir.Var, carry: ir.IterArg) -> ir.Expr:
        left, right = factors("", index, step)
        if not is_fresh:
            return product.let(f"{name}_c_acc", product.emit("tile.matmul_acc", carry, left, right))
        return _first_or_more(product, name, index, (carry, left, right), bias)

    rest = product.problem.depth - whole
    if needs_loop:
        assert accumulator is not None
        names = (f"{name}_ko", f"{name}_c", f"{name}_kmain" if rest else result)
        value = product.loop(names, (whole, step), accumulator, once, {"pipeline_stages": STAGES})
    else:
        left, right = factors("0", 0, step)
        value = _plain(product, f"{name}_c0" if rest else result, (left, right), bias)
    if not rest:
        return value
    left, right = factors("t", whole, rest)
    return product.let(f"{name}_ct", product.emit("tile.matmul_acc", value, left, right))


def _plain(product: Product, name: str, factors: tuple[ir.Expr, ir.Expr], bias: ir.Expr | None) -> ir.Var:
    """One block of a product, or of one that is added to what there is."""
    if product.accumulator is not None:
        return product.let(name, product.emit("tile.matmul_acc", product.accumulator, *factors))
    return product.multiplied(name, *factors, bias)


def _first_or_more(
    product: Product,
    name: str,
    index: ir.Var,
    operands: tuple[ir.Expr, ir.Expr, ir.Expr],
    bias: ir.Expr | None,
) -> ir.Var:
    """The first step begins the sum, the others add to it."""
    carry, left, right = operands
    span = product.span
    sides: list[ir.Stmt] = []
    for is_first in (True, False):
        with product.body() as made:
            if is_first:
                value = _plain(product, f"{name}_c_first", (left, right), bias)
            else:
                value = product.let(f"{name}_c_acc", product.emit("tile.matmul_acc", carry, left, right))
            made.append(ir.YieldStmt([value], span))
        sides.append(product.block(made))
    result = ir.Var(f"{name}_c_phi", carry.type, span)
    product.made.append(ir.IfStmt(ir.eq(index, 0), sides[0], sides[1], [result], span))
    return result


def grid(product: Product, block: Block, target: ir.Expr, base: str, sink: Sink) -> ir.Expr:
    """The product in blocks, each put into ``target`` when it is done; gives that after the last one."""
    if block.k < product.problem.depth:
        return _deep_grid(product, block, target, base, sink)
    product.left_in_mat()
    return _shallow_grid(product, block, target, base, sink)


def _deep_grid(product: Product, block: Block, target: ir.Expr, base: str, sink: Sink) -> ir.Expr:
    number = 0
    for column in range(0, product.problem.columns, block.n):
        for row in range(0, product.problem.rows, block.m):
            rows = min(block.m, product.problem.rows - row)
            columns = min(block.n, product.problem.columns - column)
            name = f"{product.name}_t{number}"
            value = deep(product, f"{name}_l0", name, (rows, columns, block.k), (row, column))
            target = sink(f"{base}_t{number}", target, value, row, column)
            number += 1
    return target


def _shallow_grid(product: Product, block: Block, target: ir.Expr, base: str, sink: Sink) -> ir.Expr:
    """Loops over whole blocks, the panel that stays in the outer one; the rest stands behind them."""
    problem, name = product.problem, product.name
    full = (problem.rows // block.m * block.m, problem.columns // block.n * block.n)
    inner_attrs: dict[str, object] = {"pipeline_stages": STAGES, "pipeline_overlap_stores": False}
    outer_attrs = inner_attrs if block.regime is Regime.Output else None

    def panel(is_left: bool, index: ir.Var) -> tuple[ir.Var, ir.Expr | None]:
        depth = problem.depth
        if is_left:
            return product.extracted(
                f"{name}_a", product.left, (index, 0), (block.m, depth), MemorySpace.Left
            ), None
        right = product.extracted(f"{name}_b", product.right, (0, index), (depth, block.n), MemorySpace.Right)
        has_bias = product.bias is not None
        return right, product.bias_block(f"{name}_bias", index, block.n) if has_bias else None

    def outer(index: ir.Var, carry: ir.IterArg) -> ir.Expr:
        held, held_bias = panel(block.holds_left, index)

        def inner(other: ir.Var, inner_carry: ir.IterArg) -> ir.Expr:
            moving, moving_bias = panel(not block.holds_left, other)
            left, right = (held, moving) if block.holds_left else (moving, held)
            row, column = (index, other) if block.holds_left else (other, index)
            bias = held_bias if moving_bias is None else moving_bias
            value = product.multiplied(f"{name}_c", left, right, bias)
            return sink(f"{base}_t0", inner_carry, value, row, column)

        bounds = (full[1], block.n) if block.holds_left else (full[0], block.m)
        return product.loop((f"{name}_i", f"{name}_ic", f"{name}_irv"), bounds, carry, inner, inner_attrs)

    bounds = (full[0], block.m) if block.holds_left else (full[1], block.n)
    target = product.loop((f"{name}_o", f"{name}_oc", f"{name}_orv"), bounds, target, outer, outer_attrs)
    for number, (row, rows, column, columns) in enumerate(_left_over(problem, block, full), 1):
        depth = problem.depth
        left = product.extracted(
            f"{name}_ta{number}", product.left, (row, 0), (rows, depth), MemorySpace.Left
        )
        right = product.extracted(
            f"{name}_tb{number}", product.right, (0, column), (depth, columns), MemorySpace.Right
        )
        bias = None if product.bias is None else product.bias_block(f"{name}_tbias{number}", column, columns)
        value = product.multiplied(f"{name}_tc{number}", left, right, bias)
        target = sink(f"{base}_t{number}", target, value, row, column)
    return target


def _left_over(problem: Problem, block: Block, full: tuple[int, int]) -> list[tuple[int, int, int, int]]:
    """The blocks that are not whole, with their extents: of the last rows, then of the last columns."""
    rows, columns = problem.rows - full[0], problem.columns - full[1]
    found = []
    if rows:
        for column in range(0, problem.columns, block.n):
            found.append((full[0], rows, column, min(block.n, problem.columns - column)))
    if columns:
        found += [(row, block.m, full[1], columns) for row in range(0, full[0], block.m)]
    return found
