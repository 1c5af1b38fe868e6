"""The Python of sub-workers in builds: what is written, shown, replaced, and never executed unasked."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
import torch
from ranks.test_host import CHAIN, copying
from ranks.test_sub_workers import MISSING, rows
from ranks.test_worker import TWO

from pypto_tmpl import ir
from pypto_tmpl.compile.build_page import attached_to, build_manifest
from pypto_tmpl.compile.distributed import DistributedCompiledProgram
from pypto_tmpl.compile.reuse import reuse_build
from pypto_tmpl.runtime.manifest import ManifestError, read_manifest

SCALE, REQUIRED = "sub_workers/scale.py", "sub_workers/__required__.json"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYPTO_PROG_BUILD_DIR", raising=False)


def compiled(scale: str, dump_passes: bool = True) -> Path:
    program = copying(CHAIN, scale=scale)
    made = ir.compile(program, "build", distributed_config=TWO, skip_ptoas=True, dump_passes=dump_passes)
    return made.output_dir


def taken_up(build: Path) -> DistributedCompiledProgram:
    found = DistributedCompiledProgram.from_dir(build)
    assert isinstance(found, DistributedCompiledProgram)
    return found


def test_a_build_has_the_module_and_its_manifest_and_page_have_it() -> None:
    build = compiled("y.mul_(10.0)")
    assert SCALE in read_manifest(build).files and not (build / REQUIRED).exists()
    spec = importlib.util.spec_from_file_location("scale", build / SCALE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    y = torch.ones(2, 1, 8)
    module.scale(y)
    assert torch.equal(y, torch.full((2, 1, 8), 10.0))
    shown = dict(attached_to(build, build_manifest(build)).files)
    assert shown[SCALE] == (build / SCALE).read_text()
    assert 'orch.submit_sub(sub_ids["scale"], _ta_1)' in shown["orchestration/host_orch.py"]


def test_a_callback_is_listed_and_the_next_build_removes_what_it_has_not() -> None:
    build = compiled("y.mul_(10.0)")
    compiled("...")
    assert json.loads((build / REQUIRED).read_text()) == ["scale"]
    assert not (build / SCALE).exists()
    assert dict(attached_to(build, build_manifest(build)).files)[REQUIRED]
    compiled("y.mul_(10.0)")
    assert (build / SCALE).exists() and not (build / REQUIRED).exists()


def test_a_build_that_is_taken_up_does_not_execute_them() -> None:
    build = compiled("y.mul_(10.0)")
    with (build / SCALE).open("a") as file:
        file.write("\nraise SystemExit('executed')\n")
    assert [str(found) for found in reuse_build(build).findings] == [f"{SCALE}: edited; not used"]
    xs, ys, zs = rows()
    taken_up(build)(xs, ys, zs)
    assert torch.equal(zs, 10 * xs)


def test_without_the_program_the_lists_of_the_build_tell_who_is_given() -> None:
    xs, ys, zs = rows()
    given = taken_up(compiled("...", dump_passes=False))
    with pytest.raises(ValueError, match=f"^{MISSING}$"):
        given.prepare()
    with given.prepare(callbacks={"scale": lambda args: args[0].mul_(3)}) as rt:
        rt(xs, ys, zs)
    assert torch.equal(zs, 3 * xs)
    own = taken_up(compiled("y.mul_(10.0)", dump_passes=False))
    with pytest.raises(ValueError, match=r"callbacks names \['scale'\] are not sub-workers .* It has none\."):
        own.prepare(callbacks={"scale": print})
    with own.prepare(sub_worker_overrides={"scale": lambda y: y.sub_(2)}) as rt:
        rt(xs, ys, zs)
    assert torch.equal(zs, xs - 2)


@pytest.mark.parametrize("text", ["[3]", '{"scale": 1}', "[", ""])
def test_a_list_that_is_none_is_told(text: str) -> None:
    build = compiled("...", dump_passes=False)
    (build / REQUIRED).write_text(text)
    with pytest.raises(ManifestError, match=r"__required__\.json (is no list of names|cannot be read)"):
        taken_up(build).prepare()
