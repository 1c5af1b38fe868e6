"""Types and views (spec: IR, section 5)."""

import re

import pytest

from pypto_tmpl import ir
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.scalar_types import MemRefType

SPAN = ir.Span.unknown()
FP32, FP4, INDEX = DataType.FP32, DataType.FP4, DataType.INDEX
ND, DN = ir.TensorLayout.ND, ir.TensorLayout.DN
NONE, ROW, COL = ir.TileLayout.none_box, ir.TileLayout.row_major, ir.TileLayout.col_major
MARKERS = [
    ir.UnknownType,
    ir.PtrType,
    ir.WindowBufferType,
    ir.CommCtxType,
    ir.PrefetchAsyncContextType,
    ir.AsyncEventType,
    ir.AsyncSessionType,
]


def const(value, dtype=INDEX):
    return ir.ConstInt(value, dtype, SPAN)


def var(name="n"):
    return ir.Var(name, ir.ScalarType(INDEX), SPAN)


def values(extents):
    return [extent.value for extent in extents]


def raises(kind, message):
    return pytest.raises(kind, match=f"^{re.escape(message)}$")


# classes


@pytest.mark.parametrize("cls", MARKERS, ids=lambda cls: cls.__name__)
def test_types_without_fields(cls):
    assert cls() == cls.get()
    assert hash(cls()) == hash(cls.get())
    assert sum(cls() == other() for other in MARKERS) == 1


def test_type_of_memrefs():
    assert ir.MemRef("m", 0, 8).type == MemRefType()


def test_scalar_type():
    assert ir.ScalarType(FP32).dtype == FP32
    assert ir.ScalarType(FP32) == ir.ScalarType(FP32)
    assert ir.ScalarType(FP32) != ir.ScalarType(DataType.FP16)
    with raises(TypeError, "ScalarType.dtype must be DataType, got int"):
        ir.ScalarType(52)


def test_tuple_type():
    parts = [ir.ScalarType(FP32), ir.UnknownType()]
    assert ir.TupleType(parts).types == tuple(parts)
    with raises(TypeError, "TupleType.types[1] must be Type, got int"):
        ir.TupleType([ir.UnknownType(), 3])


def test_tensor_type():
    memref, view = ir.MemRef("m", 0, 8), ir.TensorView([1], DN)
    type_ = ir.TensorType([8], FP32, memref, view)
    assert (type_.dtype, type_.memref, type_.tensor_view) == (FP32, memref, view)
    assert type_.memory_space is ir.MemorySpace.DDR
    bare = ir.TensorType([8], FP32)
    assert (bare.memref, bare.tensor_view) == (None, None)


def test_extents_given_as_integers_become_index_constants():
    n = var()
    shape = ir.TensorType([8, n], FP32).shape
    assert (shape[0].value, shape[0].dtype, shape[0].span) == (8, INDEX, SPAN)
    assert shape[1] is n
    for wrong in (True, 0.5, None):
        with raises(TypeError, f"TensorType.shape[0] must be int or Expr, got {type(wrong).__name__}"):
            ir.TensorType([wrong], FP32)


def test_extents_and_rank_are_not_checked():
    assert values(ir.TensorType([0, -1, 1, 1, 1, 1, 1], FP32).shape) == [0, -1, 1, 1, 1, 1, 1]
    assert ir.TileType([], FP32).shape == ()


def test_distributed_tensor_type():
    memref, view, window = ir.MemRef("m", 0, 8), ir.TensorView([1], DN), ir.WindowBuffer(var(), 8)
    with_memref = ir.DistributedTensorType([8], FP32, memref, view)
    assert (with_memref.memref, with_memref.tensor_view, with_memref.window_buffer) == (memref, view, None)
    with_window = ir.DistributedTensorType([8], FP32, window)
    assert (with_window.memref, with_window.tensor_view, with_window.window_buffer) == (None, None, window)
    assert ir.DistributedTensorType([8], FP32) != ir.TensorType([8], FP32)


def test_tile_type():
    memref, view = ir.MemRef("m", 0, 8), ir.TileView(fractal=32)
    type_ = ir.TileType([8, 8], FP32, memref, view, ir.MemorySpace.Vec)
    assert (type_.memref, type_.tile_view, type_.memory_space) == (memref, view, ir.MemorySpace.Vec)
    bare = ir.TileType([8, 8], FP32)
    assert (bare.memref, bare.tile_view, bare.memory_space) == (None, None, None)


def test_tile_type_with_memref_needs_its_memory_space():
    with raises(ValueError, "a TileType with a memref needs its memory_space as well"):
        ir.TileType([8], FP32, ir.MemRef("mem_vec_0", 0, 8))


def test_shared_memrefs():
    memref = ir.MemRef("m", 0, 8)
    first, second = ir.TensorType([1], FP32, memref), ir.TensorType([2], FP32, memref)
    assert first.shares_memref_with(second)
    assert not first.shares_memref_with(ir.TensorType([1], FP32, ir.MemRef("m", 0, 8)))
    assert not ir.TensorType([1], FP32).shares_memref_with(ir.TensorType([1], FP32))


def test_memrefs_do_not_count_for_equality():
    assert ir.TensorType([1], FP32, ir.MemRef("m", 0, 8)) == ir.TensorType([1], FP32)


def test_array_type():
    type_ = ir.ArrayType(DataType.INT32, 4)
    assert (type_.dtype, type_.extent.value, type_.extent.dtype) == (DataType.INT32, 4, INDEX)
    assert type_.shape == (type_.extent,)
    assert type_.memory_space is ir.MemorySpace.ScalarLocal
    extent = const(4, DataType.INT64)
    assert ir.ArrayType(DataType.INT32, extent).extent is extent


@pytest.mark.parametrize("name", ["BOOL", "TASK_ID", "INT4", "INDEX", "UINT64"])
def test_element_types_of_arrays(name):
    assert ir.ArrayType(getattr(DataType, name), 1).dtype.name == name


@pytest.mark.parametrize("name", ["FP32", "BF16", "FP4"])
def test_arrays_hold_no_floats(name):
    with raises(ValueError, f"an ArrayType holds integers, BOOL or TASK_ID, not {name}"):
        ir.ArrayType(getattr(DataType, name), 4)


@pytest.mark.parametrize("extent", [0, -1, var()], ids=["zero", "negative", "variable"])
def test_extents_of_arrays_are_positive_constants(extent):
    with raises(ValueError, "the extent of an ArrayType is a positive constant"):
        ir.ArrayType(DataType.INT32, extent)


def test_arrays_have_an_extent():
    with raises(TypeError, "ArrayType.extent must be int or Expr, got NoneType"):
        ir.ArrayType(DataType.INT32, None)


@pytest.mark.parametrize("cls", [ir.TensorType, ir.DistributedTensorType, ir.TileType])
def test_packed_fp4_has_a_positive_even_last_extent(cls):
    with raises(ValueError, f"{cls.__name__}.shape: packed FP4 needs at least one axis"):
        cls([], FP4)
    for last in (0, -2, 3):
        message = f"{cls.__name__}.shape: packed FP4 needs a positive even last extent, got {last}"
        with raises(ValueError, message):
            cls([2, last], FP4)
    assert values(cls([3, 2], FP4).shape) == [3, 2]
    assert len(cls([var()], FP4).shape) == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ir.TensorType([1], 52), "TensorType.dtype must be DataType, got int"),
        (lambda: ir.TensorType([1], FP32, var()), "TensorType.memref must be MemRef or None, got Var"),
        (
            lambda: ir.TensorType([1], FP32, None, ir.TileView()),
            "TensorType.tensor_view must be TensorView or None, got TileView",
        ),
        (
            lambda: ir.TileType([1], FP32, None, ir.TensorView()),
            "TileType.tile_view must be TileView or None, got TensorView",
        ),
        (
            lambda: ir.TileType([1], FP32, memory_space=1),
            "TileType.memory_space must be MemorySpace or None, got int",
        ),
        (
            lambda: ir.DistributedTensorType([1], FP32, window_buffer=var()),
            "DistributedTensorType.window_buffer must be WindowBuffer or None, got Var",
        ),
    ],
)
def test_kinds_of_arguments(make, message):
    with raises(TypeError, message):
        make()


# TensorView


def test_tensor_view():
    view = ir.TensorView()
    assert (view.stride, view.layout, view.valid_shape, view.pad) == ((), ND, (), ir.PadValue.null)
    view = ir.TensorView([8, var()], DN, [4, 4], ir.PadValue.zero)
    assert (view.stride[0].value, view.layout, values(view.valid_shape)) == (8, DN, [4, 4])
    assert view.pad is ir.PadValue.zero


@pytest.mark.parametrize("given", [{"stride": [1]}, {"valid_shape": [1]}, {"pad": ir.PadValue.min}])
def test_tensor_views_need_their_layout(given):
    with raises(ValueError, "a TensorView with stride, valid_shape or pad needs its layout as well"):
        ir.TensorView(**given)


def tensor_view(*view):
    return ir.TensorType([8, 4], FP32, None, ir.TensorView(*view)).tensor_view


def test_tensor_views_that_say_nothing_vanish():
    assert tensor_view() is None
    assert tensor_view([], ND, [8, 4]) is None


@pytest.mark.parametrize(
    ("view", "kept"),
    [
        (([], DN, [8, 4]), ([], DN, [], ir.PadValue.null)),
        (([4, 1], ND, [8, 4]), ([4, 1], ND, [], ir.PadValue.null)),
        (([], ND, [8, 4], ir.PadValue.zero), ([], ND, [], ir.PadValue.zero)),
        (([], ND, [8, 2]), ([], ND, [8, 2], ir.PadValue.null)),
        (([], ND, [8]), ([], ND, [8], ir.PadValue.null)),
    ],
)
def test_redundant_valid_shapes_of_tensors_are_emptied(view, kept):
    found = tensor_view(*view)
    stride, layout, valid, pad = kept
    assert (values(found.stride), found.layout, values(found.valid_shape), found.pad) == (
        stride,
        layout,
        valid,
        pad,
    )


def test_symbolic_valid_shapes_are_compared_by_structure():
    n = var()

    def half():
        return ir.FloorDiv(n, const(2), INDEX, SPAN)

    view = ir.TensorView([], DN, [half()])
    assert ir.TensorType([half()], FP32, None, view).tensor_view.valid_shape == ()
    assert len(ir.TensorType([n], FP32, None, view).tensor_view.valid_shape) == 1


# TileView


def test_tile_view_defaults():
    view = ir.TileView()
    assert (view.valid_shape, view.stride, view.start_offset) == ((), (), None)
    assert (view.blayout, view.slayout, view.fractal) == (ROW, NONE, 512)
    assert (view.pad, view.compact) == (ir.PadValue.null, ir.CompactMode.null)


def test_tile_view_argument_order():
    view = ir.TileView([1], [2], 3, COL, ROW, 1024, ir.PadValue.max, ir.CompactMode.normal)
    assert (values(view.valid_shape), values(view.stride), view.start_offset.value) == ([1], [2], 3)
    assert (view.blayout, view.slayout, view.fractal) == (COL, ROW, 1024)
    assert (view.pad, view.compact) == (ir.PadValue.max, ir.CompactMode.normal)


def test_tile_views_compare_by_value():
    assert ir.TileView([1]) == ir.TileView([1])
    assert hash(ir.TileView([1])) == hash(ir.TileView([1]))
    assert ir.TileView([1]) != ir.TileView([2])
    assert ir.TileView() != ir.TensorView()


def test_kinds_of_tile_view_arguments():
    with raises(TypeError, "TileView.blayout must be TileLayout, got TensorLayout"):
        ir.TileView(blayout=ND)
    with raises(TypeError, "TileView.fractal must be int, got str"):
        ir.TileView(fractal="512")


@pytest.mark.parametrize("value", [-1, 2**64])
def test_fractals_are_unsigned_64_bit_integers(value):
    with raises(ValueError, f"the fractal of a TileView is an unsigned 64-bit integer, got {value}"):
        ir.TileView(fractal=value)


# the implicit view of (shape, memory space)

M = ir.MemorySpace
PLAIN = [None, M.DDR, M.Vec, M.Bias, M.ScalarLocal]
IMPLICIT = [
    *[(space, [16, 32], (ROW, NONE, 512)) for space in PLAIN],
    *[(space, [16, 1], (COL, NONE, 512)) for space in PLAIN],
    (M.Vec, [1, 1], (ROW, NONE, 512)),
    (M.Vec, [1, 16], (ROW, NONE, 512)),
    (M.Vec, [16], (ROW, NONE, 512)),
    (M.Vec, [2, 16, 1], (ROW, NONE, 512)),
    (M.Vec, [var(), 1], (ROW, NONE, 512)),
    (M.Mat, [16, 32], (COL, ROW, 512)),
    (M.Mat, [16, 1], (COL, ROW, 512)),
    (M.Left, [16, 32], (COL, ROW, 512)),
    (M.Right, [16, 32], (ROW, COL, 512)),
    (M.Right, [16, 1], (COL, COL, 512)),
    (M.Acc, [16, 32], (COL, ROW, 1024)),
    (M.LeftScale, [16, 2], (ROW, ROW, 32)),
    (M.RightScale, [2, 16], (COL, COL, 32)),
]


@pytest.mark.parametrize(("space", "shape", "layout"), IMPLICIT)
def test_implicit_tile_view(space, shape, layout):
    type_ = ir.TileType(shape, FP32, memory_space=space)
    view = type_.get_effective_tile_view()
    assert (view.blayout, view.slayout, view.fractal) == layout
    assert view.valid_shape == type_.shape
    assert (view.stride, view.start_offset) == ((), None)


@pytest.mark.parametrize(("space", "shape", "layout"), IMPLICIT)
def test_implicit_tile_views_vanish(space, shape, layout):
    blayout, slayout, fractal = layout
    for valid in ([], shape):
        view = ir.TileView(valid, blayout=blayout, slayout=slayout, fractal=fractal)
        assert ir.TileType(shape, FP32, None, view, space).tile_view is None


@pytest.mark.parametrize(
    "changed",
    [
        {"valid_shape": [16, 16]},
        {"stride": [32, 1]},
        {"start_offset": 0},
        {"blayout": COL},
        {"slayout": ROW},
        {"fractal": 1024},
        {"pad": ir.PadValue.zero},
        {"compact": ir.CompactMode.normal},
    ],
)
def test_other_tile_views_are_kept(changed):
    view = ir.TileView(**changed)
    assert ir.TileType([16, 32], FP32, None, view, M.Vec).tile_view == view


def test_defaults_are_not_the_implicit_view_of_an_accumulator():
    view = ir.TileView()
    assert ir.TileType([16, 32], FP32, None, view, M.Acc).tile_view == view


def test_redundant_valid_shapes_of_tiles_are_emptied():
    view = ir.TileView([16, 32], pad=ir.PadValue.zero)
    type_ = ir.TileType([16, 32], FP32, None, view, M.Vec)
    assert type_.tile_view == ir.TileView(pad=ir.PadValue.zero)
    assert type_.get_effective_tile_view() == view


def test_effective_view_keeps_a_smaller_valid_shape():
    view = ir.TileView([4, 4])
    assert ir.TileType([16, 32], FP32, None, view, M.Vec).get_effective_tile_view() == view
