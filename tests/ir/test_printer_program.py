"""Text of functions and programs (spec: DSL, 12.2 and 12.3)."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from ir.printer_samples import (
    FP32,
    NOWHERE,
    TENSOR,
    assign,
    branch,
    call,
    call_function,
    evaluate,
    function,
    integer,
    loop,
    program,
    returns,
    scalar,
    sequence,
    submit,
    tensor,
    text,
    yields,
)

from pypto_tmpl import ir

A, B = tensor("a"), tensor("b")
WORK = evaluate(call("system.bar_all"))
TENSOR_TEXT = "pl.Tensor[[16, 64], pl.FP32]"


def header(**options: Any) -> str:
    """The lines of a function in front of its body."""
    printed = text(program(function("f", [], WORK, **options)))
    return printed.split("class Sample:\n")[1].split("        pl.system")[0]


DECORATORS = [
    (ir.FunctionType.Opaque, "", "self"),
    (
        ir.FunctionType.Orchestration,
        "(type=pl.FunctionType.Orchestration, level=pl.Level.CHIP, role=pl.Role.Orchestrator)",
        "self",
    ),
    (
        ir.FunctionType.InCore,
        "(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)",
        "",
    ),
    (ir.FunctionType.AIC, "(type=pl.FunctionType.AIC, level=pl.Level.AIC, role=pl.Role.SubWorker)", ""),
    (ir.FunctionType.AIV, "(type=pl.FunctionType.AIV, level=pl.Level.AIV, role=pl.Role.SubWorker)", ""),
    (
        ir.FunctionType.Group,
        "(type=pl.FunctionType.Group, level=pl.Level.CORE_GROUP, role=pl.Role.SubWorker)",
        "",
    ),
    (ir.FunctionType.Spmd, "(type=pl.FunctionType.Spmd)", "self"),
    (ir.FunctionType.Inline, "(type=pl.FunctionType.Inline)", "self"),
    (
        ir.FunctionType.Graph,
        "(type=pl.FunctionType.Graph, level=pl.Level.CHIP, role=pl.Role.Orchestrator)",
        "self",
    ),
]


@pytest.mark.parametrize(("kind", "options", "receiver"), DECORATORS)
def test_function_types(kind: ir.FunctionType, options: str, receiver: str) -> None:
    assert header(type=kind) == f"    @pl.function{options}\n    def f({receiver}):\n"


def test_every_function_type_is_tested() -> None:
    assert [kind for kind, *_ in DECORATORS] == list(ir.FunctionType)


def test_decorator_options() -> None:
    printed = header(
        level=ir.Level.HOST,
        role=ir.Role.SubWorker,
        attrs={"external_source": 'C:\\k "1".cpp', "auto_scope": False},
    )
    assert printed == (
        "    @pl.function(level=pl.Level.HOST, role=pl.Role.SubWorker, auto_scope=False,"
        ' external_source="C:\\\\k \\"1\\".cpp")\n'
        "    def f():\n"
    )


@pytest.mark.parametrize(
    ("attrs", "expected"),
    [
        ({}, ""),
        ({"split": 0}, ""),
        ({"split": ir.SplitMode.UP_DOWN}, '{"split": pl.SplitMode.UP_DOWN}'),
        (
            {"split_aiv": True, "split": 2, "dual_aiv_dispatch": True},
            '{"split_aiv": True, "split": pl.SplitMode.LEFT_RIGHT, "dual_aiv_dispatch": True}',
        ),
        ({"auto_scope": False, "slot_num": 4}, '{"slot_num": 4}'),
        ({"auto_scope": 1, "external_source": 2}, '{"auto_scope": 1, "external_source": 2}'),
        ({"core_num": 4}, '{"core_num": 4}'),
        ({'a "key"': 0.1}, '{"a \\"key\\"": 0.10000000000000001}'),
    ],
)
def test_function_attributes(attrs: dict[str, Any], expected: str) -> None:
    prologue = f"        pl.func_attr({expected})\n" if expected else ""
    assert header(attrs=attrs).split("def f(self):\n")[1] == prologue


def test_split_code_without_a_name_is_an_error() -> None:
    with pytest.raises(ir.PrintError, match=r"attribute 'split': 3 is no SplitMode \(0 to 2\)"):
        header(attrs={"split": 3})


def test_parameters_and_results() -> None:
    params = [A, (B, ir.ParamDirection.Out), (tensor("c"), ir.ParamDirection.InOut), scalar("n")]
    body = returns(A)
    assert text(function("f", params, body, [TENSOR])) == (
        "@pl.function\n"
        f"def f(a: {TENSOR_TEXT}, b: pl.Out[{TENSOR_TEXT}], c: pl.InOut[{TENSOR_TEXT}],"
        f" n: pl.Scalar[pl.INDEX]) -> {TENSOR_TEXT}:\n"
        "    return a\n"
    )
    two = text(function("f", [A], body, [TENSOR, ir.ScalarType(FP32)]))
    assert f"def f(a: {TENSOR_TEXT}) -> tuple[{TENSOR_TEXT}, pl.Scalar[pl.FP32]]:\n" in two
    assert f"def f(self, a: {TENSOR_TEXT}):\n" in text(program(function("f", [A], body)))


def test_functions_bound_at_run_time() -> None:
    empty = ir.InlineStmt("", ir.InlineLanguage.Python, NOWHERE)
    options = {"level": ir.Level.HOST, "role": ir.Role.SubWorker, "requires_runtime_binding": True}
    assert text(function("f", [], empty, **options)).endswith("def f():\n    ...\n")
    assert text(function("f", [], sequence(), **options)).endswith("def f():\n    ...\n")
    with pytest.raises(ir.PrintError, match="function f is bound at run time, but has a body as well"):
        text(function("f", [], WORK, **options))


def test_host_function_keeps_its_text() -> None:
    body = ir.InlineStmt("for r in ranks:\n    launch(r)", ir.InlineLanguage.Python, NOWHERE)
    printed = text(program(function("f", [A], body, level=ir.Level.HOST, role=ir.Role.SubWorker)))
    assert printed.endswith(f"    def f(a: {TENSOR_TEXT}):\n        for r in ranks:\n            launch(r)\n")


def test_program() -> None:
    assert text(program(function("f", [A], returns(A), [TENSOR]))) == (
        "# pypto.program: Sample\n"
        "import pypto.language as pl\n"
        "\n"
        "@pl.program\n"
        "class Sample:\n"
        "    @pl.function\n"
        f"    def f(self, a: {TENSOR_TEXT}) -> {TENSOR_TEXT}:\n"
        "        return a\n"
    )


def test_program_under_another_prefix() -> None:
    printed = text(program(function("f", [scalar("n")], returns())), prefix="X")
    assert printed == (
        "# pypto.program: Sample\n"
        "from pypto import language as X\n"
        "\n"
        "@X.program\n"
        "class Sample:\n"
        "    @X.function\n"
        "    def f(self, n: X.Scalar[X.INDEX]):\n"
        "        return\n"
    )


@pytest.mark.parametrize(
    ("name", "title", "class_name"),
    [
        ("", "Program", "Program"),
        ("my prog", "my prog", "my_prog"),
        ("two\nlines", "two lines", "two_lines"),
        ("1st", "1st", "_1st"),
        ("class", "class", "class_"),
        ("Größe", "Größe", "Größe"),
    ],
)
def test_program_names(name: str, title: str, class_name: str) -> None:
    printed = text(program(function("f", [], WORK), name=name))
    assert printed.startswith(f"# pypto.program: {title}\n")
    assert f"\nclass {class_name}:\n" in printed


def test_program_without_functions() -> None:
    assert text(program()).endswith("class Sample:\n    pass\n")


@pytest.mark.parametrize("name", ["a b", "1a", "class"])
def test_function_name_that_cannot_be_written_is_an_error(name: str) -> None:
    with pytest.raises(ir.PrintError, match=f"function name '{name}' is no identifier"):
        text(program(function(name, [], WORK)))


def calls(name: str, *callees: str) -> ir.Function:
    return function(name, [A], sequence(*(evaluate(call_function(callee, A)) for callee in callees)))


def order(*functions: ir.Function) -> list[str]:
    lines = text(program(*functions)).splitlines()
    return [line.split("def ")[1].split("(")[0] for line in lines if "def " in line]


def test_callees_come_first_and_else_names_decide() -> None:
    assert order(calls("c"), calls("a"), calls("b")) == ["a", "b", "c"]
    assert order(calls("a", "c", "b"), calls("b"), calls("c", "d"), calls("d")) == ["b", "d", "c", "a"]
    assert order(calls("a", "missing"), calls("b")) == ["a", "b"]
    launched = function("a", [A], evaluate(submit("z", A)))
    assert order(launched, calls("z")) == ["z", "a"]
    nested = function("a", [A], evaluate(call("tensor.exp", call_function("z", A))))
    assert order(nested, calls("z")) == ["z", "a"]


@pytest.mark.parametrize(
    "functions",
    [
        (calls("a", "c"), calls("b"), calls("c", "a")),
        (calls("a", "c"), calls("b"), calls("c", "c")),
    ],
)
def test_order_of_cyclic_calls_is_that_of_the_names(functions: tuple[ir.Function, ...]) -> None:
    assert order(*functions) == ["a", "b", "c"]


def test_long_chains_of_calls() -> None:
    count = 3_000
    chain = [calls(f"f{number:04}", f"f{number + 1:04}") for number in range(count)]
    assert order(*chain) == [f"f{number:04}" for number in reversed(range(count))]


def test_dynamic_dimensions_are_declared_once_and_sorted() -> None:
    m, n, rows = scalar("M"), scalar("N"), scalar("rows")
    wide = ir.TensorType([n, m], FP32)
    region = ir.TensorView([], ir.TensorLayout.ND, [ir.min_(rows, n), m])
    local = ir.Var("t", ir.TensorType([n, m], FP32, None, region), NOWHERE)
    body = sequence(
        assign(rows, call("tensor.dim", tensor("x", wide), type=rows.type)),
        loop(scalar("i"), integer(0), n, integer(1), assign(local, call("tensor.exp"))),
    )
    x, y = tensor("x", wide), tensor("y", wide)
    printed = text(program(function("f", [x], body), function("g", [y], returns(y), [wide])))
    assert printed.split("@pl.program")[0] == (
        '# pypto.program: Sample\nimport pypto.language as pl\n\nM = pl.dynamic("M")\nN = pl.dynamic("N")\n\n'
    )
    assert "        for i in pl.range(N):\n" in printed
    assert "pl.TensorView(valid_shape=[pl.min(rows, N), M], stride=[], layout=pl.TensorLayout.ND)" in printed
    assert "def g(self, y: pl.Tensor[[N, M], pl.FP32]) -> pl.Tensor[[N, M], pl.FP32]:" in printed


def test_parameter_that_is_a_dimension_is_declared() -> None:
    n = scalar("N")
    printed = text(program(function("f", [n, tensor("x", ir.TensorType([n], FP32))], returns())))
    assert '\nN = pl.dynamic("N")\n' in printed
    assert "def f(self, N: pl.Scalar[pl.INDEX], x: pl.Tensor[[N], pl.FP32]):" in printed


def test_lone_function_has_no_header() -> None:
    n = scalar("N")
    assert text(function("f", [tensor("x", ir.TensorType([n], FP32))], returns(n))) == (
        "@pl.function\ndef f(x: pl.Tensor[[N], pl.FP32]):\n    return N\n"
    )


def test_formatted_text() -> None:
    node = program(function("f", [A], branch(ir.not_(scalar("p", ir.DataType.BOOL)), yields(A)), [TENSOR]))
    ir.attach_leading_comments(node["f"].body, ["why"])
    assert (
        ir.python_print(node, format=True)
        == node.as_python(format=True)
        == (
            "# pypto.program: Sample\n"
            "import pypto.language as pl\n"
            "\n"
            "\n"
            "@pl.program\n"
            "class Sample:\n"
            "    @pl.function\n"
            f"    def f(self, a: {TENSOR_TEXT}) -> {TENSOR_TEXT}:\n"
            "        # why\n"
            "        if not p__FREE_VAR:\n"
            "            pl.yield_(a)\n"
        )
    )


def test_text_that_is_not_python_stays_as_it_is() -> None:
    node = ir.Xor(scalar("x"), scalar("y"), ir.DataType.BOOL, NOWHERE)
    assert ir.python_print(node, format=True) == "x xor y"
    deep: ir.Expr = scalar("x")
    for _ in range(5_000):
        deep = ir.Add(scalar("y"), deep, ir.DataType.INDEX, NOWHERE)
    assert ir.python_print(deep, format=True) == text(deep)


@pytest.mark.parametrize(
    "function", [ir.python_print, ir.python_print_type, ir.IRNode.as_python, ir.Type.as_python]
)
def test_text_is_upstreams_unless_formatting_is_asked_for(function: Callable[..., str]) -> None:
    parameters = inspect.signature(function).parameters
    assert parameters["prefix"].default == "pl"
    assert parameters["format"].default is False


def test_only_nodes_and_types_have_a_text() -> None:
    with pytest.raises(ir.PrintError, match="no text for an object of class TensorView"):
        text(ir.TensorView())
