"""Parameters that callers give one tensor, or windows of one."""

import pytest

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.passes.aliases import Aliases

TENSOR = "pl.Tensor[[8, 8], pl.FP32]"
SOURCE = f"""
import pypto.language as pl

@pl.program
class Program:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, a: {TENSOR}, b: {TENSOR}, out: pl.Out[{TENSOR}]) -> {TENSOR}:
        t = pl.load(a, [0, 0], [8, 8])
        out = pl.store(t, [0, 0], out)
        return out

    @pl.function(type=pl.FunctionType.Orchestration)
    def between(self, c: {TENSOR}, d: {TENSOR}, out: pl.Out[{TENSOR}]) -> {TENSOR}:
{{between}}
        return out

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self, x: pl.Tensor[[64, 8], pl.FP32], y: {TENSOR}, n: pl.Scalar[pl.INDEX], out: pl.Out[{TENSOR}]
    ) -> {TENSOR}:
{{main}}
        return out
"""
FIRST = "p = pl.slice(x, [8, 8], [0, 0])"
BEHIND = "q = pl.slice(x, [8, 8], [8, 0])"
WITHIN = "q = pl.slice(x, [8, 8], [7, 0])"
SOMEWHERE = "q = pl.slice(x, [8, 8], [n, 0])"


def found(*main: str, between: tuple[str, ...] = ()) -> tuple[dict[str, bool], set[str]]:
    """Of the kernel: the pairs with common cells and whether they are one; the pairs of one storage."""
    lines = {
        "main": "\n".join(f"        {line}" for line in main),
        "between": "\n".join(f"        {line}" for line in between),
    }
    program = pl.parse(SOURCE.format(**lines))
    assert isinstance(program, ir.Program)
    aliases = Aliases(program)
    cells = {f"{pair.first.name_hint} {pair.second.name_hint}": pair.is_one for pair in aliases.of("kernel")}
    storage = {" ".join(sorted((a.name_hint, b.name_hint))) for a, b in aliases.shared("kernel")}
    return cells, storage


@pytest.mark.parametrize(
    ("lines", "cells", "storage"),
    [
        ((FIRST, "out = self.kernel(p, y, out)"), {}, set()),
        ((FIRST, "out = self.kernel(p, p, out)"), {"a b": True}, {"a b"}),
        ((FIRST, "out = self.kernel(y, out, out)"), {"b out": True}, {"b out"}),
        ((FIRST, BEHIND, "out = self.kernel(p, q, out)"), {}, {"a b"}),
        ((FIRST, WITHIN, "out = self.kernel(p, q, out)"), {"a b": False}, {"a b"}),
        ((FIRST, SOMEWHERE, "out = self.kernel(p, q, out)"), {"a b": False}, {"a b"}),
    ],
)
def test_what_one_call_gives(lines: tuple[str, ...], cells: dict[str, bool], storage: set[str]) -> None:
    assert found(*lines) == (cells, storage)


@pytest.mark.parametrize(("window", "is_one"), [(BEHIND, True), (WITHIN, False)])
def test_of_several_calls_the_worst_counts(window: str, is_one: bool) -> None:
    """Windows that are apart at one call leave open that the parameters are one tensor where they meet."""
    calls = ("out = self.kernel(p, p, out)", "out = self.kernel(p, q, out)")
    for order in (calls, calls[::-1]):
        assert found(FIRST, window, *order) == ({"a b": is_one}, {"a b"})


@pytest.mark.parametrize(
    ("lines", "cells", "storage"),
    [
        (("out = self.between(y, y, out)",), {"a b": True}, {"a b"}),
        ((FIRST, "out = self.between(p, y, out)"), {}, set()),
        ((FIRST, BEHIND, "out = self.between(p, q, out)"), {}, {"a b"}),
        ((FIRST, WITHIN, "out = self.between(p, q, out)"), {"a b": False}, {"a b"}),
    ],
)
def test_what_a_caller_is_given_it_hands_on(
    lines: tuple[str, ...], cells: dict[str, bool], storage: set[str]
) -> None:
    between = ("out = self.kernel(c, d, out)",)
    assert found(*lines, between=between) == (cells, storage)


def test_windows_of_two_parameters_that_are_one() -> None:
    windows = ("e = pl.slice(c, [8, 8], [0, 0])", "f = pl.slice(d, [8, 8], [0, 0])")
    between = (*windows, "out = self.kernel(e, f, out)")
    assert found("out = self.between(y, y, out)", between=between) == ({"a b": False}, {"a b"})


def test_what_nothing_calls_gets_distinct_tensors() -> None:
    assert found("out = pl.assemble(out, y, [0, 0])") == ({}, set())
