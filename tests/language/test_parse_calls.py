# ruff: noqa: E501 (calls stand on one line, as in dumps)
"""Calls: ops from their printed operands and keywords, functions of the program, submitted tasks."""

import pytest

import pypto_tmpl.language as pl
from pypto_tmpl import ir

S = ir.Span.unknown()
D = ir.DataType
X = ir.TensorType([16, 64], D.FP32)
TASK = ir.ScalarType(D.TASK_ID)
K = ir.AttrKind

PARAMS = {
    "x": ("pl.Tensor[[16, 64], pl.FP32]", X),
    "t": ("pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec]", ir.TileType([16, 64], D.FP32, None, None, ir.MemorySpace.Vec)),
    "n": ("pl.Scalar[pl.INDEX]", ir.ScalarType(D.INDEX)),
    "d": ("pl.Scalar[pl.TASK_ID]", TASK),
    "ids": ("pl.Array[4, pl.TASK_ID]", ir.ArrayType(D.TASK_ID, 4)),
}  # fmt: skip


def read(text: str, annotation: str = "pl.Tensor[[16, 64], pl.FP32]") -> tuple[ir.Expr, dict[str, ir.Var]]:
    """The value of an assignment in a program that also has ``self.k(a, b)``."""
    params = ", ".join(f"{name}: {spelled}" for name, (spelled, _) in PARAMS.items())
    code = f"""# pypto.program: P
import pypto.language as pl
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(a: pl.Tensor[[16, 64], pl.FP32], b: pl.Out[pl.Tensor[[16, 64], pl.FP32]]) -> pl.Tensor[[16, 64], pl.FP32]:
        return b
    @pl.function
    def f(self, {params}):
        y: {annotation} = {text}
"""
    function = pl.parse(code)["f"]
    return function.body.value, {var.name_hint: var for var in function.params}


def ints(*values: int) -> ir.MakeTuple:
    return ir.MakeTuple([ir.ConstInt(value, D.INDEX, S) for value in values], S)


def op(name: str, /, *args: object, type: ir.Type = X, attrs: object = None, **kwargs: object) -> ir.Call:
    """The call that a text stands for; numbers are INDEX constants, lists shapes."""
    operands = [
        ints(*a) if isinstance(a, list) else ir.ConstInt(a, D.INDEX, S) if isinstance(a, int) else a
        for a in args
    ]
    return ir.Call(ir.Op(name), operands, kwargs, attrs, type, S)


def const(value: float, dtype: ir.DataType) -> ir.Expr:
    return ir.ConstInt(value, dtype, S) if isinstance(value, int) else ir.ConstFloat(value, dtype, S)


@pytest.mark.parametrize(
    ("text", "build"),
    [
        # printed forms that upstream itself refuses
        ("pl.tensor.gather(x, x, dim=-1)", lambda x, **_: op("tensor.gather", x, x, dim=-1)),
        ("pl.tensor.scatter(x, x, x, dim=0)", lambda x, **_: op("tensor.scatter", x, x, x, dim=0)),
        ("pl.tensor.reshape(x, [16, 64], [n, 64])", lambda x, n, **_: op("tensor.reshape", x, [16, 64], ir.MakeTuple([n, const(64, D.INDEX)], S))),
        ("pl.tensor.transpose(x, 0, 1, [16, 64])", lambda x, **_: op("tensor.transpose", x, 0, 1, [16, 64])),
        ("pl.tile.matmul_acc(t, t, t, True)", lambda t, **_: op("tile.matmul_acc", t, t, t, ir.ConstBool(True, S))),
        # operands that the printer writes as keywords
        ("pl.tensor.full([16, 64], dtype=pl.FP32, value=0.0)", lambda **_: op("tensor.full", [16, 64], const(0.0, D.FP32), dtype=D.FP32)),
        ("pl.tile.full([16, 64], dtype=pl.INT8, value=-3)", lambda **_: op("tile.full", [16, 64], const(-3, D.INT8), dtype=D.INT8)),
        ("pl.tile.full([16, 64], dtype=pl.BF16, value=1)", lambda **_: op("tile.full", [16, 64], const(1, D.BF16), dtype=D.BF16)),
        ("pl.tile.full([16, 64], dtype=pl.INT8, value=pl.const(7, pl.INT16))", lambda **_: op("tile.full", [16, 64], const(7, D.INT16), dtype=D.INT8)),
        ("pl.tile.full([16, 64], dtype=pl.INDEX, value=n)", lambda n, **_: op("tile.full", [16, 64], n, dtype=D.INDEX)),
        ("pl.tensor.reinterpret_view(x, dtype=pl.INT32)", lambda x, **_: op("tensor.reinterpret_view", x, dtype=D.INT32)),
        ("pl.tile.reinterpret_view(t, dtype=pl.INT8, shape=[16, 256])", lambda t, **_: op("tile.reinterpret_view", t, [16, 256], dtype=D.INT8)),
        ("pl.tensor.gather_row(x, x, [0], [0], [1], valid_shape=[1], transpose=False)", lambda x, **_: op("tensor.gather_row", x, x, [0], [0], [1], [1], transpose=False)),
        ("pl.tile.mgather(x, t, scratch=t, valid_shape=[8, 8], coalesce=1)", lambda x, t, **_: op("tile.mgather", x, t, t, [8, 8], coalesce=1)),
        ("pl.tile.mgather(x, t, valid_shape=[8, 8])", lambda x, t, **_: op("tile.mgather", x, t, [8, 8])),
        ('pl.system.syncall(mode="soft", core_type="mix", gm_workspace=x, used_cores=8)', lambda x, **_: op("system.syncall", x, const(8, D.INT32), mode="soft", core_type="mix")),
        ('pl.system.syncall(mode="soft", core_type="mix", gm_workspace=x, used_cores=0)', lambda x, **_: op("system.syncall", x, mode="soft", core_type="mix")),
        ('pl.system.syncall(mode="soft", core_type="mix", gm_workspace=x, used_cores=n)', lambda x, n, **_: op("system.syncall", x, n, mode="soft", core_type="mix")),
        ("pl.system.task_dummy(deps=[d, None, ids])", lambda d, ids, **_: op("system.task_dummy", attrs={"dummy_task": True, "manual_dep_edges": [d, ids]})),
        ("pl.system.task_dummy(deps=[d], attrs={\"a\": 1})", lambda d, **_: op("system.task_dummy", attrs={"dummy_task": True, "manual_dep_edges": [d], "a": 1})),
        ("pl.tile.alloc(pl.Mem.Acc, 8192, pinned=True)", lambda **_: op("tile.alloc", 5, 8192, pinned=True)),
        ("pl.tensor.alloc(pl.MemorySpace.DDR, n)", lambda n, **_: op("tensor.alloc", 0, n)),
        # names
        ("pl.tensor.and_(x, x)", lambda x, **_: op("tensor.and", x, x)),
        ("pl.tile.not_(t)", lambda t, **_: op("tile.not", t)),
        ("pl.system.tpush_to_aiv(t, split=1)", lambda t, **_: op("tile.tpush_to_aiv", t, split=1)),
        ("pl.future.brand_new(x)", lambda x, **_: op("future.brand_new", x)),
        ("pld.tensor.put(x, n, x, atomic=pl.AtomicType.None_)", lambda x, n, **_: op("pld.tensor.put", x, n, x, atomic=0)),
        ("pld.rank(x)", lambda x, **_: op("pld.system.rank", x)),
        ("pld.window(x, [4])", lambda x, **_: op("pld.tensor.window", x, [4])),
        ("pld.tile.remote_load(x, n, [0], [4])", lambda x, n, **_: op("pld.tile.remote_load", x, n, [0], [4])),
        ("pld.tile._remote_load_with_physical_tail_padding(x, n, [0], [4])", lambda x, n, **_: op("pld.tile.remote_load", x, n, [0], [4], allow_physical_tail_padding=True)),
        # a reference as an operand
        ('pl.tile.exp(pl.MemRef("m", 0, 64))', lambda **_: op("tile.exp", ir.MemRef("m", const(0, D.INDEX), 64))),
    ],
)  # fmt: skip
def test_ops(text: str, build) -> None:
    value, variables = read(text)
    assert ir.structural_diff(value, build(**variables), enable_auto_mapping=True) is None


def test_a_window_buffer_is_named_after_its_variable() -> None:
    value, _ = read("pld.alloc_window_buffer(1024)", "pl.Ptr")
    expected = op("pld.tensor.alloc_window_buffer", const(1024, D.INT64), type=ir.PtrType(), name="y")
    assert ir.structural_diff(value, expected) is None


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("3", K.INT, 3),
        ("-3", K.INT, -3),
        ("True", K.BOOL, True),
        ("0.5", K.FLOAT, 0.5),
        ("-1e+30", K.FLOAT, -1e30),
        ("1e999", K.FLOAT, float("inf")),
        ("'text'", K.STR, "text"),
        ('"a\\n\\"b\\""', K.STR, 'a\n"b"'),
        ("pl.BF16", K.DATA_TYPE, D.BF16),
        ("pl.Mem.Left", K.MEMORY_SPACE, ir.MemorySpace.Left),
        ("pl.TensorLayout.NZ", K.TENSOR_LAYOUT, ir.TensorLayout.NZ),
        ("pl.TileLayout.col_major", K.TILE_LAYOUT, ir.TileLayout.col_major),
        ("pl.PadValue.min", K.PAD_VALUE, ir.PadValue.min),
        ("pl.adir.inout", K.ARG_DIRECTION, ir.ArgDirection.InOut),
        ("[pl.adir.input, pl.adir.no_dep]", K.ARG_DIRECTIONS, (ir.ArgDirection.Input, ir.ArgDirection.NoDep)),
        ("[]", K.ARG_DIRECTIONS, ()),
        ("[1, -2]", K.INT32S, (1, -2)),
        ("None", K.EXPR, None),
        ("pl.SplitMode.LEFT_RIGHT", K.INT, 2),
        ("pl.PipeType.MTE3", K.INT, 2),
        ("pl.AtomicType.Add", K.INT, 1),
        ("pl.CoreType.VECTOR", K.INT, 1),
        ("pld.NotifyOp.Set", K.INT, 1),
        ("pld.WaitCmp.Ge", K.INT, 1),
        ("pld.ReduceOp.Prod", K.INT, 3),
        ("pl.tile.MaskPattern.P1010", K.INT, 2),
    ],
)
def test_every_kind_of_attribute_is_restored(text: str, kind: ir.AttrKind, value: object) -> None:
    for form in (
        f"pl.tile.exp(t, key={text})",
        f'pl.tile.exp(t, attrs={{"key": {text}}})',
        f'self.k(x, x, attrs={{"key": {text}}})',
    ):
        call, _ = read(form)
        found = call.attrs if "attrs" in form else call.kwargs
        assert found.kinds["key"] is kind
        assert found["key"] == value
        assert type(found["key"]) is type(value)


def test_attributes_hold_variables_and_expressions() -> None:
    call, variables = read(
        'pl.tile.exp(t, attrs={"task_id_var": d, "other": d, "both": [d, ids], "some": [None, d], "dump_vars": [], '
        '"sum": n + 1, "typed": pl.const(3, pl.INDEX), "core_num": pl.const(4, pl.INDEX), "arg_direction_overrides": [], "null": None})'
    )
    d, ids, n = variables["d"], variables["ids"], variables["n"]
    kinds = [K.VAR, K.EXPR, K.VARS, K.VARS, K.VARS, K.EXPR, K.EXPR, K.EXPR, K.INT32S, K.EXPR]
    assert list(call.attrs.kinds.values()) == kinds
    assert call.attrs["task_id_var"] is d
    assert call.attrs["other"] is d
    assert call.attrs["both"] == (d, ids)
    assert call.attrs["some"] == (None, d)
    assert ir.structural_equal(call.attrs["sum"], ir.Add(n, const(1, D.INDEX), D.INDEX, S))
    assert ir.structural_equal(call.attrs["typed"], const(3, D.INDEX))
    assert ir.structural_equal(call.attrs["core_num"], const(4, D.INDEX))
    assert list(call.attrs) == ["task_id_var", "other", "both", "some", "dump_vars", "sum", "typed", "core_num",
                                "arg_direction_overrides", "null"]  # fmt: skip


MODES = ["none", "rint", "round", "floor", "ceil", "trunc", "odd"]


@pytest.mark.parametrize("name", MODES)
@pytest.mark.parametrize("namespace", ["tile", "tensor"])
def test_names_of_cast_modes_are_codes(name: str, namespace: str) -> None:
    call, _ = read(f"pl.{namespace}.cast(t, target_type=pl.BF16, mode='{name}')")
    assert call.kwargs["mode"] == MODES.index(name)
    assert call.kwargs.kinds["mode"] is K.INT
    other, _ = read(f"pl.system.other(t, mode='{name}')")
    assert other.kwargs["mode"] == name


def test_enumerations_print_as_they_read() -> None:
    forms = [f"pl.system.sync_src(set_pipe=pl.PipeType.{pipe.name}, event_id=0)" for pipe in ir.PipeType]
    forms += [f"pl.tile.store(t, [0, 0], x, atomic=pl.AtomicType.{code.name})" for code in ir.AtomicType]
    forms += [
        f"pl.tile.create([16, 64], dtype=pl.FP32, target_memory=pl.Mem.{s.name})" for s in ir.MemorySpace
    ]
    forms += [f"pl.tile.move(t, slayout=pl.TileLayout.{layout.name})" for layout in ir.TileLayout]
    forms += [
        f"pl.tensor.create([16, 64], layout=pl.TensorLayout.{layout.name})" for layout in ir.TensorLayout
    ]
    forms += [f"pl.tile.fillpad(t, pad_value=pl.PadValue.{pad.name})" for pad in ir.PadValue]
    for form in forms:
        assert ir.python_print(read(form)[0], format=False) == form


def test_function_calls() -> None:
    call, variables = read(
        'self.k(x, pl.no_dep(x), device=n, attrs={"arg_directions": [pl.adir.input, pl.adir.output]})'
    )
    x, n = variables["x"], variables["n"]
    attrs = [
        ("arg_direction_overrides", [1]),
        ("device", n),
        ("arg_directions", [ir.ArgDirection.Input, ir.ArgDirection.Output]),
    ]
    assert ir.structural_diff(call, ir.Call(ir.GlobalVar("k"), [x, x], None, attrs, X, S)) is None


def test_a_call_without_annotation_has_the_type_of_the_callee() -> None:
    function = pl.parse(
        """import pypto.language as pl
@pl.program
class P:
    @pl.function
    def main(self, x: pl.Tensor[[16, 64], pl.FP32]):
        a = self.one(x)
        self.none(x)
        self.two(x)
        return self.two(x)[1], self.inferred(x)
    @pl.function
    def one(self, x: pl.Tensor[[16, 64], pl.FP32]) -> pl.Tensor[[16, 64], pl.FP32]:
        return x
    @pl.function
    def two(self, x: pl.Tensor[[16, 64], pl.FP32]) -> tuple[pl.Tensor[[16, 64], pl.FP32], pl.Scalar[pl.INDEX]]:
        return x, 1
    @pl.function
    def none(self, x: pl.Tensor[[16, 64], pl.FP32]):
        pass
    @pl.function
    def inferred(self, x: pl.Tensor[[16, 64], pl.FP32]):
        return x
    @pl.function
    def later(self, x: pl.Tensor[[16, 64], pl.FP32]):
        return self.inferred(x)
"""
    )
    a, none, two, result = function["main"].body.stmts
    assert a.var.type == a.value.type == X
    assert none.expr.type == ir.UnknownType()
    assert two.expr.type == ir.TupleType([X, ir.ScalarType(D.INDEX)])
    assert result.value[0].type == ir.ScalarType(D.INDEX)
    assert result.value[1].type == ir.UnknownType()  # its body has not been read
    assert function["later"].body.value[0].type == X


def test_a_function_alone_may_call_others_of_its_program() -> None:
    function = pl.parse(
        """import pypto.language as pl
@pl.function
def f(x: pl.Tensor[[16, 64], pl.FP32]):
    y: pl.Tensor[[16, 64], pl.FP32] = g(x)
    h(y)
    z: pl.Tensor[[16, 64], pl.FP32] = f(y)
"""
    )
    y, h, z = function.body.stmts
    assert y.value.op == ir.GlobalVar("g")
    assert y.value.type == X
    assert h.expr.op == ir.GlobalVar("h")
    assert h.expr.type == ir.UnknownType()
    assert z.value.op == ir.GlobalVar("f")


PAIR = "pl.Tuple[pl.Tensor[[16, 64], pl.FP32], pl.Scalar[pl.TASK_ID]]"
PAIR_TYPE = ir.TupleType([X, TASK])


def submit(args, deps=(), attrs=None, **launch):
    return ir.Submit(ir.GlobalVar("k"), args, deps, None, attrs, PAIR_TYPE, S, **launch)


@pytest.mark.parametrize(
    ("text", "build"),
    [
        ("pl.submit(self.k, x, x)", lambda x, **_: submit([x, x])),
        ("pl.submit(self.k, x)", lambda x, **_: submit([x])),
        ("pl.submit(self.k, x, x, deps=[d, ids, None])", lambda x, d, ids, **_: submit([x, x], [d, ids])),
        ("pl.submit(self.k, x, pl.no_dep(x), dumps=[x])", lambda x, **_: submit([x, x], attrs={"arg_direction_overrides": [1], "dump_vars": [x]})),
        ("pl.spmd_submit(self.k, x, x, core_num=8, sync_start=True)", lambda x, **_: submit([x, x], core_num=8, sync_start=True)),
        ("pl.submit(self.k, x, x, allow_early_resolve=True, predicate=(n == 3))", lambda x, n, **_: submit([x, x], allow_early_resolve=True, predicate=ir.Eq(n, const(3, D.INDEX), D.BOOL, S))),
        ('pl.submit(self.k, x, x, attrs={"arg_directions": [pl.adir.input, pl.adir.output]})', lambda x, **_: submit([x, x], attrs={"arg_directions": [ir.ArgDirection.Input, ir.ArgDirection.Output]})),
    ],
)  # fmt: skip
def test_submits(text: str, build) -> None:
    value, variables = read(text, PAIR)
    assert ir.structural_diff(value, build(**variables)) is None


def test_a_submit_without_annotation_has_the_results_and_a_task_id() -> None:
    function = pl.parse(
        """import pypto.language as pl
@pl.program
class P:
    @pl.function
    def k(self, x: pl.Tensor[[16, 64], pl.FP32]) -> pl.Tensor[[16, 64], pl.FP32]:
        return x
    @pl.function
    def nothing(self, x: pl.Tensor[[16, 64], pl.FP32]):
        pass
    @pl.function
    def main(self, x: pl.Tensor[[16, 64], pl.FP32]):
        out, tid = pl.submit(self.k, x)
        both = pl.submit(self.k, x, deps=[tid])
        only = pl.submit(self.nothing, x)
"""
    )
    temporary, out, tid, both, only = function["main"].body.stmts
    assert temporary.var.name_hint == "_submit_tmp"
    assert temporary.var.type == temporary.value.type == PAIR_TYPE
    assert (out.var.name_hint, out.value.index, out.var.type) == ("out", 0, X)
    assert (tid.var.name_hint, tid.value.index, tid.var.type) == ("tid", 1, TASK)
    assert both.value.deps == (tid.var,)
    assert both.var.type == PAIR_TYPE
    assert only.var.type == TASK
