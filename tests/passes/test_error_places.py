"""Errors of the passes over tiles, cores and pipelines: function, variable and line of each kind."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from passes.mixed_kernels import (
    FIRST_LINE,
    LANE,
    LEFT_RIGHT,
    LOAD_R,
    PRODUCT,
    TO_VECTOR,
    UP_DOWN,
    VEC,
    mixed,
    with_region,
)

from pypto_tmpl import backend, ir, ops, passes
from pypto_tmpl.rewrite import build, flat

RETURN = "return done"
STORE = "done = pl.tile.store(y, [0, 0], out)"
EXP = "y = pl.tile.exp(v)"
SHARD = "v = pl.tile.aiv_shard(c, split=1)"
STORE_PART = "done = pl.tile.store(y, [lane * 16, 0], out)"
ROW = "w = pl.tile.load(r, [0, 0], [1, 64], [1, 64], target_memory=pl.Mem.Vec)"
RAGGED = "ta = pl.tile.load(a, [0, 0], [32, 32], [{valid}, 32], target_memory=pl.Mem.Mat)"
READ = ("e = pl.tile.exp(t)", "k = pl.tile.read(e, [0, 3])", "i = pl.cast(k, pl.INDEX)")
BOTH = (UP_DOWN, '"split_aiv": True')


@dataclass(frozen=True)
class Case:
    """A kernel, the pass that refuses it, and where; ``at`` is how the line begins."""

    pass_name: str
    lines: tuple[str, ...]
    message: str
    variable: str
    at: str
    attrs: str = ""
    region: bool = False
    on: str = "Ascend950"
    change: Callable[[ir.Program], ir.Program] | None = None

    def program(self) -> ir.Program:
        """The program, with a region of lanes from ``LANE`` to the return where it has one."""
        node = mixed(*self.lines, attrs=self.attrs)
        if self.region:
            node = with_region(node, self.lines.index(LANE))
        return self.change(node) if self.change is not None else node

    @property
    def line(self) -> int:
        """Where the kernel is wrong."""
        return FIRST_LINE + next(k for k, text in enumerate(self.lines) if text.strip().startswith(self.at))


def in_scope(node: ir.Program) -> ir.Program:
    """The kernel with its work in a scope that no pass has taken away."""
    kernel = node.get_function("kernel")
    assert kernel is not None
    body = list(flat(kernel.body))
    scope = ir.HierarchyScopeStmt(
        ir.Level.CORE_GROUP, body=ir.SeqStmts(body[:-1], kernel.span), span=body[0].span
    )
    return build(node, functions=[build(kernel, body=ir.SeqStmts([scope, body[-1]], kernel.span))])


def in_two_regions(node: ir.Program) -> ir.Program:
    """The kernel with its region in a region."""
    kernel = node.get_function("kernel")
    assert kernel is not None
    body = list(flat(kernel.body))
    inner = next(stmt for stmt in body if isinstance(stmt, ir.SplitAivScopeStmt))
    outer = ir.SplitAivScopeStmt(ir.SplitMode.UP_DOWN, body=inner, span=inner.span)
    body = [outer if stmt is inner else stmt for stmt in body]
    return build(node, functions=[build(kernel, body=ir.SeqStmts(body, kernel.span))])


def notifying(node: ir.Program) -> ir.Program:
    """The kernel with a signal before its return, on the line of that."""
    kernel = node.get_function("kernel")
    assert kernel is not None
    body = list(flat(kernel.body))
    cells = ir.Var("cells", ir.DistributedTensorType([2, 1], ir.DataType.INT32), kernel.span)
    signal = ops.call("pld.system.notify", cells, 0, [0, 0], 1, op=0, span=body[-1].span)
    found = [*body[:-1], ir.EvalStmt(signal, body[-1].span), body[-1]]
    return build(node, functions=[build(kernel, body=ir.SeqStmts(found, kernel.span))])


def split(*lines: str, message: str, variable: str, at: str, attrs: str = UP_DOWN) -> Case:
    """A kernel whose product ``v`` two lanes share."""
    return Case("LowerAutoVectorSplit", (*TO_VECTOR, *lines, STORE, RETURN), message, variable, at, attrs)


def region(*lines: str, message: str, variable: str, at: str, product: tuple[str, ...] = PRODUCT) -> Case:
    """A kernel with a region of lanes."""
    return Case("LowerAutoVectorSplit", (*product, *lines, "return out"), message, variable, at, region=True)


def expand(*lines: str, message: str, variable: str, at: str, attrs: str = "") -> Case:
    """A kernel that cannot be shared out."""
    return Case("ExpandMixedKernel", lines, message, variable, at, attrs)


CASES = {
    "no cast": Case(
        "LegalizeTileCast",
        (LOAD_R, "u = pl.tile.cast(t, target_type=pl.UINT8)",
         "y = pl.tile.cast(u, target_type=pl.FP32)", STORE, RETURN),
        "no instructions of 910B convert uint8 to fp32",
        "y",
        "y =",
        on="Ascend910B",
    ),
    "not halved": split(
        ROW, "s = pl.tile.col_expand(v, w)", "u = pl.tile.move(w, target_memory=pl.Mem.Left)",
        "y = pl.tile.exp(s)",
        message="'w' goes to the cube core, but is not halved", variable="w", at="u =",
    ),
    "reduction": split(
        "s = pl.tile.col_sum(v)", "y = pl.tile.col_expand_mul(v, s)",
        message="tile.col_sum reduces along axis 0", variable="s", at="s =",
    ),
    "reduction of rows": split(
        "tmp = pl.tile.create([32, 64], dtype=pl.FP32, target_memory=pl.Mem.Vec)",
        "s = pl.tile.row_max(v, tmp)", "y = pl.tile.row_expand_mul(v, s)",
        message="tile.row_max reduces along axis 1", variable="s", at="s =", attrs=LEFT_RIGHT,
    ),
    "places": split(
        "s = pl.tile.ci(0, [32, 1], dtype=pl.INT32)", EXP,
        message="tile.ci gives cells by their places", variable="s", at="s =",
    ),
    "reshape": split(
        "s = pl.tile.reshape(v, [64, 32])", "y = pl.tile.reshape(s, [32, 64])",
        message="cannot be followed through a reshape", variable="s", at="s =", attrs=LEFT_RIGHT,
    ),
    "other type": split(
        "s = pl.tile.reinterpret_view(v, dtype=pl.INT32)", EXP,
        message="cannot be read as another type", variable="s", at="s =", attrs=LEFT_RIGHT,
    ),
    "window": split(
        "y = pl.tile.slice(v, [16, 64], [16, 0])",
        message="a window along axis 0, which the lanes share", variable="y", at="y =",
    ),
    "element": split(
        "k = pl.tile.read(v, [0, 3])", "y = pl.tile.muls(v, k)",
        message="tile.read needs more than its half", variable="k", at="k =",
    ),
    "added twice": split(
        ROW, "o = pl.tile.store(w, [0, 0], out, atomic=1)", EXP,
        message="both lanes would add the same tile", variable="w", at="o =",
    ),
    "memory of lanes": split(
        "o = pl.tile.store(v, [0, 0], r)",
        "w = pl.tile.load(o, [5, 0], [1, 64], [1, 64], target_memory=pl.Mem.Vec)",
        "y = pl.tile.col_expand_mul(v, w)",
        message="a lane may meet cells of 'r'", variable="r", at="w =",
    ),
    "scope": Case(
        "LowerAutoVectorSplit", (*TO_VECTOR, EXP, STORE, "return out"),
        "a scope is left in a kernel that is split", "", "ta =", UP_DOWN, change=in_scope,
    ),
    "whole tiles in a region": region(
        LANE, SHARD, LOAD_R, EXP, STORE_PART,
        message="mixes explicit boundaries with full-width operations: tile.load", variable="t", at="t =",
    ),
    "transpose in a region": region(
        LANE, SHARD, "s = pl.tile.transpose(v, 0, 1)", EXP, STORE_PART,
        message="tile.transpose exchanges the axis that the lanes share", variable="s", at="s =",
    ),
    "ragged carry in a region": region(
        LANE, SHARD, "for i, (q,) in pl.range(2, init_values=(v,)):", "    q1 = pl.tile.exp(q)",
        "    q2 = pl.yield_(q1)", "y = pl.tile.exp(q2)", STORE_PART,
        product=(RAGGED.format(valid=9), *PRODUCT[1:]),
        message="'q' carries a tile of which lanes have parts of unlike extent", variable="q", at="for",
    ),
    "region in a region": Case(
        "LowerAutoVectorSplit", (*PRODUCT, LANE, SHARD, EXP, STORE_PART, "return out"),
        "a region of lanes stands in another one", "", LANE, region=True, change=in_two_regions,
    ),
    "lanes of unlike parts": expand(
        RAGGED.format(valid=29), *PRODUCT[1:], LANE, SHARD, EXP, STORE_PART, RETURN, attrs=", ".join(BOTH),
        message="the lanes of 'c' have 16 and 13 valid cells", variable="c", at="v =",
    ),
    "address": expand(
        LOAD_R, *READ,
        "ta = pl.tile.load(a, [i, 0], [16, 32], [16, 32], target_memory=pl.Mem.Mat)", *PRODUCT[1:],
        "done = pl.tile.store(c, [0, 0], out)", RETURN,
        message="the cube core needs 'k', which only the vector core computes", variable="k", at="i =",
    ),
    "stored by the other core": expand(
        *TO_VECTOR, LOAD_R, "o = pl.tile.store(t, [0, 0], b)", "k = pl.tensor.read(o, [0, 3])",
        "pl.tensor.write(a, [0, 3], k)", EXP, STORE, RETURN,
        message="the cube core loads 'b', which the other core stores", variable="b", at="k =",
    ),
    "slots": expand(
        *TO_VECTOR, *(f"v{k} = pl.tile.move(c, {VEC})" for k in (1, 2)), "s = pl.tile.add(v, v1)",
        "y = pl.tile.add(s, v2)", STORE, RETURN,
        message="a core takes another tile while it reads 2", variable="v2", at="v2 =",
    ),
    "turned lanes": expand(
        *TO_VECTOR, LOAD_R,
        "x = pl.tile.transpose(t, 0, 1)", "y = pl.tile.reshape(x, [32, 64])", STORE, RETURN,
        attrs=", ".join(BOTH),
        message="tile.transpose exchanges axis 0, along which the kernel is split", variable="x", at="x =",
    ),
    "signal of both cores": Case(
        "ExpandMixedKernel", (*TO_VECTOR, EXP, STORE, RETURN),
        "would run on both cores and count twice", "cells", "return", change=notifying,
    ),
    "no backend": Case(
        "ExpandMixedKernel", (*TO_VECTOR, EXP, STORE, RETURN), "Backend type not configured", "v", "v =",
        on="",
    ),
    "capacity of Left": Case(
        "AutoTileMatmulL0",
        ("ta = pl.tile.create([32, 1024], dtype=pl.FP32, target_memory=pl.Mem.Left)",
         "tb = pl.tile.create([1024, 16], dtype=pl.FP32, target_memory=pl.Mem.Right)",
         "c = pl.tile.matmul(ta, tb)", "done = pl.tile.store(c, [0, 0], out)", RETURN),
        "'ta' takes 131072 bytes of Left, which has 65536", "ta", "c =",
    ),
    "capacity of Right": Case(
        "AutoTileMatmulL0",
        ("ta = pl.tile.create([16, 512], dtype=pl.FP32, target_memory=pl.Mem.Left)",
         "tb = pl.tile.create([512, 64], dtype=pl.FP32, target_memory=pl.Mem.Right)",
         "c = pl.tile.matmul(ta, tb)", "done = pl.tile.store(c, [0, 0], out)", RETURN),
        "'tb' takes 131072 bytes of Right, which has 65536", "tb", "c =",
    ),
    "no way into Acc": Case(
        "InferTileMemorySpace",
        (*PRODUCT[:4], LOAD_R, "c = pl.tile.matmul_acc(t, left, right)",
         "done = pl.tile.store(c, [0, 0], out)",
         RETURN),
        "'t' lies in Vec and is needed in Acc", "t", "c =",
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def no_backend():
    backend.reset_for_testing()
    yield
    backend.reset_for_testing()


@pytest.mark.parametrize("kind", CASES)
def test_an_error_names_function_variable_and_line(kind):
    case = CASES[kind]
    node = case.program()
    if case.on:
        backend.set_backend_type(backend.BackendType[case.on])
    with pytest.raises(passes.PassError) as caught:
        passes.make_pass(case.pass_name)(node)
    error = caught.value
    assert case.message in error.what
    assert (error.function, error.variable, error.line) == ("kernel", case.variable, case.line)
    named = f", variable {case.variable!r}" if case.variable else ""
    assert error.notes == (f"in function 'kernel'{named}",)
    assert error.where.startswith(f"<string>:{case.line}:")


def test_an_unknown_backend_is_none_that_can_be_chosen():
    with pytest.raises(TypeError, match=r"a backend is one of .*Ascend910B, .*Ascend950, got 'Ascend310'"):
        backend.set_backend_type("Ascend310")
    assert not backend.is_backend_configured()
