"""MaterializeRuntimeScopes: which bodies get scopes, and which have them already."""

import pytest
from passes.kernels import after
from passes.task_programs import tasks

from pypto_tmpl import ir, passes
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.rewrite import build

PASS = "MaterializeRuntimeScopes"


def test_bodies_of_the_function_of_loops_and_of_branches_get_scopes():
    node = tasks(
        "for i in pl.range(4):",
        "    b = self.fill(out)",
        "if n > 3:",
        "    c = self.fill(out)",
        "else:",
        "    d = self.copy(a, out)",
        "return out",
    )
    assert after(PASS, node, "main") == [
        "with pl.scope():",
        "  for i in pl.range(4):",
        "    with pl.scope():",
        "      b = self.fill(out)",
        "  if n > 3:",
        "    with pl.scope():",
        "      c = self.fill(out)",
        "  else:",
        "    with pl.scope():",
        "      d = self.copy(a, out)",
        "  return out",
    ]
    assert passes.make_pass(PASS)(node).get_function("main").attrs["auto_scope"] is False


def test_a_while_gets_none_but_what_is_inside_of_it_does():
    node = tasks("while n > 3:", "    for i in pl.range(4):", "        b = self.fill(out)", "return out")
    assert after(PASS, node, "main") == [
        "with pl.scope():",
        "  while n > 3:",
        "    for i in pl.range(4):",
        "      with pl.scope():",
        "        b = self.fill(out)",
        "  return out",
    ]


def test_a_carry_is_yielded_inside_of_the_scope():
    node = tasks(
        "for i, (o,) in pl.range(4, init_values=(out,)):",
        "    b = self.fill(o)",
        "    r = pl.yield_(b)",
        "return r",
    )
    assert after(PASS, node, "main") == [
        "with pl.scope():",
        "  for i, (o,) in pl.range(4, init_values=(out,)):",
        "    with pl.scope():",
        "      b = self.fill(o)",
        "      r = pl.yield_(b)",
        "  return r",
    ]


def test_nothing_in_a_manual_scope():
    node = tasks(
        "with pl.manual_scope():", "    for i in pl.range(4):", "        b = self.fill(out)", "return out"
    )
    assert after(PASS, node, "main") == [
        "with pl.scope():",
        "  with pl.scope(mode=pl.ScopeMode.MANUAL):",
        "    for i in pl.range(4):",
        "      b = self.fill(out)",
        "  return out",
    ]


@pytest.mark.parametrize("options", [{"auto_scope": False}, {"type": "Opaque"}, {"type": "Group"}])
def test_functions_that_have_their_scopes_or_make_no_tasks_stay(options):
    node = tasks("for i in pl.range(4):", "    b = self.fill(out)", "return out", **options)
    assert passes.make_pass(PASS)(node) is node


def test_a_scope_is_not_put_into_a_scope():
    node = passes.make_pass(PASS)(tasks("for i in pl.range(4):", "    b = self.fill(out)", "return out"))
    main = node.get_function("main")
    automatic = build(main, attrs=main.attrs.without("auto_scope"))
    functions = [automatic if function is main else function for function in node.functions.values()]
    assert after(PASS, build(node, functions=functions), "main") == after(PASS, node, "main")


def test_loops_that_nest_deeper_than_python_calls():
    node = tasks("for i in pl.range(4):", "    b = self.fill(out)", "return out")
    main = node.get_function("main")
    loop, last = main.body.stmts
    for _ in range(3000):
        index = ir.Var("j", loop.loop_var.type, loop.span)
        loop = build(loop, loop_var=index, body=loop)
    deep = build(main, body=ir.SeqStmts([loop, last], main.body.span))
    functions = [deep if function is main else function for function in node.functions.values()]
    scoped = passes.make_pass(PASS)(build(node, functions=functions)).get_function("main")
    assert sum(isinstance(stmt, ir.RuntimeScopeStmt) for stmt in statements(scoped.body)) == 3002
