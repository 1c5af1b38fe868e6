# ruff: noqa: E501 (messages stand as they print)
"""Errors in signatures, annotations and at the module level, several at once, and how they look."""

import pytest

import pypto_tmpl.language as pl
from pypto_tmpl.errors import PyptoTmplError

IMPORT_HINT = "the reader never runs a text; import the file as a Python module to run what it does"


def error_of(text: str) -> pl.ParserError:
    with pytest.raises(pl.ParserError) as caught:
        pl.parse(text, filename="d.py")
    return caught.value


def check(
    text: str, kind: type[pl.ParserError], place: tuple[int, int], message: str, hint: str | None = None
) -> None:
    error = error_of(text)
    assert type(error) is kind
    assert (error.message, error.hint) == (message, hint)
    assert (error.span["line"], error.span["column"]) == place


VIEW_FIELDS = "valid_shape, stride, start_offset, blayout, slayout, fractal, pad, compact"
ANNOTATIONS = [
    ("pl.Tensr[[4], pl.FP32]", 1, "'pl.Tensr[[4], pl.FP32]' is no type", "types: Tensor, Tile, Scalar, Array, Tuple, DistributedTensor, Ptr, PtrType, MemRefType, UnknownType, WindowBufferType, CommCtx, PrefetchAsyncContext, AsyncEvent, AsyncSession, CommCtxType, PrefetchAsyncContextType, AsyncEventType, AsyncSessionType; did you mean 'Tensor'?"),
    ("pl.Scalar[pl.FP33]", 11, "'pl.FP33' is no data type", "data types: BOOL, INT4, INT8, INT16, INT32, INT64, INDEX, UINT4, UINT8, UINT16, UINT32, UINT64, FP4, FP8E4M3FN, FP8E5M2, FP16, FP32, FP8E8M0, BF16, HF4, HF8, TASK_ID; did you mean 'FP32'?"),
    ('pl.Tensor[["a"], pl.FP32]', 12, "a string is no expression"),
    ("pl.Tensor[[1.5], pl.FP32]", 12, "an extent is an integer, not '1.5'"),
    ("pl.Tensor[4, pl.FP32]", 11, "a shape is a list of extents, not '4'"),
    ("pl.Tensor[[4]]", 1, "'pl.Tensor[[4]]' is not of the form pl.Tensor[[extents], dtype, layout or view, memref]"),
    ("pl.Tensor[[pl.tensor.nonsense(4)], pl.FP32]", 12, "unknown op 'pl.tensor.nonsense'", "names like it are pl.tensor.transpose, pl.tensor.reshape, pl.tensor.expands, pl.tensor.expand_clone; `pypto-tmpl ops list` shows all"),
    ("pl.Tile[[4], pl.FP32, pl.NZ]", 23, "a tile has no layout name", "write a pl.TileView(...)"),
    ("pl.Tile[[4], pl.FP32, pl.Mem.Vec, pl.Mem.Vec]", 35, "'pl.Mem.Vec' is given twice or out of place"),
    ("pl.Tile[[4], pl.FP32, pl.Mem.Vex]", 23, "the memory of a tile is a MemorySpace, not 'pl.Mem.Vex'", "members of MemorySpace: DDR, Vec, Mat, Left, Right, Acc, Bias, ScalarLocal, LeftScale, RightScale; did you mean 'Vec'?"),
    ("pl.Tensor[[4, 4], pl.FP32, pl.DN]", 28, "the layout DN needs its strides", "write pl.TensorView(stride=[...], layout=pl.TensorLayout.DN)"),
    ('pl.Tile[[4], pl.FP32, pl.MemRef("m", 0, 4)]', 1, "a TileType with a memref needs its memory_space as well"),
    ("pl.Tile[[4], pl.FP32, pl.MemRef(), pl.Mem.Vec]", 23, "a MemRef is pl.MemRef(base, offset, size) or pl.MemRef(name)"),
    ('pl.Tile[[4], pl.FP32, pl.MemRef("m", slots=2)[2], pl.Mem.Vec]', 23, "slot 2 of a MemRef with 2 slots"),
    ('pl.Tensor[[4], pl.FP32, pl.MemRef("m"), pl.NZ]', 41, "the MemRef of a tensor is its last argument"),
    ('pl.Tile[[4], pl.FP32, pl.MemRef("m", slot=2), pl.Mem.Vec]', 43, "unknown MemRef argument 'slot'"),
    ('pl.Tile[[4], pl.FP32, pl.MemRef("m", slots=0), pl.Mem.Vec]', 1, "a MemRef has at least one slot, got 0"),
    ("pl.Tile[[4], pl.FP32, pl.TileView([4])]", 35, "TileView takes keywords only"),
    ("pl.Tile[[4], pl.FP32, pl.TileView(valid=[4])]", 41, "unknown view field 'valid'", f"keywords: {VIEW_FIELDS}; did you mean 'valid_shape'?"),
    ("pl.Tile[[4], pl.FP32, pl.TileView(pad=pl.PadValue.one)]", 39, "pad is a PadValue, not 'pl.PadValue.one'", "members of PadValue: null, zero, max, min"),
    ("pl.Tensor[[4], pl.FP32, pl.TensorView(stride=[1])]", 1, "a TensorView with stride, valid_shape or pad needs its layout as well"),
    ("pl.Tensor[[3], pl.FP4]", 1, "TensorType.shape: packed FP4 needs a positive even last extent, got 3"),
    ("pl.Array[0, pl.INT8]", 1, "the extent of an ArrayType is a positive constant"),
    ("pl.Array[4, pl.FP32]", 1, "an ArrayType holds integers, BOOL or TASK_ID, not FP32"),
    ("3", 1, "'3' is no type", "types: Tensor, Tile, Scalar, Array, Tuple, DistributedTensor, Ptr, PtrType, MemRefType, UnknownType, WindowBufferType, CommCtx, PrefetchAsyncContext, AsyncEvent, AsyncSession, CommCtxType, PrefetchAsyncContextType, AsyncEventType, AsyncSessionType"),
]  # fmt: skip


@pytest.mark.parametrize("case", ANNOTATIONS, ids=lambda case: case[0])
def test_annotations(case) -> None:
    text, column, *message = case
    kind = pl.InvalidOperationError if "unknown op" in message[0] else pl.ParserTypeError
    check(f"@pl.function\ndef f(x: {text}):\n    pass\n", kind, (2, 9 + column), *message)


SIGNATURES = [
    ("@pl.function\ndef f(x): pass", pl.ParserTypeError, (2, 7), "parameter 'x' has no annotation"),
    ("@pl.function\ndef f(x: pl.InOut[pl.Scalar[pl.INDEX]]): pass", pl.ParserTypeError, (2, 7), "parameter 'x': a scalar cannot be InOut"),
    ("@pl.function\ndef f(x: tuple[pl.Scalar[pl.INDEX]]): pass", pl.ParserTypeError, (2, 7), "parameter 'x': tuples are return types only"),
    ("@pl.function(kind=1)\ndef f(): pass", pl.ParserSyntaxError, (1, 19), "pl.function takes no keyword 'kind'", "keywords: type, level, role, attrs, auto_scope, strict_ssa, external_source"),
    ("@pl.function(1)\ndef f(): pass", pl.ParserSyntaxError, (1, 2), "pl.function takes keywords only"),
    ("@pl.function(type=pl.FunctionType.AICC)\ndef f(): pass", pl.ParserSyntaxError, (1, 19), "'pl.FunctionType.AICC' is no literal member of pl.FunctionType", "members of pl.FunctionType: Opaque, Orchestration, InCore, AIC, AIV, Group, Spmd, Inline, Graph; did you mean 'AIC'?"),
    ("@pl.function(type=KIND)\ndef f(): pass", pl.ParserSyntaxError, (1, 19), "'KIND' is no literal member of pl.FunctionType", "members of pl.FunctionType: Opaque, Orchestration, InCore, AIC, AIV, Group, Spmd, Inline, Graph"),
    ("@pl.function(type=pl.FunctionType.AIV, level=pl.Level.HOST)\ndef f(): pass", pl.ParserSyntaxError, (2, 1), "Failed to parse function 'f': f: a function of type AIV has level AIV, not Level.HOST"),
    ("@pl.function(auto_scope=1)\ndef f(): pass", pl.ParserTypeError, (1, 25), "auto_scope is True or False, not '1'"),
    ("@pl.function(attrs=[1])\ndef f(): pass", pl.ParserSyntaxError, (1, 20), "function attributes is a dict literal, not '[1]'"),
    (f"@pl.function(type=pl.FunctionType.AIV, external_source={__file__!r})\ndef f():\n    return 1", pl.ParserSyntaxError, (3, 5), "the body of an external function is `...`, `pass` or a docstring"),
    ("@pl.function(strict_ssa=True)\ndef f(n: pl.Scalar[pl.INDEX]):\n    y = n\n    y = n", pl.SSAViolationError, (4, 5), "'y' is assigned twice, which strict_ssa forbids"),
    ("@pl.program\nclass P:\n    @pl.function\n    def f(): pass\n    @pl.function\n    def f(): pass", pl.ParserSyntaxError, (6, 5), "two functions are named 'f'"),
    ("@pl.program\nclass P:\n    pass", pl.ParserSyntaxError, (2, 1), "class 'P' has no function", "decorate its functions with @pl.function"),
    ("@pl.program(strict=True)\nclass P:\n    pass", pl.ParserSyntaxError, (1, 2), "pl.program takes strict_ssa=True or False and nothing else"),
]  # fmt: skip


@pytest.mark.parametrize("case", SIGNATURES, ids=lambda case: case[0].replace("\n", " "))
def test_signatures(case) -> None:
    check(*case)


def test_strict_ssa_names_the_first_definition() -> None:
    error = error_of(SIGNATURES[11][0])
    assert isinstance(error, pl.SSAViolationError)
    assert (error.previous_span["line"], error.previous_span["column"]) == (3, 5)


MODULE = [
    ("print(1)", (1, 1), "the module-level statement 'print(1)' is not supported"),
    ("import os", (1, 1), "the import of 'os' is not supported"),
    ("from os import path", (1, 1), "the import of 'os.path' is not supported"),
    ("def f(): pass", (1, 1), "the module-level statement 'def f(): ...' is not supported"),
    ("@pl.jit\ndef f(): pass", (2, 1), "the module-level statement '@pl.jit ...' is not supported"),
    ("class A: pass", (1, 1), "the module-level statement 'class A: ...' is not supported"),
    ("a = open('f')", (1, 1), "the module-level value \"open('f')\" is not supported"),
    ("a = {}", (1, 1), "the module-level value '{}' is not supported"),
    ("a = 1 / 0", (1, 1), "the module-level value '1 / 0' is not supported"),
    ("a = 2 ** 100000000", (1, 1), "the module-level value '2 ** 100000000' is not supported"),
    ("a, b = f()", (1, 1), "the module-level statement 'a, b = f()' is not supported"),
    ("if True:\n    pass", (1, 1), "the module-level statement 'if True: ...' is not supported"),
]


@pytest.mark.parametrize("case", MODULE, ids=lambda case: case[0].replace("\n", " "))
def test_the_module_level_is_not_run(case) -> None:
    text, place, message = case
    check(text, pl.UnsupportedFeatureError, place, message, IMPORT_HINT)


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("N = pl.dynamic('a b')", (1, 16), "'a b' is no name for a dimension"),
        ("N = pl.dynamic(3)", (1, 16), "the name of a dimension is a string, not '3'"),
        ("N = pl.MemRef(slot=3)", (1, 5), "unknown MemRef argument 'slot'"),
        ("N = pl.MemRef(slots='a')", (1, 21), "slots is a compile-time integer, not \"'a'\""),
    ],
)
def test_wrong_definitions_of_the_module_level(text: str, place: tuple[int, int], message: str) -> None:
    check(text, pl.ParserTypeError, place, message)


def test_a_text_holds_one_function_or_program() -> None:
    for text, message in (
        (
            "import pypto.language as pl\n",
            "found no @pl.function or @pl.program in d.py, where one is expected",
        ),
        (
            "@pl.function\ndef f(): pass\n@pl.function\ndef g(): pass\n",
            "found multiple functions or programs in d.py, where one is expected",
        ),
    ):
        error = error_of(text)
        assert isinstance(error, ValueError)
        assert type(error) is pl.ProgramCountError
        assert str(error) == f"error[E000]: {message}"
        assert error.span is None


SEVERAL = """@pl.program
class P:
    @pl.function
    def a(x):
        pass
    @pl.function
    def b(x: pl.Scalar[pl.INDEX]):
        return y
    @pl.function
    def c(x: pl.Scalar[pl.INDEX]):
        return x
    @pl.function
    def d(x: pl.Scalar[pl.INDEX]):
        x += 1
"""


def test_errors_of_several_functions_come_together() -> None:
    error = error_of(SEVERAL)
    assert [type(e) for e in (error, *error.related)] == [
        pl.ParserTypeError,
        pl.UndefinedVariableError,
        pl.UnsupportedFeatureError,
    ]
    assert (
        str(error)
        == """error[E101]: parameter 'x' has no annotation
  --> d.py:4:11
   |
 4 |     def a(x):
   |           ^

error[E200]: undefined variable 'y'
  --> d.py:8:16
   |
 8 |         return y
   |                ^

error[E301]: an augmented assignment is not supported
  --> d.py:14:9
    |
 14 |         x += 1
    |         ^
   = hint: write x = x + y"""
    )


def test_a_long_line_is_cut_around_the_caret() -> None:
    error = error_of(
        f"@pl.function\ndef f(n: pl.Scalar[pl.INDEX]):\n    return [{'n, ' * 100}m, {'n, ' * 100}]\n"
    )
    lines = str(error).split("\n")
    assert lines[1] == "  --> d.py:3:313"
    source, caret = lines[3], lines[4]
    assert len(source) < 140
    assert source[caret.index("^")] == "m"
    assert source.startswith(" 3 | ...")
    assert source.endswith("...")


def test_columns_count_characters() -> None:
    error = error_of("@pl.function\ndef f(ä: pl.Scalar[pl.INDEX]):\n    return 'ööö' + [ä, undefined][0]\n")
    assert error.span["column"] == 24
    source, caret = str(error).split("\n")[3:5]
    assert source[caret.index("^") :].startswith("undefined")


def test_error_classes() -> None:
    for kind in (
        pl.ParserSyntaxError,
        pl.ParserTypeError,
        pl.UndefinedVariableError,
        pl.SSAViolationError,
        pl.UnsupportedFeatureError,
        pl.InvalidOperationError,
        pl.ScopeIsolationError,
        pl.PythonSyntaxError,
        pl.ProgramCountError,
    ):
        assert issubclass(kind, pl.ParserError)
        assert issubclass(kind, PyptoTmplError)
    assert issubclass(pl.InvalidOperationError, ValueError)
    assert issubclass(pl.PythonSyntaxError, SyntaxError)
    assert issubclass(pl.ProgramCountError, ValueError)
    error = pl.ParserError("message", {"filename": "f", "line": 1, "column": 2}, "a hint", "a note", ["text"])
    assert (error.span["line"], error.hint, error.note, error.source_lines) == (
        1,
        "a hint",
        "a note",
        ["text"],
    )
    assert (
        str(error)
        == "error[E000]: message\n  --> f:1:2\n   |\n 1 | text\n   |  ^\n   = hint: a hint\n   = note: a note"
    )
    assert str(pl.ParserError("message")) == "error[E000]: message"
