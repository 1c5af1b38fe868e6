"""Times of the stages of a compilation under PyPTO's path ``pypto.compile_profiling``."""

from __future__ import annotations

from pypto_tmpl.compile.profile import CompileProfiler

__all__ = ["CompileProfiler"]
