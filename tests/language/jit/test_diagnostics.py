"""Errors of JIT kernels point into the user's file: file, line, column, source line and caret."""

import pytest
import torch

import pypto_tmpl.language as pl

HEAD = "import pypto_tmpl.language as pl\n\nBLOCK = 16\n\n\n"


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """Makes the function ``kernel`` of a module with this text after HEAD."""
    names = iter(range(1000))

    def make(text):
        path = tmp_path / f"user_kernel_{next(names)}_{tmp_path.name}.py"
        path.write_text(HEAD + text)
        monkeypatch.syspath_prepend(tmp_path)
        return __import__(path.stem).kernel, str(path)

    return make


def message(make, text, *args):
    function, path = make(text)
    with pytest.raises((pl.ParserError, ValueError)) as caught:
        function.specialize(*args)
    return str(caught.value).replace(path, "kernel.py")


def empty(*shape, dtype=torch.float32):
    return torch.empty(shape, dtype=dtype, device="meta")


def test_an_undefined_name_within_a_statement(kernel):
    text = "@pl.jit\ndef kernel(x: pl.Tensor):\n    t = pl.add(x, 1.0)\n    t = pl.mul(t, facter)\n"
    assert message(kernel, text, empty(4, 8)) == (
        "error[E200]: undefined variable 'facter'\n"
        "  --> kernel.py:9:19\n"
        "   |\n"
        " 9 |     t = pl.mul(t, facter)\n"
        "   |                   ^"
    )


def test_wrong_operands_of_an_op_in_a_callee(kernel):
    text = (
        "@pl.jit.inline\ndef helper(x: pl.Tensor):\n"
        "    return pl.slice(x, [BLOCK, 4], 1.5)\n\n\n"
        "@pl.jit\ndef kernel(x: pl.Tensor):\n    return helper(x)\n"
    )
    found = message(kernel, text, empty(16, 4))
    assert found.startswith("error[E300]: ")
    assert (
        "  --> kernel.py:8:12\n   |\n 8 |     return pl.slice(x, [BLOCK, 4], 1.5)\n   |            ^"
    ) in found


def test_what_is_no_part_of_the_language(kernel):
    text = "@pl.jit\ndef kernel(x: pl.Tensor):\n    n = 1\n    n += 1\n    pl.add(x, n)\n"
    found = message(kernel, text, empty(4, 8))
    assert found.startswith("error[E301]: ")
    assert "  --> kernel.py:9:5\n   |\n 9 |     n += 1\n   |     ^" in found


def test_a_callee_whose_argument_has_no_known_shape(kernel):
    text = (
        "@pl.jit.incore\ndef helper(x: pl.Tensor):\n    pl.load(x, [0, 0], [4, 8])\n\n\n"
        "@pl.jit\ndef kernel(x: pl.Tensor, n: pl.Scalar[pl.INDEX]):\n"
        "    helper(pl.slice(x, [n, 8], [0, 0]))\n"
    )
    assert message(kernel, text, empty(4, 8), pl.RUNTIME) == (
        "error[E101]: missing inferred tensor metadata: shape and dtype of argument 'x' of 'helper' "
        "are not known\n"
        "  --> kernel.py:13:5\n"
        "    |\n"
        " 13 |     helper(pl.slice(x, [n, 8], [0, 0]))\n"
        "    |     ^\n"
        "   = hint: declare the parameter: x: pl.Tensor[[...], dtype]"
    )


@pytest.mark.parametrize(
    ("call", "what", "column"),
    [
        ("helper(x)", "'helper' is called without n", 5),
        ("helper(x, 1, 2)", "'helper' takes 2 argument(s), and 3 are given", 5),
        ("helper(x, 1, n=2)", "'helper' is given 'n' twice", 20),
        ("kernel(x)", "'kernel' calls itself, which kernels cannot", 5),
        ("other(x)", "'other' is an entry (@pl.jit), which Python calls", 5),
        ("pl.slice(x, [x.shape[2], 4], [0, 0])", "x.shape has 2 extents, there is no index 2", 18),
        ("a, b, c = x.shape", "x.shape has 2 extents, 3 names are given", 5),
        ("x.bind_dynamic(0, 4)", "bind_dynamic takes an axis number and a pl.dynamic(...)", 5),
        ("N = pl.dynamic(4)", "pl.dynamic takes the name of a dimension", 9),
    ],
)
def test_calls_and_shapes(kernel, call, what, column):
    text = (
        "@pl.jit.inline\ndef helper(x: pl.Tensor, n: pl.Scalar[pl.INDEX]):\n    return x\n\n\n"
        "@pl.jit\ndef other(x: pl.Tensor):\n    pl.exp(x)\n\n\n"
        f"@pl.jit\ndef kernel(x: pl.Tensor):\n    {call}\n"
    )
    found = message(kernel, text, empty(4, 8))
    head = f"error[E101]: {what}\n  --> kernel.py:18:{column}\n    |\n 18 |     {call}\n    | "
    assert found.startswith(head + " " * (column - 1) + "^")


def test_a_python_function_and_an_item_that_is_not_there(kernel):
    text = (
        "def cdiv(a, b):\n    return -(-a // b)\n\n\nSIZES = [1, 2]\n\n\n"
        "@pl.jit\ndef kernel(x: pl.Tensor):\n    pl.add(x, {})\n"
    )
    found = message(kernel, text.format("cdiv(8, 3)"), empty(4, 8))
    assert found == (
        "error[E301]: 'cdiv' is a Python function, which a kernel cannot call\n"
        "  --> kernel.py:15:15\n"
        "    |\n"
        " 15 |     pl.add(x, cdiv(8, 3))\n"
        "    |               ^\n"
        "   = hint: call it outside of the kernel, or decorate it with @pl.jit.inline"
    )
    found = message(kernel, text.format("SIZES[2]"), empty(4, 8))
    assert found.startswith("error[E101]: SIZES[2]: there is no item 2\n  --> kernel.py:15:15\n")


def test_errors_of_several_functions_are_told_together(kernel):
    text = (
        "@pl.jit.inline\ndef helper(x: pl.Tensor):\n    return pl.exp(nothing)\n\n\n"
        "@pl.jit\ndef kernel(x: pl.Tensor):\n    helper(x)\n    pl.exp(either)\n"
    )
    found = message(kernel, text, empty(4, 8))
    assert "kernel.py:8:19" in found
    assert "kernel.py:14:12" in found


def test_columns_count_characters(kernel):
    text = '@pl.jit\ndef kernel(x: pl.Tensor):\n    "größer"; pl.exp(nothing)\n'
    assert "  --> kernel.py:8:22\n" in message(kernel, text, empty(4, 8))


def test_the_programs_positions_are_those_of_the_file(kernel):
    function, path = kernel("@pl.jit\ndef kernel(x: pl.Tensor):\n    t = pl.exp(x)\n    return t\n")
    (entry,) = function.specialize(empty(4, 8)).functions.values()
    first = entry.body.stmts[0]
    assert (first.span.filename, first.span.begin_line, first.span.begin_column) == (path, 8, 5)


def test_a_traceback_ends_where_the_kernel_is_specialised(monkeypatch):
    @pl.jit
    def kernel(x: pl.Tensor):
        return pl.mul(x, facter)  # noqa: F821

    def modules():
        with pytest.raises(pl.UndefinedVariableError) as caught:
            kernel.specialize(torch.empty(4, 8))
        return [entry.path.name for entry in caught.traceback]

    assert modules() == ["test_diagnostics.py", "function.py", "function.py", "tracebacks.py"]
    monkeypatch.setenv("PTO_BACKTRACE", "1")
    assert "expressions.py" in modules()
