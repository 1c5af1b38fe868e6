"""The recorded programs of several ranks: what each computes, worked out by hand from its text."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from ranks.ranked import counted

import pypto_tmpl.language as pl
from pypto_tmpl import ir

Tensors = dict[str, Any]
Check = Callable[[Any, Tensors], bool]


def corpus() -> Path:
    """The recorded passes that PYPTO_TMPL_PASS_CORPUS names, else those in this repository."""
    named = os.environ.get("PYPTO_TMPL_PASS_CORPUS")
    return Path(named) if named else Path(__file__).parents[1] / "pass_corpus"


def recorded_dumps(program: str, backend: str) -> list[Path]:
    """The stages of a program as text; the test is skipped where the corpus has none."""
    found = sorted((corpus() / "dumps" / program / backend).glob("*.py"))
    if not found:
        pytest.skip(f"the corpus has no dumps of {program}")
    return found


def program_on(program: str, line: str, changed: str, count: int = 1) -> ir.Program:
    """A recorded program as it is written, with a text that is there so often changed for other ranks."""
    path = corpus() / "programs" / f"{program}.py"
    if not path.is_file():
        pytest.skip(f"the corpus has no program {program}")
    text = path.read_text(encoding="utf-8").partition("PROGRAM, ENTRY")[0]  # what is behind is no kernel
    assert text.count(line) == count
    return pl.parse(text.replace(line, changed))


@dataclass(frozen=True)
class Recorded:
    """A program: the ranks it may have, its arguments, and whether what it leaves is right."""

    ranks: tuple[int, ...]
    arguments: Callable[[int], Tensors]
    is_right: Check


def ring_shift_put(ranks: int) -> Tensors:
    xs = counted(ranks, 1, 64) % 97 - 31
    return {"xs": xs, "ys": torch.zeros_like(xs)}


def context_passed_down(ranks: int) -> Tensors:
    xs = counted(ranks, 1, 64) % 97 - 31
    return {"xs": xs, "flag": torch.ones(1, dtype=torch.int32), "ys": torch.zeros_like(xs)}


def neighbour_exchange(ranks: int) -> Tensors:
    xs = counted(4, 4, 64) % 97 - 31
    return {"xs": xs, "scale": 2.5, "ys": torch.zeros_like(xs)}


def is_half_of_what_rank_0_sent(result: Any, given: Tensors) -> bool:
    """Each rank copies its neighbour's window over its own while the rank before reads that.

    Nothing orders the two, so that a rank sees rows of rank 0, or zeros where rank 0 has sent itself nothing,
    which on two ranks both of them may see.
    """
    half = given["xs"][0] * 0.5
    is_seen = len(given["ys"]) == 2 or bool(given["ys"].any())
    return is_seen and all(torch.equal(y, half) or not y.any() for y in given["ys"])


def summed_over_ranks(ranks: int) -> Tensors:
    return {"xs": counted(2, 1, 256) % 97 - 31}


def nothing(ranks: int) -> Tensors:
    return {}


RECORDED: Mapping[str, Recorded] = {
    "ring_shift_put": Recorded(
        (1, 2, 3, 4), ring_shift_put, lambda _, g: torch.equal(g["ys"], 2 * g["xs"].roll(1, 0) + g["xs"])
    ),
    "context_passed_down": Recorded((2,), context_passed_down, lambda _, g: torch.equal(g["ys"], g["xs"])),
    "neighbour_exchange": Recorded((4,), neighbour_exchange, is_half_of_what_rank_0_sent),
    # The largest of both, then twice the sum over two ranks.
    "summed_over_ranks": Recorded(
        (2,), summed_over_ranks, lambda r, g: torch.equal(r, 4 * g["xs"].amax(0).expand(2, 1, 256))
    ),
    "two_domains": Recorded((4,), nothing, lambda r, _: r == 0),
    "ring_sum_and_shuffles": Recorded((4,), nothing, lambda r, _: r == 0),
}
