"""Random bodies that bind a few names again and again compute what Python computes for them."""

import itertools
import linecache
from types import SimpleNamespace

import torch
from drawn_examples import examples
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import pypto_tmpl.language as pl
from pypto_tmpl.runtime import RunConfig

NAMES = ["a", "b", "n", "rows"]
HEAD = """\
def kernel(
    x: pl.Tensor[[3, 4], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[4], pl.INT64]]
):
    rows = x.shape[0]
    a = 1
    b = n
"""
_numbers = itertools.count()

names = st.sampled_from(NAMES)
operands = st.one_of(names, st.integers(0, 9).map(str))
expressions = st.builds(
    lambda left, op, right: f"({left} {op} {right}) % 97", operands, st.sampled_from("+-*"), operands
)
assignments = st.builds(
    lambda name, values: [f"{name} = {value}" for value in values],
    names,
    st.lists(expressions, min_size=1, max_size=3),
)
breaks = st.builds(lambda name: [f"if {name} > 40:", "    break"], names)


def indented(lines):
    return [f"    {line}" for line in lines]


def blocks(depth, in_loop):
    """Lists of lines: assignments, loops and branches, and breaks directly in loops."""
    parts = [assignments, assignments]
    if in_loop:
        parts.append(breaks)
    if depth:
        loops = st.builds(
            lambda count, body: [f"for i{depth} in pl.range({count}):", *indented(body)],
            st.one_of(st.integers(0, 3).map(str), st.sampled_from(["rows", "n"])),
            blocks(depth - 1, True),
        )
        branches = st.builds(
            lambda left, right, then, other: [
                f"if {left} < {right}:",
                *indented(then),
                *(["else:", *indented(other)] if other else []),
            ],
            names,
            operands,
            blocks(depth - 1, in_loop),
            st.one_of(st.none(), blocks(depth - 1, in_loop)),
        )
        parts += [loops, branches]
    return st.lists(st.one_of(parts), min_size=1, max_size=5).map(lambda found: sum(found, []))


def python_value(source):
    """What the body comes to when Python runs it."""
    written = [0] * len(NAMES)
    stub = SimpleNamespace(
        range=range,
        INT64=None,
        cast=lambda value, dtype: value,
        write=lambda out, at, value: written.__setitem__(at[0], value),
    )
    header = "def kernel(x, n, out):\n"
    body = source.split("):\n", 1)[1]
    namespace = {"pl": stub}
    exec(header + body, namespace)
    namespace["kernel"](SimpleNamespace(shape=(3, 4)), 2, None)
    return written


A_BREAK_LEAVES_OUT_A_WRITE = """\
for i in pl.range(2):
    a = a + 30
    if a < 0:
        a = 1
    else:
        rows = 5
        rows = a + 6
        if a > 40:
            break
    rows = 8
"""
A_BREAK_AFTER_AN_INNER_LOOP = """\
for i in pl.range(3):
    if a < 9:
        for j in pl.range(1):
            a = a + 50
            b = 3
            b = 4
            b = 5
        if a > 40:
            break
    b = 6
"""


@example(A_BREAK_LEAVES_OUT_A_WRITE.splitlines(), {"rows"})
@example(A_BREAK_AFTER_AN_INNER_LOOP.splitlines(), {"b"})
@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.too_slow])
@given(blocks(3, False), st.sets(names, min_size=1))
def test_a_body_computes_what_python_computes(lines, read):
    tail = [f"pl.write(out, [{NAMES.index(name)}], pl.cast({name}, pl.INT64))" for name in sorted(read)]
    source = HEAD + "\n".join(indented([*lines, *tail])) + "\n"
    name = f"<rebinding {next(_numbers)}>"
    text = "@pl.jit\n" + source
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace = {"pl": pl}
    exec(compile(text, name, "exec"), namespace)
    kernel, out = namespace["kernel"], torch.zeros(len(NAMES), dtype=torch.int64)
    kernel(torch.zeros(3, 4), 2, out, config=RunConfig(stage="frontend"))  # passes refuse some jumps
    assert out.tolist() == python_value(source)
