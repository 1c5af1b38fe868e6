"""Compiled programs of several ranks: called once, from their directory, and prepared for many calls."""

from __future__ import annotations

import ctypes
import threading
from pathlib import Path

import pytest
import torch
from ranks.ranked import call, script, single_kernel
from ranks.test_kernels import HANDSHAKE, mesh_sum

from pypto_tmpl import ir, runtime
from pypto_tmpl.compile.distributed import DistributedCompiledProgram
from pypto_tmpl.runtime import DistributedConfig, DistributedWorker, RunConfig, execute_distributed_compiled
from pypto_tmpl.runtime.refusals import RefusedError

TWO = DistributedConfig(device_ids=[0, 1])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYPTO_PROG_BUILD_DIR", raising=False)


def compiled_sum(devices: DistributedConfig | None = TWO) -> DistributedCompiledProgram:
    found = ir.compile(mesh_sum(2), distributed_config=devices, skip_ptoas=True)
    assert isinstance(found, DistributedCompiledProgram)
    return found


def compiled_handshake() -> DistributedCompiledProgram:
    node = single_kernel(
        2,
        {"sig": (1, 1)},
        HANDSHAKE,
        inputs={"wanted": (1, 8)},
        outputs={"y": (1, 8)},
        dtypes={"sig": "INT32", "wanted": "INT32", "y": "INT32"},
    )
    found = ir.compile(node, distributed_config=TWO, skip_ptoas=True)
    assert isinstance(found, DistributedCompiledProgram)
    return found


def rows() -> torch.Tensor:
    return torch.arange(128.0).reshape(2, 1, 64)


def expected(x: torch.Tensor) -> torch.Tensor:
    return x.sum(0, keepdim=True).expand(2, 1, 64)


def shared(tensor: torch.Tensor) -> torch.Tensor:
    made = tensor.contiguous()
    made.share_memory_()  # type: ignore[no-untyped-call]
    return made


def test_a_program_is_called_once_in_place_or_for_its_outputs() -> None:
    compiled = compiled_sum()
    assert compiled.device_ids == (0, 1)
    y = torch.zeros(2, 1, 64)
    assert compiled(rows(), y) is None
    assert torch.equal(y, expected(rows()))
    assert torch.equal(compiled(rows()), expected(rows()))
    again = compiled(rows(), config=RunConfig(distributed_config=DistributedConfig(device_ids=[7, 2])))
    assert torch.equal(again, expected(rows()))


def test_a_build_is_run_from_its_directory() -> None:
    directory = compiled_sum().output_dir
    assert torch.equal(execute_distributed_compiled(directory, [rows()]), expected(rows()))
    one = DistributedConfig(device_ids=[4])
    with pytest.raises(IndexError, match="peer 1 is none of the 1 ranks"):
        execute_distributed_compiled(directory, [rows()], distributed_config=one)


def test_numbers_are_no_arguments_of_one_call() -> None:
    with pytest.raises(TypeError) as caught:
        compiled_sum()(3, torch.zeros(2, 1, 64))
    assert str(caught.value) == (
        "One-shot distributed programs only support host torch.Tensor parameters. Parameter 'x' got int"
    )
    with pytest.raises(TypeError, match=r"expects 2 \(in-place\) or 1 \(return\) arguments, got 3"):
        compiled_sum()(rows(), rows(), rows())


def test_a_worker_runs_many_calls_in_order() -> None:
    compiled = compiled_sum()
    x, ys = shared(rows()), [shared(torch.zeros(2, 1, 64)) for _ in range(4)]
    with compiled.prepare() as rt:
        handles = [rt.submit(compiled, x, y) for y in ys]
        for handle in handles:
            handle.result(timeout=600)
        assert all(handle.done for handle in handles)
        handles[0].wait()
        rt(x, ys[0])
        rt.register(compiled)(x, ys[1])
    assert all(torch.equal(y, expected(x)) for y in ys)
    with pytest.raises(RuntimeError, match="is closed"):
        rt(x, ys[0])


@pytest.mark.filterwarnings("ignore:signals are left over:RuntimeWarning")
def test_persistent_windows_are_zeroed_unless_they_are_to_stay() -> None:
    compiled = compiled_handshake()
    y = shared(torch.zeros(2, 1, 8, dtype=torch.int32))
    with compiled.prepare(persistent=True) as rt:
        for _ in range(3):
            rt(shared(torch.ones(2, 1, 8, dtype=torch.int32)), y)
            assert y[:, 0, 0].tolist() == [2, 1]
    with compiled.prepare(persistent=True, reset_persistent_windows=False) as rt:
        for k, counts in ((1, [2, 1]), (2, [4, 2]), (3, [6, 3])):
            wanted = torch.tensor([k * 2, k], dtype=torch.int32)[:, None, None].expand(2, 1, 8)
            rt(shared(wanted), y)
            assert y[:, 0, 0].tolist() == counts


def test_an_error_of_a_run_is_raised_by_each_question_for_its_result() -> None:
    compiled = compiled_sum(DistributedConfig(device_ids=[0]))
    with DistributedWorker(compiled) as rt:
        handle = rt.submit(compiled, shared(rows()), shared(rows()))
        for _ in range(2):
            with pytest.raises(IndexError, match="^rank 0: "):
                handle.result()


def test_a_result_that_is_not_there_in_time() -> None:
    compiled = compiled_sum()
    with compiled.prepare() as rt:
        gate, at_once = threading.Event(), 0.01
        rt._runner.submit(gate.wait)
        handle = rt.submit(compiled, shared(rows()), shared(rows()))
        with pytest.raises(TimeoutError, match=r"^DistributedRunHandle.result\(\) timed out$"):
            handle.result(timeout=at_once)
        assert not handle.done
        gate.set()
        handle.result()


def test_tensors_stay_on_ranks_between_calls() -> None:
    compiled = compiled_sum()
    with compiled.prepare() as rt:
        x = rt.alloc_stacked_tensor(rows())
        y = rt.alloc_stacked_tensor(torch.zeros(2, 1, 64), worker_ids=[1, 0])
        rt(x, y)
        found = torch.zeros(2, 1, 64)
        rt.copy_stacked_from(y, found)
        assert torch.equal(found, expected(rows()))
        whole = rt.alloc_tensor([2, 1, 64], torch.float32, init=rows(), worker_id=1)
        result = rt.alloc_tensor([2, 1, 64], torch.float32)
        rt(whole, result)
        rt.copy_from(found.zero_().data_ptr(), result.data_ptr, result.nbytes)
        assert torch.equal(found, expected(rows()))
        rt.free_stacked_tensor(x)
        rt.free_tensor(whole)
        with pytest.raises(ValueError, match="this worker has none there"):
            rt(whole, result)
        with pytest.raises(ValueError, match="worker_id 2 is no rank, of 2 ranks"):
            rt.alloc_tensor([4], torch.float32, worker_id=2)
        with pytest.raises(ValueError, match="worker_ids must be 2 distinct ranks"):
            rt.alloc_stacked_tensor(rows(), worker_ids=[0, 0])
        with pytest.raises(ValueError, match="8 bytes at address"):
            rt.copy_to(rt.malloc(4), ctypes.addressof(ctypes.c_int64(1)), 8)


def test_what_a_worker_does_not_take() -> None:
    compiled, other = compiled_sum(), compiled_handshake()
    with pytest.raises(ValueError, match="reset_persistent_windows=True requires persistent=True"):
        compiled.prepare(reset_persistent_windows=True)
    with pytest.raises(ValueError, match=r"callbacks names \['f'\] are not sub-workers of this program"):
        compiled.prepare(callbacks={"f": print})
    with pytest.raises(ValueError, match="requires the same platform / device_ids / runtime"):
        compiled.prepare(extra_compiled=[compiled_sum(DistributedConfig(device_ids=[0, 2]))])
    with pytest.raises(
        TypeError, match="takes DistributedCompiledPrograms, got DistributedCompiledProgram, int"
    ):
        DistributedWorker([compiled, 1])
    with pytest.raises(RefusedError, match="config asks for stage"):
        compiled.prepare(RunConfig(stage="frontend"))
    with compiled.prepare() as rt:
        with pytest.raises(ValueError, match="registered when this worker was constructed"):
            rt.submit(other, rows(), rows())
        with pytest.raises(TypeError, match=r"expects 2 arguments \(in-place, one per parameter\), got 1"):
            rt(shared(rows()))
        with pytest.raises(TypeError, match=r"must be shared memory allocated BEFORE prepare\(\)"):
            rt(rows(), shared(rows()))
    with compiled.prepare(extra_compiled=[other]) as rt:
        with pytest.raises(TypeError, match="ambiguous on a multi-program DistributedWorker"):
            rt(shared(rows()), shared(rows()))
        y = shared(torch.zeros(2, 1, 64))
        rt.run(compiled, shared(rows()), y)
        assert torch.equal(y, expected(rows()))


def test_a_script_and_a_worker_agree() -> None:
    x, y, z = shared(torch.randn(2, 1, 64)), shared(torch.zeros(2, 1, 64)), torch.zeros(2, 1, 64)
    call(script(mesh_sum(2)), 2, x, z)
    with runtime.DistributedWorker(compiled_sum()) as rt:
        rt(x, y)
    assert torch.equal(y, z)
