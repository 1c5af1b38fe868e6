"""Calling kernels: values against torch, how outputs come back, and what is made only once."""

# ruff: noqa: E501

import linecache
import re

import pytest
import torch
from corpus_check import tolerance

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.ir.pass_manager import PassManager
from pypto_tmpl.passes import VerificationError
from pypto_tmpl.runtime import DistributedConfig, HardwareNeededError, MultiCardError, RunConfig

AS_WRITTEN = RunConfig(stage="frontend")
N = pl.dynamic("N")


@pl.jit.inline
def softmax(x: pl.Tensor):
    shifted = pl.row_expand_sub(x, pl.row_max(x))
    e = pl.exp(shifted)
    return pl.row_expand_div(e, pl.row_sum(e))


@pl.jit
def rows_softmax(
    x: pl.Tensor[[N, 64], pl.FP32], k: pl.Scalar[pl.FP32], y: pl.Out[pl.Tensor[[N, 64], pl.FP32]]
):
    for r in pl.parallel(0, x.shape[0], 16):
        with pl.at(level=pl.Level.CORE_GROUP):
            t = pl.mul(x[r : r + 16, :], k)
            y[r : r + 16, :] = softmax(t)
    return y


@pl.jit.incore
def add_tiles(a: pl.Tensor, b: pl.Tensor, o: pl.Out[pl.Tensor]):
    rows, cols = a.shape
    t = pl.add(pl.load(a, [0, 0], [rows, cols]), pl.load(b, [0, 0], [rows, cols]))
    o = pl.store(t, [0, 0], o)
    return o


@pl.jit
def twice_and_back(x: pl.Tensor[[8, 16], pl.FP32], y: pl.Out[pl.Tensor[[8, 16], pl.FP32]]):
    half = pl.create_tensor([8, 16], dtype=pl.FP32)
    half = add_tiles(x, x, half)
    y = add_tiles(half, x, y)
    return y


@pl.jit
def accumulate(x: pl.Tensor[[8, 16], pl.FP32], acc: pl.InOut[pl.Tensor[[8, 16], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        acc = pl.assemble(acc, pl.add(acc, x), [0, 0])
    return acc


@pl.jit.inline
def halves_swapped(x: pl.Tensor):
    return pl.concat(x[:, 8:16], x[:, 0:8])


@pl.jit
def swap_in_every_head(x: pl.Tensor[[4, 48], pl.FP32], y: pl.Out[pl.Tensor[[4, 48], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        for h in pl.range(3):
            y[:, h * 16 : h * 16 + 16] = halves_swapped(x[:, h * 16 : (h + 1) * 16])
    return y


@pl.jit.inline
def first_rows(rows: pl.Tensor, start: pl.Scalar[pl.INDEX]):
    return pl.mul(rows[start : start + 4, :], 2.0)


@pl.jit
def rows_of_a_cache(cache: pl.Tensor[[N, 4, 16], pl.FP32], y: pl.Out[pl.Tensor[[4, 16], pl.FP32]]):
    rows = pl.reshape(cache, [pl.tensor.dim(cache, 0) * 4, 16])
    with pl.at(level=pl.Level.CORE_GROUP):
        y[:, :] = first_rows(rows, 6)
    return y


@pl.jit.inline
def doubled(x: pl.Tensor, out: pl.Tensor):
    for r in pl.range(0, pl.tensor.dim(x, 0), 2):
        with pl.at(level=pl.Level.CORE_GROUP):
            out[r : r + 2, :] = pl.add(x[r : r + 2, :], x[r : r + 2, :])
    return out


@pl.jit.inline
def doubled_twice(x: pl.Tensor, out: pl.Tensor):
    rows = pl.tensor.dim(x, 0)
    once = pl.create_tensor([rows, 16], dtype=pl.FP32)
    once = doubled(x, once)
    out = doubled(once, out)
    return out


@pl.jit
def fourfold(x: pl.Tensor[[N, 16], pl.FP32], y: pl.Out[pl.Tensor[[N, 16], pl.FP32]]):
    y = doubled_twice(x, y)
    return y


@pl.jit.inline
def negated(x: pl.Tensor):
    return pl.neg(x)


@pl.jit
def rows_by_their_number(x: pl.Tensor[[4, 16], pl.FP32], y: pl.Out[pl.Tensor[[4, 16], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        total = pl.full([1, 16], dtype=pl.FP32, value=0.0)
        for r, (sum_,) in pl.range(4, init_values=(total,)):
            scaled = pl.mul(x[r : r + 1, :], pl.cast(r + 1, pl.FP32))
            y[r : r + 1, :] = negated(pl.add(scaled, sum_))
            sum_ = pl.yield_(pl.add(sum_, scaled))
    return y


@pl.jit
def totals_over_blocks(x: pl.Tensor[[2, 16], pl.FP32], y: pl.Out[pl.Tensor[[2, 16], pl.FP32]]):
    part = pl.create_tensor([2, 16], dtype=pl.FP32)
    with pl.spmd(2, sync_start=True):
        i = pl.tile.get_block_idx()
        part[i : i + 1, :] = x[i : i + 1, :]
        pl.system.syncall(core_type="mix")
        y[i : i + 1, :] = pl.add(part[0:1, :], part[1:2, :])
    return y


def test_a_barrier_inside_a_launch_warns_that_the_blocks_do_not_wait():
    with pytest.warns(RuntimeWarning, match="a barrier of 2 blocks that run one after another"):
        totals_over_blocks(torch.ones(2, 16), torch.empty(2, 16), config=AS_WRITTEN)


def test_a_launch_of_fewer_blocks_than_cores_that_wait_for_all_is_refused():
    """A hard barrier waits for every core of the chip, and two blocks do not reach them."""
    with pytest.raises(VerificationError, match="has 2 blocks for 48 cores of the 910B") as caught:
        totals_over_blocks(torch.ones(2, 16), torch.empty(2, 16))
    assert caught.value.__notes__[-1].startswith("to run it as it is written, without passes: stage=")


@pl.jit
def softmax_of_some(x: pl.Tensor[[8, 16], pl.FP32], y: pl.Out[pl.Tensor[[8, 16], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        t = pl.slice(x, [8, 16], [0, 0], valid_shape=[5, 16])
        y = pl.assemble(y, softmax(t), [0, 0])
    return y


def test_a_helper_that_loses_a_valid_region_is_warned_of():
    with pytest.warns(UserWarning) as told:
        softmax_of_some.specialize(torch.ones(8, 16), torch.empty(8, 16))
    (warning,) = told
    assert "softmax(t)" in linecache.getline(__file__, warning.lineno) and warning.filename == __file__
    assert str(warning.message) == (
        "'t' is valid in part, and the parameter 'x' of 'softmax' takes all of it for valid: its padding is"
        " computed and stored too"
    )


def test_a_helper_that_gets_whole_tensors_is_not_warned_of(recwarn):
    rows_softmax.specialize(torch.ones(32, 64), 2.0, torch.empty(32, 64))
    assert not recwarn.list


def test_loop_variables_and_carried_values_have_types_for_helpers():
    x, y = torch.randn(4, 16), torch.empty(4, 16)
    rows_by_their_number(x, y)
    expected = -(x * torch.tensor([[1.0], [2.0], [3.0], [4.0]])).cumsum(0)
    torch.testing.assert_close(y, expected)


def test_a_slice_whose_bounds_differ_by_a_constant_has_that_extent():
    x, y = torch.randn(4, 48), torch.empty(4, 48)
    swap_in_every_head(x, y)
    assert torch.equal(y, x.reshape(4, 3, 2, 8).flip(2).reshape(4, 48))


def test_an_inline_function_takes_a_tensor_of_computed_extents():
    cache, y = torch.randn(3, 4, 16), torch.empty(4, 16)
    rows_of_a_cache(cache, y, config=AS_WRITTEN)  # no pass gives a kernel the value of the extent N * 4
    assert torch.equal(y, cache.reshape(12, 16)[6:10] * 2)


def test_a_scratch_tensor_of_an_extent_read_into_a_variable_fits_where_the_dimension_is_meant():
    x, y = torch.randn(6, 16), torch.empty(6, 16)
    fourfold(x, y)
    assert torch.equal(y, x * 4)


def test_values_of_several_sizes_by_one_specialisation():
    made = set()
    for rows, factor in ((16, 0.5), (64, 0.5), (32, 0.5)):
        x, y = torch.randn(rows, 64), torch.full((rows, 64), 9.0)
        assert rows_softmax(x, factor, y) is None
        torch.testing.assert_close(y, torch.softmax(x * factor, dim=-1))
        made.add(id(rows_softmax.specialisation(x, factor, y)))
    assert len(made) == 1
    assert rows_softmax.specialisation(x, 2.0, y) is not rows_softmax.specialisation(x, 0.5, y)
    assert rows_softmax.specialisation(x, pl.RUNTIME, y).text.text.count("3.0") == 0


def test_kernels_that_call_kernels():
    x, y = torch.randn(8, 16), torch.zeros(8, 16)
    twice_and_back(x, y)
    torch.testing.assert_close(y, 3 * x)


def test_a_while_loop_reads_its_condition_in_every_round():
    @pl.jit
    def count(n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[2], pl.INT64]]):
        left = n
        rounds = 0
        while left > 0:
            if left > 5:
                left = left - 1
                left = left - 2
            else:
                left = left - 1
            rounds = rounds + 1
        pl.write(out, [0], pl.cast(rounds, pl.INT64))
        pl.write(out, [1], pl.cast(left, pl.INT64))

    out = torch.zeros(2, dtype=torch.int64)
    count(12, out)
    assert out.tolist() == [6, 0]  # 12, 9, 6, 3, 2, 1


def test_outputs_that_are_left_out_are_returned():
    x = torch.randn(8, 16)
    torch.testing.assert_close(twice_and_back(x), 3 * x)
    with pytest.raises(ValueError, match="output 'y' contains dynamic dimensions"):
        rows_softmax(torch.randn(16, 64), 1.0)


def test_a_tensor_that_is_read_and_written():
    x, acc = torch.randn(8, 16), torch.ones(8, 16)
    accumulate(x, acc)
    accumulate(x, acc=acc)
    torch.testing.assert_close(acc, 1 + x + x)


def test_an_output_that_is_also_an_input_is_written_as_if_it_were_not():
    x = torch.randn(8, 16)
    want = 3 * x
    twice_and_back(x, x)
    torch.testing.assert_close(x, want)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([torch.zeros(8, 32)[:, ::2], torch.zeros(8, 16)], "tensor 'x' is not contiguous"),
        ([torch.zeros(8, 16), torch.zeros(8, 15)], "argument 'y' has the shape [8, 15], it is declared as [8, 16]"),
    ],
)  # fmt: skip
def test_tensors_that_are_refused(args, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        twice_and_back(*args)


def test_dimensions_of_one_name_that_differ_are_one_warning():
    """Device tests pass such tensors: the call goes on."""
    with pytest.warns(UserWarning, match="dimension N is 16 in 'x', and 32 in 'y'") as found:
        rows_softmax(torch.randn(16, 64), 1.0, torch.zeros(32, 64))
    assert len(found) == 1 and found[0].filename == __file__


def test_a_device_is_refused():
    with pytest.raises(HardwareNeededError, match="platform 'a2a3' needs a real Ascend NPU"):
        twice_and_back(torch.randn(8, 16), config=RunConfig(platform="a2a3"))
    with pytest.raises(TypeError, match="config is a RunConfig, got dict"):
        twice_and_back(torch.randn(8, 16), config={})


def test_several_cards_are_refused():
    config = RunConfig(distributed_config=DistributedConfig(device_ids=[0, 1]))
    with pytest.raises(MultiCardError):
        twice_and_back(torch.randn(8, 16), config=config)


def test_diagnostic_flags_write_their_records(tmp_path):
    config = RunConfig(save_kernels_dir=str(tmp_path / "kept"), enable_chip_swimlane=True)
    twice_and_back(torch.randn(8, 16), config=config)
    assert (tmp_path / "kept/dfx_outputs/chip_swimlane_records.json").is_file()


def test_lower_and_specialize_give_programs():
    program = rows_softmax.specialize()
    assert (type(program), program.name) == (ir.Program, "_jit_rows_softmax")
    lowered = rows_softmax.lower()
    kinds = {function.func_type.name for function in lowered.functions.values()}
    assert kinds == {"Orchestration", "AIV"}
    assert ir.structural_equal(PassManager.get_strategy().run_passes(program), lowered)


def test_compile_gives_a_program_that_is_called(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYPTO_PROG_BUILD_DIR", raising=False)
    compiled = rows_softmax.compile(
        torch.empty(16, 64, device="meta"), pl.RUNTIME, config=RunConfig(dump_passes=True)
    )
    assert compiled.output_dir.parent == tmp_path / "build_output"
    assert (compiled.output_dir / "passes_dump/00_frontend.py").is_file()
    assert (compiled.param_names, compiled.output_indices) == (["x", "k", "y"], [2])
    x, y = torch.randn(48, 64), torch.zeros(48, 64)
    assert compiled(x, 3.0, y) is None
    torch.testing.assert_close(y, torch.softmax(3 * x, dim=-1))


def test_a_run_that_keeps_its_build(tmp_path):
    x, y = torch.randn(8, 16), torch.zeros(8, 16)
    twice_and_back(x, y, config=RunConfig(save_kernels_dir=str(tmp_path / "kept")))
    torch.testing.assert_close(y, 3 * x)
    assert (tmp_path / "kept/torch/twice_and_back.py").is_file()


def test_an_external_kernel_is_refused_when_it_is_called(tmp_path):
    (tmp_path / "kernel.cpp").write_text("")

    @pl.jit.extern(source=tmp_path / "kernel.cpp")
    def theirs(x: pl.Tensor, y: pl.Out[pl.Tensor]): ...

    @pl.jit
    def entry(x: pl.Tensor, y: pl.Out[pl.Tensor]):
        y = theirs(x, y)
        return y

    assert isinstance(entry.specialize(torch.zeros(4, 8), torch.zeros(4, 8)), ir.Program)
    with pytest.raises(ValueError, match="external kernel source .function .theirs."):
        entry(torch.zeros(4, 8), torch.zeros(4, 8))


@pytest.mark.corpus
def test_the_corpus_kernel_gives_upstreams_program_and_its_goldens_values():
    from pathlib import Path

    from pypto_tmpl.compat import script_result

    corpus = Path(__file__).resolve().parents[2] / "corpus"
    _, names = script_result(corpus / "programs/jit_gelu_spmd.py")
    tensors = names["make_inputs"]()
    program = names["gelu"].specialize(*tensors.values())
    dump = corpus / "dumps/jit_gelu_spmd/Ascend910B/00_frontend.msgpack"
    theirs = ir.deserialize_from_file(str(dump))
    assert ir.structural_equal(program, theirs), ir.structural_report(program, theirs)
    want = {name: tensor.clone() for name, tensor in tensors.items()}
    names["golden"](want)
    names["gelu"](*tensors.values())
    torch.testing.assert_close(tensors["y"], want["y"], **tolerance(torch.float32))
