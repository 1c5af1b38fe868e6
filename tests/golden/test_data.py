"""Data directories: what is saved, what is checked when it is replayed, what is told when it is stale."""

import hashlib
import json

import pytest
import torch
from default_stages import LAST
from runtime import kernels

from pypto_tmpl.golden import ScalarSpec, TensorSpec, run


def accumulate_golden(values):
    values["total"] += values["x"]


def accumulate(**knobs):
    specs = [
        TensorSpec("x", [4], torch.float32),
        TensorSpec("total", [4], torch.float32, 5.0, is_output=True),
    ]
    return run(kernels.accumulate(), specs, **{"golden_fn": accumulate_golden} | knobs)


def names(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.pt"))


def test_an_inout_is_on_both_sides_and_replays_exactly():
    first = accumulate()
    data = first.work_dir / "data"
    assert names(data) == ["in/total.pt", "in/x.pt", "out/total.pt"]
    assert torch.load(data / "in/total.pt", weights_only=True).tolist() == [5.0] * 4
    x = torch.load(data / "in/x.pt", weights_only=True)
    assert torch.equal(torch.load(data / "out/total.pt", weights_only=True), x + 5)
    assert accumulate(golden_data=data).passed


def test_the_manifest():
    torch.manual_seed(77)
    data = accumulate().work_dir / "data"
    facts = json.loads((data / "manifest.json").read_text())
    assert facts["program"] == "Accumulate"
    assert facts["seed"] == 77
    assert facts["specs"] == [
        {"name": "x", "dtype": "torch.float32", "shape": [4], "is_output": False},
        {"name": "total", "dtype": "torch.float32", "shape": [4], "is_output": True},
    ]
    assert facts["golden_fn"]["name"] == "accumulate_golden"
    assert facts["result"] == "passed"
    raw = (data / "in/x.pt").read_bytes()
    assert facts["files"]["in/x.pt"] == {"bytes": len(raw), "sha256": hashlib.sha256(raw).hexdigest()}
    assert sorted(facts["files"]) == names(data)


def test_a_view_is_saved_without_the_rest_of_its_storage():
    storage = torch.zeros(1 << 20)
    specs = [
        TensorSpec("x", [4], torch.float32, storage[:4]),
        TensorSpec("total", [4], torch.float32, 0.0, is_output=True),
    ]
    data = run(kernels.accumulate(), specs, accumulate_golden).work_dir / "data"
    assert (data / "in/x.pt").stat().st_size < 10_000


def test_all_missing_files_are_named_before_anything_is_loaded(tmp_path, console):
    folder = tmp_path / "mine"
    (folder / "in").mkdir(parents=True)
    torch.save(torch.zeros(4), folder / "in/x.pt")
    result = accumulate(golden_data=folder)
    assert (result.phase, result.error) == (
        "generate inputs",
        f"golden_data is missing files: ['{folder}/in/total.pt', '{folder}/out/total.pt']",
    )
    assert console()[-2:] == ["[RUN] generate inputs ...", "[RUN] generate inputs done (T)"]


@pytest.fixture
def own_data(tmp_path):
    """A folder without manifest, as one writes it by hand."""
    folder = tmp_path / "mine"
    for side in ("in", "out"):
        (folder / side).mkdir(parents=True)
    torch.save(torch.arange(32.0).reshape(4, 8), folder / "in/x.pt")
    torch.save(torch.tensor(2.0), folder / "in/n.pt")
    torch.save(torch.arange(32.0).reshape(4, 8) * 2, folder / "out/y.pt")
    return folder


def test_a_cached_scalar_replaces_the_specs(run_scale, own_data, console):
    assert run_scale(golden_data=own_data).passed
    assert "[RUN]   scalar 'n': 2.0 from golden_data replaces 3.0" in console()


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("n", torch.tensor([2.0]), "n.pt must contain a 0-dim torch.Tensor, got (1,)"),
        ("n", 2.0, "n.pt must contain a torch.Tensor, got float"),
        ("n", torch.tensor(2), "n.pt dtype mismatch: spec=torch.float32 cache=torch.int64"),
        ("x", torch.zeros(4, 8).double(), "x.pt dtype mismatch: spec=torch.float32 cache=torch.float64"),
        ("x", torch.zeros(8, 4), "x.pt shape mismatch: spec=(4, 8) cache=(8, 4)"),
    ],
)
def test_inputs_that_do_not_fit_their_specs(run_scale, own_data, name, value, text):
    torch.save(value, own_data / f"in/{name}.pt")
    result = run_scale(golden_data=own_data)
    assert (result.phase, result.error) == ("generate inputs", text)


def test_goldens_are_judged_when_they_are_compared(run_scale, own_data):
    torch.save(torch.zeros(8, 4), own_data / "out/y.pt")
    assert "shape mismatch: actual (4, 8), expected (8, 4)" in run_scale(golden_data=own_data).error
    torch.save(torch.arange(32.0).reshape(4, 8).double() * 2, own_data / "out/y.pt")
    assert "dtype mismatch: actual torch.float32, expected torch.float64" in (
        run_scale(golden_data=own_data).error
    )


def test_a_truncated_file_is_named(run_scale):
    data = run_scale().work_dir / "data"
    raw = (data / "in/x.pt").read_bytes()
    (data / "in/x.pt").write_bytes(raw[: len(raw) // 2])
    result = run_scale(golden_data=data)
    assert not result.passed
    assert result.error.startswith(
        f"{data}/in/x.pt cannot be read, truncated or edited ({len(raw) // 2} of {len(raw)} bytes): "
    )


def test_a_replaced_file_is_told_of_and_used(run_scale, console):
    data = run_scale().work_dir / "data"
    torch.save(torch.full((4, 8), 1000.0), data / "out/y.pt")
    console()
    result = run_scale(golden_data=data)
    assert "actual=0.0, expected=1000.0" in result.error
    assert "[RUN]   out/y.pt: edited since it was saved; used as it is" in console()


def test_stale_files_of_a_reused_build_are_all_named(run_scale, console):
    """The script is gone, a pass dump was edited, a saved tensor was cut off: each is told of."""
    work_dir = run_scale().work_dir
    (work_dir / "torch/main.py").unlink()
    text = work_dir / f"passes_dump/{LAST}.py"
    text.write_text(text.read_text() + "# edited\n")
    saved = work_dir / "data/in/x.pt"
    size = saved.stat().st_size
    saved.write_bytes(saved.read_bytes()[:100])
    console()
    result = run_scale(runtime_dir=work_dir)
    assert console()[:4] == [
        f"[RUN] runtime_only: skipping compile, using {work_dir}",
        f"[RUN]   passes_dump/{LAST}.py: edited; not used, torch/main.py is what runs",
        f"[RUN]   torch/main.py: missing; generated again from passes_dump/{LAST}.msgpack",
        f"[RUN]   data/in/x.pt: truncated or edited (100 of {size} bytes); not used, data is made anew",
    ]
    assert result.passed
    # The data was made anew, so that nothing is stale any more but for the edited dump.
    run_scale(runtime_dir=work_dir)
    assert [line for line in console() if line.startswith("[RUN]   ") and ";" in line] == [
        f"[RUN]   passes_dump/{LAST}.py: edited; not used, torch/main.py is what runs"
    ]


def test_a_build_that_cannot_be_used_names_its_files(run_scale):
    work_dir = run_scale().work_dir
    (work_dir / "torch/main.py").unlink()
    (work_dir / f"passes_dump/{LAST}.msgpack").unlink()
    result = run_scale(runtime_dir=work_dir)
    assert (result.phase, result.error) == (
        "runtime_dir",
        "runtime_dir: StaleBuildError: torch/main.py is missing and cannot be generated again: "
        f"passes_dump/{LAST}.msgpack is missing\n"
        f"   = passes_dump/{LAST}.msgpack: missing\n"
        "   = compile the program again",
    )
    assert result.work_dir == work_dir


def test_an_edited_script_is_what_runs(run_scale, console):
    work_dir = run_scale().work_dir
    script = work_dir / "torch/main.py"
    script.write_text(script.read_text().replace("t__ssa_v0 * n__ssa_v0", "t__ssa_v0 * n__ssa_v0 + 1"))
    result = run_scale(runtime_dir=work_dir)
    assert "[RUN]   torch/main.py: edited; the edited script is run" in console()
    assert "actual=1.0, expected=0.0" in result.error


def test_the_goldens_of_an_earlier_run_do_not_stay_beside_new_inputs(run_scale):
    """A folder never holds the inputs of one run and the goldens of another."""
    work_dir = run_scale().work_dir
    assert not run_scale(runtime_dir=work_dir, golden_fn=lambda values: 1 / 0).passed
    assert names(work_dir / "data") == ["in/n.pt", "in/x.pt"]


def test_a_folder_with_a_damaged_manifest(run_scale):
    data = run_scale().work_dir / "data"
    (data / "manifest.json").write_text("{")
    assert run_scale(golden_data=data).error.startswith(f"{data}/manifest.json cannot be read: ")


def test_seeds_set_by_the_script_fix_the_inputs():
    torch.manual_seed(9)
    first = torch.load(accumulate().work_dir / "data/in/x.pt", weights_only=True)
    torch.manual_seed(9)
    second = torch.load(accumulate().work_dir / "data/in/x.pt", weights_only=True)
    assert torch.equal(first, second)


def test_scalars_of_every_dtype_survive_saving():
    from pypto_tmpl.golden.data import DataReader, DataWriter

    dtypes = [torch.int8, torch.int32, torch.int64, torch.uint8, torch.bool, torch.float32, torch.bfloat16]
    specs = [ScalarSpec(f"s{i}", dtype, dtype == torch.bool or 1) for i, dtype in enumerate(dtypes)]
    from pathlib import Path

    DataWriter(Path("d"), "P", specs).inputs({spec.name: spec.value for spec in specs})
    loaded = DataReader(Path("d")).load(specs, None)
    assert [loaded.inputs[spec.name].dtype for spec in specs] == dtypes
    assert (loaded.input_notes, loaded.golden_notes) == ((), ())
