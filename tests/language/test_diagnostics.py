# ruff: noqa: E501 (messages stand as they print)
"""Malformed kernels: for every input of every kind of mistake the class of the error and its whole message."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import pypto_tmpl.language as pl
from pypto_tmpl.language.diagnostics import MissingSourceError

FRAME = """import pypto.language as pl

@pl.program
class P:
    @pl.function
    def k(self, x: pl.Tensor[[4, 8], pl.FP32], o: pl.Out[pl.Tensor[[4, 8], pl.FP32]]) -> pl.Tensor[[4, 8], pl.FP32]:
        return o

    @pl.function
    def f(self, x: pl.Tensor[[4, 8], pl.FP32], t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec], n: pl.Scalar[pl.INDEX], r: pl.Scalar[pl.FP32], p: pl.Scalar[pl.BOOL]):
"""
INDENT = 8


@dataclass(frozen=True)
class Case:
    """A text, and the error that it raises; ``place`` counts from the start of the text."""

    text: str
    kind: type[pl.ParserError]
    place: tuple[int, int] | None
    message: str
    hint: str | None = None
    note: str | None = None
    module: bool = False  # a whole text, and not the body of a function

    @property
    def code(self) -> str:
        if self.module:
            return self.text
        return FRAME + "".join(f"{' ' * INDENT}{line}\n" for line in self.text.split("\n"))

    @property
    def whole(self) -> str:
        """The message as it is shown."""
        lines = [f"error[{self.kind.slug}]: {self.message}"]
        if self.place is not None:
            line, column = self.place
            if not self.module:
                line, column = line + FRAME.count("\n"), column + INDENT
            margin = " " * len(str(line))
            lines += [
                f"  --> d.py:{line}:{column}",
                f" {margin} |",
                f" {line} | {self.code.split(chr(10))[line - 1]}",
                f" {margin} | {' ' * (column - 1)}^",
            ]
        lines += [f"   = hint: {self.hint}"] if self.hint else []
        lines += [f"   = note: {self.note}"] if self.note else []
        return "\n".join(lines)


# By kind of mistake, as the contract of the language lists them.
CASES: dict[str, list[Case]] = {
    "text that Python cannot compile": [
        Case('@pl.function\ndef f(:\n    pass\n', pl.PythonSyntaxError, (2, 7), 'Failed to compile code from d.py: invalid syntax', module=True),
        Case('break', pl.PythonSyntaxError, (1, 1), 'Failed to compile code from d.py: break outside a loop'),
        Case('if p:\n    continue', pl.PythonSyntaxError, (2, 5), 'Failed to compile code from d.py: continue outside a loop'),
    ],
    "no function or program, or several": [
        Case('X = 1\n', pl.ProgramCountError, None, 'found no @pl.function or @pl.program in d.py, where one is expected', module=True),
        Case('@pl.function\ndef f(): pass\n@pl.function\ndef g(): pass\n', pl.ProgramCountError, None, 'found multiple functions or programs in d.py, where one is expected', module=True),
    ],
    "class or decorator": [
        Case('@pl.program\nclass P:\n    pass\n', pl.ParserSyntaxError, (2, 1), "class 'P' has no function", 'decorate its functions with @pl.function', module=True),
        Case('@pl.function(kind=1)\ndef f(): pass\n', pl.ParserSyntaxError, (1, 19), "pl.function takes no keyword 'kind'", 'keywords: type, level, role, attrs, auto_scope, strict_ssa, external_source', module=True),
        Case('@pl.function(type=KIND)\ndef f(): pass\n', pl.ParserSyntaxError, (1, 19), "'KIND' is no literal member of pl.FunctionType", 'members of pl.FunctionType: Opaque, Orchestration, InCore, AIC, AIV, Group, Spmd, Inline, Graph', module=True),
    ],
    "annotation": [
        Case('@pl.function\ndef f(x): pass\n', pl.ParserTypeError, (2, 7), "parameter 'x' has no annotation", module=True),
        Case('@pl.function\ndef f(x: pl.In[pl.Tensor[[4], pl.FP32]]): pass\n', pl.ParserTypeError, (2, 10), "'pl.In[pl.Tensor[[4], pl.FP32]]' is no type", 'a parameter is an input unless it is pl.Out[...] or pl.InOut[...]', module=True),
        Case('@pl.function\ndef f(x: pl.Tensor[[1.5], pl.FP32]): pass\n', pl.ParserTypeError, (2, 21), "an extent is an integer, not '1.5'", module=True),
        Case('@pl.function\ndef f(x: pl.Tensor[[4], pl.FP33]): pass\n', pl.ParserTypeError, (2, 25), "'pl.FP33' is no data type", "data types: BOOL, INT4, INT8, INT16, INT32, INT64, INDEX, UINT4, UINT8, UINT16, UINT32, UINT64, FP4, FP8E4M3FN, FP8E5M2, FP16, FP32, FP8E8M0, BF16, HF4, HF8, TASK_ID; did you mean 'FP32'?", module=True),
        Case("@pl.function\ndef f(x: pl.Tile[[4], pl.FP32, pl.MemRef('m', 0, 16)]): pass\n", pl.ParserTypeError, (2, 10), 'a TileType with a memref needs its memory_space as well', module=True),
        Case('@pl.function\ndef f(x: pl.Tile[[4], pl.FP32, pl.NZ]): pass\n', pl.ParserTypeError, (2, 32), 'a tile has no layout name', 'write a pl.TileView(...)', module=True),
        Case('@pl.function\ndef f(x: pl.Tensor[[4, 4], pl.FP32, pl.DN]): pass\n', pl.ParserTypeError, (2, 37), 'the layout DN needs its strides', 'write pl.TensorView(stride=[...], layout=pl.TensorLayout.DN)', module=True),
    ],
    "direction": [
        Case('@pl.function\ndef f(x: pl.InOut[pl.Scalar[pl.INDEX]]): pass\n', pl.ParserTypeError, (2, 7), "parameter 'x': a scalar cannot be InOut", module=True),
        Case('@pl.function\ndef f(x: tuple[pl.Scalar[pl.INDEX]]): pass\n', pl.ParserTypeError, (2, 7), "parameter 'x': tuples are return types only", module=True),
    ],
    "contradicting types": [
        Case('y: pl.Tensor[[4, 4], pl.FP32] = pl.exp(x)', pl.ParserTypeError, (1, 4), "the annotation 'pl.Tensor[[4, 4], pl.FP32]' contradicts the value's type pl.Tensor[[4, 8], pl.FP32]"),
        Case('y = pl.exp(x)\ny = n', pl.ParserTypeError, (2, 1), "Cannot reassign 'y' with another type", 'use another name', 'it is pl.Tensor[[4, 8], pl.FP32] and would become pl.Scalar[pl.INDEX]'),
    ],
    "undefined": [
        Case('return m', pl.UndefinedVariableError, (1, 8), "undefined variable 'm'"),
        Case('for i, (a,) in pl.range(3, init_values=(x,)):\n    b = pl.add(a, 1.0)\ny = pl.exp(gone)', pl.UndefinedVariableError, (3, 12), "undefined variable 'gone'", 'end the loop on line 11 with `gone = pl.yield_(...)`', 'the loop on line 11 carries a and yields nothing'),
        Case('for a, c in pl.while_(init_values=(x, n)):\n    pl.cond(c < 3)\n    b = pl.add(a, 1.0)\ny = pl.exp(gone)', pl.UndefinedVariableError, (4, 12), "undefined variable 'gone'", 'end the loop on line 11 with `gone, ... = pl.yield_(...)`', 'the loop on line 11 carries a, c and yields nothing'),
        Case('@pl.function\ndef f(x: pl.Tensor[[4, 8], pl.FP32]):\n    for i, (a,) in pl.range(3, init_values=(x,)):\n        b = pl.add(a, 1.0)\n    return gone\n', pl.UndefinedVariableError, (5, 12), "undefined variable 'gone'", 'end the loop on line 3 with `gone = pl.yield_(...)`', 'the loop on line 3 carries a and yields nothing', module=True),
        Case('y = self.kk(x, x)', pl.UndefinedVariableError, (1, 5), "undefined function 'kk'", "did you mean 'self.k'?"),
    ],
    "unsupported Python": [
        Case('n += 1', pl.UnsupportedFeatureError, (1, 1), 'an augmented assignment is not supported', 'write x = x + y'),
        Case('try:\n    pass\nfinally:\n    pass', pl.UnsupportedFeatureError, (1, 1), 'try is not supported'),
        Case('def g(): pass', pl.UnsupportedFeatureError, (1, 1), 'a nested function is not supported'),
        Case('import os', pl.UnsupportedFeatureError, (1, 1), 'an import inside a function is not supported'),
        Case('y = n if p else n', pl.UnsupportedFeatureError, (1, 5), 'a conditional expression is not supported'),
        Case('y = lambda: n', pl.UnsupportedFeatureError, (1, 5), 'a lambda is not supported'),
        Case('y = {}', pl.UnsupportedFeatureError, (1, 5), 'a dict is not supported'),
        Case('y = [n for i in x]', pl.UnsupportedFeatureError, (1, 5), 'a comprehension is not supported'),
        Case('y = n in x', pl.UnsupportedFeatureError, (1, 5), 'the operator `in` or `is` is not supported'),
        Case('y = n is n', pl.UnsupportedFeatureError, (1, 5), 'the operator `in` or `is` is not supported'),
    ],
    "wrong syntax": [
        Case('y = z = n', pl.ParserSyntaxError, (1, 1), 'a chained assignment binds several names', 'write one each'),
        Case('*y, z = x', pl.ParserSyntaxError, (1, 1), "'*y' is no name to assign to"),
        Case('x.y = n', pl.ParserSyntaxError, (1, 1), "'x.y' is no name to assign to"),
        Case('y = 0 < n < 4', pl.ParserSyntaxError, (1, 5), 'a comparison has two operands', 'join two with `and`'),
        Case('for i in range(4):\n    pass', pl.ParserSyntaxError, (1, 10), "a loop runs over pl.range and its kin, not over 'range(4)'", 'loops: pl.range, pl.parallel, pl.unroll, pl.pipeline, pl.while_'),
        Case('for i in pl.parallel(4, chunk=2):\n    pass', pl.ParserSyntaxError, (1, 31), "pl.parallel takes no keyword 'chunk'", 'leave it out: loops are not cut into chunks'),
        Case('for i, (a, b) in pl.range(4, init_values=(x,)):\n    pass', pl.ParserSyntaxError, (1, 5), 'Mismatch: 2 carried names for 1 init_values'),
        Case('for i in pl.range(4, init_values=(x,)):\n    pass', pl.ParserSyntaxError, (1, 5), 'init_values need names for the carried values', 'write `for i, (a,) in ...`'),
        Case('for (a,) in pl.while_(init_values=(x,)):\n    pass', pl.ParserSyntaxError, (2, 5), 'the first statement of a pl.while_ loop is pl.cond(<condition>)'),
        Case('with pl.cluster(), pl.cluster():\n    pass', pl.ParserSyntaxError, (1, 1), 'a `with` opens one scope', 'nest two `with` statements'),
        Case('with pl.cluster() as c:\n    pass', pl.ParserSyntaxError, (1, 22), "pl.cluster takes no `as` with 'c'"),
        Case("y = n\npl.func_attr({'a': 1})", pl.ParserSyntaxError, (2, 1), 'pl.func_attr stands first in a function'),
        Case('y = pl.exp(pl.submit(self.k, x, x))', pl.ParserSyntaxError, (1, 12), 'pl.submit stands alone on the right of an assignment', 'bind its result to a name first'),
        Case('a, b, c = pl.submit(self.k, x, x)', pl.ParserSyntaxError, (1, 1), "a submit gives its results and a task id, and '(a, b, c)' has 3 targets", 'write `out, tid = ...` or `(a, b), tid = ...`'),
        Case('with pl.spmd(4):\n    y = pl.exp(x)', pl.ParserSyntaxError, (1, 1), 'the body of pl.spmd is kernel code, an InCore scope or one call of a kernel', 'kernel code reads pl.tile.get_block_idx()'),
    ],
    "condition": [
        Case('if n:\n    pass', pl.ParserTypeError, (1, 4), "the condition of an if is a BOOL scalar, and 'n' is INDEX"),
        Case('while n:\n    pass', pl.ParserTypeError, (1, 7), "the condition of a while is a BOOL scalar, and 'n' is INDEX"),
    ],
    "operators": [
        Case('y = x + x', pl.ParserSyntaxError, (1, 5), 'operator +: a scalar is needed, got a TensorType', 'operators take scalars; tensors and tiles are computed with ops, such as pl.add'),
        Case('y = t * 2.0', pl.ParserSyntaxError, (1, 5), 'operator *: a scalar is needed, got a TileType', 'operators take scalars; tensors and tiles are computed with ops, such as pl.add'),
        Case('y = n + r', pl.ParserSyntaxError, (1, 5), 'operator +: INDEX and FP32: cast one of them first'),
    ],
    "unsupported subscripts and scopes": [
        Case('y = x[0:4:2]', pl.UnsupportedFeatureError, (1, 11), 'the step of a slice is not supported'),
        Case('x[0, 0] = x', pl.UnsupportedFeatureError, (1, 1), 'an assignment to a single element is not supported', 'write pl.write(x, [...], value)'),
        Case('y = t[n : n + 8, :]', pl.UnsupportedFeatureError, (1, 7), 'a slice of a tile that begins at a run-time value is not supported', 'use pl.tile.slice'),
        Case('with pl.incore():\n    pass', pl.UnsupportedFeatureError, (1, 6), "the context manager 'pl.incore()' is not supported", 'write `with pl.at(level=pl.Level.CORE_GROUP):`'),
    ],
    "subscript and call operands": [
        Case('y = x[0, 0, 0]', pl.ParserTypeError, (1, 13), '3 indices for pl.Tensor[[4, 8], pl.FP32], which has 2 axes'),
        Case('x[0] = x', pl.ParserTypeError, (1, 8), 'the value has 2 axes, and the subscript keeps 1'),
        Case('x[0:2, :] = x', pl.ParserTypeError, (1, 13), 'the value has 4 elements in axis 0, and the subscript 2'),
        Case('y = self.k(x)', pl.ParserTypeError, (1, 5), "'k' takes 2 argument(s), and 1 are given"),
        Case('y = self.k(x, x, core_num=4)', pl.ParserTypeError, (1, 27), "a call takes no keyword 'core_num'", 'launch the kernel with pl.submit'),
        Case('BUFFER = pl.MemRef()\n@pl.function\ndef f():\n    y = BUFFER\n', pl.ParserTypeError, (4, 9), "'BUFFER' is a MemRef, which stands for no expression", module=True),
        Case("y = 'text'", pl.ParserTypeError, (1, 5), 'a string is no expression'),
    ],
    "jumps and ops": [
        Case('for i in pl.parallel(4):\n    continue', pl.InvalidOperationError, (2, 5), 'continue in a pl.parallel loop'),
        Case('for i in pl.unroll(4):\n    break', pl.InvalidOperationError, (2, 5), 'break in a pl.unroll loop'),
        Case('for i in pl.split_aiv(2, mode=pl.SplitMode.NONE):\n    break', pl.InvalidOperationError, (2, 5), 'break in a pl.split_aiv loop'),
        Case('y = pl.adds(x, 1.0)', pl.InvalidOperationError, (1, 5), "unknown op 'pl.adds'", "did you mean 'pl.tensor.adds'?"),
        Case('y = pl.add(x, t)', pl.InvalidOperationError, (1, 5), "pl.add: the operand 'rhs' is pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec], and it takes a tensor", 'tensors and tiles do not mix: load the tensor into a tile, or store the tile'),
        Case('y = pl.reshape(x, [3, 3])', pl.InvalidOperationError, (1, 5), 'tensor.reshape: the shape has 9 elements, and pl.Tensor[[4, 8], pl.FP32] has 32'),
    ],
    "strict_ssa": [
        Case('@pl.function(strict_ssa=True)\ndef f(n: pl.Scalar[pl.INDEX]):\n    y = n\n    y = n\n', pl.SSAViolationError, (4, 5), "'y' is assigned twice, which strict_ssa forbids", module=True),
    ],
    "strict_ssa, subscript": [
        Case('@pl.function(strict_ssa=True)\ndef f(x: pl.Tensor[[4, 8], pl.FP32]):\n    x[0:4, :] = x\n', pl.UnsupportedFeatureError, (3, 5), 'a subscript assignment under strict_ssa is not supported', module=True),
    ],
    "static_assert": [
        Case("pl.static_assert(1 > 2, 'two is more')", pl.ParserError, (1, 1), 'static_assert failed: two is more'),
        Case('pl.static_assert(n > 2)', pl.ParserError, (1, 18), "'n > 2' is no compile-time value"),
    ],
    "kernel source": [
        Case("@pl.function(type=pl.FunctionType.AIV, external_source='/gone.cpp')\ndef f(): ...\n", MissingSourceError, (1, 56), "the kernel source '/gone.cpp' does not exist", module=True),
    ],
    "level and role": [
        Case('@pl.function(type=pl.FunctionType.AIV, level=pl.Level.HOST)\ndef f(): pass\n', pl.ParserSyntaxError, (2, 1), "Failed to parse function 'f': f: a function of type AIV has level AIV, not Level.HOST", module=True),
    ],
    "operands of ops": [
        Case('y = pl.add(1.0, x)', pl.InvalidOperationError, (1, 5), "pl.add: the operand 'lhs' is 1.0, and it takes a tensor", 'the tensor comes first, the scalar after it'),
        Case('y = pl.mul(x, n)', pl.InvalidOperationError, (1, 5), "tensor.muls: the operand 'rhs' is an INDEX scalar, and the elements of 'lhs' are not", 'pl.cast gives it the dtype of the elements'),
        Case('y = pl.tensor.ands(x, 3)', pl.InvalidOperationError, (1, 5), "tensor.ands: the operand 'lhs' is pl.Tensor[[4, 8], pl.FP32], and its dtype must be an integer"),
    ],
    "rules of scopes, loops and launches": [
        Case('with pl.spmd(0):\n    y = self.k(x, x)', pl.ParserSyntaxError, (1, 14), 'the number of blocks is positive'),
        Case('with pl.spmd(4, deps=[]):\n    y = self.k(x, x)', pl.ParserSyntaxError, (1, 6), 'deps= of pl.spmd needs `as tid`', 'write `with pl.spmd(...) as tid:`'),
        Case('with pl.cluster():\n    with pl.spmd(4) as tid:\n        y = self.k(x, x)', pl.ParserSyntaxError, (2, 10), 'pl.spmd inside pl.cluster takes no `as`'),
        Case('with pl.cluster():\n    with pl.spmd(4, allow_early_resolve=True):\n        y = self.k(x, x)', pl.ParserSyntaxError, (2, 10), 'pl.spmd inside pl.cluster takes no allow_early_resolve'),
        Case('with pl.scope():\n    pass', pl.ParserSyntaxError, (1, 6), 'pl.scope() needs a function with auto_scope=False', 'write @pl.function(auto_scope=False)'),
        Case('with pl.manual_scope():\n    with pl.manual_scope():\n        pass', pl.ParserSyntaxError, (2, 10), 'a manual scope stands inside a manual scope'),
        Case('for i in pl.split_aiv(2, mode=pl.SplitMode.NONE):\n    for j in pl.split_aiv(2, mode=pl.SplitMode.NONE):\n        pass', pl.ParserSyntaxError, (2, 14), 'a split region stands inside another'),
        Case('with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.UP_DOWN)]):\n    for j in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):\n        pass', pl.ParserSyntaxError, (2, 14), 'a split region stands inside a scope with pl.split(...)', 'leave out the split of the scope'),
        Case('with pl.at(level=pl.Level.HOST, role=pl.Role.SubWorker):\n    pass', pl.ParserSyntaxError, (1, 6), 'a scope of host level is no SubWorker', 'write a function of that level and role'),
        Case("with pl.at(level=pl.Level.CORE_GROUP, name_hint='a b'):\n    pass", pl.ParserSyntaxError, (1, 49), "the name hint 'a b' is no identifier"),
        Case('with pl.at(pl.Level.CORE_GROUP, optimizations=[pl.cross_core_slot(slot_num=2), pl.cross_core_slot(slot_num=4)]):\n    pass', pl.ParserSyntaxError, (1, 80), 'pl.cross_core_slot is given twice'),
        Case('for i in pl.unroll(n):\n    pass', pl.ParserSyntaxError, (1, 10), 'the bounds of pl.unroll are constants'),
        Case('for i, (a,) in pl.unroll(4, init_values=(n,)):\n    b = pl.yield_(a)', pl.ParserSyntaxError, (1, 16), 'pl.unroll carries no values', 'use pl.range'),
        Case('for i, (a,) in pl.range(4, init_values=(n,)):\n    pl.yield_(a)', pl.ParserSyntaxError, (2, 5), 'the yield of a loop that carries values names its results', 'write `out = pl.yield_(...)`'),
        Case('for i, (a,) in pl.range(4, init_values=(n,)):\n    b = pl.yield_(a)\n    c = pl.yield_(a)', pl.ParserSyntaxError, (3, 9), 'a body yields once', 'yield all values together'),
        Case('a, b = pl.submit(self.k, x, x, core_num=4)', pl.ParserSyntaxError, (1, 8), "pl.submit takes no keyword 'core_num'", 'use pl.spmd_submit'),
        Case('a, b = pl.spmd_submit(self.k, x, x)', pl.ParserSyntaxError, (1, 8), 'pl.spmd_submit needs core_num='),
        Case('a, b = pl.submit(self.k)', pl.ParserTypeError, (1, 8), "'k' takes 1 to 2 argument(s), and 0 are given"),
        Case('a, b = pl.submit(self.k, x, predicate=p)', pl.ParserTypeError, (1, 39), "a predicate compares a tensor's element with a number", 'write predicate=(flags[i] > 0)'),
        Case('a, b = pl.submit(self.k, x, deps=[i for i in x])', pl.UnsupportedFeatureError, (1, 46), 'a comprehension over anything but compile-time values is not supported', 'write `for i in range(n)` with a constant n'),
        Case('w = pld.alloc_window_buffer(64)', pl.ParserSyntaxError, (1, 5), 'a window buffer is allocated in a function of host level, outside of kernel code', 'write @pl.function(level=pl.Level.HOST, ...)'),
        Case("y = self.k(x, x, attrs={'manual_dep_edges': [x]})", pl.ParserTypeError, (1, 24), 'a call has no manual_dep_edges', 'launch the kernel with pl.submit(..., deps=[])'),
        Case('y = self.k(x, x, device=0)', pl.ParserTypeError, (1, 25), "'k' is no orchestrator, and device= is for calls of those"),
        Case('y = pl.exp(pl.no_dep(x))', pl.ParserSyntaxError, (1, 12), 'pl.no_dep stands around an argument of a kernel call'),
        Case('pl.dump_tag(x)', pl.ParserSyntaxError, (1, 1), 'pl.dump_tag stands in Orchestration and Inline functions'),
        Case('@pl.function(level=pl.Level.HOST, role=pl.Role.SubWorker)\ndef f(self, n: pl.Scalar[pl.INDEX]):\n    self.x = n\n', pl.ParserSyntaxError, (3, 5), 'a host sub-worker does not use `self`', module=True),
        Case('for i, (a,) in pl.range(4, init_values=(n,)):\n    b, c = pl.yield_(a, n)', pl.ParserSyntaxError, (2, 12), 'Mismatch: 2 yielded values for 1 carried ones'),
        Case('for i, (a,) in pl.range(4, init_values=(x,)):\n    b = pl.yield_(n)', pl.ParserTypeError, (2, 19), "'n' is yielded as pl.Tensor[[4, 8], pl.FP32], and it is pl.Scalar[pl.INDEX]"),
        Case('if p:\n    b = pl.yield_(x)\nelse:\n    b = pl.yield_(n)', pl.ParserTypeError, (4, 19), "'n' is yielded as pl.Tensor[[4, 8], pl.FP32], and it is pl.Scalar[pl.INDEX]"),
        Case('if p:\n    b = pl.yield_(x)', pl.ParserSyntaxError, (2, 5), 'one branch yields b, and the other does not', 'end an else with `b = pl.yield_(...)`, too'),
        Case('if p:\n    y = pl.exp(x)\nelse:\n    b, c = pl.yield_(x, n)', pl.ParserSyntaxError, (4, 5), 'one branch yields b, c, and the other does not', 'end the other branch with `b, c = pl.yield_(...)`, too'),
        Case('if p:\n    b = pl.yield_(x)\nelif n > 3:\n    b = pl.yield_(x)\nelse:\n    b = pl.yield_(x)', pl.ParserSyntaxError, (2, 5), 'one branch yields b, and the other does not', 'end the other branch with `b = pl.yield_(...)`, too'),
        Case('if p:\n    b: pl.Scalar[pl.INDEX] = pl.yield_(n)\nelse:\n    pass', pl.ParserSyntaxError, (2, 5), 'one branch yields b, and the other does not', 'end the other branch with `b = pl.yield_(...)`, too'),
        Case('@pl.function\ndef f(x: pl.Tuple[pl.Tuple[pl.Scalar[pl.INDEX]]]): pass\n', pl.ParserTypeError, (2, 19), 'a tuple holds no tuples', 'list all parts in one', module=True),
        Case('a = pl.array.create(4, pl.INT32)\nb = a[4]', pl.ParserTypeError, (2, 7), 'index 4 is outside pl.Array[4, pl.INT32]'),
        Case('a = pl.array.create(4, pl.INT32)\na[r] = 1', pl.ParserTypeError, (2, 3), 'an index is an integer scalar, not pl.Scalar[pl.FP32]'),
        Case('y = -p', pl.ParserSyntaxError, (1, 5), "'-p': BOOL is no number"),
        Case('y = n ** 2', pl.UnsupportedFeatureError, (1, 5), 'the operator ** on run-time values is not supported'),
        Case('y = abs(n)', pl.UnsupportedFeatureError, (1, 5), "the builtin 'abs' on run-time values is not supported", 'write pl.max(x, -x) of a scalar, pl.abs(x) of a tensor or tile'),
        Case('y = p and x', pl.ParserSyntaxError, (1, 11), "'x': a scalar is needed, got a TensorType", 'operators take scalars; tensors and tiles are computed with ops, such as pl.add'),
        Case('y = not t', pl.ParserSyntaxError, (1, 9), "'t': a scalar is needed, got a TileType", 'operators take scalars; tensors and tiles are computed with ops, such as pl.add'),
        Case('y = x.shape[0]', pl.UnsupportedFeatureError, (1, 5), "'x.shape' as an expression is not supported", 'write pl.tensor.dim(x, axis)'),
        Case('for i in pl.range(r):\n    pass', pl.ParserTypeError, (1, 19), "the bound of a loop is an integer, and 'r' is FP32"),
        Case('for i in pl.range(4, step=2):\n    pass', pl.ParserSyntaxError, (1, 27), "pl.range takes no keyword 'step'", 'write the bounds as pl.range(start, stop, step)'),
        Case('with pl.spmd(r):\n    y = self.k(x, x)', pl.ParserTypeError, (1, 14), "the number of blocks is an integer, and 'r' is FP32"),
        Case('a, b = pl.submit(self.k, x, x, device=0)', pl.ParserSyntaxError, (1, 39), "a submit takes no keyword 'device'", 'keywords: allow_early_resolve, core_num, deps, dumps, predicate, sync_start, attrs'),
        Case('a, b = pl.spmd_submit(self.k, x, x, core_num=0)', pl.ParserSyntaxError, (1, 8), 'the number of blocks is positive'),
        Case('y: pl.Scalar[pl.INT32] = pl.const(3, pl.INT64)', pl.ParserTypeError, (1, 4), "the annotation 'pl.Scalar[pl.INT32]' contradicts the value's type pl.Scalar[pl.INT64]"),
        Case('with pl.auto_chunk:\n    pass', pl.UnsupportedFeatureError, (1, 6), "the context manager 'pl.auto_chunk' is not supported", 'leave it out: loops are not cut into chunks'),
        Case('y = pl.incore(x)', pl.InvalidOperationError, (1, 5), "unknown op 'pl.incore'", 'write `with pl.at(level=pl.Level.CORE_GROUP):`'),
        Case('@pl.function\ndef f(x: pl.Tensor): pass\n', pl.ParserTypeError, (2, 10), "'pl.Tensor' is no type", 'write what it holds: pl.Tensor[[extents], dtype]', module=True),
        Case('@pl.function\ndef f(x: pl.Tensor[[-1], pl.FP32]): pass\n', pl.ParserTypeError, (2, 21), "an extent is not negative, as '-1' is", module=True),
        Case('@pl.function(**KEYWORDS)\ndef f(): pass\n', pl.ParserSyntaxError, (1, 16), 'keywords are written out, not unpacked with **', module=True),
        Case('@pl.function(level=pl.Level.HOST)\ndef f():\n    w = pld.alloc_window_buffer(64, name="v")\n', pl.ParserSyntaxError, (3, 9), 'a window buffer is named by the variable it is bound to', 'leave out name=', module=True),
        Case("@pl.function(external_source='/a.cpp')\ndef f(): ...\n", pl.ParserTypeError, (1, 30), 'a function of type Opaque has no external_source', 'only those of type AIC and AIV have one', module=True),
        Case('y = x[-1]', pl.ParserTypeError, (1, 7), 'the index -1 is negative', 'indices count from the first element'),
        Case('y = x[4:2]', pl.ParserTypeError, (1, 7), "the slice '4:2' ends before it begins"),
        Case('y = x[r]', pl.ParserTypeError, (1, 7), 'an index is an integer scalar, not pl.Scalar[pl.FP32]'),
        Case('y = pl.full([4, x], dtype=pl.FP32, value=1.0)', pl.ParserTypeError, (1, 17), "a list in an op call holds scalars, and 'x' is pl.Tensor[[4, 8], pl.FP32]"),
        Case('y = x[0:9, :]', pl.InvalidOperationError, (1, 5), "tensor.slice: the window ends 5 past axis 0, and 'input' is pl.Tensor[[4, 8], pl.FP32]"),
    ],
}  # fmt: skip

# How many inputs the contract names for each kind of mistake.
INPUTS = {
    "text that Python cannot compile": 3,
    "no function or program, or several": 2,
    "class or decorator": 3,
    "annotation": 7,
    "direction": 2,
    "contradicting types": 2,
    "undefined": 5,
    "unsupported Python": 10,
    "wrong syntax": 15,
    "condition": 2,
    "operators": 3,
    "unsupported subscripts and scopes": 4,
    "subscript and call operands": 7,
    "jumps and ops": 6,
    "strict_ssa": 1,
    "strict_ssa, subscript": 1,
    "static_assert": 2,
    "kernel source": 1,
    "level and role": 1,
    "operands of ops": 3,
    "rules of scopes, loops and launches": 60,
}


@pytest.mark.parametrize(
    "case",
    [case for cases in CASES.values() for case in cases],
    ids=lambda case: case.text.replace("\n", "|"),
)
def test_a_mistake_is_told_with_its_place(case: Case) -> None:
    with pytest.raises(pl.ParserError) as caught:
        pl.parse(case.code, "d.py")
    assert type(caught.value) is case.kind
    assert str(caught.value) == case.whole


def test_every_input_of_the_contract_is_there() -> None:
    assert {name: len(cases) for name, cases in CASES.items()} == INPUTS
    assert {case.kind for cases in CASES.values() for case in cases} >= {
        pl.InvalidOperationError, pl.ParserSyntaxError, pl.ParserTypeError, pl.ProgramCountError,
        pl.PythonSyntaxError, pl.SSAViolationError, pl.UndefinedVariableError, pl.UnsupportedFeatureError,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "builtin"),
    [
        (pl.PythonSyntaxError, SyntaxError),
        (pl.ProgramCountError, ValueError),
        (pl.InvalidOperationError, ValueError),
    ],
)
def test_errors_are_those_that_upstream_raises_too(kind: type, builtin: type) -> None:
    assert issubclass(kind, builtin)


def test_the_errors_of_all_statements_and_functions_come_together() -> None:
    text = """import pypto.language as pl
@pl.program
class P:
    @pl.function
    def f(self, x: pl.Tensor[[4, 8], pl.FP32], n: pl.Scalar[pl.INDEX]):
        y = pl.ad(x, 1.0)
        z = pl.add(y, 1.0)
        for i in pl.range(4):
            y = pl.mul(x, gone)
            w = x[0:4:2]
        z = pl.add(w, y)
        n += 1
        return z
    @pl.function
    def g(self, x: pl.Tensor[[4, 8], pl.FP32], n: pl.Scalar[pl.INDEX]):
        a = self.f(x, n)
        b = pl.add(a, 1.0)
        return missing
"""
    with pytest.raises(pl.ParserError) as caught:
        pl.parse(text, "d.py")
    found = [caught.value, *caught.value.related]
    assert [(error.span["line"], error.message) for error in found] == [
        (6, "unknown op 'pl.ad'"),
        (9, "undefined variable 'gone'"),
        (10, "the step of a slice is not supported"),
        (12, "an augmented assignment is not supported"),
        (18, "undefined variable 'missing'"),
    ]
    assert str(caught.value).count("  --> d.py:") == 5


def test_no_frames_of_the_reader_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def modules() -> set[str]:
        with pytest.raises(pl.UndefinedVariableError) as caught:

            @pl.function
            def f(n: pl.Scalar[pl.INDEX]):
                return gone  # noqa: F821

        return {entry.path.name for entry in caught.traceback}

    assert modules() == {"test_diagnostics.py", "decorators.py", "tracebacks.py"}
    monkeypatch.setenv("PTO_BACKTRACE", "1")
    assert "expressions.py" in modules()


KERNEL_FILE = """import pypto_tmpl.language as pl

def make():
    @pl.function
    def f(n: pl.Scalar[pl.INDEX]):
        return gone
    return f

make()
"""


def test_an_error_that_nothing_catches_shows_the_users_frames_only(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(KERNEL_FILE)

    def shown(**environment: str) -> str:
        command = [sys.executable, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment)
        assert done.returncode == 1
        return done.stderr

    places = re.findall(r'File "(.*)", line (\d+)', shown())
    assert places == [(str(path), "9"), (str(path), "4")]
    assert shown().endswith(
        f"""UndefinedVariableError: error[E200]: undefined variable 'gone'
  --> {path}:6:16
   |
 6 |         return gone
   |                ^
"""
    )
    assert "expressions.py" in shown(PTO_BACKTRACE="1")
