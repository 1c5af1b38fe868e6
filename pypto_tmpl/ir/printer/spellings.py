"""Spellings of the language: operators, precedence, coded keywords and ops that are written their own way."""

from __future__ import annotations

from enum import Enum, IntEnum

from pypto_tmpl.ir import scalar_ops as ops
from pypto_tmpl.ir.base import Expr, Type
from pypto_tmpl.ir.enums import (
    ArgDirection,
    AtomicType,
    CompactMode,
    ForKind,
    FunctionType,
    Level,
    MemorySpace,
    PadValue,
    ParamDirection,
    PipeType,
    Role,
    SplitMode,
    TensorLayout,
    TileLayout,
)
from pypto_tmpl.ir.scalar_types import (
    AsyncEventType,
    AsyncSessionType,
    CommCtxType,
    MemRefType,
    PrefetchAsyncContextType,
    PtrType,
    UnknownType,
    WindowBufferType,
)

# Precedence, loosest first (spec: DSL, 12.5).
OR, XOR, AND, NOT, COMPARISON, BIT_OR, BIT_XOR, BIT_AND = range(1, 9)
SHIFT, ADDITIVE, MULTIPLICATIVE, UNARY, POWER, CALL, ATOM = range(9, 16)

INFIX: dict[type[Expr], tuple[str, int]] = {
    ops.Or: ("or", OR),
    ops.Xor: ("xor", XOR),
    ops.And: ("and", AND),
    ops.Eq: ("==", COMPARISON),
    ops.Ne: ("!=", COMPARISON),
    ops.Lt: ("<", COMPARISON),
    ops.Le: ("<=", COMPARISON),
    ops.Gt: (">", COMPARISON),
    ops.Ge: (">=", COMPARISON),
    ops.BitOr: ("|", BIT_OR),
    ops.BitXor: ("^", BIT_XOR),
    ops.BitAnd: ("&", BIT_AND),
    ops.BitShiftLeft: ("<<", SHIFT),
    ops.BitShiftRight: (">>", SHIFT),
    ops.Add: ("+", ADDITIVE),
    ops.Sub: ("-", ADDITIVE),
    ops.Mul: ("*", MULTIPLICATIVE),
    ops.FloatDiv: ("/", MULTIPLICATIVE),
    ops.FloorDiv: ("//", MULTIPLICATIVE),
    ops.FloorMod: ("%", MULTIPLICATIVE),
    ops.Pow: ("**", POWER),
}
PREFIX: dict[type[Expr], tuple[str, int]] = {
    ops.Not: ("not ", NOT),
    ops.Neg: ("-", UNARY),
    ops.BitNot: ("~", UNARY),
}
PRECEDENCE: dict[type[Expr], int] = {kind: level for kind, (_, level) in (INFIX | PREFIX).items()}
MIN_MAX: dict[type[Expr], str] = {ops.Min: "min", ops.Max: "max"}

MARKER_TYPES: dict[type[Type], str] = {
    UnknownType: "pl.UnknownType",
    MemRefType: "pl.MemRefType",
    PtrType: "pl.Ptr",
    WindowBufferType: "pld.WindowBufferType",
    CommCtxType: "pld.CommCtxType",
    PrefetchAsyncContextType: "pl.PrefetchAsyncContext",
    AsyncEventType: "pl.AsyncEvent",
    AsyncSessionType: "pl.AsyncSession",
}

ENUM_NAMES: dict[type[Enum], str] = {
    AtomicType: "AtomicType",
    CompactMode: "CompactMode",
    FunctionType: "FunctionType",
    Level: "Level",
    MemorySpace: "Mem",
    PadValue: "PadValue",
    PipeType: "PipeType",
    Role: "Role",
    SplitMode: "SplitMode",
    TensorLayout: "TensorLayout",
    TileLayout: "TileLayout",
}
ARG_DIRECTIONS = {
    ArgDirection.Input: "input",
    ArgDirection.Output: "output",
    ArgDirection.InOut: "inout",
    ArgDirection.OutputExisting: "output_existing",
    ArgDirection.NoDep: "no_dep",
    ArgDirection.Scalar: "scalar",
}
PARAM_WRAPPERS = {ParamDirection.In: "", ParamDirection.Out: "Out", ParamDirection.InOut: "InOut"}
LOOPS = {
    ForKind.Sequential: "range",
    ForKind.Parallel: "parallel",
    ForKind.Unroll: "unroll",
    ForKind.Pipeline: "pipeline",
}

# Op options that are stored as integers but written as members of an enumeration.
CODED_KEYWORDS: dict[str, type[IntEnum]] = {
    "set_pipe": PipeType,
    "wait_pipe": PipeType,
    "pipe": PipeType,
    "atomic": AtomicType,
}
CAST_OPS = frozenset({"tile.cast", "tensor.cast"})
CAST_MODES = ("none", "rint", "round", "floor", "ceil", "trunc", "odd")

ALLOC_OPS = frozenset({"tile.alloc", "tensor.alloc"})
FULL_OPS = frozenset({"tile.full", "tensor.full"})
REINTERPRET_OPS = frozenset({"tile.reinterpret_view", "tensor.reinterpret_view"})
SPLIT_OPS = frozenset({"tile.aiv_shard", "tile.aic_gather", "tensor.aiv_shard", "tensor.aic_gather"})
GATHER_ROW_OPS = frozenset({"tile.gather_row", "tensor.gather_row"})
MGATHER_OP = "tile.mgather"
SYNC_ALL_OP = "system.syncall"
TASK_DUMMY_OP = "system.task_dummy"
TASK_INVALID_OP = "system.task_invalid"
WINDOW_ALLOC_OP = "pld.tensor.alloc_window_buffer"
REMOTE_LOAD_OP = "pld.tile.remote_load"
PADDED_REMOTE_LOAD = "pld.tile._remote_load_with_physical_tail_padding"
PADDING_KEYWORD = "allow_physical_tail_padding"
BLOCK_INDEX_OP = "tile.get_block_idx"
LANE_INDEX_OP = "tile.get_subblock_idx"
