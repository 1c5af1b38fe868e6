"""Python beside the ranks: functions that who runs a program gives for its sub-workers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from ranks.ranked import call, counted, each_stage
from ranks.test_host import CHAIN, copying
from ranks.test_worker import TWO, shared

from pypto_tmpl import ir
from pypto_tmpl.compile.distributed import DistributedCompiledProgram

MISSING = (
    r"SubWorkers \['scale'\] are runtime-bound callbacks \(declared with a `...` body\) "
    r"and must be supplied via callbacks=\{...\}\."
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYPTO_PROG_BUILD_DIR", raising=False)


def compiled(scale: str = "...") -> DistributedCompiledProgram:
    found = ir.compile(copying(CHAIN, scale=scale), distributed_config=TWO, skip_ptoas=True)
    assert isinstance(found, DistributedCompiledProgram)
    return found


def rows() -> list[torch.Tensor]:
    return [shared(counted(2, 1, 8).clone()), shared(torch.zeros(2, 1, 8)), shared(torch.zeros(2, 1, 8))]


def test_a_script_takes_the_functions_of_workers_without_a_body() -> None:
    """Ranks copy the rows, the worker adds 1 to them, ranks copy them on."""
    taken: list[Any] = []

    def add_one(args: Any) -> None:
        taken.append(args)
        args[0].add_(1)

    for stage, names in each_stage(copying(CHAIN, scale="...")):
        xs, ys, zs = rows()
        with pytest.raises(ValueError, match=MISSING):
            call(names, 2, xs, ys, zs)
        names["_callbacks"]["scale"] = add_one
        call(names, 2, xs, ys.zero_(), zs)
        assert torch.equal(ys, xs + 1) and torch.equal(zs, xs + 1), stage
        assert isinstance(taken[-1], tuple) and len(taken[-1]) == 1
        assert taken[-1][0].data_ptr() == ys.data_ptr()


def test_a_prepared_program_takes_callbacks() -> None:
    program, (xs, ys, zs) = compiled(), rows()
    with program.prepare(callbacks={"scale": lambda args: args[0].mul_(3)}) as rt:
        for _ in range(2):
            rt(xs, ys, zs)
            assert torch.equal(zs, 3 * xs)


def test_other_functions_take_the_places_of_bodies() -> None:
    program, (xs, ys, zs) = compiled("y.mul_(10.0)"), rows()
    with program.prepare() as rt:
        rt(xs, ys, zs)
    assert torch.equal(zs, 10 * xs)
    with program.prepare(sub_worker_overrides={"scale": lambda y: y.sub_(2)}) as rt:
        rt(xs, ys, zs)
    assert torch.equal(zs, xs - 2)
    with program.prepare() as rt:  # the program itself has not changed
        rt(xs, ys, zs)
    assert torch.equal(zs, 10 * xs)
    with compiled().prepare(sub_worker_overrides={"scale": lambda y: y.sub_(5)}) as rt:
        rt(xs, ys, zs)
    assert torch.equal(zs, xs - 5)


def test_callbacks_that_are_missing_or_are_for_nobody() -> None:
    with pytest.raises(ValueError, match=f"^{MISSING}$"):
        compiled().prepare()
    xs, ys, zs = rows()
    with pytest.raises(ValueError, match=MISSING):
        compiled()(xs, ys, zs)
    with pytest.raises(ValueError, match=r"callbacks names \['chip'\] are not sub-workers of this program\."):
        compiled().prepare(callbacks={"scale": print, "chip": print})
    own = compiled("y.mul_(10.0)")
    with pytest.raises(ValueError, match=r"callbacks names \['scale'\] are not sub-workers .* It has none\."):
        own.prepare(callbacks={"scale": print})
    with pytest.raises(ValueError, match=r"sub_worker_overrides names \['f'\] are not sub-workers"):
        own.prepare(sub_worker_overrides={"f": print})
    with pytest.raises(TypeError, match=r"callbacks\['scale'\] must be a function, got int"):
        compiled().prepare(callbacks={"scale": 3})


def test_an_error_of_a_callback_ends_the_call() -> None:
    def fail(args: Any) -> None:
        raise KeyError("no such row")

    xs, ys, zs = rows()
    with compiled().prepare(callbacks={"scale": fail}) as rt:
        with pytest.raises(KeyError, match="no such row"):
            rt(xs, ys, zs)
        with pytest.raises(KeyError, match="no such row"):
            rt(xs, ys, zs)


def test_the_bytes_that_a_rank_holds() -> None:
    with compiled("y.mul_(10.0)").prepare() as rt:
        assert rt.committed_device_memory() == 0
        row = rt.alloc_tensor([2, 8], torch.float16, worker_id=1)
        rt.malloc(100)
        stacked = rt.alloc_stacked_tensor(torch.zeros(2, 16))
        assert (rt.committed_device_memory(0), rt.committed_device_memory(1)) == (164, 96)
        rt.free_tensor(row)
        rt.free_stacked_tensor(stacked)
        assert (rt.committed_device_memory(0), rt.committed_device_memory(1)) == (100, 0)
        with pytest.raises(ValueError, match="worker_id 2 is no rank, of 2 ranks"):
            rt.committed_device_memory(2)
