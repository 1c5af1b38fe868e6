"""The recorded oracle: what single calls of ops were given and gave, and what counts as agreement.

A folder holds ``manifest.yaml``, whose ``meta`` explains the format, and one .npz of arrays an op.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
import yaml

DTYPES = {
    "BOOL": torch.bool, "INT8": torch.int8, "INT16": torch.int16, "INT32": torch.int32, "INT64": torch.int64,
    "UINT8": torch.uint8, "UINT16": torch.uint16, "UINT32": torch.uint32, "UINT64": torch.uint64,
    "FP8E4M3FN": torch.float8_e4m3fn, "FP8E5M2": torch.float8_e5m2, "FP8E8M0": torch.float8_e8m0fnu,
    "FP16": torch.float16, "BF16": torch.bfloat16, "FP32": torch.float32,
}  # fmt: skip
BITS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}

# Which value a record is checked against: the model's ("yes"), the specification's ("no"), or the model's
# where the specification leaves the result open and the project decided for what the model does ("adopted").
Standing = Literal["yes", "no", "adopted"]


@dataclass(frozen=True, slots=True)
class Value:
    """A tile or tensor of a record."""

    name: str
    key: str
    dtype: str
    shape: list[int]
    valid: list[int]
    memory: str
    defined: str = "all"
    mask_key: str | None = None
    spec_key: str | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """One call of an op."""

    folder: Path
    id: str
    op: str
    file: str
    params: Mapping[str, Any]
    inputs: Mapping[str, Value]
    outputs: Mapping[str, Value]
    compare: Any
    agrees: str
    note: str

    @property
    def result(self) -> Value:
        """The output that is the call's result."""
        return next(value for name, value in self.outputs.items() if name != "cnt")

    @property
    def standing(self) -> Standing | None:
        """What the record is checked against, None where nothing says what is right."""
        if self.agrees == "yes" or (self.agrees == "no" and "Neither value" not in self.note):
            return "yes" if self.agrees == "yes" else "no"
        return "adopted" if self._is_adopted else None

    @property
    def _is_adopted(self) -> bool:
        """Decisions: FP32 accumulation of row sums; how a merge ends early; FP16 records of one run."""
        is_early_end = self.op == "tile.mrgsort_format2" and bool(self.params["exhausted"])
        is_one_run = self.op == "tile.sort32" and self.result.dtype == "FP16" and self.result.shape[1] == 128
        return self.op == "tile.row_sum" or is_early_end or is_one_run

    def tensor(self, value: Value, key: str | None = None) -> torch.Tensor:
        """A fresh tensor of a value's recorded numbers."""
        array = torch.from_numpy(_arrays(self.folder / self.file)[key or value.key].copy())
        dtype = DTYPES[value.dtype]
        return array if array.dtype == dtype else array.view(dtype)

    def expected(self, value: Value) -> torch.Tensor:
        """What the op has to give for an output."""
        return self.tensor(value, value.spec_key if self.standing == "no" else None)

    def defined_cells(self, value: Value) -> torch.Tensor:
        """Where an output means anything."""
        if value.defined == "mask":
            return torch.from_numpy(_arrays(self.folder / self.file)[value.mask_key] == 1)
        cells = torch.zeros(value.shape, dtype=torch.bool)
        region = value.valid if value.defined == "valid" else value.shape
        cells[tuple(slice(0, extent) for extent in region)] = True
        return cells


@cache
def _arrays(path: Path) -> dict[str, np.ndarray]:
    with np.load(path) as archive:
        return dict(archive)


@cache
def load_records(folder: Path) -> tuple[Record, ...]:
    """All records of a folder, in the manifest's order."""
    text = (folder / "manifest.yaml").read_text(encoding="utf-8")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return tuple(_record(folder, case) for case in yaml.load(text, loader)["cases"])


def _record(folder: Path, case: dict[str, Any]) -> Record:
    return Record(
        folder=folder,
        id=case["id"],
        op=case["op"],
        file=case["file"],
        params=case.get("params", {}),
        inputs={name: _value(name, fields) for name, fields in case.get("inputs", {}).items()},
        outputs={name: _value(name, fields) for name, fields in case.get("outputs", {}).items()},
        compare=case["compare"],
        agrees=case["agrees_with_spec"],
        note=case.get("note", ""),
    )


def _value(name: str, fields: dict[str, Any]) -> Value:
    known = {key: fields[key] for key in Value.__dataclass_fields__ if key in fields}
    return Value(name=name, **known)


def disagreement(got: torch.Tensor, want: torch.Tensor, cells: torch.Tensor, compare: Any) -> str | None:
    """How two tensors differ in the given cells, under the manifest's ``compare`` mode, or None."""
    if got.dtype != want.dtype:
        return f"dtype {got.dtype}, want {want.dtype}"
    if got.shape != want.shape:
        return f"shape {[*got.shape]}, want {[*want.shape]}"
    bad = cells & ~_agreeing(got, want, compare)
    if not bad.any():
        return None
    first = tuple(bad.nonzero()[0].tolist())
    numbers = f"{_number(got, first)}, want {_number(want, first)}"
    return f"{int(bad.sum())} of {int(cells.sum())} cells differ; first at {[*first]}: {numbers}"


def _agreeing(got: torch.Tensor, want: torch.Tensor, compare: Any) -> torch.Tensor:
    same_bits = _bits(got) == _bits(want)
    if compare == "bits" or not got.dtype.is_floating_point:
        return same_bits
    left, right = got.to(torch.float64), want.to(torch.float64)
    both_nan = left.isnan() & right.isnan()
    if compare == "exact":
        return same_bits | both_nan
    equal = (left == right) | both_nan
    if compare == "value":
        return equal
    (kind, tolerance), = compare.items()  # fmt: skip
    info = torch.finfo(got.dtype)
    last_place = 2.0 ** torch.frexp(right.abs().clamp(min=info.smallest_normal)).exponent * info.eps / 2
    allowed = {
        "ulp": tolerance * last_place,
        "rtol": tolerance * right.abs(),
        "atol": tolerance + last_place / 2,
    }[kind]
    return equal | ((left - right).abs() <= allowed)


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.dtype == torch.bool:
        return tensor
    return tensor.contiguous().view(BITS[tensor.element_size()])


def _number(tensor: torch.Tensor, cell: tuple[int, ...]) -> float | int:
    number = tensor[cell]
    return number.to(torch.float64).item() if tensor.dtype.is_floating_point else number.item()
