"""ConvertTensorToTileOps: what no recorded program shows, above all where values would change."""

import re

import pytest
import torch
from passes.kernels import after, body, program

from pypto_tmpl import ir, passes
from pypto_tmpl.debug import torch_codegen

KERNEL = """
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[16, 64], pl.FP32], c: pl.Tensor[[16, 1], pl.FP32],
               out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]) -> pl.Tensor[[16, 64], pl.FP32]:
"""


def kernel(*lines: str) -> ir.Program:
    return program(KERNEL + "".join(f"        {line}\n" for line in (*lines, "return out")))


def converted(*lines: str) -> ir.Program:
    result = passes.make_pass("ConvertTensorToTileOps")(kernel(*lines))
    assert isinstance(result, ir.Program)
    return result


def values(node: ir.Program) -> torch.Tensor:
    """What a kernel leaves in ``out``."""
    namespace: dict = {}
    exec(torch_codegen(node), namespace)
    out = torch.full((16, 64), 9.0)
    namespace["kernel"](*inputs(), out)
    return out


def inputs() -> tuple[torch.Tensor, torch.Tensor]:
    numbers = torch.Generator().manual_seed(0)
    return torch.randn(16, 64, generator=numbers), torch.randn(16, 1, generator=numbers)


STORE = "done = pl.assemble(out, t, [0, 0])"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["t = pl.sub(c, x)", STORE], lambda x, c: c - x),
        (["t = pl.sub(x, c)", STORE], lambda x, c: x - c),
        (["a = pl.create_tensor([16, 64], dtype=pl.FP32, init_value=3.0)", "t = pl.add(a, x)", STORE],
         lambda x, c: x + 3),
        (["o = pl.assemble(out, x, [0, 0])", "t = pl.mul(o, 2.0)", "done = pl.assemble(o, t, [0, 0])"],
         lambda x, c: 2 * x),
        (["o = pl.assemble(out, x, [0, 0])", "t = pl.mul(out, 2.0)", "done = pl.assemble(o, t, [0, 0])"],
         lambda x, c: 2 * x),
        (["for i in pl.range(3):", "    t = pl.add(out, x)", "    done = pl.assemble(out, t, [0, 0])"],
         lambda x, c: 9 + x + x + x),
        (["for i, (v,) in pl.range(3, init_values=(x,)):", "    w = pl.mul(v, 2.0)", "    t = pl.yield_(w)",
          STORE], lambda x, c: 8 * x),
        (["for i, (v,) in pl.range(3, init_values=(out,)):", "    w = pl.mul(v, 2.0)",
          "    o = pl.assemble(v, w, [0, 0])", "    t = pl.yield_(o)"], lambda x, c: 72 + 0 * x),
        (["t = pl.div(x, c)", STORE], lambda x, c: x / c),
    ],
    ids=["column less matrix", "matrix less column", "initial value", "stored then read",
         "read after a write", "read and written in a loop", "carry of a parameter", "carry that is written",
         "row by row"],
)  # fmt: skip
def test_values_stay(lines, expected):
    node = converted(*lines)
    torch.testing.assert_close(values(node), expected(*inputs()), rtol=1e-6, atol=1e-6)
    assert not [
        call for call in ir.walk(node) if isinstance(call, ir.Call) and call.op.name.startswith("tensor.")
    ]


def test_a_tensor_that_was_written_is_loaded_where_it_is_read():
    lines = ("o = pl.assemble(out, x, [0, 0])", "t = pl.mul(o, 2.0)", "done = pl.assemble(o, t, [0, 0])")
    assert after("ConvertTensorToTileOps", kernel(*lines)) == [
        "assemble_src = pl.tile.load(x, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)",
        "o__tile = pl.tile.store(assemble_src, [0, 0], out)",
        "bridged_0 = pl.tile.load(o__tile, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)",
        "t__tile = pl.tile.muls(bridged_0, 2.0)",
        "done__tile = pl.tile.store(t__tile, [0, 0], o__tile)",
        "return out",
    ]


REFUSED = [
    (["t = pl.tensor.div(c, x)", STORE], "the left side is \\[M, 1\\]"),
    (["a = pl.tensor.reshape(x, [16, 64])", "w = pl.tensor.slice(out, [8, 64], [0, 0])",
      "b = pl.assemble(a, w, [0, 0])"],
      "which is a view of a parameter"),
    (["a = pl.tensor.reshape(out, [16, 64])", "o = pl.assemble(out, x, [0, 0])", "t = pl.add(a, x)"],
     "'a' would change"),
    (["a = pl.matmul(x, x, b_trans=True, out_dtype=pl.BF16)"], "a product of tiles is fp32"),
    (["pl.tensor.write(out, [0, 0], 1.0)", STORE.replace(" t,", " x,")], "by elements and by parts"),
    (["a = pl.exp(x)", "for i, (v,) in pl.range(3, init_values=(a,)):", "    w = pl.mul(v, 2.0)",
      "    o = pl.assemble(out, w, [0, 0])", "    t = pl.yield_(o)"], "'v' is a tile here"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "message"),
    REFUSED,
    ids=["column", "view", "changed view", "dtype", "mixed writes", "tile and tensor"],
)
def test_what_cannot_be_done_is_refused(lines, message):
    with pytest.raises(passes.PassError, match=message) as caught:
        converted(*lines)
    assert "in function 'kernel'" in str(caught.value)


SQUARE = """
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[16, 16], pl.FP32], y: pl.Tensor[[16, 16], pl.FP32],
               out: pl.Out[pl.Tensor[[16, 16], pl.FP32]]) -> pl.Tensor[[16, 16], pl.FP32]:
"""
PRODUCT = "a = pl.matmul(x, y, out_dtype=pl.FP32)"
SHARED = {
    "accumulated over": [PRODUCT, "b = pl.matmul_acc(a, x, y)", "t = pl.sub(b, a)"],
    "accumulated over in every round": [
        PRODUCT, "for i, (c,) in pl.range(2, init_values=(a,)):", "    b = pl.matmul_acc(a, x, y)",
        "    t = pl.yield_(b)",
    ],
    "start of two sums": [
        "z = pl.full([16, 16], dtype=pl.FP32, value=0.0)",
        "for i, (c,) in pl.range(2, init_values=(z,)):", "    d = pl.matmul_acc(c, x, y)",
        "    a = pl.yield_(d)",
        "for i, (c,) in pl.range(2, init_values=(z,)):", "    d = pl.matmul_acc(c, y, x)",
        "    b = pl.yield_(d)",
        "t = pl.sub(a, b)",
    ],
    "window of what is changed": [
        "a = pl.mul(x, 2.0)", "w = pl.tensor.slice(a, [16, 16], [0, 0])",
        "b = pl.assemble(a, pl.tensor.slice(x, [8, 16], [0, 0]), [0, 0])", "t = pl.add(b, w)",
    ],
    "window that is changed": [
        "a = pl.mul(x, 2.0)", "w = pl.tensor.slice(a, [8, 16], [0, 0])",
        "b = pl.assemble(w, pl.tensor.slice(x, [4, 16], [0, 0]), [0, 0])", "t = pl.assemble(a, b, [8, 0])",
    ],
}  # fmt: skip


@pytest.mark.parametrize("lines", SHARED.values(), ids=SHARED.keys())
def test_tiles_that_share_storage_must_not_change_each_other(lines):
    node = program(SQUARE + "".join(f"        {line}\n" for line in (*lines, STORE, "return out")))
    node = passes.PassPipeline([passes.flatten_call_expr()]).run(node)
    with pytest.raises(passes.PassError, match="would change: its storage is written before it is read"):
        passes.make_pass("ConvertTensorToTileOps")(node)


def test_sides_of_a_branch_do_not_change_each_other():
    lines = [PRODUCT, "if n > 0:", "    b = pl.matmul_acc(a, x, y)", "    t = pl.yield_(b)", "else:",
             "    c = pl.mul(a, 2.0)", "    t = pl.yield_(c)", STORE, "return out"]  # fmt: skip
    text = SQUARE.replace("def kernel(self, ", "def kernel(self, n: pl.Scalar[pl.INDEX], ")
    passes.make_pass("ConvertTensorToTileOps")(program(text + "".join(f"        {line}\n" for line in lines)))


RETURNING = """
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[16, 64], pl.FP32]) -> pl.Tensor[[16, 64], pl.FP32]:
        t = pl.exp(x)
        return t
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[16, 64], pl.FP32]):
        a = self.kernel(x)
        b = self.kernel(a)
        return b
"""


def test_results_are_stored_into_buffers_of_the_caller():
    lines = after("ConvertTensorToTileOps", program(RETURNING), "main")
    create = "pl.tensor.create([16, 64], dtype=pl.FP32, layout=pl.TensorLayout.ND)"
    assert lines == [
        f"ret0__out = {create}",
        "a = self.kernel(x, ret0__out)",
        f"ret0__out_1 = {create}",
        "b = self.kernel(a, ret0__out_1)",
        "return b",
    ]


def test_a_result_with_a_view_is_refused():
    node = program(
        RETURNING.replace("t = pl.exp(x)", "t = pl.tensor.slice(x, [16, 64], [0, 0], [16, 40])").replace(
            "pl.FP32]) -> pl.Tensor[[16, 64], pl.FP32]:",
            "pl.FP32]) -> pl.Tensor[[16, 64], pl.FP32, pl.TensorView(valid_shape=[16, 40], stride=[], "
            "layout=pl.TensorLayout.ND)]:",
        )
    )
    with pytest.raises(passes.PassError, match="result 0 has a view"):
        passes.make_pass("ConvertTensorToTileOps")(node)


HALF = """
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[16, 64], pl.{dtype}], wide: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
               narrow: pl.Out[pl.Tensor[[16, 64], pl.{dtype}]], s: pl.Scalar[pl.FP32]):
        t = {value}
        w = pl.assemble(wide, pl.mul(t, 1.0), [0, 0])
        u = pl.cast(t, target_type=pl.{dtype}, mode="rint")
        v = pl.assemble(narrow, u, [0, 0])
        return w, v
"""


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("pl.mul(x, 0.1)", lambda x: x * 0.1),
        ("pl.div(x, 3.0)", lambda x: x / 3),
        ("pl.sub(pl.mul(x, 0.3), 0.7)", lambda x: x * 0.3 - 0.7),
        ("pl.mul(x, s)", lambda x: x * 0.1),
        ("pl.mul(x, 0.25)", lambda x: x * 0.25),
        ("pl.maximum(x, 0.0)", lambda x: x.clamp(min=0)),
    ],
    ids=["number", "quotient", "chain", "scalar", "power of two", "zero"],
)
@pytest.mark.parametrize("dtype", ["FP16", "BF16"])
def test_numbers_meet_16_bit_floats_as_they_do_on_tensors(dtype, value, expected):
    """On tensors the result is FP32; a tile that is of the dtype already is not cast to it."""
    node = passes.flatten_call_expr()(program(HALF.format(dtype=dtype, value=value)))
    namespace: dict = {}
    exec(torch_codegen(passes.make_pass("ConvertTensorToTileOps")(node), check_shapes=True), namespace)
    x = inputs()[0].to(torch.float16 if dtype == "FP16" else torch.bfloat16)
    wide, narrow = torch.full((16, 64), 9.0), torch.full((16, 64), 9.0).to(x.dtype)
    namespace["kernel"](x, wide, narrow, 0.1)
    torch.testing.assert_close(wide, expected(x.float()), rtol=1e-6, atol=1e-7)
    torch.testing.assert_close(narrow, expected(x.float()).to(x.dtype), rtol=0, atol=0)


def test_a_tile_that_is_cast_to_its_own_dtype_is_the_tile_and_must_not_change():
    text = HALF.format(dtype="BF16", value="pl.mul(x, 0.5)").replace(
        "v = pl.assemble(narrow, u, [0, 0])",
        "o = pl.assemble(u, pl.slice(x, [8, 64], [0, 0]), [0, 0])\n"
        "        v = pl.assemble(narrow, o, [0, 0])",
    )
    late = text.replace(
        "        return", "        r = pl.assemble(wide, pl.mul(t, 2.0), [0, 0])\n        return"
    )
    passes.make_pass("ConvertTensorToTileOps")(passes.flatten_call_expr()(program(text)))
    with pytest.raises(passes.PassError, match="would change: its storage is written before it is read"):
        passes.make_pass("ConvertTensorToTileOps")(passes.flatten_call_expr()(program(late)))


SEVERAL_NAMES = """
    @pl.function(type=pl.FunctionType.Inline)
    def same(self, a: T) -> T:
        return a
    @pl.function(type=pl.FunctionType.InCore)
    def either(self, a: T, b: T, n: pl.Scalar[pl.INDEX]) -> T:
        if n > 2:
            c = a
        else:
            c = b
        return c
    @pl.function(type=pl.FunctionType.InCore)
    def renamed(self, a: T, o: pl.InOut[T]):
        b = a
        t = pl.tensor.adds(b, 1.0)
        o = pl.tensor.assemble(o, t, [0, 0])
        return b, o
    @pl.function(type=pl.FunctionType.InCore)
    def twice(self, a: T, y: T, o: pl.InOut[T]) -> T:
        o = pl.tensor.assemble(o, y, [0, 0])
        t = pl.tensor.adds(a, 1.0)
        o = pl.tensor.assemble(o, t, [0, 0])
        return o
    @pl.function(type=pl.FunctionType.InCore)
    def window(self, a: pl.Tensor[[8, 64], pl.FP32], y: T, o: pl.InOut[T]) -> T:
        o = pl.tensor.assemble(o, y, [0, 0])
        t = pl.tensor.adds(a, 1.0)
        o = pl.tensor.assemble(o, t, [8, 0])
        return o
    @pl.function(type=pl.FunctionType.InCore)
    def viewed(self, a: T, y: T, o: pl.InOut[T]) -> T:
        w = pl.tensor.reshape(a, [32, 32])
        o = pl.tensor.assemble(o, y, [0, 0])
        t = pl.tensor.adds(w, 1.0)
        back = pl.tensor.reshape(t, [16, 64])
        o = pl.tensor.assemble(o, back, [0, 0])
        return o
    @pl.function(type=pl.FunctionType.InCore)
    def filled(self, y: T, a: T, o: pl.InOut[T], z: pl.InOut[T]) -> T:
        ones = pl.tensor.full([16, 64], dtype=pl.FP32, value=1.0)
        o = pl.tensor.assemble(o, ones, [0, 0])
        pl.tensor.write(o, [2, 2], 9.0)
        t = pl.tensor.add(a, y)
        z = pl.tensor.assemble(z, t, [0, 0])
        return z
    @pl.function(type=pl.FunctionType.InCore)
    def lines(self, a: pl.InOut[pl.Tensor[[16, 56], pl.FP32]], o: pl.InOut[T]) -> T:
        for i in pl.range(48):
            pl.tensor.write(o, [3, i], 2.5)
            pl.tensor.write(a, [3, i], 1.5)
        return o
    @pl.function(type=pl.FunctionType.Group)
    def group(self, a: T, y: T, o: pl.InOut[T]) -> T:
        o = self.twice(a, y, o)
        return o
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: T, y: T, out: pl.InOut[T], n: pl.Scalar[pl.INDEX]) -> T:
        {kernel}
        return out
    @pl.function{kind}
    def main(self, x: T, y: T, out: pl.InOut[T], n: pl.Scalar[pl.INDEX]) -> T:
        {main}
        return out
"""
OUTLINED = (
    "InlineFunctions", "ConvertToSSA", "NormalizeStmtStructure", "FlattenCallExpr", "OutlineIncoreScopes",
    "OutlineClusterScopes",
)  # fmt: skip
WRITTEN = "out = pl.tensor.assemble(out, y, [0, 0])"
STORED = "out = pl.tensor.assemble(out, t, [0, 0])"
BRANCH = ["if n > 2:", "    a = out", "else:", "    a = x"]
READ = ["t = pl.tensor.adds(a, 1.0)", STORED]
REGION = ["with pl.at(level=pl.Level.CORE_GROUP):", *(f"    {line}" for line in (WRITTEN, *READ))]


def several_names(kernel: list[str], main: list[str], kind: str = "") -> ir.Program:
    """The program up to the pass, of a kernel that ``main`` calls unless it has lines of its own."""
    indented = {"kernel": kernel or ["pass_ = n"], "main": main or ["out = self.kernel(x, y, out, n)"]}
    text = SEVERAL_NAMES.format(kind=kind, **{name: "\n        ".join(v) for name, v in indented.items()})
    text = re.sub(r"\bT\b", "pl.Tensor[[16, 64], pl.FP32]", text)
    found = passes.PassPipeline([passes.make_pass(name) for name in OUTLINED]).run(program(text))
    assert isinstance(found, ir.Program)
    return found


def outputs_of_main(node: ir.Program, number: int) -> torch.Tensor:
    namespace: dict = {}
    exec(torch_codegen(node), namespace)
    x, y, out = (torch.full((16, 64), value) for value in (10.0, 20.0, 30.0))
    namespace["main"](x, y, out, number)
    assert (x == 10).all()
    assert (y == 20).all()
    return out


ORCHESTRATION = "(type=pl.FunctionType.Orchestration)"
BY_OTHER_NAMES = {
    "renamed": (["a = out", WRITTEN, *READ], [], ORCHESTRATION, 21, 21),
    "branch": ([*BRANCH, WRITTEN, *READ], [], ORCHESTRATION, 21, 11),
    "carry": (["a = x", "for i in pl.range(n):", "    t = pl.tensor.adds(a, 1.0)",
               f"    {STORED}", "    a = out", *READ], [], ORCHESTRATION, 14, 13),
    "renamed and written": (
        ["a = out", "t = pl.tensor.add(a, x)", "b = pl.tensor.assemble(a, t, [0, 0])"], [],
        ORCHESTRATION, 40, 40),
    "Inline function": ([], ["with pl.at(level=pl.Level.CORE_GROUP):", "    a = self.same(out)",
                             *(f"    {line}" for line in (WRITTEN, *READ))], "", 21, 21),
    "renamed before a region": ([], ["a = out", *REGION], "", 21, 21),
    "branch before a region": ([], [*BRANCH, *REGION], "", 21, 11),
    "view before a region": (
        [], ["a = pl.tensor.reshape(out, [32, 32])", REGION[0], f"    {WRITTEN}",
             "    t = pl.tensor.adds(a, 1.0)", "    back = pl.tensor.reshape(t, [16, 64])",
             "    out = pl.tensor.assemble(out, back, [0, 0])"], "", 21, 21),
    "carry around a region": ([], ["a = x", "for i in pl.range(n):", *(f"    {line}" for line in REGION),
                                   "    a = out"], "", 21, 21),
    "passed twice": ([], ["out = self.twice(out, y, out)"], ORCHESTRATION, 21, 21),
    "passed twice to a group": ([], ["out = self.group(out, y, out)"], ORCHESTRATION, 21, 21),
    "result of a branch": (
        [], ["a = self.either(x, out, n)", "out = self.twice(a, y, out)"], ORCHESTRATION, 11, 21),
    "result of another name": (
        [], ["s = pl.create_tensor([16, 64], dtype=pl.FP32)", "b = pl.create_tensor([16, 64], dtype=pl.FP32)",
             "s = self.twice(x, y, s)", "r, b = self.renamed(s, b)", "s = self.twice(y, y, s)",
             "out = self.twice(r, y, out)"], ORCHESTRATION, 22, 22),
}  # fmt: skip


@pytest.mark.parametrize(
    ("kernel", "main", "kind", "many", "few"), BY_OTHER_NAMES.values(), ids=BY_OTHER_NAMES.keys()
)
def test_what_is_written_by_one_name_is_read_by_another(kernel, main, kind, many, few):
    before = several_names(kernel, main, kind)
    after_pass = passes.make_pass("ConvertTensorToTileOps")(before)
    for stage in (before, after_pass):
        assert outputs_of_main(stage, 3).unique().tolist() == [many]
        assert outputs_of_main(stage, 2).unique().tolist() == [few]


@pytest.mark.parametrize(
    ("call", "last_rows"),
    [
        (["w = pl.tensor.slice(out, [8, 64], [0, 0])", "out = self.window(w, y, out)"], [21.0]),
        (["w = pl.tensor.slice(x, [8, 64], [0, 0])", "out = self.window(w, y, out)"], [11.0]),
    ],
    ids=["of the same tensor", "of another one"],
)
def test_a_window_is_another_name(call, last_rows):
    before = several_names([], call, ORCHESTRATION)
    for stage in (before, passes.make_pass("ConvertTensorToTileOps")(before)):
        out = outputs_of_main(stage, 0)
        assert out[:8].unique().tolist() == [20]
        assert out[8:].unique().tolist() == last_rows


def test_lines_of_one_tensor_by_two_names_are_written_in_order():
    """The second name begins one column further on: what it writes is overwritten in the next round."""
    call = ["w = pl.tensor.slice(out, [16, 56], [0, 1])", "out = self.lines(w, out)"]
    before = several_names([], call, ORCHESTRATION)
    for stage in (before, passes.make_pass("ConvertTensorToTileOps")(before)):
        assert outputs_of_main(stage, 0)[3].tolist() == [2.5] * 48 + [1.5] + [30.0] * 15


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("out = self.viewed(out, y, out)", "'w__ssa_v0' would change"),
        ("out = self.filled(y, y, y, out)", "'o__ssa_v0' is written by elements and by parts"),
    ],
    ids=["view", "fill"],
)
def test_what_is_passed_twice_is_refused_where_order_would_be_lost(call, message):
    name = call.split(".")[1].split("(")[0]
    with pytest.raises(passes.PassError, match=f"{message}(.|\n)*in function '{name}'"):
        passes.make_pass("ConvertTensorToTileOps")(several_names([], [call], ORCHESTRATION))


def test_parameters_are_loaded_at_the_beginning_where_callers_pass_distinct_tensors():
    node = passes.make_pass("ConvertTensorToTileOps")(several_names([], ["out = self.twice(x, y, out)"]))
    assert body(node, "twice")[0].startswith("a__tile = pl.tile.load(a")
