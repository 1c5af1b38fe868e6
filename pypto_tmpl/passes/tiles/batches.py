"""Batched products: a product of matrices for each page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product as all_places
from math import prod

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendFacts, BackendType, facts_of
from pypto_tmpl.ir import MemorySpace
from pypto_tmpl.ir.bodies import direct, parts, statements
from pypto_tmpl.ir.extents import same_extents
from pypto_tmpl.passes.base import PassError
from pypto_tmpl.passes.outline.dataflow import Callees, Origins, own_reads
from pypto_tmpl.passes.tensor_to_tile.directions import written_tensors
from pypto_tmpl.passes.tiles.bands import constants, flat_offsets, is_band, plus
from pypto_tmpl.passes.tiles.flattening import Flattening, flat_view
from pypto_tmpl.rewrite import build

_LOAD = "tile.load"
_STORE = "tile.store"
_TRANSPOSE_VIEW = "tile.transpose_view"
_PRODUCT, _SUM = "tile.batch_matmul", "tile.batch_matmul_acc"


def is_batched(call: ir.Call) -> bool:
    """Whether a call is a product of stacks of matrices."""
    return call.op.name in (_PRODUCT, _SUM)


@dataclass(frozen=True, slots=True)
class Loaded:
    """A factor that is loaded page by page: its load, and whether the pages are turned."""

    load: ir.Call
    is_turned: bool

    def rewritten(self, tensor: ir.Expr, offsets: ir.Expr) -> Loaded:
        """The same of a tensor that was rewritten."""
        return Loaded(build(self.load, args=[tensor, offsets, *self.load.args[2:]]), self.is_turned)


Factor = ir.Expr | Loaded


class Batches:
    """Which batched products a function has, and how their pages come about."""

    def __init__(self, function: ir.Function, backend: BackendFacts | None) -> None:
        facts = backend or facts_of(BackendType.Ascend910B)  # Mat is of one size on all backends
        self._capacity = facts.capacity(MemorySpace.Mat) or 0
        self._values: dict[int, tuple[ir.AssignStmt, ir.Call]] = {}
        self._uses: Counter[int] = Counter()
        self._sources: dict[int, Loaded] = {}
        self._dropped: set[int] = set()
        self._stores: dict[int, ir.Call] = {}
        self._owner = function
        products: list[tuple[ir.Stmt, ir.Call]] = []
        for stmt in statements(function.body):
            self._uses.update(map(id, own_reads(stmt)))
            value = stmt.value if isinstance(stmt, ir.AssignStmt) else None
            if isinstance(stmt, ir.AssignStmt) and isinstance(value, ir.Call):
                self._values[id(stmt.var)] = (stmt, value)
                if is_batched(value):
                    products.append((stmt, value))
        if products:
            for body in (stmt for stmt in statements(function.body) if isinstance(stmt, ir.SeqStmts)):
                self._note_stores(body)
            self._note_loads([call for _, call in products])
        if self._sources:
            self._refuse_late_loads(products)

    def is_dropped(self, stmt: ir.Stmt) -> bool:
        """Whether nothing reads what a statement makes, once pages are made where they are needed."""
        return id(stmt) in self._dropped

    def product_stored_by(self, stmt: ir.Stmt) -> ir.Call | None:
        """The product that a statement stores, which stands right before it and goes nowhere else."""
        return self._stores.get(id(stmt))

    def source_of(self, operand: ir.Expr) -> Loaded | None:
        """How an operand is loaded page by page; None for one that is there as a whole."""
        return self._sources.get(id(operand))

    def _note_stores(self, body: ir.SeqStmts) -> None:
        found = direct(body)
        for first, second in zip(found, found[1:], strict=False):
            value = second.value if isinstance(second, ir.AssignStmt) else getattr(second, "expr", None)
            if not isinstance(value, ir.Call) or value.op.name != _STORE:
                continue
            known = self._values.get(id(value.args[0]))
            if known is None or known[0] is not first or known[1].op.name != _PRODUCT:
                continue
            if self._uses[id(known[0].var)] == 1 and _gives_its_dtype(known[1]):
                self._stores[id(second)] = known[1]
                self._dropped.add(id(first))

    def _note_loads(self, products: Sequence[ir.Call]) -> None:
        paged: Counter[int] = Counter()
        for call in products:
            factors = call.args[-2:]
            fits = sum(map(_bytes_of, factors)) <= self._capacity
            for factor in factors:
                source = self._load_of(factor)
                if source is not None and not (fits and _is_whole(source.load)):
                    self._sources[id(factor)] = source
                    paged[id(factor)] += 1
        for operand, count in list(paged.items()):
            if self._uses[operand] > count:
                continue
            stmt, value = self._values[operand]
            self._dropped.add(id(stmt))
            under = value.args[0]
            if value.op.name == _TRANSPOSE_VIEW and self._uses[id(under)] == 1:
                self._dropped.add(id(self._values[id(under)][0]))

    def _refuse_late_loads(self, products: Sequence[tuple[ir.Stmt, ir.Call]]) -> None:
        """Pages are loaded where they are multiplied: the tensor must not have been written by then."""
        order = {id(stmt): place for place, stmt in enumerate(statements(self._owner.body))}
        stored_by = {id(call): store for store, call in self._stores.items()}
        loops = _loops_of(self._owner.body)
        origins = Origins(self._owner.body, Callees())
        writes = [
            (order[id(stmt)], stmt, origins.of(target))
            for stmt in statements(self._owner.body)
            for target in written_tensors(stmt)
        ]
        places = {id(value): (order[id(stmt)], stmt) for stmt, value in self._values.values()}
        for stmt, call in products:
            last = order[stored_by.get(id(call), id(stmt))]
            for source in (self._sources.get(id(factor)) for factor in call.args):
                if source is None or not isinstance(source.load.args[0], ir.Var):
                    continue
                first, load = places[id(source.load)]
                origin = origins.of(source.load.args[0])
                is_elsewhere = loops[id(load)] != loops[id(stmt)]
                for place, write, target in writes:
                    if target is origin and first < place and (place <= last or is_elsewhere):
                        what = f"{origin.name_hint!r} is written after it was loaded for this product"
                        what = f"{call.op.name}: {what}, which loads it page by page"
                        raise PassError(what, self._owner, write, origin)

    def _load_of(self, factor: ir.Expr) -> Loaded | None:
        known = self._values.get(id(factor))
        is_turned = known is not None and known[1].op.name == _TRANSPOSE_VIEW
        if known is not None and is_turned:
            known = self._values.get(id(known[1].args[0]))
        return Loaded(known[1], is_turned) if known is not None and known[1].op.name == _LOAD else None

    def stored_pages(
        self, flattening: Flattening, factors: Sequence[Factor], store: ir.Call, span: ir.Span
    ) -> ir.Expr:
        """Store each page of a product by statements at ``span``; gives the tensor after the last one."""
        target = store.args[2]
        offsets = store.args[1]
        assert isinstance(offsets, ir.MakeTuple)
        pages = _Pages(flattening, factors)
        depth = len(pages.batch)
        missing = len(offsets.elements) - depth - len(pages.matrix)
        for number, place in enumerate(pages.places()):
            value = flattening.let(f"matmul_{number}", pages.product(number, place))
            leading = [*([0] * missing), *place]
            where = [plus(offset, by) for offset, by in zip(offsets.elements, leading, strict=False)]
            behind = offsets.elements[len(leading) :]
            part = [*([1] * len(leading)), *pages.matrix]
            window = ir.MakeTuple([*where, *behind], store.span)
            operands = (value, window, target, part)
            call = flattening.emit("tile.store", *operands, span=store.span, **store.kwargs)
            stored = ir.Var(f"{flattening.hint}_{number}", call.type, target.span)
            flattening.made.append(ir.AssignStmt(stored, call, span))
            target = stored
        return target

    def whole_product(self, flattening: Flattening, factors: Sequence[Factor]) -> ir.Expr:
        """All pages of a product as rows of one matrix."""
        if flattening.before.op.name == _SUM:
            return _sum(flattening, factors)
        pages = _Pages(flattening, factors)
        places = list(pages.places())
        type_ = flattening.before.type
        assert isinstance(type_, ir.TileType)
        if len(places) == 1 and _gives_its_dtype(flattening.before):
            return pages.product(0, places[0])
        rows, columns = pages.matrix
        result: ir.Expr = flattening.create(flattening.hint, [len(places) * rows, columns], type_.dtype)
        for number, place in enumerate(places):
            value = flattening.let(f"matmul_{number}", pages.product(number, place))
            move = flattening.emit("tile.move", value, target_memory=MemorySpace.Vec)
            value = flattening.let(f"matmul_vec_{number}", move)
            if not _gives_its_dtype(flattening.before):
                cast = flattening.emit("tile.cast", value, target_type=type_.dtype, mode="round")
                value = flattening.let(f"matmul_cast_{number}", cast)
            call = flattening.emit("tile.assemble", result, value, [number * rows, 0])
            result = flattening.let(flattening.hint, call) if number < len(places) - 1 else call
        return result


def _loops_of(body: ir.Stmt) -> dict[int, int]:
    """For each statement (id) the innermost loop around it (id, 0 outside of all)."""
    found: dict[int, int] = {}
    todo = [(body, 0)]
    while todo:
        stmt, loop = todo.pop()
        found[id(stmt)] = loop
        inside = id(stmt) if isinstance(stmt, ir.ForStmt | ir.WhileStmt) else loop
        todo += [(part, inside) for part in parts(stmt)]
    return found


def _gives_its_dtype(call: ir.Call) -> bool:
    """Whether a product is of the dtype in which the matrix unit adds up."""
    type_, factor = call.type, call.args[-1].type
    assert isinstance(type_, ir.TileType) and isinstance(factor, ir.TileType)
    return type_.dtype == (ir.DataType.FP32 if factor.dtype.is_float() else ir.DataType.INT32)


def _bytes_of(factor: ir.Expr) -> int:
    assert isinstance(factor.type, ir.TileType)
    return prod(constants(factor.type.shape) or [0]) * factor.type.dtype.get_bit() // 8


def _is_whole(load: ir.Call) -> bool:
    """Whether a load reads rows that follow each other in the tensor."""
    tensor, shapes = load.args[0].type, load.args[2]
    assert isinstance(tensor, ir.TensorType) and isinstance(shapes, ir.MakeTuple)
    return is_band(shapes.elements, tensor.shape)


def _sum(flattening: Flattening, factors: Sequence[Factor]) -> ir.Expr:
    """A product that is added to an accumulator, page by page in place."""
    accumulator, *others = factors
    assert isinstance(accumulator, ir.Expr)
    pages = _Pages(flattening, others)
    places = list(pages.places())
    if len(places) == 1:
        return pages.product(0, places[0], accumulator)
    base = accumulator.name_hint if isinstance(accumulator, ir.Var) else flattening.hint
    result: ir.Expr = accumulator
    rows, _ = pages.matrix
    for number, place in enumerate(places):
        window = flattening.emit("tile.slice", result, pages.matrix, [number * rows, 0])
        page = flattening.let(f"acc_page_{number}", window)
        total = flattening.let(f"matmul_acc_{number}", pages.product(number, place, page))
        call = flattening.emit("tile.assemble", result, total, [number * rows, 0])
        result = flattening.let(base, call) if number < len(places) - 1 else call
    return result


class _Pages:
    """The pages of a product: which page of each factor goes into which."""

    def __init__(self, flattening: Flattening, factors: Sequence[Factor]) -> None:
        self._flattening = flattening
        self._factors = factors
        before = flattening.before
        *self.batch, rows, columns = flattening.box(before)
        self.matrix = [rows, columns]
        self._boxes = [flattening.box(factor) for factor in before.args[-2:]]

    def places(self) -> Iterator[tuple[int, ...]]:
        """The pages of the product, in order."""
        return all_places(*map(range, self.batch))

    def product(self, number: int, place: Sequence[int], accumulator: ir.Expr | None = None) -> ir.Call:
        """The product of two pages, or the sum of it and what there is."""
        pages = [
            self._page(name, factor, box, number, place)
            for name, factor, box in zip(("lhs", "rhs"), self._factors, self._boxes, strict=True)
        ]
        if accumulator is not None:
            return self._flattening.emit("tile.matmul_acc", accumulator, *pages)
        return self._flattening.emit("tile.matmul", *pages)

    def _page(
        self, name: str, factor: Factor, box: Sequence[int], number: int, place: Sequence[int]
    ) -> ir.Expr:
        batch = box[:-2]
        own = [
            0 if size == 1 else at for size, at in zip(batch, place[len(place) - len(batch) :], strict=True)
        ]
        if isinstance(factor, Loaded):
            return self._loaded(name, factor, number, own)
        index = 0
        for size, at in zip(batch, own, strict=True):
            index = index * size + at
        rows, columns = box[-2:]
        flat = self._flattening
        assert isinstance(factor.type, ir.TileType)
        is_turned = constants(factor.type.shape) == [rows, prod(batch) * columns] and prod(batch) > 1
        offset = [0, index * columns] if is_turned else [index * rows, 0]
        return flat.let(f"{name}_slice_{index}", flat.emit("tile.slice", factor, [rows, columns], offset))

    def _loaded(self, name: str, factor: Loaded, number: int, own: Sequence[int]) -> ir.Expr:
        flat, load = self._flattening, factor.load
        tensor, offsets, shapes, valid = load.args
        assert isinstance(tensor.type, ir.TensorType) and isinstance(offsets, ir.MakeTuple)
        assert isinstance(shapes, ir.MakeTuple) and isinstance(valid, ir.MakeTuple)
        view = flat.let(f"{name}_pbview2d_{number}", flat_view(flat, tensor))
        if not same_extents(shapes.elements[:-2], valid.elements[:-2]):
            raise flat.error("not all pages of what it loads are valid")
        leading = [plus(offset, by) for offset, by in zip(offsets.elements, own, strict=False)]
        where = flat_offsets([*leading, *offsets.elements[len(own) :]], tensor.type.shape)
        page, region = shapes.elements[-2:], valid.elements[-2:]
        tuples = [ir.MakeTuple(extents, load.span) for extents in (where, page, region)]
        call = flat.emit("tile.load", view, *tuples, **load.kwargs)
        value = flat.let(f"{name}_pbload_{number}", build(call, attrs=load.attrs))
        if not factor.is_turned:
            return value
        return flat.let(f"{name}_pbview_{number}", flat.emit("tile.transpose_view", value))
