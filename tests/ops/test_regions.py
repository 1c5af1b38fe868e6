"""A store after an op, or after a chain of them, writes the region of the result's type and nothing else."""

import random

import pytest
import torch
from codegen.builders import U, assign, function, load, op, ret, script, store, tensor, tile
from ops.sampled import DTYPES, TABLE, parse

from pypto_tmpl import ir
from pypto_tmpl.ir import DataType
from pypto_tmpl.ops.typing import infer_type

SHAPE = [8, 32]
FAMILIES = {"arg_reduce", "bitwise", "broadcast", "broadcast_columns", "cast", "compare", "division"}
FAMILIES |= {"elementwise", "partial", "reduce", "unary"}
MASK_FIRST = ("tile.sel", "tile.sels")
TILE_OPS = [
    name
    for name in TABLE
    if name.startswith("tile.") and TABLE.family_of(name) in FAMILIES and name not in MASK_FIRST
]
KEYWORDS = {"cmp_type": 2, "target_type": DataType.FP16, "mode": 1}
UNTOUCHED = 99


def call(name, *args, **given):
    """A call with the type that the op table gives it."""
    entry = TABLE[name]
    keywords = {spec.name: KEYWORDS[spec.name] for spec in entry.kwargs if spec.name in KEYWORDS} | given
    type_ = infer_type(entry, args, ir.AttrMap(keywords))
    return op(name, args, type_, **keywords)


def operands_after(name, first):
    """Tiles and scalars that the op takes beside its first operand, shaped as in its first sample."""
    entry = TABLE[name]
    dtype = first.type.dtype
    for spec in entry.operands[1:]:
        given = entry.samples[0].get(spec.name)
        if given is None:
            return
        if spec.kinds == ("scalar",):
            yield ir.ConstInt(2, dtype, U) if dtype.is_int() else ir.ConstFloat(2.0, dtype, U)
        else:
            extents = [1 if extent == 1 else SHAPE[axis] for axis, extent in enumerate(parse(given).shape)]
            yield tile(spec.name, extents, dtype)


def written_cells(params, body, value, shape=SHAPE):
    """Which cells of a tensor change when a kernel stores its value in it; all operands are above 1."""
    out = tensor("out", shape, value.type.dtype)
    stored = ir.Var("stored", out.type, U)
    kernel = function(
        "kernel", [*params, out], *body, assign(stored, store(value, [0, 0], out)), ret(stored),
        type=ir.FunctionType.InCore,
    )  # fmt: skip
    data = []
    for param in params:
        extents = torch.Size(extent.value for extent in param.type.shape)
        numbers = torch.arange(extents.numel()).reshape(extents) % 3 + 2
        data.append(numbers.to(DTYPES[param.type.dtype.name]))
    target = torch.full(shape, UNTOUCHED).to(DTYPES[value.type.dtype.name])
    script(kernel)["kernel"](*data, target)
    return target != UNTOUCHED


def region_of(type_, shape=SHAPE):
    """The cells of a type's region, as a mask of a shape."""
    view = type_.tile_view
    extents = view.valid_shape if view is not None and view.valid_shape else type_.shape
    cells = torch.zeros(shape, dtype=torch.bool)
    cells[tuple(slice(extent.value) for extent in extents)] = True
    return cells


@pytest.mark.parametrize("valid", [(8, 4), (5, 20), (3, 32), (8, 0), (0, 32), (8, 32)], ids=str)
@pytest.mark.parametrize("name", TILE_OPS)
def test_after_one_op(name, valid):
    dtype = DataType.INT32 if TABLE.family_of(name) == "bitwise" else DataType.FP32
    first = tile("first", SHAPE, dtype, valid)
    args = [first, *operands_after(name, first)]
    value = call(name, *args)
    result = ir.Var("result", value.type, U)
    written = written_cells([arg for arg in args if isinstance(arg, ir.Var)], [assign(result, value)], result)
    assert torch.equal(written, region_of(result.type))


UNARY = ["tile.neg", "tile.abs", "tile.sqrt", "tile.rsqrt", "tile.recip", "tile.relu", "tile.sin", "tile.log"]
SCALAR = ["tile.adds", "tile.subs", "tile.muls", "tile.divs", "tile.maximums", "tile.minimums", "tile.fmods"]
PAIRS = ["tile.add", "tile.sub", "tile.mul", "tile.maximum", "tile.minimum", "tile.part_add", "tile.part_max"]
ROWS = ["tile.row_expand_add", "tile.row_expand_max", "tile.row_expand_expdif", "tile.row_expand"]
COLUMNS = ["tile.col_expand_mul", "tile.col_expand_min", "tile.col_expand_sub", "tile.col_expand"]


def chained(choose, tiles):
    """One more op on one of the tiles so far."""
    kind = choose.choice(["unary", "scalar", "pair", "row", "column"])
    value = choose.choice(tiles)
    if kind == "unary":
        return [call(choose.choice(UNARY), value)]
    if kind == "scalar":
        return [
            call(choose.choice(SCALAR), value, ir.ConstFloat(choose.choice([0.5, -2.0]), DataType.FP32, U))
        ]
    if kind == "pair":
        return [call(choose.choice(PAIRS), value, choose.choice(tiles))]
    if kind == "row":
        reduction = call(choose.choice(["tile.row_max", "tile.row_sum", "tile.row_prod"]), value, value)
    else:
        reduction = call(choose.choice(["tile.col_max", "tile.col_sum", "tile.col_prod"]), value)
    vector = ir.Var("vector", reduction.type, U)
    return [
        vector,
        reduction,
        call(choose.choice(ROWS if kind == "row" else COLUMNS), choose.choice(tiles), vector),
    ]


@pytest.mark.parametrize("seed", range(40))
def test_after_a_chain(seed):
    """Regions differ among the operands: the rule of each op says whose counts."""
    choose = random.Random(seed)
    source = tensor("source", SHAPE)
    body, tiles = [], []
    for number in range(2):
        valid = [choose.randint(1, 8), choose.randint(1, 32)]
        loaded = tile(f"loaded_{number}", SHAPE, DataType.FP32, valid)
        fetched = load(source, [0, 0], SHAPE, valid)
        body.append(assign(loaded, ir.Call(fetched.op, fetched.args, fetched.kwargs, loaded.type, U)))
        tiles.append(loaded)
    for number in range(choose.randint(1, 6)):
        *before, value = chained(choose, tiles)
        body += [assign(*before)] if before else []
        tiles.append(ir.Var(f"value_{number}", value.type, U))
        body.append(assign(tiles[-1], value))
    assert torch.equal(written_cells([source], body, tiles[-1]), region_of(tiles[-1].type))


# Chains that change shapes, with the region worked out beside them


def extents_of(numbers):
    return ir.MakeTuple([ir.ConstInt(number, DataType.INDEX, U) for number in numbers], U)


def index(number):
    return ir.ConstInt(number, DataType.INDEX, U)


def reshaped_op(choose, value, shape, valid):
    """One more op on a tile of that shape and region: the call, and the shape and region of its result."""
    rows, columns = shape
    kind = choose.choice(["one", "cast", "swap", "pad", "grow", "declare", "window", "reduce", "put", "join"])
    if kind == "one":
        return call(choose.choice(["tile.abs", "tile.relu", "tile.neg"]), value), shape, valid
    if kind == "cast":
        return call("tile.cast", value), shape, valid
    if kind == "swap":
        return call("tile.transpose_view", value), shape[::-1], valid[::-1]
    if kind == "pad":
        return call("tile.fillpad", value, pad_value=ir.PadValue.zero), shape, shape
    if kind == "grow":
        larger = [rows + choose.choice([0, 8]), columns + choose.choice([0, 16])]
        grown = call("tile.fillpad_expand", value, extents_of(larger), pad_value=ir.PadValue.zero)
        return grown, larger, larger
    if kind == "declare":
        declared = [choose.randint(0, rows), choose.randint(0, columns)]
        return call("tile.set_validshape", value, *map(index, declared)), shape, declared
    if kind == "window":
        window = [choose.randint(1, rows), choose.randint(1, columns)]
        offset = [choose.randint(0, extent - size) for extent, size in zip(shape, window, strict=True)]
        part = [min(max(v - o, 0), w) for v, o, w in zip(valid, offset, window, strict=True)]
        return call("tile.slice", value, extents_of(window), extents_of(offset)), window, part
    if kind == "reduce" and 0 not in valid:
        return call("tile.row_max", value, value), [rows, 1], [valid[0], 1]
    if kind == "put" and valid == shape:
        return call("tile.assemble", value, value, extents_of([0, 0])), shape, shape
    if kind == "join" and valid == shape:
        return call("tile.concat", value, value), [rows, 2 * columns], [rows, 2 * columns]
    return call("tile.adds", value, ir.ConstFloat(0.5, value.type.dtype, U)), shape, valid


@pytest.mark.parametrize("seed", range(120))
def test_after_a_chain_that_changes_shapes(seed):
    """The region of the type is the one worked out by hand, and so are the cells that are written."""
    choose = random.Random(seed)
    shape, valid = [*SHAPE], [choose.randint(0, 8), choose.randint(0, 32)]
    source, value = tensor("source", SHAPE), tile("loaded", SHAPE, DataType.FP32, valid)
    fetched = load(source, [0, 0], SHAPE, valid)
    body = [assign(value, ir.Call(fetched.op, fetched.args, fetched.kwargs, value.type, U))]
    for number in range(choose.randint(1, 6)):
        made, shape, valid = reshaped_op(choose, value, shape, valid)
        value = ir.Var(f"value_{number}", made.type, U)
        body.append(assign(value, made))
    expected = torch.zeros(shape, dtype=torch.bool)
    expected[tuple(slice(extent) for extent in valid)] = True
    assert torch.equal(region_of(value.type, shape), expected)
    assert torch.equal(written_cells([source], body, value, shape), expected)
