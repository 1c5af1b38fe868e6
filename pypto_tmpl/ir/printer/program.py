"""Text of functions and programs, and the entry points of the printer (spec: DSL, 12.1 to 12.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate

from pypto_tmpl.ir.attrs import AttrKind
from pypto_tmpl.ir.base import Expr, IRNode, Stmt, Type, provide_text
from pypto_tmpl.ir.collector import collector_paused
from pypto_tmpl.ir.destinations import has_destinations
from pypto_tmpl.ir.enums import FunctionType, ParamDirection, SplitMode
from pypto_tmpl.ir.enums import Role as FunctionRole
from pypto_tmpl.ir.printer.calls import function_name
from pypto_tmpl.ir.printer.destinations import NOTICE
from pypto_tmpl.ir.printer.names import FunctionText, assign_names, identifier
from pypto_tmpl.ir.printer.pieces import (
    Piece,
    Pieces,
    PrintError,
    check_size,
    comment_text,
    flatten,
    joined,
    string_text,
)
from pypto_tmpl.ir.printer.scopes import ScopePrinter
from pypto_tmpl.ir.printer.spellings import PARAM_WRAPPERS
from pypto_tmpl.ir.printer.statements import Block, flat_statements
from pypto_tmpl.ir.program import Function, Program
from pypto_tmpl.ir.stmt import InlineStmt

Known = Mapping[int, tuple[Function, FunctionText, set[str], bool]]
"""Functions by identity, with their text, the functions that they call, whether their tiles are buffers."""


class Printer(ScopePrinter):
    """The whole printer; ``known`` are functions of which there is the text already, and ``made`` is that."""

    known: Known = {}
    made: Known = {}

    def node_text(self, node: IRNode | Type) -> str:
        """Text of a node or type."""
        if isinstance(node, Program):
            return self._program(node)
        text = self._unnamed(node, "")
        return text.render(self._reserved(), assign_names(list(text.dimensions.values()), self._reserved()))

    def _unnamed(self, node: IRNode | Type, indent: str) -> FunctionText:
        self.start_function()
        try:
            leaves = flatten(self._pieces(node, indent), lambda: check_size(node))
        except PrintError as error:
            error.where = error.where or self._whereabouts(node)
            raise
        params = {id(param) for param in node.params} if isinstance(node, Function) else set()
        marks_free = isinstance(node, Function)
        return FunctionText(leaves, self.defined, params, self.lanes, marks_free)

    def _pieces(self, node: IRNode | Type, indent: str) -> Pieces:
        if isinstance(node, Function):
            yield self._function(node, indent)
        elif isinstance(node, Stmt):
            yield self.statements(node, Block(indent))
        elif isinstance(node, Type):
            yield self.type(node)
        elif isinstance(node, Expr):
            yield self.expr(node)
        else:
            raise PrintError(f"no text for an object of class {type(node).__name__}")

    def _whereabouts(self, node: IRNode | Type) -> str:
        function = f"function {node.name}" if isinstance(node, Function) else ""
        span = self.current.span if self.current is not None else None
        return ", ".join(filter(None, (function, str(span) if span is not None and span.is_valid() else "")))

    def _reserved(self) -> set[str]:
        return {self.prefix, "pl", "pld", "self"}

    def _program(self, node: Program) -> str:
        texts: dict[str, FunctionText] = {}
        calls: dict[str, set[str]] = {}
        made = {}
        for key, function in node.functions.items():
            found = self.known.get(id(function))
            if found is None:
                found = function, self._unnamed(function, "    "), self.called, self.has_buffers
            made[id(function)] = found
            _, texts[key.name], calls[key.name], _ = found
        self.made = made
        ordered = [texts[name] for name in callees_first(calls)]
        dimensions = {key: var for text in ordered for key, var in text.dimensions.items()}
        names = assign_names(list(dimensions.values()), self._reserved())
        methods = "".join(text.render(self._reserved(), names) for text in ordered)
        header = self._program_header(node, sorted(names.values()), any(found[3] for found in made.values()))
        return header + (methods or "    pass\n")

    def _program_header(self, node: Program, dimensions: Sequence[str], has_buffers: bool) -> str:
        title = comment_text(" ".join(node.name.split())) or "Program"
        is_usual = self.prefix == "pl"
        module = "import pypto.language as pl" if is_usual else f"from pypto import language as {self.prefix}"
        notice = [NOTICE] if has_buffers else []
        lines = [f"# pypto.program: {title}", *notice, module, ""]
        if dimensions:
            lines += [*(f'{name} = {self.prefix}.dynamic("{name}")' for name in dimensions), ""]
        lines += [f"@{self.prefix}.program", f"class {identifier(node.name or 'Program')}:", ""]
        return "\n".join(lines)

    def _function(self, node: Function, indent: str) -> Pieces:
        self.has_buffers = has_destinations(node)
        if self.has_buffers and not indent:
            yield f"{NOTICE}\n"
        yield f"{indent}@{self.prefix}.function"
        options = list(self._decorator_options(node))
        if options:
            yield f"({', '.join(options)})"
        yield f"\n{indent}def {function_name(node.name)}("
        self.in_signature = True
        yield joined(self._params(node))
        yield ")"
        yield self._returns(node)
        self.in_signature = False
        yield ":\n"
        block = Block(indent + "    ", None)
        yield self._function_attrs(node, block)
        if node.requires_runtime_binding:
            yield self._bound_at_run_time(node, block)
        else:
            yield self.statements(node.body, block)

    def _decorator_options(self, node: Function) -> Iterable[str]:
        if node.func_type is not FunctionType.Opaque:
            yield f"type={self.enum(node.func_type)}"
        if node.level is not None:
            yield f"level={self.enum(node.level)}"
        if node.role is not None:
            yield f"role={self.enum(node.role)}"
        if node.attrs.kinds.get("auto_scope") is AttrKind.BOOL:
            yield f"auto_scope={node.attrs['auto_scope']}"
        if node.attrs.kinds.get("external_source") is AttrKind.STR:
            yield "external_source=" + string_text(node.attrs["external_source"], '"')

    def _params(self, node: Function) -> Iterable[Piece]:
        if self.in_program and node.role is not FunctionRole.SubWorker:
            yield "self"
        for var, direction in zip(node.params, node.param_directions, strict=True):
            self.define(var)
            yield _annotated(var, self._param_type(self.type(var.type, signature=True), direction))

    def _param_type(self, written: Piece, direction: ParamDirection) -> Piece:
        wrapper = PARAM_WRAPPERS[direction]
        return iter((f"{self.prefix}.{wrapper}[", written, "]")) if wrapper else written

    def _returns(self, node: Function) -> Pieces:
        types = [self.type(found, signature=True) for found in node.return_types]
        if len(types) == 1:
            yield " -> "
            yield types[0]
        elif types:
            yield " -> tuple["
            yield joined(types)
            yield "]"

    def _function_attrs(self, node: Function, block: Block) -> Pieces:
        in_decorator = {"auto_scope": AttrKind.BOOL, "external_source": AttrKind.STR}
        kinds = node.attrs.kinds
        keys = [key for key in node.attrs if kinds[key] is not in_decorator.get(key)]
        if kinds.get("split") is AttrKind.INT and node.attrs["split"] == SplitMode.NONE.value:
            keys.remove("split")
        if keys:
            yield f"{block.indent}{self.prefix}.func_attr("
            yield self.attributes(node.attrs, keys, of_function=True)
            yield ")\n"

    def _bound_at_run_time(self, node: Function, block: Block) -> Pieces:
        for found in flat_statements(node.body):
            if not isinstance(found, InlineStmt) or found.body:
                raise PrintError(f"function {node.name} is bound at run time, but has a body as well")
            yield self.comments(found, block)
        yield f"{block.indent}...\n"


def _annotated(var: Piece, annotation: Piece) -> Pieces:
    """``var: annotation``."""
    yield var
    yield ": "
    yield annotation


def callees_first(calls: Mapping[str, set[str]]) -> list[str]:
    """Functions after those they call, else in the given order; just the given order if calls are cyclic."""
    ordered: dict[str, None] = {}
    for root in calls:
        path = {root: iter(sorted(calls[root] & calls.keys()))}
        while path:
            name, callees = next(reversed(path.items()))
            callee = next((found for found in callees if found not in ordered), None)
            if callee in path:
                return list(calls)
            if callee is not None:
                path[callee] = iter(sorted(calls[callee] & calls.keys()))
                continue
            ordered[name] = None
            del path[name]
    return list(ordered)


class ProgramPrinter:
    """Prints one program after the other; the text of a function that the one before had as well is kept."""

    def __init__(self, prefix: str = "pl", *, explicit_layout: bool = False) -> None:
        self._prefix = prefix
        self._explicit_layout = explicit_layout
        self._known: Known = {}

    def text(self, program: Program) -> str:
        """What ``python_print`` gives. Raises PrintError for IR that has no text."""
        printer = Printer(self._prefix, False, self._explicit_layout, in_program=True)
        printer.known = self._known
        with collector_paused():
            text = printer.node_text(program)
        self._known = printer.made
        return text


def python_print(
    node: IRNode | Type,
    prefix: str = "pl",
    concise: bool = False,
    format: bool = False,
    explicit_layout: bool = False,
) -> str:
    """Text of a node or type in the language; that of a Function or Program can be parsed again.

    ``concise`` leaves out the types of assigned variables, but for tiles whose calls do not list extents,
    ``explicit_layout`` writes every layout field of every tile; ``format`` lays the lines out with black.
    Raises PrintError for IR that has no text.
    """
    if not prefix.isidentifier():
        raise ValueError(f"prefix {prefix!r} is no identifier")
    printer = Printer(prefix, concise, explicit_layout, in_program=isinstance(node, Program))
    with collector_paused():
        text = printer.node_text(node)
    return _formatted(text) if format else text


def python_print_type(
    type: Type, prefix: str = "pl", format: bool = False, explicit_layout: bool = False
) -> str:
    """Text of a type."""
    return python_print(type, prefix, format=format, explicit_layout=explicit_layout)


def type_text(type_: Type) -> str:
    """The text of a type for a message, cut where it is long."""
    try:
        text = python_print(type_)
    except (ValueError, RecursionError):
        text = type(type_).__name__
    return text if len(text) <= 100 else text[:97] + "..."


class _Layout:
    callback: Callable[[str], str] | None = None


def register_format_callback(callback: Callable[[str], str] | None) -> None:
    """Have a function lay out the text of ``python_print(..., format=True)``; None gives it back to black."""
    _Layout.callback = callback


_MAX_NESTING = 200  # what black writes grows with the square of it: one bracket a line, each indented further


def _formatted(text: str) -> str:
    """The text as the registered function lays it out, else black; as it is where black refuses it.

    That includes brackets that nest very deeply.
    """
    if _Layout.callback is not None:
        return _Layout.callback(text)
    from black import format_str
    from black.mode import Mode, TargetVersion
    from black.parsing import InvalidInput

    if _nesting(text) > _MAX_NESTING:
        return text
    mode = Mode(target_versions={TargetVersion.PY311}, line_length=200)
    try:
        found = format_str(text, mode=mode)
    except (InvalidInput, RecursionError):
        return text
    return found if text.endswith("\n") else found.rstrip("\n")


def _nesting(text: str) -> int:
    """Depth of the brackets in a text."""
    depths = accumulate(1 if char in "([{" else -1 for char in text if char in "()[]{}")
    return max(depths, default=0)


provide_text(python_print)
