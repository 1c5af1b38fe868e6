"""What a collective of the host needs of its windows, so that the builtin form computes the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from math import prod
from typing import NamedTuple

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendFacts
from pypto_tmpl.domains.device_sets import Windows
from pypto_tmpl.domains.host import ALL_REDUCE, RING, Collective, collective_of
from pypto_tmpl.ir import DataType
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.passes.base import PassError

_MOST_RANKS = 16


class Checked(NamedTuple):
    """A collective that has a builtin form."""

    form: Collective
    devices: tuple[int, ...]  # none: all
    dtype: DataType


def check(
    function: ir.Function,
    call: ir.Call,
    windows: Windows,
    devices: Mapping[int, tuple[int, ...]],
    backend: BackendFacts | None = None,
) -> Checked:
    """The builtin form of a collective; raises PassError where that would not compute the same.

    ``devices`` are those of the domain of each allocation (id). A ``backend`` says how many cores there are.
    """
    form = collective_of(call)
    assert form is not None
    is_ring = call.op.name == ALL_REDUCE and call.kwargs.get("mode", "mesh") == "ring"
    form = RING if is_ring else form

    def error(what: str) -> PassError:
        return PassError(f"{call.op.name}: {what}", function, call)

    if len(call.args) != len(form.directions):
        raise error(f"takes {len(form.directions)} operands here, got {len(call.args)}")
    buffers = []
    for arg in call.args:
        buffer = windows.buffer_of(arg)
        if buffer is None or not isinstance(arg.type, ir.DistributedTensorType):
            raise error(f"{_name(arg)} must be a window-bound DistributedTensor")
        buffers.append(buffer)
    for (one, first), (other, second) in combinations(zip(call.args, buffers, strict=True), 2):
        if first is second:
            raise error(f"{_name(one)} and {_name(other)} must be different window allocations")
    data = call.args[form.data].type
    signal = call.args[form.signal].type
    assert isinstance(data, ir.TensorType) and isinstance(signal, ir.TensorType)
    where = devices.get(id(buffers[form.data]))
    if where is None:
        raise error(f"the window {_name(call.args[form.data])} is in no communication domain")
    for arg, buffer in zip(call.args, buffers, strict=True):
        held = devices.get(id(buffer))
        if held != where and not _covers(held, where):
            raise error(f"{_name(arg)} does not count the ranks as {_name(call.args[form.data])} does")
    what = _ring_fault(call, data, signal, where) if is_ring else _fault(call, form, data, signal, where)
    cores = call.kwargs.get("core_num", 1)
    most = cores if backend is None else backend.core_count(ir.CoreType.VECTOR)
    if what is None and cores > most:
        what = f"core_num ({cores}) exceeds the backend AIV core count ({most})"
    if what is not None:
        raise error(what)
    return Checked(form, where, data.dtype)


def _name(value: ir.Expr) -> str:
    return repr(value.name_hint) if isinstance(value, ir.Var) else "an operand"


def _covers(other: tuple[int, ...] | None, where: tuple[int, ...]) -> bool:
    """Whether the ranks of a domain are the first of another one, so that both count them the same."""
    if other is None or not where:
        return False
    return where == (other[: len(where)] or tuple(range(len(where))))


def _fault(
    call: ir.Call, form: Collective, data: ir.TensorType, signal: ir.TensorType, where: tuple[int, ...]
) -> str | None:
    """Why a collective that is no ring cannot be made of its operands."""
    return next(_faults(call, form, data, signal, where), None)


def _faults(
    call: ir.Call, form: Collective, data: ir.TensorType, signal: ir.TensorType, where: tuple[int, ...]
) -> Iterator[str]:
    allowed = (DataType.FP16, DataType.FP32) if "core_num" in form.keywords else (DataType.FP32,)
    if "dtype" in form.keywords and data.dtype not in allowed:
        names = " and ".join(dtype.name for dtype in allowed)
        yield f"on the host currently supports only {names}, got {data.dtype.name}"
    if form.sums_only and call.kwargs.get("op", 0) != 0:
        yield f"op must be ReduceOp.Sum (got int {call.kwargs['op']})"
    if signal.dtype != DataType.INT32:
        yield f"signal must have INT32 element type, got dtype {signal.dtype.name}"
    cells = constant_extent(signal.shape[0])
    if cells is not None and cells < len(where):
        yield (
            f"collective signal shape[0] ({cells}) must be at least the participating device count"
            f" ({len(where)})"
        )
    root = call.kwargs.get("root", 0)
    if root < 0:
        yield f"root rank must be non-negative, got {root}"
    if where and root >= len(where):
        yield f"root ({root}) must be a valid rank in [0, {len(where)}) for this explicit device subset"
    lanes = call.kwargs.get("core_num", 1)
    if len(signal.shape) == 1:
        if lanes != 1:
            yield "rank-1 signal is valid only when one signal lane is required"
    elif len(signal.shape) != 2 or not form.lane_signal:
        yield f"signal must be of rank {'1 or 2' if form.lane_signal else '1'}, got rank {len(signal.shape)}"
    else:
        stride = constant_extent(signal.shape[1])
        if stride is None:
            yield "the second dim of a signal must be a constant"
        elif stride < lanes:
            yield f"rank-2 signal shape[1] ({stride}) must be at least the required lane count ({lanes})"


def _ring_fault(
    call: ir.Call, data: ir.TensorType, signal: ir.TensorType, where: tuple[int, ...]
) -> str | None:
    """Why a sum over a ring cannot be made of its operands."""
    return next(_ring_faults(call, data, signal, where), None)


def _ring_faults(
    call: ir.Call, data: ir.TensorType, signal: ir.TensorType, where: tuple[int, ...]
) -> Iterator[str]:
    if data.dtype != DataType.FP32:
        yield f'mode="ring" currently supports only FP32 on the host, got {data.dtype.name}'
    if call.kwargs.get("op", 0) != 0:
        yield f'mode="ring" currently supports only ReduceOp.Sum on the host (got int {call.kwargs["op"]})'
    if call.kwargs.get("core_num", 1) != 1:
        yield 'mode="ring" does not support core_num > 1'
    if signal.dtype != DataType.INT32:
        yield f"signal must have INT32 element type, got dtype {signal.dtype.name}"
    extents = [constant_extent(extent) for extent in (*data.shape, *signal.shape)]
    sizes = [extent for extent in extents if extent is not None]
    if len(sizes) < len(extents):
        yield 'mode="ring" needs constant shapes on the host'
    if len(signal.shape) != 2:
        yield f'mode="ring" signal must be [2*(NR-1)+1, NR], got rank {len(signal.shape)}'
        return
    rows, ranks = sizes[-2:]
    if where and ranks != len(where):
        yield f'mode="ring" signal shape[1] ({ranks}) must be the participating device count ({len(where)})'
    if ranks > _MOST_RANKS:
        yield f'mode="ring" requires {_MOST_RANKS} or fewer participating devices, got {ranks}'
    want = 2 * (ranks - 1) + 1
    if rows != want:
        yield f'mode="ring" signal shape[0] ({rows}) must equal 2*(NR-1)+1 = {want} for NR = {ranks}'
    numel = prod(sizes[:-2])
    if numel % ranks:
        yield (
            f'mode="ring" needs the element count ({numel}) to be an exact multiple of the rank count'
            f" ({ranks}); got a remainder of {numel % ranks}"
        )
