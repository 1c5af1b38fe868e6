"""Names that stand in kernels only, and what few of them do when Python calls them (spec, 1)."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, NoReturn

from pypto_tmpl import ir


class ScopeMode(Enum):
    """Whether a run-time scope orders its tasks itself."""

    AUTO = 0
    MANUAL = 1


class adir:
    """Directions of arguments, as ``attrs={"arg_directions": [...]}`` spells them."""

    input = ir.ArgDirection.Input
    output = ir.ArgDirection.Output
    output_existing = ir.ArgDirection.OutputExisting
    inout = ir.ArgDirection.InOut
    no_dep = ir.ArgDirection.NoDep
    scalar = ir.ArgDirection.Scalar


def const(value: Any, dtype: ir.DataType) -> Any:
    """A constant of that dtype; outside of kernels the value itself."""
    return value


def _read_only(name: str, what: str) -> Callable[..., Any]:
    """A name that the language reads in kernels; calling it as a Python function is a mistake.

    Type checkers read kernels too: to them it returns something.
    """

    def call(*args: Any, **keywords: Any) -> NoReturn:
        message = f"pl.{name} is read where a decorated function spells it; Python cannot call it"
        raise RuntimeError(message)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = what
    return call


range = _read_only("range", "Sequential loop: ``for i in pl.range(stop)``, ``(start, stop[, step])``.")
parallel = _read_only("parallel", "Loop whose rounds do not depend on one another.")
pipeline = _read_only("pipeline", "Software pipeline of ``stage=N`` stages.")
unroll = _read_only("unroll", "Loop that is unrolled; its bounds are constants.")
while_ = _read_only("while_", "``for (a,) in pl.while_(init_values=(x,)):``, with ``pl.cond`` first.")
cond = _read_only("cond", "The condition of a ``pl.while_`` loop.")
yield_ = _read_only("yield_", "The values that a loop or branch hands on.")
at = _read_only("at", "``with pl.at(level=pl.Level.CORE_GROUP):``: a region of kernel code.")
cluster = _read_only("cluster", "``with pl.cluster():``: kernels that share a cluster.")
scope = _read_only("scope", "``with pl.scope():``: a run-time scope.")
manual_scope = _read_only("manual_scope", "``with pl.manual_scope():``: a scope ordered by ``deps`` alone.")
spmd = _read_only("spmd", "``for i in pl.spmd(n):`` or ``with pl.spmd(n):``: n blocks of one kernel.")
split_aiv = _read_only("split_aiv", "``for lane in pl.split_aiv(2, mode=...)``: both vector lanes.")
split = _read_only("split", "``optimizations=[pl.split(pl.SplitMode.X)]``.")
cross_core_slot = _read_only("cross_core_slot", "``optimizations=[pl.cross_core_slot(slot_num=N)]``.")
func_attr = _read_only("func_attr", "Attributes of the function, first in its body.")
submit = _read_only("submit", "Launch of a kernel as a task: ``out, tid = pl.submit(self.k, x)``.")
spmd_submit = _read_only("spmd_submit", "Launch of a kernel on ``core_num`` blocks.")
no_dep = _read_only("no_dep", "An argument that orders no tasks.")
static_assert = _read_only("static_assert", "A condition that is checked while the kernel is read.")
static_print = _read_only("static_print", "Prints values while the kernel is read.")
dump_tag = _read_only("dump_tag", "Marks a tensor for dumps.")

FP4 = ir.DataType.FP4
FP8E4M3FN = ir.DataType.FP8E4M3FN
FP8E5M2 = ir.DataType.FP8E5M2
FP8E8M0 = ir.DataType.FP8E8M0
FP16 = ir.DataType.FP16
FP32 = ir.DataType.FP32
BF16 = ir.DataType.BF16
HF4 = ir.DataType.HF4
HF8 = ir.DataType.HF8
INT4 = ir.DataType.INT4
INT8 = ir.DataType.INT8
INT16 = ir.DataType.INT16
INT32 = ir.DataType.INT32
INT64 = ir.DataType.INT64
UINT4 = ir.DataType.UINT4
UINT8 = ir.DataType.UINT8
UINT16 = ir.DataType.UINT16
UINT32 = ir.DataType.UINT32
UINT64 = ir.DataType.UINT64
BOOL = ir.DataType.BOOL
INDEX = ir.DataType.INDEX
TASK_ID = ir.DataType.TASK_ID

ND = ir.TensorLayout.ND
DN = ir.TensorLayout.DN
NZ = ir.TensorLayout.NZ
MX_A_ZZ = ir.TensorLayout.MX_A_ZZ
MX_B_NN = ir.TensorLayout.MX_B_NN
