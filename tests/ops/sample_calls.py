"""A call made up from a sample of the op table: its inputs, text and value, and what the reference says."""

from __future__ import annotations

import functools
import inspect
import math
from dataclasses import dataclass, field
from typing import Any

import torch
from ops.references import RuntimeCall, Shaped, reference_of
from ops.sampled import DTYPES, TABLE, Typed, emit, made_up, parse, result_dtype, result_shape

from pypto_tmpl.codegen.operands import Operand
from pypto_tmpl.codegen.preamble import load_preamble

# Operands whose made-up numbers must not be negative: indices, radicands, shifted or divided by.
NONNEGATIVE = {"indices", "indexes", "index", "row_vec", "idx", "offset", "block_table"}
# Operands that index another one, by op: the operand, and whether its rows or all its elements.
INDEXED = {
    "tile.mscatter": {"idx": ("output_tensor", None)},
    "tile.scatter": {"indexes": ("dst", None)},
    "tensor.scatter": {"index": ("input", -1)},
    "tile.scatter_update": {"index": ("input", 0)},
    "tensor.scatter_update": {"index": ("input", 0)},
    "tensor.paged_gather": {"indices": ("src", 0), "block_table": ("block_table", -1)},
    "tile.gatherb": {"offset": ("src", None)},
}
# Ops whose result is a part of the shape that they are given, or lacks axes of it.
WINDOWS = {"tensor.slice", "tile.slice"}
# Where calls are run: the indices of the launch differ, so that none passes for another.
BLOCK_IDX, BLOCK_NUM, SUBBLOCK_IDX = 3, 7, 1


@dataclass
class SampleCall:
    """A sample of an op with made-up numbers for its tiles, tensors and arrays."""

    op: str
    sample: dict[str, Any]
    inputs: dict[str, Any] = field(default_factory=dict)  # by operand: Shaped, or the list of an array

    def __post_init__(self) -> None:
        self.entry = TABLE[self.op]
        names = self.entry.operand_names
        self.given = {name: parse(value) for name, value in self.sample.items() if name in names}
        self.keywords = {name: value for name, value in self.sample.items() if name not in names}
        for name, value in self.given.items():
            if isinstance(value, Typed) and name not in self.inputs:
                self.inputs[name] = self.made_up(name)

    def made_up(self, name: str, salt: str = "") -> Any:
        """Numbers for an operand; another salt gives others."""
        typed = self.given[name]
        shaped = bring(self.op, name, typed, self.sample, salt)
        is_array = "array" in next(spec for spec in self.entry.operands if spec.name == name).kinds
        return shaped.data.tolist() if is_array else shaped

    def with_input(self, name: str, value: Any) -> SampleCall:
        """The same call on other numbers."""
        return SampleCall(self.op, self.sample, self.inputs | {name: value})

    def with_sample(self, **changed: Any) -> SampleCall:
        """The same numbers in a call with other scalars or keywords."""
        return SampleCall(self.op, self.sample | changed, dict(self.inputs))

    @property
    def dtype(self) -> torch.dtype:
        """The torch dtype of the result."""
        texts = {name: self.sample[name] for name in self.given}
        return DTYPES[result_dtype(self.entry, texts, self.keywords) or "INDEX"]

    @property
    def box(self) -> list[int]:
        """The shape of the result, empty where the op's rule is not told here."""
        return result_shape(self.entry, {name: self.sample[name] for name in self.given})

    def text(self, **facts: Any) -> str:
        """What the op's macro makes of the call."""
        shown = {
            name: Operand("None", dtype_name="TASK_ID") if value == "None" else value
            for name, value in self.sample.items()
        }
        return emit(self.op, shown, **facts)

    def arguments(self) -> dict[str, Any]:
        """Copies of the inputs under the names that the text has for them."""
        return {
            name: value.data.clone() if isinstance(value, Shaped) else list(value)
            for name, value in self.inputs.items()
        }

    def value(self, text: str, arguments: dict[str, Any] | None = None) -> Any:
        """The value of an emitted expression; for a call of the pipes' run-time what that is told."""
        return evaluate(text, self.arguments() if arguments is None else arguments)

    def expected(self) -> Any:
        """What the hand-written reference says."""
        return reference_of(self.op)(**self.given | self.inputs, **self.keywords, result=self.dtype)


def bring(op: str, name: str, typed: Typed, sample: dict[str, Any], salt: str = "") -> Shaped:
    """Numbers for an operand that the op can work with: indices in reach, shifts within the width."""
    nonnegative = name in NONNEGATIVE or op.endswith((".rsqrt", ".recip"))
    shaped = made_up(typed, f"{op} {name} {sample}{salt}", nonnegative=nonnegative)
    if op.endswith(".mrgsort_format2"):  # lists are sorted
        order = shaped.data[..., ::2].argsort(dim=-1, descending=True)
        pairs = shaped.data.reshape(*shaped.data.shape[:-1], -1, 2)
        pairs = torch.take_along_dim(pairs, order.unsqueeze(-1), dim=-2)
        shaped = Shaped(pairs.reshape(shaped.data.shape), shaped.valid)
    if op.endswith((".shl", ".shr")) and name == "rhs":
        width = torch.iinfo(DTYPES[parse(sample["lhs"]).dtype]).bits
        shaped = Shaped((shaped.data.long() % (width + 1)).to(shaped.data.dtype), shaped.valid)
    if name in INDEXED.get(op, {}):
        target, axis = INDEXED[op][name]
        shape = parse(sample[target]).shape
        extent = torch.Size(shape).numel() if axis is None else shape[axis]
        indices = (shaped.data.long() % (extent + 2)).to(shaped.data.dtype)  # now and then out of range
        shaped = Shaped(indices, shaped.valid)
    elif name in ("indices", "index"):
        source = parse(sample.get("src") or sample.get("input"))
        extent = source.shape[sample["dim"]] if "dim" in sample else torch.Size(source.shape).numel()
        shaped = Shaped(shaped.data % extent, shaped.valid)
    return shaped


def contexts(call: SampleCall) -> tuple[bool, ...]:
    """Where a call may stand: in a kernel (True), and in orchestration code if the text differs there."""
    if call.entry.namespace == "tensor" and call.text(in_kernel=True) != call.text(in_kernel=False):
        return (True, False)
    return (True,)


class _RecordingRuntime:
    """Stands in for the run-time of the pipes and yields what it is told."""

    def __init__(self, runtime: object) -> None:
        self._runtime = runtime

    def __getattr__(self, method: str) -> Any:
        signature = inspect.signature(getattr(self._runtime, method))

        def record(*args: Any, **kwargs: Any) -> RuntimeCall:
            given = signature.bind(*args, **kwargs).arguments
            defaults = {name: parameter.default for name, parameter in signature.parameters.items()}
            told = {name: value for name, value in given.items() if not same(value, defaults[name])}
            return RuntimeCall(method, told)

        return record


@functools.cache
def full_preamble() -> dict[str, Any]:
    """All helpers, executed once."""
    preamble = load_preamble()
    selection = preamble.full()
    modules = sorted({*selection.imports, "torch"})
    namespace: dict[str, Any] = {}
    exec("\n".join([*(f"import {module}" for module in modules), *selection.segments]), namespace)
    return namespace


def evaluate(text: str, arguments: dict[str, Any]) -> Any:
    """An emitted expression in block 3 of 7 on the second vector lane, or on both where lanes meet."""
    helpers = full_preamble()
    names = {**helpers, **arguments, "_cross_core_rt": _RecordingRuntime(helpers["_cross_core_rt"])}
    if "_aic_gather" in text:
        return helpers["_run_split_lanes"](lambda: eval(text, names))
    context = helpers["_lane_context"]
    context.block_idx, context.block_num, context.subblock_idx = BLOCK_IDX, BLOCK_NUM, SUBBLOCK_IDX
    try:
        return eval(text, names)
    finally:
        context.block_idx, context.block_num, context.subblock_idx = 0, 1, 0


def same(left: Any, right: Any) -> bool:
    """Equal in type and value: tensors bit for bit, a NaN like any other number."""
    if isinstance(left, torch.Tensor) and isinstance(right, torch.Tensor):
        if (left.dtype, left.shape) != (right.dtype, right.shape):
            return False
        return torch.equal(left.contiguous().view(torch.uint8), right.contiguous().view(torch.uint8))
    if type(left) is not type(right):
        return False
    if isinstance(left, tuple | list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, RuntimeCall):
        return left.method == right.method and same(
            list(left.arguments.items()), list(right.arguments.items())
        )
    return bool(left == right) or isinstance(left, float) and math.isnan(left) and math.isnan(right)


def disagreement(call: SampleCall, got: Any, expected: Any) -> str:
    """How a value differs from what the reference says; empty where it does not."""
    if isinstance(got, tuple) and isinstance(expected, tuple):
        names = ("INT32", call.keywords.get("count_dtype", "INT32"))
        if [part.dtype for part in got] != [DTYPES[name] for name in names]:
            return f"dtypes {[part.dtype for part in got]}"
        if [part.tolist() for part in got] != [part.tolist() for part in expected]:
            return f"got {got}, expected {expected}"
        return ""
    if not isinstance(got, torch.Tensor):
        if isinstance(expected, torch.Tensor) and expected.numel() != 1:
            return f"got {got!r}, expected a tensor"
        wanted = expected.item() if isinstance(expected, torch.Tensor) else expected
        is_same = got == wanted if isinstance(expected, torch.Tensor) else same(got, wanted)
        return "" if is_same else f"got {got!r}, expected {wanted!r}"
    if not isinstance(expected, torch.Tensor):
        return f"got a tensor, expected {expected!r}"
    if got.dtype != call.dtype:
        return f"got {got.dtype}, expected {call.dtype}"
    if call.box and call.op not in WINDOWS and [*got.shape] != call.box:
        return f"got shape {[*got.shape]}, expected {call.box}"
    if got.dim() != expected.dim():
        return f"got shape {[*got.shape]}, expected {[*expected.shape]}"
    part = got[tuple(slice(0, extent) for extent in expected.shape)]
    return "" if close(call.op, part, expected) else f"got\n{part}\nexpected\n{expected}"


# Families whose inexact ops add up, in an open order, partial sums of up to 64.
SUMS = {"reduce", "matmul", "matmul_mx"}


def close(op: str, got: torch.Tensor, expected: torch.Tensor) -> bool:
    """Integers equal modulo their width, floats exact, or as near as the op allows."""
    if not got.dtype.is_floating_point:
        return got.shape == expected.shape and torch.equal(got.long(), expected.long().to(got.dtype).long())
    rtol = atol = 0.0
    if got.dtype == torch.float32 and not TABLE[op].exact:
        rtol = 4 * torch.finfo(got.dtype).eps
        atol = 512 * torch.finfo(got.dtype).eps if TABLE.family_of(op) in SUMS else rtol
    rounded = expected.to(got.dtype).double()
    return got.shape == expected.shape and torch.allclose(
        got.double(), rounded, rtol=rtol, atol=atol, equal_nan=True
    )
