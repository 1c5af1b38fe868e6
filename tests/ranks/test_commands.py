"""Programs of several ranks through the commands: every stage runs on as many ranks as are wanted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner
from ranks.ranked import counted, stages
from ranks.test_kernels import mesh_sum

from pypto_tmpl import ir
from pypto_tmpl.cli import main
from pypto_tmpl.errors import PyptoTmplError


@pytest.fixture(autouse=True)
def own_options(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands set options for the rest of their process, by the environment."""
    for name in ("RACE_CHECK", "RANKS"):
        monkeypatch.setenv(f"PYPTO_TMPL_{name}", "")
        monkeypatch.delenv(f"PYPTO_TMPL_{name}")


def dump(folder: Path) -> None:
    """The stages of a sum over two ranks, as text."""
    folder.mkdir()
    for number, (name, node) in enumerate(stages(mesh_sum(2))):
        stem = "00_frontend" if number == 0 else f"{number:02}_after_{name}"
        (folder / f"{stem}.py").write_text(ir.python_print(node))


def test_validate_runs_the_stages_on_ranks(tmp_path: Path) -> None:
    dump(tmp_path / "dump")
    xs = 100.0 * torch.arange(2)[:, None, None] + counted(1, 1, 64)
    torch.save({"x": xs}, tmp_path / "in.pt")
    torch.save({"y": xs.sum(0).expand(2, 1, 64).contiguous()}, tmp_path / "out.pt")
    given = ["--inputs", str(tmp_path / "in.pt"), "--expected", str(tmp_path / "out.pt"), "--jobs", "1"]
    done = CliRunner().invoke(main, ["validate", str(tmp_path / "dump"), *given, "--option", "race_check"])
    assert done.exit_code == 0, done.output
    assert "all as expected" in done.output

    done = CliRunner().invoke(main, ["validate", str(tmp_path / "dump"), *given, "--option", "ranks=1"])
    assert done.exit_code == 1
    assert "IndexError: rank 0: notify sig[0, 0]: peer 1 is none of the 1 ranks" in done.output


def test_gen_tells_what_windows_have_no_device(tmp_path: Path) -> None:
    text = ir.python_print(next(iter(stages(mesh_sum(2))))[1]).replace("device=r)", "device=r + 1)")
    (tmp_path / "kernel.py").write_text(text)
    done = CliRunner().invoke(main, ["gen", str(tmp_path / "kernel.py")])
    assert done.exit_code == 2
    assert "device= expression must be ConstInt or the induction var of pl.range" in done.output


def test_reports_name_the_ranks_that_are_wrong(tmp_path: Path) -> None:
    dump(tmp_path / "dump")
    xs = 100.0 * torch.arange(2)[:, None, None] + counted(1, 1, 64)
    wrong = xs.sum(0).repeat(2, 1, 1)
    wrong[1, 0, 3:5] += 1
    torch.save({"x": xs}, tmp_path / "in.pt")
    torch.save({"y": wrong}, tmp_path / "out.pt")
    given = ["--inputs", str(tmp_path / "in.pt"), "--expected", str(tmp_path / "out.pt"), "--jobs", "1"]
    given += ["--rtol", "0", "--atol", "0.5", "--keep-going", "--report"]
    done = CliRunner().invoke(main, ["validate", str(tmp_path / "dump"), *given, str(tmp_path / "r.json")])
    assert done.exit_code == 1
    text = "wrong elements by rank: rank 1 (2); right: 0"
    stages = json.loads((tmp_path / "r.json").read_text())["stages"]
    assert [stage["tensors"][0]["wrong_by_rank"] for stage in stages] == [[0, 2]] * len(stages)
    assert done.output.count(text) == len(stages) > 10
    CliRunner().invoke(main, ["validate", str(tmp_path / "dump"), *given, str(tmp_path / "r.html")])
    assert '["wrong elements by rank","rank 1 (2); right: 0"]' in (tmp_path / "r.html").read_text()


def test_bisect_names_the_rank_of_the_first_wrong_value(tmp_path: Path) -> None:
    """From a stage on, all ranks take the row of rank 1 instead of the other one's: only rank 1 is wrong."""
    dump(tmp_path / "dump")
    right = "remote_load(data__ssa_v1, q__idx_v0_2, [0, 0], [1, 64])"
    for path in sorted((tmp_path / "dump").glob("*.py"))[10:]:
        text = path.read_text()
        assert text.count(right) == 1
        path.write_text(text.replace(right, right.replace("q__idx_v0_2", "1")))
    xs = 100.0 * torch.arange(2)[:, None, None] + counted(1, 1, 64)
    torch.save({"x": xs}, tmp_path / "in.pt")
    torch.save({"y": xs.sum(0).expand(2, 1, 64).contiguous()}, tmp_path / "out.pt")
    given = ["--inputs", str(tmp_path / "in.pt"), "--expected", str(tmp_path / "out.pt")]
    done = CliRunner().invoke(main, ["bisect", str(tmp_path / "dump"), *given])
    assert done.exit_code == 1, done.output
    assert "first bad stage: 10_after_AllocateMemoryAddr" in done.output
    assert "variable: t__tmp_v2" in done.output
    assert "run: rank 1, q__idx_v0_2=0" in done.output


KERNEL_FILE = """# ci: devices=2
import torch

import pypto.language as pl
import pypto.language.distributed as pld

NR = pl.dynamic("NR")


@pl.jit.incore
def pass_on(
    x: pl.Tensor[[1, 16], pl.FP32],
    y: pl.Out[pl.Tensor[[1, 16], pl.FP32]],
    data: pl.InOut[pld.DistributedTensor[[1, 16], pl.FP32]],
    sig: pl.InOut[pld.DistributedTensor[[1, 1], pl.INT32]],
):
    ctx = pld.get_comm_ctx(sig)
    after = (pld.rank(ctx) + 1) % pld.nranks(ctx)
    pld.tile.remote_store(pl.load(x, [0, 0], [1, 16]), data, peer=after, offsets=[0, 0])
    pld.system.notify(sig, peer=after, offsets=[0, 0], value=1, op=pld.NotifyOp.AtomicAdd)
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
    y = pass_on(x, y, data, sig)
    return y


@pl.jit.host
def drive(x: pl.Tensor[[NR, 1, 16], pl.FP32], y: pl.Out[pl.Tensor[[NR, 1, 16], pl.FP32]]):
    data_buf = pld.alloc_window_buffer([1, 16], dtype=pl.FP32)
    sig_buf = pld.alloc_window_buffer([1, 1], dtype=pl.INT32)
    for r in pl.range(pld.world_size()):
        data = pld.window(data_buf, [1, 16], dtype=pl.FP32)
        sig = pld.window(sig_buf, [1, 1], dtype=pl.INT32)
        chip(x[r], y[r], data, sig, device=r)
    return y


PROGRAM, OUTPUTS = drive, ["y"]


def make_inputs(seed=0):
    return {"x": torch.arange(48.0).reshape(3, 1, 16), "y": torch.zeros(3, 1, 16)}


def golden(t):
    t["y"][:] = t["x"].roll(1, 0)
"""


@pytest.mark.parametrize(
    ("args", "status", "text"),
    [
        ([], 0, "PASS"),
        (["-d", "7,3,5"], 0, "PASS"),
        (["--device=0,1,2"], 0, "PASS"),
        (["-d", "0"], 1, "kernel.py is marked `# ci: devices=2`, and runs on 1 device, [0]"),
        (["-d", "0,1"], 1, "wrong elements by rank: rank 0 (16), rank 2 (16); right: 1"),
        (["-d", "4,1"], 1, "'y' has parts for 3 ranks, of which 2 ran, on devices [4, 1]"),
        (["-d", "0,0"], 2, "-d 0,0: DistributedConfig.device_ids must be distinct, got [0, 0]"),
        (["-d", "0,x"], 2, "-d takes the numbers of devices, as in: -d 0,1"),
    ],
)
def test_a_kernel_file_without_a_harness_runs_on_the_devices_that_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: list[str], status: int, text: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYPTO_PROG_BUILD_DIR", raising=False)
    Path("kernel.py").write_text(KERNEL_FILE)
    done = CliRunner().invoke(main, ["run", "kernel.py", *args])
    told = done.output + str(done.exception)
    assert text in told, told
    assert done.exit_code == status or (status == 2 and isinstance(done.exception, PyptoTmplError))
