"""Orchestration: launches with dependencies, blocks put together, buffers that change hands in loops."""

from __future__ import annotations

from pypto_tmpl.hunt.programs.drawing import Drawing, function, inside

ROWS, COLUMNS, BLOCKS = 8, 16, 4
WHOLE = f"pl.Tensor[[{ROWS * BLOCKS}, {COLUMNS}], pl.FP32]"
BLOCK = f"pl.Tensor[[{ROWS}, {COLUMNS}], pl.FP32]"
NEW = f"pl.create_tensor([{ROWS * BLOCKS}, {COLUMNS}], dtype=pl.FP32)"
KERNELS = f"""
    @pl.function(type=pl.FunctionType.InCore)
    def step(self, x: {WHOLE}, i: pl.Scalar[pl.INDEX], k: pl.Scalar[pl.FP32], o: pl.Out[{WHOLE}]) -> {WHOLE}:
        t = pl.load(x, [i * {ROWS}, 0], [{ROWS}, {COLUMNS}])
        o = pl.store(pl.add(t, k), [i * {ROWS}, 0], o)
        return o
    @pl.function(type=pl.FunctionType.InCore)
    def blend(self, x: {WHOLE}, i: pl.Scalar[pl.INDEX], s: pl.InOut[{WHOLE}]) -> {WHOLE}:
        t = pl.load(x, [i * {ROWS}, 0], [{ROWS}, {COLUMNS}])
        u = pl.load(s, [i * {ROWS}, 0], [{ROWS}, {COLUMNS}])
        s = pl.store(pl.add(pl.mul(u, 0.5), t), [i * {ROWS}, 0], s)
        return s
    @pl.function(type=pl.FunctionType.InCore)
    def fill(self, x: {WHOLE}, row: pl.Scalar[pl.INDEX], o: pl.Out[{BLOCK}]) -> {BLOCK}:
        o = pl.store(pl.mul(pl.load(x, [row, 0], [{ROWS}, {COLUMNS}]), 2.0), [0, 0], o)
        return o
    @pl.function(type=pl.FunctionType.InCore)
    def half(self, x: {WHOLE}) -> {WHOLE}:
        return pl.mul(x, 0.5)
    @pl.function(type=pl.FunctionType.InCore)
    def join(self, x: {WHOLE}, y: {WHOLE}, o: pl.Out[{WHOLE}]) -> {WHOLE}:
        t = pl.load(x, [0, 0], [{ROWS * BLOCKS}, {COLUMNS}])
        o = pl.store(pl.sub(t, pl.load(y, [0, 0], [{ROWS * BLOCKS}, {COLUMNS}])), [0, 0], o)
        return o
"""


class TaskPrograms(Drawing):
    """Launches of five kernels; ``read`` are tensors that may be read, ``written`` those that may be written.

    With a manual scope every launch waits for the one before it, or for all of the phase before it.
    """

    kind = "tasks"

    def functions(self) -> str:
        """The kernels and the orchestration."""
        self.ranges["n"] = (0, 4)
        self.read, self.written = ["a", "b", "out", "side"], ["out", "side"]
        self.budget = self.random.randint(2, 7)
        is_manual = self.maybe(0.4)
        lines = self._manual() if is_manual else self.one([self._automatic] * 3 + [self._submitted])()
        head = (
            f"    @pl.function(type=pl.FunctionType.Orchestration{', auto_scope=False' if is_manual else ''})"
        )
        head += f"\n    def main(self, a: {WHOLE}, b: {WHOLE}, n: pl.Scalar[pl.INDEX], "
        head += f"out: pl.InOut[{WHOLE}], side: pl.InOut[{WHOLE}]):"
        return KERNELS + function(head, [*lines, "return out, side"])

    # Tasks that wait for what they name

    def _manual(self) -> list[str]:
        made, before = [], ""
        buffers = [self.name("m") for _ in range(self.random.randint(1, 3))]
        for buffer in buffers:
            made.append(f"{buffer} = {NEW}")
        self.written += buffers
        phases: list[str] = []
        for _ in range(self.budget):
            lines, before = self.one([self._chain, self._threaded, self._fenced])(before)
            phases += lines
        return [*made, "with pl.manual_scope():", *inside(phases)]

    def _launch(self, index: str, target: str, task: str, deps: str) -> str:
        """A launch that writes a block of a tensor, which is none of its other arguments."""
        source = self.one([name for name in self.read if name != target])
        waits = f", deps=[{deps}]" if deps else ""
        if self.maybe(0.4) and target in self.read:
            return f"{target}, {task} = pl.submit(self.blend, {source}, {index}, {target}{waits})"
        number = self.one(["1.0", "-2.0", "0.25"])
        return f"{target}, {task} = pl.submit(self.step, {source}, {index}, {number}, {target}{waits})"

    def _target(self) -> str:
        return self.one(self.written)

    def _wrote_all(self, target: str) -> None:
        if target not in self.read:
            self.read.append(target)

    def _chain(self, before: str) -> tuple[list[str], str]:
        lines, target = [], self._target()
        for index in range(BLOCKS):
            task = self.name("t")
            lines.append(self._launch(str(index), target, task, before))
            before = task
        self._wrote_all(target)
        return lines, before

    def _threaded(self, before: str) -> tuple[list[str], str]:
        task, index, target = self.name("t"), self.name("i"), self._target()
        kind = self.one(["range", "parallel"])
        launch = self._launch(index, target, task, f"{task}, {before}" if before else task)
        self._wrote_all(target)
        return [f"{task} = None", f"for {index} in pl.{kind}({BLOCKS}):", *inside([launch])], task

    def _fenced(self, before: str) -> tuple[list[str], str]:
        ids, index, task, target = self.name("ids"), self.name("i"), self.name("t"), self._target()
        kind = self.one(["range", "parallel"])
        launch = self._launch(index, target, task, before)
        self._wrote_all(target)
        head = f"for {index} in pl.{kind}({BLOCKS}):"
        body = inside([launch, f"{ids}[{index}] = {task}"])
        waited = self.one([ids, ids, ", ".join(f"{ids}[{place}]" for place in range(BLOCKS))])
        return [f"{ids} = pl.array.create({BLOCKS}, pl.TASK_ID)", head, *body], waited

    # Tasks that wait for those that passes name

    def _submitted(self) -> list[str]:
        """Launches in a row, each of which writes all of a tensor."""
        self.names_tasks = True
        buffers = [self.name("m") for _ in range(self.random.randint(1, 3))]
        lines = [f"{buffer} = {NEW}" for buffer in buffers]
        self.written += buffers
        for _ in range(self.budget + 2):
            target = self._target()
            sources = ", ".join(self._source(target) for _ in range(2))
            lines.append(f"{target}, {self.name('t')} = pl.submit(self.join, {sources}, {target})")
            self._wrote_all(target)
        return lines

    # Calls that are ordered by what they read and write

    def _automatic(self) -> list[str]:
        lines: list[str] = []
        while self.budget > 0:
            lines += self._line(0)
        return lines

    def _line(self, depth: int) -> list[str]:
        self.budget -= 1
        kinds = [self._steps, self._panel, self._panels, self._blend, self._join]
        if depth < 2:
            kinds += [self._carried, self._carried, self._swapped, self._branch, self._while]
        return self.one(kinds)(depth)

    def _source(self, target: str) -> str:
        return self.one([name for name in self.read if name != target])

    def _steps(self, depth: int) -> list[str]:
        target, index = self.one(["out", "side"]), self.name("i")
        kind = self.one(["range", "parallel"])
        source, number = self._source(target), self.one(["1.0", "0.5"])
        call = f"{target} = self.step({source}, {index}, {number}, {target})"
        return [f"for {index} in pl.{kind}({BLOCKS}):", *inside([call])]

    def _panel(self, depth: int) -> list[str]:
        """A block that is made in a buffer of its own; in between the tensor that it goes to may be read."""
        block, target = self.name("q"), self.one(["out", "side"])
        lines = [f"{block} = pl.create_tensor([{ROWS}, {COLUMNS}], dtype=pl.FP32)"]
        row = self.random.randrange(BLOCKS) * ROWS
        lines.append(f"{block} = self.fill({self._source(target)}, {row}, {block})")
        if self.maybe(0.4):
            other = "side" if target == "out" else "out"
            lines.append(f"{other} = self.blend({target}, {self.random.randrange(BLOCKS)}, {other})")
        at = self.random.randrange(BLOCKS) * ROWS
        lines.append(f"{target} = pl.assemble({target}, {block}, [{at}, 0])")
        if self.maybe(0.3):
            lines.append(f"{target} = pl.assemble({target}, {block}, [{(at + ROWS) % (ROWS * BLOCKS)}, 0])")
        return lines

    def _panels(self, depth: int) -> list[str]:
        block, target, index = self.name("q"), self.one(["out", "side"]), self.name("i")
        body = [
            f"{block} = pl.create_tensor([{ROWS}, {COLUMNS}], dtype=pl.FP32)",
            f"{block} = self.fill({self._source(target)}, {index} * {ROWS}, {block})",
            f"{target} = pl.assemble({target}, {block}, [{index} * {ROWS}, 0])",
        ]
        return [f"for {index} in pl.range({self.one([BLOCKS, BLOCKS, 2])}):", *inside(body)]

    def _blend(self, depth: int) -> list[str]:
        target = self.one(["out", "side"])
        return [f"{target} = self.blend({self._source(target)}, {self.random.randrange(BLOCKS)}, {target})"]

    def _join(self, depth: int) -> list[str]:
        target = self.one(["out", "side"])
        sources = [self._source(target) for _ in range(2)]
        return [f"{target} = self.join({', '.join(sources)}, {target})"]

    def _carried(self, depth: int) -> list[str]:
        """A value that each round replaces; what it starts with is still read."""
        value, index, target = self.name("v"), self.name("i"), self.one(["out", "side"])
        start = self.one(["a", "b"])
        lines = [f"{value} = {start}", f"for {index} in pl.range({self.random.randint(0, 3)}):"]
        lines += inside([f"{value} = self.half({value})"])
        return [*lines, f"{target} = self.join({value}, {start}, {target})"]

    def _swapped(self, depth: int) -> list[str]:
        """Two values that change places in each round."""
        first, second, index = self.name("v"), self.name("v"), self.name("i")
        keep, target = self.name("v"), self.one(["out", "side"])
        lines = [f"{first} = self.half(a)", f"{second} = self.half(b)"]
        lines.append(f"for {index} in pl.range({self.random.randint(1, 3)}):")
        lines += inside([f"{keep} = self.half({first})", f"{first} = {second}", f"{second} = {keep}"])
        return [*lines, f"{target} = self.join({first}, {second}, {target})"]

    def _branch(self, depth: int) -> list[str]:
        lines = [f"if n < {self.random.randint(1, 3)}:", *inside(self._line(depth + 1))]
        return [*lines, "else:", *inside(self._line(depth + 1))] if self.maybe(0.6) else lines

    def _while(self, depth: int) -> list[str]:
        count = self.name("k")
        body = inside([*self._line(depth + 1), f"{count} = {count} + 1"])
        return [f"{count} = n", f"while {count} < {self.random.randint(1, 4)}:", *body]
