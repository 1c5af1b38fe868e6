"""Stages of buffers: replayed from their companions, by values and on bytes."""

import json
import re

import pytest
import torch
from click.testing import CliRunner
from passes.buffered import buffered, same
from storage.placed_kernels import inputs, placed, run

import pypto_tmpl.language as pl
from pypto_tmpl import ir, passes
from pypto_tmpl.cli import main
from pypto_tmpl.debug import validate_pass_ir_codegen_results
from pypto_tmpl.ir.destinations import has_destinations
from pypto_tmpl.ops import load_table
from pypto_tmpl.passes.memory.usage import memory_use
from pypto_tmpl.rewrite import Rewriter
from pypto_tmpl.storage.overwrites import overwrites

PROGRAM = """
import pypto.language as pl

@pl.program
class example:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        t = pl.load(x, [0, 0], [16, 64])
        for i, (t,) in pl.range(3, init_values=(t,)):
            u = pl.mul(t, 2.0)
            t = pl.yield_(pl.add(u, 1.0))
        done = pl.store(t, [0, 0], out)
        return done

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        out = self.kernel(x, out)
        return out
"""
LAST = "50_after_LowerToBuffers"


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    return ir.compile(pl.parse(PROGRAM), tmp_path_factory.mktemp("build"), skip_ptoas=True, buffers=True)


@pytest.fixture
def tensors():
    x, _ = inputs()
    return {"x": x, "out": torch.zeros(16, 64)}, {"out": ((x * 2 + 1) * 2 + 1) * 2 + 1}


def test_a_build_dumps_and_executes_the_stage(compiled, tensors):
    given, expected = tensors
    dumps = compiled.output_dir / "passes_dump"
    assert {path.name for path in dumps.glob("5*")} == {f"{LAST}.py", f"{LAST}.msgpack"}
    out = torch.zeros(16, 64)
    compiled(given["x"], out)
    assert same(out, expected["out"])
    companion = ir.deserialize_from_file(str(dumps / f"{LAST}.msgpack"))
    assert (dumps / f"{LAST}.py").read_text() == ir.python_print(companion)


def test_the_stage_has_a_name_where_there_is_one(tmp_path):
    program = pl.parse(PROGRAM)
    found = ir.compile(program, tmp_path, skip_ptoas=True, buffers=True, stage="LowerToBuffers")
    assert (found.output_dir / "passes_dump" / f"{LAST}.msgpack").is_file()
    with passes.PassContext(buffers=True):
        again = ir.compile(program, tmp_path / "again", skip_ptoas=True, stage=50)
    assert (again.output_dir / "passes_dump" / f"{LAST}.msgpack").is_file()
    with pytest.raises(ValueError, match="there is no stage 'LowerToBuffers'"):
        ir.compile(program, tmp_path / "without", skip_ptoas=True, stage="LowerToBuffers")


def test_a_kernel_is_lowered_to_buffers():
    @pl.jit
    def twice(x: pl.Tensor, out: pl.Out[pl.Tensor]):
        with pl.at(level=pl.Level.CORE_GROUP):
            out[:, :] = pl.mul(x, 2.0)
        return out

    x = torch.ones(16, 64)
    assert not has_destinations(twice.lower(x, x))
    assert has_destinations(twice.lower(x, x, buffers=True))
    with passes.PassContext(buffers=True):
        assert has_destinations(twice.lower(x, x)) and not has_destinations(twice.lower(x, x, buffers=False))


def test_streams_are_those_of_values(compiled, tmp_path):
    values = ir.compile(pl.parse(PROGRAM), tmp_path, skip_ptoas=True)

    def texts(build):
        return {
            path.relative_to(build.output_dir).as_posix(): path.read_text()
            for folder in ("kernels", "orchestration")
            for path in (build.output_dir / folder).rglob("*")
            if path.is_file()
        }

    assert texts(compiled) == texts(values) and any(name.endswith(".pto") for name in texts(values))


def test_validate_ir_replays_the_companion(compiled, tensors):
    given, expected = tensors
    result = compiled.validate_ir(given, expected=expected)
    assert result.stages[-1].stage.name == LAST and result.stages[-1].passed
    assert result.stages[-1].read_from.endswith(f"{LAST}.msgpack")


@pytest.mark.parametrize("storage", ["off", "planned", "both"])
def test_validate_says_what_it_replays(compiled, tensors, storage):
    result = validate_pass_ir_codegen_results(
        compiled.output_dir / "passes_dump" / f"{LAST}.py", *tensors, storage=storage
    )
    (stage,) = result.stages
    assert stage.passed and stage.note == "Buffer text is for people"


def test_edits_of_the_text_do_not_count(compiled, tensors, tmp_path):
    text = (compiled.output_dir / "passes_dump" / f"{LAST}.py").read_text()
    file = tmp_path / f"{LAST}.py"
    file.write_text(text.replace("2.0", "3.0"))
    (tmp_path / f"{LAST}.msgpack").write_bytes(
        (compiled.output_dir / "passes_dump" / f"{LAST}.msgpack").read_bytes()
    )
    (stage,) = validate_pass_ir_codegen_results(file, *tensors).stages
    assert stage.passed and stage.note == (
        "Buffer text is for people; it differs from what the companion prints, and these edits do not count"
    )


def test_text_without_its_companion(compiled, tensors, tmp_path):
    file = tmp_path / f"{LAST}.py"
    file.write_text((compiled.output_dir / "passes_dump" / f"{LAST}.py").read_text())
    with pytest.raises(Exception, match="is Buffer text, and its companion is not there"):
        validate_pass_ir_codegen_results(file, *tensors)


class Moved(Rewriter):
    """Moves the tile ``name`` to another address."""

    def __init__(self, name: str, address: int) -> None:
        super().__init__()
        self.name, self.address = name, address

    def definition(self, old, typed):
        if old.name_hint != self.name:
            return typed
        memref = typed.type.memref
        other = ir.MemRef(memref.base_, ir.ConstInt(self.address, ir.DataType.INT64, old.span), memref.size_)
        return ir.Var(old.name_hint, ir.TileType(
            typed.type.shape, typed.type.dtype, other, typed.type.tile_view, typed.type.memory_space
        ), old.span)  # fmt: skip


TWO = """
    a @ 0x400 FP32[16, 64] = load(x)
    b @ 0x1800 FP32[16, 64] = load(y)
    c @ 0x3000 FP32[16, 64] = pl.tile.sub(a, b)
    store(c)
"""


def test_what_lies_on_another_buffer_is_found():
    good = buffered(TWO)
    assert overwrites(good, load_table()) == []
    bad = Moved("b", 0x800).rewrite(good)
    x, y = inputs()
    assert same(run(good), x - y) and not same(run(bad), x - y) and same(run(bad, storage=False), x - y)
    assert [found.text() for found in overwrites(bad, load_table())] == [
        "kernel: written by line 11 `b` at Vec 0x800-0x13ff while `a` is read on line 12"
    ]


def test_a_copy_that_is_left_out_is_found():
    loop = """
        a @ 0 FP32[16, 64] = load(x)
        for i, (c,) in pl.range(2, init_values=(a,)):
            b @ 0x1000 FP32[16, 64] = pl.tile.adds(c, 1.0)
            r = pl.yield_(b)
        store(r)
    """

    class Dropped(Rewriter):
        def statement(self, stmt):
            return [] if ir.python_print(stmt).startswith("c[...] = b") else stmt

    good = buffered(loop)
    bad = Dropped().rewrite(good)
    x, _ = inputs()
    assert same(run(good), x + 2) and same(run(bad), x)


def test_memory_use_of_buffers():
    program = placed("""
        a @ 0 FP32[16, 64] = load(x)
        for i, (c,) in pl.range(2, init_values=(a,)):
            b @ 0x1000 FP32[16, 64] = pl.tile.adds(c, 1.0)
            d @ 0 FP32[16, 64] = pl.tile.muls(b, 2.0)
            r = pl.yield_(d)
        store(r)
    """)
    (kernel,) = memory_use(passes.lower_to_buffers()(program), None)
    tiles = {tile.name: (tile.first, tile.last) for tile in kernel.spaces[0].buffers[0].tiles}
    # 2 load, 3 the copy to c, 4 adds, 5 muls, 6 the copy to c, 7 the store
    assert tiles == {"a": (2, 3), "c": (3, 7), "b": (4, 5), "d": (5, 6)}


def test_memory_check_of_a_dump(tmp_path):
    runner = CliRunner()
    good, bad = tmp_path / "good.msgpack", tmp_path / "bad.msgpack"
    good.write_bytes(ir.serialize(buffered(TWO)))
    bad.write_bytes(ir.serialize(Moved("b", 0x800).rewrite(buffered(TWO))))
    found = runner.invoke(main, ["memory", str(good), "--check"])
    assert (found.exit_code, found.stdout.splitlines()[-1]) == (0, "check: tiles are where they are read")
    found = runner.invoke(main, ["memory", str(bad), "--check"])
    assert (found.exit_code, found.stdout.splitlines()[-1]) == (1, "1 problem")


def test_bisect_names_the_statement(compiled, tensors, tmp_path):
    given, expected = tensors
    for path in (compiled.output_dir / "passes_dump").glob("[45][90]_*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())

    class Wrong(Rewriter):
        def expression(self, expr):
            if isinstance(expr, ir.Call) and expr.op.name == "tile.adds":
                return ir.Call(ir.Op("tile.subs"), expr.args, expr.kwargs, expr.type, expr.span)
            return expr

    companion = tmp_path / f"{LAST}.msgpack"
    companion.write_bytes(ir.serialize(Wrong().rewrite(ir.deserialize_from_file(str(companion)))))
    torch.save(given, tmp_path / "in.pt")
    torch.save(expected, tmp_path / "expected.pt")
    command = ["bisect", str(tmp_path), "--inputs", str(tmp_path / "in.pt")]
    command += ["--expected", str(tmp_path / "expected.pt"), "--format", "json"]
    found = CliRunner().invoke(main, command)
    assert found.exit_code == 1
    assert json.loads(found.stdout)["first_bad"] == LAST
    assert re.search(r"tile\.subs\(u", found.stdout)
