"""What kernels cannot become text of: said with function, variable and line."""

import pytest
from streams import pto_kernels as k

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendType
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.enums import ForKind, TileLayout
from pypto_tmpl.ops import load_table
from pypto_tmpl.streams import PtoError, pto_text, pto_texts, units_of


def refused(made: ir.Program, backend: BackendType = BackendType.Ascend910B) -> list[str]:
    with pytest.raises(PtoError) as caught:
        pto_texts(made, backend)
    return list(caught.value.notes)


def test_all_ops_without_text_are_listed() -> None:
    a, b, c = (k.tile(name, offset) for name, offset in (("a", 0), ("b", 512), ("c", 1024)))
    made = k.program(
        [],
        k.assign(a, k.call("tile.full", k.index(1))),
        k.assign(b, k.call("tile.sin", a)),
        k.assign(c, k.call("tile.nothing", b)),
    )
    assert refused(made) == [
        "No codegen registered for operation: tile.sin on Ascend910B "
        "(function 'kernel', variable 'b', k.py:7:5)",
        "No codegen registered for operation: tile.nothing on Ascend910B "
        "(function 'kernel', variable 'c', k.py:7:5)",
    ]


def test_an_op_of_the_other_backend_alone() -> None:
    a, b = k.tile("a"), k.tile("b", 512)
    made = k.program([], k.assign(b, k.call("tile.matmul_mx", a, a, a, a)))
    assert "tile.matmul_mx on Ascend910B" in refused(made)[0]


def test_tiles_that_must_lie_row_by_row() -> None:
    columns = ir.TileView(blayout=TileLayout.col_major)
    a, b = k.tile("a", 0, columns), k.tile("b", 512)
    made = k.program([], k.assign(a, k.call("tile.create")), k.assign(b, k.call("tile.exp", a)))
    assert refused(made) == [
        "tile.exp needs tile ('a') as row_major, it is col_major (function 'kernel', variable 'b', k.py:7:5)"
    ]
    made = k.program([], k.assign(b, k.call("tile.create")), k.assign(a, k.call("tile.adds", a, k.index(1))))
    assert refused(made) == [
        "tile.adds needs lhs ('a') as row_major, it is col_major (function 'kernel', variable 'a', k.py:7:5)",
        "tile.adds needs the result ('a') as row_major, it is col_major "
        "(function 'kernel', variable 'a', k.py:7:5)",
    ]


def test_an_operand_too_few() -> None:
    made = k.program([], k.assign(k.tile("a"), k.call("tile.create")))
    assert refused(made) == [
        "tile.create requires 1 operands, 0 given (function 'kernel', variable 'a', k.py:7:5)"
    ]


PLACE = " (function 'kernel', variable 'r', k.py:7:5)"
# What both generations of hardware read and write row by row (PyPTO's table of its backends).
ROW_BY_ROW = (
    "abs add adds addsc and cast cmps div divs exp fmod fmods gatherb log lrelu maximum maximums minimum "
    "mrgsort_format1 mrgsort_format2 mscatter mul muls not or part_add part_max part_min part_mul prelu "
    "recip relu rem rsqrt sel sels shl shr sort32 sqrt sub subs subsc xor"
)
MADE_BY_ROWS = "full random tri"


@pytest.mark.parametrize("name", ROW_BY_ROW.split())
def test_every_op_of_rows_refuses_columns(name: str) -> None:
    column = k.tile("column", 0, ir.TileView(blayout=TileLayout.col_major))
    for backend in BackendType:
        found = refused(k.program([], k.assign(k.tile("r", 512), k.call(f"tile.{name}", column))), backend)
        assert (
            "('column') as row_major, it is col_major (function 'kernel', variable 'r', k.py:7:5)" in found[0]
        )


def test_no_other_op_has_the_requirement() -> None:
    found = {name.removeprefix("tile.") for name, entry in load_table().items() if entry.row_major}
    assert found == {*ROW_BY_ROW.split(), *MADE_BY_ROWS.split()}


@pytest.mark.parametrize("name", MADE_BY_ROWS.split())
def test_every_op_that_makes_rows_makes_no_columns(name: str) -> None:
    column = k.tile("column", 0, ir.TileView(blayout=TileLayout.col_major))
    for backend in BackendType:
        found = refused(k.program([], k.assign(column, k.call(f"tile.{name}"))), backend)
        assert found == [
            f"tile.{name} needs the result ('column') as row_major, it is col_major "
            "(function 'kernel', variable 'column', k.py:7:5)"
        ]


def test_a_name_that_the_run_time_has() -> None:
    assert refused(k.program([], name="pypto_register_counter_completion")) == [
        "Function name 'pypto_register_counter_completion' is reserved: the run time has a function of this "
        "name (function 'pypto_register_counter_completion', k.py:7:5)"
    ]


@pytest.mark.parametrize(
    ("view", "said"),
    [
        (
            ir.TileView(blayout=TileLayout.col_major, slayout=TileLayout.row_major, fractal=512),
            "blayout mismatch, the source has col_major, the target row_major",
        ),
        (
            ir.TileView(slayout=TileLayout.row_major),
            "slayout mismatch, the source has row_major, the target none_box",
        ),
        (ir.TileView(fractal=1024), "fractal mismatch, the source has 1024, the target 512"),
        (ir.TileView(pad=ir.PadValue.min), "pad mismatch, the source has min, the target null"),
    ],
    ids=["blayout", "slayout", "fractal", "pad"],
)
def test_a_window_of_another_layout_is_not_written_through(view: ir.TileView, said: str) -> None:
    whole, part = k.tile("whole"), k.tile("part", 512, view)
    zero = ir.MakeTuple([k.index(0), k.index(0)], k.SPAN)
    extents = ir.MakeTuple([k.index(8), k.index(16)], k.SPAN)
    made = k.program(
        [],
        *(k.assign(var, k.call("tile.create", extents)) for var in (whole, part)),
        k.assign(k.tile("out"), k.call("tile.assemble", whole, part, zero)),
    )
    assert refused(made) == [f"tile.assemble: {said} (function 'kernel', variable 'out', k.py:7:5)"]


def test_both_kernels_of_a_group_are_told_of() -> None:
    functions = []
    for name, kind in (("both_aic", ir.FunctionType.AIC), ("both_aiv", ir.FunctionType.AIV)):
        body = ir.SeqStmts([k.assign(k.tile("a"), k.call("tile.sin", k.tile("b")))], k.SPAN)
        functions.append(ir.Function(name, [], [], body, k.SPAN, kind))
    calls = [
        ir.EvalStmt(ir.Call(ir.GlobalVar(f.name), [], None, None, ir.UnknownType(), k.SPAN), k.SPAN)
        for f in functions
    ]
    group = ir.Function("both", [], [], ir.SeqStmts(calls, k.SPAN), k.SPAN, ir.FunctionType.Group)
    (unit,) = units_of(ir.Program([*functions, group], "program", k.SPAN))
    with pytest.raises(PtoError) as caught:
        pto_text(unit, BackendType.Ascend910B)
    assert [item.function for item in caught.value.found] == ["both_aic", "both_aiv"]


def loop(step: int, kind: ForKind = ForKind.Sequential) -> ir.ForStmt:
    i = k.scalar("i", DataType.INDEX)
    body = ir.SeqStmts([], k.SPAN)
    return ir.ForStmt(i, k.index(0), k.index(8), k.index(step), [], body, [], k.SPAN, kind)


def test_a_loop_that_does_not_go_on() -> None:
    assert refused(k.program([], loop(0)))[0].startswith(
        "loops in device functions must have a positive step, but this loop steps by 0"
    )


def test_a_loop_that_a_pass_should_have_lowered() -> None:
    assert "kind Pipeline" in refused(k.program([], loop(1, ForKind.Pipeline)))[0]


def test_a_symbol_that_nothing_binds() -> None:
    n, m = k.scalar("n", DataType.INDEX), k.scalar("m", DataType.INDEX)
    found = refused(k.program([], k.assign(m, ir.Add(n, k.index(1), DataType.INDEX, k.SPAN))))
    assert found[0].startswith("PTO codegen cannot materialize symbol 'n' in function 'kernel'")
    assert found[0].endswith("(function 'kernel', variable 'm', k.py:7:5)")


def test_a_call_that_is_no_statement_of_its_own() -> None:
    a, b = k.tile("a"), k.tile("b", 512)
    inner = k.call("tile.exp", a, kind=a.type)
    shape = ir.MakeTuple([k.index(8), k.index(16)], k.SPAN)
    created = k.assign(a, k.call("tile.create", shape))
    assert refused(k.program([], created, k.assign(b, k.call("tile.sqrt", inner)))) == [
        "a Call stands where a variable is expected: FlattenCallExpr binds it to one "
        "(function 'kernel', variable 'b', k.py:7:5)"
    ]


def test_a_name_of_a_buffer_that_is_no_word() -> None:
    made = k.program(
        [],
        k.assign(k.scalar("b", DataType.INT32), k.call("system.reserve_buffer", name="a-b", size=64, base=0)),
    )
    assert "invalid character '-'" in refused(made)[0]


def test_a_branch_with_results_needs_an_else() -> None:
    result = k.scalar("r", DataType.INDEX)
    then = ir.YieldStmt([k.index(1)], k.SPAN)
    made = k.program([], ir.IfStmt(ir.ConstBool(True, k.SPAN), then, None, [result], k.SPAN))
    assert refused(made)[0].startswith("a branch with results needs an else")


def test_errors_of_all_kernels_are_listed() -> None:
    made = [k.program([], loop(0), name=name) for name in ("a", "b")]
    both = [function for program in made for function in program.functions.values()]
    found = refused(ir.Program(both, "program", k.SPAN))
    assert [line.partition("(")[2] for line in found] == [
        "function 'a', k.py:7:5)",
        "function 'b', k.py:7:5)",
    ]


def test_the_region_of_a_view_is_not_set() -> None:
    a, view, c = k.tile("a"), k.tile("view", 0), k.tile("c", 0)
    shape = ir.MakeTuple([k.index(4), k.index(16)], k.SPAN)
    zero = ir.MakeTuple([k.index(0), k.index(0)], k.SPAN)
    whole = ir.MakeTuple([k.index(8), k.index(16)], k.SPAN)
    made = k.program(
        [],
        k.assign(a, k.call("tile.create", whole)),
        k.assign(view, k.call("tile.slice", a, shape, zero)),
        k.assign(c, k.call("tile.set_validshape", view, k.index(2), k.index(16))),
    )
    assert refused(made)[0].startswith("tile.set_validshape: the tile is a view of another one")


def test_odd_halves_go_from_cube_to_vector_only() -> None:
    a = k.tile("a")
    whole = ir.MakeTuple([k.index(8), k.index(16)], k.SPAN)
    push = ir.EvalStmt(k.call("tile.tpush_to_aic", a, split=3), k.SPAN)
    made = k.program([], k.assign(a, k.call("tile.create", whole)), push)
    assert refused(made)[0].startswith("pto.tpush_to_aic cannot have the split 3")


def test_an_event_that_there_is_not() -> None:
    wait = ir.EvalStmt(k.call("system.sync_wait", pipe=4, event_id=14), k.SPAN)
    assert refused(k.program([], wait))[0].startswith("an event is one of 0 to 13, got 14")


def test_four_bits_on_a_backend_without_them() -> None:
    x = ir.Var("x", ir.TensorType([8, 16], DataType.FP4), k.SPAN)
    assert refused(k.program([x])) == [
        "Ascend910B has no 4-bit dtype FP4 (function 'kernel', variable 'x', k.py:7:5)"
    ]
    assert pto_texts(k.program([x]), BackendType.Ascend950)["ptoas/kernel.pto"].count("!pto.f4E2M1x2") == 1
