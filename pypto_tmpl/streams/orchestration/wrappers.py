"""Wrappers of kernels, which take the arguments from the run time and call what the assembler made."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendType, facts_of
from pypto_tmpl.codegen.unsupported import Unsupported
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.streams.functions import hidden_parameters, symbolic_extents
from pypto_tmpl.streams.orchestration.names import identifier, is_reserved
from pypto_tmpl.streams.orchestration.spelling import cpp_type
from pypto_tmpl.streams.problems import Obstacle, WrapperError
from pypto_tmpl.streams.templates import CppTemplates
from pypto_tmpl.streams.tensors import GM_PIPE_BUFFER

_NARROW = {
    DataType.FP8E4M3FN: "float8_e4m3_t", DataType.FP8E5M2: "float8_e5m2_t",
    DataType.FP8E8M0: "float8_e8m0_t", DataType.HF8: "hifloat8_t", DataType.FP4: "float4_e2m1x2_t",
}  # fmt: skip
_KNOWN_HERE = {"block_idx", "block_num", "subblock_idx"}
_UNDO: dict[type[ir.Expr], str] = {ir.Add: "-", ir.Sub: "+", ir.Mul: "/", ir.FloorDiv: "*"}
# The wrapper has these itself, or the run time loads them for it.
_DROPPED = re.compile(
    r'^\s*(#include\s*[<"][^">]*(pto-inst|cstdint|tensor\.h)[^">]*[">]|using namespace pto;'
    r"|.*\bset_ffts_base_addr\().*$\n?",
    re.MULTILINE,
)
_ENTRY = re.compile(r'(extern\s+"C"\s+)?(__global__\s+)?\bAICORE\s+void\b')


@dataclass(frozen=True, slots=True)
class _Tensor:
    """A tensor as the kernel takes it; ``is_shared`` where blocks have parts of it."""

    name: str
    type: str
    is_shared: bool


@dataclass(frozen=True, slots=True)
class _Scalar:
    """A scalar as the kernel takes it."""

    name: str
    type: str
    is_context: bool


@dataclass(frozen=True, slots=True)
class _Symbol:
    """An extent that is read off a tensor; ``packs`` where the tensor has two elements in one."""

    name: str
    tensor: str
    axis: int
    packs: bool
    undo: str = ""
    number: int = 0


@dataclass(frozen=True, slots=True)
class _Wrapper:
    """What the template of a wrapper reads; without ``body`` what the assembler makes is missing."""

    name: str
    body: str | None
    bridges_lanes: bool
    hidden: list[str]
    tensors: list[_Tensor]
    scalars: list[_Scalar]
    symbols: list[_Symbol]
    arguments: list[str]


def wrapper_text(
    kernel: ir.Function, assembled: str | None, backend: BackendType, templates: CppTemplates
) -> str:
    """The wrapper of a kernel around the C++ that the assembler made of its unit. Raises WrapperError.

    Without that C++ an ``#error`` stands in its place.
    """
    try:
        text: str = templates.wrapper.wrapper(_wrapper(kernel, assembled, backend, templates))
    except Obstacle as obstacle:
        span = obstacle.span or kernel.span
        raise WrapperError((Unsupported(obstacle.what, kernel.name, obstacle.variable, span),)) from None
    return text


def defines(assembled: str, kernel: ir.Function) -> bool:
    """Whether the C++ of a unit has the function that the wrapper of a kernel calls."""
    return re.search(rf"\bvoid\s+{re.escape(kernel.name)}\s*\(", assembled) is not None


def _wrapper(
    kernel: ir.Function, assembled: str | None, backend: BackendType, templates: CppTemplates
) -> _Wrapper:
    if is_reserved(kernel.name):
        raise Obstacle(
            f"the assembler makes a function {kernel.name!r} of the kernel, which is a word of C++"
        )
    hidden: list[str] = [*hidden_parameters(kernel, templates.table)]
    unknown = set(hidden) - _KNOWN_HERE
    if unknown:
        raise Obstacle(f"no wrapper passes {', '.join(sorted(unknown))} to a kernel")
    is_vector = kernel.func_type is ir.FunctionType.AIV
    bridges = is_vector and "subblock_idx" in hidden and facts_of(backend).requires.runtime_subblock_bridge
    tensors = [param for param in kernel.params if isinstance(param.type, ir.TensorType)]
    others = [param for param in kernel.params if not isinstance(param.type, ir.TensorType)]
    unpacked = [_tensor(param, has_blocks="block_idx" in hidden) for param in tensors]
    scalars = [_scalar(param) for param in others]
    symbols = [_symbol(symbol, tensors) for symbol in symbolic_extents(kernel)]
    values: list[_Tensor | _Scalar | _Symbol] = [*unpacked, *scalars, *symbols]
    names = [value.name for value in values]
    names += [templates.wrapper.hidden(name) for name in hidden]
    body = None if assembled is None else own_part(assembled)
    return _Wrapper(kernel.name, body, bridges, hidden, unpacked, scalars, symbols, names)


def _tensor(param: ir.Var, *, has_blocks: bool) -> _Tensor:
    assert isinstance(param.type, ir.TensorType)
    type_ = _NARROW.get(param.type.dtype) or cpp_type(param.type.dtype)
    return _Tensor(identifier(param.name_hint), type_, has_blocks and param.name_hint == GM_PIPE_BUFFER)


def _scalar(param: ir.Var) -> _Scalar:
    if isinstance(param.type, ir.CommCtxType):
        return _Scalar(identifier(param.name_hint), "", is_context=True)
    if not isinstance(param.type, ir.ScalarType):
        what = f"the parameter {param.name_hint!r} of {type(param.type).__name__} comes in no register"
        raise Obstacle(what, param.span)
    return _Scalar(identifier(param.name_hint), cpp_type(param.type.dtype), is_context=False)


def _symbol(symbol: ir.Var, tensors: list[ir.Var]) -> _Symbol:
    """Where an extent is read off: a tensor that has it, else one whose extent is made of it and a number."""
    name = identifier(symbol.name_hint)
    found: _Symbol | None = None
    for param in tensors:
        assert isinstance(param.type, ir.TensorType)
        shape = param.type.shape
        for axis, extent in enumerate(shape):
            packs = param.type.dtype == DataType.FP4 and axis == len(shape) - 1
            at = identifier(param.name_hint), axis, packs
            if extent is symbol:
                return _Symbol(name, *at)
            found = found or _undone(name, *at, extent, symbol)
    if found is None:
        raise Obstacle(f"Cannot recover dynamic dimension '{symbol.name_hint}' from a tensor", symbol.span)
    return found


def _undone(
    name: str, tensor: str, axis: int, packs: bool, extent: ir.Expr, symbol: ir.Var
) -> _Symbol | None:
    """A symbol read off an extent that is made of it and a number; None for any other extent."""
    undo = _UNDO.get(type(extent))
    if undo is None or not isinstance(extent, ir.BinaryExpr) or extent.left is not symbol:
        return None
    number = extent.right
    return _Symbol(name, tensor, axis, packs, undo, number.value) if isinstance(number, ir.ConstInt) else None


def own_part(assembled: str) -> str:
    """What the assembler made without what the wrapper has itself, and its functions as the wrapper's own."""
    text = _DROPPED.sub("", assembled)
    text = _ENTRY.sub("static __aicore__ void", text)
    text = re.sub(r"\bAICORE\b", "__aicore__", text)
    return re.sub(r"\bTensor\b", "ChipTensor", text).strip("\n")
