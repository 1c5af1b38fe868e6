"""How bodies are rewritten: constants, shapes, and the names that rebinding gives."""

# ruff: noqa: B007, C416

from dataclasses import dataclass

import torch
from jit_text import body_text, expected, program_text

import pypto_tmpl.language as pl

BLOCK, EPS, FLAG = 16, -1e-6, True
SIZES = [4, 8]
LAYERS = [("first", 2.0), ("second", 3.0)]
TABLE = {"wide": 128, "sizes": SIZES}
DTYPE = pl.BF16
OFF = None


@dataclass
class Config:
    tile: int = 32


CONFIG = Config()


def empty(*shape, dtype=torch.float32):
    return torch.empty(shape, dtype=dtype, device="meta")


def test_module_constants_are_written_out():
    @pl.jit
    def kernel(x: pl.Tensor):
        t = pl.slice(x, SIZES, [BLOCK * CONFIG.tile, SIZES[1]])
        pl.add(t, EPS)
        pl.cast(t, DTYPE)
        if FLAG:
            pl.full(SIZES, dtype=x.dtype, value=0.0)
        pl.mul(pl.recip(t), [BLOCK for BLOCK in SIZES])

    assert body_text(kernel, empty(64, 64)) == expected(
        """
        t = pl.slice(x, [4, 8], [16 * 32, 8])
        pl.add(t, -1e-06)
        pl.cast(t, pl.BF16)
        if True:
            pl.full([4, 8], dtype=pl.FP32, value=0.0)
        pl.mul(pl.recip(t), [BLOCK for BLOCK in [4, 8]])
        """
    )


def test_items_of_python_containers_are_written_out():
    @pl.jit
    def kernel(x: pl.Tensor):
        pl.mul(x, LAYERS[-1][1])
        pl.mul(x, TABLE["wide"])
        pl.slice(x, TABLE["sizes"], [x.shape[0] - SIZES[0], 0])

    assert body_text(kernel, empty(64, 8)) == expected(
        """
        pl.mul(x, 3.0)
        pl.mul(x, 128)
        pl.slice(x, [4, 8], [64 - 4, 0])
        """
    )


def test_shapes_are_written_out():
    @pl.jit
    def kernel(x: pl.Tensor):
        rows, cols = x.shape
        depth = x.shape[-1]
        pl.create_tensor(x.shape, dtype=x.dtype)
        for i in pl.range(rows // 4):
            t = x[i : i + 4, 0:cols]
            pl.read(t, [depth, t.shape[0]])

    assert body_text(kernel, empty(64, 8)) == expected(
        """
        pl.create_tensor([64, 8], dtype=pl.FP32)
        for i in pl.range(64 // 4):
            t = x[i:i + 4, 0:8]
            pl.read(t, [8, 4])
        """
    )


def test_scalars_with_a_value_are_baked_and_runtime_ones_are_not():
    @pl.jit
    def kernel(x: pl.Tensor, n: pl.Scalar[pl.INT32], k: pl.Scalar[pl.FP32], b: pl.Scalar[pl.BOOL] = False):
        pl.add(pl.mul(x, k), n)
        if b:
            pl.add(x, k)

    want = """
        pl.add(pl.mul(x, {k}), {n})
        if {b}:
            pl.add(x, {k})
        """
    baked = expected(want.format(k=2.0, n=-3, b=False))
    assert body_text(kernel, empty(4), -3, 2) == baked
    assert body_text(kernel, empty(4), pl.RUNTIME, pl.RUNTIME, pl.RUNTIME) == expected(
        want.format(k="k", n="n", b="b")
    )
    assert "n: pl.Scalar[pl.INT32], k: pl.Scalar[pl.FP32], b: pl.Scalar[pl.BOOL]" in program_text(
        kernel, empty(4), -3, 2
    )


def test_rebinding_at_one_depth_makes_new_names():
    @pl.jit
    def kernel(x: pl.Tensor):
        t = pl.add(x, 1.0)
        t = pl.mul(t, t)
        with pl.at(level=pl.Level.CORE_GROUP):
            t = pl.exp(t)
            t = pl.cast(t, pl.BF16)
        return t

    assert body_text(kernel, empty(4, 8)) == expected(
        """
        t = pl.add(x, 1.0)
        t_v1 = pl.mul(t, t)
        with pl.at(level=pl.Level.CORE_GROUP):
            t_v1 = pl.exp(t_v1)
            t_v2 = pl.cast(t_v1, pl.BF16)
        return t_v2
        """
    )


def test_a_parameter_keeps_its_name_unless_its_type_changes():
    @pl.jit
    def kernel(x: pl.Tensor, w: pl.Tensor):
        x = pl.add(x, 1.0)
        w = pl.cast(w, pl.FP32)
        return pl.mul(x, w)

    assert body_text(kernel, empty(4, 8), empty(4, 8, dtype=torch.bfloat16)) == expected(
        """
        x = pl.add(x, 1.0)
        w_v1 = pl.cast(w, pl.FP32)
        return pl.mul(x, w_v1)
        """
    )


def test_the_last_assignment_in_a_loop_writes_what_the_next_round_reads():
    @pl.jit
    def kernel(x: pl.Tensor):
        acc = pl.full([4, 8], dtype=pl.FP32, value=0.0)
        for i in pl.range(4):
            acc = pl.add(acc, x)
            acc = pl.cast(acc, pl.BF16)
            acc = pl.cast(acc, pl.FP32)
        return acc

    assert body_text(kernel, empty(4, 8)) == expected(
        """
        acc = pl.full([4, 8], dtype=pl.FP32, value=0.0)
        for i in pl.range(4):
            acc = pl.add(acc, x)
            acc_v1 = pl.cast(acc, pl.BF16)
            acc = pl.cast(acc_v1, pl.FP32)
        return acc
        """
    )


def test_names_that_loops_use_for_themselves_may_have_another_type_in_each():
    @pl.jit
    def kernel(x: pl.Tensor):
        for i in pl.range(4):
            t = pl.slice(x, [2, 8], [i, 0])
            pl.exp(t)
        for i in pl.range(4):
            t = pl.slice(x, [1, 8], [i, 0])
            pl.exp(t)

    assert body_text(kernel, empty(8, 8)) == expected(
        """
        for i in pl.range(4):
            t = pl.slice(x, [2, 8], [i, 0])
            pl.exp(t)
        for i in pl.range(4):
            t_v1 = pl.slice(x, [1, 8], [i, 0])
            pl.exp(t_v1)
        """
    )


def test_branches_leave_a_value_in_one_variable():
    @pl.jit
    def kernel(x: pl.Tensor, n: pl.Scalar[pl.INDEX]):
        if n > 0:
            t = pl.add(x, 1.0)
            t = pl.exp(t)
        else:
            t = pl.exp(x)
        return t

    assert body_text(kernel, empty(4, 8), pl.RUNTIME) == expected(
        """
        if n > 0:
            t_v1 = pl.add(x, 1.0)
            t = pl.exp(t_v1)
        else:
            t = pl.exp(x)
        return t
        """
    ).replace("t_v1", "t")


def test_a_jump_between_two_assignments_finds_the_name_as_it_stands():
    @pl.jit
    def kernel(x: pl.Tensor, n: pl.Scalar[pl.INDEX]):
        acc = pl.exp(x)
        for i in pl.range(4):
            acc = pl.add(acc, x)
            if i > n:
                break
            acc = pl.mul(acc, x)
        return acc

    assert "_v1" not in body_text(kernel, empty(4, 8), pl.RUNTIME)


def test_a_baked_scalar_that_a_loop_changes_becomes_a_variable_before_it():
    @pl.jit
    def kernel(x: pl.Tensor, n: pl.Scalar[pl.INDEX]):
        rows = x.shape[0]
        for i in pl.range(4):
            n = n + rows
            rows = rows - 1
        pl.add(x, n)

    assert body_text(kernel, empty(4, 8), 5) == expected(
        """
        n_v1 = 5
        rows = 4
        for i in pl.range(4):
            n_v1 = n_v1 + rows
            rows = rows - 1
        pl.add(x, n_v1)
        """
    )


def test_annotated_assignments_and_tasks():
    @pl.jit
    def kernel(x: pl.Tensor):
        d: pl.Scalar[pl.INT32] = BLOCK
        t: pl.Tensor[[BLOCK, 8], DTYPE] = pl.full([BLOCK, 8], dtype=DTYPE, value=0.0)
        with pl.spmd(4, name_hint="a") as task:
            pl.add(t, d)
        with pl.spmd(4, deps=[task]) as task:
            pl.add(t, d)
        return task

    assert body_text(kernel, empty(4, 8)) == expected(
        """
        d: pl.Scalar[pl.INT32] = 16
        t: pl.Tensor[[16, 8], pl.BF16] = pl.full([16, 8], dtype=pl.BF16, value=0.0)
        with pl.spmd(4, name_hint='a') as task:
            pl.add(t, d)
        with pl.spmd(4, deps=[task]) as task_v1:
            pl.add(t, d)
        return task_v1
        """
    )


def test_values_without_a_literal_stay_names():
    @pl.jit
    def kernel(x: pl.Tensor):
        pl.add(x, CONFIG)
        pl.add(x, max(BLOCK, 4))
        pl.add(x, undefined)  # noqa: F821

    text = body_text(kernel, empty(4, 8))
    assert text == expected(
        """
        pl.add(x, CONFIG)
        pl.add(x, max(16, 4))
        # noqa: F821
        pl.add(x, undefined)
        """
    )


def test_comments_stand_above_what_is_made_of_their_statements():
    @pl.jit
    def kernel(
        x: pl.Tensor,  # an input
        out: pl.Out[pl.Tensor],
    ):
        """What it does."""
        # the extents
        rows, cols = x.shape  # two of them
        # of "#16" rows
        for r in pl.range(0, rows, BLOCK):  # each block
            pl.static_assert(True, "# no comment")
            # doubled
            t = pl.add(
                x[r : r + BLOCK, :],  # the block
                x[r : r + BLOCK, :],
            )
            # the block ends
        # again
        t = pl.exp(x)
        if rows > 4:  # wide
            out[:, :] = t
        else:  # narrow
            # copied
            out[:, :] = x
        return out  # done
        # never

    assert body_text(kernel, empty(32, 8), empty(32, 8)) == expected(
        """
        \"\"\"What it does.\"\"\"
        # the extents
        # two of them
        # of "#16" rows
        # each block
        for r in pl.range(0, 32, 16):
            pl.static_assert(True, '# no comment')
            # doubled
            # the block
            t = pl.add(x[r:r + 16, :], x[r:r + 16, :])
        # again
        t_v1 = pl.exp(x)
        # wide
        if 32 > 4:
            out[:, :] = t_v1
        else:
            # narrow
            # copied
            out[:, :] = x
        # done
        return out
        """
    )
