"""Ways to programs of several ranks, with ranks that are processes; ``test_processes.py`` runs this file."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner
from mpi4py import MPI
from ranks.on_processes import bits
from ranks.ranked import barrier, counted, function, host, program, script, single_kernel, tensor
from ranks.test_commands import dump
from ranks.test_examples import FOLDER, NAMES
from ranks.test_kernels import ME, mesh_sum
from ranks.test_worker import compiled_handshake, compiled_sum, expected, rows, shared

from pypto_tmpl.cli import main
from pypto_tmpl.debug import torch_codegen
from pypto_tmpl.execution.choice import choose_engine
from pypto_tmpl.execution.engines import EngineError
from pypto_tmpl.execution.load import load_script
from pypto_tmpl.execution.modules import load_module
from pypto_tmpl.golden import run_jit
from pypto_tmpl.runtime import DistributedConfig, execute_distributed_compiled

RANKS = MPI.COMM_WORLD.size
pytestmark = pytest.mark.filterwarnings("ignore:signals are left over:RuntimeWarning")
of_two = pytest.mark.skipif(RANKS != 2, reason="is for 2 ranks")


@pytest.fixture(autouse=True)
def by_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYPTO_PROG_BUILD_DIR", raising=False)
    choose_engine("mpi")
    yield
    choose_engine("threads")


def values_of(module: Any) -> dict[str, torch.Tensor]:
    torch.manual_seed(5)
    return {spec.name: spec.create_tensor() for spec in module.specs()}


@pytest.mark.parametrize("name", NAMES)
def test_an_example_computes_the_same_bits(name: str) -> None:
    module = load_module(FOLDER / f"{name}.py")
    if RANKS != module.RANKS:
        pytest.skip(f"{module.RANKS} ranks")
    found = []
    for engine in ("threads", "mpi"):
        devices = DistributedConfig([*range(RANKS)], engine=engine)
        values = values_of(module)
        result = run_jit(
            fn=module.PROGRAM,
            specs=module.specs(),
            golden_fn=module.golden,
            compile_cfg={"distributed_config": devices},
            rtol=1e-3,
            atol=1e-2,
        )
        assert result.passed, result.error
        assert result.work_dir is not None
        execute_distributed_compiled(result.work_dir, list(values.values()))
        found.append(values)
    assert all(torch.equal(bits(one), bits(found[1][name])) for name, one in found[0].items())


@of_two
def test_a_compiled_program_and_a_worker() -> None:
    compiled = compiled_sum()
    assert torch.equal(compiled(rows()), expected(rows()))
    x, ys = shared(rows()), [shared(torch.zeros(2, 1, 64)) for _ in range(3)]
    with compiled.prepare() as rt:
        for handle in [rt.submit(compiled, x, y) for y in ys]:
            handle.result(timeout=600)
    assert all(torch.equal(y, expected(x)) for y in ys)


@of_two
def test_windows_that_are_kept_are_zeroed_or_stay() -> None:
    compiled = compiled_handshake()
    y = shared(torch.zeros(2, 1, 8, dtype=torch.int32))
    with compiled.prepare(persistent=True) as rt:
        for _ in range(3):
            rt(shared(torch.ones(2, 1, 8, dtype=torch.int32)), y)
            assert y[:, 0, 0].tolist() == [2, 1]
    with compiled.prepare(persistent=True, reset_persistent_windows=False) as rt:
        for k, counts in ((1, [2, 1]), (2, [4, 2]), (3, [6, 3])):
            wanted = torch.tensor([k * 2, k], dtype=torch.int32)[:, None, None].expand(2, 1, 8)
            rt(shared(wanted), y)
            assert y[:, 0, 0].tolist() == counts


@of_two
def test_validate_runs_each_stage_by_processes(tmp_path: Path) -> None:
    dump(tmp_path / "dump")
    for path in sorted((tmp_path / "dump").glob("*.py"))[1:-1:6]:
        path.unlink()
    xs = 100.0 * torch.arange(2)[:, None, None] + counted(1, 1, 64)
    torch.save({"x": xs}, tmp_path / "in.pt")
    torch.save({"y": xs.sum(0).expand(2, 1, 64).contiguous()}, tmp_path / "out.pt")
    words = ["validate", "--engine", "mpi", str(tmp_path / "dump"), "--inputs", str(tmp_path / "in.pt")]
    words += ["--expected", str(tmp_path / "out.pt")]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    assert "all as expected" in done.output
    done = CliRunner().invoke(main, [*words, "--jobs", "2"])
    assert done.exit_code == 2
    assert "--jobs: not with --engine mpi" in done.output


def test_signals_that_are_left_are_told_with_the_source_lines_of_every_rank() -> None:
    add = (
        f"pld.system.notify(sig, peer=(me + 1) % {RANKS}, offsets=[0, 0], value=1, op=pld.NotifyOp.AtomicAdd)"
    )
    node = single_kernel(RANKS, {"sig": (1, 1)}, f"{ME}\n{add}", dtypes={"sig": "INT32"})
    names = load_script(torch_codegen(node, preamble="script"), "<script>", node)
    names["_ranks"].device_ids = [*range(RANKS)]
    with pytest.warns(RuntimeWarning, match="signals are left over") as caught:
        names["host"]()
    lines = str(caught[0].message).splitlines()[1:]
    assert [line.partition(":")[0] for line in lines] == [
        f"  `sig` cell 0 of rank {rank} = 1" for rank in range(RANKS)
    ]
    assert all("last notified by rank" in line and line.endswith(")") for line in lines)
    assert len({line[line.index(" (from <string>:") :] for line in lines}) == 1


SET = "pld.system.notify(sig, peer={peer}, offsets=[{cell}, 0], value={value}, op=pld.NotifyOp.Set)"
WAIT = "pld.system.wait(sig, offsets=[{cell}, 0], expected=1, cmp=pld.WaitCmp.Ge)"


@of_two
@pytest.mark.parametrize("way", ["repeated", "waited for again", "taken back", "set over another"])
def test_signals_that_are_set_again_behind_a_wait_are_left(way: str) -> None:
    """Rank 1 sets the cell again when rank 0 has told it that its wait is over."""
    first = [SET.format(peer=0, cell=0, value=1), WAIT.format(cell=1)]
    first.append(SET.format(peer=0, cell=0, value=2 if way == "set over another" else 1))
    second = [WAIT.format(cell=0), SET.format(peer=1, cell=1, value=1)]
    if way == "waited for again":
        first.append(SET.format(peer=0, cell=1, value=1))
        second += [WAIT.format(cell=1), WAIT.format(cell=0)]
    if way == "taken back":
        second.insert(1, SET.format(peer=0, cell=0, value=0))
        second += [WAIT.format(cell=0), SET.format(peer=0, cell=0, value=0)]
    lines = [ME, "if me == 1:", *(f"    {one}" for one in first)]
    lines += ["if me == 0:", *(f"    {one}" for one in second)]
    node = single_kernel(RANKS, {"sig": (2, 1)}, "\n".join(lines), dtypes={"sig": "INT32"})
    names, told = script(node), []
    names["_ranks"].device_ids = [0, 1]
    for engine in ("threads", "mpi", "mpi", "mpi"):
        choose_engine(engine)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            names["host"]()
        told.append([str(one.message) for one in caught])
    assert told[1:] == told[:1] * 3
    if way in ("repeated", "set over another"):
        value = 2 if way == "set over another" else 1
        (text,) = told[0]
        assert f"  `sig` cell 0 of rank 0 = {value}: no wait asked for it; last notified by rank 1" in text
    else:
        assert told[0] == []


def test_a_deadlock_is_told_with_who_waits_on_every_rank() -> None:
    waits = f"pld.system.wait(sig, offsets=[{RANKS - 1} - me, 0], expected=1, cmp=pld.WaitCmp.Ge)"
    names, xs = script(mesh_sum(RANKS, waits)), torch.zeros(RANKS, 1, 64)
    with pytest.raises(RuntimeError, match="^deadlock: every rank waits") as caught:
        names["host"](xs, xs.clone())
    for rank in range(RANKS):
        who = f"rank {rank} (device {rank}), dispatch 0 chip, task 1 kernel"
        assert f"{who}: signal `sig[{RANKS - 1 - rank}, 0]` = 0, waits for >= 1" in str(caught.value)


def test_an_error_on_the_last_rank_is_raised_with_its_line() -> None:
    notify = f"pld.system.notify(sig, peer={RANKS - 1} - me, offsets=[0, 0], value=1, op=pld.NotifyOp.Set)"
    load = "bad = pld.tile.remote_load(data, peer=me + 1, offsets=[0, 0], shape=[1, 64])"
    body = f"if me == {RANKS - 1}:\n    {load}\n"
    waits = "pld.system.wait(sig, offsets=[0, 0], expected=7, cmp=pld.WaitCmp.Ge)"
    names, xs = script(mesh_sum(RANKS, f"{notify}\n{body}{waits}")), torch.zeros(RANKS, 1, 64)
    last = RANKS - 1
    with pytest.raises(IndexError, match=f"^rank {last}: remote_load by rank {last}: peer {RANKS}") as caught:
        names["host"](xs, xs.clone())
    place = caught.traceback[-1]
    assert (place.path, place.name) == ("<script>", "kernel")
    assert "_remote_load" in names["_SCRIPT"].text.splitlines()[place.lineno]
    names, ys = script(mesh_sum(RANKS)), torch.zeros(RANKS, 1, 64)
    names["host"](torch.ones(RANKS, 1, 64), ys)  # the processes go on
    assert (ys == RANKS).all()


def test_ranks_that_write_parts_of_one_tensor_of_the_host() -> None:
    """Each rank writes its row of the whole tensor, and reads that of all others in a second call."""
    whole, row = tensor(RANKS, 8), tensor(1, 8)
    copy = "y = pl.store(pl.load(x, [0, 0], [1, 8]), [at, 0], y)\nreturn y"
    add = f"""
total = pl.load(y, [0, 0], [1, 8])
for q in pl.range(1, {RANKS}):
    total = pl.add(total, pl.load(y, [q, 0], [1, 8]))
z = pl.store(total, [0, 0], z)
return z
"""
    given = f"x: {row}, y: {tensor(RANKS, 8, way='InOut')}, at: pl.Scalar[pl.INT32]"
    taken = f"y: {whole}, z: {tensor(1, 8, way='Out')}"
    node = program(
        function("InCore", "copy", given, copy, whole),
        function("InCore", "add", taken, add, row),
        function("Orchestration", "spread", given, "y = self.copy(x, y, at)\nreturn y", whole),
        function("Orchestration", "gather", taken, "z = self.add(y, z)\nreturn z", row),
        host(
            "",
            """
for r in pl.range(pld.world_size()):
    self.spread(xs[r], ys, r, device=r)
for r in pl.range(pld.world_size()):
    self.gather(ys, zs[r], device=r)
return 0
""",
            f"xs: {tensor(RANKS, 1, 8)}, ys: {tensor(RANKS, 8, way='InOut')},"
            f" zs: {tensor(RANKS, 1, 8, way='Out')}",
        ),
    )
    xs, ys, zs = 1 + counted(RANKS, 1, 8), torch.zeros(RANKS, 8), torch.zeros(RANKS, 1, 8)
    names = script(node)
    names["_ranks"].device_ids = [*range(RANKS)]
    names["host"](xs, ys, zs)
    assert torch.equal(ys, xs[:, 0])
    assert torch.equal(zs, xs.sum(0).expand(RANKS, 1, 8))


@pytest.mark.parametrize("dtype", ["FP32", "FP16", "INT32", "INT8"])
def test_many_sums_into_one_window_lose_no_contribution(dtype: str) -> None:
    """Of every dtype that can be added: by MPI, or under a lock."""
    body = f"""
{ME}
for i in pl.range(20):
    pld.tensor.put(total, peer=0, src=x, dst_offsets=[1, 0], src_offsets=[0, 0], shape=[2, 32],
                   atomic=pld.AtomicType.Add)
{barrier(RANKS)}
y = pl.store(pl.load(total, [0, 0], [4, 32]), [0, 0], y)
return y
"""
    of = {"total": dtype, "x": dtype, "y": dtype, "sig": "INT32"}
    windows = {"total": (4, 32), "sig": (RANKS, 1)}
    node = single_kernel(RANKS, windows, body, inputs={"x": (2, 32)}, outputs={"y": (4, 32)}, dtypes=of)
    kind = {"FP32": torch.float32, "FP16": torch.float16, "INT32": torch.int32, "INT8": torch.int8}[dtype]
    xs, ys = torch.ones(RANKS, 2, 32, dtype=kind), torch.zeros(RANKS, 4, 32, dtype=kind)
    script(node)["host"](xs, ys)
    assert (ys[0, 1:3] == 20 * RANKS).all() and not ys[0, ::3].any() and not ys[1:].any()


def test_what_processes_do_not_do() -> None:
    xs = torch.zeros(RANKS, 1, 64)
    for option in ("race_check", "schedule_seed"):
        with pytest.raises(EngineError, match=f"the script has the option '{option}'"):
            script(mesh_sum(RANKS), **{option: 1})["host"](xs, xs.clone())
    more = torch.zeros(RANKS + 1, 1, 64)
    with pytest.raises(EngineError, match=rf"runs on {RANKS + 1} ranks, .* there are {RANKS} processes"):
        script(mesh_sum(RANKS + 1))["host"](more, more.clone())
    with pytest.raises(EngineError, match=f"there are {RANKS} processes"):
        compiled_sum(DistributedConfig([4], engine="mpi"))
