"""Pass dumps: levels, files, and that both forms hold the same program."""

import pytest
from runtime import kernels

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.compile import PassDumpLevel, compile_options, compile_program
from pypto_tmpl.passes.dumping import coerce_dump_level

LEVELS = [
    (False, 0),
    (True, 2),
    (PassDumpLevel.NONE, 0),
    (PassDumpLevel.CONCISE, 2),
    (PassDumpLevel.EXPLICIT, 2),
]


@pytest.fixture
def passes(monkeypatch):
    """Makes a function the pipeline of all compilations."""
    return lambda pipeline: monkeypatch.setattr("pypto_tmpl.compile.lower.pipeline_for", lambda _: pipeline)


def build(program, folder, is_lowered=False, **compile_cfg):
    folder.mkdir(exist_ok=True)
    return compile_program(program, folder, compile_options(compile_cfg), is_lowered=is_lowered)


def dumps(folder):
    return sorted(path.name for path in (folder / "passes_dump").glob("*"))


@pytest.mark.parametrize(("given", "count"), LEVELS, ids=str)
def test_files_by_level(given, count, tmp_path):
    built = build(kernels.scale(), tmp_path, dump_passes=given)
    expected = ["00_frontend.msgpack", "00_frontend.py"][:count]
    assert dumps(tmp_path) == expected
    assert built.manifest.source == ("passes_dump/00_frontend.msgpack" if count else None)


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


def test_the_pipeline_names_and_numbers_its_dumps(tmp_path, passes):
    """The passes tell the dumper what they did; the script is made of what the last one returned."""
    first, last = kernels.copy(), kernels.twice()

    def pipeline(program, observer, knobs):
        assert knobs == {"strategy": "Default"}
        observer.after_pass(1, "InlineFunctions", program)
        observer.after_pass(12, "Simplify", last)
        return last

    passes(pipeline)
    built = build(first, tmp_path, strategy="Default")
    stems = ["00_frontend", "01_after_InlineFunctions", "12_after_Simplify"]
    assert dumps(tmp_path) == [f"{stem}{suffix}" for stem in stems for suffix in (".msgpack", ".py")]
    assert built.manifest.source == "passes_dump/12_after_Simplify.msgpack"
    assert [param.name for param in built.manifest.entry.parameters] == ["x", "a", "b"]


def test_dumps_of_a_pipeline_that_fails_stay_and_there_is_no_manifest(tmp_path, passes):
    def pipeline(program, observer, knobs):
        observer.after_pass(1, "InlineFunctions", program)
        raise RuntimeError("pass 2 broke")

    passes(pipeline)
    with pytest.raises(RuntimeError, match="pass 2 broke"):
        build(kernels.copy(), tmp_path)
    assert dumps(tmp_path) == [
        "00_frontend.msgpack",
        "00_frontend.py",
        "01_after_InlineFunctions.msgpack",
        "01_after_InlineFunctions.py",
    ]
    assert not (tmp_path / "manifest.json").exists()


def test_passes_do_not_run_twice(tmp_path, passes):
    """A program that is lowered already is what the script is made of."""
    passes(lambda program, observer, knobs: kernels.twice())
    built = build(kernels.copy(), tmp_path, is_lowered=True)
    assert built.program.name == kernels.copy().name
    assert dumps(tmp_path) == ["00_frontend.msgpack", "00_frontend.py"]
