# ruff: noqa: E501 (texts stand on one line, as in dumps)
"""Errors in statements and expressions, with their whole messages."""

import pytest

import pypto_tmpl.language as pl

LIKE_NONSENSE = (
    "names like it are pl.tensor.transpose, pl.tensor.reshape, pl.tensor.expands, pl.tensor.expand_clone; "
    "`pypto-tmpl ops list` shows all"
)
T = "pl.Tensor[[4, 8], pl.FP32]"
PROGRAM = f"""import pypto.language as pl
@pl.program
class P:
    @pl.function
    def k(self, a: {T}) -> {T}:
        return a
    @pl.function
    def f(self, x: {T}, n: pl.Scalar[pl.INDEX], p: pl.Scalar[pl.BOOL], r: pl.Scalar[pl.FP32]):
"""
INDENT = 8
CODES = {
    pl.ParserSyntaxError: "E001",
    pl.PythonSyntaxError: "E001",
    pl.ParserTypeError: "E101",
    pl.UndefinedVariableError: "E200",
    pl.SSAViolationError: "E201",
    pl.InvalidOperationError: "E300",
    pl.UnsupportedFeatureError: "E301",
}


def whole(
    text: str,
    code: str,
    line: int,
    column: int,
    message: str,
    hint: str | None = None,
    note: str | None = None,
) -> str:
    """The whole message of an error at a place of ``text``."""
    shown = text.split("\n")[line - 1]
    cut = len(shown) > 120 and column <= 60
    margin = " " * len(str(line))
    lines = [
        f"error[{code}]: {message}",
        f"  --> d.py:{line}:{column}",
        f" {margin} |",
        f" {line} | {shown[:120]}..." if cut else f" {line} | {shown}",
        f" {margin} | {' ' * (column - 1)}^",
    ]
    lines += [f"   = hint: {hint}"] if hint else []
    lines += [f"   = note: {note}"] if note else []
    return "\n".join(lines)


def check(body: str, kind: type[pl.ParserError], place: tuple[int, int], *message: str | None) -> None:
    """A function of that body raises that error; ``place`` counts from the start of the body."""
    text = PROGRAM + "".join(f"{' ' * INDENT}{line}\n" for line in body.split("\n"))
    with pytest.raises(pl.ParserError) as caught:
        pl.parse(text, filename="d.py")
    assert type(caught.value) is kind
    line, column = place[0] + PROGRAM.count("\n"), place[1] + INDENT
    assert str(caught.value) == whole(text, CODES[kind], line, column, *message)
    span = {"filename": "d.py", "line": line, "column": column, "begin_line": line, "begin_column": column}
    assert caught.value.span == span


NAMES = [
    ('return y', pl.UndefinedVariableError, (1, 8), "undefined variable 'y'"),
    ('return rr', pl.UndefinedVariableError, (1, 8), "undefined variable 'rr'", "did you mean 'r'?"),
    ('for i, (a,) in pl.range(4, init_values=(x,)):\n    q: pl.Tensor[[4, 8], pl.FP32] = pl.yield_(a)\nreturn a', pl.UndefinedVariableError, (3, 8), "undefined variable 'a'", None, "'a' is defined in a scope that ends before this line"),
    ('self.kk(x)', pl.UndefinedVariableError, (1, 1), "undefined function 'kk'", "did you mean 'self.k'?"),
    ('k(x)', pl.UndefinedVariableError, (1, 1), "undefined function 'k'", "did you mean 'self.k'?"),
]  # fmt: skip

PYTHON = [
    ('n += 1', pl.UnsupportedFeatureError, (1, 1), 'an augmented assignment is not supported', 'write x = x + y'),
    ('try:\n    pass\nfinally:\n    pass', pl.UnsupportedFeatureError, (1, 1), 'try is not supported'),
    ('def g(): pass', pl.UnsupportedFeatureError, (1, 1), 'a nested function is not supported'),
    ('import os', pl.UnsupportedFeatureError, (1, 1), 'an import inside a function is not supported'),
    ('assert p', pl.UnsupportedFeatureError, (1, 1), 'assert is not supported'),
    ('del n', pl.UnsupportedFeatureError, (1, 1), 'del is not supported'),
    ('match n:\n    case 1: pass', pl.UnsupportedFeatureError, (1, 1), 'match is not supported'),
    ('y = n if p else n', pl.UnsupportedFeatureError, (1, 5), 'a conditional expression is not supported'),
    ('y = lambda: n', pl.UnsupportedFeatureError, (1, 5), 'a lambda is not supported'),
    ('y = {}', pl.UnsupportedFeatureError, (1, 5), 'a dict is not supported'),
    ('y = [n for i in x]', pl.UnsupportedFeatureError, (1, 5), 'a comprehension is not supported'),
    ('y = f"{n}"', pl.UnsupportedFeatureError, (1, 5), 'an f-string is not supported'),
    ('y = (z := n)', pl.UnsupportedFeatureError, (1, 6), 'an assignment expression is not supported'),
    ('y = n in x', pl.UnsupportedFeatureError, (1, 5), 'the operator `in` or `is` is not supported'),
    ('y = 0 < n < 4', pl.ParserSyntaxError, (1, 5), 'a comparison has two operands', 'join two with `and`'),
    ('y = n @ n', pl.UnsupportedFeatureError, (1, 5), 'the operator @ is not supported', 'matrix products are ops, such as pl.tensor.matmul'),
    ('y = z = n', pl.ParserSyntaxError, (1, 1), 'a chained assignment binds several names', 'write one each'),
    ('*y, z = x', pl.ParserSyntaxError, (1, 1), "'*y' is no name to assign to"),
    ('x.y = n', pl.ParserSyntaxError, (1, 1), "'x.y' is no name to assign to"),
    ('x[0] = n', pl.ParserTypeError, (1, 8), 'the value of a subscript assignment is a tensor or a tile, not pl.Scalar[pl.INDEX]'),
    ('y = n[0]', pl.UnsupportedFeatureError, (1, 5), 'a subscript of a ScalarType is not supported'),
    ('x.y: pl.Tensor[[4, 8], pl.FP32] = x', pl.ParserSyntaxError, (1, 1), "'x.y' is no name to assign to"),
    ('y: pl.Tensor[[4, 8], pl.FP32]', pl.ParserSyntaxError, (1, 1), "'y' is declared without a value"),
]  # fmt: skip

LOOPS = [
    ('for i in range(4):\n    pass', pl.ParserSyntaxError, (1, 10), "a loop runs over pl.range and its kin, not over 'range(4)'", 'loops: pl.range, pl.parallel, pl.unroll, pl.pipeline, pl.while_'),
    ('for i in x:\n    pass', pl.ParserSyntaxError, (1, 10), "a loop runs over pl.range and its kin, not over 'x'", 'loops: pl.range, pl.parallel, pl.unroll, pl.pipeline, pl.while_'),
    ('for i in pl.range(4, chunk=2):\n    pass', pl.ParserSyntaxError, (1, 28), "pl.range takes no keyword 'chunk'", 'leave it out: loops are not cut into chunks'),
    ('for i, (a, b) in pl.range(4, init_values=(x,)):\n    pass', pl.ParserSyntaxError, (1, 5), 'Mismatch: 2 carried names for 1 init_values'),
    ('for i in pl.range(4, init_values=(x,)):\n    pass', pl.ParserSyntaxError, (1, 5), 'init_values need names for the carried values', 'write `for i, (a,) in ...`'),
    ('for i, j in pl.range(4):\n    pass', pl.ParserSyntaxError, (1, 5), "the target of a loop is `i` or `i, (a, b)`, not '(i, j)'"),
    ('for i in pl.range():\n    pass', pl.ParserSyntaxError, (1, 10), 'a loop has one to three bounds, not 0'),
    ('for i in pl.range(x):\n    pass', pl.ParserTypeError, (1, 19), "the bound of a loop is a scalar, and 'x' is a TensorType"),
    ('for i, (a,) in pl.range(4, init_values=x):\n    pass', pl.ParserSyntaxError, (1, 40), 'init_values is a list or tuple literal'),
    ('for i in pl.pipeline(4):\n    pass', pl.ParserSyntaxError, (1, 10), 'pl.pipeline needs stage=N, an integer of at least 1'),
    ('for i, (a,) in pl.range(4, init_values=(x,)):\n    q, s = pl.yield_(a)', pl.ParserSyntaxError, (2, 12), 'Mismatch: 2 names for 1 yielded values'),
    ('y = pl.yield_(x)', pl.ParserSyntaxError, (1, 5), 'pl.yield_ defines names only in a loop or a branch'),
    ('y = pl.tensor.exp(pl.yield_(x))', pl.ParserSyntaxError, (1, 19), 'pl.yield_ is a statement, not a value'),
    ('for (a,) in pl.while_(init_values=(x,)):\n    pass', pl.ParserSyntaxError, (2, 5), 'the first statement of a pl.while_ loop is pl.cond(<condition>)'),
    ('pl.cond(p)', pl.ParserSyntaxError, (1, 1), 'pl.cond stands first in a pl.while_ loop'),
    ('if n:\n    pass', pl.ParserTypeError, (1, 4), "the condition of an if is a BOOL scalar, and 'n' is INDEX"),
    ('while n:\n    pass', pl.ParserTypeError, (1, 7), "the condition of a while is a BOOL scalar, and 'n' is INDEX"),
    ('if x:\n    pass', pl.ParserTypeError, (1, 4), "the condition of an if is a scalar, and 'x' is a TensorType"),
    ('break', pl.PythonSyntaxError, (1, 1), 'Failed to compile code from d.py: break outside a loop'),
    ('for i in pl.parallel(4):\n    continue', pl.InvalidOperationError, (2, 5), 'continue in a pl.parallel loop'),
]  # fmt: skip

SCALARS = [
    ('y = x + 1.0', pl.ParserSyntaxError, (1, 5), 'operator +: a scalar is needed, got a TensorType', 'operators take scalars; tensors and tiles are computed with ops, such as pl.add'),
    ('y = n + r', pl.ParserSyntaxError, (1, 5), 'operator +: INDEX and FP32: cast one of them first'),
    ('y = n + p', pl.ParserSyntaxError, (1, 5), 'operator +: BOOL is no number'),
    ('y = -x', pl.ParserSyntaxError, (1, 5), "'-x': a scalar is needed, got a TensorType"),
    ('y = 1 // 0', pl.ParserSyntaxError, (1, 5), 'operator //: integer division or modulo by zero'),
    ('y = 99999999999999999999', pl.ParserTypeError, (1, 5), 'an integer constant is a 64-bit integer, and this one has 67 bits'),
    ('y = 1 << 100000', pl.ParserSyntaxError, (1, 5), 'operator <<: the value is too large'),
    ('y = min(n, 1)', pl.UnsupportedFeatureError, (1, 5), "the builtin 'min' on run-time values is not supported", 'write pl.min(...)'),
    ('y = pl.const(n, pl.INT8)', pl.ParserTypeError, (1, 14), "pl.const takes a number, not 'n'"),
    ("y = 'text'", pl.ParserTypeError, (1, 5), 'a string is no expression'),
    ("y = b'text'", pl.ParserTypeError, (1, 5), 'a value of type bytes is not part of the language'),
    ('y = 1j', pl.ParserTypeError, (1, 5), 'a value of type complex is not part of the language'),
    ('y = pl.FP32', pl.UnsupportedFeatureError, (1, 5), "'pl.FP32' as an expression is not supported", 'only memory spaces and numbers stand for a value'),
    ('y: pl.Tuple[()] = [n][0:1]', pl.ParserTypeError, (1, 23), "the index of a tuple is a compile-time integer, not '0:1'"),
    ('y = [n][3]', pl.ParserTypeError, (1, 5), 'index 3 is outside a tuple of 1'),
]  # fmt: skip

CALLS = [
    ('y = pl.adds(x, 1)', pl.InvalidOperationError, (1, 5), "unknown op 'pl.adds'", "did you mean 'pl.tensor.adds'?"),
    ('y = foo.bar(x)', pl.InvalidOperationError, (1, 5), "unknown op 'foo.bar'"),
    ('y = pl.tensor.nonsense(x)', pl.InvalidOperationError, (1, 5), "unknown op 'pl.tensor.nonsense'", LIKE_NONSENSE),
    ('y = pl.tensor.exp(pl.tensor.nonsense(x))', pl.InvalidOperationError, (1, 19), "unknown op 'pl.tensor.nonsense'", LIKE_NONSENSE),
    ('y = pl.tensor.exp(x, x)', pl.InvalidOperationError, (1, 5), 'pl.tensor.exp: 2 positional arguments, and it takes 1'),
    ('z: pl.Tensor[[3, 8], pl.FP32] = pl.tensor.exp(x)', pl.ParserTypeError, (1, 4), "the annotation 'pl.Tensor[[3, 8], pl.FP32]' contradicts the value's type pl.Tensor[[4, 8], pl.FP32]"),
    ("y = pl.tensor.cast(x, target_type=pl.BF16, mode='up')", pl.InvalidOperationError, (1, 5), "tensor.cast: the keyword 'mode' is one of none, rint, round, floor, ceil, trunc, odd, not 'up'", 'allowed: none, rint, round, floor, ceil, trunc, odd'),
    ('y = self.k(x, x)', pl.ParserTypeError, (1, 5), "'k' takes 1 argument(s), and 2 are given"),
    ('y = self.k(x, deps=[])', pl.ParserTypeError, (1, 20), "a call takes no keyword 'deps'", 'launch the kernel with pl.submit'),
    ('y = self.k(x)(n)', pl.UnsupportedFeatureError, (1, 5), "a call of 'self.k(x)' is not supported"),
    ('y = self.k(x, attrs={"arg_directions": [pl.adir.input, pl.adir.input]})', pl.InvalidOperationError, (1, 5), "operation 'k': Call.attrs has 2 arg_directions for 1 arguments"),
    ('y = self.k(x, attrs=[1])', pl.ParserSyntaxError, (1, 21), "attrs is a dict literal, not '[1]'"),
    ('y = self.k(x, attrs={n: 1})', pl.ParserSyntaxError, (1, 22), 'the keys of attrs are string literals'),
    ('y = self.k(x, attrs={"a": 1, "a": 2})', pl.ParserSyntaxError, (1, 30), "attrs has the key 'a' twice"),
    ('y = self.k(x, attrs={"a": pl.Level.HOST})', pl.ParserTypeError, (1, 5), "attribute 'a': a Level cannot be stored"),
    ('y = self.k(x, attrs={"a": 4294967296})', pl.ParserTypeError, (1, 5), "attribute 'a': 4294967296 does not fit a 32-bit integer"),
    ('y = self.k(x, attrs={"a": [x, 1]})', pl.ParserTypeError, (1, 5), "attribute 'a' is a list of Var, got int"),
    ('y = pl.tensor.exp(x, a=1, a=2)', pl.ParserTypeError, (1, 29), "the keyword 'a' is given twice"),
    ('y = pl.tensor.exp(x, **n)', pl.ParserSyntaxError, (1, 24), 'keywords are written out, not unpacked with **'),
    ('y = pl.tensor.exp(pl.submit(self.k, x))', pl.ParserSyntaxError, (1, 19), 'pl.submit stands alone on the right of an assignment', 'bind its result to a name first'),
    ('y = pl.submit()', pl.ParserSyntaxError, (1, 5), 'a submit names the function that it launches'),
    ('y = pl.submit(self.k, x, deps=[n + 1])', pl.ParserTypeError, (1, 32), "deps holds task ids, not 'n + 1'"),
    ('pl.tensor.exp(pld.alloc_window_buffer(4))', pl.ParserSyntaxError, (1, 15), 'a window buffer is bound to a name of its own'),
]  # fmt: skip

ASSIGNMENTS = [
    ('a, b, c = pl.submit(self.k, x)', pl.ParserSyntaxError, (1, 1), "a submit gives its results and a task id, and '(a, b, c)' has 3 targets", 'write `out, tid = ...` or `(a, b), tid = ...`'),
    ('a, b = n', pl.ParserSyntaxError, (1, 1), '2 names are assigned from a ScalarType'),
    ("x: pl.Tensor[[4, 8], pl.BF16] = pl.tensor.cast(x, target_type=pl.BF16, mode='rint')", pl.ParserTypeError, (1, 1), "Cannot reassign 'x' with another type", 'use another name', 'it is pl.Tensor[[4, 8], pl.FP32] and would become pl.Tensor[[4, 8], pl.BF16]'),
    ('z: pl.Tensor[[3, 8], pl.FP32] = x\ny = pl.tensor.add(x, z)', pl.ParserTypeError, (1, 4), "the annotation 'pl.Tensor[[3, 8], pl.FP32]' contradicts the value's type pl.Tensor[[4, 8], pl.FP32]"),
    ('y: pl.Scalar[pl.FP32] = n', pl.ParserTypeError, (1, 4), "the annotation 'pl.Scalar[pl.FP32]' contradicts the value's type pl.Scalar[pl.INDEX]"),
    ('y: pl.Scalar[pl.INDEX] = x', pl.ParserTypeError, (1, 4), "the annotation 'pl.Scalar[pl.INDEX]' contradicts the value's type pl.Tensor[[4, 8], pl.FP32]"),
]  # fmt: skip

SCOPES = [
    ('y = n\npl.func_attr({"a": 1})', pl.ParserSyntaxError, (2, 1), 'pl.func_attr stands first in a function'),
    ('pl.func_attr(a=1)', pl.ParserSyntaxError, (1, 1), 'pl.func_attr takes one dict literal'),
    ('pl.func_attr({"auto_scope": True})', pl.ParserSyntaxError, (1, 1), "the attribute 'auto_scope' is a keyword of pl.function"),
    ('pl.func_attr({"a": 1})\npl.func_attr({"a": 1})', pl.ParserSyntaxError, (2, 1), "the attribute 'a' is given twice"),
    ('with pl.scope(), pl.scope():\n    pass', pl.ParserSyntaxError, (1, 1), 'a `with` opens one scope', 'nest two `with` statements'),
    ("with open('f') as g:\n    pass", pl.UnsupportedFeatureError, (1, 6), 'the context manager "open(\'f\')" is not supported', 'scopes: pl.at, pl.cluster, pl.scope, pl.manual_scope, pl.spmd'),
    ('with pl.scope() as s:\n    pass', pl.ParserSyntaxError, (1, 20), "pl.scope takes no `as` with 's'"),
    ('with x:\n    pass', pl.UnsupportedFeatureError, (1, 6), "the context manager 'x' is not supported", 'scopes: pl.at, pl.cluster, pl.scope, pl.manual_scope, pl.spmd'),
    ('with pl.at():\n    pass', pl.ParserSyntaxError, (1, 6), 'pl.at takes a level', 'write pl.at(level=pl.Level.X)'),
    ('with pl.at(level=pl.Level.CORE_GROUP, role=pl.Role.SubWorker):\n    pass', pl.ParserSyntaxError, (1, 6), 'pl.at(level=pl.Level.CORE_GROUP) takes no role'),
    ('with pl.at(level=pl.Level.HOST, optimizations=[]):\n    pass', pl.ParserSyntaxError, (1, 6), 'optimizations need level=pl.Level.CORE_GROUP'),
    ('with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.foo()]):\n    pass', pl.ParserSyntaxError, (1, 54), "unknown optimization 'pl.foo()'", 'known are pl.split(mode) and pl.cross_core_slot(slot_num=N)'),
    ("with pl.at(level=pl.Level.HOST, nam_hint='x'):\n    pass", pl.ParserSyntaxError, (1, 42), "'pl.at' takes no keyword 'nam_hint'", "keywords: name_hint, attrs, level, role, optimizations, deps, no_dep_args, dumps, allow_early_resolve, windowize; did you mean 'name_hint'?"),
    ('with pl.at(level=pl.Level.HOSTT):\n    pass', pl.ParserTypeError, (1, 18), "level is a Level, not 'pl.Level.HOSTT'", "members of Level: AIV, AIC, CORE_GROUP, CHIP_DIE, CHIP, HOST, CLUSTER_0, CLUSTER_1, CLUSTER_2, GLOBAL, L2CACHE, PROCESSOR, UMA, NODE, POD, CLOS1, CLOS2; did you mean 'HOST'?"),
    ('with pl.scope(mode=1):\n    pass', pl.ParserSyntaxError, (1, 20), 'the mode of a run-time scope is pl.ScopeMode.AUTO or pl.ScopeMode.MANUAL'),
    ('with pl.spmd():\n    pass', pl.ParserSyntaxError, (1, 6), 'pl.spmd takes the number of blocks'),
    ('for l in pl.split_aiv(3, mode=pl.SplitMode.NONE):\n    pass', pl.ParserSyntaxError, (1, 10), 'a split region is pl.split_aiv(2, mode=pl.SplitMode.X)'),
]  # fmt: skip


@pytest.mark.parametrize(
    "case", [*NAMES, *PYTHON, *LOOPS, *SCALARS, *CALLS, *ASSIGNMENTS, *SCOPES], ids=lambda case: case[0]
)
def test_errors(case) -> None:
    check(*case)


def test_calls_of_a_function_whose_signature_has_an_error_are_passed_over() -> None:
    text = """@pl.program
class P:
    @pl.function
    def callee(self, x: pl.Tensor[[4], pl.FP31]) -> pl.Tensor[[4], pl.FP32]:
        return x
    @pl.function
    def caller(self, x: pl.Tensor[[4], pl.FP32]):
        y = self.callee(x)
        z = pl.tensor.exp(y)
        self.calle(z, unknown)
        return missing
"""
    with pytest.raises(pl.ParserError) as caught:
        pl.parse(text)
    found = [(error.span["line"], error.message) for error in (caught.value, *caught.value.related)]
    assert found == [
        (4, "'pl.FP31' is no data type"),
        (10, "undefined function 'calle'"),
        (11, "undefined variable 'missing'"),
    ]
