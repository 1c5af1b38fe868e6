"""Launches of several blocks and of both lanes: indices, barriers, prefetches, regions of lanes, symbols."""

from __future__ import annotations

from pypto_tmpl.hunt.programs.drawing import HEAD, Drawing, function, inside

ROWS, COLUMNS, BLOCKS, SIZE = 8, 16, 4, 32
WHOLE = f"pl.Tensor[[{ROWS * BLOCKS}, {COLUMNS}], pl.FP32]"
SQUARE = f"pl.Tensor[[{SIZE}, {SIZE}], pl.FP32]"
CELLS = f"pl.Tensor[[{BLOCKS}], pl.INT32]"
VIEW = "pl.Tensor[[{}, {}], pl.FP32, pl.TensorView(valid_shape=[{}, {}], layout=pl.TensorLayout.ND)]"
PARAMETERS = {
    "a": WHOLE,
    "b": f"pl.Tensor[[{SIZE}, {SIZE}], pl.FP32]",
    "w": f"pl.Tensor[[{SIZE}, {SIZE}], pl.FP32]",
    "n": "pl.Scalar[pl.INDEX]",
    "cells": f"pl.InOut[{CELLS}]",
    "events": "pl.Tensor[[8], pl.INT64]",
    "out": f"pl.InOut[{WHOLE}]",
    "square": f"pl.InOut[{SQUARE}]",
}
PIPES = ("V", "MTE2", "MTE3", "S")


class LaunchPrograms(Drawing):
    """An orchestration of scopes and launches; what they write starts as it was given."""

    kind = "launches"
    head = HEAD.replace(
        "\n\n@pl.program", '\nLEN = pl.dynamic("LEN")\nHIGH = pl.dynamic("HIGH")\n\n\n@pl.program'
    )

    def functions(self) -> str:
        """The kernels and ``main``."""
        self.ranges["n"] = (1, 9)
        self._functions: list[str] = []
        lines: list[str] = []
        for _ in range(self.random.randint(1, 3)):
            lines += self.one([self._blocks, self._blocks, self._scope, self._regions, self._named_part])()
        given = ", ".join(f"{name}: {type_}" for name, type_ in PARAMETERS.items())
        head = f"    @pl.function\n    def main(self, {given}):"
        return "".join(self._functions) + function(head, [*lines, "return out, square"])

    # Blocks

    def _width(self) -> tuple[list[str], str]:
        """Lines that make the number of blocks, or reserve memory that nothing uses, and that number."""
        count = self.name("k")
        cores = self.one(["available_aiv_count", "available_cluster_count"])
        made = [f"{count} = pl.min(pl.system.{cores}(), {BLOCKS})"]
        reserved = [f"{self.name('m')} = pl.tensor.alloc(pl.Mem.DDR, 1024)"]
        return self.one([([], str(BLOCKS)), (reserved, str(BLOCKS)), (made, count)])

    def _blocks(self) -> list[str]:
        """A launch of blocks, each of which writes the rows of its number."""
        name = self.name("block")
        lines = ["i = pl.tile.get_block_idx()", "count = pl.tile.get_block_num()", *self._prefetch()]
        lines += [f"t = pl.load(x, [i * {ROWS}, 0], [{ROWS}, {COLUMNS}])", *self._quiet()]
        scale = self.one(["pl.cast(count, pl.FP32)", "0.5", "2.0"])
        lines += [f"u = pl.mul(t, {scale})" if "cast" not in scale else "u = pl.add(t, 1.0)", *self._quiet()]
        place = self.one(["i", "(i + 1) % count", "count - 1 - i"])
        lines.append(f"o = pl.store(u, [{place} * {ROWS}, 0], o)")
        given = f"x: {WHOLE}, cells: pl.InOut[{CELLS}], events: {PARAMETERS['events']}, o: pl.InOut[{WHOLE}]"
        head = "    @pl.function(type=pl.FunctionType.InCore)\n"
        head += f"    def {name}(self, {given}) -> tuple[{WHOLE}, {CELLS}]:"
        self._functions.append(function(head, [*lines, "return o, cells"]))
        made, count = self._width()
        return [*made, f"with pl.spmd({count}):", f"    out, cells = self.{name}(a, cells, events, out)"]

    def _prefetch(self) -> list[str]:
        if self.maybe(0.5):
            return []
        lines = ["ctx = pl.prefetch.make_context()", "event = pl.prefetch.async_prefetch(x, ctx)"]
        lines += ["session = pl.prefetch.session(ctx)", "done = pl.prefetch.wait(event, session)"]
        return lines

    def _quiet(self) -> list[str]:
        """What changes no value."""
        event, first, second = self.random.randrange(8), *self.random.sample(PIPES, 2)
        most = BLOCKS
        pipes = f"set_pipe=pl.PipeType.{first}, wait_pipe=pl.PipeType.{second}, event_id={event}"
        forms = [
            [f"pl.system.sync_src({pipes})", f"pl.system.sync_dst({pipes})"],
            [f"pl.system.bar_{self.one(['v', 'm', 'all'])}()"],
            ["pl.system.fence()"],
            ["pl.system.cacheinvalid()"],
            [f"pl.system.cacheinvalid(x, [1, {COLUMNS}], [0, 0])"],
            ["pl.system.set_ffts(events)"],
            [
                f"pl.system.sync_set({event}, pipe=pl.PipeType.{first})",
                f"pl.system.sync_wait({event}, pipe=pl.PipeType.{second})",
            ],
            [f'pl.system.syncall(core_type="aiv_only", mode="soft", gm_workspace=cells, used_cores={most})'],
            [],
        ]
        return self.one(forms)

    def _scope(self) -> list[str]:
        """Blocks of tensors that are written in a scope of the launch."""
        made, count = self._width()
        lines = ["i = pl.tensor.get_block_idx()", "most = pl.tensor.get_block_num()"]
        place = self.one(["i", "(i + 1) % most", "most - 1 - i"])
        lines.append(f"part = pl.slice(a, [{ROWS}, {COLUMNS}], [i * {ROWS}, 0])")
        value = self.one(["pl.mul(part, 0.5)", "pl.exp(part)", "pl.add(part, part)"])
        lines.append(f"out = pl.assemble(out, {value}, [{place} * {ROWS}, 0])")
        return [*made, f"with pl.spmd({count}):", *inside(lines)]

    # Lanes

    def _regions(self) -> list[str]:
        """A product of which each lane takes a part, works on it, and gives it back."""
        product, half, lane, value = (self.name(letter) for letter in "pvlv")
        mode = self.one(["UP_DOWN", "LEFT_RIGHT"])
        is_rows = mode == "UP_DOWN"
        index = self.one([lane, lane, "pl.tensor.get_subblock_idx()"])
        own = f"{index} * {SIZE // 2}"
        shape = [SIZE // 2, SIZE] if is_rows else [SIZE, SIZE // 2]
        offset = [own, "0"] if is_rows else ["0", own]
        begin = f"[{', '.join(offset)}]"
        lines = [f"{half} = pl.aiv_shard({product})"]
        other = f"pl.slice(w, {shape}, {begin})"
        op = self.one(["add", "sub", "maximum"])
        lines.append(f"{value} = pl.{op}({half}, {other})")
        loop = [f"for {lane} in pl.split_aiv(2, mode=pl.SplitMode.{mode}):"]
        first = f"{product} = pl.matmul(b, w)"
        if self.maybe(0.5):
            lines.append(f"square = pl.assemble(square, {value}, {begin})")
            body = [first, *loop, *inside(lines)]
        else:
            whole = self.name("g")
            lines.append(f"{whole} = pl.aic_gather({value})")
            last = f"square = pl.assemble(square, pl.matmul({whole}, b), [0, 0])"
            body = [first, *loop, *inside(lines), last]
        return ["with pl.at(level=pl.Level.CORE_GROUP):", *inside(body)]

    # Symbols

    def _named_part(self) -> list[str]:
        """A kernel whose signature names the extent of what counts of its operand."""
        name, part, fill = self.name("clip"), self.name("x"), self.one(["zero", "min"])
        rows = ROWS * BLOCKS
        high, length = self.one([(str(rows), "LEN"), ("HIGH", str(COLUMNS)), ("HIGH", "LEN")])
        type_ = VIEW.format(rows, COLUMNS, high, length)
        head = "    @pl.function(type=pl.FunctionType.InCore)\n"
        head += f"    def {name}(self, x: {type_}, o: pl.InOut[{WHOLE}]) -> {WHOLE}:"
        lines = [f"t = pl.load(x, [0, 0], [{rows}, {COLUMNS}], valid_shape=[{high}, {length}])"]
        lines.append(f"f = pl.tile.maximums(pl.fillpad(t, pad_value=pl.PadValue.{fill}), -2.0)")
        lines.append(f"o = pl.store(pl.add(f, pl.load(o, [0, 0], [{rows}, {COLUMNS}])), [0, 0], o)")
        self._functions.append(function(head, [*lines, "return o"]))
        extents = ", ".join("n" if extent in ("LEN", "HIGH") else extent for extent in (high, length))
        cut = f"{part} = pl.slice(a, [{rows}, {COLUMNS}], [0, 0], valid_shape=[{extents}])"
        return [cut, f"out = self.{name}({part}, out)"]
