"""The parameters of a JIT function as its annotations declare them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Literal

from pypto_tmpl.ir import DataType, ParamDirection, TensorLayout
from pypto_tmpl.language.annotations import Annotation, Directed, DistributedTensor, DynVar, Tensor
from pypto_tmpl.language.diagnostics import ParserTypeError
from pypto_tmpl.language.jit.metadata import Extent, TensorInfo
from pypto_tmpl.language.jit.user_source import MISSING, Surroundings, UserSource, annotation_of

Kind = Literal["tensor", "scalar", "array"]
_FORMS = (
    "pl.Tensor, pl.Tensor[[extents], dtype], pl.Scalar[dtype], a dtype, pl.Array[extent, dtype], "
    "in pl.Out or pl.InOut"
)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter; ``shape`` and ``dtype`` are None where its annotation leaves them open.

    The extent of an array is its only one.
    """

    name: str
    kind: Kind
    direction: ParamDirection
    node: ast.arg
    shape: tuple[Extent, ...] | None = None
    dtype: DataType | None = None
    layout: TensorLayout | None = None
    is_distributed: bool = False

    @property
    def declared(self) -> TensorInfo | None:
        """The metadata that the annotation alone gives."""
        if self.kind != "tensor" or self.shape is None or self.dtype is None:
            return None
        return TensorInfo(self.shape, self.dtype, self.layout, self.is_distributed)


def read_parameters(function: FunctionType, source: UserSource, around: Surroundings) -> list[Parameter]:
    """The parameters of a function. Raises ParserTypeError at a parameter that is not declared as one."""
    return list(_parameters(function, source, around))


def _parameters(function: FunctionType, source: UserSource, around: Surroundings) -> Iterator[Parameter]:
    arguments = source.tree.args
    for extra in (arguments.vararg, arguments.kwarg, *arguments.kwonlyargs):
        if extra is not None:
            message = f"parameter {extra.arg!r}: kernels have ordinary positional parameters only"
            raise source.error(ParserTypeError, extra, message)
    for node in (*arguments.posonlyargs, *arguments.args):
        try:
            annotation = annotation_of(function, node.arg, around)
        except Exception as error:
            message = f"the annotation of {node.arg!r} cannot be evaluated: {type(error).__name__}: {error}"
            raise source.error(ParserTypeError, node, message) from None
        if annotation is MISSING:
            message = f"parameter {node.arg!r} has no annotation"
            raise source.error(ParserTypeError, node, message, f"forms: {_FORMS}")
        yield _parameter(node, annotation, source)


def _parameter(node: ast.arg, annotation: Any, source: UserSource) -> Parameter:
    direction = ParamDirection.In
    if isinstance(annotation, Directed):
        annotation, direction = annotation.inner, annotation.direction
    if annotation in (Tensor, DistributedTensor):
        return Parameter(node.arg, "tensor", direction, node, is_distributed=annotation is DistributedTensor)
    match annotation:
        case Annotation(kind="Tensor" | "DistributedTensor" as kind):
            layout = _layout(node, annotation, source)
            shape = tuple(_extent(node, part, source) for part in annotation.shape or ())
            if annotation.shape is None or annotation.dtype is None:
                message = f"parameter {node.arg!r}: a tensor is pl.Tensor or pl.Tensor[[extents], dtype]"
                raise source.error(ParserTypeError, node, message)
            is_distributed = kind == "DistributedTensor"
            return Parameter(
                node.arg, "tensor", direction, node, shape, annotation.dtype, layout, is_distributed
            )
        case DataType() as dtype:  # pl.FP32 for pl.Scalar[pl.FP32]
            return Parameter(node.arg, "scalar", direction, node, None, dtype)
        case Annotation(kind="Scalar", parts=(DataType() as dtype,)):
            if direction is ParamDirection.InOut:
                message = f"parameter {node.arg!r}: a scalar cannot be InOut"
                raise source.error(ParserTypeError, node, message)
            return Parameter(node.arg, "scalar", direction, node, None, dtype)
        case Annotation(kind="Array", parts=(int() as extent, DataType() as dtype)):
            return Parameter(node.arg, "array", direction, node, (extent,), dtype)
    shown = ast.unparse(node.annotation) if node.annotation is not None else repr(annotation)
    message = f"parameter {node.arg!r} cannot be declared as {shown}"
    raise source.error(ParserTypeError, node.annotation or node, message, f"forms: {_FORMS}")


def _extent(node: ast.arg, value: object, source: UserSource) -> Extent:
    if isinstance(value, DynVar):
        return value.name
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    message = f"parameter {node.arg!r}: an extent is an integer or a pl.dynamic(...), not {value!r}"
    raise source.error(ParserTypeError, node.annotation or node, message)


class LayoutError(ParserTypeError, TypeError):
    """A view where a JIT annotation takes a layout."""


def _layout(node: ast.arg, annotation: Annotation, source: UserSource) -> TensorLayout | None:
    match annotation.extras:
        case ():
            return None
        case (TensorLayout() as layout,):
            return layout
    message = f"parameter {node.arg!r}: a JIT annotation takes a layout after the dtype, and nothing else"
    hint = "a TensorView belongs to a @pl.function; here the view follows from the arguments"
    raise source.error(LayoutError, node.annotation or node, message, hint)
