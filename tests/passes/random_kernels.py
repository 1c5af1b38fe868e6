"""Mixed kernels at random: their text, and inputs for them."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from passes.kernels import program

from pypto_tmpl import ir

SIZE = 16
ROUNDS = 6
"""How many blocks the inputs and outputs have: loops take no more rounds."""
BLOCKS = f"pl.Tensor[[{SIZE * ROUNDS}, {SIZE}], pl.FP32]"
BLOCK = f"pl.Tensor[[{SIZE}, {SIZE}], pl.FP32]"
SPLITS = ("NONE", "UP_DOWN", "LEFT_RIGHT")


def random_kernel(seed: int) -> ir.Program:
    """The program of a number: the same one every time."""
    return program(_Drawing(seed).text())


def random_inputs(seed: int) -> dict[str, torch.Tensor | int]:
    """Arguments of such a program; outputs hold nines, so that cells which stay unwritten show."""
    generator = torch.Generator().manual_seed(seed)
    found: dict[str, torch.Tensor | int] = {
        name: torch.rand(SIZE * ROUNDS, SIZE, generator=generator) - 0.5 for name in ("x", "y")
    }
    found["w"] = torch.rand(SIZE, SIZE, generator=generator) - 0.5
    found["n"] = seed % 4
    return found | {name: torch.full((SIZE * ROUNDS, SIZE), 9.0) for name in ("products", "sums")}


@dataclass
class _Values:
    """What can be read at a place: values of the vector core, products, and numbers."""

    vector: list[str]
    products: list[str]
    numbers: list[str]

    def copy(self) -> "_Values":
        return _Values(list(self.vector), list(self.products), list(self.numbers))


@dataclass
class _Drawing:
    seed: int
    _draw: random.Random = field(init=False)
    _count: int = 0
    _budget: int = 0

    def __post_init__(self) -> None:
        self._draw = random.Random(self.seed)

    def text(self) -> str:
        """The only function of the program, with one kernel or two."""
        lines: list[str] = []
        for _ in range(self._draw.choice([1, 1, 2])):
            lines += self._kernel()
        head = (
            f"    @pl.function\n    def main(self, x: {BLOCKS}, y: {BLOCKS}, w: {BLOCK}, "
            f"n: pl.Scalar[pl.INDEX], products: pl.InOut[{BLOCKS}], sums: pl.InOut[{BLOCKS}]):\n"
        )
        return head + "".join(f"        {line}\n" for line in [*lines, "return products, sums"])

    def _kernel(self) -> list[str]:
        self._budget = self._draw.randint(3, 9)
        split = self._draw.choice(SPLITS)
        options = "" if split == "NONE" else f", optimizations=[pl.split(pl.SplitMode.{split})]"
        values = _Values([], [], ["n"])
        lines = [*self._sum(values), *self._product(values)]
        while self._budget > 0:
            lines += self._line(values, 0)
        lines += [self._store("products", values), self._store("sums", values)]
        return [f"with pl.at(level=pl.Level.CORE_GROUP{options}):", *_inside(lines)]

    def _line(self, values: _Values, depth: int) -> list[str]:
        self._budget -= 1
        kinds: list[Callable[[_Values], list[str]]] = [
            self._sum,
            self._sum,
            self._product,
            self._product,
            self._rebind,
            self._number,
            lambda v: [self._store(self._draw.choice(["products", "sums"]), v)],
        ]
        if depth < 2:
            kinds += 3 * [lambda v: self._loop(v, depth)] + [lambda v: self._branch(v, depth)]
            kinds += 2 * [lambda v: self._round_trips(v)]
        return self._draw.choice(kinds)(values)

    def _name(self, letter: str) -> str:
        self._count += 1
        return f"{letter}{self._count}"

    def _row(self, values: _Values) -> str:
        """Where a block begins."""
        return self._draw.choice([f"{name} * {SIZE}" for name in values.numbers] + [str(SIZE * 2)])

    def _block(self, values: _Values) -> str:
        name = self._draw.choice(["x", "y", "w"])
        return name if name == "w" else f"pl.slice({name}, [{SIZE}, {SIZE}], [{self._row(values)}, 0])"

    def _vector(self, values: _Values) -> str:
        """An operand of vector arithmetic: what that made, a product, or a block that is loaded."""
        known = values.vector + values.products
        return self._draw.choice(known) if known and self._draw.random() < 0.8 else self._block(values)

    def _value(self, values: _Values) -> str:
        op = self._draw.choice(["add", "sub", "mul", "maximum", "scaled", "exp"])
        if op == "scaled":
            return f"pl.mul({self._vector(values)}, {self._draw.choice([0.5, -0.25])})"
        if op == "exp":
            return f"pl.exp(pl.minimum({self._vector(values)}, 0.0))"
        return f"pl.{op}({self._vector(values)}, {self._vector(values)})"

    def _factor(self, values: _Values) -> str:
        if values.vector and self._draw.random() < 0.5:
            return self._draw.choice(values.vector)
        return self._block(values)

    def _sum(self, values: _Values) -> list[str]:
        name = self._name("v")
        lines = [f"{name} = {self._value(values)}"]
        values.vector.append(name)
        return lines

    def _product(self, values: _Values) -> list[str]:
        name = self._name("p")
        lines = [f"{name} = pl.matmul({self._factor(values)}, {self._factor(values)})"]
        values.products.append(name)
        return lines

    def _rebind(self, values: _Values) -> list[str]:
        """A value changes: in loops and branches it is carried on."""
        if not values.vector:
            return self._sum(values)
        name = self._draw.choice(values.vector)
        return [f"{name} = pl.mul(pl.add({name}, {self._vector(values)}), 0.5)"]

    def _number(self, values: _Values) -> list[str]:
        name = self._name("k")
        lines = [f"{name} = pl.min({self._draw.choice(values.numbers)} + {self._draw.randint(0, 2)}, 5)"]
        values.numbers.append(name)
        return lines

    def _store(self, target: str, values: _Values) -> str:
        """Products leave from the cube, the rest from the vector core: each has a tensor of its own."""
        names = values.products if target == "products" else values.vector
        if not names:
            target, names = ("sums", values.vector) if target == "products" else ("products", values.products)
        return f"{target} = pl.assemble({target}, {self._draw.choice(names)}, [{self._row(values)}, 0])"

    def _head(self, name: str) -> str:
        """A loop that stays within the blocks."""
        bounds = self._draw.choice(["6", "4", "3", "1", "0, 6, 2", "1, 6", "1, 6, 3", "n", "n, 5"])
        if self._draw.random() < 0.7:
            return f"for {name} in pl.pipeline({bounds}, stage={self._draw.choice([1, 2, 2, 3, 4])}):"
        return f"for {name} in pl.range({bounds}):"

    def _loop(self, values: _Values, depth: int) -> list[str]:
        index = self._name("i")
        head = self._head(index)
        return [head, *_inside(self._several(values, depth, index))]

    def _branch(self, values: _Values, depth: int) -> list[str]:
        lines = [f"if {self._draw.choice(values.numbers)} < {self._draw.randint(0, 3)}:"]
        lines += _inside(self._several(values, depth))
        if self._draw.random() < 0.5:
            lines += ["else:", *_inside(self._several(values, depth))]
        return lines

    def _several(self, values: _Values, depth: int, *numbers: str) -> list[str]:
        inner = values.copy()
        inner.numbers += numbers
        return [line for _ in range(self._draw.randint(1, 3)) for line in self._line(inner, depth + 1)]

    def _round_trips(self, values: _Values) -> list[str]:
        """A loop in which one core works on what the other one makes of its result in the same round."""
        index, first, back, last = self._name("i"), self._name("p"), self._name("v"), self._name("p")
        inner = values.copy()
        inner.numbers.append(index)
        body = [f"{first} = pl.matmul({self._block(inner)}, {self._block(inner)})"]
        body += [f"{back} = pl.mul(pl.maximum({first}, 0.0), 0.5)"]
        answer = f"{last} = pl.matmul({back}, {self._block(inner)})"
        kind = self._draw.choice(["store", "accumulate", "sum"])
        if kind == "store":
            body += [answer, f"products = pl.assemble(products, {last}, [{self._row(inner)}, 0])"]
            return [self._head(index), *_inside(body)]
        if kind == "accumulate":
            start = f"{last} = pl.matmul({self._block(values)}, {self._block(values)})"
            body.append(f"{last} = pl.matmul_acc({last}, {back}, {self._block(inner)})")
            values.products.append(last)
        else:
            total = self._name("v")
            start = f"{total} = pl.mul({self._vector(values)}, 0.5)"
            body += [answer, f"{total} = pl.add({total}, {last})"]
            values.vector.append(total)
        return [start, self._head(index), *_inside(body)]


def _inside(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]
