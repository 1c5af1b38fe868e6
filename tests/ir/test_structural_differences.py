"""All differences of two programs: each told once, in order, with the lines of both sides."""

import pypto_tmpl.language as pl
from pypto_tmpl import ir

HEAD = """# pypto.program: P
import pypto.language as pl

@pl.program
class P:
    @pl.function
    def f(self, x: pl.Tensor[[4], pl.FP32]) -> pl.Tensor[[4], pl.FP32]:
"""
A = "        a: pl.Tensor[[4], pl.FP32] = pl.tensor.adds(x, {})\n"
B = "        b: pl.Tensor[[4], pl.FP32] = pl.tensor.muls(a, {})\n"
C = "        c: pl.Tensor[[4], pl.FP32] = pl.tensor.exp(b)\n        return c\n"


def differences(first, second):
    left, right = (pl.parse(HEAD + body) for body in (first, second))
    found = [*ir.structural_differences(left, right, enable_auto_mapping=True)]
    assert (found[0] if found else None) == ir.structural_diff(left, right, enable_auto_mapping=True)
    return [(str(one), *ir.printed_lines(left, right, one)) for one in found]


def line(template, number=""):
    return template.format(number).splitlines()[0].strip()


def test_equal_programs_have_none():
    assert differences(A.format(1.0) + B.format(2.0) + C, A.format(1.0) + B.format(2.0) + C) == []


def test_every_difference_is_told():
    found = differences(A.format(1.0) + B.format(2.0) + C, A.format(3.0) + B.format(4.0) + C)
    assert found == [
        ("['f'].body[0].value.args[1].value: 1.0 and 3.0 differ", line(A, 1.0), line(A, 3.0)),
        ("['f'].body[1].value.args[1].value: 2.0 and 4.0 differ", line(B, 2.0), line(B, 4.0)),
    ]


def test_statements_of_one_side_are_told_and_those_behind_them_compared():
    extra = "        e: pl.Tensor[[4], pl.FP32] = pl.tensor.sqrt(x)\n"
    first, second = A.format(1.0) + B.format(2.0) + C, A.format(1.0) + extra + B.format(9.0) + C
    assert differences(first, second) == [
        ("['f'].body: lengths differ: 4 and 5", "(nothing)", "return c"),
        ("['f'].body[1]: only the right one has this statement", "(nothing)", extra.strip()),
        ("['f'].body[1].value.args[1].value: 2.0 and 9.0 differ", line(B, 2.0), line(B, 9.0)),
    ]
    told, *others = differences(second.replace("9.0", "2.0"), first)
    assert others == [("['f'].body[1]: only the left one has this statement", extra.strip(), "(nothing)")]
    told, *others = differences(first, second.replace("9.0", "2.0"))
    assert others == [("['f'].body[1]: only the right one has this statement", "(nothing)", extra.strip())]


def test_lines_behind_a_further_statement_are_those_of_each_side():
    extra = "        e: pl.Tensor[[4], pl.FP32] = pl.tensor.sqrt(x)\n"
    loop = "        for i in pl.range({}):\n            s: pl.Scalar[pl.INDEX] = i + 1\n"
    first, second = (
        A.format(1.0) + loop.format(4) + "        return a\n",
        (A.format(1.0) + extra + loop.format(5) + "        return a\n"),
    )
    assert differences(first, second)[1:] == [
        ("['f'].body[1]: only the right one has this statement", "(nothing)", extra.strip()),
        ("['f'].body[1].stop.value: 4 and 5 differ", "for i in pl.range(4):", "for i in pl.range(5):"),
    ]


def test_variables_of_different_definitions_are_told_once():
    use = "        b: pl.Tensor[[4], pl.FP32] = pl.tensor.add({0}, {0})\n        return {0}\n"
    other = "        e: pl.Tensor[[4], pl.FP32] = pl.tensor.adds(x, 1.0)\n"
    found = differences(A.format(1.0) + other + use.format("a"), A.format(1.0) + other + use.format("e"))
    assert [one[0] for one in found] == [
        "['f'].body[2].value.args[0]: the variables stand for different definitions"
    ]


def test_functions_of_one_side_do_not_hide_the_others():
    number = "pl.Scalar[pl.INT32]"
    more = f"    @pl.function\n    def {{}}(self, x: {number}) -> {number}:\n        return x\n"
    body = A.format(1.0) + "        return a\n"
    found = differences(body + more.format("g"), body.replace("1.0", "5.0") + more.format("h"))
    assert [one[0].partition(":")[0] for one in found] == [
        "['f'].body[0].value.args[1].value",
        "['g']",
        "['h']",
    ]
