"""Programs of two ranks: windows that they write for each other, signals, collectives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pypto_tmpl.hunt.programs.drawing import Drawing, function, inside

RANKS, COLUMNS = 2, 16
BLOCK = f"[{RANKS}, {COLUMNS}]"
TENSOR = f"pl.Tensor[{BLOCK}, pl.FP32]"
ROW = f"pl.Tensor[[1, {COLUMNS}], pl.FP32]"
WINDOW = (BLOCK, "FP32")
CELLS = (f"[{RANKS}, 1]", "INT32")
LOAD = f"pl.load({{}}, [0, 0], {BLOCK})"
PARAMETERS = f"x: {TENSOR}, z: {ROW}, y: pl.InOut[{TENSOR}]"
HOST = f"""    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def main(self, xs: pl.Tensor[[{RANKS}, {RANKS}, {COLUMNS}], pl.FP32],
             zs: pl.Tensor[[{RANKS}, 1, {COLUMNS}], pl.FP32],
             ys: pl.InOut[pl.Tensor[[{RANKS}, {RANKS}, {COLUMNS}], pl.FP32]]):"""


@dataclass
class _Kernel:
    """A kernel: its lines, the tiles that can be read, and the windows that it is given by name."""

    lines: list[str] = field(default_factory=list)
    tiles: list[str] = field(default_factory=list)
    windows: dict[str, tuple[str, str]] = field(default_factory=dict)

    def parameters(self, *, written: bool) -> str:
        """The declarations of its windows, as those of a kernel or as those of who calls it."""
        types = {
            name: f"pld.DistributedTensor[{shape}, pl.{dtype}]"
            for name, (shape, dtype) in self.windows.items()
        }
        return "".join(
            f", {name}: {f'pl.InOut[{type_}]' if written else type_}" for name, type_ in types.items()
        )


class RankPrograms(Drawing):
    """Dispatches to both ranks, one after the other, and collectives of the host between them.

    A window and its signal are written in one step only: no step may overtake another.
    """

    kind = "ranks"
    head = "import pypto.language.distributed as pld\n" + Drawing.head

    def functions(self) -> str:
        """The functions on the ranks, and the host that calls them."""
        self.budget = self.random.randint(1, 3)
        self._windows: dict[str, tuple[str, str]] = {}
        self._functions: list[str] = []
        self._ranks = self.one(["pld.world_size()", "pld.world_size()", str(RANKS)])
        host: list[str] = []
        while self.budget > 0:
            host += self.one([self._dispatch, self._dispatch, self._scope, self._deferred, self._on_host])()
        made = [line for name, window in self._windows.items() for line in _made(name, *window)]
        return "".join(self._functions) + function(HOST, [*made, *host, "return ys"])

    # Dispatches

    def _window(self, kernel: _Kernel, kind: tuple[str, str] = WINDOW, letter: str = "w") -> str:
        """A new window that a kernel is given."""
        name = self.name(letter)
        kernel.windows[name] = self._windows[name] = kind
        return name

    def _calls(self, chip: str, kernel: _Kernel) -> list[str]:
        windows = "".join(f", {name}" for name in kernel.windows)
        call = f"self.{chip}(xs[r], zs[r], ys[r]{windows}, device=r)"
        return [f"for r in pl.range({self._ranks}):", *inside([call])]

    def _function(self, kind: str, name: str, kernel: _Kernel, lines: list[str]) -> None:
        windows = kernel.parameters(written=kind == "InCore")
        head = f"    @pl.function(type=pl.FunctionType.{kind})\n"
        head += f"    def {name}(self, {PARAMETERS}{windows}) -> {TENSOR}:"
        self._functions.append(function(head, [*lines, "return y"]))

    def _dispatch(self) -> list[str]:
        """A kernel of several steps, and the orchestration that calls it."""
        kernel = _Kernel(["t0 = " + LOAD.format("x"), "u0 = " + LOAD.format("y")], ["t0", "u0"])
        steps = [self._push, self._push, self._rows, self._fetch, self._put, self._get, self._cells]
        steps += [self._reduced, self._exchanged]
        for _ in range(self.random.randint(1, 2)):
            self.budget -= 1
            self.one(steps)(kernel)
        kernel.lines.append(f"y = pl.store({kernel.tiles[-1]}, [0, 0], y)")
        name, chip = self.name("kernel"), self.name("chip")
        self._function("InCore", name, kernel, kernel.lines)
        arguments = "".join(f", {window}" for window in kernel.windows)
        self._function("Orchestration", chip, kernel, [f"y = self.{name}(x, z, y{arguments})"])
        return self._calls(chip, kernel)

    def _scope(self) -> list[str]:
        """Tensors that are pushed out of a scope of the orchestration."""
        self.budget -= 1
        kernel = _Kernel()
        window, signal = self._window(kernel), self._window(kernel, CELLS, "s")
        lines = [f"me = pld.rank(pld.get_comm_ctx({signal}))"]
        lines.append(f"part = pl.{self.one(['mul(x, 0.5)', 'add(x, y)', 'sub(y, x)'])}")
        lines.append(f"pld.remote_store(part, {window}, peer=1 - me, offsets=[0, 0]{self._added()})")
        lines += self._met(signal)
        lines.append(f"y = pl.assemble(y, pl.add(pl.slice({window}, {BLOCK}, [0, 0]), y), [0, 0])")
        chip = self.name("chip")
        body = ["with pl.at(level=pl.Level.CORE_GROUP):", *inside(lines)]
        self._function("Orchestration", chip, kernel, body)
        return self._calls(chip, kernel)

    def _deferred(self) -> list[str]:
        """A task that is complete when the other rank says so, and one that waits for it."""
        self.budget -= 1
        kernel = _Kernel()
        window, signal = self._window(kernel), self._window(kernel, CELLS, "s")
        send, take, chip = self.name("send"), self.name("take"), self.name("chip")
        store = f"pld.tile.remote_store({LOAD.format('x')}, {window}, peer=1 - me, offsets=[0, 0])"
        ready = (
            f"pld.system.notify({signal}, peer=1 - me, offsets=[0, 0], value=1, op=pld.NotifyOp.AtomicAdd)"
        )
        rank = f"me = pld.rank(pld.get_comm_ctx({signal}))"
        self._function("InCore", send, kernel, [rank, store, ready])
        total = f"pl.add({LOAD.format(window)}, {LOAD.format('y')})"
        self._function("InCore", take, kernel, [f"y = pl.store({total}, [0, 0], y)"])
        wait = f"pld.system.defer_wait({signal}, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)"
        tasks = ["with pl.at(level=pl.Level.CORE_GROUP) as arrived:", f"    {wait}"]
        tasks.append(f"y, taken = pl.submit(self.{take}, x, z, y, {window}, {signal}, deps=[arrived])")
        tasks.append(f"out, sent = pl.submit(self.{send}, x, z, spare, {window}, {signal})")
        spare = f"spare = pl.create_tensor({BLOCK}, dtype=pl.FP32)"
        self._function("Orchestration", chip, kernel, [spare, "with pl.manual_scope():", *inside(tasks)])
        return self._calls(chip, kernel)

    # Steps of kernels

    def _own_rank(self, kernel: _Kernel, window: str) -> str:
        """The other rank, as kernels tell it from their own."""
        if not any(line.startswith("me = ") for line in kernel.lines):
            kernel.lines.insert(0, f"me = pld.rank(pld.get_comm_ctx({window}))")
        count = f"pld.nranks(pld.get_comm_ctx({window}))"
        return self.one(["1 - me", f"(me + 1) % {RANKS}", f"(me + 1) % {count}"])

    def _added(self) -> str:
        return self.one(["", "", ", atomic=pld.AtomicType.Add"])

    def _met(self, signal: str) -> list[str]:
        """Lines in which a rank tells the other one of what it has written, and waits for the same."""
        op, cmp = self.one(["AtomicAdd", "Set"]), self.one(["Ge", "Eq"])
        return [
            f"pld.system.notify({signal}, peer=1 - me, offsets=[0, 0], value=1, op=pld.NotifyOp.{op})",
            f"pld.system.wait({signal}, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.{cmp})",
        ]

    def _taken(self, kernel: _Kernel, tensor: str) -> None:
        kernel.tiles.append(self.name("t"))
        kernel.lines.append(f"{kernel.tiles[-1]} = {LOAD.format(tensor)}")

    def _cells(self, kernel: _Kernel) -> None:
        """Arithmetic between the steps."""
        x, y, var = self.one(kernel.tiles), self.one(kernel.tiles), self.name("t")
        op = self.one([f"add({x}, {y})", f"sub({x}, {y})", f"mul({x}, 0.5)", f"maximum({x}, {y})"])
        kernel.lines.append(f"{var} = pl.tile.{op}" if "0.5" not in op else f"{var} = pl.{op}")
        kernel.tiles.append(var)

    def _push(self, kernel: _Kernel) -> None:
        """A tile is written into the window of the other rank."""
        window, signal = self._window(kernel), self._window(kernel, CELLS, "s")
        peer, tile = self._own_rank(kernel, signal), self.one(kernel.tiles)
        kernel.lines.append(
            f"pld.tile.remote_store({tile}, {window}, peer={peer}, offsets=[0, 0]{self._added()})"
        )
        kernel.lines += self._met(signal)
        self._taken(kernel, window)

    def _rows(self, kernel: _Kernel) -> None:
        """Rows go over one by one, and come in another order."""
        window, signal = self._window(kernel), self._window(kernel, CELLS, "s")
        peer, index, source = self._own_rank(kernel, signal), self.name("i"), self.one("xy")
        place = self.one([index, f"{RANKS - 1} - {index}"])
        body = [
            f"row{index} = pl.load({source}, [{index}, 0], [1, {COLUMNS}])",
            f"pld.tile.remote_store(row{index}, {window}, peer={peer}, offsets=[{place}, 0])",
        ]
        kernel.lines += [f"for {index} in pl.range({RANKS}):", *inside(body), *self._met(signal)]
        self._taken(kernel, window)

    def _shared(self, kernel: _Kernel) -> tuple[str, str]:
        """A window that holds a tile of this rank, which the other one may read; and the other rank."""
        window, signal = self._window(kernel), self._window(kernel, CELLS, "s")
        peer = self._own_rank(kernel, signal)
        kernel.lines.append(f"{window} = pl.store({self.one(kernel.tiles)}, [0, 0], {window})")
        kernel.lines += self.one([self._met(signal), [f"pld.tensor.barrier({signal})"]])
        return window, peer

    def _fetch(self, kernel: _Kernel) -> None:
        """A tile is read from the window of the other rank."""
        window, peer = self._shared(kernel)
        kernel.tiles.append(self.name("t"))
        kernel.lines.append(
            f"{kernel.tiles[-1]} = pld.tile.remote_load({window}, peer={peer}, offsets=[0, 0], shape={BLOCK})"
        )

    def _get(self, kernel: _Kernel) -> None:
        """A region of the window of the other rank is copied to a tensor."""
        window, peer = self._shared(kernel)
        region = self.one(["", f"dst_offsets=[1, 0], src_offsets=[0, 0], shape=[1, {COLUMNS}]"])
        kernel.lines.append(self._transfer("get", f"y, {{}}, {window}", peer, region))
        self._taken(kernel, "y")

    def _put(self, kernel: _Kernel) -> None:
        """A region of a tensor is copied to the window of the other rank."""
        window, signal = self._window(kernel), self._window(kernel, CELLS, "s")
        peer = self._own_rank(kernel, signal)
        region = self.one(["", f"dst_offsets=[0, 0], src_offsets=[1, 0], shape=[1, {COLUMNS}]"])
        kernel.lines.append(self._transfer("put", f"{window}, {{}}, x", peer, region + self._added()))
        kernel.lines += self._met(signal)
        self._taken(kernel, window)

    def _transfer(self, op: str, operands: str, peer: str, rest: str) -> str:
        """A copy through tiles that are made by a pass, or given."""
        is_tile = self.maybe(0.4)
        stage = f", pl.tile.create({BLOCK}, dtype=pl.FP32)" if is_tile else self.one(["", ", chunk_rows=1"])
        more = f", {rest.removeprefix(', ')}" if rest else ""
        return f"pld.{'tile' if is_tile else 'tensor'}.{op}({operands.format(peer)}{stage}{more})"

    def _reduced(self, kernel: _Kernel) -> None:
        """A collective over a window that holds a tile of each rank.

        None is a broadcast: in kernels its root writes what it has once more while the others read that.
        """
        form, cells = self.one(
            [
                (f"allreduce({{}}, {{}}, op=pld.ReduceOp.{self.one(['Sum', 'Max', 'Min', 'Prod'])})", CELLS),
                ('allreduce({}, {}, mode="ring")', (f"[{2 * (RANKS - 1)}, {RANKS}]", "INT32")),
                ("reduce_scatter({}, {})", CELLS),
            ]
        )
        window, signal = self._window(kernel), self._window(kernel, cells, "s")
        kernel.lines.append(f"{window} = pl.store({self.one(kernel.tiles)}, [0, 0], {window})")
        kernel.lines.append(f"{window} = pld.tensor.{form.format(window, signal)}")
        self._taken(kernel, window)

    def _exchanged(self, kernel: _Kernel) -> None:
        """A collective that writes a tensor of each rank into the windows of all."""
        window, signal = self._window(kernel), self._window(kernel, CELLS, "s")
        form = self.one(["allgather(z, {}, {})", "all_to_all(x, {}, {})"])
        kernel.lines.append(f"{window} = pld.tensor.{form.format(window, signal)}")
        self._taken(kernel, window)

    # Collectives of the host

    def _on_host(self) -> list[str]:
        """Windows are filled, the host makes a collective of them, and what it gives is added up."""
        self.budget -= 1
        source, target = _Kernel(), _Kernel()
        collectives: list[Callable[[_Kernel, _Kernel], str]] = [
            self._host_sum,
            self._host_row,
            self._host_swap,
        ]
        line = self.one([*collectives, self._host_sum, self._host_blocks])(source, target)
        fill, take, publish, consume = (self.name(name) for name in ("fill", "take", "publish", "consume"))
        (data,) = list(source.windows)[:1]
        rows = "z, [0, 0], [1, " if source.windows[data] != WINDOW else "x, [0, 0], [2, "
        stored = [f"{data} = pl.store(pl.load({rows}{COLUMNS}]), [0, 0], {data})"]
        if len(source.windows) > 1 and "all_to_all_v" in line:
            counts = list(source.windows)[1]
            stored += [
                f"one: pl.Scalar[pl.INT32] = {self.random.randint(0, 2)}",
                f"pl.write({counts}, [0, 0], one)",
            ]
        self._function("InCore", fill, source, stored)
        arguments = ", ".join(source.windows)
        self._function("Orchestration", publish, source, [f"y = self.{fill}(x, z, y, {arguments})"])
        (result,) = list(target.windows)[:1]
        total = f"pl.add({LOAD.format(result)}, {LOAD.format('y')})"
        self._function("InCore", take, target, [f"y = pl.store({total}, [0, 0], y)"])
        self._function(
            "Orchestration", consume, target, [f"y = self.{take}(x, z, y, {', '.join(target.windows)})"]
        )
        return [*self._calls(publish, source), line, *self._calls(consume, target)]

    def _host_sum(self, source: _Kernel, target: _Kernel) -> str:
        """A window in which all ranks have what one, or all of them, had."""
        window = self._window(source)
        target.windows[window] = WINDOW
        op = self.one(["Sum", "Max", "Min", "Prod"])
        form, cells = self.one(
            [
                (f"allreduce({{}}, {{}}, op=pld.ReduceOp.{op})", f"[{RANKS}]"),
                (f"allreduce({{}}, {{}}, op=pld.ReduceOp.{op}, core_num=2)", f"[{RANKS}, 2]"),
                ('allreduce({}, {}, mode="ring")', f"[{2 * (RANKS - 1) + 1}, {RANKS}]"),
                ("allreduce({})", ""),
                (f"broadcast({{}}, {{}}, root={self.random.randrange(RANKS)})", f"[{RANKS}]"),
                ("reduce_scatter({}, {})", f"[{RANKS}]"),
                ("barrier({1})", f"[{RANKS}]"),
            ]
        )
        signal = self.name("s")
        if cells:
            self._windows[signal] = (cells, "INT32")
        if form.startswith("barrier"):  # what tells for which ranks it is are dispatches
            source.windows[signal] = self._windows[signal]
        return f"pld.tensor.{form.format(window, signal)}"

    def _host_row(self, source: _Kernel, target: _Kernel) -> str:
        """The rows of all ranks."""
        row, window, signal = (
            self._window(source, (f"[1, {COLUMNS}]", "FP32")),
            self.name("w"),
            self.name("s"),
        )
        target.windows[window] = self._windows[window] = WINDOW
        self._windows[signal] = (self.one([f"[{RANKS}]", f"[{RANKS}, 1]"]), "INT32")
        return f"pld.tensor.allgather({row}, {window}, {signal})"

    def _host_swap(self, source: _Kernel, target: _Kernel) -> str:
        """A row of each rank for each rank."""
        data, window, signal = self._window(source), self.name("w"), self.name("s")
        target.windows[window] = self._windows[window] = WINDOW
        self._windows[signal] = (self.one([f"[{RANKS}]", f"[{RANKS}, 1]"]), "INT32")
        return f"pld.tensor.all_to_all({data}, {window}, {signal})"

    def _host_blocks(self, source: _Kernel, target: _Kernel) -> str:
        """The same with the numbers of rows that count."""
        data, counts = self._window(source), self._window(source, CELLS, "c")
        window, signal, got = self.name("w"), self.name("s"), self.name("c")
        target.windows[window] = self._windows[window] = WINDOW
        self._windows[signal] = self._windows[got] = CELLS
        return f"pld.tensor.all_to_all_v({data}, {window}, {signal}, {counts}, {got})"


def _made(name: str, shape: str, dtype: str) -> list[str]:
    """The lines of the host that make a window."""
    buffer = f"{name}_buf = pld.alloc_window_buffer({shape}, dtype=pl.{dtype})"
    return [buffer, f"{name} = pld.window({name}_buf, {shape}, dtype=pl.{dtype})"]
