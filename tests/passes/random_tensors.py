"""Programs of tensors at random: their text, and what they compute, by an interpreter of the IR."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
from codegen.interpreter import Interpreter
from passes.kernels import program

from pypto_tmpl import ir

SIZE = 8
TENSOR = f"pl.Tensor[[{SIZE}, {SIZE}], pl.FP32]"
KERNEL = "with pl.at(level=pl.Level.CORE_GROUP):"
MUTABLE = ("t0", "t1", "t2")
HELPERS = f"""
    @pl.function(type=pl.FunctionType.Inline)
    def scaled(self, a: {TENSOR}, b: {TENSOR}):
        a = pl.mul(a, 0.5)
        a = pl.add(a, b)
        return a
    @pl.function(type=pl.FunctionType.Inline)
    def pair(self, a: {TENSOR}, b: {TENSOR}):
        both = pl.sub(a, b)
        return both, a
"""


def random_program(seed: int) -> ir.Program:
    """The program of a number: the same one every time."""
    return program(HELPERS + _Drawing(seed).main())


class _Drawing:
    """Draws lines; ``names`` are the tensors that can be read where the next line stands."""

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)
        self._count = 0
        self._budget = self._draw.randint(4, 16)

    def main(self) -> str:
        names = ["x", "y", *MUTABLE]
        lines = [f"{name} = pl.add(x, {place}.0)" for place, name in enumerate(MUTABLE)]
        while self._budget > 0:
            lines += self._outside(names, ["n"], depth=0)
        lines += [KERNEL]
        lines += [
            f"    out = pl.assemble(out, pl.slice({name}, [1, 8], [7, 0]), [7, 0])" for name in names[-2:]
        ]
        head = f"    @pl.function\n    def main(self, x: {TENSOR}, y: {TENSOR}, n: pl.Scalar[pl.INDEX], "
        text = "".join(f"        {line}\n" for line in [*lines, "return out"])
        return f"{head}out: pl.Out[{TENSOR}]) -> {TENSOR}:\n{text}"

    def _outside(self, names: list[str], numbers: list[str], depth: int) -> list[str]:
        """Some lines outside of kernels."""
        self._budget -= 1
        kinds = ["kernel", "kernel", "buffer", "number"]
        kinds += ["loop", "unroll", "branch", "cluster", "level"] if depth < 2 else []
        kind = self._draw.choice(kinds)
        if kind == "number":
            numbers.append(self._name("k"))
            return [f"{numbers[-1]} = {self._number(numbers[:-1])}"]
        if kind == "kernel":
            return [KERNEL, *self._kernel(names, numbers)]
        if kind == "buffer":
            return self._buffer(names, numbers)
        inside = self._within(lambda n, k: self._outside(n, k, depth + 1), names, numbers, kind)
        return inside

    def _within(self, block: Any, names: list[str], numbers: list[str], kind: str) -> list[str]:
        """A loop, branch or region; what it defines ends with it, unless it is a mutable tensor."""
        numbers = list(numbers)
        if kind in ("loop", "unroll"):
            numbers.append(self._name("i"))
            count = self._draw.choice([0, 1, 3])
            head = f"for {numbers[-1]} in pl.{'range' if kind == 'loop' else 'unroll'}({count}):"
        elif kind == "branch":
            head = f"if {self._number(numbers)} < {self._draw.randint(0, 4)}:"
        else:
            level = "pl.at(level=pl.Level.HOST, role=pl.Role.Orchestrator)"
            head = f"with {'pl.cluster()' if kind == 'cluster' else level}:"
            if kind == "cluster":
                kernel = [KERNEL, *self._kernel(names, numbers)]
                return [head, *_inside(kernel)]
        lines = [head, *_inside(self._several(block, names, numbers))]
        if kind == "branch" and self._draw.random() < 0.5:
            lines += ["else:", *_inside(self._several(block, names, numbers))]
        return lines

    def _several(self, block: Any, names: list[str], numbers: list[str]) -> list[str]:
        names, numbers = list(names), list(numbers)
        return [line for _ in range(self._draw.randint(1, 3)) for line in block(names, numbers)]

    def _kernel(self, names: list[str], numbers: list[str]) -> list[str]:
        return _inside(self._several(lambda n, k: self._line(n, k, 0), names, numbers))

    def _line(self, names: list[str], numbers: list[str], depth: int) -> list[str]:
        """Some lines of a kernel."""
        self._budget -= 1
        kinds = ["rebind", "rebind", "define", "store", "helper", "pair"]
        kinds += ["loop", "unroll", "branch", "carry"] if depth < 2 else []
        kind = self._draw.choice(kinds)
        if kind == "rebind":
            return [f"{self._draw.choice(MUTABLE)} = {self._value(names)}"]
        if kind == "define":
            names.append(self._name("v"))
            return [f"{names[-1]} = {self._value(names[:-1])}"]
        if kind == "store":
            row = self._number(numbers)
            return [f"out = pl.assemble(out, pl.slice({self._value(names)}, [1, 8], [{row}, 0]), [{row}, 0])"]
        if kind == "helper":
            target = self._draw.choice(MUTABLE)
            return [
                f"{target} = self.scaled({self._draw.choice([target, *names])}, {self._draw.choice(names)})"
            ]
        if kind == "pair":
            return self._pair(names)
        if kind == "carry":
            return self._carry(names, numbers, depth)
        return self._within(lambda n, k: self._line(n, k, depth + 1), names, numbers, kind)

    def _pair(self, names: list[str]) -> list[str]:
        """Two results, of which one is read after a tensor was assigned."""
        both, (first, second) = self._name("p"), self._draw.sample(MUTABLE, 2)
        call = f"{both} = self.pair({first}, {self._draw.choice(names)})"
        return [call, f"{first} = {both}[0]", f"{second} = {both}[1]"]

    def _carry(self, names: list[str], numbers: list[str], depth: int) -> list[str]:
        carry, result, index = self._name("c"), self._name("r"), self._name("i")
        count, init = self._draw.choice([0, 1, 3]), self._draw.choice(names)
        head = f"for {index}, ({carry},) in pl.range({count}, init_values=({init},)):"
        inner = [*names, carry]
        inside = self._line(inner, [*numbers, index], depth + 1)
        names.append(result)
        return [head, *_inside([*inside, f"{result} = pl.yield_({self._value(inner)})"])]

    def _buffer(self, names: list[str], numbers: list[str]) -> list[str]:
        """A buffer that a kernel fills and that is put into the output, which may be read in between."""
        buffer, row = self._name("b"), self._draw.choice(["0", "4", f"({self._number(numbers)}) // 2"])
        lines = [
            f"{buffer} = pl.create_tensor([4, 8], dtype=pl.FP32)",
            KERNEL,
            f"    {buffer} = pl.assemble({buffer}, pl.slice({self._value(names)}, [4, 8], [2, 0]), [0, 0])",
        ]
        if self._draw.random() < 0.4:
            place = self._draw.choice([1, 3])
            read = [
                KERNEL,
                f"    {self._draw.choice(MUTABLE)} = pl.mul(out, 0.5)",
            ]
            lines[place:place] = read
        return [*lines, f"out = pl.assemble(out, {buffer}, [{row}, 0])"]

    def _value(self, names: list[str], depth: int = 2) -> str:
        kind = self._draw.choice(["name", "scaled", "binary", "whole", "helper"]) if depth else "name"
        if kind == "name":
            return self._draw.choice(names)
        one = self._value(names, depth - 1)
        if kind == "scaled":
            return (
                f"pl.{self._draw.choice(['mul', 'add'])}({one}, {self._draw.choice(['0.5', '-2.0', '1.0'])})"
            )
        if kind == "whole":
            return f"pl.neg(pl.slice({self._draw.choice(names)}, [8, 8], [0, 0]))"
        other = self._value(names, depth - 1)
        if kind == "helper":
            return f"self.scaled({one}, {other})"
        return f"pl.{self._draw.choice(['add', 'sub'])}({one}, {other})"

    def _number(self, numbers: list[str]) -> str:
        """An integer from 0 to 4."""
        return self._draw.choice(
            [
                f"({self._draw.choice(numbers)} + {self._draw.randint(-3, 3)}) % 5",
                str(self._draw.randint(0, 4)),
            ]
        )

    def _name(self, hint: str) -> str:
        self._count += 1
        return f"{hint}{self._count}"


def _inside(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


class TensorInterpreter(Interpreter):
    """Tensors are arrays: ``assemble`` writes into one, a slice shows one, the other ops make new ones."""

    def value(self, node: ir.Expr) -> Any:
        if isinstance(node, ir.ConstFloat):
            return node.value
        if isinstance(node, ir.Call) and isinstance(node.op, ir.Op) and node.op.name in _OPS:
            return _OPS[node.op.name](*map(self.value, node.args))
        return super().value(node)


def output_of(node: ir.Program, n: int) -> np.ndarray:
    """What ``main`` writes into its output."""
    cells = np.arange(SIZE * SIZE, dtype=np.float64).reshape(SIZE, SIZE)
    out = np.full((SIZE, SIZE), -9.0)
    TensorInterpreter(node).call("main", [cells, cells[::-1] * 3 - 7, n, out])
    return out


def _window(tensor: np.ndarray, shape: tuple[int, ...], offsets: tuple[int, ...]) -> np.ndarray:
    return tensor[tuple(slice(o, o + extent) for o, extent in zip(offsets, shape, strict=True))]


def _assemble(target: np.ndarray, source: np.ndarray, offsets: tuple[int, ...]) -> np.ndarray:
    _window(target, source.shape, offsets)[...] = source.copy()
    return target


_OPS: dict[str, Callable[..., Any]] = {
    "tensor.create": lambda shape: np.full(shape, np.nan),
    "tensor.slice": _window,
    "tensor.assemble": _assemble,
    "tensor.neg": lambda a: -a,
    "tensor.add": lambda a, b: a + b,
    "tensor.adds": lambda a, b: a + b,
    "tensor.sub": lambda a, b: a - b,
    "tensor.muls": lambda a, b: a * b,
}
