"""The language of kernels: decorated Python functions, and the text that the printer writes, read as IR.

Neither is run: decorators and ``parse`` read text. Kernels name it ``import pypto_tmpl.language as pl``.
"""

from typing import TYPE_CHECKING, Any

from pypto_tmpl.ir import (
    AtomicType,
    CompactMode,
    DataType,
    ForKind,
    FunctionType,
    Level,
    Mem,
    MemorySpace,
    PadValue,
    PipeType,
    PtrType,
    Role,
    SplitMode,
    TensorLayout,
    TileLayout,
)
from pypto_tmpl.ir import directions as adir
from pypto_tmpl.language import optimizations, parser
from pypto_tmpl.language.annotations import RUNTIME, DynVar, IntLike, MemRef, TensorView, TileView, dynamic
from pypto_tmpl.language.constants import AUTO
from pypto_tmpl.language.decorators import function, inline, program
from pypto_tmpl.language.diagnostics import (
    InvalidOperationError,
    ParserError,
    ParserSyntaxError,
    ParserTypeError,
    ProgramCountError,
    PythonSyntaxError,
    ScopeIsolationError,
    SSAViolationError,
    UndefinedVariableError,
    UnsupportedFeatureError,
)
from pypto_tmpl.language.former_names import REPLACEMENTS
from pypto_tmpl.language.jit import JITFunction, jit
from pypto_tmpl.language.module import loads, loads_program, parse, parse_program
from pypto_tmpl.language.namespaces import array, prefetch, system, tensor, tile, unified
from pypto_tmpl.language.reader import InlineFunction
from pypto_tmpl.language.surface import (
    BF16,
    BOOL,
    DN,
    FP4,
    FP8E4M3FN,
    FP8E5M2,
    FP8E8M0,
    FP16,
    FP32,
    HF4,
    HF8,
    INDEX,
    INT4,
    INT8,
    INT16,
    INT32,
    INT64,
    MX_A_ZZ,
    MX_B_NN,
    ND,
    NZ,
    TASK_ID,
    UINT4,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    ScopeMode,
    at,
    cluster,
    cond,
    const,
    cross_core_slot,
    dump_tag,
    func_attr,
    manual_scope,
    no_dep,
    parallel,
    pipeline,
    range,
    scope,
    split,
    split_aiv,
    spmd,
    spmd_submit,
    static_assert,
    static_print,
    submit,
    unroll,
    while_,
    yield_,
)
from pypto_tmpl.language.tracebacks import show_errors_of_kernels

show_errors_of_kernels()

if TYPE_CHECKING:
    from pypto_tmpl.language.namespaces.unified import *  # noqa: F403

    # No type system knows `pl.Tensor[[16, 64], pl.FP32]`: to type checkers such parameters are of any type.
    Array: Any
    AsyncEvent: Any
    AsyncSession: Any
    InOut: Any
    MemRefType: Any
    Out: Any
    PrefetchAsyncContext: Any
    Ptr: Any
    Scalar: Any
    TaskId: Any
    Tensor: Any
    Tile: Any
    Tuple: Any
else:
    from pypto_tmpl.language.annotations import (
        Array,
        AsyncEvent,
        AsyncSession,
        InOut,
        MemRefType,
        Out,
        PrefetchAsyncContext,
        Ptr,
        Scalar,
        TaskId,
        Tensor,
        Tile,
        Tuple,
    )

    def __getattr__(name: str) -> Any:
        """An op under its unified name, such as ``pl.add``."""
        if name in REPLACEMENTS:
            raise AttributeError(f"pl has no {name!r} in this version; {REPLACEMENTS[name]}")
        return unified.__getattr__(name)

    def __dir__() -> list[str]:
        return sorted({*__all__, *dir(unified)})


__all__ = [
    "Array",
    "AsyncEvent",
    "AsyncSession",
    "AtomicType",
    "BF16",
    "BOOL",
    "CompactMode",
    "DN",
    "DataType",
    "DynVar",
    "FP16",
    "FP32",
    "FP4",
    "FP8E4M3FN",
    "FP8E5M2",
    "FP8E8M0",
    "ForKind",
    "FunctionType",
    "HF4",
    "HF8",
    "INDEX",
    "INT16",
    "INT32",
    "INT4",
    "INT64",
    "INT8",
    "InOut",
    "InlineFunction",
    "IntLike",
    "InvalidOperationError",
    "JITFunction",
    "Level",
    "MX_A_ZZ",
    "MX_B_NN",
    "Mem",
    "MemRef",
    "MemRefType",
    "MemorySpace",
    "ND",
    "NZ",
    "Out",
    "PadValue",
    "ParserError",
    "ParserSyntaxError",
    "ParserTypeError",
    "PipeType",
    "PrefetchAsyncContext",
    "ProgramCountError",
    "Ptr",
    "PtrType",
    "PythonSyntaxError",
    "AUTO",
    "RUNTIME",
    "Role",
    "SSAViolationError",
    "Scalar",
    "ScopeIsolationError",
    "ScopeMode",
    "SplitMode",
    "TASK_ID",
    "TaskId",
    "Tensor",
    "TensorLayout",
    "TensorView",
    "Tile",
    "TileLayout",
    "TileView",
    "Tuple",
    "UINT16",
    "UINT32",
    "UINT4",
    "UINT64",
    "UINT8",
    "UndefinedVariableError",
    "UnsupportedFeatureError",
    "adir",
    "array",
    "at",
    "cluster",
    "cond",
    "const",
    "cross_core_slot",
    "dump_tag",
    "dynamic",
    "func_attr",
    "function",
    "inline",
    "jit",
    "loads",
    "loads_program",
    "manual_scope",
    "no_dep",
    "optimizations",
    "parallel",
    "parse",
    "parse_program",
    "parser",
    "pipeline",
    "prefetch",
    "program",
    "range",
    "scope",
    "split",
    "split_aiv",
    "spmd",
    "spmd_submit",
    "static_assert",
    "static_print",
    "submit",
    "system",
    "tensor",
    "tile",
    "unroll",
    "while_",
    "yield_",
]
