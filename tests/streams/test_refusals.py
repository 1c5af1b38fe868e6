"""What kernels cannot become text of: said with function, variable and line."""

import pytest
from streams import pto_kernels as k

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendType
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.enums import ForKind, TileLayout
from pypto_tmpl.streams import PtoError, pto_texts


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
        "tile.create requires 1 operands, 0 given (function 'kernel', variable 'a', k.py:7:5)"
    ]
    shape = ir.MakeTuple([k.index(8), k.index(16)], k.SPAN)
    made = k.program([], k.assign(a, k.call("tile.create", shape)), k.assign(b, k.call("tile.exp", a)))
    assert refused(made) == [
        "tile.exp needs 'tile' as row_major, it is col_major (function 'kernel', variable 'b', k.py:7:5)"
    ]


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
