"""Programs with tiles of four bits at all stages: they agree on the bytes, and an overlay of one is named."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import pypto_tmpl.language as pl
from pypto_tmpl import backend, ir, passes
from pypto_tmpl.debug import Options, first_divergence, validate_pass_ir_codegen_results
from pypto_tmpl.ir.pass_manager import PassManager
from pypto_tmpl.ops import load_table
from pypto_tmpl.storage.overwrites import overwrites

INTEGERS = """\
import pypto.language as pl

@pl.program
class Integers:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[32, 128], pl.FP16], y: pl.Tensor[[32, 128], pl.INT4],
               out: pl.Out[pl.Tensor[[32, 128], pl.FP16]], q: pl.Out[pl.Tensor[[32, 128], pl.INT4]]):
        a = pl.load(x, [0, 0], [32, 128])
        n = pl.cast(a, pl.INT4, mode="rint")
        m = pl.load(y, [0, 0], [32, 128])
        nf = pl.cast(n, pl.FP16)
        mf = pl.cast(m, pl.FP16)
        s = pl.add(nf, mf)
        k = pl.cast(s, pl.INT4, mode="rint")
        q = pl.store(k, [0, 0], q)
        w = pl.tile.slice(k, [8, 64], [4, 32])
        wf = pl.cast(w, pl.FP16)
        again = pl.cast(n, pl.FP16)
        sum = pl.add(s, again)
        r = pl.tile.assemble(sum, wf, [16, 64])
        for i, (c,) in pl.range(3, init_values=(k,)):
            cf = pl.cast(c, pl.FP16)
            cg = pl.mul(cf, -1.0)
            turned = pl.cast(cg, pl.INT4, mode="rint")
            last = pl.yield_(turned)
        lf = pl.cast(last, pl.FP16)
        total = pl.add(r, lf)
        out = pl.store(total, [0, 0], out)
        return out, q

    @pl.function
    def main(self, x: pl.Tensor[[32, 128], pl.FP16], y: pl.Tensor[[32, 128], pl.INT4],
             out: pl.Out[pl.Tensor[[32, 128], pl.FP16]], q: pl.Out[pl.Tensor[[32, 128], pl.INT4]]):
        out, q = self.kernel(x, y, out, q)
        return out, q
"""
FLOATS = """\
import pypto.language as pl

@pl.program
class Floats:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[32, 128], pl.BF16], y: pl.Tensor[[32, 128], pl.FP4],
               out: pl.Out[pl.Tensor[[32, 128], pl.BF16]], q: pl.Out[pl.Tensor[[32, 128], pl.FP4]]):
        a = pl.load(x, [0, 0], [32, 128])
        n = pl.cast(a, pl.FP4, mode="rint")
        m = pl.load(y, [0, 0], [32, 128])
        q = pl.store(n, [0, 0], q)
        mf = pl.cast(m, pl.BF16)
        halves = pl.tile.reshape(m, [64, 64])
        rows = pl.tile.reshape(halves, [32, 128])
        hf = pl.cast(rows, pl.BF16)
        mixed = pl.tile.concat(n, m)
        cf = pl.cast(mixed, pl.BF16)
        part = pl.tile.slice(cf, [32, 128], [0, 64])
        one = pl.maximum(mf, part)
        two = pl.maximum(one, hf)
        out = pl.store(two, [0, 0], out)
        return out, q

    @pl.function
    def main(self, x: pl.Tensor[[32, 128], pl.BF16], y: pl.Tensor[[32, 128], pl.FP4],
             out: pl.Out[pl.Tensor[[32, 128], pl.BF16]], q: pl.Out[pl.Tensor[[32, 128], pl.FP4]]):
        out, q = self.kernel(x, y, out, q)
        return out, q
"""
FP4 = torch.tensor([sign * number for sign in (1, -1) for number in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)])
Tensors = dict[str, torch.Tensor]


def integers() -> tuple[Tensors, Tensors]:
    """Inputs of the first program, and what is wanted."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randint(-30, 31, (32, 128), generator=generator).half() / 4
    y = torch.randint(-8, 8, (32, 128), generator=generator, dtype=torch.int8)
    n = x.float().round()  # to even; no larger than 7.5
    n, s = n.clamp(max=7), n.clamp(max=7) + y
    k = s.clamp(-8, 7)
    r = s + n
    r[16:24, 64:128] = k[4:12, 32:96]
    last = torch.where(k == -8, 7, -k)  # the negative of -8 is 7, and then it turns twice
    given = {"x": x, "y": y, "out": torch.zeros(32, 128).half(), "q": torch.zeros(32, 128, dtype=torch.int8)}
    return given, {"out": (r + last).half(), "q": k.to(torch.int8)}


def floats() -> tuple[Tensors, Tensors]:
    """The same of the second one: its FP4 is packed here by hand."""
    generator = torch.Generator().manual_seed(0)
    codes = torch.randint(0, 16, (2, 32, 128), generator=generator, dtype=torch.uint8)
    x, y = FP4[codes.long()]
    stored = (codes[..., 0::2] + 16 * codes[..., 1::2]).view(torch.float4_e2m1fn_x2)
    beside = torch.cat([x, y], dim=1)[:, 64:192]
    empty = torch.zeros(32, 64, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)
    given = {"x": x.bfloat16(), "y": stored[1], "out": torch.zeros(32, 128).bfloat16(), "q": empty}
    return given, {"out": torch.maximum(y, beside).bfloat16(), "q": stored[0]}


CASES = {"INT4": (INTEGERS, "Ascend910B", integers), "FP4": (FLOATS, "Ascend950", floats)}


def dumped(folder: Path, dtype: str, *, buffers: bool = False) -> Callable[[], tuple[Tensors, Tensors]]:
    """All stages of a program in a folder; what gives its inputs and outputs."""
    text, generation, tensors = CASES[dtype]
    program = pl.parse(text)
    assert isinstance(program, ir.Program)
    backend.reset_for_testing()
    backend.set_backend_type(backend.BackendType[generation])
    try:
        with passes.PassContext(buffers=buffers):
            PassManager.get_strategy().run_passes(program, dump_ir=True, output_dir=str(folder))
    finally:
        backend.reset_for_testing()
    return tensors


@pytest.mark.parametrize("storage", ["on", "both"])
@pytest.mark.parametrize("dtype", CASES)
def test_all_stages_agree(tmp_path: Path, dtype: str, storage: str) -> None:
    given, wanted = dumped(tmp_path, dtype, buffers=True)()
    result = validate_pass_ir_codegen_results(tmp_path, given, wanted, entry="main", jobs=1, storage=storage)
    on_bytes = {stage.stage.name for stage in result.stages if stage.is_on_bytes}
    assert {"35_after_AllocateMemoryAddr", "50_after_LowerToBuffers"} <= on_bytes
    assert ("32_after_InitMemRef" in on_bytes) == (storage == "on")
    for name in on_bytes:
        stage = ir.deserialize_from_file(str(tmp_path / f"{name}.msgpack"))
        assert overwrites(stage, load_table(), copies_yields=name[:2] in ("32", "33")) == []


@pytest.mark.parametrize(
    ("dtype", "moved", "onto", "told"),
    [
        ("INT4", "n", "m", r"written by line \d+ `m\w*` at Vec \S+ while `n\w*` is read on line \d+"),
        ("INT4", "n", "k", r"written by line \d+ `\w+` at Vec \S+ while `\w+` is read on line \d+"),
        ("INT4", "turned", "n", r"`c` is read on line \d+ at Vec \S+, to which nothing copies `turned\w*`"),
        ("FP4", "n", "m", r"written by line \d+ `m\w*` at Vec \S+ while `n\w*` is read on line \d+"),
    ],
)
def test_an_overlay_of_one_is_named(tmp_path: Path, dtype: str, moved: str, onto: str, told: str) -> None:
    given, wanted = dumped(tmp_path, dtype)()
    for path in {*tmp_path.glob("3[6-9]*"), *tmp_path.glob("4*"), *tmp_path.glob("*.msgpack")}:
        path.unlink()
    stage = tmp_path / "35_after_AllocateMemoryAddr.py"
    text = stage.read_text()
    places = {
        name: re.search(
            rf"\b{name}__ssa_v0: pl\.Tile\[\[\d+, \d+\], pl\.{dtype}, (pl\.MemRef\(.*?\), \d+\))", text
        )
        for name in (moved, onto)
    }
    stage.write_text(
        re.sub(
            rf"(\b{moved}__ssa_v0: .*?)pl\.MemRef\(.*?\), \d+\)",
            rf"\1{places[onto][1]}",
            text,  # type: ignore[index]
        )
    )
    found = first_divergence(tmp_path, given, wanted, Options(entry="main", jobs=1))
    assert found is not None
    assert (found.first_bad, found.kind) == ("35_after_AllocateMemoryAddr", "bytes")
    assert re.match(told, found.overwrite.text), found.overwrite.text
    checked = overwrites(pl.parse(stage.read_text()), load_table())
    assert found.overwrite.text in [one.facts().text for one in checked]
