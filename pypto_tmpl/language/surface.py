"""Names that stand in kernels only, and what few of them do when Python calls them (spec, 1)."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import wraps
from typing import TYPE_CHECKING, Any, NoReturn

from pypto_tmpl import ir


class ScopeMode(Enum):
    """Whether a run-time scope orders its tasks itself."""

    AUTO = 0
    MANUAL = 1


def const(value: Any, dtype: ir.DataType) -> Any:
    """A constant of that dtype; outside of kernels the value itself."""
    return value


def _in_kernels(definition: Callable[..., Any]) -> Callable[..., Any]:
    """A name that the language reads in kernels; calling it as a Python function is a mistake.

    Type checkers read kernels too: to them it takes anything and returns something.
    """

    @wraps(definition)
    def call(*args: Any, **keywords: Any) -> NoReturn:
        _refuse(definition.__name__)

    return call


def _refuse(name: str) -> NoReturn:
    message = f"pl.{name} is read where a decorated function spells it; Python cannot call it"
    raise RuntimeError(message)


@_in_kernels
def range(*args: Any, init_values: tuple[Any, ...] | None = None) -> Any:
    """Sequential loop: ``for i in pl.range(stop)``, ``(start, stop[, step])``."""


@_in_kernels
def parallel(*args: Any, init_values: tuple[Any, ...] | None = None) -> Any:
    """Loop whose rounds do not depend on one another."""


@_in_kernels
def pipeline(*args: Any, stage: int, init_values: tuple[Any, ...] | None = None) -> Any:
    """Software pipeline of ``stage=N`` stages."""


@_in_kernels
def unroll(*args: Any) -> Any:
    """Loop that is unrolled; its bounds are constants."""


@_in_kernels
def while_(*, init_values: tuple[Any, ...] | None = None) -> Any:
    """``for (a,) in pl.while_(init_values=(x,)):``, with ``pl.cond`` first."""


@_in_kernels
def cond(condition: Any) -> None:
    """The condition of a ``pl.while_`` loop."""


@_in_kernels
def yield_(*values: Any) -> Any:
    """The values that a loop or branch hands on."""


@_in_kernels
def at(
    level: ir.Level,
    role: ir.Role | None = None,
    *,
    optimizations: list[Any] | None = None,
    deps: list[Any] | None = None,
    no_dep_args: list[Any] | None = None,
    dumps: list[Any] | None = None,
    allow_early_resolve: bool = False,
    name_hint: str = "",
    windowize: bool = False,
) -> Any:
    """``with pl.at(level=pl.Level.CORE_GROUP):``: a region of kernel code."""


@_in_kernels
def cluster(*, name_hint: str = "") -> Any:
    """``with pl.cluster():``: kernels that share a cluster."""


class _InKernels:
    """Base of classes that the language reads in kernels: what they would make is a mistake."""

    def __init__(self, *args: Any, **keywords: Any) -> NoReturn:
        _refuse(type(self).__name__)

    if TYPE_CHECKING:  # in a kernel it opens a block

        def __enter__(self) -> Any: ...

        def __exit__(self, *error: object) -> None: ...


class scope(_InKernels):
    """``with pl.scope():``: a run-time scope."""


class manual_scope(_InKernels):
    """``with pl.manual_scope():``: a scope ordered by ``deps`` alone."""


@_in_kernels
def spmd(
    core_num: Any,
    *,
    sync_start: bool = False,
    name_hint: str = "",
    optimizations: list[Any] | None = None,
    deps: list[Any] | None = None,
    allow_early_resolve: bool = False,
    predicate: Any = None,
) -> Any:
    """``for i in pl.spmd(n):`` or ``with pl.spmd(n):``: n blocks of one kernel."""


@_in_kernels
def split_aiv(n: int, *, mode: ir.SplitMode) -> Any:
    """``for lane in pl.split_aiv(2, mode=...)``: both vector lanes."""


@_in_kernels
def split(mode: ir.SplitMode, *, slot_num: int | None = None) -> Any:
    """``optimizations=[pl.split(pl.SplitMode.X)]``."""


@_in_kernels
def cross_core_slot(*, slot_num: int) -> Any:
    """``optimizations=[pl.cross_core_slot(slot_num=N)]``."""


@_in_kernels
def func_attr(attrs: dict[str, Any]) -> None:
    """Attributes of the function, first in its body."""


@_in_kernels
def submit(*args: Any, **kwargs: Any) -> Any:
    """Launch of a kernel as a task: ``out, tid = pl.submit(self.k, x)``."""


@_in_kernels
def spmd_submit(*args: Any, **kwargs: Any) -> Any:
    """Launch of a kernel on ``core_num`` blocks."""


@_in_kernels
def no_dep(tensor: Any) -> Any:
    """An argument that orders no tasks."""


@_in_kernels
def static_assert(condition: Any, msg: str = "") -> None:
    """A condition that is checked while the kernel is read."""


@_in_kernels
def static_print(*args: Any) -> None:
    """Prints values while the kernel is read."""


@_in_kernels
def dump_tag(tensor: Any) -> Any:
    """Marks a tensor for dumps."""


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
