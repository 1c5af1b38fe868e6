"""The program that an entry and its callees are turned into: expected texts are written by hand."""

# ruff: noqa: E501, F841

import os
import types

import pytest
import torch
from jit_text import expected, program_text

import pypto_tmpl.language as pl
import pypto_tmpl.language.distributed as pld

ROWS = pl.dynamic("ROWS")


def empty(*shape, dtype=torch.float32):
    return torch.empty(shape, dtype=dtype, device="meta")


@pl.jit
def copy(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    y = pl.assemble(y, x, [0, 0])
    return y


def test_shapes_and_dtypes_come_from_the_arguments():
    assert program_text(
        copy, empty(4, 8, dtype=torch.bfloat16), empty(16, 8, dtype=torch.bfloat16)
    ) == expected(
        """
        @pl.program
        class _jit_copy:
            @pl.function(type=pl.FunctionType.Orchestration)
            def copy(self, x: pl.Tensor[[4, 8], pl.BF16], y: pl.Out[pl.Tensor[[16, 8], pl.BF16]]) -> pl.Tensor[[16, 8], pl.BF16]:
                y = pl.assemble(y, x, [0, 0])
                return y
        """
    )


def test_without_tensors_they_come_from_the_annotations():
    @pl.jit(auto_scope=False)
    def scaled(
        x: pl.Tensor[[4, 8], pl.INT8, pl.NZ],
        n: pl.Scalar[pl.INT32],
        y: pl.InOut[pl.Tensor[[4, 8], pl.INT8]],
    ):
        pl.assemble(y, x, [n, 0])

    assert program_text(scaled) == expected(
        """
        @pl.program
        class _jit_scaled:
            @pl.function(type=pl.FunctionType.Orchestration, auto_scope=False)
            def scaled(self, x: pl.Tensor[[4, 8], pl.INT8, pl.TensorLayout.NZ], n: pl.Scalar[pl.INT32], y: pl.InOut[pl.Tensor[[4, 8], pl.INT8]]):
                pl.assemble(y, x, [n, 0])
        """
    )


def test_dimensions_are_dynamic_by_annotation_or_by_bind_dynamic():
    @pl.jit
    def dynamic(x: pl.Tensor[[ROWS, 8], pl.FP32], w: pl.Tensor, y: pl.Out[pl.Tensor]):
        COLS = pl.dynamic("COLS")
        w.bind_dynamic(1, COLS)
        rows, cols = x.shape[0], w.shape
        y = pl.assemble(y, x, [ROWS, COLS])
        return y

    assert program_text(dynamic, empty(4, 8), empty(2, 6), empty(4, 6)) == expected(
        """
        ROWS = pl.dynamic("ROWS")
        COLS = pl.dynamic("COLS")

        @pl.program
        class _jit_dynamic:
            @pl.function(type=pl.FunctionType.Orchestration)
            def dynamic(self, x: pl.Tensor[[ROWS, 8], pl.FP32], w: pl.Tensor[[2, COLS], pl.FP32], y: pl.Out[pl.Tensor[[4, 6], pl.FP32]]) -> pl.Tensor[[4, 6], pl.FP32]:
                rows, cols = (pl.tensor.dim(x, 0), [2, pl.tensor.dim(w, 1)])
                y = pl.assemble(y, x, [pl.tensor.dim(x, 0), pl.tensor.dim(w, 1)])
                return y
        """
    )


def test_callees_stand_before_their_callers_and_take_keywords_by_position():
    @pl.jit.incore
    def add(a: pl.Tensor, b: pl.Tensor, o: pl.Out[pl.Tensor]):
        o = pl.store(pl.add(pl.load(a, [0, 0], [4, 8]), pl.load(b, [0, 0], [4, 8])), [0, 0], o)
        return o

    @pl.jit.opaque
    def twice(a: pl.Tensor, o: pl.Out[pl.Tensor]):
        o = add(a, o=o, b=a)
        return o

    @pl.jit
    def entry(x: pl.Tensor, y: pl.Out[pl.Tensor]):
        half = pl.create_tensor([4, 8], dtype=pl.FP32)
        half = twice(x, half)
        y = add(half, x, y)
        y, task = pl.submit(add, half, o=y, b=x, deps=[])
        return y

    assert program_text(entry, empty(4, 8), empty(4, 8)) == expected(
        """
        @pl.program
        class _jit_entry:
            @pl.function(type=pl.FunctionType.InCore)
            def add(self, a: pl.Tensor[[4, 8], pl.FP32], b: pl.Tensor[[4, 8], pl.FP32], o: pl.Out[pl.Tensor[[4, 8], pl.FP32]]) -> pl.Tensor[[4, 8], pl.FP32]:
                o = pl.store(pl.add(pl.load(a, [0, 0], [4, 8]), pl.load(b, [0, 0], [4, 8])), [0, 0], o)
                return o
            @pl.function(type=pl.FunctionType.Opaque)
            def twice(self, a: pl.Tensor[[4, 8], pl.FP32], o: pl.Out[pl.Tensor[[4, 8], pl.FP32]]) -> pl.Tensor[[4, 8], pl.FP32]:
                o = self.add(a, a, o)
                return o
            @pl.function(type=pl.FunctionType.Orchestration)
            def entry(self, x: pl.Tensor[[4, 8], pl.FP32], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]) -> pl.Tensor[[4, 8], pl.FP32]:
                half = pl.create_tensor([4, 8], dtype=pl.FP32)
                half_v1 = self.twice(x, half)
                y = self.add(half_v1, x, y)
                y_v1, task = pl.submit(self.add, half_v1, x, y, deps=[])
                return y_v1
        """
    )


def test_a_callee_is_specialised_for_each_combination_of_shapes():
    @pl.jit.inline
    def square(x: pl.Tensor):
        return pl.mul(x, x)

    @pl.jit
    def entry(a: pl.Tensor, b: pl.Tensor, c: pl.Tensor):
        square(a)
        square(b)
        square(c)

    assert program_text(entry, empty(4, 8), empty(2, 8), empty(4, 8)) == expected(
        """
        @pl.program
        class _jit_entry:
            @pl.function(type=pl.FunctionType.Inline)
            def square(self, x: pl.Tensor[[4, 8], pl.FP32]) -> pl.Tensor[[4, 8], pl.FP32]:
                return pl.mul(x, x)
            @pl.function(type=pl.FunctionType.Inline)
            def square_1(self, x: pl.Tensor[[2, 8], pl.FP32]) -> pl.Tensor[[2, 8], pl.FP32]:
                return pl.mul(x, x)
            @pl.function(type=pl.FunctionType.Orchestration)
            def entry(self, a: pl.Tensor[[4, 8], pl.FP32], b: pl.Tensor[[2, 8], pl.FP32], c: pl.Tensor[[4, 8], pl.FP32]):
                self.square(a)
                self.square_1(b)
                self.square(c)
        """
    )


def test_functions_of_another_module_keep_its_names():
    other = types.ModuleType("other")
    other.pl, other.BLOCK = pl, 4
    source = """
@pl.jit.inline
def helper(x: pl.Tensor):
    return pl.slice(x, [BLOCK, 8], [0, 0])

@pl.jit.inline
def scale(x: pl.Tensor):
    return pl.mul(helper(x), BLOCK / 8)
"""
    import linecache

    linecache.cache["<other>"] = (len(source), None, source.splitlines(True), "<other>")
    exec(compile(source, "<other>", "exec"), other.__dict__)
    BLOCK = 16

    @pl.jit
    def entry(x: pl.Tensor):
        other.scale(x)
        return pl.slice(x, [BLOCK, 8], [0, 0])

    assert program_text(entry, empty(32, 8)) == expected(
        """
        @pl.program
        class _jit_entry:
            @pl.function(type=pl.FunctionType.Inline)
            def helper(self, x: pl.Tensor[[32, 8], pl.FP32]) -> pl.Tensor[[4, 8], pl.FP32]:
                return pl.slice(x, [4, 8], [0, 0])
            @pl.function(type=pl.FunctionType.Inline)
            def scale(self, x: pl.Tensor[[32, 8], pl.FP32]) -> pl.Tensor[[4, 8], pl.FP32]:
                return pl.mul(self.helper(x), 4 / 8)
            @pl.function(type=pl.FunctionType.Orchestration)
            def entry(self, x: pl.Tensor[[32, 8], pl.FP32]) -> pl.Tensor[[16, 8], pl.FP32]:
                self.scale(x)
                return pl.slice(x, [16, 8], [0, 0])
        """
    )


def test_dynamic_dimensions_of_a_callee_are_those_of_its_arguments_in_the_result():
    @pl.jit.incore
    def halves(x: pl.Tensor[[ROWS, 8], pl.FP32], o: pl.Out[pl.Tensor[[ROWS, 4], pl.FP32]]):
        o = pl.store(pl.load(x, [0, 0], [2, 4]), [0, 0], o)
        return o

    @pl.jit.inline
    def same(x: pl.Tensor):
        return x

    @pl.jit
    def entry(x: pl.Tensor, o: pl.Out[pl.Tensor]):
        same(halves(x, o))

    text = program_text(entry, empty(6, 8), empty(6, 4))
    assert "def same(self, x: pl.Tensor[[6, 4], pl.FP32]) -> pl.Tensor[[6, 4], pl.FP32]:" in text


def test_a_host_entry_calls_entries_on_devices():
    @pl.jit
    def chip(x: pl.Tensor, y: pl.Out[pl.Tensor]):
        y = pl.assemble(y, x, [0, 0])
        return y

    @pl.jit.host
    def host(x: pld.DistributedTensor[[4, 8], pl.FP32], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
        for rank in pl.range(pld.world_size()):
            chip(x, y, device=rank)

    text = program_text(host)
    assert "    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)\n    def host(" in text
    assert "x: pld.DistributedTensor[[4, 8], pl.FP32]" in text
    assert "            self.chip(x, y, device=rank)\n" in text


def test_directions_of_an_inline_function_are_left_out_with_a_warning():
    @pl.jit.inline
    def helper(x: pl.Tensor, o: pl.Out[pl.Tensor]):
        return pl.assemble(o, x, [0, 0])

    @pl.jit
    def entry(x: pl.Tensor, o: pl.Out[pl.Tensor]):
        o = helper(x, o)
        return o

    with pytest.warns(DeprecationWarning, match="parameter 'o' of 'helper' is pl.Out, which has no meaning"):
        text = program_text(entry, empty(4, 8), empty(4, 8))
    assert "def helper(self, x: pl.Tensor[[4, 8], pl.FP32], o: pl.Tensor[[4, 8], pl.FP32])" in text


@pytest.mark.parametrize("core", ["aiv", "aic"])
def test_an_external_kernel(tmp_path, core):
    source = tmp_path / "kernel.cpp"
    source.write_text("")

    @pl.jit.extern(core_type=core, source=source, include_dirs=["inc", "/more"])
    def theirs(x: pl.Tensor, y: pl.Out[pl.Tensor]): ...

    @pl.jit
    def entry(x: pl.Tensor, y: pl.Out[pl.Tensor]):
        y = theirs(x, y)
        return y

    assert program_text(entry, empty(4), empty(4)).split("    @pl.function(type=pl.FunctionType.O")[
        0
    ] == expected(
        f"""
        @pl.program
        class _jit_entry:
            @pl.function(type=pl.FunctionType.{core.upper()}, external_source='{source}')
            def theirs(self, x: pl.Tensor[[4], pl.FP32], y: pl.Out[pl.Tensor[[4], pl.FP32]]) -> pl.Tensor[[4], pl.FP32]:
                pl.func_attr({{'external_include_dirs': 'inc{os.pathsep}/more'}})
                ...
        """
    )


def test_an_external_kernel_of_both_cores_is_a_group(tmp_path):
    for name in ("cube.cpp", "vector.cpp"):
        (tmp_path / name).write_text("")

    @pl.jit.extern(
        core_type="mixed",
        aic_source=tmp_path / "cube.cpp",
        aiv_source=tmp_path / "vector.cpp",
        dual_aiv_dispatch=True,
    )
    def theirs(x: pl.Tensor, y: pl.Out[pl.Tensor]): ...

    @pl.jit
    def entry(x: pl.Tensor, y: pl.Out[pl.Tensor]):
        theirs(x, y)

    text = program_text(entry, empty(4), empty(4))
    assert f"type=pl.FunctionType.AIC, external_source='{tmp_path / 'cube.cpp'}'" in text
    assert "        pl.func_attr({'dual_aiv_dispatch': True})\n" in text
    assert "        self.theirs_aic(x, y)\n        self.theirs_aiv(x, y)\n" in text
