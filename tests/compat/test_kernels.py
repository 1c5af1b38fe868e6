"""Kernel files in the style of third-party libraries: siblings, flags that are read at import, run_jit."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from pypto_tmpl.cli import main

CONFIG = '''\
"""Shapes, frozen when the file is imported."""
import sys
from dataclasses import dataclass


def _flag(name, default):
    return int(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else default


@dataclass(frozen=True)
class Shapes:
    batch: int = _flag("--batch", 16)
    hidden: int = 128


SHAPES = Shapes()
EPS = 1e-6
'''
NORM = """\
import pypto.language as pl

from config import EPS, SHAPES

B, H = SHAPES.batch, SHAPES.hidden
H_INV = 1.0 / H


@pl.jit.inline
def rms_norm(x: pl.Tensor[[B, H], pl.BF16], gamma: pl.Tensor[[1, H], pl.FP32]):
    out = pl.create_tensor([B, H], dtype=pl.BF16)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="rms"):
        x = pl.cast(x, target_type=pl.FP32)
        scale = pl.recip(pl.sqrt(pl.add(pl.mul(pl.row_sum(pl.mul(x, x)), H_INV), EPS)))
        y = pl.col_expand_mul(pl.row_expand_mul(x, scale), gamma)
        out = pl.assemble(out, pl.cast(y, pl.BF16, mode="rint"), [0, 0])
    return out
"""
LAYER = '''\
"""Norm and projection of a batch, one file of a model."""
import pypto.language as pl
import pypto.language.distributed as pld  # noqa: F401

from config import EPS, SHAPES
from norm import rms_norm

BATCH, HIDDEN = SHAPES.batch, SHAPES.hidden
TILE = 64
T = pl.dynamic("T")


@pl.jit.inline(auto_scope=False)
def project(
    x: pl.Tensor[[BATCH, HIDDEN], pl.BF16],
    w: pl.Tensor[[HIDDEN, HIDDEN], pl.BF16],
    y: pl.Tensor[[BATCH, HIDDEN], pl.FP32],
    ready: pl.Scalar[pl.TASK_ID],
):
    tids = pl.array.create(HIDDEN // TILE, pl.TASK_ID)
    for nb in pl.unroll(HIDDEN // TILE):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="proj", deps=[ready]) as tid:
            n0 = nb * TILE
            acc = pl.matmul(x[:, 0:TILE], w[0:TILE, n0 : n0 + TILE], out_dtype=pl.FP32)
            for kb in pl.pipeline(1, HIDDEN // TILE, stage=2):
                k0 = kb * TILE
                acc = pl.matmul_acc(acc, x[:, k0 : k0 + TILE], w[k0 : k0 + TILE, n0 : n0 + TILE])
            y = pl.assemble(y, acc, [0, n0])
        tids[nb] = tid
    done = pl.system.task_dummy(deps=[tids[i] for i in range(HIDDEN // TILE)])
    return y, done


@pl.jit(auto_scope=False)
def layer(
    x: pl.Tensor[[BATCH, HIDDEN], pl.BF16],
    gamma: pl.Tensor[[1, HIDDEN], pl.FP32],
    w: pl.Tensor[[HIDDEN, HIDDEN], pl.BF16],
    rows: pl.Tensor[[T], pl.INT32],
    count: pl.Scalar[pl.INT32],
    y: pl.Out[pl.Tensor[[BATCH, HIDDEN], pl.FP32]],
    picked: pl.Out[pl.Tensor[[T, HIDDEN], pl.FP32]],
):
    normed = rms_norm(x, gamma)
    start = pl.system.task_dummy(deps=[])
    with pl.scope():
        y, done = project(normed, w, y, start)
        for t in pl.parallel(pl.tensor.dim(rows, 0)):
            with pl.at(level=pl.Level.CORE_GROUP, name_hint="pick", deps=[done]):
                r = pl.cast(pl.read(rows, [t]), pl.INDEX)
                if t < count:
                    picked[t : t + 1, :] = y[r : r + 1, :]
                else:
                    picked[t : t + 1, :] = pl.full([1, HIDDEN], dtype=pl.FP32, value=0.0)
    return y, picked


def build_specs(tokens=12):
    import torch
    from golden import ScalarSpec, TensorSpec

    def init_w():
        return torch.randn(HIDDEN, HIDDEN) / HIDDEN**0.5

    return [
        TensorSpec("x", [BATCH, HIDDEN], torch.bfloat16, init_value=torch.randn),
        TensorSpec("gamma", [1, HIDDEN], torch.float32, init_value=lambda: torch.rand(1, HIDDEN) + 0.5),
        TensorSpec("w", [HIDDEN, HIDDEN], torch.bfloat16, init_value=init_w),
        TensorSpec("rows", [tokens], torch.int32, init_value=lambda: torch.randint(0, BATCH, (tokens,))),
        ScalarSpec("count", torch.int32, 9),
        TensorSpec("y", [BATCH, HIDDEN], torch.float32, is_output=True),
        TensorSpec("picked", [tokens, HIDDEN], torch.float32, is_output=True),
    ]


def reference(t):
    import torch

    x = t["x"].float()
    normed = (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPS) * t["gamma"]).bfloat16()
    t["y"][:] = normed.float() @ t["w"].float()
    t["picked"][: t["count"]] = t["y"][t["rows"][: t["count"]].long()]


if __name__ == "__main__":
    import argparse

    from golden import ratio_allclose, run_jit

    ap = argparse.ArgumentParser()
    ap.add_argument("-p", "--platform", default="a2a3", choices=["a2a3", "a2a3sim", "a5", "a5sim"])
    ap.add_argument("-d", "--device", type=int, default=0)
    ap.add_argument("--batch", type=int, default=16)
    ap.add_argument("--tokens", type=int, default=12)
    ap.add_argument("--enable-chip-swimlane", nargs="?", type=int, const=4, default=0)
    ap.add_argument("--dump-passes", action="store_true")
    ap.add_argument("--compile-only", action="store_true")
    ns = ap.parse_args()
    res = run_jit(
        fn=layer,
        specs=build_specs(ns.tokens),
        golden_fn=reference,
        compile_cfg=dict(dump_passes=ns.dump_passes),
        runtime_cfg=dict(
            platform=ns.platform,
            device_id=ns.device,
            enable_chip_swimlane=ns.enable_chip_swimlane,
            enable_dep_gen=False,
            enable_pmu=0,
            log_level=None,
        ),
        rtol=1e-2,
        atol=1e-2,
        compare_fn={"y": ratio_allclose(atol=1e-2, rtol=1 / 128)},
        compile_only=ns.compile_only,
    )
    if not res.passed:
        print(res.error or "")
        raise SystemExit(1)
'''
HOST = """\
import pypto.language as pl
import pypto.language.distributed as pld
import torch
from golden import TensorSpec, run_jit
from pypto.ir.distributed_compiled_program import DistributedConfig


@pl.jit
def chip(x: pl.Tensor[[4, 8], pl.FP32], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
    y = pl.assemble(y, x, [0, 0])
    return y


@pl.jit.host
def drive(x: pl.Tensor[[2, 4, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 4, 8], pl.FP32]]):
    for r in pl.range(pld.world_size()):
        chip(x[r], y[r], device=r)
    return y


result = run_jit(
    fn=drive,
    specs=[
        TensorSpec("x", [2, 4, 8], torch.float32, torch.randn),
        TensorSpec("y", [2, 4, 8], torch.float32, is_output=True),
    ],
    golden_fn=lambda t: t["y"].copy_(t["x"]),
    compile_cfg={"distributed_config": DistributedConfig(device_ids=[0, 1])},
    runtime_cfg={"platform": "a2a3sim"},
)
print(result.error)
raise SystemExit(0 if result.passed else 1)
"""


@pytest.fixture(autouse=True)
def library(tmp_path, monkeypatch):
    for name, text in (("config", CONFIG), ("norm", NORM), ("layer", LAYER), ("host", HOST)):
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYPTO_PROG_BUILD_DIR", raising=False)
    import sys

    before = set(sys.modules)
    yield
    for name in {"config", "norm"} & (set(sys.modules) - before):
        del sys.modules[name]


def execute(*arguments):
    return CliRunner().invoke(main, ["exec", *map(str, arguments)])


@pytest.mark.parametrize("arguments", [(), ("--batch", 32), ("--tokens", 5), ("--dump-passes",)])
def test_a_file_of_a_model(arguments):
    done = execute("layer.py", "-p", "a2a3sim", "-d", "0", *arguments)
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    rows = 32 if "--batch" in arguments else 16
    assert any(line.startswith(f"[RUN]   'y' PASS  shape=({rows}, 128)") for line in lines)
    assert lines[-1].startswith("[RUN] PASS (")


def test_a_device_is_refused_by_status_1():
    done = execute("layer.py")
    assert done.exit_code == 1
    assert "platform 'a2a3' needs a real Ascend NPU" in done.output


def test_a_host_runs_its_ranks_on_the_cards_that_are_named():
    done = execute("host.py")
    assert done.exit_code == 0, done.output
    named = "device_ids=[0, 1]"
    Path("host.py").write_text(HOST.replace(named, "device_ids=[3, 0]"))
    assert execute("host.py").exit_code == 0
    Path("host.py").write_text(HOST.replace(named, "device_ids=[0, 1, 2]"))
    done = execute("host.py")
    assert done.exit_code == 1
    assert "IndexError: index 2 is out of bounds for dimension 0 with size 2" in done.output
    Path("host.py").write_text(HOST.replace(named, "device_ids=[0, 0]"))
    done = execute("host.py")
    assert "DistributedConfig.device_ids must be distinct, got [0, 0]" in str(done.exception) + done.output
