"""The assembler of a build: which one is found, what it is told, what is said where it fails."""

import json
import stat
import time
import warnings
from pathlib import Path

import pytest
from runtime import kernels

from pypto_tmpl import backend, ir
from pypto_tmpl.backend import BackendType
from pypto_tmpl.compile import assembler, compile_options, compile_program
from pypto_tmpl.compile.assembler import PtoasMissingWarning, PtoasNotFoundError, find_ptoas
from pypto_tmpl.compile.progress import PassProgress
from pypto_tmpl.upstream import pto_backend

KERNEL = "kernels/aiv/main_incore_0.pto"
# Stands for the assembler: what it was told goes into what it makes.
WORKING = """\
#!/bin/sh
text=$1
out=$3
{ echo "// $@"; sed -n 's/.*func.func @\\([a-z0-9_]*\\)(.*/AICORE void \\1() {}/p' "$text"; } > "$out"
"""
FAILING = "#!/bin/sh\necho 'kernel.pto:3: no such op' >&2\nexit 3\n"
SILENT = "#!/bin/sh\nexit 0\n"
DUMPING = """\
#!/bin/sh
for word in "$@"; do
  case "$word" in
    --mlir-print-ir-tree-dir=*) mkdir -p "${word#*=}"; echo pass > "${word#*=}/0_first.mlir" ;;
  esac
done
echo made > "$3"
"""


def script(folder: Path, text: str, name: str = "ptoas") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("PTOAS_ROOT", str(tmp_path / "root"))
    return tmp_path / "root"


@pytest.fixture
def none_there(monkeypatch, tmp_path):
    monkeypatch.delenv("PTOAS_ROOT", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))


def build(folder, instruments=(), **compile_cfg):
    folder.mkdir()
    return compile_program(kernels.scale(), folder, compile_options(compile_cfg), instruments=instruments)


def test_the_root_is_looked_at_before_the_path(tmp_path):
    on_path = script(tmp_path / "bin", WORKING)
    environment = {"PATH": str(on_path.parent)}
    assert find_ptoas(environment) == on_path
    later = script(tmp_path / "root/bin", WORKING)
    environment["PTOAS_ROOT"] = str(tmp_path / "root")
    assert find_ptoas(environment) == later
    sooner = script(tmp_path / "root", WORKING, "ptoas.sh")
    assert find_ptoas(environment) == sooner
    (tmp_path / "root/ptoas").write_text("not to be run")
    assert find_ptoas(environment) == sooner


def test_a_root_without_it_is_told_of_though_the_path_has_one(tmp_path):
    on_path = script(tmp_path / "bin", WORKING)
    with pytest.raises(PtoasNotFoundError, match="PTOAS_ROOT is set to '/nowhere'") as caught:
        find_ptoas({"PATH": str(on_path.parent), "PTOAS_ROOT": "/nowhere"})
    assert caught.value.notes == ("tried: /nowhere/ptoas, /nowhere/ptoas.sh, /nowhere/bin/ptoas",)
    assert isinstance(caught.value, FileNotFoundError)


def test_a_build_has_what_it_makes(root, tmp_path):
    script(root, WORKING)
    progress = PassProgress()
    built = build(tmp_path / "build", [progress], platform="a5sim")
    made = (tmp_path / "build/ptoas/kernel.cpp").read_text().splitlines()
    folder = tmp_path / "build/ptoas"
    assert made[0] == (
        f"// {folder}/kernel.pto -o {folder}/kernel.cpp --enable-insert-sync --pto-level=level3 --pto-arch a5"
    )
    assert made[1:] == ["AICORE void kernel() {}"]
    assert "ptoas/kernel.cpp" in built.manifest.files and built.manifest.streams == {}
    entry = (tmp_path / "build/kernels/aiv/kernel.cpp").read_text()
    assert (
        f"{made[0]}\nstatic __aicore__ void kernel() {{}}\n" in entry
        and "kernels/aiv/kernel.cpp" in built.manifest.files
    )
    assert progress.text(2) == "2 s, ptoas, 1 of 1 texts"


def test_its_passes_are_dumped_where_asked_for(root, tmp_path):
    script(root, DUMPING)
    built = build(tmp_path / "build", dump_ptoas_passes=True)
    assert (tmp_path / "build/ptoas_passes/kernel/0_first.mlir").read_text() == "pass\n"
    assert "ptoas_passes/kernel/0_first.mlir" in built.manifest.files


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (FAILING, "ptoas compilation failed: kernel.pto:3: no such op"),
        ("#!/bin/sh\necho no such op\nexit 3\n", "ptoas compilation failed: no such op"),
        ("#!/bin/sh\nexit 3\n", "ptoas compilation failed: exit code 3"),
        (SILENT, "ptoas ended well and wrote no kernel.cpp"),
        ('#!/bin/sh\n: > "$3"\n', "ptoas ended well and wrote an empty kernel.cpp"),
        (
            "#!/bin/sh\nprintf '\\377\\376' > \"$3\"\n",
            "ptoas ended well and wrote kernel.cpp, which is no text",
        ),
        ("#!/bin/sh\nkill -9 $$\n", "ptoas compilation failed: killed by signal 9"),
        ("#!/bin/sh\nprintf '\\033[2Jbad\\377' >&2\nexit 1\n", "ptoas compilation failed: [2Jbad\ufffd\n"),
        ("#!/nowhere/sh\n", "ptoas cannot be started"),
    ],
)
def test_a_text_that_it_refuses_is_told_of_and_the_build_runs(root, tmp_path, text, said):
    script(root, text)
    built = build(tmp_path / "build")
    assert built.manifest.streams["ptoas"].startswith("1 function(s) failed to compile")
    assert said in (tmp_path / "build/report/codegen_errors.txt").read_text()
    assert (tmp_path / "build/torch/main.py").is_file()
    entry = (tmp_path / "build/kernels/aiv/kernel.cpp").read_text()
    assert '#error "kernel: ptoas has made no C++ of the .pto text, which belongs here"' in entry


def test_one_that_does_not_end_is_stopped(root, tmp_path, monkeypatch):
    monkeypatch.setattr(assembler, "_SECONDS", 0.2)
    script(root, "#!/bin/sh\nexec sleep 20\n")
    build(tmp_path / "build")
    report = (tmp_path / "build/report/codegen_errors.txt").read_text()
    assert "ptoas compilation timed out after 0.2s" in report


def test_one_that_does_not_end_takes_what_it_started_with_it(root, tmp_path, monkeypatch):
    monkeypatch.setattr(assembler, "_SECONDS", 0.3)
    script(root, f"#!/bin/sh\nsleep 20 &\necho $! > {tmp_path}/child\nwait\n")
    build(tmp_path / "build")
    child = int((tmp_path / "child").read_text())
    for _ in range(100):
        try:
            state = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            break
        if state == "Z":
            break
        time.sleep(0.05)
    else:
        pytest.fail(f"process {child} runs on")


def test_an_interrupt_ends_those_that_run(tmp_path):
    executable = script(
        tmp_path,
        '#!/bin/sh\ncase "$1" in *slow*) sleep 60; touch "$2.late";; esac\necho "void f() {}" > "$3"\n',
    )
    texts = [tmp_path / f"{name}.pto" for name in ("quick", "slow")]

    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        assembler.assemble(texts, assembler.Assembler(executable), interrupt)
    assert not list(tmp_path.glob("*.late"))


def test_what_is_no_code_of_the_kernels_is_told_of(root, tmp_path):
    script(root, '#!/bin/sh\necho 42 > "$3"\n')
    with pytest.warns(PtoasMissingWarning, match="ptoas made no function of kernel, which the entries call"):
        compiled = ir.compile(kernels.scale(), tmp_path / "build")
    streams = json.loads((compiled.output_dir / "manifest.json").read_text())["streams"]
    assert streams == {"kernels": "ptoas made no function of kernel, which the entries call"}


def test_a_report_holds_the_first_lines_of_what_it_says():
    said = "".join(f"line {number}\n" for number in range(50))
    assert assembler._shown(said).splitlines()[38:] == ["line 38", "line 39", "... (10 more lines)"]


def test_without_it_one_warning_says_what_there_is(none_there, tmp_path):
    with pytest.warns(PtoasMissingWarning) as caught:
        compiled = ir.compile(kernels.scale(), tmp_path / "build")
    why = (
        "ptoas binary not found on PATH: 1 .pto text is written (ptoas/), and no C++ of them; written all "
        "the same: kernel_config.py, orchestration/main.cpp, 1 entry of kernels, with an #error where that "
        "C++ belongs"
    )
    assert [str(warning.message) for warning in caught] == [f"{why}; skip_ptoas=True does without"]
    assert json.loads((compiled.output_dir / "manifest.json").read_text())["streams"]["ptoas"] == why
    assert (tmp_path / "build/ptoas/kernel.pto").is_file()


def test_what_does_without_it_warns_of_nothing(none_there, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ir.compile(kernels.scale(), tmp_path / "skipped", skip_ptoas=True)
        assert build(tmp_path / "simulated").why_no_cpp  # what the harness runs is no device's


@pytest.mark.parametrize(("given", "expected"), [(None, 2), ("1", 1), ("0", 1), ("7", 3)])
def test_how_many_run_at_a_time(monkeypatch, given, expected):
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    environment = {} if given is None else {"PYPTO_CODEGEN_MAX_WORKERS": given}
    assert assembler._worker_count(3, environment) == expected
    with pytest.warns(UserWarning, match="PYPTO_CODEGEN_MAX_WORKERS is 'many', which is no number"):
        assert assembler._worker_count(3, {"PYPTO_CODEGEN_MAX_WORKERS": "many"}) == 2


@pytest.fixture
def last_stage():
    backend.reset_for_testing()
    backend.set_backend_type(BackendType.Ascend910B)
    build = Path(__file__).parents[1] / "streams/recorded/softmax_rows/Ascend910B"
    yield build
    backend.reset_for_testing()


def test_the_face_of_upstream_writes_the_texts_and_runs_it(root, tmp_path, last_stage):
    script(root, WORKING)
    program = ir_of(last_stage)
    assert backend.pto_backend is pto_backend
    files = pto_backend.generate(program, str(tmp_path / "out"))
    assert sorted(files) == ["kernel_config.py", "kernels/aiv/main_incore_0.cpp", "orchestration/main.cpp"]
    assert not (tmp_path / "out/kernels").exists()
    written = (tmp_path / "out/ptoas/main_incore_0.pto").read_text()
    assert written.splitlines() == (last_stage / "ptoas/main_incore_0.pto").read_text().splitlines()
    assert (tmp_path / "out/ptoas/main_incore_0.cpp").read_text().endswith("AICORE void main_incore_0() {}\n")
    made = pto_backend.generate(program, str(tmp_path / "texts"), skip_ptoas=True)
    host = "orchestration/main.cpp"
    assert made == {"kernels/aiv/main_incore_0.pto": written, host: files[host]}
    assert not (tmp_path / "texts").exists()


def test_the_face_raises_with_what_there_is(none_there, tmp_path, last_stage):
    program = ir_of(last_stage)
    with pytest.raises(pto_backend.PartialCodegenError, match="not found on PATH: 1 .pto text is written"):
        pto_backend.generate(program, str(tmp_path))
    assert (tmp_path / "ptoas/main_incore_0.pto").is_file()
    assert (tmp_path / "orchestration/main.cpp").is_file()
    assert (tmp_path / "kernels/aiv/main_incore_0.cpp").is_file()


def test_source_lines_are_named_unless_the_environment_says_no(monkeypatch, tmp_path, last_stage):
    program = ir_of(last_stage)
    assert pto_backend.emit_source_loc_default()
    monkeypatch.setenv("PYPTO_EMIT_PTO_LOC", "Off")
    assert not pto_backend.emit_source_loc_default()
    text = pto_backend.generate(program, str(tmp_path), skip_ptoas=True)[KERNEL]
    assert " loc(" not in text
    text = pto_backend.generate(program, str(tmp_path), skip_ptoas=True, emit_source_loc=True)[KERNEL]
    assert " loc(" in text


def ir_of(build):
    return ir.deserialize_from_file(str(build / "last.msgpack"))
