"""The members of the language's enumerations, and how messages show nodes."""

from __future__ import annotations

import ast
from enum import Enum
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.errors import allowed_note
from pypto_tmpl.ir import directions
from pypto_tmpl.ir.dtypes import DATA_TYPES
from pypto_tmpl.ir.printer import spellings
from pypto_tmpl.language.diagnostics import ParserTypeError, UnsupportedFeatureError
from pypto_tmpl.language.mask_patterns import MaskPattern
from pypto_tmpl.language.reader import Reader

ENUMERATIONS: dict[str, type[Enum]] = {
    cls.__name__: cls
    for cls in (
        ir.MemorySpace, ir.TensorLayout, ir.TileLayout, ir.PadValue, ir.CompactMode, ir.SplitMode,
        ir.AtomicType, ir.PipeType, ir.CoreType, ir.NotifyOp, ir.WaitCmp, ir.ReduceOp, ir.FunctionType,
        ir.Level, ir.Role,
    )
}  # fmt: skip
ENUMERATIONS["Mem"] = ir.MemorySpace

CAST_MODES = {mode: code for code, mode in enumerate(spellings.CAST_MODES)}
DIRECTIONS = {name: getattr(directions, name) for name in directions.__all__ if name != "scalar_dir"}
_MEMBERS: dict[tuple[str, str], Any] = {
    (owner, name): member for owner, cls in ENUMERATIONS.items() for name, member in cls.__members__.items()
}
_MEMBERS |= {("adir", name): member for name, member in DIRECTIONS.items()}
_MEMBERS |= {("MaskPattern", pattern.name): pattern.value for pattern in MaskPattern}


AUTO = -1  # an address that the compiler is to choose


def member(node: ast.expr) -> Any:
    """The enumeration member, layout or data type that an attribute names; None where it names none.

    The prefix does not count: ``pl.FP32``, ``X.FP32``; ``pl.Mem.Vec``, ``Mem.Vec``.
    """
    if not isinstance(node, ast.Attribute):
        return None
    owner = node.value
    if isinstance(owner, ast.Attribute):
        return _MEMBERS.get((owner.attr, node.attr))
    if isinstance(owner, ast.Name):
        found = _MEMBERS.get((owner.id, node.attr))
        if found is None:
            found = AUTO if node.attr == "AUTO" else DATA_TYPES.get(node.attr)
        return ir.TensorLayout.__members__.get(node.attr) if found is None else found
    return None


def named_member(reader: Reader, node: ast.expr) -> Any:
    """What ``member`` finds, also behind a name such as ``DT`` after ``DT = pl.FP32``; None for neither."""
    if isinstance(node, ast.Name) and node.id in reader.module.closure and not reader.names.find(node.id):
        found = reader.module.closure[node.id]
        return found if isinstance(found, (Enum, ir.DataType)) else None
    if isinstance(node, ast.Attribute) and reader.module.executed:
        return _closure_attribute(reader, node)
    return member(node)


def _closure_attribute(reader: Reader, node: ast.Attribute) -> Any:
    """``cfg.DTYPE``; names of the language come before attributes of modules."""
    path, root = [node.attr], node.value
    while isinstance(root, ast.Attribute):
        path.append(root.attr)
        root = root.value
    if not isinstance(root, ast.Name) or root.id in reader.module.language | reader.module.distributed:
        return member(node)
    value = reader.module.closure.get(root.id)
    for name in reversed(path):
        value = getattr(value, name, None) if not name.startswith("_") else None
    return value if isinstance(value, (Enum, ir.DataType)) else None


def enum_member(reader: Reader, node: ast.expr, kind: type[Enum], what: str) -> Any:
    """A member of ``kind``; the enumeration that the text names must be that one."""
    found = named_member(reader, node)
    if isinstance(found, kind):
        return found
    hint = allowed_note(f"members of {kind.__name__}", list(kind.__members__), getattr(node, "attr", ""))
    raise reader.error(ParserTypeError, node, f"{what} is a {kind.__name__}, not {shown(node)}", hint)


def data_type(reader: Reader, node: ast.expr) -> ir.DataType:
    """The data type that ``node`` names."""
    found = named_member(reader, node)
    if isinstance(found, ir.DataType):
        return found
    hint = allowed_note("data types", list(DATA_TYPES), getattr(node, "attr", ""))
    raise reader.error(ParserTypeError, node, f"{shown(node)} is no data type", hint)


SUBMITS = frozenset({"submit", "spmd_submit"})


def attribute_name(node: ast.expr) -> str:
    """The name behind the last dot, empty for what is no attribute."""
    return node.attr if isinstance(node, ast.Attribute) else ""


def shown(node: ast.AST) -> str:
    """The text of ``node`` for a message, cut where it is long or goes on in another line."""
    try:
        text, _, more = ast.unparse(node).partition("\n")
    except (RecursionError, ValueError):
        return "this expression"
    if len(text) > 60:
        return repr(text[:57] + "...")
    return repr(text + " ..." if more else text)


def unsupported(reader: Reader, node: ast.AST, what: str, hint: str | None = None) -> UnsupportedFeatureError:
    """The error for Python that is not part of the language."""
    error = reader.error(UnsupportedFeatureError, node, f"{what} is not supported", hint)
    assert isinstance(error, UnsupportedFeatureError)
    return error
