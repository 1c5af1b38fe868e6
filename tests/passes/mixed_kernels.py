"""Kernels for both cores as text, as the passes over cores get them, and what they compute."""

from collections.abc import Callable

import torch
from passes.kernels import HEAD

import pypto_tmpl.language as pl
from pypto_tmpl import ir, passes
from pypto_tmpl.debug import set_options, torch_codegen
from pypto_tmpl.rewrite import build, flat

UP_DOWN, LEFT_RIGHT = '"split": pl.SplitMode.UP_DOWN', '"split": pl.SplitMode.LEFT_RIGHT'
ROWS, COLUMNS, INNER = 32, 64, 32
MATRIX = "pl.Tensor[[32, 64], pl.FP32]"
PARAMS = """a: pl.Tensor[[32, 32], pl.FP32], b: pl.Tensor[[32, 64], pl.FP32],
               r: pl.Tensor[[32, 64], pl.FP32], n: pl.Scalar[pl.INDEX],
               out: pl.InOut[pl.Tensor[[32, 64], pl.FP32]]"""
VEC = "target_memory=pl.Mem.Vec, blayout=pl.TileLayout.row_major, slayout=pl.TileLayout.none_box"
PRODUCT = (
    "ta = pl.tile.load(a, [0, 0], [32, 32], [32, 32], target_memory=pl.Mem.Mat)",
    "tb = pl.tile.load(b, [0, 0], [32, 64], [32, 64], target_memory=pl.Mem.Mat)",
    "left = pl.tile.move(ta, target_memory=pl.Mem.Left)",
    "right = pl.tile.move(tb, target_memory=pl.Mem.Right)",
    "c = pl.tile.matmul(left, right)",
)
TO_VECTOR = (
    *PRODUCT,
    f"v = pl.tile.move(c, {VEC})",
)
STRICT = {
    "bounded_pipes": True,
    "race_check": True,
    "schedule_seed": 0,
    "pipe_wait_timeout_sec": 20,
    "mixed_kernel_timeout_sec": 60,
}
LANE = "lane = pl.tile.get_subblock_idx()"
FIRST_LINE = 10
"""Where the body of ``mixed`` begins, without ``more``."""
LOAD_R = "t = pl.tile.load(r, [0, 0], [32, 64], [32, 64], target_memory=pl.Mem.Vec)"


def mixed(*lines: str, attrs: str = "", more: str = "") -> ir.Program:
    """A program of one kernel of the matrices ``a``, ``b`` and ``r``, a number ``n``, and ``out``."""
    given = f", attrs={{{attrs}}}" if attrs else ""
    head = f"    @pl.function(type=pl.FunctionType.InCore{given})\n"
    head += f"    def kernel(self, {PARAMS}) -> {MATRIX}:\n"
    return pl.parse(HEAD + more + head + "".join(f"        {line}\n" for line in lines))


def with_region(
    node: ir.Program, start: int, behind: int = 1, more: Callable[[ir.Function], ir.Stmt] | None = None
) -> ir.Program:
    """The kernel with a region of shared rows from a statement on, but for the last ``behind`` statements."""
    kernel = node.get_function("kernel")
    assert kernel is not None
    found = list(flat(kernel.body))
    end = len(found) - behind
    inside = ir.SeqStmts([*found[start:end], *([more(kernel)] if more is not None else [])], kernel.span)
    scope = ir.SplitAivScopeStmt(ir.SplitMode.UP_DOWN, body=inside, span=found[start].span)
    body = ir.SeqStmts([*found[:start], scope, *found[end:]], kernel.span)
    attrs = kernel.attrs.with_(split_aiv=True, split=ir.SplitMode.UP_DOWN)
    return build(node, functions=[build(kernel, body=body, attrs=attrs)])


def inputs(number: int = 3) -> dict[str, torch.Tensor]:
    """The arguments of a kernel by name."""
    numbers = torch.Generator().manual_seed(0)
    shapes = {"a": (ROWS, INNER), "b": (INNER, COLUMNS), "r": (ROWS, COLUMNS)}
    tensors = {name: torch.randn(*shape, generator=numbers) / 4 for name, shape in shapes.items()}
    return tensors | {"n": torch.tensor(number), "out": torch.full((ROWS, COLUMNS), 9.0)}


def all_results(
    node: ir.Program, number: int = 3, names: tuple[str, ...] = ("out",)
) -> list[list[torch.Tensor]]:
    """What a kernel leaves in tensors: as it is, and in five orders with pipes as deep as declared."""
    found = []
    for seed in (None, *range(5)):
        namespace: dict = {}
        exec(torch_codegen(node, options={} if seed is None else STRICT), namespace)
        if seed is not None:
            set_options(namespace, schedule_seed=seed)
        given = inputs(number)
        namespace["kernel"](*given.values())
        found.append([given[name] for name in names])
    return found


def result(node: ir.Program, number: int = 3) -> torch.Tensor:
    """What a kernel leaves in ``out``."""
    namespace: dict = {}
    exec(torch_codegen(node), namespace)
    given = inputs(number)
    namespace["kernel"](*given.values())
    return given["out"]


def lowered(*lines: str, attrs: str = UP_DOWN) -> ir.Program:
    """The kernel as LowerAutoVectorSplit leaves it."""
    return passes.make_pass("LowerAutoVectorSplit")(mixed(*lines, attrs=attrs))


def check(node: ir.Program, expected: torch.Tensor) -> None:
    """The values, as the pass leaves the kernel and when it has been shared out."""
    torch.testing.assert_close(result(node), expected, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(
        result(passes.make_pass("ExpandMixedKernel")(node)), expected, rtol=1e-5, atol=1e-5
    )
