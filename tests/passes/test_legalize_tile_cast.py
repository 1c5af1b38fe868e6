"""LegalizeTileCast: chains by the table of the backend, and conversions for which there is none."""

import pytest
import torch
from passes.kernels import after, program

from pypto_tmpl import backend, ir, passes
from pypto_tmpl.debug import torch_codegen

PASS = "LegalizeTileCast"
B910, B950 = backend.BackendType.Ascend910B, backend.BackendType.Ascend950


@pytest.fixture(autouse=True)
def no_backend():
    backend.reset_for_testing()
    yield
    backend.reset_for_testing()


def casting(source: str, target: str, mode: str = "rint", kind: str = "InCore") -> ir.Program:
    return program(f"""
    @pl.function(type=pl.FunctionType.{kind})
    def kernel(self, x: pl.Tensor[[16, 32], pl.{source}]):
        a = pl.load(x, [0, 0], [16, 32])
        b__ssa_v0 = pl.cast(a, target_type=pl.{target}, mode="{mode}")
""")


def casts(lines: list[str]) -> list[tuple[str, str, str]]:
    """Variable, dtype and mode of every cast."""
    found = [line.split(" = ", 1) for line in lines if "pl.tile.cast" in line]
    return [
        (name, *[part.split("=")[1].strip("')") for part in call.split(", ")[1:]]) for name, call in found
    ]


@pytest.mark.parametrize(
    ("on", "source", "target", "ways"),
    [
        (B910, "BF16", "INT8", ["fp32", "fp16"]),
        (B950, "BF16", "INT8", ["fp16"]),
        (B910, "FP32", "UINT8", ["fp16"]),
        (B910, "INT16", "BF16", ["fp32"]),
        (B950, "INT32", "FP16", ["fp32"]),
        (B910, "INT64", "BF16", ["fp32"]),
        (B910, "FP32", "BF16", []),
    ],
)
def test_the_way_to_a_dtype(on, source, target, ways):
    backend.set_backend_type(on)
    got = casts(after(PASS, casting(source, target, "floor")))
    wanted = [(f"b__cast_{way}_tmp_v{n}", f"pl.{way.upper()}", "floor") for n, way in enumerate(ways)]
    assert got == [*wanted, ("b__ssa_v0", f"pl.{target}", "floor")]


@pytest.mark.parametrize("on", [B910, B950])
@pytest.mark.parametrize(("target", "dtype"), [("INT8", torch.int8), ("UINT8", torch.uint8)])
def test_the_way_through_a_narrower_dtype_rounds_twice(on, target, dtype):
    """By hand: FP16 has 0.0625 between 64 and 128, so that 82.51 is 82.5 there, and half goes to even."""
    backend.set_backend_type(on)
    node = program(f"""
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[1, 32], pl.FP32], out: pl.Out[pl.Tensor[[1, 32], pl.{target}]]):
        pl.store(pl.cast(pl.load(x, [0, 0], [1, 32]), target_type=pl.{target}, mode="rint"), [0, 0], out)
""")
    node = passes.make_pass("FlattenCallExpr")(node)
    found = []
    for stage in (node, passes.make_pass(PASS)(node)):
        namespace: dict = {}
        exec(torch_codegen(stage), namespace)
        out = torch.zeros(1, 32, dtype=dtype)
        namespace["kernel"](torch.full((1, 32), 82.51), out)
        found.append(out.unique().tolist())
    assert found == [[83], [82]]


@pytest.mark.parametrize(
    ("on", "source", "target"),
    [(B910, "UINT8", "FP32"), (B950, "INT8", "FP32"), (B910, "INT16", "INT32"), (B910, "UINT32", "FP32")],
)
def test_there_is_no_way_without_loss(on, source, target):
    backend.set_backend_type(on)
    with pytest.raises(passes.PassError) as raised:
        passes.make_pass(PASS)(casting(source, target))
    what = f"tile.cast: no instructions of {on.name[6:]} convert {source.lower()} to {target.lower()}"
    assert str(raised.value).startswith(f"error[pass]: {what} without loss on the way\n  --> ")
    assert "in function 'kernel'" in str(raised.value)


def test_without_a_backend_nothing_changes():
    node = casting("UINT8", "FP32")
    assert passes.make_pass(PASS)(node) is node


def test_functions_of_the_host_stay():
    backend.set_backend_type(B910)
    node = casting("BF16", "INT8", kind="Opaque, level=pl.Level.HOST")
    assert passes.make_pass(PASS)(node) is node
