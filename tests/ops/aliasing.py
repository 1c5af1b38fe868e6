"""What a result shares its storage with: the buffer that the op updates, the value it shows, or nothing."""

from typing import Any

import torch
from ops.sample_calls import SampleCall

# Results that are views, by operand: a write into either is seen in the other. (An op that updates a
# buffer yields that buffer, which the entry's `returns` says.)
VIEWS = {
    "tile.slice": "input",
    "tile.reshape": "input",
    "tensor.reshape": "input",
    "tile.transpose_view": "input",
    "tensor.view": "input",
    "tile.reinterpret_view": "data",
    "tensor.reinterpret_view": "data",
    "tile.set_validshape": "tile",
    "tensor.set_validshape": "tensor",
}
# Views in orchestration code; in a kernel a copy of what was there.
VIEWS_OUTSIDE_KERNELS = {"tensor.slice": "input", "tensor.transpose": "input"}
# A name for the same value where nobody writes to either; the emitter asks for a copy elsewhere.
SHARED_WHILE_UNWRITTEN = {"tile.move": "tile"}


def aliasing_problem(call: SampleCall, got: Any, arguments: dict[str, Any], *, in_kernel: bool) -> str:
    """What is wrong with the storage of a result; empty where it is as the tables say."""
    returned = call.entry.returns
    if returned is not None:
        return "" if got is arguments[returned] else f"does not yield {returned}"
    views = VIEWS | SHARED_WHILE_UNWRITTEN | ({} if in_kernel else VIEWS_OUTSIDE_KERNELS)
    for part in got if isinstance(got, tuple) else (got,):
        for name, argument in arguments.items():
            if not isinstance(part, torch.Tensor) or not isinstance(argument, torch.Tensor):
                continue
            shares = part.untyped_storage().data_ptr() == argument.untyped_storage().data_ptr()
            if shares != (views.get(call.op) == name) and not (leaves_the_edge(call) or splits_bytes(call)):
                return f"{'shares' if shares else 'does not share'} its storage with {name}"
    return ""


def splits_bytes(call: SampleCall) -> bool:
    """Whether elements of four bits become whole bytes or such become them: no view can show that."""
    dtypes = str(call.sample.get("data")), str(call.sample.get("dtype"))
    return any(dtype.startswith(("INT4", "FP4")) for dtype in dtypes)


def leaves_the_edge(call: SampleCall) -> bool:
    """Whether the window of a tile is partly beyond it: no view can show that, so it is copied."""
    if call.op != "tile.slice":
        return False
    windows = zip(call.given["offset"], call.given["shape"], call.given["input"].shape, strict=True)
    return any(offset + size > extent for offset, size, extent in windows)
