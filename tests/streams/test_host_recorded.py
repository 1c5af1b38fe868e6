"""Texts of whole programs for the host and for the entries of kernels, against those recorded from upstream.

Recorded are the lines without comments; of wrappers those that take arguments and hand them on.
"""

import re
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
from streams import host_builds as h

from pypto_tmpl.backend import BackendType
from pypto_tmpl.streams import paths_of
from pypto_tmpl.streams.orchestration import host_texts, wrapper_texts

BUILDS = sorted(h.RECORDED.glob("*/*"))
FORWARDS = re.compile(r"args\[|start_offset|_conv|sub_block_id\(args\)|block_idx|^\s+\w+\(.*\);$")
# What the assembler would make: functions that take anything.
ASSEMBLED = '#include "pto/pto-inst.hpp"\nusing namespace pto;\n{}\n'
FUNCTION = "template <typename... Arguments> __global__ AICORE void {}(Arguments...) {{}}"


@cache
def texts_of(build: Path) -> dict[str, str]:
    program = h.last_stage(build.parent.name, build.name)
    assembled = {
        path: ASSEMBLED.format("\n".join(FUNCTION.format(kernel.name) for kernel in unit.functions))
        for path, unit in paths_of(program).items()
    }
    host = host_texts(program, BackendType[build.name])
    wrappers = wrapper_texts(program, BackendType[build.name], assembled)
    assert not host.errors
    assert not wrappers.errors
    return host.texts | wrappers.texts


def recorded(build: Path, pattern: str) -> dict[str, list[str]]:
    files = (path for path in build.rglob(pattern) if path.suffix != ".msgpack")
    return {
        path.relative_to(build).as_posix().removesuffix(".txt"): path.read_text().splitlines()
        for path in files
    }


def test_the_recordings_are_there() -> None:
    assert len(BUILDS) == 14
    assert len(list(h.RECORDED.rglob("orchestration/*.cpp"))) == 14


@pytest.mark.parametrize("build", BUILDS, ids=lambda build: build.parent.name)
def test_the_host_code_is_that_recorded(build: Path) -> None:
    texts = texts_of(build)
    wanted = recorded(build, "orchestration/*.cpp") | recorded(build, "kernel_config.py.txt")
    for name, lines in wanted.items():
        text = re.sub(r"^# .*$", "", texts[name], flags=re.M) if name.endswith(".py") else texts[name]
        assert h.without_comments(text) == lines, name


@pytest.mark.parametrize("build", BUILDS, ids=lambda build: build.parent.name)
def test_wrappers_hand_on_what_those_recorded_do(build: Path) -> None:
    texts = texts_of(build)
    for name, lines in recorded(build, "kernels/*/*.cpp").items():
        found = [line.strip() for line in h.without_comments(texts[name]) if FORWARDS.search(line)]
        assert found == lines, name


@pytest.mark.parametrize("build", BUILDS, ids=lambda build: build.parent.name)
def test_a_compiler_takes_all_of_it(build: Path, tmp_path: Path) -> None:
    texts = [text for name, text in texts_of(build).items() if re.search(r"orchestration/\w+\.cpp$", name)]
    assert texts
    for text in texts:
        (tmp_path / "host.cpp").write_text(text)
        h.check_syntax(tmp_path / "host.cpp")


def test_a_compiler_takes_wrappers(tmp_path: Path) -> None:
    texts = texts_of(h.RECORDED / "few_rows_in_a_lane_region" / "Ascend910B")
    for core in ("aic", "aiv"):
        path = tmp_path / f"{core}.cpp"
        path.write_text(texts[f"kernels/{core}/few_rows_{core}.cpp"])
        h.check_syntax(path, "-D__CPU_SIM")
        assert "template <typename... Arguments> static __aicore__ void few_rows_aic(" in path.read_text()


def test_the_configuration_is_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interface = ModuleType("simpler.task_interface")
    interface.ArgDirection = type("ArgDirection", (), {"IN": "in", "OUT": "out", "INOUT": "inout"})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "simpler", ModuleType("simpler"))
    monkeypatch.setitem(sys.modules, "simpler.task_interface", interface)
    text = texts_of(h.RECORDED / "few_rows_in_a_lane_region" / "Ascend910B")["kernel_config.py"]
    found: dict[str, object] = {"__file__": str(tmp_path / "kernel_config.py")}
    exec(compile(text, "kernel_config.py", "exec"), found)
    assert found["RUNTIME_CONFIG"] == {"runtime": "tensormap_and_ringbuffer", "aicpu_thread_num": 0}
    kernels = [
        {
            "func_id": number,
            "name": f"few_rows_{core}",
            "source": str(tmp_path / "kernels" / core / f"few_rows_{core}.cpp"),
            "core_type": core,
            "signature": ["in", "in", "inout", "out"],
        }
        for number, core in enumerate(("aic", "aiv"))
    ]
    assert found["KERNELS"] == kernels
