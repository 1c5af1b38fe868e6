"""The distributed part of the language: ``import pypto_tmpl.language.distributed as pld`` (spec, 1)."""

from pypto_tmpl.ir import AtomicType, CommCtxType, NotifyOp, ReduceOp, WaitCmp
from pypto_tmpl.language.annotations import CommCtx, DistributedTensor

__all__ = [
    "AtomicType",
    "CommCtx",
    "CommCtxType",
    "DistributedTensor",
    "NotifyOp",
    "ReduceOp",
    "WaitCmp",
]
