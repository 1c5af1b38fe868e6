# ruff: noqa: E501 (annotations stand on one line, as in dumps)
"""Annotations: types, views, memory references and the dimensions they name."""

import pytest

import pypto_tmpl.language as pl
from pypto_tmpl import ir

S = ir.Span.unknown()
D, Mem, L, T = ir.DataType, ir.MemorySpace, ir.TensorLayout, ir.TileLayout


def read(annotation: str, head: str = "", params: str = "n: pl.Scalar[pl.INDEX], ") -> ir.Function:
    """A function whose last parameter has that type."""
    function = pl.parse(
        f"import pypto.language as pl\n{head}\n@pl.function\ndef f({params}x: {annotation}):\n    return x\n"
    )
    assert isinstance(function, ir.Function)
    return function


def type_of(annotation: str, head: str = "") -> ir.Type:
    return read(annotation, head).params[-1].type


def memref(name: str = "m", offset: int | ir.Expr = 0, size: int = 64, **options: object) -> ir.MemRef:
    return ir.MemRef(name, offset, size, **options)


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("pl.Scalar[pl.BF16]", ir.ScalarType(D.BF16)),
        ("pl.TaskId", ir.ScalarType(D.TASK_ID)),
        ("pl.Tensor[[4, 8], pl.FP32]", ir.TensorType([4, 8], D.FP32)),
        ("pl.Tensor[[], pl.FP32]", ir.TensorType([], D.FP32)),
        ("pl.Tensor((64,), pl.FP32)", ir.TensorType([64], D.FP32)),
        ("pl.Tensor[SHAPE, DT]", ir.TensorType([4, 8], D.INT8)),
        ("pl.Tensor[[A * 2, 1], pl.FP32]", ir.TensorType([128, 1], D.FP32)),
        ("pl.Tensor[[4, 8], pl.FP32, pl.NZ]", ir.TensorType([4, 8], D.FP32, None, ir.TensorView([], L.NZ))),
        ("pl.Tensor[[4, 8], pl.FP32, pl.TensorLayout.MX_A_ZZ]", ir.TensorType([4, 8], D.FP32, None, ir.TensorView([], L.MX_A_ZZ))),
        ("pl.Tensor[[4, 8], pl.FP32, pl.TensorView()]", ir.TensorType([4, 8], D.FP32)),
        ("pl.Tensor[[4, 8], pl.FP32, pl.TensorView(valid_shape=[2, 8], stride=[1, 4], layout=pl.TensorLayout.DN, pad=pl.PadValue.zero)]", ir.TensorType([4, 8], D.FP32, None, ir.TensorView([1, 4], L.DN, [2, 8], ir.PadValue.zero))),
        ('pld.DistributedTensor[[4], pl.FP32, "window_buffer=w"]', ir.DistributedTensorType([4], D.FP32)),
        ("pld.DistributedTensor[[4], pl.FP32, pl.NZ]", ir.DistributedTensorType([4], D.FP32, None, ir.TensorView([], L.NZ))),
        ("pl.Tile[[4, 8], pl.FP32]", ir.TileType([4, 8], D.FP32)),
        ("pl.Tile[[4, 8], pl.FP32, pl.MemorySpace.Acc]", ir.TileType([4, 8], D.FP32, None, None, Mem.Acc)),
        ("pl.Tile[[4, 8], pl.FP32, SPACE]", ir.TileType([4, 8], D.FP32, None, None, Mem.Left)),
        ("pl.Tile[[4, 8], pl.FP32, pl.TileView(), pl.Mem.Vec]", ir.TileType([4, 8], D.FP32, None, None, Mem.Vec)),
        ("pl.Tile[[4, 8], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[0, 0])]", ir.TileType([4, 8], D.FP32, None, ir.TileView([0, 0]), Mem.Vec)),
        ("pl.Tile[[4, 8], pl.FP32, pl.Mem.Acc, pl.TileView(valid_shape=[2, 8])]", ir.TileType([4, 8], D.FP32, None, ir.TileView([2, 8], [], None, T.col_major, T.row_major, 1024), Mem.Acc)),
        ("pl.Tile[[4, 8], pl.FP32, pl.Mem.Vec, pl.TileView(stride=[8, 1], start_offset=16, blayout=pl.TileLayout.col_major, slayout=pl.TileLayout.row_major, fractal=32, pad=pl.PadValue.max, compact=pl.CompactMode.normal)]", ir.TileType([4, 8], D.FP32, None, ir.TileView([], [8, 1], 16, T.col_major, T.row_major, 32, ir.PadValue.max, ir.CompactMode.normal), Mem.Vec)),
        ("pl.Tile[[4, 8], pl.FP32, pl.Mem.Vec, pl.TileView(start_offset=None)]", ir.TileType([4, 8], D.FP32, None, None, Mem.Vec)),
        ("pl.Array[4, pl.TASK_ID]", ir.ArrayType(D.TASK_ID, 4)),
        ("pl.Tuple[pl.Scalar[pl.INT8], pl.Tensor[[1], pl.FP16]]", ir.TupleType([ir.ScalarType(D.INT8), ir.TensorType([1], D.FP16)])),
        ("pl.Tuple[()]", ir.TupleType([])),
        ("pl.Ptr", ir.PtrType()),
        ("pl.PtrType", ir.PtrType()),
        ("pl.MemRefType", ir.MemRefType()),
        ("pl.UnknownType", ir.UnknownType()),
        ("pld.WindowBufferType", ir.WindowBufferType()),
        ("pld.CommCtx", ir.CommCtxType()),
        ("pl.PrefetchAsyncContext", ir.PrefetchAsyncContextType()),
        ("pl.AsyncEventType", ir.AsyncEventType()),
        ("pl.AsyncSession", ir.AsyncSessionType()),
    ],
)  # fmt: skip
def test_types(text: str, type_: ir.Type) -> None:
    head = "A = 64\nSHAPE = [4, 8]\nDT = pl.INT8\nSPACE = pl.Mem.Left"
    assert ir.structural_diff(type_of(text, head), type_) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('pl.MemRef("m", pl.const(16, pl.INT64), 64)', memref(offset=16)),
        ('pl.MemRef("m", 16, 64)', memref(offset=ir.ConstInt(16, D.INDEX, S))),
        ('pl.MemRef("m", 16, 64, pinned=True)', memref(offset=ir.ConstInt(16, D.INDEX, S), is_pinned=True)),
        ('pl.MemRef("m", 0, 64, slots=2)[1]', memref(offset=ir.ConstInt(0, D.INDEX, S), slots=2, slot=ir.ConstInt(1, D.INDEX, S))),
        ('pl.MemRef("m")', ir.MemRef("m")),
        ('pl.MemRef("m", slots=3)[2]', ir.MemRef("m", slots=3, slot=ir.ConstInt(2, D.INDEX, S))),
        ("m", ir.MemRef("m", slots=2)),
        ("m[1]", ir.MemRef("m", slots=2, slot=ir.ConstInt(1, D.INDEX, S))),
        ("pl.MemRef(16, 64, 3)", ir.MemRef("mem_3", ir.ConstInt(16, D.INDEX, S), 64)),
        ("pl.MemRef(pl.Mem.Vec, pl.const(16, pl.INT64), 64, 3)", ir.MemRef("mem_vec_3", 16, 64)),
    ],
)  # fmt: skip
def test_memory_references(text: str, expected: ir.MemRef) -> None:
    tile = type_of(f"pl.Tile[[4], pl.FP32, {text}, pl.Mem.Vec]", head="m = pl.MemRef(slots=2)")
    tensor = type_of(f"pl.Tensor[[4], pl.FP32, pl.NZ, {text}]", head="m = pl.MemRef(slots=2)")
    for type_ in (tile, tensor):
        found = type_.memref
        assert ir.structural_diff(found, expected, enable_auto_mapping=True) is None
        assert found.base_.name_hint == expected.base_.name_hint
    assert tensor.tensor_view is not None


def test_references_of_one_name_share_their_allocation() -> None:
    function = read(
        'pl.Tile[[4], pl.FP32, pl.MemRef("m", 64, 16), pl.Mem.Vec]',
        params='a: pl.Tile[[4], pl.FP32, pl.MemRef("m", 0, 16), pl.Mem.Vec], ',
    )
    first, second = (param.type.memref for param in function.params)
    assert ir.MemRef.same_allocation(first, second)


def test_a_reference_in_the_signature_is_of_the_allocation_in_the_body() -> None:
    function = pl.parse(
        """import pypto.language as pl
@pl.function
def f(a: pl.Tile[[4], pl.FP32, pl.MemRef("m", 0, 16), pl.Mem.Vec]):
    m: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 16)
    b: pl.Tile[[4], pl.FP32, pl.MemRef(m, 0, 16), pl.Mem.Vec] = pl.tile.exp(a)
    return b
"""
    )
    allocation, tile = function.body.stmts[:2]
    assert function.params[0].type.memref.base_ is allocation.var
    assert tile.var.type.memref.base_ is allocation.var
    assert isinstance(allocation.var.type, ir.PtrType)
    expected = ir.Call(
        ir.Op("tile.alloc"), [ir.ConstInt(1, D.INDEX, S), ir.ConstInt(16, D.INDEX, S)], ir.PtrType(), S
    )
    assert ir.structural_diff(allocation.value, expected) is None


def test_expressions_in_types_are_not_folded() -> None:
    function = read(
        "pl.Tile[[pl.const(32, pl.INDEX) + pl.const(32, pl.INDEX), 64], pl.FP32, pl.Mem.Vec, "
        "pl.TileView(valid_shape=[pl.max(pl.min(n - i * 8, 8), 0), pl.const(3, pl.INT32) // pl.const(2, pl.INT32)])]",
        params="n: pl.Scalar[pl.INDEX], i: pl.Scalar[pl.INDEX], ",
    )
    n, i, x = function.params

    def constant(value: int, dtype: ir.DataType = D.INDEX) -> ir.ConstInt:
        return ir.ConstInt(value, dtype, S)

    rest = ir.Sub(n, ir.Mul(i, constant(8), D.INDEX, S), D.INDEX, S)
    rows = ir.Max(ir.Min(rest, constant(8), D.INDEX, S), constant(0), D.INDEX, S)
    columns = ir.FloorDiv(constant(3, D.INT32), constant(2, D.INT32), D.INT32, S)
    shape = [ir.Add(constant(32), constant(32), D.INDEX, S), 64]
    expected = ir.TileType(shape, D.FP32, None, ir.TileView([rows, columns]), Mem.Vec)
    assert ir.structural_diff(x.type, expected) is None


DIMENSIONS = """import pypto.language as pl

M = pl.dynamic("M")
ROWS = pl.dynamic("M")

@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(x: pl.Tensor[[M, 64], pl.FP32], y: pl.Tensor[[ROWS, K], pl.FP32]) -> pl.Tensor[[M, 64], pl.FP32]:
        return x
    @pl.function
    def main(self, M: pl.Scalar[pl.INDEX], x: pl.Tensor[[M, 64], pl.FP32], y: pl.Tensor[[8, 64], pl.FP32], n: pl.Scalar[pl.INDEX]):
        z: pl.Tensor[[M + n, 64], pl.FP32] = pl.tensor.exp(x)
        return self.kernel(y, y)
"""


def test_dimensions_are_shared_by_the_functions_of_a_program() -> None:
    program = pl.parse(DIMENSIONS)
    kernel, main = program["kernel"], program["main"]
    x, y = kernel.params
    assert x.type.shape[0] is y.type.shape[0]
    assert kernel.return_types[0].shape[0] is x.type.shape[0]
    assert main.params[0] is x.type.shape[0] is main.params[1].type.shape[0]
    undeclared = y.type.shape[1]
    assert undeclared.name_hint == "K"
    assert undeclared.type == ir.ScalarType(D.INDEX)


def test_a_call_has_the_extents_of_its_arguments() -> None:
    call = pl.parse(DIMENSIONS)["main"].body.stmts[-1].value[0]
    assert call.type == ir.TensorType([8, 64], D.FP32)


def test_a_type_may_name_a_variable_whose_scope_has_ended_or_not_begun() -> None:
    function = pl.parse(
        """# pypto.program: P
@pl.function
def f(x: pl.Tensor[[later, 4], pl.FP32], n: pl.Scalar[pl.INDEX]):
    for i, (a,) in pl.range(4, init_values=(x,)):
        w: pl.Scalar[pl.INDEX] = n + i
        r: pl.Tensor[[w, 4], pl.FP32] = pl.yield_(a)
    y: pl.Tensor[[w, unbound], pl.FP32] = pl.tensor.exp(r)
    z: pl.Tensor[[unbound, gone__FREE_VAR], pl.FP32] = pl.tensor.exp(y)
    later: pl.Scalar[pl.INDEX] = n + 1
    return z
"""
    )
    loop, y, z, later, _ = function.body.stmts
    inner = loop.body.stmts[0].var
    assert loop.return_vars[0].type.shape[0] is inner
    assert y.var.type.shape[0] is inner
    assert function.params[0].type.shape[0] is later.var
    assert y.var.type.shape[1] is z.var.type.shape[0]
    assert z.var.type.shape[1].name_hint == "gone"
    assert ir.python_print(y.var.type, format=False) == "pl.Tensor[[w, unbound], pl.FP32]"


UNDECLARED = """@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(rows: pl.Scalar[pl.INDEX], x: pl.Tensor[[N, rows], pl.FP32], y: pl.Tensor[[later, 4], pl.FP32]):
        later: pl.Scalar[pl.INDEX] = N + rows
        return x
    @pl.function
    def main(self, z: pl.Tensor[[N, 64], pl.FP32], later: pl.Scalar[pl.INDEX]) -> pl.Tensor[[M, 64], pl.FP32]:
        for i in pl.range(0, N, 32):
            t: pl.Tensor[[N, M], pl.FP32] = pl.tensor.create([N, M], dtype=pl.FP32, layout=pl.TensorLayout.ND)
        return z
"""


@pytest.mark.parametrize("header", ["# pypto.program: P\n", ""])
def test_dimensions_that_nothing_declares_are_those_of_the_whole_program(header: str) -> None:
    program = pl.parse(header + UNDECLARED)
    kernel, main = program["kernel"], program["main"]
    rows, x, y = kernel.params
    symbol = main.params[0].type.shape[0]
    assert symbol.name_hint == "N"
    assert symbol is x.type.shape[0] is main.body.stmts[0].stop
    assert x.type.shape[1] is rows
    assert y.type.shape[0] is kernel.body.stmts[0].var is not main.params[1]
    assert main.body.stmts[0].body.value.args[0].elements[1] is main.return_types[0].shape[0]
    declared = 'M = pl.dynamic("M")\nN = pl.dynamic("N")\n'
    assert ir.structural_equal(program, pl.parse(header + declared + UNDECLARED), enable_auto_mapping=True)
    assert ir.structural_equal(program, pl.parse(ir.python_print(program)), enable_auto_mapping=True)


def test_the_text_of_one_function_names_its_dimensions_alone() -> None:
    main = pl.parse("# pypto.program: P\n" + UNDECLARED)["main"]
    assert ir.structural_equal(main, pl.parse(ir.python_print(main)), enable_auto_mapping=True)


def test_a_body_may_read_what_only_its_types_name_in_printed_text() -> None:
    body = "    y: pl.Tensor[[m, 4], pl.FP32] = pl.tensor.exp(x)\n    z: pl.Scalar[pl.INDEX] = m + 1\n    return y\n"
    text = "@pl.function\ndef f(x: pl.Tensor[[4, 4], pl.FP32]):\n" + body
    y, z, _ = pl.parse("# pypto.program: P\n" + text).body.stmts
    assert z.value.left is y.var.type.shape[0]


@pytest.mark.parametrize("direction", [("pl.Out[{}]", "Out"), ("pl.InOut[{}]", "InOut"), ("{}", "In")])
def test_directions(direction: tuple[str, str]) -> None:
    form, name = direction
    function = read(form.format("pl.Tensor[[4], pl.FP32]"))
    assert function.param_directions[-1] is ir.ParamDirection[name]
    assert function.params[-1].type == ir.TensorType([4], D.FP32)


@pytest.mark.parametrize(
    "dtype", [k for k, v in vars(D).items() if isinstance(v, D) and not k.startswith("DEFAULT")]
)
def test_every_dtype_has_its_name(dtype: str) -> None:
    assert type_of(f"pl.Scalar[pl.{dtype}]") == ir.ScalarType(getattr(D, dtype))


@pytest.mark.parametrize("space", list(Mem))
def test_every_memory_space_has_its_name(space: Mem) -> None:
    for owner in ("pl.Mem", "pl.MemorySpace", "Mem"):
        assert type_of(f"pl.Tile[[4, 2], pl.FP32, {owner}.{space.name}]").memory_space is space


@pytest.mark.parametrize("pad", list(ir.PadValue))
@pytest.mark.parametrize("layout", list(L))
def test_every_layout_and_pad_value_has_its_name(layout: L, pad: ir.PadValue) -> None:
    view = f"pl.TensorView(stride=[8, 1], layout=pl.TensorLayout.{layout.name}, pad=pl.PadValue.{pad.name})"
    found = type_of(f"pl.Tensor[[4, 8], pl.FP32, {view}]")
    assert found == ir.TensorType([4, 8], D.FP32, None, ir.TensorView([8, 1], layout, [], pad))


@pytest.mark.parametrize("blayout", list(T))
@pytest.mark.parametrize("slayout", list(T))
def test_every_tile_layout_has_its_name(blayout: T, slayout: T) -> None:
    view = (
        f"pl.TileView(blayout=pl.TileLayout.{blayout.name}, slayout=pl.TileLayout.{slayout.name}, fractal=32)"
    )
    found = type_of(f"pl.Tile[[4, 8], pl.FP32, {view}]")
    assert found == ir.TileType([4, 8], D.FP32, None, ir.TileView([], [], None, blayout, slayout, 32))
