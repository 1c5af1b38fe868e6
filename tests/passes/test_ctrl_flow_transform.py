"""CtrlFlowTransform: where its lines go, what carries become, and where it does nothing."""

import pytest
from passes.kernels import after, kernel, program

from pypto_tmpl import passes


def test_work_before_a_jump_is_kept():
    lines = (
        "for i in pl.range(n):",
        "    if i > 4:",
        "        n = n + 100",
        "        break",
        "    n = n + 1",
    )
    assert after("CtrlFlowTransform", kernel(*lines)) == [
        "stop__tmp_v2 = n",
        "i__idx_v1 = 0",
        "break__tmp_v0 = False",
        "while i__idx_v1 < stop__tmp_v2 and not break__tmp_v0:",
        "  if i__idx_v1 > 4:",
        "    n = n + 100",
        "    break__tmp_v0 = True",
        "    pl.yield_()",
        "  else:",
        "    n = n + 1",
        "    pl.yield_()",
        "  if not break__tmp_v0:",
        "    i__idx_v1 = i__idx_v1 + 1",
    ]


def test_what_follows_a_branch_that_may_go_on_is_under_a_flag():
    lines = (
        "for i in pl.range(8):",
        "    if i > 2:",
        "        if i > 4:",
        "            continue",
        "        n = n + 1",
        "    n = n + 2",
    )
    assert after("CtrlFlowTransform", kernel(*lines)) == [
        "for i in pl.range(8):",
        "  continue__tmp_v0 = False",
        "  if i > 2:",
        "    if i > 4:",
        "      continue__tmp_v0 = True",
        "    else:",
        "      n = n + 1",
        "  if not continue__tmp_v0:",
        "    n = n + 2",
        "  else:",
        "    pass",
    ]


@pytest.mark.parametrize("jump", ["break", "continue"])
def test_a_jump_leaves_carries_as_they_were(jump):
    lines = (
        "for i, (s,) in pl.range(8, init_values=(n,)):",
        "    more = s + 1",
        "    if i > 4:",
        f"        {jump}",
        "    s_end = pl.yield_(more)",
    )
    got = after("CtrlFlowTransform", kernel(*lines))
    yields = [line.split("yield_")[1] for line in got if "yield_" in line]
    assert yields[:2] == ["(s)", "(more)"]
    assert yields[2].startswith("(s__phi_v")


def test_a_loop_without_a_constant_step():
    with pytest.raises(passes.PassError, match="the loop over 'i' has a break, and the step n, which is no"):
        passes.ctrl_flow_transform()(kernel("for i in pl.range(0, 8, n):", "    if i > 4:", "        break"))


def test_jumps_outside_of_kernels_stay_and_are_refused_where_they_would_lose_values():
    head = "    @pl.function\n    def main(self, n: pl.Scalar[pl.INDEX]):\n        for i in pl.range(8):\n"
    tail = "            if i > 4:\n                break\n"
    right = program(f"{head}{tail}            n = n + 1\n        return n\n")
    assert passes.ctrl_flow_transform()(right) is right
    passes.convert_to_ssa()(right)
    wrong = program(f"{head}            n = n + 1\n{tail}        return n\n")
    with pytest.raises(passes.PassError) as raised:
        passes.convert_to_ssa()(wrong)
    assert str(raised.value) == (
        "error[pass]: a jump leaves the loop, or this round, after 'n' was assigned\n"
        "  --> <string>:11:17\n"
        "   = in function 'main', variable 'n'"
    )


@pytest.mark.parametrize("loop", ["for", "while"])
def test_a_continue_and_a_break_behind_it_leave_carries_as_they_were(loop):
    head = {"for": ["for i, (a,) in pl.range(8, init_values=(0,)):"],
            "while": ["for (a, i) in pl.while_(init_values=(0, 0)):", "    pl.cond(i < 8)"]}  # fmt: skip
    lines = ["    if a < n:", "        continue", "    if a > 5:", "        break"]
    last = {"for": "    b = pl.yield_(a + i)", "while": "    b, j = pl.yield_(a + i, i + 1)"}
    got = after("CtrlFlowTransform", kernel(*head[loop], *lines, last[loop], "c = b"))
    assert not {"break", "continue"} & {line.strip() for line in got}
    inner = got.index("  else:")
    assert (
        got[inner + 1 :][:6]
        == {
            "for": [
                "    if a > 5:",
                "      break__tmp_v1 = True",
                "      a__phi_v3 = pl.yield_(a)",
                "    else:",
                "      a__phi_v3 = pl.yield_(a + i__idx_v2)",
                "    a__phi_v0 = pl.yield_(a__phi_v3)",
            ],
            "while": [
                "    if a > 5:",
                "      break__tmp_v2 = True",
                "      a__phi_v3, i__phi_v4 = pl.yield_(a, i)",
                "    else:",
                "      a__phi_v3, i__phi_v4 = pl.yield_(a + i, i + 1)",
                "    a__phi_v0, i__phi_v1 = pl.yield_(a__phi_v3, i__phi_v4)",
            ],
        }[loop]
    )


def test_a_branch_in_the_middle_that_gives_a_value_or_leaves_is_refused():
    lines = (
        "for i, (a,) in pl.range(8, init_values=(0,)):",
        "    if i > 5:",
        "        if i > 6:",
        "            break",
        "        d = pl.yield_(a)",
        "    else:",
        "        d = pl.yield_(i)",
        "    b = pl.yield_(d + 1)",
    )
    with pytest.raises(passes.PassError, match="a branch that gives 'd' leaves the loop instead"):
        passes.ctrl_flow_transform()(kernel(*lines))
