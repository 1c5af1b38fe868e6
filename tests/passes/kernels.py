"""Small programs as text, and what passes make of them as text."""

import re

import pypto_tmpl.language as pl
from pypto_tmpl import ir, passes

HEAD = """
import pypto.language as pl

@pl.program
class p:
"""
KERNEL = """
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[16, 16], pl.FP32], n: pl.Scalar[pl.INDEX],
               out: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
"""


def program(functions: str) -> ir.Program:
    """A program of functions that stand four columns in."""
    return pl.parse(HEAD + functions)


def kernel(*lines: str) -> ir.Program:
    """A program of one kernel with the tensor ``x``, the output ``out`` and the number ``n``."""
    return program(KERNEL + "".join(f"        {line}\n" for line in lines))


def body(node: ir.Program, function: str) -> list[str]:
    """The lines of a function's body, without annotations, with two columns a level."""
    text = ir.python_print(node, format=False)
    found = re.search(rf"    def {function}\(.*?\n(.*?)(?=    @|\Z)", text, re.DOTALL)
    assert found is not None, text
    lines = [
        re.sub(r": pl\.(Tile|Tensor|Scalar|Tuple)\[.*?\] = ", " = ", line) for line in found[1].splitlines()
    ]
    return [" " * ((len(line) - len(line.lstrip()) - 8) // 2) + line.strip() for line in lines]


def after(pass_name: str, node: ir.Program, function: str = "kernel") -> list[str]:
    """The lines of a function after a pass."""
    return body(passes.make_pass(pass_name)(node), function)
