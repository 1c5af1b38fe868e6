"""MaterializeTensorStrides and InitMemRef: strides of views, and the storage that values get."""

import re

import pytest
from passes.kernels import program
from passes.recorded_pairs import Pair, recorded_pairs

from pypto_tmpl import backend, ir, passes

STRIDES, STORAGE = "MaterializeTensorStrides", "InitMemRef"
OF_MEMORY = [pair for name in (STRIDES, STORAGE) for pair in recorded_pairs(name)]


@pytest.fixture(autouse=True)
def no_backend():
    backend.reset_for_testing()
    yield
    backend.reset_for_testing()


def kernel(*lines: str, params: str = "x: pl.Tensor[[32, 64], pl.FP32]") -> ir.Program:
    head = f"    @pl.function(type=pl.FunctionType.AIV)\n    def kernel(self, {params}):\n"
    return program(head + "".join(f"        {line}\n" for line in lines))


def storage(node: ir.Program) -> dict[str, str]:
    """The MemRef of each variable as text, and the size of each allocation, after InitMemRef."""
    text = ir.python_print(passes.make_pass(STORAGE)(node), format=False)
    found = dict(re.findall(r"(\w+): pl\.\w+\[.*?pl\.MemRef\((.*?)\)(?:, pl\.Mem\.\w+|\])", text))
    return {
        **{name: memref.replace("pl.const(0, pl.INT64)", "0") for name, memref in found.items()},
        **dict(re.findall(r"(\w+): pl\.Ptr = pl\.tile\.alloc\((.*)\)", text)),
    }


@pytest.mark.parametrize("pair", OF_MEMORY, ids=str)
def test_the_text_is_that_on_record(pair: Pair):
    """Structural equality leaves storage out; the text has it."""
    backend.set_backend_type(backend.BackendType[pair.backend])
    got = passes.make_pass(pair.pass_name)(pair.before())
    assert ir.python_print(got, format=False) == ir.python_print(pair.after(), format=False)


def test_values_are_numbered_as_they_come_and_views_lie_in_their_source():
    found = storage(
        kernel(
            "a = pl.tile.load(x, [0, 0], [32, 64], [32, 64], target_memory=pl.Mem.Vec)",
            "w = pl.tile.slice(a, [8, 16], [4, 32])",
            "v = pl.tile.slice(w, [2, 16], [1, 0])",
            "r = pl.tile.reshape(a, [64, 32])",
            "b = pl.tile.exp(w)",
        )
    )
    # w: (4 * 64 + 32) * 4 bytes in, 7 rows of 64 and 16 elements long; v: one row of 16 elements further on
    assert found == {
        "x": '"mem_ddr_0", 0, 8192',
        "mem_vec_1": "pl.Mem.Vec, 8192",
        "mem_vec_2": "pl.Mem.Vec, 512",
        "a": "mem_vec_1, 0, 8192",
        "w": "mem_vec_1, 1152, 1856",
        "v": "mem_vec_1, 1216, 128",
        "r": "mem_vec_1, 0, 8192",
        "b": "mem_vec_2, 0, 512",
    }


def test_offsets_that_are_known_at_run_time_only_are_written_out():
    found = storage(
        kernel(
            "a = pl.tile.load(x, [0, 0], [32, 64], [32, 64], target_memory=pl.Mem.Vec)",
            "w = pl.tile.slice(a, [8, 64], [n, 0])",
            "v = pl.tile.slice(w, [2, 64], [1, 0])",
            params="x: pl.Tensor[[32, 64], pl.FP32], n: pl.Scalar[pl.INDEX]",
        )
    )
    assert (found["w"], found["v"]) == ("mem_vec_1, n * 64 * 4, 2048", "mem_vec_1, n * 64 * 4 + 256, 512")


def test_carries_and_results_lie_where_they_come_from():
    found = storage(
        kernel(
            "a = pl.tile.load(x, [0, 0], [32, 64], [32, 64], target_memory=pl.Mem.Vec)",
            "b = pl.tile.exp(a)",
            "for i, (s, t) in pl.range(4, init_values=(a, b)):",
            "    c = pl.tile.add(s, t)",
            "    s2, t2 = pl.yield_(c, t)",
            "d = pl.tile.exp(t2)",
            "e = d",
        )
    )
    # s2 and t2 take the numbers 4 and 5, though they lie elsewhere
    assert [found[name][:9] for name in "abcde"] == [
        "mem_vec_1", "mem_vec_2", "mem_vec_3", "mem_vec_6", "mem_vec_6",
    ]  # fmt: skip
    assert [name for name in found if name.startswith("mem")] == [
        "mem_vec_1", "mem_vec_2", "mem_vec_3", "mem_vec_6",
    ]  # fmt: skip


def test_a_result_of_a_branch_lies_where_its_first_value_does():
    found = storage(
        kernel(
            "a = pl.tile.load(x, [0, 0], [32, 64], [32, 64], target_memory=pl.Mem.Vec)",
            "if n > 0:",
            "    b = pl.tile.exp(a)",
            "    r = pl.yield_(b)",
            "else:",
            "    c = pl.tile.neg(a)",
            "    r = pl.yield_(c)",
            params="x: pl.Tensor[[32, 64], pl.FP32], n: pl.Scalar[pl.INDEX]",
        )
    )
    assert [found[name][:9] for name in "bcr"] == ["mem_vec_2", "mem_vec_3", "mem_vec_2"]


@pytest.mark.parametrize(
    ("dtype", "name", "size"),
    [
        ("FP32", "Ascend910B", 16 * 16 * 4),
        ("INT32", "Ascend910B", 32 * 16 * 4),
        ("INT32", "Ascend950", 16 * 16 * 4),
    ],
)
def test_accumulators_take_whole_boxes_of_rows(dtype, name, size):
    backend.set_backend_type(backend.BackendType[name])
    found = storage(
        program(
            "    @pl.function(type=pl.FunctionType.AIC)\n"
            "    def kernel(self):\n"
            f"        c: pl.Tile[[8, 16], pl.{dtype}, pl.Mem.Acc] = "
            f"pl.tile.create([8, 16], dtype=pl.{dtype}, target_memory=pl.Mem.Acc)\n"
        )
    )
    assert found == {"mem_acc_0": f"pl.Mem.Acc, {size}", "c": f"mem_acc_0, 0, {size}"}


def test_what_has_storage_keeps_it():
    node = passes.make_pass(STORAGE)(recorded_pairs(STORAGE)[0].before())
    assert passes.make_pass(STORAGE)(node) is node


DECLARED = 'pl.MemRef("work")'


def bound(name: str, rows: int, value: str, where: str = DECLARED, space: str = "Vec") -> str:
    return f"{name}: pl.Tile[[{rows}, 64], pl.FP32, {where}, pl.Mem.{space}] = {value}"


LOAD = "pl.tile.load(x, [0, 0], [{0}, 64], [{0}, 64], target_memory=pl.Mem.{1})"
REFUSED = {
    "tiles of the declared buffer 'work' lie in Vec and Mat: 'b'": (
        bound("a", 16, LOAD.format(16, "Vec")),
        bound("b", 8, LOAD.format(8, "Mat"), space="Mat"),
    ),
    "'b' lies where what it is made of does, not in the declared buffer 'work'": (
        "a = " + LOAD.format(16, "Vec"),
        bound("b", 8, "pl.tile.slice(a, [8, 64], [0, 0])"),
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_declared_buffer_that_cannot_be_is_refused(what):
    with pytest.raises(passes.PassError) as raised:
        storage(kernel(*REFUSED[what]))
    message = str(raised.value)
    assert what in message and "in function 'kernel'" in message and "<string>:9" in message


def with_view(shape: list[int], view: ir.TensorView | None) -> ir.Program:
    """A program of one function with a parameter of that type, which is its return type too."""
    span = ir.Span("k.py", 3, 1)
    type_ = ir.TensorType(shape, ir.DataType.FP32, None, view)
    param = ir.Var("a", type_, span)
    function = ir.Function("kernel", [param], [type_], ir.SeqStmts([], span), span)
    return ir.Program([function], "p", span)


def strides(shape: list[int], view: ir.TensorView) -> list[int]:
    (function,) = passes.make_pass(STRIDES)(with_view(shape, view)).functions.values()
    found = [function.params[0].type.tensor_view, function.return_types[0].tensor_view]
    assert [extent.value for extent in found[0].stride] == [extent.value for extent in found[1].stride]
    assert (found[0].layout, found[0].pad) == (view.layout, view.pad)
    assert [e.value for e in found[0].valid_shape] == [e.value for e in view.valid_shape]
    return [extent.value for extent in found[0].stride]


def test_strides_of_each_layout():
    """Of 3 * 4 cells a matrix; in DN the last two axes change places in memory."""
    layouts = ir.TensorLayout
    assert strides([2, 3, 4], ir.TensorView([], layouts.ND, [2, 3, 2])) == [12, 4, 1]
    assert strides([2, 3, 4], ir.TensorView([], layouts.DN)) == [12, 1, 3]
    assert strides([5, 2, 3, 4], ir.TensorView([], layouts.DN)) == [24, 12, 1, 3]
    assert strides([16, 4], ir.TensorView([], layouts.MX_A_ZZ)) == [4, 1]
    assert strides([3, 4], ir.TensorView([8, 1], layouts.ND)) == [8, 1]


def test_a_tensor_without_a_view_stays_without_one():
    node = with_view([3, 4], None)
    assert passes.make_pass(STRIDES)(node) is node


@pytest.mark.parametrize(
    ("shape", "view", "what"),
    [
        ([4, 4], ir.TensorView([], ir.TensorLayout.NZ), "a tensor in NZ has no strides"),
        ([4, 4], ir.TensorView([4, 1], ir.TensorLayout.NZ), "a tensor in NZ has no strides"),
        ([4], ir.TensorView([], ir.TensorLayout.DN), "a tensor in DN has two axes or more"),
    ],
)
def test_layouts_without_strides_are_refused(shape, view, what):
    with pytest.raises(passes.PassError, match=what) as raised:
        passes.make_pass(STRIDES)(with_view(shape, view))
    assert "k.py:3" in str(raised.value) and "in function 'kernel'" in str(raised.value)
