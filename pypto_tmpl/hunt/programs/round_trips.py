"""Kernels whose rounds go to the vector core and back, and may load what earlier rounds have stored."""

from __future__ import annotations

from pypto_tmpl.hunt.programs.drawing import Drawing, function, inside

SIZE, BLOCKS = 16, 6
WHOLE = f"pl.Tensor[[{SIZE * BLOCKS}, {SIZE}], pl.FP32]"
BLOCK = f"pl.Tensor[[{SIZE}, {SIZE}], pl.FP32]"
PARAMETERS = f"x: {WHOLE}, w: {BLOCK}, u: {BLOCK}, s: pl.InOut[{WHOLE}], o: pl.InOut[{WHOLE}]"
_LOAD = f"pl.load({{}}, [{{}}, 0], [{SIZE}, {SIZE}], target_memory=pl.Mem.Mat)"


def round_trips(draw: Drawing) -> str:
    """The kernel and its call; stores may have no result by which later rounds would wait."""
    types = f"tuple[{WHOLE}, {WHOLE}]"
    head = f"    @pl.function(type=pl.FunctionType.{{}})\n    def {{}}(self, {PARAMETERS}) -> {types}:"
    factors = [f"t{tensor} = {_LOAD.format(tensor, 0)}" for tensor in "wu"]
    lines = [*factors, *(line for _ in range(draw.one([1, 1, 2])) for line in _loop(draw)), "return s, o"]
    call = ["s, o = self.kernel(x, w, u, s, o)", "return s, o"]
    kernel = function(head.format("InCore", "kernel"), lines)
    return kernel + function(head.format("Orchestration", "main"), call)


def _loop(draw: Drawing) -> list[str]:
    index, there, back, last = (draw.name(letter) for letter in "ipvp")
    rounds, stages = draw.one(["4", "4", "5", "1, 5", "0, 4, 2"]), draw.one([2, 2, 3, 4])
    row, source = f"{index} * {SIZE}", draw.one("ssx")
    work = draw.one(["pl.mul({}, 0.25)", "pl.mul(pl.maximum({}, 0.0), 0.5)", "pl.exp(pl.minimum({}, 0.0))"])
    target = draw.one(["s", "s", "o"])
    store = f"pl.store({last}, [({index} + {draw.one([0, 1, 1])}) * {SIZE}, 0], {target})"
    body = [
        f"{there}_h = {_LOAD.format(source, row)}",
        f"{there} = pl.matmul({there}_h, tw)",
        f"{back} = {work.format(there)}",
        f"{last} = pl.matmul({back}, tu)",
        store if draw.maybe(0.75) else f"{target} = {store}",
    ]
    return [f"for {index} in pl.pipeline({rounds}, stage={stages}):", *inside(body)]
