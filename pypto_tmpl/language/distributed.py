"""The distributed part of the language: ``import pypto_tmpl.language.distributed as pld`` (spec, 1)."""

from typing import TYPE_CHECKING, Any

from pypto_tmpl.ir import AtomicType, CommCtxType, NotifyOp, ReduceOp, WaitCmp
from pypto_tmpl.language.namespaces import distributed as _ops
from pypto_tmpl.language.namespaces import distributed_system as system
from pypto_tmpl.language.namespaces import distributed_tensor as tensor
from pypto_tmpl.language.namespaces import distributed_tile as tile

if TYPE_CHECKING:
    from pypto_tmpl.language.namespaces.distributed import *  # noqa: F403

    CommCtx: Any  # as in the package: such parameters are of any type to type checkers
    DistributedTensor: Any
else:
    from pypto_tmpl.language.annotations import CommCtx, DistributedTensor

    def __getattr__(name: str) -> Any:
        """An op under its short name, such as ``pld.window``."""
        return _ops.__getattr__(name)

    def __dir__() -> list[str]:
        return sorted({*__all__, *dir(_ops)})


__all__ = [
    "AtomicType",
    "CommCtx",
    "CommCtxType",
    "DistributedTensor",
    "NotifyOp",
    "ReduceOp",
    "WaitCmp",
    "system",
    "tensor",
    "tile",
]
