# ruff: noqa: E501, F821 (calls stand on one line; names of inline functions stay visible)
"""What kernels as users write them become, by the text that their IR prints as."""

import os
import re
import warnings
from pathlib import Path

import pytest

import pypto_tmpl.language as pl
from pypto_tmpl import ir

PARAMS = {
    "x": "pl.Tensor[[8, 4, 64], pl.FP32]",
    "v": "pl.Tensor[[4, 32], pl.FP32]",
    "b": "pl.Tensor[[64, 64], pl.BF16]",
    "t": "pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec]",
    "n": "pl.Scalar[pl.INDEX]",
    "k": "pl.Scalar[pl.INT32]",
    "j": "pl.Scalar[pl.INT64]",
    "ids": "pl.Array[4, pl.TASK_ID]",
}
KERNELS = """
    @pl.function(type=pl.FunctionType.InCore)
    def one(self, a: pl.Tensor[[4], pl.FP32], o: pl.Out[pl.Tensor[[4], pl.FP32]]) -> pl.Tensor[[4], pl.FP32]:
        return o
    @pl.function(type=pl.FunctionType.InCore)
    def two(self, a: pl.Tensor[[4], pl.FP32], o: pl.Out[pl.Tensor[[4], pl.FP32]], p: pl.Out[pl.Tensor[[4], pl.FP32]]) -> tuple[pl.Tensor[[4], pl.FP32], pl.Tensor[[4], pl.FP32]]:
        return o, p
"""


def read(body: str, decorator: str = "@pl.function", head: str = "", **more: str) -> ir.Program:
    """A program with a function ``f`` of that body and the kernels ``one`` and ``two``."""
    params = ", ".join(f"{name}: {spelled}" for name, spelled in {**PARAMS, **more}.items())
    lines = "".join(f"        {line}\n" for line in body.strip("\n").split("\n"))
    program = pl.parse(
        f"import pypto.language as pl\n{head}\n@pl.program\nclass P:\n"
        f"    {decorator}\n    def f(self, {params}):\n{lines}{KERNELS}"
    )
    assert isinstance(program, ir.Program)
    return program


def printed(program: ir.Program, concise: bool = True) -> str:
    """The lines of ``f`` without its header."""
    text = ir.python_print(program, format=False, concise=concise)
    inside = text.partition("    def f(")[2].partition("\n")[2].split("\n    @pl.function")[0]
    return "\n".join(line[8:] for line in inside.rstrip("\n").split("\n"))


SUBSCRIPTS = [
    ("y = x[n]", "y: pl.Tensor[[4, 64], pl.FP32] = pl.tensor.slice(x, [1, 4, 64], [n, 0, 0], [], [0])"),
    ("y = x[n : n + 2, 1, :]", "y: pl.Tensor[[2, 64], pl.FP32] = pl.tensor.slice(x, [2, 1, 64], [n, 1, 0], [], [1])"),
    ("y = x[n, 3, 2 * n]", "y: pl.Scalar[pl.FP32] = pl.tensor.read(x, [n, 3, 2 * n])"),
    ("y = x[2:]", "y: pl.Tensor[[6, 4, 64], pl.FP32] = pl.tensor.slice(x, [6, 4, 64], [2, 0, 0])"),
    ("y = x[:, :, 2 * n + 4 : 2 * n + 20]", "y: pl.Tensor[[8, 4, 16], pl.FP32] = pl.tensor.slice(x, [8, 4, 16], [0, 0, 2 * n + 4])"),
    ("y = x[0:n]", "y: pl.Tensor[[n, 4, 64], pl.FP32] = pl.tensor.slice(x, [n, 4, 64], [0, 0, 0])"),
    ("y = t[0:32, 0:64]", "y: pl.Tile[[32, 64], pl.FP32, pl.Mem.Vec] = pl.tile.slice(t, [32, 64], [0, 0])"),
    ("y = t[n, 1]", "y: pl.Scalar[pl.FP32] = pl.tile.read(t, [n, 1])"),
    ("y = ids[n]", "y: pl.Scalar[pl.TASK_ID] = pl.array.get_element(ids, n)"),
    ("x[n, :, 0:32] = v", "x: pl.Tensor[[8, 4, 64], pl.FP32] = pl.tensor.assemble(x, pl.tensor.reshape(v, [1, 4, 32]), [n, 0, 0])"),
    ("x[:, 0:4, :] = x", "x: pl.Tensor[[8, 4, 64], pl.FP32] = pl.tensor.assemble(x, x, [0, 0, 0])"),
    ("t[0:64, 0:64] = t", "t: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec] = pl.tile.assemble(t, t, [0, 0])"),
    ("ids[n] = ids[0]", "ids: pl.Array[4, pl.TASK_ID] = pl.array.update_element(ids, n, pl.array.get_element(ids, 0))"),
    ("ids[2] = None", "ids: pl.Array[4, pl.TASK_ID] = pl.array.update_element(ids, 2, pl.system.task_invalid())"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "want"), SUBSCRIPTS, ids=[text for text, _ in SUBSCRIPTS])
def test_subscripts(text: str, want: str) -> None:
    assert printed(read(text), concise=False) == want


def test_a_tile_keeps_two_axes_and_says_so() -> None:
    with pytest.warns(UserWarning, match=r"'t\[3, 0:64\]' has fewer than two axes"):
        found = printed(read("y = t[3, 0:64]"))
    assert found == "y = pl.tile.slice(t, [1, 64], [3, 0], [], [0])"


def test_a_tile_slice_of_run_time_size_is_a_box_with_a_valid_region() -> None:
    found = printed(read("y = t[0:n, 0:64]"))
    assert found == "y = pl.tile.slice(t, [64, 64], [0, 0], [pl.max(pl.min(n, 64), 0), 64])"


SCALARS = [
    ("y = k + 1", "y: pl.Scalar[pl.INDEX] = pl.cast(k, pl.INDEX) + 1"),
    ("y = k == 0", "y: pl.Scalar[pl.BOOL] = pl.cast(k, pl.INDEX) == 0"),
    ("y = j + 1", "y: pl.Scalar[pl.INT64] = j + 1"),
    ("y = 1 + j", "y: pl.Scalar[pl.INDEX] = 1 + j"),
    ("y = k + pl.const(1, pl.INT32)", "y: pl.Scalar[pl.INT32] = k + pl.const(1, pl.INT32)"),
    ("y: pl.Scalar[pl.INT32] = 5", "y: pl.Scalar[pl.INT32] = pl.const(5, pl.INT32)"),
    ("y = 2 ** K - 1 + n", "y: pl.Scalar[pl.INDEX] = 7 + n"),
    ("y = n and n or not n", "y: pl.Scalar[pl.BOOL] = n and n or not n"),
    ("y = pl.min(K, n)", "y: pl.Scalar[pl.INDEX] = pl.min(3, n)"),
    ("y = pl.cast(k, pl.INDEX)", "y: pl.Scalar[pl.INDEX] = pl.cast(k, pl.INDEX)"),
    ("y = pl.add(n, K)", "y: pl.Scalar[pl.INDEX] = n + 3"),
    ("y = n * pl.FP32.get_byte()", "y: pl.Scalar[pl.INDEX] = n * 4"),
    ("y = n * PAIR[1] + len(PAIR) - max(PAIR)", "y: pl.Scalar[pl.INDEX] = n * 6 + 2 - 6"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "want"), SCALARS, ids=[text for text, _ in SCALARS])
def test_scalars(text: str, want: str) -> None:
    found = printed(read(text, head="K = 3\nPAIR = (5, 6)"), concise=False)
    assert found.replace("pl.const(1, pl.INT64)", "1") == want


OPS = [
    ("y = pl.mul(b, 0.5)", "pl.tensor.muls(b, 0.5)"),
    ("y = pl.add(t, t)", "pl.tile.add(t, t)"),
    ("y = pl.add(t, 1)", "pl.tile.adds(t, pl.const(1.0, pl.FP32))"),
    ("y = pl.load(b, [0, 0], [16, 64])", "pl.tile.load(b, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)"),
    ("y = pl.full([K, 4], dtype=DT, value=-1.0)", "pl.tensor.full([3, 4], dtype=pl.FP16, value=-1.0)"),
    ("y = pl.cast(b, DT)", "pl.tensor.cast(b, target_type=pl.FP16, mode='round')"),
    ("y = pl.tensor.slice(b, SHAPE, [n, 0])", "pl.tensor.slice(b, [16, 64], [n, 0])"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "want"), OPS, ids=[text for text, _ in OPS])
def test_ops(text: str, want: str) -> None:
    found = printed(read(text, head="K = 3\nDT = pl.FP16\nSHAPE = [16, 64]")).removeprefix("y = ")
    assert found.replace("pl.const(1, pl.FP32)", "pl.const(1.0, pl.FP32)") in (
        want,
        want.replace("pl.const(1.0, pl.FP32)", "1.0"),
    )


def test_the_split_region_gives_its_mode() -> None:
    program = read(
        "for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):\n    y = pl.aiv_shard(t)",
        "@pl.function(type=pl.FunctionType.AIV)",
    )
    region = program["f"].body
    assert isinstance(region, ir.SplitAivScopeStmt)
    call = region.body.stmts[1].value
    assert (call.op.name, call.kwargs["split"]) == ("tile.aiv_shard", 1)


def test_an_annotation_places_what_the_op_leaves_open() -> None:
    text = "y: pl.Tile[[64, 64], pl.FP32, pl.MemRef('m', 0, 16384), pl.Mem.Vec] = pl.tile.add(t, t)"
    (statement,) = [read(text)["f"].body]
    assert statement.var.type.memref.base_.name_hint == "m"
    assert statement.value.type is statement.var.type
    free = read("y: pl.Tensor[[8, 4, 64], pl.FP32] = pl.tensor.exp(x)\nz: 'text' = n\nw: pl.UnknownType = n")
    assert [ir.python_print(s.var.type, format=False) for s in free["f"].body.stmts] == [
        "pl.Tensor[[8, 4, 64], pl.FP32]",
        "pl.Scalar[pl.INDEX]",
        "pl.Scalar[pl.INDEX]",
    ]


def test_a_name_stays_one_variable_however_often_it_is_bound() -> None:
    body = read("y = pl.exp(x)\nfor i in pl.range(n):\n    y = pl.mul(y, 2.0)\nreturn y")["f"].body
    first, loop, last = body.stmts
    assert loop.body.var is first.var is last.value[0]


def test_a_dimension_of_a_parameter_is_its_symbol_where_tasks_are_launched() -> None:
    text = "rows = pl.tensor.dim(d, 0)\nfor i in pl.range(rows):\n    rows = rows + 1\nreturn pl.tensor.dim(d, 1)"
    more = {"d": "pl.Tensor[[M, 4], pl.FP32]"}
    head = "M = pl.dynamic('M')"
    folded = read(text, "@pl.function(type=pl.FunctionType.Orchestration)", head, **more)
    assert printed(folded) == "for i in pl.range(M):\n    rows = M + 1\nreturn pl.tensor.dim(d, 1)"
    opaque = read("rows = pl.tensor.dim(d, 0)", head=head, **more)
    assert printed(opaque) == "rows = pl.tensor.dim(d, 0)"


def test_submits_are_taken_apart() -> None:
    text = """
a = pl.create_tensor([4], dtype=pl.FP32)
with pl.manual_scope():
    a, t0 = pl.submit(self.one, a, a)
    (p, q), t1 = pl.submit(self.two, a, deps=[t0, None, ids])
    both = pl.submit(self.one, p, q, deps=[ids[n], t1, ids[0]])
    r, t2 = pl.spmd_submit(self.one, p, core_num=8, sync_start=True, deps=[ids[i] for i in range(4) if i > 1])
"""
    assert printed(read(text, "@pl.function(auto_scope=False)")) == (
        """a = pl.tensor.create([4], dtype=pl.FP32, layout=pl.TensorLayout.ND)
with pl.scope(mode=pl.ScopeMode.MANUAL):
    _submit_tmp = pl.submit(self.one, a, a)
    a = _submit_tmp[0]
    t0 = _submit_tmp[1]
    _submit_tmp_1 = pl.submit(self.two, a, deps=[t0, ids])
    p = _submit_tmp_1[0]
    q = _submit_tmp_1[1]
    t1 = _submit_tmp_1[2]
    _submit_deps_buf = pl.array.create(2, dtype=pl.TASK_ID)
    _submit_deps_buf = pl.array.update_element(_submit_deps_buf, 0, pl.array.get_element(ids, n))
    _submit_deps_buf = pl.array.update_element(_submit_deps_buf, 1, pl.array.get_element(ids, 0))
    both = pl.submit(self.one, p, q, deps=[t1, _submit_deps_buf])
    _submit_deps_buf_1 = pl.array.create(2, dtype=pl.TASK_ID)
    _submit_deps_buf_1 = pl.array.update_element(_submit_deps_buf_1, 0, pl.array.get_element(ids, 2))
    _submit_deps_buf_1 = pl.array.update_element(_submit_deps_buf_1, 1, pl.array.get_element(ids, 3))
    _submit_tmp_2 = pl.spmd_submit(self.one, p, deps=[_submit_deps_buf_1], core_num=8, sync_start=True)
    r = _submit_tmp_2[0]
    t2 = _submit_tmp_2[1]"""
    )


def test_scopes_with_task_ids_and_names() -> None:
    text = """
with pl.at(level=pl.Level.CORE_GROUP, name_hint=HINT) as first:
    y = pl.exp(x)
with pl.spmd(n, deps=[first], name_hint="q") as second:
    i = pl.tile.get_block_idx()
for i in pl.spmd(4, name_hint="r_spmd"):
    y = pl.exp(x)
with pl.spmd(2):
    w = self.one(a, a)
with pl.cluster(name_hint="c"):
    with pl.spmd(2):
        with pl.at(level=pl.Level.CORE_GROUP):
            y = pl.exp(x)
"""
    program = read(text, head="HINT = 'h'", a="pl.Tensor[[4], pl.FP32]")
    _, at, _, spmd, loop, dispatch, cluster = program["f"].body.stmts
    assert (at.name_hint, at.attrs["task_id_var"].name_hint) == ("h", "first")
    assert (spmd.name_hint, spmd.body.name_hint) == ("q_spmd", "q")
    assert spmd.attrs["manual_dep_edges"] == (at.attrs["task_id_var"],)
    assert (loop.name_hint, loop.body.name_hint) == ("r_spmd", "r")
    assert isinstance(dispatch.body, ir.AssignStmt)
    assert isinstance(cluster.body.body, ir.InCoreScopeStmt)


def test_comments_and_strings_go_with_statements() -> None:
    text = '"""doc\nlines"""\n# above\ny = n + 1  # beside\nfor i in pl.range(4):  # header\n    # inside\n    z = i\nreturn y'
    body = read(text)["f"].body.stmts
    assert [statement.leading_comments for statement in body] == [
        ("doc", "lines", "above", "beside"),
        ("header",),
        (),
    ]
    assert body[1].body.leading_comments == ("inside",)


def test_printing_and_asserting_while_reading(capsys: pytest.CaptureFixture[str]) -> None:
    text = "pl.static_print('K is', K, f'twice {2 * K}', n + 1)\npl.static_assert(K % 3 == 0, 'K')\nreturn n"
    assert printed(read(text, head="K = 3")) == "return n"
    assert capsys.readouterr().out == "static_print [<string>:7]: K is 3 twice 6 n + 1\n"


def test_a_tag_marks_the_tensor_for_later_tasks() -> None:
    text = "z = self.one(a, a)\npl.dump_tag(a)\nz = self.one(a, z)\na = self.one(z, z)\nz = self.one(a, z)"
    decorator = "@pl.function(type=pl.FunctionType.Orchestration)"
    body = read(text, decorator, a="pl.Tensor[[4], pl.FP32]")["f"].body.stmts
    tensor = body[0].value.args[0]
    assert [statement.value.attrs.get("dump_vars") for statement in body] == [None, (tensor,), None, None]


@pytest.mark.parametrize(
    "text",
    [
        "z = self.one(a, a)\npl.dump_tag(a)",  # before it only
        "pl.dump_tag(a)\na = self.one(a0, a0)\nz = self.one(a, a)",  # the name has another value
        "pl.dump_tag(a)\nz = pl.add(a, a)",  # by no kernel
    ],
)
def test_a_tag_that_no_task_heeds_is_warned_about(text: str) -> None:
    decorator = "@pl.function(type=pl.FunctionType.Orchestration)"
    tensor = "pl.Tensor[[4], pl.FP32]"
    with pytest.warns(
        UserWarning, match=re.escape("'pl.dump_tag(a)' marks nothing: no kernel that is called later")
    ):
        read(text, decorator, a=tensor, a0=tensor)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read("pl.dump_tag(a)\nz = self.one(a, a)", decorator, a=tensor)


SCALE = 2.0


@pl.inline
def scaled(a, factor):
    """Twice the value, and the sum."""
    local = pl.mul(a, SCALE)
    a = pl.mul(local, factor)
    return a, local


@pl.function
def outside(a: pl.Tensor[[4], pl.FP32]) -> pl.Tensor[[4], pl.FP32]:
    return pl.exp(a)


def test_inline_functions_are_expanded_and_functions_from_outside_join_the_program() -> None:
    @pl.program
    class Q:
        @pl.function
        def f(self, a: pl.Tensor[[4], pl.FP32]):
            y, z = scaled(a, 3.0)
            return outside(y), z, local, a

    assert sorted(f.name for f in Q.functions.values()) == ["f", "outside"]
    assert Q["outside"] is outside
    assert printed(Q) == (
        "local = pl.tensor.muls(a, 2.0)\n"
        "a_1 = pl.tensor.muls(local, 3.0)\n"
        "_tuple_tmp = [a_1, local]\n"
        "y = _tuple_tmp[0]\n"
        "z = _tuple_tmp[1]\n"
        "return self.outside(y), z, local, a_1"
    )
    assert Q["f"].body.stmts[0].span.filename == __file__


def test_external_kernels(tmp_path: Path) -> None:
    source = tmp_path / "kernels.py"
    (tmp_path / "k.cpp").write_text("// kernel\n")
    source.write_text(
        "import pypto_tmpl.language as pl\n"
        "@pl.function(type=pl.FunctionType.AIV, external_source='k.cpp')\n"
        "def k(x: pl.Tensor[[4], pl.FP32]): ...\n"
    )
    namespace: dict[str, object] = {}
    exec(compile(source.read_text(), str(source), "exec"), namespace)
    kernel = namespace["k"]
    assert isinstance(kernel, ir.Function)
    assert kernel.attrs["external_source"] == str(tmp_path / "k.cpp")
    (tmp_path / "k.cpp").unlink()
    with pytest.raises(ValueError, match="k.cpp' does not exist"):
        exec(compile(source.read_text(), str(source), "exec"), {})


def test_declared_buffers_are_named_by_their_python_variables() -> None:
    text = "y: pl.Tile[[64, 64], pl.FP32, PING[1], pl.Mem.Vec] = pl.tile.add(t, t)"
    memref = read(text, head="PING = pl.MemRef(slots=2)")["f"].body.var.type.memref
    assert (memref.base_.name_hint, memref.slot_count_, memref.slot_index_.value, memref.is_pinned_) == (
        "PING",
        2,
        1,
        True,
    )


def test_nothing_is_warned_of_without_cause() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read('pl.func_attr({"a": 1})\ny = x[0]\nreturn y')
    with pytest.warns(DeprecationWarning, match="attrs= of pl.function is deprecated"):
        read("return n", "@pl.function(attrs={'a': 1})")


def test_a_comment_that_nothing_follows_is_told() -> None:
    text = "for i in pl.range(4):\n    y = n\n    # of the loop\nreturn n\n# of the end"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read(text)
    assert [(warning.lineno, str(warning.message)) for warning in caught] == [
        (9, "no statement follows the comment 'of the loop', which is dropped"),
        (11, "no statement follows the comment 'of the end', which is dropped"),
    ]


@pl.function
def innermost(a: pl.Tensor[[4], pl.FP32]) -> pl.Tensor[[4], pl.FP32]:
    return pl.neg(a)


@pl.function
def middle(a: pl.Tensor[[4], pl.FP32]) -> pl.Tensor[[4], pl.FP32]:
    return innermost(a)


def test_functions_that_functions_from_outside_call_join_the_program_too() -> None:
    @pl.program
    class Q:
        @pl.function
        def f(self, a: pl.Tensor[[4], pl.FP32]):
            return middle(a)

    assert sorted(f.name for f in Q.functions.values()) == ["f", "innermost", "middle"]
    with pytest.raises(pl.ParserSyntaxError, match="a function from outside is named 'middle'"):

        @pl.program
        class R:
            @pl.function
            def middle(self, a: pl.Tensor[[4], pl.FP32]):
                return middle(a)


def test_a_path_without_a_file_is_one_clear_error(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.py"
    os.mkfifo(pipe)
    paths = {
        "": "'' is a folder",
        tmp_path: "is a folder",
        pipe: "no ordinary",
        tmp_path / "no.py": "does not exist",
    }
    for path, what in paths.items():
        with pytest.raises(FileNotFoundError, match=what):
            pl.loads(path)


def test_inline_functions_of_a_text() -> None:
    head = "K = 3.0\n@pl.inline\ndef tripled(a):\n    return pl.mul(a, K)\n"
    assert (
        printed(read("return tripled(tripled(v))", head=head))
        == "return pl.tensor.muls(pl.tensor.muls(v, 3.0), 3.0)"
    )
    for call, kind, message in [
        ("tripled(v, v)", pl.ParserTypeError, "'tripled' takes 1 argument\\(s\\), and 2 are given"),
        ("tripled(a=v)", pl.ParserTypeError, "'tripled' is inline and takes no keywords"),
        ("looped(v)", pl.ParserTypeError, "the inline function 'looped' calls itself"),
        ("silent(v)", pl.ParserTypeError, "the inline function 'silent' returns no value"),
    ]:
        more = "@pl.inline\ndef looped(a):\n    return looped(a)\n@pl.inline\ndef silent(a):\n    b = a\n"
        with pytest.raises(kind, match=message):
            read(f"return {call}", head=head + more)


def test_a_branch_that_leaves_the_loop_need_not_yield() -> None:
    text = "for i in pl.range(4):\n    if i < 3:\n        b = pl.yield_(v)\n    else:\n        break\n    c = pl.exp(b)"
    assert "else:\n    break" in printed(read(text)).replace("        break", "    break")
