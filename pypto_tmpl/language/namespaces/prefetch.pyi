# Made from the op table by `pypto-tmpl ops stubs --write`.
from typing import Any, TypeAlias

from pypto_tmpl.language.annotations import (
    AsyncEvent,
    AsyncSession,
    CommCtx,
    DistributedTensor,
    PrefetchAsyncContext,
    Tensor,
)

_Tensor: TypeAlias = Tensor | DistributedTensor
_Handle: TypeAlias = CommCtx | PrefetchAsyncContext | AsyncEvent | AsyncSession

def async_prefetch(src: _Tensor, ctx: _Handle) -> AsyncEvent:
    """Start a cache prefetch and yield its event; no effect on values."""

def make_context() -> PrefetchAsyncContext:
    """Context handle for cache prefetches; it has no meaning here."""

def session(ctx: _Handle) -> AsyncSession:
    """Session handle of a prefetch context; it has no meaning here."""

def wait(event: _Handle, session: _Handle) -> Any:
    """Wait for a cache prefetch; always true."""
