"""ConvertTensorToTileOps: gathers, scatters, sorted lists and transfers, by what they compute.

Expected values are computed element by element; what a kernel computed on tensors must be the same.
"""

import itertools

import pytest
import torch
from passes.kernels import HEAD, after, program

import pypto_tmpl.language as pl
from pypto_tmpl import backend, ir, passes
from pypto_tmpl.debug import torch_codegen
from pypto_tmpl.ops.fact_model import LOWERING_RULES
from pypto_tmpl.passes.properties import with_checks
from pypto_tmpl.passes.tensor_to_tile.rules import RULES

BACKENDS = [backend.BackendType.Ascend910B, backend.BackendType.Ascend950]


@pytest.fixture(params=BACKENDS, ids=lambda kind: kind.name)
def chosen_backend(request):
    backend.reset_for_testing()
    backend.set_backend_type(request.param)
    yield request.param
    backend.reset_for_testing()


DTYPES = {
    torch.float32: "FP32", torch.float16: "FP16", torch.bfloat16: "BF16", torch.int32: "INT32",
    torch.int16: "INT16", torch.int8: "INT8",
}  # fmt: skip


def kernel(inputs: dict[str, torch.Tensor], outputs: dict[str, torch.Tensor], *lines: str) -> ir.Program:
    """A kernel on tensors, calls by themselves."""
    params = [f"{name}: pl.Tensor[{[*x.shape]}, pl.{DTYPES[x.dtype]}]" for name, x in inputs.items()]
    params += [
        f"{name}: pl.Out[pl.Tensor[{[*x.shape]}, pl.{DTYPES[x.dtype]}]]" for name, x in outputs.items()
    ]
    head = f"""
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, {", ".join(params)}):
"""
    returned = f"return {', '.join(outputs)}"
    node = program(head + "".join(f"        {line}\n" for line in (*lines, returned)))
    return passes.PassPipeline([passes.convert_to_ssa(), passes.flatten_call_expr()]).run(node)


def run(
    node: ir.Program, inputs: dict[str, torch.Tensor], outputs: dict[str, torch.Tensor]
) -> list[torch.Tensor]:
    namespace: dict = {}
    exec(torch_codegen(node, check_shapes=True), namespace)
    given = [x.clone() for x in inputs.values()]
    found = [torch.full_like(x, 9) for x in outputs.values()]
    namespace["kernel"](*given, *found)
    for x, old in zip(given, inputs.values(), strict=True):
        torch.testing.assert_close(x, old, rtol=0, atol=0, equal_nan=True)
    return found


def check(node: ir.Program, inputs: dict[str, torch.Tensor], outputs: dict[str, torch.Tensor]) -> None:
    """The values are the expected ones, on tensors as well as on tiles, of which alone ops are left."""
    pass_ = passes.make_pass("ConvertTensorToTileOps")
    tiles = pass_(node)
    assert isinstance(tiles, ir.Program)
    passes.PropertyVerifierRegistry.verify_or_throw(with_checks(pass_.get_produced_properties()), tiles)
    for stage in (node, tiles):
        for found, expected in zip(run(stage, inputs, outputs), outputs.values(), strict=True):
            assert found.dtype == expected.dtype
            torch.testing.assert_close(found, expected, rtol=0, atol=0, equal_nan=True)


def distinct(shape: tuple[int, ...], dtype: torch.dtype, first: int = 1) -> torch.Tensor:
    """Numbers none of which is another, or 9, or zero."""
    count = torch.Size(shape).numel()
    numbers = torch.arange(first + 10, first + 10 + count).reshape(shape)
    return numbers.to(dtype)


def indices(
    shape: tuple[int, ...], limit: int, dtype: torch.dtype = torch.int32, seed: int = 0
) -> torch.Tensor:
    numbers = torch.Generator().manual_seed(seed)
    return torch.randint(0, limit, shape, generator=numbers, dtype=torch.int64).to(dtype)


def gathered(source: torch.Tensor, index: torch.Tensor, axis: int) -> torch.Tensor:
    found = torch.zeros(index.shape, dtype=source.dtype)
    for place in itertools.product(*map(range, index.shape)):
        at = list(place)
        at[axis] = int(index[place])
        found[place] = source[tuple(at)]
    return found


GATHERS = {
    "last axis": ((6, 32), (6, 16), -1, torch.float32),
    "last axis, fewer rows": ((6, 32), (4, 16), 1, torch.float32),
    "first axis": ((12, 32), (5, 32), 0, torch.float32),
    "first axis, fewer columns": ((12, 32), (5, 16), -2, torch.int32),
    "more than there are": ((4, 32), (7, 32), 0, torch.float32),
    "pages, last axis": ((3, 4, 32), (3, 4, 16), 2, torch.float32),
    "pages, last axis, fewer rows": ((3, 4, 32), (2, 3, 16), -1, torch.float32),
    "pages, middle axis": ((3, 5, 32), (3, 4, 32), 1, torch.float32),
    "pages, middle axis, fewer pages": ((3, 5, 32), (2, 7, 16), 1, torch.float32),
    "pages, first axis": ((5, 3, 32), (4, 2, 16), 0, torch.int32),
    "four axes": ((2, 3, 4, 16), (2, 2, 4, 8), 2, torch.float32),
    "half": ((12, 32), (5, 32), 0, torch.float16),
}


@pytest.mark.parametrize(("shape", "wanted", "axis", "dtype"), GATHERS.values(), ids=GATHERS.keys())
@pytest.mark.parametrize("is_tile", [False, True], ids=["tensors", "tiles"])
def test_gather(chosen_backend, shape, wanted, axis, dtype, is_tile):
    x, index = distinct(shape, dtype), indices(wanted, shape[axis])
    lines = [f"t = pl.gather(x, {axis}, index)", f"done = pl.assemble(out, t, {[0] * len(wanted)})"]
    if is_tile:
        lines = ["x = pl.add(x, x)", "index = pl.mul(index, 1)", *lines]
    inputs, outputs = {"x": x, "index": index}, {"out": gathered(x + x if is_tile else x, index, axis)}
    check(kernel(inputs, outputs, *lines), inputs, outputs)


@pytest.mark.parametrize("axis", [0, 1])
def test_gather_by_short_numbers(chosen_backend, axis):
    """The positions in all of the tile are more than INT16 can count."""
    x, index = distinct((300, 128), torch.int16), indices((16, 128), 128, torch.int16)
    inputs, outputs = {"x": x, "index": index}, {"out": gathered(x, index, axis)}
    lines = [f"t = pl.gather(x, {axis}, index)", "done = pl.assemble(out, t, [0, 0])"]
    check(kernel(inputs, outputs, *lines), inputs, outputs)


COMPARED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


@pytest.mark.parametrize("kind", COMPARED)
@pytest.mark.parametrize("dtype", [torch.float32, torch.int32], ids=str)
def test_gather_by_comparison(chosen_backend, kind, dtype):
    x = indices((6, 32), 5, dtype, seed=3)
    places, counts = torch.zeros(6, 16, dtype=torch.int32), torch.zeros(1, 6, dtype=torch.int32)
    for row, column in itertools.product(range(6), range(32)):
        if eval(f"{x[row, column]} {COMPARED[kind]} 2"):
            if counts[0, row] < 16:
                places[row, counts[0, row]] = column + 100
            counts[0, row] += 1
    number = "2.0" if dtype is torch.float32 else "2"
    lines = [
        f'p, c = pl.gather(x, kvalue={number}, cmp_mode="{kind}", out_cols=16, offset=100)',
        "twice = pl.add(p, p)",
        "done = pl.assemble(places, twice, [0, 0])",
        "ready = pl.assemble(counts, c, [0, 0])",
    ]
    inputs, outputs = {"x": x}, {"places": places * 2, "counts": counts}
    check(kernel(inputs, outputs, *lines), inputs, outputs)


def scattered(x: torch.Tensor, index: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
    found = x.clone()
    for row, column in itertools.product(*map(range, index.shape)):
        found[row, int(index[row, column])] = source[row, column]
    return found


@pytest.mark.parametrize("wanted", [(8, 32), (5, 12), (1, 32)], ids=str)
@pytest.mark.parametrize(
    ("dtype", "counted"),
    [(torch.float32, torch.int32), (torch.int32, torch.int32), (torch.bfloat16, torch.int16),
     (torch.float16, torch.int16), (torch.int16, torch.int16), (torch.int8, torch.int16)],
    ids=str,
)  # fmt: skip
def test_scatter(chosen_backend, wanted, dtype, counted):
    """With columns named twice, zeros among the new values, and NaN kept."""
    x, source = distinct((8, 32), torch.int16).remainder(113).to(dtype), distinct(wanted, torch.int16, 60)
    source = source.remainder(97).to(dtype)
    source[0, :3] = 0
    if dtype.is_floating_point:
        x[7, 31] = float("nan")
    index = indices(wanted, 31, counted)
    inputs, outputs = {"x": x, "index": index, "source": source}, {"out": scattered(x, index, source)}
    lines = ["t = pl.scatter(x, -1, index, source)", "done = pl.assemble(out, t, [0, 0])"]
    check(kernel(inputs, outputs, *lines), inputs, outputs)


PATTERNS = {"P0101": (0, 2), "P1010": (1, 2), "P0001": (0, 4), "P0010": (1, 4), "P0100": (2, 4),
            "P1000": (3, 4), "P1111": (0, 1)}  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8], ids=str)
def test_scatter_by_pattern(chosen_backend, pattern, dtype):
    first, step = PATTERNS[pattern]
    x, source = distinct((3, 32), torch.int8).to(dtype), distinct((3, 32 // step), torch.int8, 7).to(dtype)
    source[:, 0] = 0
    expected = x.clone()
    for row, column in itertools.product(range(3), range(32 // step)):
        expected[row, first + step * column] = source[row, column]
    inputs, outputs = {"x": x, "source": source}, {"out": expected}
    lines = [f"t = pl.scatter(source, mask_pattern=pl.tile.MaskPattern.{pattern}, dst=x)",
             "done = pl.assemble(out, t, [0, 0])"]  # fmt: skip
    check(kernel(inputs, outputs, *lines), inputs, outputs)


@pytest.mark.parametrize("shape", [(16, 32), (4, 4, 1, 32)], ids=str)
def test_scatter_of_rows(chosen_backend, shape):
    source = distinct((6, 32) if len(shape) == 2 else (2, 3, 1, 32), torch.float32, 1000)
    x, index = distinct(shape, torch.float32), torch.tensor([[3, 15, 0], [7, 3, 12]], dtype=torch.int32)
    expected = x.clone()
    for number, row in zip(index.flatten().tolist(), source.reshape(6, 32), strict=True):
        expected.view(16, 32)[number] = row
    inputs, outputs = {"x": x, "index": index, "source": source}, {"out": expected}
    lines = ["t = pl.scatter_update(x, -2, index, source)", f"done = pl.assemble(out, t, {[0] * len(shape)})"]
    check(kernel(inputs, outputs, *lines), inputs, outputs)


@pytest.mark.parametrize("widths", [(64, 32), (64, 32, 32), (32, 64, 96, 64)], ids=str)
def test_sorted_lists_are_merged(chosen_backend, widths):
    inputs, records = {}, []
    for place, width in enumerate(widths):
        values = torch.arange(width // 2, 0, -1).float() * len(widths) + place  # no value twice
        inputs[f"s{place}"] = pairs = torch.stack([values, values * 1000 + place], dim=1).reshape(1, width)
        records += pairs.reshape(-1, 2).tolist()
    expected = torch.tensor(sorted(records, reverse=True)).reshape(1, sum(widths))
    lines = [f"t = pl.mrgsort({', '.join(inputs)})", "done = pl.assemble(out, t, [0, 0])"]
    check(kernel(inputs, {"out": expected}, *lines), inputs, {"out": expected})


def test_sorted_lists_are_merged_up_to_the_end_of_one(chosen_backend):
    """A list that is used up ends the merge: the records behind are no values that a kernel may count on."""
    inputs = {"a": torch.tensor([[9.0, 90, 7, 70, 5, 50, 3, 30]]), "b": torch.tensor([[8.0, 80, 6, 60]])}
    lines = ["t = pl.mrgsort(a, b, exhausted=True)", "done = pl.assemble(out, t, [0, 0])"]
    outputs = {"out": torch.tensor([[9.0, 90, 8, 80, 7, 70, 6, 60, 0, 0, 0, 0]])}
    check(kernel(inputs, outputs, *lines), inputs, outputs)


@pytest.mark.parametrize("leading", [[], [1]], ids=["one axis", "two axes"])
@pytest.mark.parametrize("is_turned", [False, True], ids=["rows", "columns"])
def test_pages(chosen_backend, leading, is_turned):
    pool, pages = distinct((32, 40), torch.float32), torch.tensor([5, 0, 3], dtype=torch.int32)
    wanted = torch.tensor([11, 0, 7, 2, 7], dtype=torch.int32)
    rows = [pool[int(pages[n // 4]) * 4 + n % 4, 8:24] for n in wanted.tolist()]
    expected = torch.stack(rows, dim=1 if is_turned else 0)
    inputs = {"pool": pool, "wanted": wanted.reshape(*leading, 5), "pages": pages.reshape(*leading, 3)}
    lines = [
        "t = pl.paged_gather(pool, wanted, pages, block_size=4, size=16, col_off=8, max_indices=5, "
        f"is_trans={is_turned}, is_b_matrix={is_turned})",
        "done = pl.assemble(out, t, [0, 0])",
    ]
    check(kernel(inputs, {"out": expected}, *lines), inputs, {"out": expected})


REFUSED = """
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[N, 32], pl.FP32], index: pl.Tensor[[N, 32], pl.INT32],
               wide: pl.Tensor[[600, 64], pl.INT8], short: pl.Tensor[[4, 64], pl.INT16],
               bytes: pl.Tensor[[4, 64], pl.INT8]):
"""


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("t = pl.gather(x, -1, index)", "tiles have fixed sizes, and its operand 'index' has none"),
        ("t = pl.scatter(x, -1, index, x)", "tiles have fixed sizes, and its operand 'input' has none"),
        ("t = pl.scatter(wide, -1, short, bytes)", r"positions in \[600, 64\] do not fit into the INT16"),
        ("t = pl.scatter(wide, -1, bytes, bytes)", "tiles take positions of INT16 or INT32, not of int8"),
    ],
    ids=["gather", "scatter", "positions", "dtype of positions"],
)
def test_what_tiles_cannot_hold_is_refused(line, message):
    with pytest.raises(passes.PassError, match=message) as caught:
        text = HEAD.replace("@pl.program", 'N = pl.dynamic("N")\n\n@pl.program')
        passes.make_pass("ConvertTensorToTileOps")(pl.parse(f"{text}{REFUSED}        {line}\n"))
    assert "in function 'kernel'" in str(caught.value)


TRANSFER = """
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, mine: pl.Tensor[[48, 64], pl.FP32], theirs: pld.DistributedTensor[[48, 64], pl.FP32],
               peer: pl.Scalar[pl.INT32], n: pl.Scalar[pl.INDEX]):
        LINE
        return
"""
AT = "[0, 0], [8, 0]"


@pytest.mark.parametrize(
    ("line", "stages", "call"),
    [
        ("get(mine, peer, theirs, chunk_rows=16, chunk_cols=32)", ["[16, 32]"],
         "get(mine, peer, theirs, tget_stage)"),
        ("get(mine, peer, theirs, chunk_rows=100, chunk_cols=100)", ["[48, 64]"],
         "get(mine, peer, theirs, tget_stage)"),
        (f"get(mine, peer, theirs, {AT}, [n, 64], chunk_rows=4)", ["[4, 64]"],
         f"get(mine, peer, theirs, tget_stage, {AT}, [n, 64])"),
        ("put(theirs, peer, mine, chunk_rows=16, chunk_cols=32, pipeline=True)", ["[16, 32]", "[16, 32]"],
         "put(theirs, peer, mine, tput_stage, tput_stage2, atomic=pl.AtomicType.None_)"),
        (f"put(theirs, peer, mine, {AT}, [8, 64], chunk_rows=16, chunk_cols=32, pipeline=True)",
         ["[8, 32]", "[8, 32]"],
         f"put(theirs, peer, mine, tput_stage, tput_stage2, {AT}, [8, 64], atomic=pl.AtomicType.None_)"),
    ],
    ids=["chunks", "larger than all", "number of rows", "in turn", "part in turn"],
)  # fmt: skip
def test_transfers_go_through_tiles_of_a_chunk(line, stages, call):
    """A script has one rank: only the calls can be compared."""
    node = program(TRANSFER.replace("LINE", f"pld.tensor.{line}"))
    kind = line[:3]
    assert after("ConvertTensorToTileOps", node) == [
        *(f"t{kind}_stage{number} = pl.tile.create({shape}, dtype=pl.FP32, target_memory=pl.Mem.Vec)"
          for number, shape in zip(["", "2"], stages, strict=False)),
        f"pld.tile.{call}",
        "return",
    ]  # fmt: skip


def test_every_rule_of_the_op_table_is_implemented():
    assert RULES.keys() == LOWERING_RULES.keys()
