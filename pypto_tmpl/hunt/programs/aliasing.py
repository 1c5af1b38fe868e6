"""Kernels in which names share storage: stores and loads of one tensor, parts, ops in place, swaps."""

from __future__ import annotations

from pypto_tmpl.hunt.programs.drawing import Drawing, function, inside

ROWS, COLUMNS, BLOCKS = 16, 32, 5
WHOLE = f"pl.Tensor[[{ROWS * BLOCKS}, {COLUMNS}], pl.FP32]"
SHAPE = f"[{ROWS}, {COLUMNS}]"
PLACES = f"pl.Tensor[[{ROWS}, {COLUMNS}], pl.INT32]"
PARAMETERS = f"x: {WHOLE}, p: {PLACES}, n: pl.Scalar[pl.INDEX], s: pl.InOut[{WHOLE}], o: pl.InOut[{WHOLE}]"


class AliasingKernels(Drawing):
    """A vector kernel; ``tiles`` can be read where the next line stands, ``rows`` are numbers of blocks."""

    kind = "aliasing"

    def functions(self) -> str:
        """The kernel and its call."""
        self.ranges["n"] = (0, 4)
        self.budget = self.random.randint(4, 12)
        tiles = ["v0"]
        lines = [f"v0 = pl.load(x, [0, 0], {SHAPE})"]
        while self.budget > 0:
            lines += self._line(tiles, ["n"], 0)
        lines.append(f"o = pl.store({tiles[-1]}, [{ROWS}, 0], o)")
        head = "    @pl.function(type=pl.FunctionType.{})\n    def {}(self, " + PARAMETERS
        head += f") -> tuple[{WHOLE}, {WHOLE}]:"
        kernel = function(head.format("InCore", "kernel"), [*lines, "return s, o"])
        call = ["s, o = self.kernel(x, p, n, s, o)", "return s, o"]
        return kernel + function(head.format("Orchestration", "main"), call)

    def _line(self, tiles: list[str], rows: list[str], depth: int) -> list[str]:
        self.budget -= 1
        kinds = [self._load, self._load, self._store, self._store, self._cells, self._part, self._in_place]
        kinds += [self._ragged, self._column, self._cast, self._gather]
        if depth < 2:
            kinds += [self._pipeline, self._pipeline, self._swap, self._branch, self._jump]
        return self.one(kinds)(tiles, rows, depth)

    def _several(self, tiles: list[str], rows: list[str], depth: int) -> list[str]:
        count = self.random.randint(1, 3)
        return [line for _ in range(count) for line in self._line(tiles, rows, depth + 1)]

    def _row(self, rows: list[str]) -> str:
        """Where a block begins: none begins behind the last one."""
        choices = [f"{name} * {ROWS}" for name in rows] + [f"({name} + 1) * {ROWS}" for name in rows]
        return self.one([*choices, str(2 * ROWS)])

    def _load(self, tiles: list[str], rows: list[str], depth: int) -> list[str]:
        tiles.append(self.name("v"))
        return [f"{tiles[-1]} = pl.load({self.one(['x', 's', 's', 'o'])}, [{self._row(rows)}, 0], {SHAPE})"]

    def _store(self, tiles: list[str], rows: list[str], depth: int) -> list[str]:
        """Some stores bind no result: who reads the tensor then does so by its old name."""
        target = self.one("so")
        store = f"pl.store({self.one(tiles)}, [{self._row(rows)}, 0], {target})"
        return [store if self.maybe(0.3) else f"{target} = {store}"]

    def _cells(self, tiles: list[str], rows: list[str], depth: int) -> list[str]:
        x, y, var = self.one(tiles), self.one(tiles), self.name("v")
        forms = (f"pl.tile.add({x}, {y})", f"pl.tile.sub({x}, {y})", f"pl.mul({x}, 0.5)", f"pl.neg({x})")
        tiles.append(var)
        return [f"{var} = {self.one(forms)}"]

    def _part(self, tiles: list[str], rows: list[str], depth: int) -> list[str]:
        """Part of one tile, which may begin within a block of bytes, is put into a copy of another one."""
        target, source, var = self.one(tiles), self.one(tiles), self.name("v")
        row, height = self.one([(0, 8), (8, 8), (4, 4)])
        column, width = self.one([(0, COLUMNS), (0, COLUMNS), (4, 16)])
        tiles.append(var)
        part = f"pl.tile.slice({source}, [{height}, {width}], [{row}, {column}])"
        at = self.random.randrange(0, ROWS - height + 1, 4)
        copied = f"{var}_to = pl.mul({target}, 1.0)"
        return [copied, f"{var} = pl.tile.assemble({var}_to, {part}, [{at}, 0])"]

    def _in_place(self, tiles: list[str], rows: list[str], depth: int) -> list[str]:
        """An element of a copy is written, or read and added."""
        var, source = self.name("v"), self.one(tiles)
        cell = [self.random.randrange(ROWS), self.random.randrange(COLUMNS)]
        tiles.append(var)
        if self.maybe(0.5):
            return [f"{var}_e = pl.tile.read({source}, {cell})", f"{var} = pl.tile.adds({source}, {var}_e)"]
        return [f"{var}_w = pl.mul({source}, 1.0)", f"{var} = pl.tile.write({var}_w, {cell}, 2.5)"]

    def _cast(self, tiles: list[str], rows: list[str], depth: int) -> list[str]:
        """Numbers rounded in some way to another dtype, to which several instructions may lead, and back."""
        var, mode = self.name("v"), self.one(["floor", "ceil", "trunc", "round", "rint"])
        way = self.one([["BF16", "INT16"], ["BF16", "INT16"], ["INT32", "BF16"], ["FP16", "BF16"]])
        tiles.append(var)
        lines = [f"{var}_c0 = pl.tile.minimums(pl.tile.maximums({self.one(tiles[:-1])}, -90.0), 90.0)"]
        for at, dtype in enumerate([*way, "FP32"]):
            last = f"{var}_c{at + 1}" if dtype != "FP32" else var
            rounding = mode if at == 1 else "rint"
            lines.append(f'{last} = pl.tile.cast({var}_c{at}, target_type=pl.{dtype}, mode="{rounding}")')
        return lines

    def _ragged(self, tiles: list[str], rows: list[str], depth: int) -> list[str]:
        """Part of a block, or a block of which the tensor has the first rows only, filled up."""
        var, width = self.name("v"), self.one(["20", "n + 3", "32", "7"])
        tiles.append(var)
        pad = self.one(["zero", "min", "max"])
        source, row, height = self.one("xs"), self._row(rows), ROWS
        if self.maybe(0.4):
            height = self.random.randint(1, ROWS - 1)
            row = str(ROWS * BLOCKS - height)
        lines = [f"{var}_r = pl.load({source}, [{row}, 0], {SHAPE}, valid_shape=[{height}, {width}])"]
        ragged = f"{var}_r"
        if self.maybe(0.5):
            ragged = f"{var}_m"
            lines.append(
                f"{ragged} = {self.one(['pl.mul({}, 0.5)', 'pl.tile.add({0}, {0})'])}".format(f"{var}_r")
            )
        return [
            *lines,
            f"{var}_f = pl.tile.fillpad({ragged}, pad_value=pl.PadValue.{pad})",
            f"{var} = pl.tile.minimums(pl.tile.maximums({var}_f, -4.0), 4.0)",
        ]

    def _gather(self, tiles: list[str], rows: list[str], depth: int) -> list[str]:
        """Cells of the rows of a tile, by their places."""
        var, source = self.name("v"), self.one(tiles)
        tiles.append(var)
        return [
            f"{var}_p = pl.load(p, [0, 0], {SHAPE})",
            f"{var}_t = pl.tile.create({SHAPE}, dtype=pl.INT32)",
            f"{var} = pl.tile.gather({source}, {var}_p, {var}_t)",
        ]

    def _column(self, tiles: list[str], rows: list[str], depth: int) -> list[str]:
        """A reduction over rows, spread again."""
        var, source = self.name("v"), self.one(tiles)
        op = self.one(["row_max", "row_min"])
        tiles.append(var)
        return [
            f"{var}_t = pl.tile.create({SHAPE}, dtype=pl.FP32)",
            f"{var}_c = pl.tile.{op}({source}, {var}_t)",
            f"{var} = pl.row_expand_sub({self.one(tiles[:-1])}, {var}_c)",
        ]

    def _pipeline(self, tiles: list[str], rows: list[str], depth: int) -> list[str]:
        """Rounds that may read what the one before has stored."""
        index = self.name("i")
        bounds = self.one(["4", "3", "0, 4, 2", "1, 4", "n"])
        head = f"for {index} in pl.pipeline({bounds}, stage={self.one([2, 2, 3])}):"
        if self.maybe(0.3):
            head = f"for {index} in pl.range({bounds}):"
        inner = list(tiles)
        body = self._several(inner, [index], depth)
        if self.maybe(0.5):
            body += self._through_memory(inner, index)
        target = self.one("so")
        body.append(f"{target} = pl.store({inner[-1]}, [({index} + 1) * {ROWS}, 0], {target})")
        return [head, *inside(body)]

    def _through_memory(self, tiles: list[str], index: str) -> list[str]:
        """A tile is stored, by no new name of the tensor, and loaded again."""
        var, target = self.name("v"), self.one("so")
        place = f"[{index} * {ROWS}, 0]"
        stored = f"pl.store(pl.mul({self.one(tiles)}, 1.5), {place}, {target})"
        tiles.append(var)
        return [stored, f"{var} = pl.load({target}, {place}, {SHAPE})"]

    def _swap(self, tiles: list[str], rows: list[str], depth: int) -> list[str]:
        """Two carries that change places in each round: of one type, also in what pads them."""
        first, second, index = self.name("v"), self.name("v"), self.name("i")
        starts = f"pl.mul({self.one(tiles)}, 0.5)", f"pl.tile.add({first}_s, {self.one(tiles)})"
        head = f"for {index}, ({first}_c, {second}_c) in pl.range({self.random.randint(1, 3)}, "
        head += f"init_values=({first}_s, {second}_s)):"
        inner = [*tiles, f"{first}_c", f"{second}_c"]
        body = self._several(inner, [index], depth)
        body.append(f"{first}_n = pl.tile.add({first}_c, {inner[-1]})")
        last = self.one([f"{first}_c, {second}_c", f"{second}_c, {first}_n", f"{first}_n, {second}_c"])
        body.append(f"{first}, {second} = pl.yield_({last})")
        tiles += [first, second]
        made = [f"{var}_s = {start}" for var, start in zip((first, second), starts, strict=True)]
        return [*made, head, *inside(body)]

    def _branch(self, tiles: list[str], rows: list[str], depth: int) -> list[str]:
        name = self.name("v")
        lines = [
            f"{name} = pl.mul({self.one(tiles)}, 1.0)",
            f"if {self.one(rows)} > {self.random.randint(0, 2)}:",
        ]
        for side in range(2):
            inner = [*tiles, name]
            body = self._several(inner, rows, depth)
            lines += inside([*body, f"{name} = pl.tile.add({name}, {inner[-1]})"])
            if side == 0:
                if self.maybe(0.4):
                    break
                lines.append("else:")
        tiles.append(name)
        return lines

    def _jump(self, tiles: list[str], rows: list[str], depth: int) -> list[str]:
        """A loop that is left early, or of which rounds end early."""
        name, index = self.name("v"), self.name("i")
        inner = [*tiles, name]
        before = [f"{name} = pl.tile.add({name}, {self.one(inner)})"] if self.maybe(0.5) else []
        check = [f"if {index} == {self.one(['n', '1', '2'])}:", f"    {self.one(['break', 'continue'])}"]
        if self.maybe(0.5):
            check.insert(1, f"    s = pl.store({self.one(inner)}, [{index} * {ROWS}, 0], s)")
        body = [*before, *check, *self._several(inner, [index], depth)]
        body.append(f"{name} = pl.mul({name}, 0.5)")
        tiles.append(name)
        start = f"{name} = pl.mul({self.one(tiles[:-1])}, 1.0)"
        return [start, f"for {index} in pl.range({self.random.randint(2, 4)}):", *inside(body)]
