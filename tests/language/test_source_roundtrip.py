# ruff: noqa: E501 (kernels and their parts stand on one line)
"""Kernels drawn at random as users write them: their IR prints as text that reads to the same IR."""

from typing import Any

from drawn_examples import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pypto_tmpl.language as pl
from pypto_tmpl import ir

TENSORS = ("x", "y", "z")
TILES = ("t", "u")
SCALARS = ("n", "m")
HEAD = """import pypto.language as pl

ROWS, COLS = 16, 64
N = pl.dynamic("N")

@pl.program
class Drawn:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, a: pl.Tensor[[ROWS, COLS], pl.FP32], o: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]]) -> pl.Tensor[[ROWS, COLS], pl.FP32]:
        return o

    @pl.function(auto_scope=False)
    def f(self, x: pl.Tensor[[ROWS, COLS], pl.FP32], y: pl.Tensor[[ROWS, COLS], pl.FP32],
          z: pl.InOut[pl.Tensor[[ROWS, COLS], pl.FP32]], w: pl.Tensor[[N, COLS], pl.FP32],
          t: pl.Tile[[ROWS, COLS], pl.FP32, pl.Mem.Vec], u: pl.Tile[[ROWS, COLS], pl.FP32, pl.Mem.Vec],
          n: pl.Scalar[pl.INDEX], m: pl.Scalar[pl.INDEX], k: pl.Scalar[pl.INT32], p: pl.Scalar[pl.BOOL]):
"""


class Writer:
    """Draws the lines of a body, of statements that are right."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.names = 0

    def pick(self, *options: str) -> str:
        return self.draw(st.sampled_from(options))

    def fresh(self) -> str:
        self.names += 1
        return f"v{self.names}"

    def index(self, depth: int = 2) -> str:
        if depth == 0 or self.draw(st.booleans()):
            return self.pick("n", "m", "3", "ROWS", "2 * COLS", "pl.cast(k, pl.INDEX)")
        left, right = self.index(depth - 1), self.index(depth - 1)
        return self.pick(
            f"{left} + {right}",
            f"({left}) * 2",
            f"({left}) // 4",
            f"pl.min({left}, {right})",
            f"({left}) % COLS",
        )

    def condition(self) -> str:
        return self.pick(
            f"{self.index(1)} < {self.index(1)}", "p", "not p", f"p and {self.index(1)} == 0", "k > 1"
        )

    def tensor(self, depth: int = 2) -> str:
        if depth == 0:
            return self.pick(*TENSORS)
        inner, other = self.tensor(depth - 1), self.tensor(depth - 1)
        return self.pick(
            f"pl.add({inner}, {other})",
            f"pl.mul({inner}, 0.5)",
            f"pl.exp({inner})",
            f"pl.row_expand_mul({inner}, pl.row_sum({other}))",
            "w[n : n + ROWS, :]",
            "pl.slice(w, [ROWS, COLS], [m, 0])",
            "pl.full([ROWS, COLS], dtype=pl.FP32, value=1.5)",
            "pl.create_tensor([ROWS, COLS], dtype=pl.FP32)",
        )

    def tile(self, depth: int = 2) -> str:
        if depth == 0:
            return self.pick(*TILES)
        inner, other = self.tile(depth - 1), self.tile(depth - 1)
        return self.pick(
            f"pl.sub({inner}, {other})",
            f"pl.maximum({inner}, {other})",
            f"pl.mul({inner}, 3)",
            "pl.load(x, [0, 0], [ROWS, COLS])",
            "pl.load(w, [n, 0], [ROWS, COLS], valid_shape=[ROWS, COLS])",
        )

    def simple(self) -> list[str]:
        tensor = self.pick(*TENSORS)
        return [
            self.pick(
                f"{tensor} = {self.tensor()}",
                f"{self.pick(*TILES)} = {self.tile()}",
                f"{self.fresh()} = {self.index()}",
                f"{self.fresh()}: pl.Scalar[pl.INT32] = 5",
                f"{tensor}[0:4, :] = x[4:8, :]",
                f"{tensor}[3, 0:8] = y[{self.pick('n', '2')}, 0:8]",
                f"{self.fresh()} = y[n, ({self.index(1)}) % COLS]",
                f"{tensor} = self.kernel(x, z)",
                f"{self.fresh()}, {self.fresh()} = pl.submit(self.kernel, x, {tensor})",
                f"z = pl.store({self.pick(*TILES)}, [0, 0], z)",
            )
        ]

    def block(self, depth: int) -> list[str]:
        lines: list[str] = []
        for _ in range(self.draw(st.integers(1, 3))):
            lines += self.statement(depth)
        return lines

    def statement(self, depth: int) -> list[str]:
        if depth == 0 or self.draw(st.integers(0, 2)) == 0:
            return self.simple()
        header = self.pick(
            f"for {self.fresh()} in pl.range({self.index(1)}):",
            f"for {self.fresh()} in pl.parallel(0, {self.index(1)}, 2):",
            f"for {self.fresh()} in pl.pipeline(4, stage=2):",
            f"for {self.fresh()} in pl.unroll(2):",
            f"while {self.condition()}:",
            f"if {self.condition()}:",
            "if yields",
            "carry",
            "with pl.at(level=pl.Level.CORE_GROUP, name_hint='h'):",
            f"with pl.at(level=pl.Level.CORE_GROUP) as {self.fresh()}:",
            "with pl.cluster():",
            "with pl.scope():",
            f"for {self.fresh()} in pl.spmd(4, name_hint='q'):",
        )
        if header == "if yields":
            result = self.fresh()
            branches = [[f"{result} = pl.yield_({self.tensor(1)})"] for _ in range(2)]
            return [f"if {self.condition()}:", *indented(branches[0]), "else:", *indented(branches[1])]
        if header == "carry":
            index, carried, result = self.fresh(), self.fresh(), self.fresh()
            body = [*self.simple(), f"{result} = pl.yield_(pl.add({carried}, {self.tensor(1)}))"]
            return [
                f"for {index}, ({carried},) in pl.range({self.index(1)}, init_values=(x,)):",
                *indented(body),
            ]
        lines = [header, *indented(self.block(depth - 1))]
        if header.startswith("if ") and self.draw(st.booleans()):
            lines += ["else:", *indented(self.block(depth - 1))]
        return lines


def indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


@st.composite
def kernels(draw: Any) -> str:
    lines = Writer(draw).block(3)
    return HEAD + "".join(f"        {line}\n" for line in [*lines, "return z"])


@settings(
    max_examples=examples(120), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(kernels())
def test_the_text_of_a_kernel_reads_to_its_ir(text: str) -> None:
    program = pl.parse(text)
    for options in ({}, {"concise": True}, {"explicit_layout": True}):
        again = ir.python_print(program, format=False, **options)
        assert ir.structural_diff(pl.parse(again), program) is None
        assert ir.structural_diff(pl.parse(again.partition("\n")[2]), program) is None
