"""Names: every variable has one of its own, whatever it is called in the IR."""

import builtins
import keyword
import subprocess
import sys
import unicodedata

import pytest
import torch
from codegen.builders import (
    AIV,
    INDEX,
    InCore,
    U,
    assign,
    call,
    carry,
    evaluate_body,
    for_loop,
    function,
    functions_in,
    if_,
    load,
    numbers,
    program,
    program_part,
    ret,
    run,
    scalar,
    script,
    seq,
    store,
    submit,
    tensor,
    tensor_type,
    tile,
    tile_type,
    yields,
)
from hypothesis import given
from hypothesis import strategies as st

from pypto_tmpl import ir
from pypto_tmpl.codegen.names import PYTHON_NAMES, NameTable, identifier
from pypto_tmpl.codegen.preamble import load_preamble
from pypto_tmpl.debug import torch_codegen

HELPERS = sorted(load_preamble().names)
ODD_HINTS = [
    "x", "x_1", "x_1_1", "x__1", "X", "1x", "x.y", "x-y", "x y", "", "_", "__", "___", "class", "None",
    "True", "lambda", "match", "case", "type", "torch", "range", "min", "len", "print", "self", "f", "f_1",
    "__name__", "__builtins__", "__debug__", "__file__", "変数", "переменная", "ª", "ﬁ", "fi", "ſ", "s", "K",
    "K", "Å", "Å", "ϕ", "e\u0301", "é", "²", "①", "½", "𐄇", "\ud800", "a\x00b", "a\nb", "'\"\\", "x" * 300,
    "🦊", "١٢", "threading", "math", "time", "collections", "_CARRIERS", "_REDUCTION_PADS", "_GROUP_META",
    "_tile_store", "_TASK_DONE", "x_valid", "v", "v_1", *HELPERS[:3],
]  # fmt: skip
HINTS = st.one_of(st.sampled_from(ODD_HINTS), st.text(max_size=6), st.sampled_from(HELPERS))


def test_two_variables_with_one_hint_and_one_that_has_the_suffix_already():
    variables = [scalar("x"), scalar("x"), scalar("x_1")]
    namespace = script(function("f", variables, ret(*variables)))
    assert namespace["f"](1, 2, 3) == (1, 2, 3)


@given(st.lists(HINTS, min_size=1, max_size=30))
def test_variables_never_share_a_name(hints):
    params = [scalar(hint) for hint in hints]
    copies = [scalar(hint) for hint in hints]
    body = [assign(copy, param * 2) for copy, param in zip(copies, params, strict=True)]
    text = torch_codegen(function("f", params, *body, ret(*params, *copies)))
    found = run(text)["f"](*range(1, len(hints) + 1))
    assert found == (*range(1, len(hints) + 1), *range(2, 2 * len(hints) + 1, 2))


@given(st.lists(HINTS.filter(bool), min_size=1, max_size=12, unique=True))
def test_functions_never_share_a_name_with_each_other_or_a_helper(names):
    """Each function loads and stores through helpers, which a name must not hide."""
    x, out = tensor("x", [2, 2]), tensor("out", [2, 2])
    functions = []
    for number, name in enumerate(names):
        t = tile(name, [2, 2])
        kernel_body = [assign(t, load(x, [0, 0], [2, 2])), assign(out, store(t, [0, 0], out)), ret(number)]
        functions.append(function(name, [x, out], *kernel_body, type=AIV))
    results = [scalar("r") for _ in names]
    calls = [assign(r, call(name, [x, out], r.type)) for r, name in zip(results, names, strict=True)]
    main = function("entry point", [x, out], *calls, ret(*results, 0, 0))
    namespace = script(*functions, main)
    target = torch.zeros(2, 2)
    assert namespace["entry_point"](numbers(2, 2), target) == (*range(len(names)), 0, 0)
    assert target.tolist() == [[0.0, 1.0], [2.0, 3.0]]


@given(st.text())
def test_any_text_becomes_an_identifier_as_the_parser_reads_it(hint):
    name = identifier(hint)
    assert name.isidentifier()
    assert unicodedata.normalize("NFKC", name) == name
    name.encode()


def test_hints_that_are_identifiers_stay():
    assert [identifier(hint) for hint in ("acc__ssa_v0", "X1", "_t", "変数")] == [
        "acc__ssa_v0",
        "X1",
        "_t",
        "変数",
    ]
    assert [identifier(hint) for hint in ("", "1a", "a.b", "a-b", "²", "ﬁ", "🦊")] == [
        "v", "_1a", "a_b", "a_b", "_2", "fi", "_",
    ]  # fmt: skip


def test_a_suffix_appears_only_on_a_clash():
    table = NameTable(["taken"])
    assert [table.unique(hint) for hint in ("x", "x", "x_1", "x", "taken", "for")] == [
        "x", "x_1", "x_1_1", "x_2", "taken_1", "for_1",
    ]  # fmt: skip


def test_python_names_are_a_fixed_list_that_covers_this_python():
    ours = {
        name for name in dir(builtins) if not isinstance(getattr(builtins, name), type(BaseExceptionGroup))
    }
    assert {*keyword.kwlist, *keyword.softkwlist} <= PYTHON_NAMES
    newer = {"ExceptionGroup", "BaseExceptionGroup", "PythonFinalizationError", "_IncompleteInputError"}
    assert ours - PYTHON_NAMES <= newer


def test_names_do_not_depend_on_what_stands_in_builtins():
    """An interactive Python, a debugger or a test tool puts names there."""
    code = (
        "import builtins; builtins.display = 1; builtins.x = 2\n"
        "from pypto_tmpl.codegen.names import NameTable\n"
        "print(NameTable().unique('display'), NameTable().unique('x'), NameTable().unique('quit'))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found == "display x quit_1\n"


def test_names_that_the_emitter_makes_up():
    """A companion, a lane's function, a header: none meets a variable or a function that has its name."""
    n = scalar("n")
    x = tensor("x", [n, 4])
    x_lane, f_lane = scalar("f_lane"), scalar("n")
    f = function(
        "f", [x, x_lane, f_lane], ret(n + x_lane * 100 + f_lane * 10000), type=InCore, split_aiv=True
    )
    g = function("f_lane", [f_lane], ret(f_lane))
    text = torch_codegen(program(f, g))
    assert functions_in(program_part(text)) == ["f_lane", "f", "f_lane_1"]
    namespace = run(text)
    assert namespace["f"](torch.zeros(3, 4), 5, 7) == 3 + 500 + 70000
    assert namespace["f_lane"](9) == 9


def test_a_lane_function_takes_a_free_name():
    x = scalar("work_lane")
    y = scalar("y")
    body = ir.SplitAivScopeStmt(ir.SplitMode.NONE, name_hint="work", body=assign(y, x + 1), span=U)
    assert evaluate_body(body, ret(y), args=[(x, 4)]) == 5


def test_a_function_called_like_a_builtin_does_not_hide_it():
    x = scalar("x")
    functions = [function(name, [x], ret(x)) for name in ("min", "range", "print", "isinstance")]
    body = for_loop(scalar("i"), 3, assign(x, ir.min_(x, 2)))
    namespace = script(*functions, function("main", [x], body, ret(x)))
    assert namespace["main"](5) == 2
    assert namespace["min_1"](7) == 7


def test_names_of_variables_that_are_dropped_and_rebuilt():
    """Identity is the object's: a name must not outlive its variable in a table keyed by address."""
    texts = set()
    for round_number in range(200):
        variables = [scalar(f"v{k}") for k in range(50)]
        body = [assign(var, k) for k, var in enumerate(variables)]
        texts.add(torch_codegen(function("f", [], *body, ret(*variables))))
        del variables, body
        assert len(texts) == 1, round_number


def test_one_variable_that_is_used_twice_is_one_name():
    x, y = scalar("x"), scalar("y")
    namespace = script(function("f", [x], assign(y, x + x), assign(x, y), ret(x, y)))
    assert namespace["f"](4) == (8, 8)


@pytest.mark.parametrize("hint", ["acc", "i", "x"])
def test_a_loop_of_which_everything_has_one_name(hint):
    x = scalar(hint)
    i, a, b, p, r = scalar(hint), carry(hint, x), carry(hint, 1), scalar(hint), scalar(hint)
    q = scalar(hint)
    branch = if_(ir.gt(i, 0), seq(yields(a + b)), yields(a), results=[p])
    loop = for_loop(i, 3, branch, yields(p, i), carries=[a, b], results=[r, q])
    # a: 10; i=0 keeps 10, b=0; i=1: 10+0, b=1; i=2: 10+1, b=2
    assert evaluate_body(loop, ret(r, q), args=[(x, 10)]) == (11, 2)


def test_group_names_may_be_any_text():
    x = tensor("x", [2])
    aic = function("a.c", [x], type=ir.FunctionType.AIC)
    aiv = function("a'v", [x], ret(x), type=AIV, returns=[x.type])
    group = function(
        'gr"o\\up', [x], ir.EvalStmt(call("a.c", [x]), U), ret(call("a'v", [x], x.type)),
        type=ir.FunctionType.Group, returns=[x.type],
    )  # fmt: skip
    main = function("main", [x], ret(call('gr"o\\up', [x], x.type)))
    value = numbers(2)
    assert script(aic, aiv, group, main)["main"](value) is value


def test_variables_of_submits_and_tiles():
    """Names of results, tasks and tiles all come from one table."""
    x, out = tensor("t", [2, 2]), tensor("t", [2, 2])
    t = tile("t", [2, 2])
    kernel = function(
        "t", [x, out], assign(t, load(x, [0, 0], [2, 2])), assign(out, store(t, [0, 0], out)), ret(out),
        type=AIV, returns=[out.type],
    )  # fmt: skip
    a, b = tensor("t", [2, 2]), tensor("t", [2, 2])
    result = ir.Var("t", ir.TupleType([tensor_type([2, 2]), ir.ScalarType(ir.DataType.TASK_ID)]), U)
    main = function(
        "main",
        [a, b],
        assign(result, submit("t", [a, b], result.type)),
        ret(ir.TupleGetItemExpr(result, 0, U)),
    )
    target = torch.zeros(2, 2)
    assert script(kernel, main)["main"](numbers(2, 2), target) is target
    assert torch.equal(target, numbers(2, 2))
    assert tile_type([2, 2]) == t.type
    assert result.type != INDEX
