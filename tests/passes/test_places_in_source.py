"""Where in the source stands what passes add: source places go into the texts of a device build.

The columns are those of recorded programs of PyPTO with the same statements.
"""

import pytest
from passes.kernels import HEAD

import pypto_tmpl.language as pl
from pypto_tmpl import backend, ir, passes
from pypto_tmpl.backend import BackendType
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.passes.settings import MemoryPlanner
from pypto_tmpl.passes.strategies import OptimizationStrategy, pass_names

FIRST = HEAD.count("\n") + 1
"""The line on which a program begins behind its head."""


@pytest.fixture(autouse=True, params=list(BackendType), ids=lambda kind: kind.name)
def on_backend(request: pytest.FixtureRequest):
    backend.reset_for_testing()
    backend.set_backend_type(request.param)
    yield
    backend.reset_for_testing()


def through(pass_name: str, node: ir.Program) -> ir.Program:
    """The program after all passes up to one."""
    names = pass_names(OptimizationStrategy.Default, MemoryPlanner.PYPTO)
    for name in names[: names.index(pass_name) + 1]:
        node = passes.make_pass(name)(node)
    return node


def calls(node: ir.Program, op: str) -> list[tuple[str, ir.Stmt, ir.Call]]:
    """The calls of an op, each with the function that it is in and its statement."""
    found = []
    for function in node.functions.values():
        for stmt in statements(function.body):
            value = stmt.value if isinstance(stmt, ir.AssignStmt) else getattr(stmt, "expr", None)
            if isinstance(value, ir.Call) and value.op.name == op:
                found.append((function.name, stmt, value))
    return found


def line_of(text: str, part: str) -> int:
    return FIRST + next(number for number, line in enumerate(text.splitlines()) if part in line)


def place(span: ir.Span) -> tuple[int, int]:
    return span.begin_line, span.begin_column


CASTS = """
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[16, 64], pl.INT32], out: pl.Out[pl.Tensor[[16, 64], pl.INT8]]):
        t = pl.load(x, [0, 0], [16, 64])
        narrow = pl.cast(t, target_type=pl.INT8, mode="rint")
        out = pl.store(narrow, [0, 0], out)
        return out
"""


def test_the_casts_of_one_stand_where_its_statement_does() -> None:
    node = through("LegalizeTileCast", pl.parse(HEAD + CASTS))
    line = line_of(CASTS, "narrow =")
    found = [(place(stmt.span), place(call.span)) for _, stmt, call in calls(node, "tile.cast")]
    assert len(found) > 1 and set(found) == {((line, 9), (line, 9))}


CARRIED_WINDOW = """
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 8], pl.FP32]]):
        t = pl.load(x, [0, 0], [16, 64])
        start = pl.tile.slice(t, [16, 8], [0, 2])
        for i, (a,) in pl.range(3, init_values=(start,)):
            nxt = pl.add(a, 1.0)
            last = pl.yield_(nxt)
        out = pl.store(last, [0, 0], out)
        return out
"""


def test_the_copy_of_a_window_that_a_loop_starts_with_stands_where_the_loop_does() -> None:
    node = through("CanonicalizeTileSlice", pl.parse(HEAD + CARRIED_WINDOW))
    ((_, stmt, call),) = calls(node, "tile.extract")
    assert place(stmt.span) == place(call.span) == (line_of(CARRIED_WINDOW, "for i,"), 9)


STORED_PARTS = """
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[32, 64], pl.FP32], out: pl.Out[pl.Tensor[[32, 64], pl.FP32]]):
        blank = pl.tile.create([32, 64], dtype=pl.FP32)
        for r, (sheet,) in pl.range(0, 32, 8, init_values=(blank,)):
            part = pl.load(x, [24 - r, 0], [8, 64])
            more = pl.tile.assemble(sheet, part, [r, 0])
            done = pl.yield_(more)
        out = pl.store(done, [0, 0], out)
        return out
"""


def test_a_part_that_is_stored_at_once_keeps_the_place_of_its_call() -> None:
    node = through("OptimizeOrchTensors", pl.parse(HEAD + STORED_PARTS))
    ((_, stmt, call),) = calls(node, "tile.store")
    line = line_of(STORED_PARTS, "more =")
    assert (place(stmt.span), place(call.span)) == ((line, 13), (line, 20))


READ_BACK = """
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, a: pl.Tensor[[32, 64], pl.FP32], b: pl.Tensor[[64, 64], pl.FP32],
               scratch: pl.Out[pl.Tensor[[32, 64], pl.FP32]], out: pl.Out[pl.Tensor[[32, 1], pl.FP32]]):
        ta = pl.load(a, [0, 0], [32, 64], target_memory=pl.Mem.Mat)
        tb = pl.load(b, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
        c = pl.matmul(ta, tb)
        scratch = pl.store(c, [0, 0], scratch)
        for r, (o,) in pl.range(0, 32, 8, init_values=(out,)):
            t = pl.load(scratch, [r, 0], [8, 64])
            tmp = pl.tile.create([8, 64], dtype=pl.FP32)
            s = pl.row_sum(t, tmp)
            o1 = pl.store(s, [r, 0], o)
            res = pl.yield_(o1)
        return scratch, res
"""


def test_what_a_core_waits_with_stands_where_it_reads() -> None:
    node = through("ExpandMixedKernel", pl.parse(HEAD + READ_BACK))
    ((function, stmt, _),) = calls(node, "tile.tpop_from_aic")
    assert function == "kernel_aiv"
    assert place(stmt.span) == (line_of(READ_BACK, "for r,"), 9)
    ((_, stmt, _),) = calls(node, "tile.tpush_to_aiv")
    assert place(stmt.span) == (line_of(READ_BACK, "scratch = pl.store"), 9)


PAGES = """
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, a: pl.Tensor[[2, 16, 64], pl.FP32], b: pl.Tensor[[64, 64], pl.FP32],
               out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        page = {}
        out = pl.assemble(out, pl.matmul({}, b, out_dtype=pl.FP32), [0, 0])
        return out
"""


def test_a_page_is_called_after_what_is_made_of_it() -> None:
    """The first for products, the second for vectors."""
    node = through("ConvertTensorToTileOps", pl.parse(HEAD + PAGES.format("a[0]", "page")))
    assert [stmt.var.name_hint for _, stmt, _ in calls(node, "tile.load")][:1] == ["page__tile_full_rank"]
    node = through("ConvertTensorToTileOps", pl.parse(HEAD + PAGES.format("pl.mul(a[0], 0.5)", "page")))
    assert "slice_load" in [stmt.var.name_hint for _, stmt, _ in calls(node, "tile.load")]
