"""What must hold of the operands of ops that work on the windows of ranks; see ``requirements``.

Texts are upstream's, so that a search for them leads to the same place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from pypto_tmpl import ir
from pypto_tmpl.ir import DataType
from pypto_tmpl.ir.arithmetic import constant_difference, constant_value
from pypto_tmpl.ir.printer import type_text
from pypto_tmpl.ops.typing.operands import Extents, InferenceError, Operands

_ATOMIC = (DataType.FP32, DataType.BF16, DataType.FP16, DataType.INT32, DataType.INT16, DataType.INT8)
_REDUCED = (DataType.FP16, DataType.FP32)
_MODES = ("mesh", "ring")


def _windows(given: Operands, words: Sequence[str]) -> None:
    for name in words:
        type_ = given.needed(name).type
        if not isinstance(type_, ir.DistributedTensorType):
            raise InferenceError(f"{name} must be a DistributedTensor (window-bound), got {type_text(type_)}")


def _no_window(given: Operands, words: Sequence[str]) -> None:
    type_ = given.needed(words[0]).type
    if isinstance(type_, ir.DistributedTensorType):
        raise InferenceError(f"{words[0]} must be a local value, got the window {type_text(type_)}")


def _transfer(given: Operands, words: Sequence[str]) -> None:
    """A whole tensor into one of its shape, or a region into one that lies inside as well."""
    dst, src = words
    types = [given.dtype_of(given.needed(name)) for name in words]
    if types[0] != types[1]:
        told = f"{dst}={types[0].name}, {src}={types[1].name}"
        raise InferenceError(f"{dst} and {src} must have the same element type, got {told}")
    shapes = {name: given.shape_of(given.needed(name)) for name in words}
    if len(shapes[dst]) != len(shapes[src]):
        raise InferenceError(f"{dst} rank ({len(shapes[dst])}) must match {src} rank ({len(shapes[src])})")
    if given.operand("shape") is None:
        for axis, (ours, theirs) in enumerate(zip(shapes[dst], shapes[src], strict=True)):
            if constant_difference(ours, theirs) not in (0, None):
                told = f"dimension {axis} differs ({dst}={_shown(ours)}, {src}={_shown(theirs)})"
                raise InferenceError(f"{dst} and {src} must have the same static shape; {told}")
        return
    extents = given.elements("shape")
    for name in words:
        offsets = given.elements(f"{name}_offsets")
        for what, found in ((f"{name}_offsets", offsets), ("shape", extents)):
            if len(found) != len(shapes[name]):
                raise InferenceError(
                    f"{what} rank ({len(found)}) must match {name} rank ({len(shapes[name])})"
                )
        _inside(name, offsets, extents, shapes[name])


def _inside(name: str, offsets: Extents, extents: Extents, shape: Extents) -> None:
    for axis, (offset, extent, limit) in enumerate(zip(offsets, extents, shape, strict=True)):
        at, size, most = (constant_value(one) for one in (offset, extent, limit))
        if at is not None and at < 0:
            raise InferenceError(f"{name}_offsets dimension {axis} must be non-negative, got {at}")
        if at is not None and size is not None and most is not None and at + size > most:
            told = f"(offset={at}, shape={size}, {name}_dim={most})"
            raise InferenceError(f"{name} subregion dimension {axis} exceeds {name} shape {told}")


def _chunks(given: Operands, words: Sequence[str]) -> None:
    """Sizes of what is moved at once; an extent that is not constant needs one."""
    sizes = {name: given.keyword(name) for name in ("chunk_rows", "chunk_cols")}
    for name, size in sizes.items():
        if isinstance(size, int) and size < 0:
            raise InferenceError(f"{name} must be non-negative (0 = full), got {size}")
    if given.keyword("pipeline") and not all(sizes.values()):
        told = f"got chunk_rows={sizes['chunk_rows']}, chunk_cols={sizes['chunk_cols']}"
        raise InferenceError(f"pipeline=True requires both chunk_rows>0 and chunk_cols>0, {told}")
    region = given.operand("shape")
    moved = given.elements("shape") if region is not None else given.shape_of(given.needed(words[0]))
    places = {"chunk_rows": (0, "leading transfer dim"), "chunk_cols": (-1, "innermost transfer dim")}
    for name, (axis, what) in places.items():
        if constant_value(moved[axis]) is None and not sizes[name]:
            raise InferenceError(f"a dynamic {what} needs a static {name} to bound the VEC staging tile")


def _atomic(given: Operands, words: Sequence[str]) -> None:
    dtype = given.dtype_of(given.needed(words[0]))
    if given.keyword("atomic") in (1, ir.AtomicType.Add) and dtype not in _ATOMIC:
        allowed = "/".join(one.name.lower() for one in _ATOMIC)
        raise InferenceError(
            f"with atomic=AtomicType.Add requires an {allowed} dtype (hardware atomic-add dtypes),"
            f" but got {dtype.name}"
        )


def _pushes(given: Operands, words: Sequence[str]) -> None:
    """A value of two axes, or more with leading ones, that lies inside of the target's last axes."""
    src, target, offsets = words
    types = [given.dtype_of(given.needed(name)) for name in (src, target)]
    if types[0] != types[1]:
        raise InferenceError(f"src dtype ({types[0].name}) must match target dtype ({types[1].name})")
    value, window = given.shape_of(given.needed(src)), given.shape_of(given.needed(target))
    if len(value) < 2:
        raise InferenceError(f"src must be at least 2-D, got rank {len(value)}")
    if len(window) < 2:
        raise InferenceError(f"target rank must be >= 2 to hold a 2-D push, got {len(window)}")
    for axis, extent in enumerate(value[:-2]):
        if constant_value(extent) != 1:
            raise InferenceError(f"src leading dimension {axis} must be 1, got {_shown(extent)}")
    places = given.elements(offsets)
    if len(places) != len(window):
        raise InferenceError(f"offsets rank ({len(places)}) must match target tensor rank ({len(window)})")
    sizes = [constant_value(extent) for extent in given.region_of(given.needed(src))[-2:]]
    sizes = [*[1] * (len(window) - 2), *sizes]
    for axis, (at, size, limit) in enumerate(zip(places, sizes, window, strict=True)):
        start, most = constant_value(at), constant_value(limit)
        if start is not None and start < 0:
            raise InferenceError(f"offsets dimension {axis} must be non-negative, got {start}")
        if start is not None and size is not None and most is not None and start + size > most:
            told = f"(offset={start}, extent={size}, target_dim={most})"
            raise InferenceError(f"push exceeds the peer's target region in dimension {axis} {told}")


def _signal_cell(given: Operands, words: Sequence[str]) -> None:
    """An INT32 window, and one constant or computed index for each of its axes."""
    signal, offsets = words
    _windows(given, [signal])
    _signals(given, [signal])
    shape, places = given.shape_of(given.needed(signal)), given.elements(offsets)
    if len(places) != len(shape):
        raise InferenceError(f"offsets rank ({len(places)}) must match target tensor rank ({len(shape)})")
    for axis, (at, limit) in enumerate(zip(places, shape, strict=True)):
        start, most = constant_value(at), constant_value(limit)
        if start is not None and (start < 0 or (most is not None and start >= most)):
            told = f"{start} is outside of [0, {_shown(limit)})"
            raise InferenceError(
                f"offsets dimension {axis}: {told} of {type_text(given.needed(signal).type)}"
            )


def _signals(given: Operands, words: Sequence[str]) -> None:
    for name in words:
        dtype = given.dtype_of(given.needed(name))
        if dtype != DataType.INT32:
            raise InferenceError(f"{name} must have INT32 element type, got dtype {dtype.name}")


def _exchanges(given: Operands, words: Sequence[str]) -> None:
    """The rows of an input go into rows of the target."""
    _distinct(given, words)
    source, target = (given.shape_of(given.needed(name)) for name in words)
    if len(source) != 2 or len(target) != 2:
        raise InferenceError(f"input and target must be 2D, got ranks {len(source)} and {len(target)}")
    if constant_difference(source[1], target[1]) not in (0, None):
        raise InferenceError("target SIZE must equal input SIZE")


def _deferred(given: Operands, words: Sequence[str]) -> None:
    if given.keyword("cmp") not in (1, None):
        raise InferenceError(f"only supports WaitCmp.Ge (got int {given.keyword('cmp')})")
    number = constant_value(given.needed(words[0]))
    if number is not None and not 0 <= number < 2**31:
        raise InferenceError(f"constant expected must be in [0, INT32_MAX], got {number}")


def _reduces(given: Operands, words: Sequence[str]) -> None:
    """What the keywords of an allreduce may be, and of which elements it is."""
    dtype = given.dtype_of(given.needed(words[0]))
    if dtype not in _REDUCED:
        raise InferenceError(f"target dtype must be FP16 or FP32, got {dtype.name}")
    mode, cores = given.keyword("mode"), given.keyword("core_num")
    if mode not in _MODES:
        raise InferenceError(f'mode must be "ring" or "mesh", got "{mode}"')
    if isinstance(cores, int) and cores <= 0:
        raise InferenceError(f"core_num must be positive, got {cores}")
    if mode == "ring" and cores != 1:
        raise InferenceError('mode="ring" does not support core_num > 1')
    if mode == "ring" and given.operand("signal") is None:
        raise InferenceError('mode="ring" requires an explicit signal; only the mesh makes its own')


def _sums(given: Operands, words: Sequence[str]) -> None:
    if given.keyword("op") not in (0, None):
        raise InferenceError(
            f"op must be ReduceOp.Sum (got int {given.keyword('op')}); Max / Min / Prod lowerings are"
            " not yet implemented"
        )


def _root(given: Operands, words: Sequence[str]) -> None:
    root = given.keyword("root")
    if isinstance(root, int) and root < 0:
        raise InferenceError(f"root rank must be non-negative, got {root}")


def _gathers(given: Operands, words: Sequence[str]) -> None:
    """The input of a rank is one row of the target."""
    source, target = words
    _distinct(given, words)
    value, window = (given.shape_of(given.needed(name)) for name in words)
    first = constant_value(value[0])
    if len(value) != 2 or first != 1:
        raise InferenceError(
            f"input must be [1, SIZE] (this rank's single chunk), got first dim {_shown(value[0])}"
        )
    if len(window) != 2 or constant_difference(value[1], window[1]) not in (0, None):
        raise InferenceError("target SIZE must equal input SIZE")


def _distinct(given: Operands, words: Sequence[str]) -> None:
    source, target = (given.needed(name) for name in words)
    if source is target:
        raise InferenceError(
            f"{words[0]} and {words[1]} must be different buffers: rows are read while others are written"
        )


def _blocks(given: Operands, words: Sequence[str]) -> None:
    """Inputs and targets of M rows a rank, and a count for each rank."""
    source, rows, ranks, sent = (constant_value(given.shape_of(given.needed(name))[0]) for name in words)
    if source is not None and rows is not None and source != rows:
        raise InferenceError(f"input dim 0 ({source}) must equal target dim 0 ({rows})")
    if rows is not None and ranks and rows % ranks:
        raise InferenceError(f"signal dim 0 ({ranks}) must divide target dim 0 ({rows})")
    if sent is not None and ranks is not None and sent != ranks:
        raise InferenceError(f"send_counts dim 0 ({sent}) must equal signal dim 0 (NR = {ranks})")


def _shown(extent: ir.Expr) -> str:
    return ir.python_print(extent, format=False)


RANK_CHECKS: Mapping[str, Callable[[Operands, Sequence[str]], None]] = MappingProxyType(
    {
        "windows": _windows,
        "no_window": _no_window,
        "transfer": _transfer,
        "chunks": _chunks,
        "atomic": _atomic,
        "pushes": _pushes,
        "signal_cell": _signal_cell,
        "signals": _signals,
        "deferred": _deferred,
        "reduces": _reduces,
        "sums": _sums,
        "root": _root,
        "gathers": _gathers,
        "exchanges": _exchanges,
        "blocks": _blocks,
    }
)
