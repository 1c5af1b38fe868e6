"""InlineFunctions: what arguments and results become, and what is refused."""

import re

import pytest
from passes.kernels import HEAD, after, program

from pypto_tmpl import passes

TENSOR = "pl.Tensor[[16, 16], pl.FP32]"


def helper(name: str, param: str, *lines: str, result: str = "") -> str:
    head = f"    def {name}(self, {param}: {TENSOR}){result}:\n"
    decorator = "    @pl.function(type=pl.FunctionType.Inline)\n"
    return decorator + head + "".join(f"        {line}\n" for line in lines)


def main(*lines: str) -> str:
    head = f"    @pl.function\n    def main(self, x: {TENSOR}, out: pl.Out[{TENSOR}]):\n"
    return head + "".join(f"        {line}\n" for line in lines)


PAIR = helper("pair", "v", "return v, pl.neg(v)")
DOUBLED = helper("doubled", "v", "v = pl.mul(v, 2.0)", "return v")


def test_a_pair_that_is_read_after_its_argument_was_assigned_keeps_its_values():
    lines = (
        "a = pl.add(x, 1.0)",
        "both = self.pair(a)",
        "a = pl.mul(a, 10.0)",
        "out = pl.add(both[0], both[1])",
    )
    assert after("InlineFunctions", program(PAIR + main(*lines)), "main") == [
        "a = pl.tensor.adds(x, 1.0)",
        "both_inline0 = a",
        "both_inline1 = pl.tensor.neg(a)",
        "a = pl.tensor.muls(a, 10.0)",
        "out = pl.tensor.add(both_inline0, both_inline1)",
    ]


def test_a_parameter_that_the_helper_assigns_leaves_the_variable_of_the_caller_alone():
    lines = ("a = pl.add(x, 1.0)", "b = self.doubled(a)", "out = pl.add(a, b)")
    assert after("InlineFunctions", program(DOUBLED + main(*lines)), "main") == [
        "a = pl.tensor.adds(x, 1.0)",
        "v_inline0 = a",
        "v_inline0 = pl.tensor.muls(v_inline0, 2.0)",
        "b = v_inline0",
        "out = pl.tensor.add(a, b)",
    ]
    assert (
        after("InlineFunctions", program(DOUBLED + main("out = self.doubled(x)")), "main")[0]
        == "v_inline0 = x"
    )


def test_a_variable_that_the_call_assigns_is_assigned_by_the_helper():
    lines = ("a = pl.add(x, 1.0)", "a = self.doubled(a)", "out = pl.add(a, a)")
    assert after("InlineFunctions", program(DOUBLED + main(*lines)), "main")[1:] == [
        "a = pl.tensor.muls(a, 2.0)",
        "out = pl.tensor.add(a, a)",
    ]


def test_a_variable_that_the_call_assigns_and_passes_twice_is_copied():
    scaled = f"""
    @pl.function(type=pl.FunctionType.Inline)
    def scaled(self, a: {TENSOR}, b: {TENSOR}):
        a = pl.mul(a, 0.5)
        return pl.add(a, b)
"""
    lines = ("a = pl.add(x, 1.0)", "a = self.scaled(a, a)", "out = pl.add(a, a)")
    assert after("InlineFunctions", program(scaled + main(*lines)), "main")[1:] == [
        "a_inline0 = a",
        "a_inline0 = pl.tensor.muls(a_inline0, 0.5)",
        "a = pl.tensor.add(a_inline0, a)",
        "out = pl.tensor.add(a, a)",
    ]


def test_functions_that_nothing_calls_go_too():
    got = passes.inline_functions()(program(PAIR + DOUBLED + main("out = pl.neg(x)")))
    assert [function.name for function in got.functions.values()] == ["main"]


def test_a_circle_is_shown():
    a = helper("a", "v", "return self.b(v)", result=f" -> {TENSOR}")
    b = helper("b", "v", "return self.a(v)", result=f" -> {TENSOR}")
    with pytest.raises(ValueError, match="call each other in a circle: a -> b -> a") as raised:
        passes.inline_functions()(program(a + b + main("out = self.a(x)")))
    text = HEAD + a + b
    line = text[: text.index("self.a(v)")].count("\n") + 1
    assert f"<string>:{line}:" in str(raised.value) and "in function 'b'" in str(raised.value)


SCALED = f"""
    @pl.function(type=pl.FunctionType.Inline)
    def scaled(self, v: {TENSOR}, k: pl.Scalar[pl.INDEX]):
        w = pl.mul(v, 3.0)
        return w
"""


def test_a_call_inside_of_an_expression_is_pulled_out_with_all_that_is_called():
    lines = ("a = pl.add(pl.neg(x), pl.sub(self.doubled(self.doubled(x)), pl.exp(x)))", "out = pl.abs(a)")
    assert after("InlineFunctions", program(DOUBLED + main(*lines)), "main") == [
        "t_inline0 = pl.tensor.neg(x)",
        "v_inline5 = x",
        "v_inline5 = pl.tensor.muls(v_inline5, 2.0)",
        "doubled_inline1 = v_inline5",
        "v_inline6 = doubled_inline1",
        "v_inline6 = pl.tensor.muls(v_inline6, 2.0)",
        "doubled_inline2 = v_inline6",
        "t_inline3 = pl.tensor.exp(x)",
        "t_inline4 = pl.tensor.sub(doubled_inline2, t_inline3)",
        "a = pl.tensor.add(t_inline0, t_inline4)",
        "out = pl.tensor.abs(a)",
    ]


def test_calls_of_pairs_in_returns_branches_and_loops_are_pulled_out():
    lines = (
        "if pl.read(self.pair(x)[1], [0, 0]) > 0.0:",
        "    a = pl.yield_(self.scaled(x, 1))",
        "else:",
        "    a = pl.yield_(x)",
        "for i, (c,) in pl.range(2, init_values=(self.scaled(a, 2),)):",
        "    d = pl.yield_(self.scaled(c, 3))",
        "return d, self.pair(d)[0]",
    )
    got = after("InlineFunctions", program(PAIR + SCALED + main(*lines)), "main")
    numbered = [re.sub(r"_inline\d+", "", line) for line in got]
    assert numbered == [
        "t = pl.tensor.read(pl.tensor.neg(x), [0, 0])",
        "if t > 0.0:",
        "  w = pl.tensor.muls(x, 3.0)",
        "  scaled = w",
        "  a = pl.yield_(scaled)",
        "else:",
        "  a = pl.yield_(x)",
        "w = pl.tensor.muls(a, 3.0)",
        "scaled = w",
        "for i, (c,) in pl.range(2, init_values=(scaled,)):",
        "  w = pl.tensor.muls(c, 3.0)",
        "  scaled = w",
        "  d = pl.yield_(scaled)",
        "return d, d",
    ]


def test_statements_without_such_a_call_stay_as_they_are():
    lines = ("a = pl.add(pl.neg(x), pl.exp(x))", "out = self.doubled(pl.neg(a))")
    assert after("InlineFunctions", program(DOUBLED + main(*lines)), "main") == [
        "a = pl.tensor.add(pl.tensor.neg(x), pl.tensor.exp(x))",
        "v_inline0 = pl.tensor.neg(a)",
        "v_inline0 = pl.tensor.muls(v_inline0, 2.0)",
        "out = v_inline0",
    ]


def test_a_call_in_the_condition_of_a_while_is_an_error():
    lines = (
        "for (k,) in pl.while_(init_values=(0,)):",
        "    pl.cond(pl.read(self.doubled(x), [k, 0]) < 1.0)",
        "    j = pl.yield_(k + 1)",
    )
    with pytest.raises(
        passes.PassError, match="the condition of a while calls .*, which every round has to call"
    ):
        passes.inline_functions()(program(DOUBLED + main(*lines)))


def test_a_return_that_is_not_the_last_statement():
    early = helper("early", "v", "if 1 > 0:", "    return v", "return pl.neg(v)")
    with pytest.raises(passes.PassError, match="the return of the Inline function 'early' is not its last"):
        passes.inline_functions()(program(early + main("out = self.early(x)")))


SCOPED = helper(
    "scoped",
    "v",
    "with pl.at(level=pl.Level.CORE_GROUP):",
    "    w = pl.mul(v, 2.0)",
    "with pl.at(level=pl.Level.CORE_GROUP):",
    "    u = pl.mul(w, 2.0)",
    "return u",
)


def test_what_a_call_dumps_is_dumped_by_the_scopes_that_use_it():
    call = "out = self.scoped(a, attrs={'dump_vars': [a]})"
    lines = after("InlineFunctions", program(SCOPED + main("a = pl.add(x, 1.0)", call)), "main")
    assert lines[1::2] == [
        "with pl.at(level=pl.Level.CORE_GROUP, dumps=[a]):",
        "with pl.at(level=pl.Level.CORE_GROUP):",
        "out = u_inline1",
    ]


def test_what_nothing_in_the_helper_can_dump_is_an_error():
    call = "out = self.doubled(a, attrs={'dump_vars': [a]})"
    with pytest.raises(
        passes.PassError, match="'a' is to be dumped, but doubled uses it nowhere in a launch"
    ):
        passes.inline_functions()(program(DOUBLED + main("a = pl.add(x, 1.0)", call)))


def test_an_attribute_that_no_body_has_is_an_error():
    call = "out = self.doubled(a, attrs={'core_num': 2})"
    with pytest.raises(passes.PassError, match="doubled has the attribute 'core_num', which cannot be kept"):
        passes.inline_functions()(program(DOUBLED + main("a = pl.add(x, 1.0)", call)))
