"""Executing a build directory in this process."""

import ctypes
import json
import linecache
import threading
import traceback

import pytest
import torch
from runtime import kernels

from pypto_tmpl.compile import compile_options, compile_program
from pypto_tmpl.execution.apart import call_apart, share_memory
from pypto_tmpl.execution.entry import Parameter
from pypto_tmpl.runtime import execute_compiled


@pytest.fixture
def build(tmp_path):
    def make(program, **compile_cfg):
        return compile_program(program, tmp_path, compile_options(compile_cfg)).directory

    return make


def test_outputs_land_in_the_callers_tensors(build):
    x, y = torch.arange(32.0).reshape(4, 8), torch.full((4, 8), 7.0)
    assert execute_compiled(build(kernels.scale()), [x, ctypes.c_float(-2), y], platform="a2a3sim") is None
    assert y.tolist() == [[-2.0 * (8 * row + col) for col in range(8)] for row in range(4)]
    assert torch.equal(x, torch.arange(32.0).reshape(4, 8))


def test_the_directory_may_be_text_and_has_default_options(build):
    x, y = torch.ones(4, 8), torch.zeros(4, 8)
    execute_compiled(str(build(kernels.copy())), [x, y])
    assert torch.equal(y, torch.ones(4, 8))


@pytest.mark.parametrize("name", ["a2a3", "a5"])
def test_a_device_is_refused(build, name):
    with pytest.raises(RuntimeError, match=f"'{name}' needs a real Ascend NPU.*\n.*'{name}sim'"):
        execute_compiled(build(kernels.copy()), [], platform=name, device_id=0)


def test_an_unknown_option(build):
    with pytest.raises(TypeError, match="has no knob 'block_dim'"):
        execute_compiled(build(kernels.copy()), [], block_dim=1)


def test_a_build_for_another_backend(build):
    directory = build(kernels.copy(), platform="a5")
    with pytest.raises(ValueError) as caught:
        execute_compiled(directory, [torch.ones(4, 8), torch.zeros(4, 8)], platform="a2a3sim")
    assert str(caught.value) == (
        "error[backend]: the build is for Ascend950, platform 'a2a3sim' is Ascend910B\n"
        "   = compile the program for platform 'a2a3sim', or run it on 'a5sim'"
    )
    execute_compiled(directory, [torch.ones(4, 8), torch.zeros(4, 8)], platform="a5sim")


def test_directories_that_are_no_builds(tmp_path):
    with pytest.raises(ValueError) as caught:
        execute_compiled(tmp_path, [])
    assert str(caught.value) == (
        f"error[manifest]: {tmp_path} is no complete build: it has no manifest.json\n"
        "   = a build that failed or was interrupted leaves none"
    )
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(ValueError, match=r"manifest\.json cannot be read"):
        execute_compiled(tmp_path, [])
    (tmp_path / "manifest.json").write_text(json.dumps({"schema": 99}))
    with pytest.raises(ValueError, match="has schema 99, expected 2: compile the program again"):
        execute_compiled(tmp_path, [])
    (tmp_path / "manifest.json").write_text(json.dumps({"schema": 2}))
    with pytest.raises(ValueError, match="is damaged: KeyError"):
        execute_compiled(tmp_path, [])


def test_scripts_that_cannot_be_run(build):
    directory = build(kernels.copy())
    script, args = directory / "torch/main.py", [torch.ones(4, 8), torch.zeros(4, 8)]
    script.write_text("def other(): pass\n")
    with pytest.raises(ValueError, match=r"the script has no function 'main'\n  --> .*torch/main\.py"):
        execute_compiled(directory, args)
    script.write_text("import torch\ndef main(:\n")
    with pytest.raises(ValueError, match=r"the script is no Python: .*\n  --> .*torch/main\.py:2"):
        execute_compiled(directory, args)
    script.unlink()
    with pytest.raises(ValueError, match=r"the generated script .*torch/main\.py is missing"):
        execute_compiled(directory, args)


def test_tracebacks_show_the_generated_line(build):
    directory = build(kernels.dynamic_sum(), stage="frontend")
    script = directory / "torch/main.py"
    with pytest.raises(RuntimeError, match="must match the size") as caught:
        execute_compiled(directory, [torch.ones(3), torch.ones(2), torch.zeros(3)])
    frame = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (frame.filename, frame.line) == (str(script), "s = a + b  # from dynamicsum.py:12")
    assert caught.value.__notes__ == [
        f"  --> {script}:{frame.lineno}: s = a + b",
        "  source: dynamicsum.py:12",
    ]
    shown = "".join(traceback.format_exception(caught.value))
    assert f'File "{script}", line {frame.lineno}, in main\n    s = a + b  # from dynamicsum.py:12\n' in shown
    assert shown.endswith("  source: dynamicsum.py:12\n")
    # An edited script shows its new text.
    script.write_text(script.read_text().replace("s = a + b", "s = a + b  # edited"))
    with pytest.raises(RuntimeError) as caught:
        execute_compiled(directory, [torch.ones(3), torch.ones(2), torch.zeros(3)])
    frame = traceback.extract_tb(caught.value.__traceback__)[-1]
    line = linecache.getline(frame.filename, frame.lineno).strip()
    assert line == "s = a + b  # edited  # from dynamicsum.py:12"


def test_tensors_that_require_grad_are_written(build):
    x, y = torch.ones(4, 8, requires_grad=True), torch.zeros(4, 8, requires_grad=True)
    execute_compiled(build(kernels.copy()), [x, y])
    assert y.tolist() == [[1.0] * 8] * 4


def test_an_output_that_is_also_an_input_is_apart_as_on_a_device(build):
    """a = x + 1, b = x + 2 with a being x: b must not see what is written to a."""
    x, b = torch.zeros(4), torch.zeros(4)
    execute_compiled(build(kernels.twice()), [x, x, b])
    assert (x.tolist(), b.tolist()) == ([1.0] * 4, [2.0] * 4)


def test_two_parts_of_one_storage_are_apart_without_copies():
    """Only arguments that really overlap are copied."""
    storage = torch.zeros(8)
    params = [Parameter("x", "In", "FP32", (4,)), Parameter("y", "Out", "FP32", (4,))]
    seen = []
    call_apart(lambda *args: seen.extend(args), params, [storage[:4], storage[4:]])
    assert [tensor.data_ptr() for tensor in seen] == [storage.data_ptr(), storage[4:].data_ptr()]
    seen.clear()
    call_apart(lambda *args: seen.extend(args), params, [storage[:5], storage[3:]])
    assert seen[0].data_ptr() == storage.data_ptr()
    assert not share_memory(seen[1], storage)


def test_on_another_device_tensors_are_moved_and_inputs_do_not_come_back():
    """There is no second device here: 'meta' holds no data, but shows what is moved."""
    params = [Parameter("x", "In", "FP32", (2,)), Parameter("n", "In", "INT32", is_scalar=True)]
    seen = []
    call_apart(lambda *args: seen.extend(args), params, [torch.ones(2), 3], torch.device("meta"))
    assert (seen[0].device.type, seen[1]) == ("meta", 3)


def test_share_memory():
    storage = torch.zeros(4, 4)
    assert share_memory(storage, storage[1:2])
    assert share_memory(storage[:, 0], storage[:, 1])  # interleaved counts as overlapping
    assert not share_memory(storage[:2], storage[2:])
    assert not share_memory(storage, storage.clone())
    assert not share_memory(storage, torch.zeros(0))
    assert share_memory(storage, torch.from_numpy(storage.numpy()))


def test_gradients_are_recorded_on_no_thread():
    """A leaf that requires grad is written by a kernel that runs on a thread of its own."""
    y = torch.zeros(2, requires_grad=True)
    params = [Parameter("y", "Out", "FP32", (2,))]

    def entry(out):
        thread = threading.Thread(target=lambda: out.add_(1))
        thread.start()
        thread.join()

    call_apart(entry, params, [y])
    assert y.tolist() == [1.0, 1.0]
    assert y.requires_grad
