"""Which cases a configuration has, and the programs that they are made from."""

import sys
from pathlib import Path

import pytest

from pypto_tmpl import ir
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.generated import is_script
from pypto_tmpl.snapshots.cases import find_cases
from pypto_tmpl.snapshots.config import find_config
from pypto_tmpl.snapshots.toml_file import ConfigError

DUMP = Path(__file__).resolve().parents[1] / "corpus/dumps/cast_rounding/Ascend910B/00_frontend.py"
HEAD = '[snapshots]\ngolden = "golden"\n'
KERNELS = """
import torch
import pypto.language as pl
from golden import TensorSpec

@pl.jit
def scaled(x: pl.Tensor, factor: pl.Scalar[pl.FP32], out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:, :] = pl.mul(x[:, :], factor)
    return out

@pl.jit
def doubled(x: pl.Tensor[[16, 32], pl.FP32], out: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:, :] = pl.add(x[:, :], x[:, :])
    return out

@pl.jit
def wrong(x: pl.Tensor[[16, 32], pl.FP32], out: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
    out = pl.no_such_op(x)
    return out

def arguments():
    return [torch.empty(8, 16), 0.25, torch.empty(8, 16)]

def specs():
    x, out = TensorSpec("x", [16, 32], torch.float32), TensorSpec("out", [16, 32], torch.float32, None, True)
    return [x, out]

def broken():
    raise RuntimeError("no arguments today")

PROGRAM = doubled.specialize()
NUMBER = 3
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernels.py").write_text(KERNELS)
    yield tmp_path
    sys.modules.pop("kernels", None)  # imported where a case names it as a module


def cases(folder, text):
    (folder / "pypto-tmpl.toml").write_text(HEAD + text)
    return find_cases(find_config(folder))


def kernel(folder, name, further=""):
    (case,) = cases(folder, f'[[snapshots.kernels]]\nkernel = "kernels.py:{name}"\n{further}')
    return case


@pytest.mark.parametrize(
    "arguments",
    [
        '["FP32[8, 16]", 0.25, "FP32[8, 16]"]',
        '{ x = "FP32[8, 16]", factor = 0.25, out = "FP32[8, 16]" }',
        '"arguments"',
        '"kernels.py:arguments"',
        '"kernels:arguments"',
    ],
)
def test_a_kernel_is_specialised_for_its_arguments(folder, arguments):
    program = kernel(folder, "scaled", f"arguments = {arguments}").source.program()
    text = ir.python_print(program, format=False)
    assert "x: pl.Tensor[[8, 16], pl.FP32]" in text
    assert "0.25" in text


@pytest.mark.parametrize("further", ["", 'arguments = "specs"'])
def test_annotations_or_specs_say_it_as_well(folder, further):
    program = kernel(folder, "doubled", further).source.program()
    assert "x: pl.Tensor[[16, 32], pl.FP32]" in ir.python_print(program, format=False)


def test_programs_of_a_module_of_the_folder(folder):
    (case,) = cases(folder, '[[snapshots.programs]]\nprogram = "kernels:PROGRAM"\n')
    assert (case.name, case.script) == ("PROGRAM", folder / "golden/PROGRAM.py")
    assert isinstance(case.source.program(), ir.Program)


BAD_CODE = {
    ("kernels", "scaled", ""): (
        "kernels.py:7",
        "kernels.py:scaled cannot be specialised: ValueError: scaled(): argument 'x' is not given",
    ),
    ("kernels", "scaled", 'arguments = ["FP33[1]", 1.0, "FP32[1]"]'): ("kernels.py:7", "no dtype 'FP33'"),
    ("kernels", "scaled", 'arguments = ["big", 1.0, "FP32[1]"]'): ("kernels.py:7", "'big' is no argument"),
    ("kernels", "scaled", 'arguments = "broken"'): (
        "kernels.py:30",
        "kernels.py:broken cannot make arguments: RuntimeError: no arguments today",
    ),
    ("kernels", "scaled", 'arguments = "NUMBER"'): ("kernels.py:34", "'int' object is not callable"),
    ("kernels", "wrong", ""): ("kernels.py:20:11", "unknown op 'pl.no_such_op'"),
    ("kernels", "scald", ""): ("kernels.py:1", "there is no 'scald' in it"),
    ("kernels", "NUMBER", ""): ("kernels.py:34", "is of type int, not a @pl.jit function"),
    ("programs", "NUMBER", ""): ("kernels.py:34", "is of type int, not a program"),
    ("programs", "doubled", ""): ("kernels.py:13", "is of type JITFunction, not a program"),
}


@pytest.mark.parametrize(("kind", "name", "further"), BAD_CODE)
def test_code_without_a_program_is_an_error_with_file_and_line(folder, kind, name, further):
    where, what = BAD_CODE[kind, name, further]
    text = f'[[snapshots.{kind}]]\n{kind[:-1]} = "kernels.py:{name}"\nname = "k"\n{further}\n'
    (case,) = cases(folder, text)
    with pytest.raises(PyptoTmplError) as caught:
        case.source.program()
    assert what in caught.value.what
    assert caught.value.where.removeprefix(f"{folder}/") == where


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("import torch\n\n1 / 0\n", "failing.py:3", "ZeroDivisionError"),
        ("def f(:\n", "failing.py:1", "SyntaxError"),
        ("raise SystemExit(1)\n", "failing.py:1", "SystemExit"),
    ],
)
def test_code_that_fails_is_an_error_with_file_and_line(folder, text, where, what):
    (folder / "failing.py").write_text(text)
    (case,) = cases(folder, '[[snapshots.programs]]\nprogram = "failing.py:P"\n')
    with pytest.raises(PyptoTmplError, match=what) as caught:
        case.source.program()
    assert caught.value.where == where


def dumps(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(DUMP.read_bytes() if name.endswith(".py") else b"")


STAGES = (
    *("d/p/A/00_frontend.py", "d/p/A/09_after_X.py", "d/p/A/09_after_X.msgpack", "d/p/A/100_after_Z.py"),
    *(
        "d/p/A/99_after_Y.py",
        "d/p/A/101_after_X.py",
        "d/p/A/notes.py",
        "d/p/B/00_frontend.py",
        "d/q/A/00_frontend.py",
    ),
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            'dumps = "d/{program}/{backend}"\nbackends = ["A"]\n',
            {
                "p/frontend": "p/A/00_frontend.py",
                "p/last": "p/A/101_after_X.py",
                "q/frontend": "q/A/00_frontend.py",
            },
        ),
        (
            'dumps = "d/{program}/{backend}"\nstages = ["frontend"]\n',
            {
                "p/A/frontend": "p/A/00_frontend.py",
                "p/B/frontend": "p/B/00_frontend.py",
                "q/A/frontend": "q/A/00_frontend.py",
            },
        ),
        ('dumps = "d/p/{backend}"\nstages = ["09_after_X"]\nname = "x"\n', {"x": "p/A/09_after_X.msgpack"}),
        ('dumps = "d/p/A"\nstages = ["X", "Y"]\n', {"A/X": "p/A/101_after_X.py", "A/Y": "p/A/99_after_Y.py"}),
        ('dumps = "d/q/*"\nstages = ["*"]\n', {"A/00_frontend": "q/A/00_frontend.py"}),
        ('dumps = "d/p/A/notes.py"\n', {"notes": "p/A/notes.py"}),
        ('dumps = "d/p/*/00_frontend.py"\nname = "f/{file}"\n', {"f/00_frontend": "p/A/00_frontend.py"}),
    ],
)  # fmt: skip
def test_dumps_and_stages(folder, text, expected):
    dumps(folder, *STAGES)
    if "f/{file}" in text:
        (folder / "d/p/B/00_frontend.py").unlink()
    found = cases(folder, f"[[snapshots.dumps]]\n{text}")
    assert {case.name: case.source.file.relative_to(folder / "d").as_posix() for case in found} == expected


@pytest.mark.parametrize(
    ("kind", "text", "line", "what"),
    [
        ("dumps", 'dumps = "e/{program}"\n', 4, "nothing matches 'e/{program}'"),
        ("dumps", 'dumps = "d/{prog}"\n', 4, "'{prog}' in 'd/{prog}'"),
        ("dumps", 'dumps = "d/**"\n', 4, "'**' in 'd/**'"),
        ("dumps", 'dumps = "/d/*"\n', 4, "not relative to the folder"),
        ("dumps", 'dumps = "d/p/{backend}"\nbackends = ["C"]\n', 5, "no dumps of the backend 'C'"),
        ("dumps", 'dumps = "d/p/{backend}"\nstages = [\n"frontend",\n"U"]\n', 5, "of the stage 'U'"),
        ("dumps", 'dumps = "d/p/A"\nname = "{backend}"\n', 5, "'{backend}' is no name of a case"),
        ("dumps", 'dumps = "d/p/A"\nname = "x"\n', 3, "two cases are named 'x'"),
        ("dumps", 'dumps = "d/p/A"\nname = "../{stage}"\n', 3, "'../frontend' is no name of a case"),
        ("kernels", 'kernel = "kernels.py:scaled"\nname = "init"\n', 3, "no case can be named 'init'"),
        ("kernels", 'kernel = "scaled"\n', 4, "neither 'file.py:name' nor 'module:name'"),
        ("kernels", 'kernel = "no.py:scaled"\n', 4, "there is no file 'no.py'"),
        ("kernels", 'kernel = "k*.py:no"\n', 4, "no file 'k*.py' defines 'no' at its top level"),
        ("kernels", 'kernel = "kernels.py:scaled"\narguments = "a b"\n', 5, "neither 'file.py:name'"),
    ],
)  # fmt: skip
def test_a_case_that_means_nothing_is_an_error_with_file_and_line(folder, kind, text, line, what):
    dumps(folder, *STAGES)
    with pytest.raises(ConfigError) as caught:
        cases(folder, f"[[snapshots.{kind}]]\n{text}")
    assert what in caught.value.what
    assert caught.value.where == f"pypto-tmpl.toml:{line}"


def test_the_form_of_scripts_is_said_once_or_for_a_case(folder):
    text = 'check_shapes = true\n[[snapshots.kernels]]\nkernel = "kernels.py:doubled"\n'
    assert [case.emission.check_shapes for case in cases(folder, text)] == [True]
    assert [case.emission.check_shapes for case in cases(folder, text + "check_shapes = false\n")] == [False]
    assert "_check_" not in cases(folder, text + "check_shapes = false\n")[0].text()


def test_where_the_helpers_of_scripts_are(folder):
    kernels = '[[snapshots.kernels]]\nkernel = "kernels.py:doubled"\n'
    given = 'preamble = "import"\npreamble_case = "all"\n'
    doubled, helpers = cases(folder, given + kernels)
    assert (
        "from pypto_tmpl.preamble import _assemble" in doubled.text()
        and "def _assemble" not in doubled.text()
    )
    assert helpers.script.name == "all.py" and "def _assemble" in helpers.text()
    assert is_script(helpers.text().encode())
    for text in (
        given + 'self_contained = ["doubled"]\n' + kernels,
        given + kernels + 'preamble = "script"\n',
    ):
        assert "def _assemble" in cases(folder, text)[0].text()


def test_a_case_without_helpers_that_there_is_not(folder):
    with pytest.raises(ConfigError) as caught:
        cases(folder, 'self_contained = ["dubled"]\n[[snapshots.kernels]]\nkernel = "kernels.py:doubled"\n')
    assert caught.value.what == "no case is named 'dubled'"
    assert caught.value.where == "pypto-tmpl.toml:3"


def test_snapshots_are_emitted_without_options_of_the_environment(folder, monkeypatch):
    (case,) = cases(folder, '[[snapshots.kernels]]\nkernel = "kernels.py:doubled"\n')
    plain = case.text()
    monkeypatch.setenv("PYPTO_TMPL_POISON", "1")
    assert case.text() == plain
