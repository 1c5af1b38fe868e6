"""Tiles per second through the pipes of a mixed kernel, beside the same loop over plain queues.

    python benchmarks/pipes.py [--tiles N] [--repeat N]

A cube thread sends a tile, its vector lanes send theirs back, N times, in every split mode. The plain loop
cuts and joins tiles the same way, but passes them through one queue.Queue a lane and direction. Both are
measured in turns, on one core (between two, each handover waits for the scheduler) and by the CPU time that
they take, and the best of each counts, so that other work on the machine does not decide. Then the same with
each option of the script, which says what the option costs. Exit status: 1 if pipes are less than half as
fast as queues in some mode.
"""

import argparse
import os
import queue
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch

from pypto_tmpl.codegen.options import ScriptOptions, constant_of
from pypto_tmpl.codegen.preamble import Variant, load_preamble
from pypto_tmpl.execution.cores import on_one_core

torch.set_num_threads(1)

SHAPE = (16, 64)


class Mode(NamedTuple):
    """How tiles cross: the split code, the valid extents if not all, and both lanes without a split."""

    split: int
    valid: list[int] | None = None
    dual: bool = False


MODES = {
    "none, one lane": Mode(0),
    "none, two lanes": Mode(0, dual=True),
    "up-down (1)": Mode(1),
    "left-right (2)": Mode(2),
    "up-down odd (3)": Mode(3, [15, 64]),
    "left-right odd (4)": Mode(4, [16, 63]),
}
OPTIONS: dict[str, Any] = {
    "bounded_pipes": True,
    "strict_leftovers": True,
    "schedule_seed": 1,
    "race_check": True,
    "poison": True,
}
PROGRAM = """
def ping(tiles, tile, split, valid):
    back = split - 2 if split > 2 else split  # there is no odd way back
    _cross_core_rt.initialize_pipe("aic", 3, 2)
    for _ in range(tiles):
        _cross_core_rt.push_to_aiv(tile, split, valid_shape=valid, copy=False)
        _cross_core_rt.pop_from_aiv(back)
        _cross_core_rt.tfree_to_aiv(split=back)


def pong(tiles, tile, split, valid):
    back = split - 2 if split > 2 else split
    _cross_core_rt.initialize_pipe("aiv", 3, 2)
    for _ in range(tiles):
        part = _cross_core_rt.pop_from_aic(split)
        _cross_core_rt.push_to_aic(part, back, copy=False)
        _cross_core_rt.tfree_to_aic(split=split)
"""


def script(**options: Any) -> dict[str, Any]:
    """The namespace of a script with the two members of a group, emitted with these options."""
    given = ScriptOptions(**options, mixed_kernel_timeout_sec=600)
    constants = map(constant_of, given.changed())
    preamble = load_preamble(variant=Variant(given))
    selection = preamble.closure(["_run_group_call", "_cross_core_rt", *constants])
    imports = [f"import {module}" for module in selection.imports]
    namespace: dict[str, Any] = {}
    exec("\n".join([*imports, PROGRAM, *selection.segments]), namespace)
    return namespace


def through_pipes(tiles: int, mode: Mode, **options: Any) -> None:
    namespace = script(**options)
    meta = {"aic": "ping", "aiv": "pong", "split": mode.split, "dual_aiv_dispatch": mode.dual}
    namespace["_GROUP_META"]["ping_pong"] = meta
    namespace["_run_group_call"]("ping_pong", tiles, torch.zeros(SHAPE), mode.split, mode.valid)


def through_queues(tiles: int, mode: Mode) -> None:
    tile, axis = torch.zeros(SHAPE), (mode.split - 1) % 2
    lanes = range(2 if mode.split or mode.dual else 1)
    down: list[queue.Queue[torch.Tensor]] = [queue.Queue() for _ in lanes]
    up: list[queue.Queue[torch.Tensor]] = [queue.Queue() for _ in lanes]

    def pong(lane: int) -> None:
        for _ in range(tiles):
            up[lane].put(down[lane].get())

    threads = [threading.Thread(target=pong, args=(lane,)) for lane in lanes]
    for thread in threads:
        thread.start()
    for _ in range(tiles):
        parts = tile.chunk(2, axis) if mode.split else [tile] * len(lanes)
        for lane, part in enumerate(parts):
            down[lane].put(part)
        parts = [fifo.get() for fifo in up]
        if mode.split:
            torch.cat(parts, axis)
    for thread in threads:
        thread.join()


def seconds(job: Callable[..., object], *args: Any, **options: Any) -> float:
    start = time.process_time()
    with on_one_core():
        job(*args, **options)
    return time.process_time() - start


def measure(tiles: int, repeat: int, mode: Mode) -> tuple[float, float]:
    """Best seconds through pipes and through queues."""
    pairs = [
        (seconds(through_pipes, tiles, mode), seconds(through_queues, tiles, mode)) for _ in range(repeat)
    ]
    ours, plain = zip(*pairs, strict=True)
    return min(ours), min(plain)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tiles", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    tiles, repeat = arguments.tiles, arguments.repeat
    print(f"{tiles} tiles of {SHAPE[0]} x {SHAPE[1]} FP32 there and back; tiles/s, best of {repeat}")
    print(f"{'split':20}{'pipes':>9}{'queues':>9}{'ratio':>7}")
    ratios = []
    for name, mode in MODES.items():
        ours, plain = measure(tiles, repeat, mode)
        ratios.append(plain / ours)
        print(f"{name:20}{tiles / ours:9.0f}{tiles / plain:9.0f}{ratios[-1]:7.2f}")
    print(f"worst ratio {min(ratios):.2f}\n")
    mode = MODES["up-down (1)"]
    print(f"{'option, up-down (1)':20}{'tiles/s':>9}{'time':>8}")
    # Off and on in turns, as above.
    for name, value in OPTIONS.items():
        pairs = [
            (seconds(through_pipes, tiles, mode), seconds(through_pipes, tiles, mode, **{name: value}))
            for _ in range(max(1, repeat // 2))
        ]
        off, on = (min(column) for column in zip(*pairs, strict=True))
        print(f"{name:20}{tiles / on:9.0f}{on / off:7.2f}x")
    return 0 if min(ratios) >= 0.5 else 1


if __name__ == "__main__":
    sys.exit(main())
