"""No command changes or removes a file that it did not write, whatever lies in the folder it writes to."""

import os
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from runtime import kernels
from scaled_dumps import expected, inputs, scaled_text, write_dump

from pypto_tmpl.cli import main
from pypto_tmpl.compile import compile_options, compile_program
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.golden import TensorSpec
from pypto_tmpl.golden.data import DataWriter
from pypto_tmpl.passes import PassPipeline, create_program_pass
from pypto_tmpl.runtime import execute_compiled

SAYS = "Emitted by pypto_tmpl: change the IR or a template, not this text."
GOOD = ("in", "out", "dump", "kernel.py", "build")
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)  # without shrinking
# An example takes a run of the command: where all is checked there are more.
MANY = 20 if os.environ.get("CI") else 6
SLOW = ("bisect", "validate, a page", "validate, data", "ops new")
KERNEL = """
import torch
import pypto.language as pl

@pl.program
class Copy:
    @pl.function
    def main(self, x: pl.Tensor[[4, 8], pl.FP32]) -> pl.Tensor[[4, 8], pl.FP32]:
        y: pl.Tensor[[4, 8], pl.FP32] = pl.adds(x, 1.0)
        return y
"""

# Contents that a user's file may have, those that come near a mark among them.
CONTENTS = st.one_of(
    st.binary(max_size=40),
    st.sampled_from(
        [
            b"",
            b"\xff\xfe",
            b"print('mine')\n",
            f"# {SAYS}\n".encode(),
            f'"""Mine.\n"""\nTEXT = """x\n\n{SAYS}\n"""\n'.encode(),
            f'x = 1\n"""Title\n\n{SAYS}\n"""\n'.encode(),
            b"{}",
            b"[]",
            b'{"format": 1, "values": "a.pt", "records": []}',
            b'{"schema": 1, "files": {"app.py": {"bytes": 0, "sha256": ""}}}',
            b'{"generated_by": "me"}',
            b'{"1": "not a place"}',
            b'{"tool": "other 1.0", "files": {}}',
            b"<!DOCTYPE html>\n<html><head></head></html>\n",
            b'<p>&lt;meta name="generator" content="pypto_tmpl"&gt;</p>',
            b"family: mine\nops: []\n",
        ]
    ),
)


def entries(*names):
    """What a user may have in a folder: files of any name or a given one, links, folders, read-only."""
    any_name = st.text("abcxyz.-_ é", min_size=1, max_size=8).filter(lambda n: n.strip(". "))
    path = st.one_of(
        st.sampled_from(names), any_name, st.sampled_from(["src/app.py", "setup.py", "data/x.pt"])
    )
    kind = st.sampled_from(["file", "file", "file", "read-only", "link", "dangling link", "folder"])
    return st.dictionaries(path, st.tuples(kind, CONTENTS), max_size=6)


def lay_out(folder, outside, found):
    """Make the user's entries; a name whose place is taken already is left out."""
    for number, (name, (kind, content)) in enumerate(found.items()):
        place = folder / name
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.path.lexists(place):
            continue
        target = outside / f"kept{number}"
        if kind == "folder":
            place.mkdir()
        elif kind == "dangling link":
            place.symlink_to(target)
        elif kind == "link":
            target.write_bytes(content)
            place.symlink_to(target)
        else:
            place.write_bytes(content)
            if kind == "read-only":
                place.chmod(0o444)


def state(*folders):
    """Every entry with what it is: a link's target, a file's bytes and rights."""
    found = {}
    for path in (path for folder in folders for path in folder.rglob("*")):
        if path.is_symlink():
            found[path] = ("link", os.readlink(path))
        elif path.is_file():
            found[path] = (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
        else:
            found[path] = ("folder",)
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """What commands read: dumps, tensors, a build with dumped arguments, a kernel."""
    folder = tmp_path_factory.mktemp("made")
    for name, tensors in (("in", inputs()), ("out", expected())):
        (folder / name).mkdir()
        for tensor, value in tensors.items():
            torch.save(value, folder / name / f"{tensor}.pt")
    write_dump(folder / "dump", scaled_text(), scaled_text(odd=3.0))
    binary = folder / "dumps/scaled/Ascend910B"
    binary.mkdir(parents=True)
    source = folder / "dump/00_frontend.py"
    run("print", source, "--msgpack", "-o", binary / "00_frontend.msgpack")
    (folder / "build").mkdir()
    compile_program(kernels.diamond(), folder / "build", compile_options({}))
    execute_compiled(folder / "build", [torch.zeros(4, 8), torch.zeros(4, 8)], enable_dump_args=2)
    return folder


def run(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)))


TENSORS = ("--inputs", "{in}", "--expected", "{out}")
SNAPSHOT = ("--config", "{config}")
# name: the arguments, the names that the command may write
WRITERS = {
    "gen": (("gen", "{dump}", "-o", "{f}/s.py"), ("s.py",)),
    "gen with a map": (("gen", "{dump}", "-o", "{f}/s.py", "--source-map"), ("s.py", "s.map.json")),
    "print": (("print", "{dump}", "-o", "{f}/p.py"), ("p.py",)),
    "print as bytes": (("print", "{dump}", "--msgpack", "-o", "{f}/p.msgpack"), ("p.msgpack",)),
    "args": (("args", "{build}", "--task", "r1t3", "--arg", "o", "--save", "{f}/o.pt"), ("o.pt",)),
    "trace": (
        ("trace", "{dump}", "--inputs", "{in}", "--out", "{f}"),
        ("index.json", "values-0123456789abcdef.pt"),
    ),
    "validate, a page": (("validate", "{dump}", *TENSORS, "--report", "{f}/r.html"), ("r.html",)),
    "validate, data": (("validate", "{dumps}", *TENSORS, "--report", "{f}/r.json"), ("r.json",)),
    "bisect": (("bisect", "{dumps}", *TENSORS, "--report", "{f}/r.html"), ("r.html",)),
    "snapshot": (
        ("snapshot", "--update", "--prune", *SNAPSHOT),
        ("scaled/frontend.py", "scaled/last.py", "gone/last.py", "app.py", "scaled"),
    ),
    "snapshot, no prune": (
        ("snapshot", "--update", *SNAPSHOT),
        ("scaled/frontend.py", "scaled/last.py", "gone/last.py"),
    ),
    "ops new": (
        ("--template-dir", "{f}", "ops", "new", "tile.mine", "--family", "mine"),
        ("ops/mine.yaml", "ops/mine.py.jinja", "ops", "preamble/x.py.jinja"),
    ),
    "run": (("run", "{kernel}", "--report", "{f}/r.html"), ("r.html", "build_output")),
}  # fmt: skip


def snapshot_config(made, folder):
    """A configuration that keeps its scripts in ``folder``; it stands beside it."""
    file = folder.parent / f"{folder.name}.toml"
    dumps = os.path.relpath(made / "dumps", folder.parent)
    file.write_text(
        f'[snapshots]\ngolden = "{folder.name}"\n'
        f'[[snapshots.dumps]]\ndumps = "{dumps}/{{program}}/{{backend}}"\n'
        'stages = ["frontend"]\nname = "{program}/{stage}"\n'
    )
    return file


def filled(arguments, made, folder):
    places = {
        "f": folder,
        "in": made / "in",
        "out": made / "out",
        "dump": made / "dump/00_frontend.py",
        "dumps": made / "dump",
        "config": snapshot_config(made, folder),
        "build": made / "build",
        "kernel": made / "kernel.py",
    }
    return [argument.format_map({key: str(place) for key, place in places.items()}) for argument in arguments]


@pytest.mark.parametrize("writer", [name for name in WRITERS if name != "run"])
def test_no_command_touches_files_of_users(made, writer, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    arguments, names = WRITERS[writer]

    @settings(max_examples=MANY // 3 if writer in SLOW else MANY, phases=PHASES)
    @given(entries(*names), st.booleans())
    def check(found, was_there):
        with tempfile.TemporaryDirectory() as place:
            folder, outside = Path(place, "folder"), Path(place, "outside")
            folder.mkdir()
            outside.mkdir()
            if was_there:
                assert run(*filled(arguments, made, folder)).exit_code in (0, 1)
            own = state(folder)
            lay_out(folder, outside, found)
            before = state(folder, outside)
            result = run(*filled(arguments, made, folder))
            after = state(folder, outside)
            assert isinstance(result.exception, SystemExit | None), result.exception
            assert result.exit_code in (0, 1, 2)
            assert "Traceback" not in result.output
            for path, was in before.items():
                if path not in own:
                    if writer == "ops new" and path.parent.name == "ops" and result.exit_code == 0:
                        assert after[path][0].startswith(was[0])
                    else:
                        assert after.get(path) == was, path

    check()


@pytest.mark.parametrize("writer", WRITERS)
def test_a_file_in_the_way_is_one_clear_error(made, writer, monkeypatch, tmp_path):
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.chdir(tmp_path)
    (made / "kernel.py").write_text(KERNEL)
    arguments, names = WRITERS[writer]
    if writer == "ops new":
        pytest.skip("it adds to the file")
    place = tmp_path / names[0]
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(b"mine\n")
    result = run(*filled(arguments, made, tmp_path))
    assert result.exit_code == 2
    assert (
        "error[not-generated]: this file was not written by pypto_tmpl and is left as it is" in result.output
    )
    assert str(place) in result.output
    assert place.read_bytes() == b"mine\n"


@pytest.mark.parametrize("writer", [name for name in WRITERS if name not in ("ops new", "run")])
def test_a_command_replaces_what_it_wrote(made, writer, monkeypatch, tmp_path):
    monkeypatch.delenv("CI", raising=False)
    arguments = filled(WRITERS[writer][0], made, tmp_path)
    codes = [run(*arguments).exit_code for _ in range(2)]
    assert codes in ([0, 0], [1, 1])


@pytest.mark.parametrize("writer", ["gen", "print", "print as bytes", "args"])
def test_force_replaces_the_named_file(made, writer, tmp_path):
    arguments, names = WRITERS[writer]
    place = tmp_path / names[0]
    place.write_bytes(b"mine\n")
    assert run(*filled(arguments, made, tmp_path), "--force").exit_code == 0
    assert place.read_bytes() != b"mine\n"
    place.chmod(0o444)
    place.write_bytes(b"mine\n")
    result = run(*filled(arguments, made, tmp_path), "--force")
    assert result.exit_code == 2
    assert "the file is read-only" in result.output
    assert place.read_bytes() == b"mine\n"


def build(folder):
    compile_program(kernels.copy(), folder, compile_options({"profiling": True}))


def data(folder):
    specs = [TensorSpec("x", [2], torch.float32), TensorSpec("y", [2], torch.float32, is_output=True)]
    writer = DataWriter(folder, "P", specs)
    writer.inputs({"x": torch.zeros(2)})
    writer.goldens({"y": torch.zeros(2)}, build)


def records(folder):
    for options in ({"enable_dump_args": 2}, {"enable_dep_gen": True}, {"enable_pmu": 2}):
        execute_compiled(folder, [torch.zeros(4, 8), torch.zeros(4, 8)], **options)


# name: the call, the names that it may write, what makes the folder ready
FOLDERS = {
    "a build": (
        build,
        ("manifest.json", "unfinished.json", "passes_dump/00_frontend.py", "passes_dump/00_frontend.msgpack",
         "passes_dump/49_after_MaterializeValidShapeSymbols.msgpack", "compiled_meta.json", "ptoas",
         "kernels", "orchestration", "torch/main.py", "report/pipeline_profile.json",
         "report/pipeline_profile.txt", "data", "report"),
    ),
    "saved data": (data, ("manifest.json", "in/x.pt", "out/y.pt", "in", "out")),
    "records of a run": (
        records,
        ("dfx_outputs/deps.json", "dfx_outputs/deps_graph.html", "dfx_outputs/pmu.csv",
         "dfx_outputs/pmu_ops.csv", "dfx_outputs/args_dump/args_dump.json",
         "dfx_outputs/args_dump/args.bin", "dfx_outputs"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("writer", FOLDERS)
def test_no_folder_of_a_run_costs_files_of_users(made, writer):
    write, names = FOLDERS[writer]

    @settings(max_examples=MANY // 2, phases=PHASES)
    @given(entries(*names), st.booleans())
    def check(found, was_there):
        with tempfile.TemporaryDirectory() as place:
            folder, outside = Path(place, "folder"), Path(place, "outside")
            outside.mkdir()
            if writer == "records of a run":
                shutil.copytree(made / "build", folder, ignore=shutil.ignore_patterns("dfx_outputs"))
            else:
                folder.mkdir()
            if was_there:
                write(folder)
            own = state(folder)
            lay_out(folder, outside, found)
            before = state(folder, outside)
            with suppress(PyptoTmplError):
                write(folder)
            after = state(folder, outside)
            for path, was in before.items():
                if path not in own:
                    assert after.get(path) == was, path

    check()


@pytest.mark.parametrize("writer", FOLDERS)
def test_a_folder_is_written_twice(made, writer, tmp_path):
    folder = tmp_path / "folder"
    if writer == "records of a run":
        shutil.copytree(made / "build", folder, ignore=shutil.ignore_patterns("dfx_outputs"))
    else:
        folder.mkdir()
    FOLDERS[writer][0](folder)
    first = {path for path in state(folder) if "swimlane" not in path.name}
    FOLDERS[writer][0](folder)
    assert first <= set(state(folder))


def test_a_build_that_failed_is_built_again(tmp_path, monkeypatch):
    def fails(program):
        raise RuntimeError("a pass")

    pipeline = PassPipeline([create_program_pass(fails, "Fails")])

    with monkeypatch.context() as patch:
        patch.setattr("pypto_tmpl.compile.lower.pipeline_for", lambda options: pipeline)
        for _ in range(2):
            with pytest.raises(RuntimeError, match="a pass"):
                compile_program(kernels.copy(), tmp_path, compile_options({}))
            assert (tmp_path / "passes_dump/00_frontend.py").is_file()
    compile_program(kernels.scale(), tmp_path, compile_options({}))
    assert not (tmp_path / "unfinished.json").exists()


def test_an_edited_dump_of_an_earlier_build_stays(tmp_path):
    build(tmp_path)
    dump = tmp_path / "passes_dump/00_frontend.py"
    dump.write_text(dump.read_text() + "# mine\n")
    with pytest.raises(PyptoTmplError, match="not written by pypto_tmpl") as error:
        compile_program(kernels.scale(), tmp_path, compile_options({}))
    assert str(dump) in str(error.value)
    assert dump.read_text().endswith("# mine\n")
