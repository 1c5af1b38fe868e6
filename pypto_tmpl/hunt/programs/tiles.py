"""Kernels on tiles: loads, products, columns, writes into tiles, carries and branches."""

from __future__ import annotations

from dataclasses import dataclass, field

from pypto_tmpl.hunt.programs.drawing import Drawing, function

SIZE = 32
TENSOR = f"pl.Tensor[[{SIZE}, {SIZE}], pl.FP32]"
PARAMETERS = f"a: {TENSOR}, b: {TENSOR}, n: pl.Scalar[pl.INDEX], o: pl.Out[{TENSOR}], q: pl.Out[{TENSOR}]"
LOAD = f"pl.load({{}}, [0, 0], [{SIZE}, {SIZE}]{{}})"
INTO_MAT = ", target_memory=pl.Mem.Mat"
FULL = f"pl.tile.full([{SIZE}, {SIZE}], dtype=pl.FP32, value={{}})"


@dataclass
class _Names:
    """What can be read: square tiles, those of them in Mat, columns."""

    tiles: list[str] = field(default_factory=lambda: ["va"])
    panels: list[str] = field(default_factory=lambda: ["ma", "mb"])
    columns: list[str] = field(default_factory=lambda: ["ca"])

    def inside(self, *more: str) -> _Names:
        return _Names([*self.tiles, *more], list(self.panels), list(self.columns))


class TileKernels(Drawing):
    """One kernel over tiles and the orchestration that calls it."""

    kind = "tiles"

    def functions(self) -> str:
        """The kernel and its call."""
        self.ranges["n"] = (0, 4)
        self.budget = self.random.randint(4, 14)
        results = ", ".join(self.one([("o", "q"), ("q", "o")]))
        types = f"tuple[{TENSOR}, {TENSOR}]"
        kernel = "    @pl.function(type=pl.FunctionType.InCore)\n"
        kernel += f"    def kernel(self, {PARAMETERS}) -> {types}:"
        main = "    @pl.function(type=pl.FunctionType.Orchestration)\n"
        main += f"    def main(self, {PARAMETERS}) -> {types}:"
        call = f"{results} = self.kernel(a, b, n, o, q)"
        return function(kernel, [*self._kernel(), f"return {results}"]) + function(
            main, [call, f"return {results}"]
        )

    def _kernel(self) -> list[str]:
        names = _Names()
        lines = [f"va = {LOAD.format('a', '')}", f"ca = pl.load(b, [0, 0], [{SIZE}, 1])"]
        lines += [f"m{tensor} = {LOAD.format(tensor, INTO_MAT)}" for tensor in "ab"]
        while self.budget > 0:
            lines += self._lines(names, depth=0)
        lines += [f"o = pl.store({names.tiles[-1]}, [0, 0], o)"]
        lines += [f"wide = pl.row_expand_mul(va, {names.columns[-1]})", "q = pl.store(wide, [0, 0], q)"]
        return lines

    def _lines(self, names: _Names, depth: int) -> list[str]:
        self.budget -= 1
        kinds = [self._product, self._product, self._cells, self._cells, self._column, self._spread]
        kinds += [self._accumulate, self._store, self._load, self._write]
        if depth < 2:
            kinds += [self._loop, self._branch]
        return self.one(kinds)(names, self.name("v"), depth)

    def _product(self, names: _Names, var: str, depth: int) -> list[str]:
        lhs, rhs = (self.one(names.tiles + names.panels) for _ in range(2))
        names.tiles.append(var)
        return [f"{var} = pl.matmul({lhs}, {rhs})"]

    def _cells(self, names: _Names, var: str, depth: int) -> list[str]:
        x, y = (self.one(names.tiles) for _ in range(2))
        forms = [
            "pl.tile.add({x}, {y})",
            "pl.tile.sub({x}, {y})",
            "pl.mul({x}, 0.25)",
            "pl.minimum(pl.abs({x}), 3.0)",
        ]
        names.tiles.append(var)
        return [f"{var} = {self.one(forms).format(x=x, y=y)}"]

    def _column(self, names: _Names, var: str, depth: int) -> list[str]:
        forms = [
            f"pl.row_sum({self.one(names.tiles)}, pl.tile.create([{SIZE}, {SIZE}], dtype=pl.FP32))",
            f"pl.mul({self.one(names.columns)}, 0.125)",
            f"pl.tile.full([{SIZE}, 1], dtype=pl.FP32, value=0.5)",
            f"pl.tile.maximum({self.one(names.columns)}, {self.one(names.columns)})",
        ]
        names.columns.append(var)
        return [f"{var} = {self.one(forms)}"]

    def _spread(self, names: _Names, var: str, depth: int) -> list[str]:
        line = f"{var} = pl.row_expand_mul({self.one(names.tiles)}, {self.one(names.columns)})"
        names.tiles.append(var)
        return [line]

    def _accumulate(self, names: _Names, var: str, depth: int) -> list[str]:
        lhs, rhs = (self.one(names.panels) for _ in range(2))
        lines = [
            f"{var}_new = pl.tile.create([{SIZE}, {SIZE}], dtype=pl.FP32)",
            f"for i{var}, ({var}_acc,) in pl.range(0, 2, init_values=({var}_new,)):",
            f"    {var}_next = pl.matmul_acc({var}_acc, {lhs}, {rhs}, init_cond=(i{var} == 0))",
            f"    {var} = pl.yield_({var}_next)",
        ]
        names.tiles.append(var)
        return lines

    def _store(self, names: _Names, var: str, depth: int) -> list[str]:
        target = self.one(["o", "q"])
        return [f"{target} = pl.store({self.one(names.tiles)}, [0, 0], {target})"]

    def _load(self, names: _Names, var: str, depth: int) -> list[str]:
        found, space = self.one([(names.panels, INTO_MAT), (names.tiles, "")])
        found.append(var)
        return [f"{var} = {LOAD.format(self.one(['a', 'b']), space)}"]

    def _write(self, names: _Names, var: str, depth: int) -> list[str]:
        target, source = (self.one(names.tiles) for _ in range(2))
        names.tiles.append(var)
        part = f"pl.tile.slice({source}, [16, {SIZE}], [0, 0])"
        return [
            f"{var}_copy = pl.mul({target}, 1.0)",
            f"{var} = pl.tile.assemble({var}_copy, {part}, [16, 0])",
        ]

    def _loop(self, names: _Names, var: str, depth: int) -> list[str]:
        start, carry = self.one(names.tiles), f"{var}_carry"
        inside = names.inside(carry)
        body = self._some(inside, depth)
        last = self.one(inside.tiles)
        body += [f"{var}_end = pl.tile.minimum({last}, {FULL.format(2.0)})"]
        body += [f"{var} = pl.yield_({self.one([last, f'{var}_end'])})"]
        names.tiles.append(var)
        head = f"for i{var}, ({carry},) in pl.range(0, 3, init_values=({start},)):"
        return [head, *(f"    {line}" for line in body)]

    def _branch(self, names: _Names, var: str, depth: int) -> list[str]:
        lines = [f"if n > {self.random.randint(0, 2)}:"]
        for side in range(2):
            inside = names.inside()
            body = self._some(inside, depth)
            body += [f"{var}: pl.Tile[[{SIZE}, {SIZE}], pl.FP32] = pl.yield_({self.one(inside.tiles)})"]
            lines += [*(f"    {line}" for line in body), *(["else:"] if side == 0 else [])]
        names.tiles.append(var)
        return lines

    def _some(self, names: _Names, depth: int) -> list[str]:
        return [line for _ in range(self.random.randint(1, 3)) for line in self._lines(names, depth + 1)]
