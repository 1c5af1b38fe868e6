"""Code that no run reaches is read and kept, not judged; what may be reached keeps its errors."""

import pytest
import torch

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.debug import torch_codegen

HEAD = """
import pypto.language as pl
N, PAD, NONE = 64, 64, 0
FLAG = False
@pl.program
class P:
    @pl.function
    def main(self, x: pl.Tensor[[16, 64], pl.FP32], k: pl.Scalar[pl.INDEX],
             out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        with pl.at(level=pl.Level.CORE_GROUP):
            t = pl.mul(x, 2.0)
            out = pl.assemble(out, t, [0, 0])
"""
TAIL = "        return out\n"


def program(*lines: str) -> ir.Program:
    found = pl.parse(HEAD + "".join(f"            {line}\n" for line in lines) + TAIL)
    assert isinstance(found, ir.Program)
    return found


def result(node: ir.Program, k: int = 3) -> torch.Tensor:
    namespace: dict = {}
    exec(torch_codegen(node, check_shapes=True), namespace)
    x, out = torch.arange(1024.0).reshape(16, 64), torch.zeros(16, 64)
    namespace["main"](x, k, out)
    return out - x * 2


# What would be refused if a run got there.
WRONG = [
    "out[:, N:PAD] = pl.full([16, PAD - N], dtype=pl.FP32, value=1.0)",
    "y = x[:, N:PAD]",
    "y = x[:, 40:30]",
    "y = x[:, 200:264]",
    "y = pl.slice(x, [16, 64], [0, 32])",
    "y = pl.slice(x, [16, 64], [16, 0])",
    "y = x[-1, 0:8]",
    "y = pl.load(x, [0, 64], [16, 8])",
    "y = pl.add(x, x[:, 0:32])",
    "y = pl.matmul(x, x)",
    "y = pl.reshape(x, [16, 63])",
    "t = x[:, 0:32]",
    "y = pl.tile.adds(x, 1.0)",
    "y = pl.row_expand_mul(pl.load(x, [0, 0], [16, 64]), pl.load(x, [0, 0], [16, 2]))",
    "pl.static_assert(N > PAD, 'no room')",
    "y: pl.Tensor[[16, 32], pl.FP32] = pl.neg(x)",
    "y = pl.load(x, [0, 0], [16, 64], valid_shape=[16, 65])",
]
NEVER = [
    "if N < PAD:",
    "if FLAG:",
    "if False:",
    "if not True:",
    "if FLAG and k > 0:",
    "if k > 0 and FLAG:",
    "if not (k > 0 or True):",
    "if k < k:",
    "while N < PAD:",
    "while FLAG:",
    "for i in pl.range(PAD - N):",
    "for i in pl.range(4, 4):",
    "for i in pl.range(8, 4, 2):",
    "for i in pl.range(4, 8, -1):",
    "for i in pl.parallel(0):",
    "for i in pl.pipeline(0, stage=2):",
    "for i in pl.unroll(0):",
]


@pytest.mark.parametrize("statement", WRONG)
def test_a_dead_branch_is_not_judged(statement):
    node = program("if N < PAD:", f"    {statement}")
    assert not result(node).any()
    with pytest.raises(pl.ParserError):
        program("if k < PAD:", f"    {statement}")
    with pytest.raises(pl.ParserError):
        program(statement)


@pytest.mark.parametrize("header", NEVER)
def test_what_never_runs_is_dead(header):
    node = program(header, "    y = x[:, N:PAD]", "    out = pl.assemble(out, y, [0, N])")
    assert not result(node).any()


@pytest.mark.parametrize(
    "lines",
    [
        ["if N == PAD:", "    pass", "else:", "    y = x[:, N:PAD]"],
        ["if k > 0 or True:", "    pass", "else:", "    y = x[:, N:PAD]"],
        ["if N > PAD:", "    pass", "elif N == PAD:", "    pass", "else:", "    y = x[:, N:PAD]"],
        ["for i in pl.range(2):", "    if N == PAD:", "        break", "    y = x[:, N:PAD]"],
        ["for i in pl.range(2):", "    if N == PAD:", "        continue", "    y = x[:, N:PAD]"],
        ["for (a,) in pl.while_(init_values=(t,)):", "    pl.cond(FLAG)", "    z = x[:, N:PAD]",
         "    r = pl.yield_(a)"],
    ],
)  # fmt: skip
def test_the_other_branch_and_what_follows_a_jump_are_dead(lines):
    assert not result(program(*lines)).any()


@pytest.mark.parametrize("back", ["return out", "if N == PAD:\n            return out"])
def test_what_follows_a_return_is_dead(back):
    text = (
        HEAD + f"        {back}\n        y = x[:, N:PAD]\n        out = pl.assemble(out, y, [0, N])\n" + TAIL
    )
    assert not result(pl.parse(text)).any()


@pytest.mark.parametrize(
    "header",
    ["if N <= PAD:", "if k > 0:", "if FLAG or k > 0:", "while k > 100:", "for i in pl.range(k):",
     "if k < 64:", "for i in pl.range(1):", "for i in pl.range(4, 8, 2):", "for i in pl.range(8, 4, -1):"],
)  # fmt: skip
def test_what_may_run_keeps_its_error(header):
    with pytest.raises(pl.ParserTypeError, match="the slice 'N:PAD' is empty"):
        program(header, "    y = x[:, N:PAD]")


def test_the_live_branch_keeps_its_error():
    with pytest.raises(pl.ParserTypeError, match="is empty"):
        program("if FLAG:", "    pass", "else:", "    y = x[:, N:PAD]")


@pytest.mark.parametrize(
    ("statement", "kind", "message"),
    [
        ("y = pl.add(x, zz)", pl.UndefinedVariableError, "undefined variable 'zz'"),
        ("y = pl.addd(x, x)", pl.InvalidOperationError, "unknown op"),
        ("y = x if FLAG else t", pl.UnsupportedFeatureError, "conditional expression"),
        ("for i in range(4):\n                    pass", pl.ParserSyntaxError, "a loop runs over pl.range"),
        ("with pl.at():\n                    pass", pl.ParserSyntaxError, "level"),
    ],
)
def test_names_and_the_language_itself_are_still_checked(statement, kind, message):
    with pytest.raises(kind, match=message):
        program("if FLAG:", f"    {statement}")


def test_the_error_of_a_dead_branch_does_not_hide_another():
    with pytest.raises(pl.UndefinedVariableError, match="'zz'") as caught:
        program("if FLAG:", "    y = x[:, N:PAD]", "    with pl.cluster():", "        z = zz", "w = vv")
    assert [error.message for error in caught.value.related] == ["undefined variable 'vv'"]


def test_the_branch_stays_in_the_program():
    """As upstream has it: the condition is a constant, and the branch is there."""
    node = program("if N < PAD:", "    t = pl.mul(t, 100.0)", "out = pl.assemble(out, t, [0, 0])")
    (branch,) = (found for found in ir.walk(node) if isinstance(found, ir.IfStmt))
    assert isinstance(branch.condition, ir.ConstBool) and not branch.condition.value
    text = ir.python_print(node, format=False)
    assert "if False:\n                t: pl.Tensor[[16, 64], pl.FP32] = pl.tensor.muls(t, 100.0)" in text
    assert not result(node).any()


def test_an_empty_window_there_is_one_of_no_elements_and_reads_back():
    node = program("if N < PAD:", "    y = x[:, N:PAD]", "    z = x[:, 40:30]")
    text = ir.python_print(node, format=False)
    assert "y: pl.Tensor[[16, 0], pl.FP32] = pl.tensor.slice(x, [16, 0], [0, 64])" in text
    assert "z: pl.Tensor[[16, 0], pl.FP32] = pl.tensor.slice(x, [16, 0], [0, 40])" in text
    assert ir.structural_diff(pl.parse(text), node) is None
    assert ir.structural_diff(pl.parse(text.partition("\n")[2]), node) is None


def test_names_of_a_dead_branch_do_not_bind_the_living():
    node = program(
        "if N < PAD:",
        "    y = x[:, N:PAD]",
        "else:",
        "    y = pl.add(t, 1.0)",
        "out = pl.assemble(out, y, [0, 0])",
    )
    assert (result(node) == 1).all()
    node = program(
        "if N < PAD:", "    y = x[:, N:PAD]", "y = pl.add(t, 1.0)", "out = pl.assemble(out, y, [0, 0])"
    )
    assert (result(node) == 1).all()


def test_a_dead_branch_may_use_what_another_would_have_bound():
    lines = ["    y = pl.matmul(x, x)", "    y2 = pl.add(y, y)"]
    node = program("if FLAG:", *lines, "if FLAG:", "    out = pl.assemble(out, y2, [0, 0])")
    assert not result(node).any()


def test_what_only_a_dead_branch_would_bind_is_undefined_elsewhere():
    with pytest.raises(pl.UndefinedVariableError, match="'y'"):
        program("if FLAG:", "    y = pl.matmul(x, x)", "out = pl.assemble(out, y, [0, 0])")


@pytest.mark.parametrize("flag", ["FLAG", "not FLAG"])
def test_yields_have_the_type_of_the_branch_that_is_taken(flag):
    node = program(
        f"if {flag}:", f"    y = pl.yield_({'x[:, 0:32]' if flag == 'FLAG' else 'pl.add(t, 1.0)'})",
        "else:", f"    y = pl.yield_({'pl.add(t, 1.0)' if flag == 'FLAG' else 'x[:, 0:32]'})",
        "out = pl.assemble(out, y, [0, 0])",
    )  # fmt: skip
    assert (result(node) == 1).all()


def test_a_yield_that_cannot_be_built_is_an_error():
    with pytest.raises(pl.InvalidOperationError, match="matmul"):
        program("if FLAG:", "    y = pl.yield_(pl.matmul(x, x))", "else:", "    y = pl.yield_(t)")


def test_a_loop_whose_yield_cannot_be_built_is_left_out():
    node = program(
        "if FLAG:",
        "    for i, (a,) in pl.range(2, init_values=(t,)):",
        "        b = pl.yield_(pl.matmul(a, a))",
    )
    assert not result(node).any()


def test_an_inline_function_that_does_not_fit_is_left_out():
    text = HEAD.replace(
        "@pl.program", "@pl.inline\ndef tail(v):\n    w = v[:, N:PAD]\n    return w\n\n@pl.program"
    )
    node = pl.parse(text + "            if FLAG:\n                y = tail(x)\n" + TAIL)
    assert not result(node).any()
    with pytest.raises(pl.ParserTypeError, match="is empty"):
        pl.parse(text + "            if not FLAG:\n                y = tail(x)\n" + TAIL)


def test_dumps_are_taken_as_they_stand():
    """What a dump says in a dead branch is an error if it cannot be read: nothing of it is left out."""
    text = ir.python_print(program("if FLAG:", "    y = pl.neg(x)"), format=False)
    with pytest.raises(pl.ParserError):
        pl.parse(text.replace("pl.tensor.neg(x)", "pl.tensor.neg(x"))
    with pytest.raises(pl.ParserError):
        pl.parse(text.replace("= pl.tensor.neg(x)", "= x[:, 64:64]"))
