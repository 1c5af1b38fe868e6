"""Kernels with work for both cores: splits, pipelines, carries over lanes, round trips."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pypto_tmpl.hunt.programs.drawing import Drawing, function, inside
from pypto_tmpl.hunt.programs.round_trips import round_trips

SIZE = 16
ROUNDS = 6
"""How many blocks the inputs and outputs have: loops take no more rounds."""
BLOCKS = f"pl.Tensor[[{SIZE * ROUNDS}, {SIZE}], pl.FP32]"
BLOCK = f"pl.Tensor[[{SIZE}, {SIZE}], pl.FP32]"
_THROUGH_MEMORY = 0.2
SPLITS = ("NONE", "UP_DOWN", "LEFT_RIGHT")


@dataclass
class _Values:
    """What can be read at a place: values of the vector core, products, and numbers."""

    vector: list[str]
    products: list[str]
    numbers: list[str]

    def copy(self) -> _Values:
        return _Values(list(self.vector), list(self.products), list(self.numbers))


class MixedKernels(Drawing):
    """One kernel or two, whose products leave from the cube and whose sums from the vector core."""

    kind = "mixed"

    def functions(self) -> str:
        """The only function of the program; of some, a kernel on tiles and its call."""
        if self.maybe(_THROUGH_MEMORY):
            return round_trips(self)
        self.ranges["n"] = (0, 4)
        lines: list[str] = []
        for _ in range(self.one([1, 1, 2])):
            lines += self._kernel()
        head = (
            f"    @pl.function\n    def main(self, x: {BLOCKS}, y: {BLOCKS}, w: {BLOCK}, "
            f"n: pl.Scalar[pl.INDEX], products: pl.InOut[{BLOCKS}], sums: pl.InOut[{BLOCKS}]):"
        )
        return function(head, [*lines, "return products, sums"])

    def _kernel(self) -> list[str]:
        self.budget = self.random.randint(3, 9)
        split = self.one(SPLITS)
        options = "" if split == "NONE" else f", optimizations=[pl.split(pl.SplitMode.{split})]"
        values = _Values([], [], ["n"])
        lines = [*self._sum(values), *self._product(values)]
        while self.budget > 0:
            lines += self._line(values, 0)
        lines += [self._store("products", values), self._store("sums", values)]
        return [f"with pl.at(level=pl.Level.CORE_GROUP{options}):", *inside(lines)]

    def _line(self, values: _Values, depth: int) -> list[str]:
        self.budget -= 1
        kinds: list[Callable[[_Values], list[str]]] = [
            self._sum,
            self._sum,
            self._product,
            self._product,
            self._rebind,
            self._number,
            lambda v: [self._store(self.one(["products", "sums"]), v)],
        ]
        if depth < 2:
            kinds += 3 * [lambda v: self._loop(v, depth)] + [lambda v: self._branch(v, depth)]
            kinds += 2 * [lambda v: self._round_trips(v)]
        return self.one(kinds)(values)

    def _row(self, values: _Values) -> str:
        """Where a block begins."""
        return self.one([f"{name} * {SIZE}" for name in values.numbers] + [str(SIZE * 2)])

    def _block(self, values: _Values) -> str:
        name = self.one(["x", "y", "w"])
        return name if name == "w" else f"pl.slice({name}, [{SIZE}, {SIZE}], [{self._row(values)}, 0])"

    def _vector(self, values: _Values) -> str:
        """An operand of vector arithmetic: what that made, a product, or a block that is loaded."""
        known = values.vector + values.products
        return self.one(known) if known and self.maybe(0.8) else self._block(values)

    def _value(self, values: _Values) -> str:
        op = self.one(["add", "sub", "mul", "maximum", "scaled", "exp"])
        if op == "scaled":
            return f"pl.mul({self._vector(values)}, {self.one([0.5, -0.25])})"
        if op == "exp":
            return f"pl.exp(pl.minimum({self._vector(values)}, 0.0))"
        return f"pl.{op}({self._vector(values)}, {self._vector(values)})"

    def _factor(self, values: _Values) -> str:
        if values.vector and self.maybe(0.5):
            return self.one(values.vector)
        return self._block(values)

    def _sum(self, values: _Values) -> list[str]:
        name = self.name("v")
        lines = [f"{name} = {self._value(values)}"]
        values.vector.append(name)
        return lines

    def _product(self, values: _Values) -> list[str]:
        name = self.name("p")
        lines = [f"{name} = pl.matmul({self._factor(values)}, {self._factor(values)})"]
        values.products.append(name)
        return lines

    def _rebind(self, values: _Values) -> list[str]:
        """A value changes: in loops and branches it is carried on."""
        if not values.vector:
            return self._sum(values)
        name = self.one(values.vector)
        return [f"{name} = pl.mul(pl.add({name}, {self._vector(values)}), 0.5)"]

    def _number(self, values: _Values) -> list[str]:
        name = self.name("k")
        lines = [f"{name} = pl.min({self.one(values.numbers)} + {self.random.randint(0, 2)}, 5)"]
        values.numbers.append(name)
        return lines

    def _store(self, target: str, values: _Values) -> str:
        """Products leave from the cube, the rest from the vector core: each has a tensor of its own."""
        names = values.products if target == "products" else values.vector
        if not names:
            target, names = ("sums", values.vector) if target == "products" else ("products", values.products)
        return f"{target} = pl.assemble({target}, {self.one(names)}, [{self._row(values)}, 0])"

    def _head(self, name: str) -> str:
        """A loop that stays within the blocks."""
        bounds = self.one(["6", "4", "3", "1", "0, 6, 2", "1, 6", "1, 6, 3", "n", "n, 5"])
        if self.maybe(0.7):
            return f"for {name} in pl.pipeline({bounds}, stage={self.one([1, 2, 2, 3, 4])}):"
        return f"for {name} in pl.range({bounds}):"

    def _loop(self, values: _Values, depth: int) -> list[str]:
        index = self.name("i")
        head = self._head(index)
        return [head, *inside(self._several(values, depth, index))]

    def _branch(self, values: _Values, depth: int) -> list[str]:
        lines = [f"if {self.one(values.numbers)} < {self.random.randint(0, 3)}:"]
        lines += inside(self._several(values, depth))
        if self.maybe(0.5):
            lines += ["else:", *inside(self._several(values, depth))]
        return lines

    def _several(self, values: _Values, depth: int, *numbers: str) -> list[str]:
        inner = values.copy()
        inner.numbers += numbers
        return [line for _ in range(self.random.randint(1, 3)) for line in self._line(inner, depth + 1)]

    def _round_trips(self, values: _Values) -> list[str]:
        """A loop in which one core works on what the other one makes of its result in the same round."""
        index, first, back, last = self.name("i"), self.name("p"), self.name("v"), self.name("p")
        inner = values.copy()
        inner.numbers.append(index)
        body = [f"{first} = pl.matmul({self._block(inner)}, {self._block(inner)})"]
        body += [f"{back} = pl.mul(pl.maximum({first}, 0.0), 0.5)"]
        answer = f"{last} = pl.matmul({back}, {self._block(inner)})"
        kind = self.one(["store", "accumulate", "sum"])
        if kind == "store":
            body += [answer, f"products = pl.assemble(products, {last}, [{self._row(inner)}, 0])"]
            return [self._head(index), *inside(body)]
        if kind == "accumulate":
            start = f"{last} = pl.matmul({self._block(values)}, {self._block(values)})"
            body.append(f"{last} = pl.matmul_acc({last}, {back}, {self._block(inner)})")
            values.products.append(last)
        else:
            total = self.name("v")
            start = f"{total} = pl.mul({self._vector(values)}, 0.5)"
            body += [answer, f"{total} = pl.add({total}, {last})"]
            values.vector.append(total)
        return [start, self._head(index), *inside(body)]
