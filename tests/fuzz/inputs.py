"""The inputs of a run: number ``index`` of ``seed`` is the same on every machine."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from fuzz.byte_mutations import mutated_bytes
from fuzz.text_mutations import mutated_text

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
FOUND = Path(__file__).resolve().parents[1] / "fuzz_inputs"
SUFFIXES = {"text": ".py", "bytes": ".msgpack"}
FOUND_SUFFIXES = {"text": ".txt", "bytes": ".msgpack"}
"""Not .py: nothing is to take the inputs that are kept for source code."""


@cache
def dumps(kind: str) -> Sequence[bytes]:
    """The dumps of the corpus that inputs are made of, in order of their paths."""
    paths = sorted(CORPUS.glob(f"dumps/*/*/*{SUFFIXES[kind]}"), key=lambda path: path.as_posix())
    return [path.read_bytes() for path in paths]


def make_input(seed: int, index: int) -> tuple[str, bytes]:
    """Kind (text or bytes) and content of one input."""
    rng = random.Random(f"{seed}/{index}")
    kind = rng.choice(["text", "bytes"])
    original, other = min(rng.choices(dumps(kind), k=2), key=len), rng.choice(dumps(kind))
    if kind == "bytes":
        return kind, mutated_bytes(rng, original, other)
    data = mutated_text(rng, original.decode(), other.decode()).encode("utf-8", "surrogatepass")
    if rng.random() < 0.05:  # what is no UTF-8
        data = mutated_bytes(rng, data, b"\xff\xfe\xef\xbb\xbf\x80\xc3")
    return kind, data


def kept_inputs() -> list[Path]:
    """The inputs that failed once."""
    return sorted(path for path in FOUND.iterdir() if path.suffix in FOUND_SUFFIXES.values())


def kind_of(path: Path) -> str:
    return "bytes" if path.suffix == ".msgpack" else "text"
