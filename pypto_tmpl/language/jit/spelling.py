"""Annotations of generated functions."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from pypto_tmpl.ir import DataType, ParamDirection
from pypto_tmpl.language.jit.metadata import Info, ScalarInfo, TensorInfo, TupleInfo
from pypto_tmpl.language.jit.parameters import Parameter


def tensor_text(info: TensorInfo) -> str:
    """``pl.Tensor[[128, ?], pl.FP32]``: what is known of a tensor, in a message."""
    extents = ", ".join("?" if extent is None else str(extent) for extent in info.shape)
    return f"{_kind(info)}[[{extents}], {_dtype(info.dtype)}]"


def type_text(info: Info) -> str | None:
    """``pl.Tensor[[128, M], pl.FP32]`` for what is known of a value; None where that is not enough."""
    match info:
        case TensorInfo(shape=shape, dtype=dtype) if info.is_complete:
            parts = [f"[{', '.join(str(extent) for extent in shape)}]", _dtype(dtype)]
            if info.layout is not None:
                parts.append(f"pl.TensorLayout.{info.layout.name}")
            return f"{_kind(info)}[{', '.join(parts)}]"
        case ScalarInfo(dtype=dtype):
            return f"pl.Scalar[{_dtype(dtype)}]"
        case TupleInfo(items=items):
            texts = [type_text(item) for item in items]
            known = [text for text in texts if text is not None]
            return f"tuple[{', '.join(known)}]" if len(known) == len(texts) else None
    return None


def _kind(info: TensorInfo) -> str:
    return "pld.DistributedTensor" if info.is_distributed else "pl.Tensor"


def parameter_text(parameter: Parameter, info: Info, with_direction: bool) -> str:
    """The annotation of a parameter."""
    if parameter.kind == "array":
        assert parameter.dtype is not None and parameter.shape is not None
        text: str | None = f"pl.Array[{parameter.shape[0]}, {_dtype(parameter.dtype)}]"
    else:
        text = type_text(info)
    assert text is not None
    if with_direction and parameter.direction is not ParamDirection.In:
        return f"pl.{parameter.direction.name}[{text}]"
    return text


def annotation_node(text: str, place: ast.AST) -> ast.expr:
    """The tree of an annotation, at the place of the user's text that it comes from."""
    tree = ast.parse(text, mode="eval").body
    for node in ast.walk(tree):
        if isinstance(node, (ast.expr, ast.keyword)):
            ast.copy_location(node, place)
    return tree


def _dtype(dtype: DataType) -> str:
    return f"pl.{dtype.name}"


def definition(
    name: str,
    decorator: str,
    params: Sequence[tuple[ast.arg, str]],
    returns: str | None,
    body: list[ast.stmt],
    tree: ast.FunctionDef,
) -> ast.FunctionDef:
    """A method of the program, in place of the function ``tree``; ``params`` come with their annotations."""
    made = ast.parse("def f(self): pass").body[0]
    assert isinstance(made, ast.FunctionDef)
    for arg, text in params:
        node = annotation_node(text, arg.annotation or arg)
        made.args.args.append(ast.copy_location(ast.arg(arg.arg, node), arg))
    made.name, made.body = name, body
    made.decorator_list = [annotation_node(decorator, tree)]
    made.returns = None if returns is None else annotation_node(returns, tree.returns or tree)
    return ast.copy_location(made, tree)
