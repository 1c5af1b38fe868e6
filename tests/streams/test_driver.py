"""The driver of several chips: texts recorded from upstream, and what one does where it runs."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from streams import host_builds as h
from streams import host_programs

from pypto_tmpl import backend, ir
from pypto_tmpl.backend import BackendType
from pypto_tmpl.ir.pass_manager import OptimizationStrategy, PassManager
from pypto_tmpl.overlays import using_templates
from pypto_tmpl.resources import template_root
from pypto_tmpl.streams.driver.names import BlockNames
from pypto_tmpl.streams.orchestration import host_texts
from pypto_tmpl.upstream import pto_backend

RECORDED = sorted((Path(__file__).parent / "drivers").glob("*.txt"))
DRIVER = "orchestration/host_orch.py"


@pytest.fixture
def on_910b():
    backend.reset_for_testing()
    backend.set_backend_type(BackendType.Ascend910B)
    yield
    backend.reset_for_testing()


def lowered(program: ir.Program) -> ir.Program:
    return PassManager.get_strategy(OptimizationStrategy.Default).run_passes(program)


def last_stage(name: str) -> ir.Program:
    """A recorded program after the last pass, or after those of this project."""
    recorded = h.TESTS / "streams/recorded" / name / "Ascend910B/last.msgpack"
    if recorded.is_file():
        return ir.deserialize_from_file(str(recorded))
    (frontend,) = (h.TESTS / "pass_corpus/dumps" / name).glob("*/00_frontend.msgpack")
    return lowered(ir.deserialize_from_file(str(frontend)))


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda path: path.name.partition(".")[0])
def test_the_driver_is_that_recorded(on_910b: None, recorded: Path) -> None:
    found = host_texts(last_stage(recorded.name.removesuffix(".py.txt")), BackendType.Ascend910B)
    assert found.texts[DRIVER] == recorded.read_text()


def test_all_recordings_are_there() -> None:
    assert len(RECORDED) == 5


# Running one: what the run time would have is written down


@dataclass
class TaskArgs:
    tensors: list[tuple[Any, str]] = field(default_factory=list)
    scalars: list[Any] = field(default_factory=list)

    def add_tensor(self, tensor: Any, how: str) -> None:
        self.tensors.append((tensor, how))

    def add_scalar(self, scalar: Any) -> None:
        self.scalars.append(scalar)


@dataclass
class Chips:
    """Runs every chip at once: it adds the scalar to the input and writes the output."""

    submitted: list[tuple[str, Any, Any]] = field(default_factory=list)
    _worker: str = "worker"
    sub_workers: dict[str, Callable[..., object]] = field(default_factory=dict)

    def submit_sub(self, number: str, arguments: TaskArgs) -> None:
        given = [tensor for tensor, _ in arguments.tensors]
        self.sub_workers[number](*given, *arguments.scalars)
        self.submitted.append((number, [how for _, how in arguments.tensors], arguments.scalars))

    def submit(self, chips: "Chips", callee: str, arguments: TaskArgs, config: Any, device: Any) -> None:
        assert chips is self and config == "config"
        (x, reads), (y, writes) = arguments.tensors
        assert (reads, writes) == ("INPUT", "OUTPUT_EXISTING")
        y.copy_(x + arguments.scalars[0])
        self.submitted.append((callee, arguments.scalars[0], device))


def run_driver(text: str, monkeypatch: pytest.MonkeyPatch, tensors: dict[str, Any], chips: Chips) -> None:
    interface = ModuleType("simpler.task_interface")
    ways = type("TensorArgType", (), {how: how for how in ("INPUT", "INOUT", "OUTPUT_EXISTING")})
    for name, value in {"TaskArgs": TaskArgs, "TensorArgType": ways}.items():
        setattr(interface, name, value)
    for name in ("CallConfig", "CommBufferSpec", "DataType"):
        setattr(interface, name, None)
    argument, runner = ModuleType("pypto.runtime.tensor_arg"), ModuleType("pypto.runtime.distributed_runner")
    argument.make_tensor_arg = lambda worker, tensor: tensor  # type: ignore[attr-defined]
    runner._submit_chip = chips.submit  # type: ignore[attr-defined]
    for module in (interface, argument, runner):
        parts = module.__name__.split(".")
        for count in range(1, len(parts)):
            monkeypatch.setitem(sys.modules, ".".join(parts[:count]), ModuleType(parts[0]))
        monkeypatch.setitem(sys.modules, module.__name__, module)
    found: dict[str, Any] = {}
    exec(compile(text, DRIVER, "exec"), found)
    assert found["host"]._pypto_distributed_entry is True
    found["_alloc_intermediates"](tensors, world_size=2)
    kept: list[TaskArgs] = []
    found["host"](
        chips, None, "config", tensors=tensors, callables={"chip": "the chip"},
        sub_ids={name: name for name in chips.sub_workers}, _keep=kept,
        world_size=2,
    )  # fmt: skip
    assert len(kept) == len(chips.submitted)


@pytest.mark.parametrize(("flag", "added"), [(4, [1, 4]), (2, [2, 4])])
def test_a_driver_computes_submits_and_copies(
    on_910b: None, monkeypatch: pytest.MonkeyPatch, flag: int, added: list[int]
) -> None:
    text = host_texts(lowered(host_programs.Rounds), BackendType.Ascend910B).texts[DRIVER]
    xs = torch.arange(3.0)[:, None, None].expand(3, 1, 64).clone()
    ys = torch.zeros(3, 1, 64)
    chips = Chips()
    run_driver(text, monkeypatch, {"xs__ssa_v0": xs, "flag__ssa_v0": flag, "ys__ssa_v0": ys}, chips)
    by_device = [("the chip", added[0], 0), ("the chip", added[1], 1)]
    assert chips.submitted == [*by_device, ("the chip", 7, None), ("the chip", 7, None)]
    assert ys[:, 0, 0].tolist() == [0.0 + added[0], 1.0 + added[1], 1.0 + 7]


def test_a_driver_submits_sub_workers(on_910b: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """ys = xs + 1 on each chip; scale makes 3 ys of it and gives that back; then chip 0 adds 1 to its row."""
    found = host_texts(lowered(host_programs.WithSubWorkers), BackendType.Ascend910B)
    assert not found.errors
    xs = torch.arange(2.0)[:, None, None].expand(2, 1, 64).clone()
    ys, zs = torch.zeros(2, 1, 64), torch.zeros(1, 64)
    names: dict[str, Any] = {}
    exec(compile(found.texts["sub_workers/scale.py"], "scale.py", "exec"), names)
    said: list[float] = []
    chips = Chips(sub_workers={"scale": names["scale"], "log": lambda y, k: said.append(float(y.sum()))})
    tensors = {"xs__ssa_v0": xs, "ys__ssa_v0": ys, "zs__ssa_v0": zs}
    run_driver(found.texts[DRIVER], monkeypatch, tensors, chips)
    chip = "the chip"
    assert chips.submitted == [
        (chip, 1, 0), (chip, 1, 1), ("scale", ["INOUT", "INPUT"], [3]), (chip, 1, 0), ("log", ["INPUT"], [7]),
    ]  # fmt: skip
    assert ys[:, 0, 0].tolist() == [3.0, 6.0] and said == [64 * 4.0]


def test_all_that_has_no_text_is_named_with_its_line(on_910b: None) -> None:
    found = host_texts(lowered(host_programs.Refused), BackendType.Ascend910B)
    assert DRIVER not in found.texts and list(found.errors) == ["host"]
    lines = Path(host_programs.__file__).read_text().splitlines()
    notes = {
        lines.index(line) + 1: what
        for line, what in (
            (
                "            y = pl.create_tensor([1, 64], dtype=pl.FP32)",
                "tensors of the host are made outside of loops and branches",
            ),
        )
    }
    said = str(found.errors["host"])
    assert said.startswith("error[driver]: 1 thing cannot become the driver of several chips")
    for line, what in notes.items():
        assert what in said and f"host_programs.py:{line}:" in said
    assert "next_levels/chip/orchestration/chip.cpp" in found.texts


def test_a_collective_is_named_and_the_driver_is_written(on_910b: None, tmp_path: Path) -> None:
    program = last_stage("two_domains")
    with pytest.raises(pto_backend.PartialCodegenError, match=r"6 function\(s\)") as caught:
        pto_backend.generate(program, str(tmp_path), skip_ptoas=True)
    assert "builtin.tensor.barrier__fp32 is a build of its own, and nothing makes it" in str(caught.value)
    assert "(function 'host', programs/two_domains.py:47:9)" in str(caught.value)
    assert (tmp_path / DRIVER).read_text() == (
        Path(__file__).parent / "drivers/two_domains.py.txt"
    ).read_text()


def test_a_window_is_sized_before_its_size_is_computed(on_910b: None) -> None:
    text = host_texts(last_stage("summed_over_ranks"), BackendType.Ascend910B).texts[DRIVER]
    wanted = 'CommBufferSpec(name="__allreduce_signal_buf_0", dtype="opaque", count=(world_size * 4), '
    assert wanted + "nbytes=((((world_size * 4) + 31) // 32) * 32))," in text


def test_names_that_can_be_seen_are_not_taken_again() -> None:
    names = BlockNames()
    assert [names.take(hint) for hint in ("r", "config", "_ta_3", "for", "2x", "a.b")] == [
        "r", "config_1", "_ta_3_1", "for_1", "_2x", "a_b",
    ]  # fmt: skip
    with names.block():
        assert names.take("r") == "r_1"
    assert names.take("r_1") == "r_1"


def test_a_template_of_the_user_counts(tmp_path: Path) -> None:
    file = "orchestration/driver.py.jinja"
    own = (template_root() / file).read_text()
    (tmp_path / file).parent.mkdir()
    (tmp_path / file).write_text(own.replace("_keep.append({{ t.name }})", "keep({{ t.name }})"))
    program = last_stage("ring_shift_put")
    with using_templates([tmp_path]):
        assert "    keep(_ta_0)\n" in host_texts(program, BackendType.Ascend910B).texts[DRIVER]
    assert "    _keep.append(_ta_0)\n" in host_texts(program, BackendType.Ascend910B).texts[DRIVER]
