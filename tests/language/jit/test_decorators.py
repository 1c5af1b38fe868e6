"""The decorators: what they take, that they are lazy, and what may be called."""

import sys

import pytest
import torch
from jit_text import body_text, program_text

import pypto_tmpl.language as pl


def empty(*shape, dtype=torch.float32):
    return torch.empty(shape, dtype=dtype, device="meta")


def undecorated(x: pl.Tensor):
    pl.exp(x)


@pytest.mark.parametrize(
    ("decorator", "text"),
    [
        (pl.jit, "type=pl.FunctionType.Orchestration"),
        (pl.jit(), "type=pl.FunctionType.Orchestration"),
        (pl.jit(auto_scope=False), "type=pl.FunctionType.Orchestration, auto_scope=False"),
        (pl.jit(auto_scope=True), "type=pl.FunctionType.Orchestration"),
        (pl.jit.host, "level=pl.Level.HOST, role=pl.Role.Orchestrator"),
        (pl.jit.host(auto_scope=False), "level=pl.Level.HOST, role=pl.Role.Orchestrator, auto_scope=False"),
    ],
)
def test_entries(decorator, text):
    assert f"    @pl.function({text})\n" in program_text(decorator(undecorated), empty(4))


@pytest.mark.parametrize(
    ("decorator", "text"),
    [
        (pl.jit.incore, "type=pl.FunctionType.InCore"),
        (pl.jit.incore(level=pl.Level.CHIP_DIE), "type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE"),
        (pl.jit.inline, "type=pl.FunctionType.Inline"),
        (pl.jit.inline(auto_scope=False), "type=pl.FunctionType.Inline, auto_scope=False"),
        (pl.jit.opaque(), "type=pl.FunctionType.Opaque"),
    ],
)
def test_functions_that_entries_call(decorator, text):
    helper = decorator(undecorated)

    @pl.jit
    def entry(x: pl.Tensor):
        helper(x)

    assert f"    @pl.function({text})\n" in program_text(entry, empty(4))


@pytest.mark.parametrize(
    ("decorate", "message"),
    [
        (
            lambda: pl.jit(autoscope=False),
            "@pl.jit takes no keyword 'autoscope'; keywords: auto_scope; did you mean 'auto_scope'?",
        ),
        (lambda: pl.jit.host(level=1), "@pl.jit.host takes no keyword 'level'; keywords: auto_scope"),
        (lambda: pl.jit.opaque(name="x"), "@pl.jit.opaque takes no keyword 'name'; keywords: none"),
        (lambda: pl.jit.inline(auto_scope=0), "@pl.jit.inline: auto_scope is True or False, got 0"),
        (lambda: pl.jit.incore(level=3), "@pl.jit.incore: level is a pl.Level, got 3"),
        (lambda: pl.jit(7), "@pl.jit decorates a function, got int"),
        (lambda: pl.jit(pl.jit.inline(undecorated)), "'undecorated' has two JIT decorators"),
        (
            lambda: pl.jit.extern(core_type="cube", source="a.cpp"),
            "@pl.jit.extern: core_type is one of aiv, aic, mixed, got 'cube'",
        ),
        (
            lambda: pl.jit.extern(core_type="mixed", source="a.cpp"),
            "@pl.jit.extern with core_type='mixed' takes aic_source and aiv_source, given: source",
        ),
        (lambda: pl.jit.extern(), "@pl.jit.extern with core_type='aiv' takes source, given: none"),
    ],
)
def test_what_the_decorators_refuse(decorate, message):
    with pytest.raises(TypeError) as caught:
        decorate()
    assert str(caught.value) == message


def test_only_entries_are_called_from_python():
    with pytest.raises(TypeError) as caught:
        pl.jit.inline(undecorated)(empty(4))
    assert str(caught.value) == (
        "'undecorated' is a @pl.jit.inline function: JIT functions call it, "
        "Python calls @pl.jit and @pl.jit.host functions"
    )


def test_a_function_keeps_its_name_doc_and_attributes():
    kernel = pl.jit(undecorated)
    kernel.resident = "stacked"
    assert (kernel.__name__, kernel.__module__, kernel.resident) == ("undecorated", __name__, "stacked")
    assert repr(kernel) == "<pl.jit undecorated>"


def test_a_module_is_read_when_the_kernel_is_used(tmp_path, monkeypatch):
    (tmp_path / "lazily_read.py").write_text(
        """
import sys
import pypto_tmpl.language as pl

@pl.jit
def kernel(x: pl.Tensor):
    pl.slice(x, [ROWS, 8], [LATE, 0])
    helper(x)

@pl.jit.inline
def helper(x: pl.Tensor):
    pl.exp(x)

ROWS = int(sys.argv[1])
"""
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "argv", ["lazily_read.py", "3"])
    import lazily_read

    lazily_read.LATE = 2
    want = "pl.slice(x, [{}, 8], [2, 0])\nself.helper(x)\n"
    assert body_text(lazily_read.kernel, empty(4, 8)) == want.format(3)
    lazily_read.ROWS = 1
    assert body_text(lazily_read.kernel, empty(4, 8)) == want.format(1)


def test_a_kernel_made_in_a_function_sees_its_variables():
    def make(block):
        @pl.jit
        def kernel(x: pl.Tensor[[block, 8], pl.FP32]):
            pl.slice(x, [block // 2, 8], [0, 0])

        return kernel

    assert body_text(make(4)) == "pl.slice(x, [4 // 2, 8], [0, 0])\n"
    assert body_text(make(8)) == "pl.slice(x, [8 // 2, 8], [0, 0])\n"


def test_a_source_that_cannot_be_read():
    namespace = {"pl": pl}
    exec("@pl.jit\ndef kernel(x: pl.Tensor):\n    pl.exp(x)\n", namespace)
    with pytest.raises(OSError, match="cannot retrieve the source code of 'kernel'"):
        namespace["kernel"].specialize(empty(4))


def test_deferred_annotations(tmp_path, monkeypatch):
    (tmp_path / "deferred.py").write_text(
        """
from __future__ import annotations
import pypto_tmpl.language as pl

@pl.jit
def kernel(x: pl.Tensor[[ROWS, 8], pl.BF16], n: pl.Scalar[pl.INT32]):
    pl.add(x, n)

ROWS = 4
"""
    )
    monkeypatch.syspath_prepend(tmp_path)
    import deferred

    text = program_text(deferred.kernel)
    assert "def kernel(self, x: pl.Tensor[[4, 8], pl.BF16], n: pl.Scalar[pl.INT32]):" in text
