# ruff: noqa: E501 (a case a line)
"""What PyPTO refuses, and what is easily taken for something else: refused where it is written."""

import pytest

import pypto_tmpl.language as pl
from pypto_tmpl.language.diagnostics import ParserError

T = "pl.Tensor[[16, 64], pl.FP32]"
ORCHESTRATION = f"""import pypto.language as pl
m = pl.MemRef()
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, x: {T}, o: pl.Out[{T}]) -> tuple[{T}, {T}]:
        return x, o
    @pl.function(type=pl.FunctionType.InCore)
    def untold(self, x: {T}, o: pl.Out[{T}]):
        return x, o
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: {T}, y: {T}, o: pl.Out[{T}], u: pl.Tensor[[16], pl.FP32], v: pl.Tensor[[64], pl.FP32], i: pl.Tensor[[1, 8], pl.INT32]):
"""
KERNEL = f"""import pypto.language as pl
m = pl.MemRef()
@pl.function(type=pl.FunctionType.InCore)
def f(x: {T}, o: pl.Out[{T}], w: pl.Tensor[[8, 64], pl.INT32]):
"""
TILE = "pl.Tile[[16, 64], pl.FP32, {}, pl.Mem.Vec]"
LOAD = " = pl.load(x, [0, 0], [16, 64])"


def loaded(memory: str) -> str:
    """A load into a tile that lies in that memory."""
    return f"t: {TILE.format(memory)}{LOAD}"


SCOPE = "with pl.at(level=pl.Level.CORE_GROUP, {}):\n    z = pl.exp(x)"

# Where it stands, the statements, the text that the caret is under, what the message says.
CASES = [
    (KERNEL, loaded('m[0]'), "m[0]", "a MemRef of one slot takes no index"),
    (KERNEL, loaded('pl.MemRef("b")[0]'), 'pl.MemRef("b")[0]', "a MemRef of one slot takes no index"),
    (KERNEL, loaded('pl.MemRef("b", 0, 64)[0]'), 'pl.MemRef("b", 0, 64)[0]', "a MemRef of one slot"),
    (KERNEL, loaded('pl.MemRef("b", 0, 64, slots=2)[2]'), 'pl.MemRef("b", 0, 64, slots=2)[2]', "slot 2 of a MemRef with 2 slots"),
    (ORCHESTRATION, "pl.submit(self.k, x, o)", "pl.submit(", "'pl.submit' stands alone on the right of an assignment"),
    (ORCHESTRATION, "pl.spmd_submit(self.k, x, o, core_num=2)", "pl.spmd_submit(", "'pl.spmd_submit' stands alone on the right"),
    (ORCHESTRATION, "g = pl.paged_gather(x, i, i, 4, size=8, max_indices=2)", "pl.paged_gather(", "4 positional arguments, and it takes 3"),
    (ORCHESTRATION, "r, t = pl.submit(self.k, x, o, dumps=[o, y])", "y])", "'y' in dumps is no argument of the call"),
    (ORCHESTRATION, 'r = self.k(x, o, attrs={"dump_vars": [y]})', "y]}", "'y' in dumps is no argument of the call"),
    (ORCHESTRATION, SCOPE.format("dumps=[x, y]"), "y])", "'y' in dumps is no argument of the scope, which does not read it"),
    (ORCHESTRATION, SCOPE.format("no_dep_args=[y]"), "y])", "'y' in no_dep_args is no argument of the scope"),
    (ORCHESTRATION, SCOPE.format("no_dep_args=[x, x]"), "x])", "'x' stands twice in no_dep_args"),
    (KERNEL, "for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):\n    t = pl.load(x, [0, 0], [8, 64])", "pl.split_aiv(", "a split region stands inside a function declared InCore"),
    (ORCHESTRATION, "(a, b), t = pl.submit(self.untold, x, o)", "(a, b)", "'untold' has no return annotation, and '(a, b)' takes its results apart"),
    (ORCHESTRATION, "t = pl.system.task_dummy()", "pl.system.task_dummy()", "the keyword 'deps' is missing"),
    *[
        (KERNEL, f"for n in pl.{kind}(0, 4, 0{extra}):\n    t{LOAD}", f"0{extra}):", f"the step of pl.{kind} is 0")
        for kind, extra in (("range", ""), ("parallel", ""), ("unroll", ""), ("pipeline", ", stage=2"))
    ],
    (KERNEL, f"t{LOAD}\nu = pl.load(x, [0, 0], [16, 24])\nt = pl.tile.scatter_mask(t, u, mask_pattern=1)", "pl.tile.scatter_mask(", "'dst' has 2 times the columns of 'src'"),
    (ORCHESTRATION, "z = pl.scatter(x, mask_pattern=3, dst=y)", "pl.scatter(", "'dst' has 4 times the columns of 'input'"),
    (KERNEL, f"t{LOAD}\no = pl.store(t, [0, 0, 0], o)", "pl.store(", "the operand 'offsets' has 3 elements and 'output_tensor' 2 axes"),
    (ORCHESTRATION, "o = pl.assemble(o, x, [0, 0, 0])", "pl.assemble(", "the operand 'offset' has 3 elements and 'target' 2 axes"),
    (KERNEL, f"t{LOAD}\nt = pl.assemble(t, t, [0, 0, 0])", "pl.assemble(", "the operand 'offset' has 3 elements and 'target' 2 axes"),
    (KERNEL, f"t{LOAD}\nj = pl.load(w, [0, 0], [8, 64])\no = pl.mscatter(t, j, o)", "pl.mscatter(", "and their shapes must be equal"),
    (KERNEL, f"t{LOAD}\nu = pl.fillpad(t, pl.PadValue.null)", "pl.fillpad(", "'pad_value' is a PadValue, not PadValue.null"),
    (KERNEL, f"t{LOAD}\nu = pl.tile.fillpad_inplace(t, pl.PadValue.null)", "pl.tile.fillpad_inplace(", "'pad_value' is a PadValue"),
    (KERNEL, f"t{LOAD}\nu = pl.fillpad_expand(t, [16, 64], pl.PadValue.null)", "pl.fillpad_expand(", "'pad_value' is a PadValue"),
    (ORCHESTRATION, "z = pl.fillpad(x, pad_value=pl.PadValue.null)", "pl.fillpad(", "'pad_value' is a PadValue"),
    (ORCHESTRATION, "z = pl.matmul(u, x, a_trans=True)", "pl.matmul(", "and a_trans=True needs two axes at least"),
    (ORCHESTRATION, "z = pl.matmul(x, v, b_trans=True)", "pl.matmul(", "and b_trans=True needs two axes at least"),
    # names and orders
    (ORCHESTRATION, "for n, (acc,) in pl.range(4, init_values=(x,)):\n    r = pl.add(acc, y)\nz = r", "r", "hand it on with `r = pl.yield_(r)` at the end of that scope"),
    (ORCHESTRATION, "for n, (acc,) in pl.range(4, init_values=(x,)):\n    r = pl.yield_(pl.add(acc, y))\nz = acc", "acc", "'acc' is defined in a scope that ends before this line"),
    (KERNEL, "t = pl.tile.lod(x, [0, 0], [16, 64])", "pl.tile.lod(", "did you mean 'pl.tile.load'?"),
    (KERNEL, loaded("m").replace("pl.load", "pl.tile.lod"), "pl.tile.lod(", "did you mean 'pl.tile.load'?"),
    (KERNEL, f"t{LOAD}\npl.tile.stoer(t, [0, 0], o)", "pl.tile.stoer(", "did you mean 'pl.tile.store'?"),
    (KERNEL, f"t{LOAD}\nu = pl.tile.summation(t)", "pl.tile.summation(", "names like it are pl.tile."),
    (ORCHESTRATION, "z = pl.slice(x, [8, 32], [16, 64])", "pl.slice(", "the parameters are tensor, shape, offset, valid_shape, drop_dims, pad_value, clamp, in that order"),
    (ORCHESTRATION, "z = pl.slice(x, [0, 0], [16, 64])", "pl.slice(", "the parameters are tensor, shape, offset,"),
    (KERNEL, "t = pl.load(x, [16, 64], [0, 0])", "pl.load(", "the parameters are tensor, offsets, shapes, valid_shape, target_memory, clamp"),
]  # fmt: skip


def text_of(where: str, statements: str) -> str:
    indent = "        " if "class P" in where else "    "
    return where + "".join(f"{indent}{line}\n" for line in statements.split("\n")) + f"{indent}return x\n"


@pytest.mark.parametrize(("where", "statements", "marked", "said"), CASES)
def test_refused_where_it_is_written(where: str, statements: str, marked: str, said: str) -> None:
    with pytest.raises(ParserError) as caught:
        pl.parse(text_of(where, statements))
    shown = str(caught.value)
    assert said in shown
    line, caret = shown.split("\n")[3:5]
    assert line[caret.index("^") :].startswith(marked)


RIGHT = [
    (KERNEL, loaded('pl.MemRef("b", slots=2)[1]')),
    (KERNEL, loaded("m")),
    (ORCHESTRATION, "(a, b), t = pl.submit(self.k, x, o, dumps=[o])"),
    (ORCHESTRATION, "(a, b), t = pl.submit(self.k, x, o)\nd = pl.system.task_dummy(deps=[t])"),
    (ORCHESTRATION, SCOPE.format("dumps=[x], no_dep_args=[x]")),
    (ORCHESTRATION, "g = pl.paged_gather(x, i, i, block_size=4, size=8, max_indices=2)"),
    (ORCHESTRATION, "for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):\n    t = pl.exp(x)"),
    (KERNEL, f"t{LOAD}\nu = pl.load(x, [0, 0], [16, 32])\nt = pl.tile.scatter_mask(t, u, mask_pattern=1)"),
    (ORCHESTRATION, "z = pl.matmul(x, y, b_trans=True)"),
    (KERNEL, f"for n in pl.range(0, 4, 1):\n    t{LOAD}"),
]


@pytest.mark.parametrize(("where", "statements"), RIGHT)
def test_their_right_forms_are_read(where: str, statements: str) -> None:
    pl.parse(text_of(where, statements))


def test_text_of_the_printer_is_not_asked() -> None:
    """Dumps hold what they hold: a bare submit, one that dumps a stranger, a step of 0, a task of nothing."""
    pl.parse(f"""# pypto.program: P
import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(x: {T}, o: pl.Out[{T}]) -> {T}:
        for i in pl.range(0, 4, 0):
            t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(x, [0, 0], [16, 64], [16, 64])
            u: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.fillpad(t, pad_value=pl.PadValue.null)
        return x
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: {T}, y: {T}, o: pl.Out[{T}]) -> {T}:
        pl.submit(self.k, x, o, dumps=[y])
        t: pl.Scalar[pl.TASK_ID] = pl.system.task_dummy()
        return x
""")
