"""The programs of examples/distributed/: run as users run them, in drawn orders, and watched for races."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from pypto_tmpl.debug import torch_codegen
from pypto_tmpl.execution.modules import load_module

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "distributed"
NAMES = ["expert_dispatch", "pipeline", "ring_all_reduce", "sharded_attention", "tensor_parallel_mlp"]


def test_all_examples_are_looked_at() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "ranks_harness") == NAMES


def command(name: str, *arguments: str) -> list[str]:
    return [sys.executable, str(FOLDER / f"{name}.py"), *arguments]


@pytest.mark.parametrize("name", NAMES)
def test_an_example_passes_on_its_devices(name: str, tmp_path: Path) -> None:
    done = subprocess.run(command(name, "--seed", "3"), capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("[RUN] PASS (")
    assert "Warning" not in done.stderr


def test_devices_of_the_command_line_are_checked(tmp_path: Path) -> None:
    few = subprocess.run(command("pipeline", "-d", "3"), capture_output=True, text=True, cwd=tmp_path)
    assert few.returncode == 1
    assert few.stdout.splitlines()[-2:] == [
        "pipeline.py is marked `# ci: devices=2`, and runs on 1 device, [3]",
        "   = name as many devices as in: -d 0,1",
    ]
    same = subprocess.run(command("pipeline", "-d", "3,3"), capture_output=True, text=True, cwd=tmp_path)
    assert same.returncode == 2
    last = same.stderr.splitlines()[-1]
    assert last == "pipeline.py: error: DistributedConfig.device_ids must be distinct, got [3, 3]"


def outputs(module: ModuleType, **options: Any) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    """What the program as it is written computes under options of its script, and what is expected."""
    torch.manual_seed(5)
    values = {spec.name: spec.create_tensor() for spec in module.specs()}
    expected = {name: value.clone() for name, value in values.items()}
    module.golden(expected)
    text = torch_codegen(module.PROGRAM.specialize(*values.values()), options=options)
    names: dict[str, Any] = {"__name__": "script"}
    exec(compile(text, f"<{module.PROGRAM.__name__}>", "exec"), names)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        names[module.PROGRAM.__name__](*values.values())
    return values, expected


@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_right_in_any_order_and_without_races(name: str) -> None:
    module = load_module(FOLDER / f"{name}.py")
    for seed in (None, 1, 2):
        values, expected = outputs(module, race_check=True, strict_leftovers=True, schedule_seed=seed)
        for key, value in values.items():
            assert torch.allclose(value, expected[key], rtol=1e-3, atol=1e-2), (name, seed, key)
