"""Text of op calls, function calls, submits and attribute values (spec: DSL, 12.6 and 12.7)."""

from typing import Any

import pytest
from ir.printer_samples import (
    FP32,
    INDEX,
    INT32,
    INT64,
    NOWHERE,
    TASK,
    assign,
    boolean,
    call,
    call_function,
    function,
    integer,
    program,
    real,
    returns,
    scalar,
    sequence,
    submit,
    tensor,
    text,
    tile,
    tuple_of,
)

from pypto_tmpl import ir

A, B, C = tensor("a"), tensor("b"), tensor("c")
T, U = tile("t"), tile("u")
N = scalar("n")
T0, T1 = scalar("t0", ir.DataType.TASK_ID), scalar("t1", ir.DataType.TASK_ID)


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (call("tensor.exp", A), "pl.tensor.exp(a)"),
        (call("system.bar_all"), "pl.system.bar_all()"),
        (call("tensor.and", A, B), "pl.tensor.and_(a, b)"),
        (call("tile.or", T, U), "pl.tile.or_(t, u)"),
        (call("tile.not", T), "pl.tile.not_(t)"),
        (call("pld.system.rank", A), "pld.system.rank(a)"),
        (call("tensor.mul", call("tensor.exp", A), B), "pl.tensor.mul(pl.tensor.exp(a), b)"),
        (
            call("tile.load", A, tuple_of(N + 1, integer(0)), target_memory=ir.MemorySpace.Mat),
            "pl.tile.load(a, [n + 1, 0], target_memory=pl.Mem.Mat)",
        ),
        (call("tensor.add", A, B), "pl.tensor.add(a, b)"),
        (call("tensor.add", A, N), "pl.tensor.add(a, n)"),
        (call("tensor.add", scalar("x"), real(1.0)), "pl.tensor.add(x, 1.0)"),
        (call("tensor.add", A, real(1.0)), "pl.tensor.adds(a, 1.0)"),
        (call("tensor.add", A, integer(1, INT32)), "pl.tensor.adds(a, pl.const(1, pl.INT32))"),
        (call("tensor.mul", A, real(1.0)), "pl.tensor.mul(a, 1.0)"),
        (
            call("tile.exp", T, attrs={"pipeline_membership": "0:1"}, deferred=True),
            'pl.tile.exp(t, deferred=True, attrs={"pipeline_membership": "0:1"})',
        ),
    ],
)
def test_ops(node: ir.Call, expected: str) -> None:
    assert text(node) == expected


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (
            call("tensor.full", tuple_of(integer(4)), real(1e-6), dtype=FP32),
            "pl.tensor.full([4], dtype=pl.FP32, value=9.9999999999999995e-07)",
        ),
        (
            call("tile.full", tuple_of(integer(4)), integer(-3, INT32), dtype=INT32),
            "pl.tile.full([4], dtype=pl.INT32, value=-3)",
        ),
        (
            call("tile.full", tuple_of(integer(4)), real(0.0), dtype=ir.DataType.BF16),
            "pl.tile.full([4], dtype=pl.BF16, value=pl.const(0.0, pl.FP32))",
        ),
        (
            call("tile.full", tuple_of(integer(4)), N, dtype=INDEX),
            "pl.tile.full([4], dtype=pl.INDEX, value=n)",
        ),
        (
            call("tensor.reinterpret_view", A, dtype=INT32),
            "pl.tensor.reinterpret_view(a, dtype=pl.INT32)",
        ),
        (
            call("tile.reinterpret_view", T, tuple_of(integer(4)), dtype=INT32),
            "pl.tile.reinterpret_view(t, dtype=pl.INT32, shape=[4])",
        ),
        (
            call("tile.gather_row", T, U, tuple_of(), tuple_of(), tuple_of(), tuple_of(N), transpose=False),
            "pl.tile.gather_row(t, u, [], [], [], valid_shape=[n], transpose=False)",
        ),
        (
            call("tile.mgather", A, T, coalesce=1),
            "pl.tile.mgather(a, t, coalesce=1)",
        ),
        (
            call("tile.mgather", A, T, U, tuple_of(N), coalesce=0),
            "pl.tile.mgather(a, t, scratch=u, valid_shape=[n], coalesce=0)",
        ),
        (call("tile.mgather", A, T, tuple_of(N)), "pl.tile.mgather(a, t, valid_shape=[n])"),
        (
            call("tile.alloc", integer(5), integer(64), type=ir.PtrType(), pinned=True),
            "pl.tile.alloc(pl.Mem.Acc, 64, pinned=True)",
        ),
        (call("tensor.alloc", integer(0), N, type=ir.PtrType()), "pl.tensor.alloc(pl.Mem.DDR, n)"),
        (call("tensor.alloc", integer(99), N, type=ir.PtrType()), "pl.tensor.alloc(99, n)"),
        (
            call("pld.tensor.alloc_window_buffer", integer(64, INT64), name="peers"),
            "pld.tensor.alloc_window_buffer(pl.const(64, pl.INT64))",
        ),
        (
            call("pld.tile.remote_load", A, N, allow_physical_tail_padding=True),
            "pld.tile._remote_load_with_physical_tail_padding(a, n)",
        ),
        (
            call("pld.tile.remote_load", A, N, allow_physical_tail_padding=False),
            "pld.tile.remote_load(a, n, allow_physical_tail_padding=False)",
        ),
        (call("system.syncall", core_type="mix"), "pl.system.syncall(core_type='mix')"),
        (
            call("system.syncall", A, integer(4, INT32), core_type="aiv", mode="soft"),
            "pl.system.syncall(mode=\"soft\", core_type='aiv', gm_workspace=a,"
            " used_cores=pl.const(4, pl.INT32))",
        ),
        (
            call("system.syncall", A, core_type="aiv", mode="soft"),
            "pl.system.syncall(mode=\"soft\", core_type='aiv', gm_workspace=a, used_cores=0)",
        ),
        (
            call("system.task_dummy", attrs={"dummy_task": True, "manual_dep_edges": [T0, T1]}),
            "pl.system.task_dummy(deps=[t0, t1])",
        ),
        (
            call("system.task_dummy", attrs={"dummy_task": True}),
            'pl.system.task_dummy(attrs={"dummy_task": True})',
        ),
        (call("tile.aiv_shard", T, split=1), "pl.tile.aiv_shard(t, split=1)"),
    ],
)
def test_ops_with_a_spelling_of_their_own(node: ir.Call, expected: str) -> None:
    assert text(node) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, "True"),
        (3, "3"),
        (-3, "-3"),
        (0.1, "0.10000000000000001"),
        (2.0, "2.0"),
        ("it's", "'it\\'s'"),
        ("a\\b\n\u2028é", "'a\\\\b\\n\\u2028é'"),
        (ir.DataType.BF16, "pl.BF16"),
        (N, "n"),
        (N + 1, "n + 1"),
        (integer(3), "pl.const(3, pl.INDEX)"),
    ],
)
def test_keyword_values(value: Any, expected: str) -> None:
    assert text(call("tensor.exp", A, option=value)) == f"pl.tensor.exp(a, option={expected})"


@pytest.mark.parametrize(
    ("key", "code", "expected"),
    [
        *(("set_pipe", pipe, f"pl.PipeType.{pipe.name}") for pipe in ir.PipeType),
        ("wait_pipe", ir.PipeType.FIX, "pl.PipeType.FIX"),
        ("pipe", ir.PipeType.ALL, "pl.PipeType.ALL"),
        *(("atomic", atomic, f"pl.AtomicType.{atomic.name}") for atomic in ir.AtomicType),
        ("core_type", ir.CoreType.VECTOR, "1"),
        ("cmp", ir.WaitCmp.Ge, "1"),
        ("mode", 3, "3"),
    ],
)
def test_coded_keywords(key: str, code: int, expected: str) -> None:
    assert text(call("system.sync_src", **{key: code})) == f"pl.system.sync_src({key}={expected})"


@pytest.mark.parametrize("op", ["tensor.cast", "tile.cast"])
def test_cast_modes(op: str) -> None:
    names = ["none", "rint", "round", "floor", "ceil", "trunc", "odd"]
    for code, name in enumerate(names):
        expected = f"pl.{op}(a, target_type=pl.INT32, mode='{name}')"
        assert text(call(op, A, target_type=INT32, mode=code)) == expected
    with pytest.raises(ir.PrintError, match=r"keyword 'mode' of tile.cast: 7 is no cast mode \(0 to 6\)"):
        text(call("tile.cast", A, mode=7))


ATTRIBUTES: list[tuple[Any, str]] = [
    (3, "3"),
    (False, "False"),
    (0.5, "0.5"),
    (float("inf"), "1e999"),
    ('say "x"', '"say \\"x\\""'),
    (ir.DataType.INT8, "pl.INT8"),
    *((space, f"pl.Mem.{space.name}") for space in ir.MemorySpace),
    *((layout, f"pl.TensorLayout.{layout.name}") for layout in ir.TensorLayout),
    *((layout, f"pl.TileLayout.{layout.name}") for layout in ir.TileLayout),
    *((pad, f"pl.PadValue.{pad.name}") for pad in ir.PadValue),
    (ir.ArgDirection.OutputExisting, "pl.adir.output_existing"),
    ([ir.ArgDirection.Input, ir.ArgDirection.NoDep], "[pl.adir.input, pl.adir.no_dep]"),
    ([], "[]"),
    ([A, N], "[a, n]"),
    (N, "n"),
    (N // 2, "n // 2"),
    (integer(3), "pl.const(3, pl.INDEX)"),
    (real(0.5), "pl.const(0.5, pl.FP32)"),
    (boolean(True), "pl.const(True, pl.BOOL)"),
]


@pytest.mark.parametrize(("value", "expected"), ATTRIBUTES)
def test_attribute_values(value: Any, expected: str) -> None:
    printed = f'{{"new": {expected}}}'
    assert text(call("tensor.exp", A, attrs={"new": value})) == f"pl.tensor.exp(a, attrs={printed})"
    assert text(call_function("f", A, attrs={"new": value})) == f"f(a, attrs={printed})"
    assert text(submit("f", A, attrs={"new": value})) == f"pl.submit(f, a, attrs={printed})"


def test_stored_kinds_that_only_a_reader_makes() -> None:
    attrs = ir.AttrMap.of_stored(
        [
            ("counts", ir.AttrKind.INT32S, (1, -2)),
            ("variable", ir.AttrKind.VAR, N),
            ("no_variable", ir.AttrKind.VAR, None),
            ("holes", ir.AttrKind.VARS, (N, None)),
        ]
    )
    assert text(call("tensor.exp", A, attrs=attrs)) == (
        'pl.tensor.exp(a, attrs={"counts": [1, -2], "variable": n, "no_variable": None, "holes": [n, None]})'
    )


@pytest.mark.parametrize(("kind", "value"), [(ir.AttrKind.MEMORY_SPACE, 3j), (ir.AttrKind.VARS, 7)])
def test_value_without_text_is_an_error_that_names_the_key(kind: ir.AttrKind, value: object) -> None:
    attrs = ir.AttrMap.of_stored([("strange", kind, value)])
    with pytest.raises(ir.PrintError, match="attribute 'strange': no text for"):
        text(call("tensor.exp", A, attrs=attrs))


def test_directions_come_first_and_the_device_is_a_keyword() -> None:
    directions = [ir.ArgDirection.Input, ir.ArgDirection.Scalar]
    node = call_function(
        "f", A, N, attrs={"core_num": 4, "arg_directions": directions, "device": N, "dump_vars": [A]}
    )
    assert text(node) == (
        'f(a, n, device=n, attrs={"arg_directions": [pl.adir.input, pl.adir.scalar], "core_num": 4,'
        ' "dump_vars": [a]})'
    )


@pytest.mark.parametrize("direction", ir.ArgDirection)
def test_argument_directions(direction: ir.ArgDirection) -> None:
    names = {"Input": "input", "Output": "output", "InOut": "inout", "OutputExisting": "output_existing"}
    names |= {"NoDep": "no_dep", "Scalar": "scalar"}
    node = call_function("f", A, attrs={"arg_directions": [direction]})
    assert text(node) == f'f(a, attrs={{"arg_directions": [pl.adir.{names[direction.name]}]}})'


def test_functions_of_a_program_are_called_through_self() -> None:
    result = tensor("r")
    caller = function("g", [A], sequence(assign(result, call_function("f", A)), returns(result)))
    expected = "r: pl.Tensor[[16, 64], pl.FP32] = {}f(a)\n"
    assert expected.format("self.") in text(program(caller, function("f", [B], returns(B))))
    assert expected.format("") in text(caller)


def test_submits() -> None:
    assert text(submit("f", A, B)) == "pl.submit(f, a, b)"
    assert text(submit("f", A, deps=[T0, T1])) == "pl.submit(f, a, deps=[t0, t1])"
    condition = ir.eq(call("tensor.read", A, tuple_of(N), type=ir.ScalarType(INT32)), integer(1, INT32))
    directions = [ir.ArgDirection.InOut]
    node = submit(
        "f",
        A,
        deps=[T0],
        attrs={"arg_direction_overrides": [0], "dump_vars": [A, B], "arg_directions": directions},
        core_num=8,
        sync_start=True,
        allow_early_resolve=True,
        predicate=condition,
    )
    assert text(node) == (
        "pl.spmd_submit(f, a, deps=[t0], dumps=[a, b], core_num=8, sync_start=True, allow_early_resolve=True,"
        " predicate=(pl.tensor.read(a, [n]) == pl.const(1, pl.INT32)),"
        ' attrs={"arg_directions": [pl.adir.inout], "arg_direction_overrides": [0]})'
    )
    caller = function("g", [A], sequence(assign(tensor("r", node.type), submit("f", A))))
    expected = "r: pl.Tuple[pl.Tensor[[16, 64], pl.FP32], pl.Scalar[pl.TASK_ID]] = pl.submit(self.f, a)\n"
    assert expected in text(program(caller))


@pytest.mark.parametrize(
    ("node", "message"),
    [
        (call("tensor.1x", A), "op name 'tensor.1x' cannot be written"),
        (call("", A), "op name '' cannot be written"),
        (call_function("a b"), "function name 'a b' is no identifier"),
        (call("tensor.exp", A, **{"my key": 1}), "keyword 'my key' of tensor.exp is no identifier"),
        (call("tensor.exp", A, **{"class": 1}), "keyword 'class' of tensor.exp is no identifier"),
        (call("system.sync_src", set_pipe=9), "keyword 'set_pipe' of system.sync_src: 9 is no PipeType"),
        (call("tensor.assemble", A, atomic=2), "keyword 'atomic' of tensor.assemble: 2 is no AtomicType"),
        (call("system.syncall", A, B, C, mode="soft"), "system.syncall takes two operands"),
    ],
)
def test_what_cannot_be_written_is_an_error(node: ir.Expr, message: str) -> None:
    with pytest.raises(ir.PrintError, match=message):
        text(node)


def test_arrays_and_tasks() -> None:
    ids = ir.ArrayType(ir.DataType.TASK_ID, 4)
    array, first = ir.Var("ids", ids, NOWHERE), scalar("first", ir.DataType.TASK_ID)
    assert text(
        sequence(
            assign(array, call("array.create", integer(4), type=ids, dtype=ir.DataType.TASK_ID)),
            assign(first, call("system.task_invalid", type=TASK)),
            assign(array, call("array.update_element", array, integer(0), first, type=ids)),
        )
    ) == (
        "ids: pl.Array[4, pl.TASK_ID] = pl.array.create(4, dtype=pl.TASK_ID)\n"
        "first: pl.Scalar[pl.TASK_ID] = pl.system.task_invalid()\n"
        "ids: pl.Array[4, pl.TASK_ID] = pl.array.update_element(ids, 0, first)\n"
    )
