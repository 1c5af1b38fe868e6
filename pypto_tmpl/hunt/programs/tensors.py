"""Programs of tensors: kernels in loops, branches, levels and clusters, with carries, helpers and buffers."""

from __future__ import annotations

import re
from typing import Any

from pypto_tmpl.hunt.programs.drawing import Drawing, function, inside

SIZE = 8
TENSOR = f"pl.Tensor[[{SIZE}, {SIZE}], pl.FP32]"
KERNEL = "with pl.at(level=pl.Level.CORE_GROUP):"
MUTABLE = ("t0", "t1", "t2")
_RENAMED = re.compile(r"(t\d) = (\w+(?:\[\d\])?)")
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


class TensorPrograms(Drawing):
    """Draws lines; ``names`` are the tensors that can be read where the next line stands."""

    kind = "tensors"

    def functions(self) -> str:
        """The helpers, which are written out where they are called, and ``main``."""
        self.ranges["n"] = (0, 4)
        self.budget = self.random.randint(4, 16)
        self._is_on_host = False
        return HELPERS + self._main()

    def _main(self) -> str:
        names = ["x", "y", *MUTABLE]
        lines = [f"{name} = pl.add(x, {place}.0)" for place, name in enumerate(MUTABLE)]
        while self.budget > 0:
            lines += self._outside(names, ["n"], depth=0)
        lines += [KERNEL]
        lines += [
            f"    out = pl.assemble(out, pl.slice({name}, [1, 8], [7, 0]), [7, 0])" for name in names[-2:]
        ]
        head = f"    @pl.function\n    def main(self, x: {TENSOR}, y: {TENSOR}, n: pl.Scalar[pl.INDEX], "
        return function(f"{head}out: pl.InOut[{TENSOR}]) -> {TENSOR}:", [*lines, "return out"])

    def _outside(self, names: list[str], numbers: list[str], depth: int) -> list[str]:
        """Some lines outside of kernels."""
        self.budget -= 1
        kinds = ["kernel", "kernel", "buffer", "number"]
        kinds += ["loop", "unroll", "branch", "cluster"] if depth < 2 else []
        kinds += ["level"] if depth < 2 and not self._is_on_host else []  # a host calls no other
        kind = self.one(kinds)
        if kind == "number":
            numbers.append(self.name("k"))
            return [f"{numbers[-1]} = {self._number(numbers[:-1])}"]
        if kind == "kernel":
            return [KERNEL, *self._kernel(names, numbers)]
        if kind == "buffer":
            return self._buffer(names, numbers)
        return self._within(lambda n, k: self._outside(n, k, depth + 1), names, numbers, kind)

    def _within(self, block: Any, names: list[str], numbers: list[str], kind: str) -> list[str]:
        """A loop, branch or region; what it defines ends with it, unless it is a mutable tensor."""
        numbers = list(numbers)
        if kind in ("loop", "unroll"):
            numbers.append(self.name("i"))
            count = self.one([0, 1, 3])
            head = f"for {numbers[-1]} in pl.{'range' if kind == 'loop' else 'unroll'}({count}):"
        elif kind == "branch":
            head = f"if {self._number(numbers)} < {self.random.randint(0, 4)}:"
        else:
            level = "pl.at(level=pl.Level.HOST, role=pl.Role.Orchestrator)"
            head = f"with {'pl.cluster()' if kind == 'cluster' else level}:"
            if kind == "cluster":
                kernel = [KERNEL, *self._kernel(names, numbers)]
                return [head, *inside(kernel)]
        self._is_on_host |= kind == "level"
        lines = [head, *inside(self._several(block, names, numbers))]
        self._is_on_host &= kind != "level"
        if kind == "branch" and self.maybe(0.5):
            lines += ["else:", *inside(self._several(block, names, numbers))]
        return lines

    def _several(self, block: Any, names: list[str], numbers: list[str]) -> list[str]:
        names, numbers = list(names), list(numbers)
        return [line for _ in range(self.random.randint(1, 3)) for line in block(names, numbers)]

    def _kernel(self, names: list[str], numbers: list[str]) -> list[str]:
        """What blocks in it assign is made in it first: no carry is a tensor in memory here, a tile there."""
        lines = self._several(lambda n, k: self._line(n, k, 0), names, numbers)
        assigned = [name for name in MUTABLE if any(f"    {name} = " in line for line in lines)]
        lines = [
            f"{found[1]} = pl.mul({found[2]}, 1.0)"
            if (found := _RENAMED.fullmatch(line)) and found[1] in assigned
            else line
            for line in lines
        ]
        return inside([*(f"{name} = pl.mul({name}, 1.0)" for name in assigned), *lines])

    def _line(self, names: list[str], numbers: list[str], depth: int) -> list[str]:
        """Some lines of a kernel."""
        self.budget -= 1
        kinds = ["rebind", "rebind", "define", "store", "helper", "pair"]
        kinds += ["loop", "unroll", "branch", "carry"] if depth < 2 else []
        kind = self.one(kinds)
        if kind == "rebind":
            value = self._computed(names) if depth else self._value(names)
            return [f"{self.one(MUTABLE)} = {value}"]
        if kind == "define":
            names.append(self.name("v"))
            return [f"{names[-1]} = {self._value(names[:-1])}"]
        if kind == "store":
            row = self._number(numbers)
            return [f"out = pl.assemble(out, pl.slice({self._value(names)}, [1, 8], [{row}, 0]), [{row}, 0])"]
        if kind == "helper":
            target = self.one(MUTABLE)
            return [f"{target} = self.scaled({self.one([target, *names])}, {self.one(names)})"]
        if kind == "pair":
            return self._pair(names, depth)
        if kind == "carry":
            return self._carry(names, numbers, depth)
        return self._within(lambda n, k: self._line(n, k, depth + 1), names, numbers, kind)

    def _pair(self, names: list[str], depth: int) -> list[str]:
        """Two results, of which one is read after a tensor was assigned."""
        both, (first, second) = self.name("p"), self.random.sample(MUTABLE, 2)
        call = f"{both} = self.pair({first}, {self.one(names)})"
        kept = f"pl.mul({both}[1], 1.0)" if depth else f"{both}[1]"
        return [call, f"{first} = {both}[0]", f"{second} = {kept}"]

    def _carry(self, names: list[str], numbers: list[str], depth: int) -> list[str]:
        carry, result, index = self.name("c"), self.name("r"), self.name("i")
        count, init = self.one([0, 1, 3]), self.name("s")
        start = f"{init} = {self._computed(names)}"
        head = f"for {index}, ({carry},) in pl.range({count}, init_values=({init},)):"
        inner = [*names, carry]
        lines = self._line(inner, [*numbers, index], depth + 1)
        names.append(result)
        return [start, head, *inside([*lines, f"{result} = pl.yield_({self._computed(inner)})"])]

    def _buffer(self, names: list[str], numbers: list[str]) -> list[str]:
        """A buffer that a kernel fills and that is put into the output, which may be read in between."""
        buffer, row = self.name("b"), self.one(["0", "4", f"({self._number(numbers)}) // 2"])
        lines = [
            f"{buffer} = pl.create_tensor([4, 8], dtype=pl.FP32)",
            KERNEL,
            f"    {buffer} = pl.assemble({buffer}, pl.slice({self._value(names)}, [4, 8], [2, 0]), [0, 0])",
        ]
        if self.maybe(0.4):
            place = self.one([1, 3])
            read = [
                KERNEL,
                f"    {self.one(MUTABLE)} = pl.mul(out, 0.5)",
            ]
            lines[place:place] = read
        return [*lines, f"out = pl.assemble(out, {buffer}, [{row}, 0])"]

    def _computed(self, names: list[str]) -> str:
        """A value that is no other name of one."""
        value = self._value(names)
        return f"pl.mul({value}, 1.0)" if value in names or value.startswith("pl.slice") else value

    def _value(self, names: list[str], depth: int = 2) -> str:
        kind = self.one(["name", "scaled", "binary", "whole", "helper"]) if depth else "name"
        if kind == "name":
            return self.one(names)
        one = self._value(names, depth - 1)
        if kind == "scaled":
            return f"pl.{self.one(['mul', 'add'])}({one}, {self.one(['0.5', '-2.0', '1.0'])})"
        if kind == "whole":
            return f"pl.neg(pl.slice({self.one(names)}, [8, 8], [0, 0]))"
        other = self._value(names, depth - 1)
        if kind == "helper":
            return f"self.scaled({one}, {other})"
        return f"pl.{self.one(['add', 'sub'])}({one}, {other})"

    def _number(self, numbers: list[str]) -> str:
        """An integer from 0 to 4."""
        return self.one(
            [
                f"({self.one(numbers)} + {self.random.randint(-3, 3)}) % 5",
                str(self.random.randint(0, 4)),
            ]
        )
