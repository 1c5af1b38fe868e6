"""Functions: decorator, parameters, attributes and body (spec, 3 and 4.1)."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.errors import allowed_note
from pypto_tmpl.ir.bodies import last_of
from pypto_tmpl.language import loops as _loops  # noqa: F401  (registers the readers of loops and scopes)
from pypto_tmpl.language import simple_statements as _simple  # noqa: F401  (and those of the others)
from pypto_tmpl.language.annotations import DynVar
from pypto_tmpl.language.attributes import attribute_dict, stored
from pypto_tmpl.language.constants import member, shown
from pypto_tmpl.language.diagnostics import (
    MissingSourceError,
    ParserError,
    ParserSyntaxError,
    ParserTypeError,
    PassedOverError,
    several,
)
from pypto_tmpl.language.folding import boolean, compile_time
from pypto_tmpl.language.limits import as_parser_error
from pypto_tmpl.language.reached import assigned_once, bound_by, reached
from pypto_tmpl.language.reader import HOST_LEVELS, InlineFunction, Module, Reader, Signature, Variables
from pypto_tmpl.language.source import Comments
from pypto_tmpl.language.statements import block
from pypto_tmpl.language.types import parameter, return_annotation

_KEYWORDS = ("type", "level", "role", "attrs", "auto_scope", "strict_ssa", "external_source")
_INDEX = ir.ScalarType(ir.DataType.INDEX)


@dataclass(slots=True)
class _Header:
    """What the decorator says."""

    type: ir.FunctionType = ir.FunctionType.Opaque
    level: ir.Level | None = None
    role: ir.Role | None = None
    attrs: list[tuple[str, Any]] = field(default_factory=list)
    is_external: bool = False


@dataclass(slots=True)
class Declared:
    """A function whose signature has been read, and whose body is still text."""

    node: ast.FunctionDef
    reader: Reader
    header: _Header
    signature: Signature

    @property
    def name(self) -> str:
        return self.node.name


def decorator_of(node: ast.stmt, name: str) -> ast.expr | None:
    """The ``@pl.<name>`` of a definition, with or without a call; the prefix does not count."""
    for decorator in getattr(node, "decorator_list", ()):
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        if (target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")) == name:
            found: ast.expr = decorator
            return found
    return None


def declare(
    module: Module,
    node: ast.FunctionDef,
    decorator: ast.expr,
    methods: Mapping[str, Signature],
    strict: bool = False,
) -> Declared:
    """Read decorator and signature; ``methods`` are those that ``self`` will have."""
    comments = Comments(module.source, warns=not module.printed)
    reader = Reader(module, Variables(module.printed, strict), comments, methods=methods)
    try:
        return _declared(reader, node, decorator)
    except ParserError:
        raise
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise as_parser_error(module.source, node, error) from error


def _declared(reader: Reader, node: ast.FunctionDef, decorator: ast.expr) -> Declared:
    header = _header(reader, decorator)
    reader.function_type, reader.level = header.type, header.level
    reader.auto_scope = ("auto_scope", False) not in header.attrs
    params, directions = [], []
    reader.signature = node
    for index, arg in enumerate([*node.args.posonlyargs, *node.args.args]):
        if index == 0 and arg.arg == "self":
            continue
        type_, direction = parameter(reader, arg)
        params.append(_parameter_variable(reader, arg, type_))
        directions.append(direction)
    reader.params = params
    returned = return_annotation(reader, node.returns)
    reader.signature = None
    is_inline = header.type is ir.FunctionType.Inline
    signature = Signature(node.name, params, directions, returned, _role(header), is_inline=is_inline)
    signature.is_annotated = node.returns is not None
    return Declared(node, reader, header, signature)


def _role(header: _Header) -> ir.Role | None:
    """The role that the function will have."""
    orchestrates = header.type in (ir.FunctionType.Orchestration, ir.FunctionType.Graph)
    return ir.Role.Orchestrator if orchestrates else header.role


def _parameter_variable(reader: Reader, arg: ast.arg, type_: ir.Type) -> ir.Var:
    """A parameter; an INDEX scalar of a dimension's name is that dimension.

    In printed text only where the signature names it: a header lists the dimensions of all functions.
    """
    if reader.names.find(arg.arg) is not None:
        raise reader.error(ParserSyntaxError, arg, f"two parameters are named {arg.arg!r}")
    module = reader.module
    is_dimension = isinstance(module.closure.get(arg.arg), DynVar) or arg.arg in module.dimensions
    if module.printed and is_dimension and not _is_in_signature(reader, arg.arg):
        is_dimension = False
    if is_dimension and type_ == _INDEX:
        return reader.names.bind(arg.arg, module.dimension(arg.arg))
    return reader.names.define(arg.arg, type_, reader.span(arg))


def _is_in_signature(reader: Reader, name: str) -> bool:
    """Whether the signature that is being read spells that name in a type."""
    function = reader.signature
    if function is None:
        return False
    return _spells([function.returns, *(arg.annotation for arg in function.args.args)], name)


def _spells(annotations: Sequence[ast.expr | None], name: str) -> bool:
    parts = (part for annotation in annotations if annotation for part in ast.walk(annotation))
    return any(isinstance(part, ast.Name) and part.id == name for part in parts)


def _header(reader: Reader, decorator: ast.expr) -> _Header:
    found = _Header()
    external: ast.expr | None = None
    if not isinstance(decorator, ast.Call):
        return found
    if decorator.args:
        raise reader.error(ParserSyntaxError, decorator, "pl.function takes keywords only")
    for keyword in decorator.keywords:
        value = keyword.value
        match keyword.arg:
            case "type":
                found.type = _literal(reader, value, ir.FunctionType)
            case "level":
                found.level = _optional(reader, value, ir.Level)
            case "role":
                found.role = _optional(reader, value, ir.Role)
            case "auto_scope":
                if not boolean(reader, value, "auto_scope"):
                    found.attrs.append(("auto_scope", False))
            case "attrs":
                found.attrs += _function_attrs(reader, value)
                if not reader.module.printed:
                    message = "attrs= of pl.function is deprecated, use pl.func_attr"
                    reader.warn(value, message, DeprecationWarning)
            case "strict_ssa":
                reader.names.strict |= boolean(reader, value, "strict_ssa")
            case "external_source":
                found.attrs.append(("external_source", _external(reader, value)))
                found.is_external = True
                external = value
            case None:
                message = "keywords are written out, not unpacked with **"
                raise reader.error(ParserSyntaxError, value, message)
            case name:
                hint = allowed_note("keywords", _KEYWORDS, name)
                raise reader.error(ParserSyntaxError, value, f"pl.function takes no keyword {name!r}", hint)
    if external is not None and found.type not in (ir.FunctionType.AIC, ir.FunctionType.AIV):
        message = f"a function of type {found.type.name} has no external_source"
        raise reader.error(ParserTypeError, external, message, "only those of type AIC and AIV have one")
    source = next((value for key, value in found.attrs if key == "external_source"), None)
    if external is not None and source and not (reader.module.printed or Path(source).is_file()):
        # a printed program is read elsewhere than where its kernels are
        raise reader.error(MissingSourceError, external, f"the kernel source {source!r} does not exist")
    return found


def _literal(reader: Reader, node: ast.expr, kind: type[Any]) -> Any:
    found = member(node)
    if isinstance(found, kind):
        return found
    hint = allowed_note(f"members of pl.{kind.__name__}", list(kind.__members__), getattr(node, "attr", ""))
    message = f"{shown(node)} is no literal member of pl.{kind.__name__}"
    raise reader.error(ParserSyntaxError, node, message, hint)


def _optional(reader: Reader, node: ast.expr, kind: type[Any]) -> Any:
    return None if isinstance(node, ast.Constant) and node.value is None else _literal(reader, node, kind)


def _external(reader: Reader, node: ast.expr) -> str:
    """The absolute path of a kernel source."""
    value = compile_time(reader, node)
    if not isinstance(value, (str, PurePath)):
        message = f"external_source is a string or a path, not {shown(node)}"
        raise reader.error(ParserTypeError, node, message)
    path = Path(value)
    found = path if path.is_absolute() else Path(reader.module.source.filename).absolute().parent / path
    return str(found)


def _function_attrs(reader: Reader, node: ast.expr) -> list[tuple[str, Any]]:
    """Attributes of a function; the split mode NONE is the absence of a split."""
    entries = attribute_dict(reader, node, "function attributes")
    return [(key, value) for key, value in entries if value is not ir.SplitMode.NONE]


def read_function(declared: Declared) -> ir.Function:
    """The function with its body."""
    node, reader, header = declared.node, declared.reader, declared.header
    span = reader.span(node)
    reader.comments.skip_signature(node)
    if not reader.module.printed:  # of printed text nothing is judged
        inlined = (
            value.node for value in reader.module.closure.values() if isinstance(value, InlineFunction)
        )
        reader.assigned_once = assigned_once(node).difference(*map(bound_by, inlined))
    try:
        attrs, rest = _prologue(reader, node.body, header.attrs)
        is_host = header.level in HOST_LEVELS and header.role is ir.Role.SubWorker
        is_bound = _is_ellipsis(rest) and not header.is_external
        with reached(reader, node.name not in reader.module.unreached):
            is_text = is_host or is_bound
            body = _host_body(reader, rest, span) if is_text else _body(reader, header, rest, span)
        reader.comments.drop(_last_line(reader, node))
        for mark in reader.idle_tags:
            reader.warn(mark, f"{shown(mark)} marks nothing: no kernel that is called later takes that value")
        return_types = declared.signature.return_types
        if node.returns is None:
            declared.signature.return_types = _returned(body)
        return ir.Function(
            node.name,
            list(zip(declared.signature.params, declared.signature.directions, strict=True)),
            return_types,
            body,
            span,
            header.type,
            header.level,
            header.role,
            stored(reader, node, attrs),
            requires_runtime_binding=is_bound,
        )
    except ParserError:
        raise
    except RecursionError as error:
        raise as_parser_error(reader.module.source, node, error) from error
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        message = f"Failed to parse function {node.name!r}: {error}"
        raise reader.error(ParserSyntaxError, node, message) from error


def _last_line(reader: Reader, node: ast.FunctionDef) -> int:
    """The last line of a function, comments behind its last statement included."""
    last, lines = node.end_lineno or node.lineno, reader.module.source.lines
    for number, line in enumerate(lines[last:], last + 1):
        indent = len(line) - len(line.lstrip())
        if line.strip() and not (line.lstrip().startswith("#") and indent > node.col_offset):
            break
        last = number
    return last


def _prologue(
    reader: Reader, body: list[ast.stmt], attrs: list[tuple[str, Any]]
) -> tuple[list[tuple[str, Any]], list[ast.stmt]]:
    """The attributes of ``pl.func_attr`` statements, and the statements behind them."""
    docstring = body[:1] if isinstance(_text(body[0]), str) else []
    rest = body[len(docstring) :]
    found = list(attrs)
    while rest:
        match rest[0]:
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="func_attr")) as call):
                found += _attributes(reader, call, found)
                rest = rest[1:]
            case _:
                break
    return found, [*docstring, *rest]


def _attributes(reader: Reader, call: ast.Call, known: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    if len(call.args) != 1 or call.keywords:
        raise reader.error(ParserSyntaxError, call, "pl.func_attr takes one dict literal")
    entries = _function_attrs(reader, call.args[0])
    for key, _ in entries:
        if key in ("auto_scope", "external_source"):
            message = f"the attribute {key!r} is a keyword of pl.function"
            raise reader.error(ParserSyntaxError, call, message)
        if any(key == other for other, _ in known):
            raise reader.error(ParserSyntaxError, call, f"the attribute {key!r} is given twice")
    return entries


def _text(node: ast.stmt) -> object:
    """The value of an expression statement that is a constant."""
    return node.value.value if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) else None


def _is_ellipsis(body: list[ast.stmt]) -> bool:
    return len(body) == 1 and _text(body[0]) is ...


def _body(reader: Reader, header: _Header, body: list[ast.stmt], span: ir.Span) -> ir.Stmt:
    if header.is_external:
        for node in body:
            if not isinstance(node, ast.Pass) and _text(node) is not ... and not isinstance(_text(node), str):
                message = "the body of an external function is `...`, `pass` or a docstring"
                raise reader.error(ParserSyntaxError, node, message)
        return ir.SeqStmts((), span)
    try:
        found = block(reader, body, span)
    except PassedOverError:
        if not reader.errors:
            raise
    if reader.errors:
        raise several(reader.errors)
    reader.pending_comments = []
    return found


def _returned(body: ir.Stmt) -> tuple[ir.Type, ...]:
    """Types of the last return: what callers get of a function without return annotation."""
    last = last_of(body)
    return tuple(value.type for value in last.value) if isinstance(last, ir.ReturnStmt) else ()


def _host_body(reader: Reader, body: list[ast.stmt], span: ir.Span) -> ir.Stmt:
    """A host sub-worker runs as Python: its text is kept as it is."""
    for node in (inner for statement in body for inner in ast.walk(statement)):
        if isinstance(node, ast.Name) and node.id == "self":
            raise reader.error(ParserSyntaxError, node, "a host sub-worker does not use `self`")
    text = "" if _is_ellipsis(body) else "\n".join(ast.unparse(node) for node in body)
    return ir.InlineStmt(text, ir.InlineLanguage.Python, span)
