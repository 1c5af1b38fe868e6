# ruff: noqa: E501 (scopes stand on one line, as in dumps)
"""Scopes, SPMD regions and split regions, against scopes built by hand; each prints as it was written."""

import pytest

import pypto_tmpl.language as pl
from pypto_tmpl import ir

S = ir.Span.unknown()
D = ir.DataType
X = ir.TensorType([4, 8], D.FP32)
INDEX, TASK = ir.ScalarType(D.INDEX), ir.ScalarType(D.TASK_ID)
T = "pl.Tensor[[4, 8], pl.FP32]"
NOTHING = ir.SeqStmts([], S)
UP_DOWN = ir.SplitMode.UP_DOWN


def read(body: str, decorator: str = "@pl.function", first_line: str = "# pypto.program: P") -> ir.Function:
    lines = "".join(f"    {line}\n" for line in body.strip("\n").split("\n"))
    params = f"x: {T}, n: pl.Scalar[pl.INDEX], d: pl.Scalar[pl.TASK_ID]"
    function = pl.parse(f"{first_line}\nimport pypto.language as pl\n{decorator}\ndef f({params}):\n{lines}")
    assert isinstance(function, ir.Function)
    return function


def check(text: str, make, decorator: str = "@pl.function", prints: bool = True) -> None:
    """``text`` reads as the statements that ``make`` builds on the parameters, and prints as it is."""
    function = read(text, decorator)
    x, n, d = ir.Var("x", X, S), ir.Var("n", INDEX, S), ir.Var("d", TASK, S)
    stmts = make(x, n, d)
    body = stmts[0] if len(stmts) == 1 else ir.SeqStmts(stmts, S)
    want = ir.Function("f", [x, n, d], [], body, S, function.func_type)
    assert ir.structural_diff(function, want) is None
    if prints:
        printed = ir.python_print(function, format=False).split("\n", 2)[2].rstrip("\n")
        assert printed == "\n".join(f"    {line}" for line in text.strip("\n").split("\n"))


def in_core(body=NOTHING, split=ir.SplitMode.NONE, name="", attrs=None) -> ir.Stmt:
    return ir.InCoreScopeStmt(split, name, body, S, attrs=attrs)


def index(name: str, op: str) -> ir.AssignStmt:
    return ir.AssignStmt(ir.Var(name, INDEX, S), ir.Call(ir.Op(op), [], INDEX, S), S)


@pytest.mark.parametrize(
    ("head", "make"),
    [
        ("pl.at(level=pl.Level.CORE_GROUP)", lambda x, n, d: in_core()),
        ("pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.UP_DOWN), pl.cross_core_slot(slot_num=4)], name_hint=\"h\")", lambda x, n, d: in_core(split=UP_DOWN, name="h", attrs={"slot_num": 4})),
        ("pl.at(level=pl.Level.CORE_GROUP, deps=[d], no_dep_args=[x], dumps=[x], allow_early_resolve=True, windowize=True)", lambda x, n, d: in_core(attrs={"manual_dep_edges": [d], "arg_direction_overrides_vars": [x], "dump_vars": [x], "allow_early_resolve": True, "windowize": True})),
        ("pl.at(level=pl.Level.CORE_GROUP, attrs={\"new\": 1, \"other\": [x, d], \"e\": n + 1})", lambda x, n, d: in_core(attrs={"new": 1, "other": [x, d], "e": ir.Add(n, ir.ConstInt(1, D.INDEX, S), D.INDEX, S)})),
        ("pl.at(level=pl.Level.HOST, role=pl.Role.Orchestrator, name_hint=\"h\", deps=[d])", lambda x, n, d: ir.HierarchyScopeStmt(ir.Level.HOST, ir.Role.Orchestrator, "h", NOTHING, S, attrs={"manual_dep_edges": [d]})),
        ("pl.at(level=pl.Level.CHIP)", lambda x, n, d: ir.HierarchyScopeStmt(ir.Level.CHIP, None, "", NOTHING, S)),
        ("pl.cluster()", lambda x, n, d: ir.ClusterScopeStmt("", NOTHING, S)),
        ("pl.cluster(name_hint=\"g\", attrs={\"a\": \"b\"})", lambda x, n, d: ir.ClusterScopeStmt("g", NOTHING, S, attrs={"a": "b"})),
        ("pl.scope()", lambda x, n, d: ir.RuntimeScopeStmt(False, "", NOTHING, S)),
        ("pl.scope(mode=pl.ScopeMode.MANUAL)", lambda x, n, d: ir.RuntimeScopeStmt(True, "", NOTHING, S)),
        ("pl.scope(mode=pl.ScopeMode.MANUAL, name_hint=\"r\", attrs={\"a\": 1})", lambda x, n, d: ir.RuntimeScopeStmt(True, "r", NOTHING, S, attrs={"a": 1})),
        ("pl.spmd(n)", lambda x, n, d: ir.SpmdScopeStmt(n, False, "", NOTHING, S)),
        ("pl.spmd(4, sync_start=True, name_hint=\"s\", allow_early_resolve=True, predicate=(n == 3), deps=[d])", lambda x, n, d: ir.SpmdScopeStmt(4, True, "s", NOTHING, S, attrs={"manual_dep_edges": [d], "predicate": ir.Eq(n, ir.ConstInt(3, D.INDEX, S), D.BOOL, S), "allow_early_resolve": True})),
    ],
)  # fmt: skip
def test_with(head: str, make) -> None:
    check(f"with {head}:\n    pass", lambda x, n, d: [make(x, n, d)])


@pytest.mark.parametrize(
    ("head", "make"),
    [
        ("pl.at(pl.Level.HOST, pl.Role.SubWorker)", ir.HierarchyScopeStmt(ir.Level.HOST, ir.Role.SubWorker, "", NOTHING, S)),
        ("pl.at(pl.Level.NODE)", ir.HierarchyScopeStmt(ir.Level.HOST, None, "", NOTHING, S)),
        ("pl.manual_scope()", ir.RuntimeScopeStmt(True, "", NOTHING, S)),
        ("pl.scope(mode=pl.ScopeMode.AUTO)", ir.RuntimeScopeStmt(False, "", NOTHING, S)),
        ("pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.NONE)])", in_core()),
    ],
)  # fmt: skip
def test_other_spellings(head: str, make: ir.Stmt) -> None:
    check(f"with {head}:\n    pass", lambda x, n, d: [make], prints=False)


@pytest.mark.parametrize(
    ("head", "cls"),
    [
        ("pl.at(level=pl.Level.CORE_GROUP)", ir.InCoreScopeStmt),
        ("pl.at(level=pl.Level.HOST)", ir.HierarchyScopeStmt),
        ("pl.spmd(2)", ir.SpmdScopeStmt),
    ],
)
def test_a_task_id_is_a_placeholder_in_front_of_the_scope(head: str, cls: type) -> None:
    text = f"with {head} as tid:\n    pass\nreturn tid"
    function = read(text)
    placeholder, scope, result = function.body.stmts
    assert isinstance(scope, cls)
    assert scope.attrs["task_id_var"] is placeholder.var is result.value[0]
    assert scope.attrs.kinds["task_id_var"] is ir.AttrKind.VAR
    assert placeholder.value.op.name == "system.task_invalid"
    assert placeholder.var.type == placeholder.value.type == TASK
    assert ir.python_print(function, format=False).split("\n", 2)[2] == "".join(
        f"    {line}\n" for line in text.split("\n")
    )


def spmd(name: str, inner: str, *body: ir.Stmt, **options) -> ir.Stmt:
    attrs = options.pop("attrs", None)
    stmts = [index("i", "tile.get_block_idx"), *body]
    return ir.SpmdScopeStmt(
        4,
        False,
        name,
        in_core(stmts[0] if len(stmts) == 1 else ir.SeqStmts(stmts, S), name=inner, **options),
        S,
        attrs=attrs,
    )


@pytest.mark.parametrize(
    ("head", "make"),
    [
        ("pl.spmd(4)", lambda n: spmd("", "")),
        ('pl.spmd(4, name_hint="q_spmd")', lambda n: spmd("q_spmd", "q")),
        ("pl.spmd(4, optimizations=[pl.split(pl.SplitMode.UP_DOWN), pl.cross_core_slot(slot_num=2)])", lambda n: spmd("", "", split=UP_DOWN)),
        ("pl.spmd(4, allow_early_resolve=True)", lambda n: spmd("", "", attrs={"allow_early_resolve": True})),
    ],
)  # fmt: skip
def test_a_loop_over_blocks(head: str, make) -> None:
    def build(x, n, d):
        made = make(n)
        if "slot_num" in head:
            made = ir.SpmdScopeStmt(4, False, "", in_core(made.body.body, UP_DOWN, attrs={"slot_num": 2}), S)
        return [made]

    check(f"for i in {head}:\n    pass", build)


def test_a_hint_of_a_loop_over_blocks_gets_its_suffix() -> None:
    scope = read('for i in pl.spmd(4, name_hint="q"):\n    pass').body
    assert (scope.name_hint, scope.body.name_hint) == ("q_spmd", "q")


def test_spmd_scopes_wrap_kernel_code() -> None:
    reads_index = f"with pl.spmd(4):\n    b: pl.Scalar[pl.INDEX] = pl.tile.get_block_idx()\n    y: {T} = pl.tensor.exp(x)"
    assert isinstance(read(reads_index).body.body, ir.InCoreScopeStmt)
    kernel = read(
        "with pl.spmd(4):\n    with pl.at(level=pl.Level.CORE_GROUP):\n        b: pl.Scalar[pl.INDEX] = pl.tile.get_block_idx()"
    )
    assert isinstance(kernel.body.body, ir.InCoreScopeStmt)
    assert isinstance(kernel.body.body.body, ir.AssignStmt)
    optimized = read("with pl.spmd(4, optimizations=[pl.split(pl.SplitMode.UP_DOWN)]):\n    pass")
    assert optimized.body.body.split is UP_DOWN
    dispatch = read(f"with pl.spmd(4):\n    y: {T} = g(x)")
    assert isinstance(dispatch.body.body, ir.AssignStmt)


AIV = "@pl.function(type=pl.FunctionType.AIV)"


@pytest.mark.parametrize("mode", list(ir.SplitMode))
def test_a_split_region_starts_with_its_lane(mode: ir.SplitMode) -> None:
    text = f"for lane in pl.split_aiv(2, mode=pl.SplitMode.{mode.name}):\n    pass"
    lane = index("lane", "tile.get_subblock_idx")
    check(text, lambda x, n, d: [ir.SplitAivScopeStmt(mode, 2, "", lane, S)], AIV, prints=False)


def test_a_split_region_with_name_and_attributes() -> None:
    text = 'for _ in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN, name_hint="h", attrs={"a": 1}):\n    pass'
    lane = index("_", "tile.get_subblock_idx")
    check(
        text,
        lambda x, n, d: [ir.SplitAivScopeStmt(UP_DOWN, 2, "h", lane, S, attrs={"a": 1})],
        AIV,
        prints=False,
    )


def test_a_split_region_outside_kernel_code_is_wrapped() -> None:
    bare = read("for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):\n    pass")
    assert isinstance(bare.body, ir.InCoreScopeStmt)
    inside = read(
        "with pl.at(level=pl.Level.CORE_GROUP):\n    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):\n        pass"
    )
    assert isinstance(inside.body.body, ir.SplitAivScopeStmt)


def test_boundary_ops_take_the_split_of_their_region() -> None:
    function = read(
        f"""
for lane in pl.split_aiv(2, mode=pl.SplitMode.LEFT_RIGHT):
    a: {T} = pl.tile.aiv_shard(x)
    b: {T} = pl.tensor.aic_gather(x)
    c: {T} = pl.tile.aiv_shard(x, split=3, lane_stride=8)
""",
        AIV,
    )
    _, a, b, c = function.body.body.stmts
    assert [dict(stmt.value.kwargs) for stmt in (a, b, c)] == [
        {"split": 2},
        {"split": 2},
        {"split": 3, "lane_stride": 8},
    ]
    assert a.value.kwargs.kinds["split"] is ir.AttrKind.INT


@pytest.mark.parametrize("level", [level for level in ir.Level if level is not ir.Level.CORE_GROUP])
@pytest.mark.parametrize("role", [None, *ir.Role])
def test_every_level_and_role_has_its_name(level: ir.Level, role: ir.Role | None) -> None:
    spelled = f", role=pl.Role.{role.name}" if role else ""
    scope = ir.HierarchyScopeStmt(level, role, "", NOTHING, S)
    check(f"with pl.at(level=pl.Level.{level.name}{spelled}):\n    pass", lambda x, n, d: [scope])


def test_the_comment_of_a_communication_domain_is_a_comment() -> None:
    function = read(f"# pld.comm_domain: devices=all, slots=[w]\ny: {T} = pl.tensor.exp(x)")
    assert function.body.leading_comments == ("pld.comm_domain: devices=all, slots=[w]",)
