"""What names in the op table stand for in the IR: enumerations of keywords, and types of handles."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType

from pypto_tmpl import ir

ENUMERATIONS: Mapping[str, type[Enum]] = MappingProxyType(
    {cls.__name__: cls for cls in (ir.MemorySpace, ir.TensorLayout, ir.TileLayout, ir.PadValue)}
)
HANDLES: Mapping[str, type[ir.Type]] = MappingProxyType(
    {
        "CommCtx": ir.CommCtxType,
        "PrefetchAsyncContext": ir.PrefetchAsyncContextType,
        "AsyncEvent": ir.AsyncEventType,
        "AsyncSession": ir.AsyncSessionType,
    }
)
