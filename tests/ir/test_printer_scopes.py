"""Text of scopes (spec: DSL, 6 and 12.8)."""

from typing import Any

import pytest
from ir.printer_samples import (
    INDEX,
    INT32,
    NOWHERE,
    TASK,
    assign,
    body_text,
    call,
    evaluate,
    integer,
    loop,
    returns,
    scalar,
    sequence,
    tensor,
    text,
    tile,
    yields,
)

from pypto_tmpl import ir

A, B = tensor("a"), tensor("b")
N = scalar("n")
T0, T1 = scalar("t0", ir.DataType.TASK_ID), scalar("t1", ir.DataType.TASK_ID)
WORK = evaluate(call("system.bar_all"))
INDENTED = "    pl.system.bar_all()\n"


def in_core(body: ir.Stmt = WORK, **options: Any) -> ir.InCoreScopeStmt:
    return ir.InCoreScopeStmt(body=body, span=NOWHERE, **options)


def spmd(core_num: int | ir.Expr, body: ir.Stmt = WORK, **options: Any) -> ir.SpmdScopeStmt:
    return ir.SpmdScopeStmt(core_num, body=body, span=NOWHERE, **options)


def block_index(name: str = "i", dtype: ir.DataType = INDEX, **options: Any) -> ir.AssignStmt:
    type_ = ir.ScalarType(dtype)
    return assign(ir.Var(name, type_, NOWHERE), call("tile.get_block_idx", type=type_, **options))


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (in_core(), "pl.at(level=pl.Level.CORE_GROUP)"),
        (
            in_core(split=ir.SplitMode.UP_DOWN),
            "pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.UP_DOWN)])",
        ),
        (
            in_core(split=ir.SplitMode.LEFT_RIGHT, name_hint="k", attrs={"slot_num": 4}),
            "pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.LEFT_RIGHT),"
            ' pl.cross_core_slot(slot_num=4)], name_hint="k")',
        ),
        (
            in_core(
                attrs={
                    "windowize": True,
                    "allow_early_resolve": True,
                    "dump_vars": [A, B],
                    "arg_direction_overrides_vars": [B],
                    "manual_dep_edges": [T0, T1],
                }
            ),
            "pl.at(level=pl.Level.CORE_GROUP, deps=[t0, t1], no_dep_args=[b], dumps=[a, b],"
            " allow_early_resolve=True, windowize=True)",
        ),
        (
            in_core(attrs={"manual_dep_edges": [T0], "other": 1, "windowize": 7}),
            'pl.at(level=pl.Level.CORE_GROUP, deps=[t0], attrs={"other": 1, "windowize": 7})',
        ),
        (
            ir.HierarchyScopeStmt(ir.Level.CHIP, body=WORK, span=NOWHERE),
            "pl.at(level=pl.Level.CHIP)",
        ),
        (
            ir.HierarchyScopeStmt(
                ir.Level.POD, ir.Role.Orchestrator, "h", WORK, NOWHERE, attrs={"manual_dep_edges": [T0]}
            ),
            'pl.at(level=pl.Level.CLUSTER_0, role=pl.Role.Orchestrator, name_hint="h", deps=[t0])',
        ),
        (ir.ClusterScopeStmt(body=WORK, span=NOWHERE), "pl.cluster()"),
        (ir.ClusterScopeStmt("g", WORK, NOWHERE), 'pl.cluster(name_hint="g")'),
        (
            ir.ClusterScopeStmt("g", WORK, NOWHERE, attrs={"manual_dep_edges": [T0]}),
            'pl.cluster(name_hint="g", attrs={"manual_dep_edges": [t0]})',
        ),
        (ir.RuntimeScopeStmt(body=WORK, span=NOWHERE), "pl.scope()"),
        (ir.RuntimeScopeStmt(True, body=WORK, span=NOWHERE), "pl.scope(mode=pl.ScopeMode.MANUAL)"),
        (
            ir.RuntimeScopeStmt(
                True, "r", WORK, NOWHERE, attrs={"__compiler_auto_manual_scope_candidate": True}
            ),
            'pl.scope(mode=pl.ScopeMode.MANUAL, name_hint="r",'
            ' attrs={"__compiler_auto_manual_scope_candidate": True})',
        ),
        (spmd(4), "pl.spmd(4)"),
        (spmd(N * 2, sync_start=True, name_hint="s"), 'pl.spmd(n * 2, sync_start=True, name_hint="s")'),
        (
            spmd(
                integer(4, INT32),
                attrs={"manual_dep_edges": [T0], "allow_early_resolve": False, "predicate": N},
            ),
            "pl.spmd(pl.const(4, pl.INT32), allow_early_resolve=False, predicate=(n), deps=[t0])",
        ),
    ],
)
def test_scopes(node: ir.ScopeStmt, expected: str) -> None:
    assert body_text(node, params=[A, B, N, T0, T1]) == f"with {expected}:\n{INDENTED}"


@pytest.mark.parametrize("level", [level for level in ir.Level if level is not ir.Level.CORE_GROUP])
def test_levels(level: ir.Level) -> None:
    node = ir.HierarchyScopeStmt(level, body=WORK, span=NOWHERE)
    assert text(node) == f"with pl.at(level=pl.Level.{level.name}):\n{INDENTED}"


def test_hierarchy_scope_that_would_read_as_another_scope_is_an_error() -> None:
    with pytest.raises(ir.PrintError, match="a HierarchyScopeStmt of level CORE_GROUP would read as"):
        text(ir.HierarchyScopeStmt(ir.Level.CORE_GROUP, body=WORK, span=NOWHERE))


def test_task_of_a_scope_stands_for_its_placeholder() -> None:
    placeholder = assign(T0, call("system.task_invalid", type=TASK))
    ir.attach_leading_comments(placeholder, ["kept"])
    assert body_text(placeholder, in_core(attrs={"task_id_var": T0}), returns(T0)) == (
        f"# kept\nwith pl.at(level=pl.Level.CORE_GROUP) as t0:\n{INDENTED}return t0\n"
    )
    assert body_text(placeholder, spmd(2, attrs={"task_id_var": T0})) == (
        f"# kept\nwith pl.spmd(2) as t0:\n{INDENTED}"
    )
    assert body_text(spmd(2, attrs={"task_id_var": T0}), returns(T0)) == (
        f"with pl.spmd(2) as t0:\n{INDENTED}return t0\n"
    )


def test_other_placeholders_are_shown() -> None:
    placeholder = assign(T0, call("system.task_invalid", type=TASK))
    shown = "t0: pl.Scalar[pl.TASK_ID] = pl.system.task_invalid()\n"
    assert body_text(placeholder, in_core(attrs={"task_id_var": T1})).startswith(shown)
    assert body_text(placeholder, WORK, in_core(attrs={"task_id_var": T0})).startswith(shown)
    assert body_text(placeholder) == shown
    marked = assign(T0, call("system.task_invalid", type=TASK, attrs={"x": 1}))
    assert 'task_invalid(attrs={"x": 1})' in body_text(marked, in_core(attrs={"task_id_var": T0}))
    cluster = ir.ClusterScopeStmt("", WORK, NOWHERE, attrs={"task_id_var": T0})
    assert body_text(placeholder, cluster) == (
        f'{shown}with pl.cluster(attrs={{"task_id_var": t0}}):\n{INDENTED}'
    )


def test_yields_look_through_scopes() -> None:
    result = tensor("r")
    scope = ir.RuntimeScopeStmt(body=sequence(WORK, yields(A)), span=NOWHERE)
    node = loop(
        scalar("i"), integer(0), N, integer(1), scope, [ir.IterArg("c", A.type, A, NOWHERE)], [result]
    )
    assert body_text(node, params=[A, N]) == (
        "for i, (c,) in pl.range(n, init_values=(a,)):\n"
        "    with pl.scope():\n"
        "        pl.system.bar_all()\n"
        "        r: pl.Tensor[[16, 64], pl.FP32] = pl.yield_(a)\n"
    )


def test_spmd_loops() -> None:
    body = in_core(
        sequence(block_index(), WORK), name_hint="q", attrs={"slot_num": 3}, split=ir.SplitMode.UP_DOWN
    )
    node = spmd(
        4, body, name_hint="q_spmd", sync_start=True, attrs={"predicate": N, "allow_early_resolve": True}
    )
    assert body_text(node, params=[N]) == (
        'for i in pl.spmd(4, sync_start=True, name_hint="q_spmd",'
        " optimizations=[pl.split(pl.SplitMode.UP_DOWN), pl.cross_core_slot(slot_num=3)],"
        f" allow_early_resolve=True, predicate=(n)):\n{INDENTED}"
    )
    assert body_text(spmd(4, in_core(block_index()))) == "for i in pl.spmd(4):\n    pass\n"


def test_comments_of_hidden_statements_stay() -> None:
    index = block_index()
    body = in_core(sequence(index, WORK))
    node = spmd(4, body)
    for stmt, comment in ((node, "scope"), (body, "core"), (index, "index")):
        ir.attach_leading_comments(stmt, [comment])
    assert body_text(node) == f"# scope\n# core\n# index\nfor i in pl.spmd(4):\n{INDENTED}"


INDEX_LINE = "        i: pl.Scalar[pl.INDEX] = pl.tile.get_block_idx()\n"


@pytest.mark.parametrize(
    ("node", "spmd_options", "at_options", "first"),
    [
        # The loop form would name the in-core scope after the Spmd scope ...
        (spmd(4, in_core(block_index(), name_hint="q")), "", ', name_hint="q"', INDEX_LINE),
        (
            spmd(4, in_core(block_index(), name_hint="q"), name_hint="q"),
            ', name_hint="q"',
            ', name_hint="q"',
            INDEX_LINE,
        ),
        # ... and has no place for these attributes, for the type of the index, or for its keywords.
        (spmd(4, in_core(block_index(), attrs={"windowize": True})), "", ", windowize=True", INDEX_LINE),
        (
            spmd(4, in_core(block_index()), attrs={"dump_vars": [A]}),
            ', attrs={"dump_vars": [a]}',
            "",
            INDEX_LINE,
        ),
        (
            spmd(4, in_core(block_index(dtype=INT32))),
            "",
            "",
            "        i: pl.Scalar[pl.INT32] = pl.tile.get_block_idx()\n",
        ),
        (
            spmd(4, in_core(block_index(axis=1))),
            "",
            "",
            "        i: pl.Scalar[pl.INDEX] = pl.tile.get_block_idx(axis=1)\n",
        ),
        (spmd(4, in_core(WORK)), "", "", "    " + INDENTED),
    ],
)
def test_spmd_scopes_that_are_no_loops(
    node: ir.SpmdScopeStmt, spmd_options: str, at_options: str, first: str
) -> None:
    assert body_text(node, params=[A]) == (
        f"with pl.spmd(4{spmd_options}):\n    with pl.at(level=pl.Level.CORE_GROUP{at_options}):\n{first}"
    )


def lane_region(mode: ir.SplitMode, *stmts: ir.Stmt, **options: Any) -> ir.SplitAivScopeStmt:
    return ir.SplitAivScopeStmt(mode, body=sequence(*stmts), span=NOWHERE, **options)


LANE = scalar("lane")
LANE_INDEX = assign(LANE, call("tile.get_subblock_idx", type=ir.ScalarType(INDEX)))


@pytest.mark.parametrize("mode", ir.SplitMode)
def test_split_regions(mode: ir.SplitMode) -> None:
    t, u = tile("t"), tile("u")
    shard = assign(u, call("tile.aiv_shard", t, type=t.type, split=mode.value, lane_stride=8))
    gather = assign(t, call("tensor.aic_gather", u, type=t.type, split=3))
    tile_text = "pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec]"
    # The region's split is not repeated; another one is not hidden.
    assert body_text(lane_region(mode, LANE_INDEX, shard, gather), gather, params=[t]) == (
        f"for lane in pl.split_aiv(2, mode=pl.SplitMode.{mode.name}):\n"
        f"    u: {tile_text} = pl.tile.aiv_shard(t, lane_stride=8)\n"
        f"    t: {tile_text} = pl.tensor.aic_gather(u, split=3)\n"
        f"t: {tile_text} = pl.tensor.aic_gather(u, split=3)\n"
    )


def test_split_regions_with_and_without_a_lane() -> None:
    node = lane_region(ir.SplitMode.NONE, LANE_INDEX, name_hint="r", attrs={"x": 1})
    assert body_text(node) == (
        'for lane in pl.split_aiv(2, mode=pl.SplitMode.NONE, name_hint="r", attrs={"x": 1}):\n    pass\n'
    )
    header = "for _lane in pl.split_aiv(2, mode=pl.SplitMode.NONE):\n"
    assert body_text(lane_region(ir.SplitMode.NONE, WORK)) == header + INDENTED
    two = body_text(lane_region(ir.SplitMode.NONE, WORK), lane_region(ir.SplitMode.NONE, WORK))
    assert two == header + INDENTED + header.replace("_lane", "_lane_1") + INDENTED
    assert body_text(lane_region(ir.SplitMode.NONE)) == header + "    pass\n"


def test_comm_domains_are_comments() -> None:
    left, right = ir.Var("left", ir.PtrType(), NOWHERE), ir.Var("right", ir.PtrType(), NOWHERE)
    slots = [ir.WindowBuffer(left, 64), ir.WindowBuffer(right, 64)]
    every = ir.CommDomainScopeStmt([], slots, body=sequence(WORK, WORK), span=NOWHERE)
    assert body_text(every) == (
        "# pld.comm_domain: devices=all, slots=[left, right]\npl.system.bar_all()\npl.system.bar_all()\n"
    )
    some = ir.CommDomainScopeStmt([0, 2], [], "d", sequence(), NOWHERE, attrs={"x": 1})
    assert body_text(some) == ('# pld.comm_domain: devices=[0, 2], slots=[], attrs={"x": 1}\npass\n')
