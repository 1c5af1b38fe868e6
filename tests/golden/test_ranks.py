"""Programs of several ranks under the harness: devices by number, wrong ranks by name, errors by rank."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import pypto_tmpl.language as pl
import pypto_tmpl.language.distributed as pld
from pypto_tmpl.compare.by_rank import ranks_line, wrong_by_rank
from pypto_tmpl.compare.tolerance import Tolerance
from pypto_tmpl.golden import RunResult, TensorSpec, run, run_jit
from pypto_tmpl.golden.ranks import marked_devices
from pypto_tmpl.ir import compile
from pypto_tmpl.runtime import DistributedConfig


@pl.jit.incore
def swap(
    x: pl.Tensor[[1, 16], pl.FP32],
    y: pl.Out[pl.Tensor[[1, 16], pl.FP32]],
    data: pl.InOut[pld.DistributedTensor[[1, 16], pl.FP32]],
    sig: pl.InOut[pld.DistributedTensor[[1, 1], pl.INT32]],
):
    me = pld.rank(pld.get_comm_ctx(sig))
    pld.tile.remote_store(pl.load(x, [0, 0], [1, 16]), data, peer=1 - me, offsets=[0, 0])
    pld.system.notify(sig, peer=1 - me, offsets=[0, 0], value=1, op=pld.NotifyOp.AtomicAdd)
    pld.system.wait(sig, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)
    y = pl.store(pl.load(data, [0, 0], [1, 16]), [0, 0], y)
    return y


@pl.jit
def chip(
    x: pl.Tensor[[1, 16], pl.FP32],
    y: pl.Out[pl.Tensor[[1, 16], pl.FP32]],
    data: pld.DistributedTensor[[1, 16], pl.FP32],
    sig: pld.DistributedTensor[[1, 1], pl.INT32],
):
    y = swap(x, y, data, sig)
    return y


@pl.jit.host
def drive(x: pl.Tensor[[2, 1, 16], pl.FP32], y: pl.Out[pl.Tensor[[2, 1, 16], pl.FP32]]):
    data_buf = pld.alloc_window_buffer([1, 16], dtype=pl.FP32)
    sig_buf = pld.alloc_window_buffer([1, 1], dtype=pl.INT32)
    for r in pl.range(pld.world_size()):
        data = pld.window(data_buf, [1, 16], dtype=pl.FP32)
        sig = pld.window(sig_buf, [1, 1], dtype=pl.INT32)
        chip(x[r], y[r], data, sig, device=r)
    return y


def swapped(t: dict[str, Any]) -> None:
    t["y"][:] = t["x"].flip(0)


def specs() -> list[TensorSpec]:
    return [
        TensorSpec("x", [2, 1, 16], torch.float32, torch.randn, resident="stacked"),
        TensorSpec("y", [2, 1, 16], torch.float32, is_output=True),
    ]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYPTO_PROG_BUILD_DIR", raising=False)


def run_on(device_ids: list[int], golden: Any = swapped, **knobs: Any) -> RunResult:
    devices = DistributedConfig(device_ids=device_ids, num_sub_workers=0)
    runtime_cfg = {"platform": "a2a3sim", **knobs.pop("runtime_cfg", {})}
    compile_cfg = {"distributed_config": devices}
    return run_jit(drive, specs(), golden, compile_cfg=compile_cfg, runtime_cfg=runtime_cfg, **knobs)


def error_of(result: RunResult) -> str:
    assert not result.passed
    return result.error or ""


@pytest.mark.parametrize("stage", ["frontend", "41", "44", "48", "last"])
def test_a_stage_runs_on_the_devices_that_are_named(stage: str) -> None:
    result = run_on([5, 3], runtime_cfg={"stage": stage})
    assert result.passed, result.error


def test_a_program_of_the_language_runs_on_ranks_as_well() -> None:
    node = drive.specialize(*(torch.empty(2, 1, 16) for _ in range(2)))
    devices = DistributedConfig(device_ids=[0, 1])
    result = run(node, specs(), swapped, compile_cfg={"distributed_config": devices})
    assert result.passed, result.error


def test_a_build_is_run_again_on_its_devices() -> None:
    first = run_on([0, 1])
    again = run_jit(drive, specs(), swapped, runtime_dir=first.work_dir)
    assert again.passed, again.error


def test_the_ranks_that_are_wrong_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    def golden(t: dict[str, Any]) -> None:
        swapped(t)
        t["y"][1, 0, :3] += 1

    result = run_on([0, 1], golden)
    line = "wrong elements by rank: rank 1 (3); right: 0"
    assert f"    {line}\n    Mismatched elements: 3/32" in error_of(result)
    assert f"          {line}\n" in capsys.readouterr().out


def test_all_ranks_may_be_wrong() -> None:
    wrong = torch.tensor([[1.0, 0.0], [1.0, 1.0]])
    counts = wrong_by_rank(wrong, torch.zeros(2, 2), Tolerance(0.0, 0.5))
    assert ranks_line(counts) == "wrong elements by rank: rank 0 (1), rank 1 (2)"


def test_a_rank_that_fails_ends_the_run_by_its_name() -> None:
    error = error_of(run_on([0]))
    assert error.startswith("runtime: IndexError: rank 0: ")
    assert "is none of the 1 ranks that share 'data_buf'" in error
    more = error_of(run_on([0, 1, 2]))
    assert more.startswith("runtime: IndexError: index 2 is out of bounds for dimension 0 with size 2")


@pytest.mark.parametrize(
    ("ids", "text"),
    [
        ([], "DistributedConfig.device_ids must not be empty"),
        ([0, 0], "DistributedConfig.device_ids must be distinct, got [0, 0]"),
        ([-1], "DistributedConfig.device_ids must be non-negative device indices, got [-1]"),
    ],
)
def test_devices_that_are_none_are_refused(ids: list[int], text: str) -> None:
    with pytest.raises(ValueError) as caught:
        DistributedConfig(device_ids=ids)
    assert str(caught.value) == text


def test_a_script_says_how_many_devices_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "kernel.py"
    script.write_text("# ci: no-sim\n#ci:  devices=2\n# ci: devices=8\n")
    assert marked_devices(script) == 2
    script.write_text("import torch\n")
    assert marked_devices(script) == 1
    script.write_text("# ci: devices=2\n")
    monkeypatch.setattr(sys, "argv", [str(script)])
    assert run_on([4, 1]).passed
    assert error_of(run_on([4])) == (
        "kernel.py is marked `# ci: devices=2`, and runs on 1 device, [4]\n"
        "   = name as many devices as in: -d 0,1"
    )


def test_stages_of_a_compiled_program_are_validated_on_its_ranks() -> None:
    """On two devices rank 1 is wrong; on three, for which there are no parts, all stages fail."""
    node = drive.specialize(*(torch.empty(2, 1, 16) for _ in range(2)))
    compiled = compile(node, distributed_config=DistributedConfig(device_ids=[4, 1]))
    x = torch.arange(32.0).reshape(2, 1, 16)
    assert compiled.validate_ir({"x": x}, {"y": x.flip(0)}).passed
    wrong = x.flip(0).clone()
    wrong[1, 0, 0] += 9
    with pytest.raises(AssertionError, match=r"wrong elements by rank: rank 1 \(1\); right: 0"):
        compiled.validate_ir({"x": x}, {"y": wrong})
    more = compiled.on_devices(DistributedConfig(device_ids=[0, 1, 2]))
    with pytest.raises(AssertionError, match="index 2 is out of bounds"):
        more.validate_ir({"x": x}, {"y": x.flip(0)})


def test_the_report_on_a_run_names_the_ranks(tmp_path: Path) -> None:
    def golden(t: dict[str, Any]) -> None:
        swapped(t)
        t["y"][0, 0, 5] += 1

    run_on([0, 1], golden, report=str(tmp_path / "run.html"))
    assert '["wrong elements by rank","rank 0 (1); right: 1"]' in (tmp_path / "run.html").read_text()


def test_a_program_with_python_beside_the_ranks_is_compiled() -> None:
    node = pl.parse(
        """
import pypto.language as pl
import pypto.language.distributed as pld

@pl.program
class Scaled:
    @pl.function(level=pl.Level.HOST, role=pl.Role.SubWorker)
    def scale(self, y: pl.InOut[pl.Tensor[[2, 1, 16], pl.FP32]]):
        y.mul_(10.0)

    @pl.function(type=pl.FunctionType.InCore)
    def kernel(
        self, x: pl.Tensor[[1, 16], pl.FP32], y: pl.Out[pl.Tensor[[1, 16], pl.FP32]]
    ) -> pl.Tensor[[1, 16], pl.FP32]:
        y = pl.store(pl.load(x, [0, 0], [1, 16]), [0, 0], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def chip(
        self, x: pl.Tensor[[1, 16], pl.FP32], y: pl.Out[pl.Tensor[[1, 16], pl.FP32]]
    ) -> pl.Tensor[[1, 16], pl.FP32]:
        y = self.kernel(x, y)
        return y

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def host(self, x: pl.Tensor[[2, 1, 16], pl.FP32], y: pl.Out[pl.Tensor[[2, 1, 16], pl.FP32]]):
        for r in pl.range(pld.world_size()):
            self.chip(x[r], y[r], device=r)
        self.scale(y)
        return 0
"""
    )

    def golden(t: dict[str, Any]) -> None:
        t["y"][:] = 10 * t["x"]

    result = run(
        node, specs(), golden, compile_cfg={"distributed_config": DistributedConfig(device_ids=[0, 1])}
    )
    assert result.passed, result.error


def test_without_devices_the_arguments_tell_whether_there_are_enough_ranks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "kernel.py"
    script.write_text("# ci: devices=3\n")
    monkeypatch.setattr(sys, "argv", [str(script)])
    assert error_of(run_jit(drive, specs(), swapped)).splitlines()[0] == (
        "kernel.py is marked `# ci: devices=3`, and runs on 2 ranks, since it names no devices"
    )
    script.write_text("# ci: devices=2\n")
    assert run_jit(drive, specs(), swapped).passed
