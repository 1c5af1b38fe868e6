"""Pass dumps: levels, files, and that both forms hold the same program."""

import pytest
from default_stages import LAST, STAGES
from runtime import kernels

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.compile import PassDumpLevel, compile_options, compile_program
from pypto_tmpl.passes import PassError, PassPipeline, create_program_pass
from pypto_tmpl.passes.dumping import coerce_dump_level

LEVELS = [
    (False, 0),
    (True, 2),
    (PassDumpLevel.NONE, 0),
    (PassDumpLevel.CONCISE, 2),
    (PassDumpLevel.EXPLICIT, 2),
]

SUFFIXES = (".msgpack", ".py")


@pytest.fixture
def passes(monkeypatch):
    """Makes functions, by the names of passes, the pipeline of all compilations."""

    def install(**functions):
        made = [create_program_pass(function, name) for name, function in functions.items()]
        monkeypatch.setattr("pypto_tmpl.compile.lower.pipeline_for", lambda _: PassPipeline(made))

    return install


def build(program, folder, is_lowered=False, **compile_cfg):
    folder.mkdir(exist_ok=True)
    return compile_program(program, folder, compile_options(compile_cfg), is_lowered=is_lowered)


def dumps(folder):
    return sorted(path.name for path in (folder / "passes_dump").glob("*"))


@pytest.mark.parametrize(("given", "count"), LEVELS, ids=str)
def test_files_by_level(given, count, tmp_path):
    built = build(kernels.scale(), tmp_path, dump_passes=given)
    assert dumps(tmp_path) == [f"{stage}{suffix}" for stage in STAGES for suffix in SUFFIXES[:count]]
    assert built.manifest.source == (f"passes_dump/{LAST}.msgpack" if count else None)
    assert built.manifest.stage == LAST


def test_a_level_is_a_member_like_any_other():
    assert [bool(level) for level in PassDumpLevel] == [True, True, True]
    assert [level.value for level in PassDumpLevel] == [0, 1, 2]


def test_another_value_is_refused():
    with pytest.raises(TypeError) as caught:
        coerce_dump_level(2)
    assert str(caught.value) == (
        "dump_passes must be a bool or one of PassDumpLevel.NONE, PassDumpLevel.CONCISE, "
        "PassDumpLevel.EXPLICIT, got 2"
    )


def test_both_levels_load_equal_and_explicit_shows_the_layout(tmp_path):
    program = kernels.scale()
    texts = {}
    for level in (PassDumpLevel.CONCISE, PassDumpLevel.EXPLICIT):
        folder = tmp_path / level.name
        build(program, folder, dump_passes=level)
        path = folder / "passes_dump/00_frontend.py"
        texts[level] = path.read_text()
        assert ir.structural_equal(pl.loads(path), program)
        binary = ir.deserialize_from_file(str(path.with_suffix(".msgpack")))
        assert ir.structural_equal(binary, program)
    assert "blayout" not in texts[PassDumpLevel.CONCISE]
    assert "blayout" in texts[PassDumpLevel.EXPLICIT]


def test_text_ends_with_one_line_end(tmp_path):
    build(kernels.scale(), tmp_path)
    data = (tmp_path / "passes_dump/00_frontend.py").read_bytes()
    assert data.endswith(b"return z\n")
    assert b"\r" not in data


def test_passes_are_numbered_and_the_script_is_made_of_what_the_last_one_gives(tmp_path, passes):
    last = kernels.accumulate()
    passes(InlineFunctions=lambda program: program, Simplify=lambda program: last)
    built = build(kernels.copy(), tmp_path)
    stems = ["00_frontend", "01_after_InlineFunctions", "02_after_Simplify"]
    assert dumps(tmp_path) == [f"{stem}{suffix}" for stem in stems for suffix in SUFFIXES]
    assert built.manifest.source == "passes_dump/02_after_Simplify.msgpack"
    assert "total + x" in (tmp_path / "torch/main.py").read_text()
    # It is called as the program that was given, of which passes may say more, and by other names.
    parameters = [(param.name, param.direction) for param in built.manifest.entry.parameters]
    assert parameters == [("x", "In"), ("y", "Out")]
    for stem, program in zip(stems, (kernels.copy(), kernels.copy(), last), strict=True):
        for suffix in SUFFIXES:
            path = tmp_path / "passes_dump" / f"{stem}{suffix}"
            read = pl.loads(path) if suffix == ".py" else ir.deserialize_from_file(str(path))
            assert ir.structural_equal(read, program)


def broken(program):
    raise PassError("there is nothing to do", program["main"], program["main"].body)


def test_dumps_of_a_pipeline_that_fails_stay_and_there_is_no_manifest(tmp_path, passes):
    passes(InlineFunctions=lambda program: program, Simplify=broken)
    with pytest.raises(PassError) as caught:
        build(kernels.copy(), tmp_path)
    assert str(caught.value) == (
        "error[pass]: there is nothing to do\n  --> copy.py:9:5\n   = in function 'main'"
    )
    assert caught.value.__notes__ == [
        "in the pass Simplify",
        'to run it as it is written, without passes: stage="frontend" '
        "(in runtime_cfg, RunConfig, compile; pypto-tmpl run --stage frontend)",
    ]
    assert dumps(tmp_path) == [
        f"{stem}{suffix}" for stem in ("00_frontend", "01_after_InlineFunctions") for suffix in SUFFIXES
    ]
    assert not (tmp_path / "manifest.json").exists()


def test_passes_do_not_run_twice(tmp_path):
    """A program that is lowered already is what the script is made of."""
    built = build(kernels.copy(), tmp_path, is_lowered=True)
    assert built.program.name == kernels.copy().name
    assert dumps(tmp_path) == ["00_frontend.msgpack", "00_frontend.py"]
