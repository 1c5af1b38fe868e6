"""Arguments of kernels as a configuration spells them."""

from __future__ import annotations

import re
from typing import Any

import torch

import pypto_tmpl.language as pl
from pypto_tmpl.errors import allowed_note
from pypto_tmpl.ir.carriers import TORCH_NAMES

_TENSOR = re.compile(r"(?P<dtype>\w+)\[(?P<shape>[\d\s,]*)\]")
RUNTIME = "RUNTIME"


def argument(value: Any) -> Any:
    """What a kernel is given for it: ``FP32[64, 128]`` is a tensor without data, ``RUNTIME`` pl.RUNTIME.

    Whatever is no text is taken as it is. Raises ValueError for another text.
    """
    if not isinstance(value, str):
        return value
    if value == RUNTIME:
        return pl.RUNTIME
    found = _TENSOR.fullmatch(value.strip())
    if found is None:
        raise ValueError(f"{value!r} is no argument; a tensor is spelt 'FP32[64, 128]', a scalar is a number")
    dtype = TORCH_NAMES.get(found["dtype"])
    if dtype is None:
        allowed = allowed_note("dtypes", [*TORCH_NAMES], found["dtype"])
        raise ValueError(f"{value!r}: no dtype {found['dtype']!r}; {allowed}")
    shape = [int(extent) for extent in found["shape"].split(",") if extent.strip()]
    return torch.empty(shape, dtype=getattr(torch, dtype.removeprefix("torch.")), device="meta")
