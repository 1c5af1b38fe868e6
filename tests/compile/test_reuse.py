"""Taking up an earlier build: what is stale or missing is named, with what is done."""

from dataclasses import replace

import pytest
from default_stages import LAST
from runtime import kernels

from pypto_tmpl.compile import compile_options, compile_program, reuse_build
from pypto_tmpl.compile import fingerprint as fingerprint_module
from pypto_tmpl.compile import reuse as reuse_module

SCRIPT, TEXT, BINARY = "torch/main.py", f"passes_dump/{LAST}.py", f"passes_dump/{LAST}.msgpack"
RECORD = "torch/main.record.json"


@pytest.fixture
def build(tmp_path):
    compile_program(kernels.scale(), tmp_path, compile_options(None))
    return tmp_path


def findings(build):
    return [str(finding) for finding in reuse_build(build).findings]


def test_an_unchanged_build(build):
    reused = reuse_build(build)
    assert reused.findings == ()
    assert reused.build.directory == build
    assert reused.build.manifest.program == "Scale"


def test_a_missing_script_is_generated_again(build):
    before = (build / SCRIPT).read_bytes()
    (build / SCRIPT).unlink()
    assert findings(build) == [f"{SCRIPT}: missing; generated again from {BINARY}"]
    assert (build / SCRIPT).read_bytes() == before
    assert findings(build) == []


def test_a_record_that_is_gone_is_made_again_when_it_is_needed(build):
    (build / RECORD).unlink()
    assert findings(build) == [f"{RECORD}: missing; made again when it is needed"]
    (build / SCRIPT).unlink()
    findings(build)
    assert findings(build) == []  # with the script comes its record


def test_an_edited_script_is_run_as_it_stands(build):
    path = build / SCRIPT
    path.write_text(path.read_text().replace("t__ssa_v0 * n__ssa_v0", "t__ssa_v0 + n__ssa_v0"))
    assert findings(build) == [f"{SCRIPT}: edited; the edited script is run"]
    assert "t__ssa_v0 + n__ssa_v0" in path.read_text()


def test_edited_and_truncated_dumps_have_no_effect_and_are_named(build):
    text = build / TEXT
    text.write_text(text.read_text().replace("muls", "adds"))  # of the same size
    data = (build / BINARY).read_bytes()
    (build / BINARY).write_bytes(data[:100])
    assert findings(build) == [
        f"{BINARY}: truncated or edited (100 of {len(data)} bytes); not used, {SCRIPT} is what runs",
        f"{TEXT}: edited; not used, {SCRIPT} is what runs",
    ]


def test_a_script_is_not_generated_from_an_edited_dump(build):
    (build / SCRIPT).unlink()
    (build / BINARY).write_bytes((build / BINARY).read_bytes() + b"\0")
    (build / TEXT).unlink()
    with pytest.raises(ValueError) as caught:
        reuse_build(build)
    assert str(caught.value) == (
        f"error[stale-build]: {SCRIPT} is missing and cannot be generated again: {BINARY} is edited\n"
        f"   = {BINARY}: edited\n"
        f"   = {TEXT}: missing\n"
        "   = compile the program again"
    )
    assert not (build / SCRIPT).exists()


def test_a_script_without_dumps_is_gone(tmp_path):
    compile_program(kernels.scale(), tmp_path, compile_options({"dump_passes": False}))
    (tmp_path / SCRIPT).unlink()
    with pytest.raises(ValueError, match="cannot be generated again: the build has no pass dumps"):
        reuse_build(tmp_path)


def test_a_script_of_other_templates_is_told_of(build, monkeypatch):
    monkeypatch.setattr(reuse_module, "generator_fingerprint", lambda: "another")
    assert findings(build) == [
        f"{SCRIPT}: made by other templates or another generator (pypto_tmpl 0.1.0); "
        "run as it is, compile again to renew it"
    ]


def test_a_script_generated_again_with_another_text_says_so(build, monkeypatch):
    (build / SCRIPT).unlink()
    original = reuse_module.torch_script

    def torch_script(program, entry, folder):
        script = original(program, entry)
        return replace(script, text=script.text + "# new templates\n")

    monkeypatch.setattr(reuse_module, "torch_script", torch_script)
    assert findings(build) == [
        f"{SCRIPT}: missing; generated again from {BINARY}, with another text than the build had"
    ]
    assert findings(build) == []


def test_the_fingerprint_follows_the_templates(tmp_path, monkeypatch):
    (tmp_path / "ops").mkdir()
    (tmp_path / "ops/a.jinja").write_text("one")
    monkeypatch.setattr(fingerprint_module, "all_folders", lambda: (tmp_path,))
    digest = fingerprint_module.generator_fingerprint
    first = digest()
    assert digest() == first
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "page.css").write_text("p {}")
    assert digest() == first
    (tmp_path / "ops/a.jinja").write_text("second")
    assert digest() != first


def test_a_directory_that_is_no_build(tmp_path):
    with pytest.raises(ValueError, match=r"is no complete build: it has no manifest\.json"):
        reuse_build(tmp_path)
