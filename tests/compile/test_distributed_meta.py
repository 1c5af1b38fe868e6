"""What builds for several ranks tell of their host, against what is recorded from upstream."""

import json
from pathlib import Path

import pytest

from pypto_tmpl import backend, ir
from pypto_tmpl.compile.distributed import DistributedCompiledProgram
from pypto_tmpl.runtime import DistributedConfig

DUMPS = Path(__file__).parents[1] / "pass_corpus" / "dumps"
ALONE = {
    "device_ids": [0],
    "num_sub_workers": 0,
    "runtime": "tensormap_and_ringbuffer",
    "aicpu_thread_num": 0,
}
RECORDED = {
    "context_passed_down/Ascend910B": {
        "schema": 2,
        "params": [
            {"name": "xs__ssa_v0", "direction": "In", "shape": [2, 1, 64], "dtype": "fp32"},
            {"name": "flag__ssa_v0", "direction": "In", "shape": [1], "dtype": "int32"},
            {"name": "ys__ssa_v0", "direction": "Out", "shape": [2, 1, 64], "dtype": "fp32"},
        ],
        "num_return_types": 1,
        "platform": "a2a3sim",
        "backend_type": "Ascend910B",
        "distributed_config": ALONE,
    },
    "neighbour_exchange/Ascend950": {
        "schema": 2,
        "params": [
            {"name": "xs__ssa_v0", "direction": "In", "shape": [4, 4, 64], "dtype": "fp32"},
            {"name": "scale__ssa_v0", "direction": "In", "shape": None, "dtype": "fp32"},
            {"name": "ys__ssa_v0", "direction": "Out", "shape": [4, 4, 64], "dtype": "fp32"},
        ],
        "num_return_types": 1,
        "platform": "a5sim",
        "backend_type": "Ascend950",
        "distributed_config": ALONE,
    },
    "two_domains/Ascend910B": {
        "schema": 2,
        "params": [],
        "num_return_types": 0,
        "platform": "a2a3sim",
        "backend_type": "Ascend910B",
        "distributed_config": ALONE,
    },
}


@pytest.fixture(autouse=True)
def no_backend():
    backend.reset_for_testing()
    yield
    backend.reset_for_testing()


def compiled(dumps, folder, **knobs):
    program = ir.deserialize_from_file(str(DUMPS / dumps / "00_frontend.msgpack"))
    chosen = backend.BackendType[dumps.partition("/")[2]]
    return ir.compile(program, folder, backend_type=chosen, skip_ptoas=True, **knobs)


@pytest.mark.parametrize("dumps", RECORDED)
def test_the_parameters_of_the_host_are_told_as_recorded(dumps, tmp_path):
    build = compiled(dumps, tmp_path / "build").output_dir
    assert (build / "distributed_meta.json").read_text() == json.dumps(RECORDED[dumps], indent=2)
    assert not list(build.rglob("compiled_meta.json"))
    assert (build / "debug/run.py").is_file()


def test_the_devices_are_those_of_the_compilation(tmp_path):
    devices = DistributedConfig(device_ids=[4, 5], num_sub_workers=1, aicpu_thread_num=3)
    made = compiled("context_passed_down/Ascend910B", tmp_path / "build", distributed_config=devices)
    told = json.loads((made.output_dir / "distributed_meta.json").read_text())
    assert told["distributed_config"] == {
        "device_ids": [4, 5],
        "num_sub_workers": 1,
        "runtime": "tensormap_and_ringbuffer",
        "aicpu_thread_num": 3,
    }
    assert DistributedCompiledProgram.from_dir(made.output_dir).device_ids == (4, 5)
