"""Names and what they stand for: the variables of a function, and the module around it."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from pypto_tmpl import ir
from pypto_tmpl.language.diagnostics import ParserError
from pypto_tmpl.language.source import Comments, Source
from pypto_tmpl.language.type_agreement import same_type
from pypto_tmpl.ops import facts

PythonValue: TypeAlias = "int | float | bool | str | None | tuple[PythonValue, ...]"

FREE_SUFFIX = "__FREE_VAR"  # how the printer marks a variable that nothing defines
_INDEX = ir.ScalarType(ir.DataType.INDEX)
_POINTER = ir.PtrType()
HOST_LEVELS = frozenset(
    {ir.Level.HOST, ir.Level.CLUSTER_0, ir.Level.CLUSTER_1, ir.Level.CLUSTER_2, ir.Level.GLOBAL}
)


class ReassignedError(Exception):
    """A name is bound again with another type."""

    def __init__(self, name: str, before: ir.Type, after: ir.Type) -> None:
        super().__init__(name)
        self.name = name
        self.before = before
        self.after = after


class SecondDefinitionError(Exception):
    """A name is bound again where that is not allowed."""

    def __init__(self, name: str, before: ir.Span) -> None:
        super().__init__(name)
        self.before = before


class Variables:
    """The variables of one function.

    A name that is bound again while it is visible stays one variable, as upstream has it; only the name
    of an iter_arg, of a loop variable and of a loop's or branch's result becomes a new one. A name whose
    scope has ended becomes a new variable too, except in printed text: the printer gives every variable
    of a function a name of its own, so there one name is one variable, wherever its scopes lie.
    """

    def __init__(self, printed: bool, strict: bool = False) -> None:
        self._printed = printed
        self.strict = strict  # a visible name is not assigned again
        self._assigned: set[str] = set()
        self._visible: dict[str, ir.Expr] = {}  # variables, and the arguments of inline functions
        self._arguments: set[str] = set()  # names that stand for what is another variable's
        self._latest: dict[str, ir.Var] = {}  # also the names whose scope has ended
        self._unbound: dict[str, ir.Var] = {}  # named by types before anything defines them
        self._hidden: list[list[tuple[str, ir.Expr | None]]] = []
        self._extents: dict[ir.Expr, ir.Expr] = {}  # variables that were read off a tensor's shape
        self._unreached: set[ir.Expr] = set()  # variables that only code defines which no run reaches

    def find(self, name: str) -> ir.Expr | None:
        """What an expression may read under that name here: nearly always a variable."""
        found = self._visible.get(name)
        if found is None and self._printed:
            return self._latest.get(name)
        return found

    def find_anywhere(self, name: str) -> ir.Var | None:
        """The variable of that name, its scope ended or not: types outlive scopes."""
        found = self._visible.get(name)
        return found if isinstance(found, ir.Var) else self._latest.get(name)

    def dimension(self, name: str) -> ir.Var:
        """The INDEX variable that a type names before anything defines it."""
        return self._interned(name, _INDEX)

    def pointer(self, name: str) -> ir.Var:
        """The allocation of that name; a later definition is of the same variable."""
        found = self.find_anywhere(name)
        if found is not None and isinstance(found.type, ir.PtrType):
            return found
        return self._interned(name, _POINTER)

    def unbound(self, name: str) -> ir.Var | None:
        """The variable of that name in printed text if types have named it and nothing has defined it yet."""
        return self._unbound.get(name) if self._printed else None

    def free(self, name: str, type_: ir.Type | None = None) -> ir.Var:
        """The variable that the printer marked as free; text rarely tells its type."""
        return self._interned(name, type_ or ir.UnknownType())

    def _interned(self, name: str, type_: ir.Type) -> ir.Var:
        found = self._unbound.get(name)
        if found is None or not (name.endswith(FREE_SUFFIX) or found.type == type_):
            found = ir.Var(name.removesuffix(FREE_SUFFIX), type_, ir.Span.unknown())
            self._unbound[name] = found
        return found

    def assign(self, name: str, type_: ir.Type, span: ir.Span) -> ir.Var:
        """The variable that an assignment defines; ReassignedError where the name has another type."""
        old = self._visible.get(name)
        if self.strict and old is not None and name in self._assigned:
            raise SecondDefinitionError(name, old.span)
        self._assigned.add(name)
        if type(old) is ir.Var and name not in self._arguments:
            if old.type is type_ or old.type == type_:
                self._unreached.discard(old)
                return old
            if not self._printed and same_type(old.type, type_, self._extents):
                return old
            if old in self._unreached:
                return self.define(name, type_, span)
            raise ReassignedError(name, old.type, type_)
        return self.define(name, type_, span)

    def note_value(self, variable: ir.Var, value: ir.Expr) -> None:
        """Remember which extent a variable is, until it gets another value."""
        self._extents.pop(variable, None)
        match value:
            case ir.Call(op=op, args=(ir.Expr(type=ir.TensorType(shape=shape)), ir.ConstInt(value=axis))):
                if facts.of(op).has("extent") and -len(shape) <= axis < len(shape):
                    self._extents[variable] = shape[axis]

    def define(self, name: str, type_: ir.Type, span: ir.Span) -> ir.Var:
        """A new variable, unless the text is printed and the name is known already."""
        old = self._unbound.pop(name, None) or (self._latest.get(name) if self._printed else None)
        if type(old) is ir.Var and (old.type is type_ or old.type == type_):
            return self.bind(name, old)
        return self.bind(name, ir.Var(name, type_, span))

    def carry(self, name: str, initial: ir.Expr, span: ir.Span) -> ir.IterArg:
        """The carried value of a loop."""
        old = self._latest.get(name) if self._printed else None
        if not (isinstance(old, ir.IterArg) and old.initValue is initial):
            old = ir.IterArg(name, initial.type, initial, span)
        self.bind(name, old)
        return old

    def bind(self, name: str, variable: ir.Var) -> ir.Var:
        """Let ``name`` stand for ``variable`` until the scope ends."""
        self._show(name, variable)
        self._latest[name] = variable
        self._arguments.discard(name)
        return variable

    def stand_for(self, name: str, value: ir.Expr) -> None:
        """Let ``name`` stand for an expression until the scope ends; assigning to it makes a new variable."""
        self._show(name, value)
        self._arguments.add(name)

    def _show(self, name: str, value: ir.Expr) -> None:
        if self._hidden:
            self._hidden[-1].append((name, self._visible.get(name)))
        self._visible[name] = value

    def hide(self, name: str) -> None:
        """Let no variable be visible under ``name`` until the scope ends."""
        self._hidden[-1].append((name, self._visible.pop(name, None)))

    @contextmanager
    def scope(self) -> Iterator[None]:
        """A scope whose names are gone after it."""
        self._hidden.append([])
        try:
            yield
        finally:
            for name, before in reversed(self._hidden.pop()):
                if before is None:
                    self._visible.pop(name, None)
                else:
                    self._visible[name] = before

    def visible(self) -> Mapping[str, ir.Expr]:
        """What every name stands for here."""
        return dict(self._visible)

    def note_unreached(self, before: Mapping[str, ir.Expr]) -> None:
        """Let what became visible since ``before`` be of no account where a name gets another type."""
        after = self._visible.items()
        self._unreached.update(value for name, value in after if before.get(name) is not value)

    def names(self) -> list[str]:
        """What an expression may read here."""
        return list(self._visible)


@dataclass(slots=True)
class Signature:
    """What a call of a function needs to know of it."""

    name: str
    params: list[ir.Var]
    directions: list[ir.ParamDirection]
    return_types: tuple[ir.Type, ...]
    role: ir.Role | None = None
    failed: bool = False  # its body has errors, and its results are not known
    is_inline: bool = False  # its body takes the place of the call
    is_annotated: bool = True  # its definition tells what it returns

    @property
    def result_type(self) -> ir.Type:
        """Type of a call before dynamic extents are substituted."""
        match self.return_types:
            case ():
                return ir.UnknownType()
            case (single,):
                return single
        return ir.TupleType(self.return_types)


@dataclass(frozen=True, slots=True, eq=False)
class InlineFunction:
    """A function whose body is read again wherever it is called."""

    name: str
    source: Source
    node: ast.FunctionDef
    closure: dict[str, object]

    def __call__(self, *args: object, **keywords: object) -> None:
        raise RuntimeError(f"{self.name!r} is expanded where kernels call it; Python cannot run it")


@dataclass(slots=True)
class Module:
    """What the module level of a text defines."""

    source: Source
    printed: bool = False  # by the printer: names are unique, and annotations are right
    executed: bool = False  # Python ran the text, so that a name which types use is defined somewhere
    language: set[str] = field(default_factory=lambda: {"pl"})
    distributed: set[str] = field(default_factory=lambda: {"pld"})
    closure: dict[str, object] = field(default_factory=dict)  # what names stand for outside of functions
    dimensions: dict[str, ir.Var] = field(default_factory=dict)  # by the names of the dimensions
    undeclared: set[str] = field(default_factory=set)  # dimensions that only signatures name
    buffers: dict[str, object] = field(default_factory=dict)  # declared memory, by name
    functions: dict[str, Signature] = field(default_factory=dict)
    unread: set[str] = field(default_factory=set)  # names of functions whose signatures have errors
    windows: set[str] = field(default_factory=set)  # names of window buffers, one each in a program
    called: dict[str, ir.Function] = field(default_factory=dict)  # functions from outside that bodies call
    unreached: frozenset[str] = frozenset()  # functions that are only called where no run gets to

    def dimension(self, name: str) -> ir.Var:
        """The one variable of that dimension."""
        if name not in self.dimensions:
            self.dimensions[name] = ir.Var(name, _INDEX, ir.Span.unknown())
        return self.dimensions[name]


@dataclass(slots=True)
class Results:
    """What the yields of a loop or branch define after it; the type is None without an annotation."""

    types: dict[str, ir.Type | None] = field(default_factory=dict)
    values: dict[str, ir.Type] = field(default_factory=dict)
    has_bare_yield: bool = False
    needs_names: bool = False  # of a loop that carries values
    carried: tuple[ir.Type, ...] | None = None  # their types
    yields: int = 0  # in the body that is being read


@dataclass(slots=True)
class Reader:
    """What the reading functions share while they read one function."""

    module: Module
    names: Variables
    comments: Comments
    function_type: ir.FunctionType = ir.FunctionType.Opaque
    level: ir.Level | None = None
    auto_scope: bool = True
    methods: Mapping[str, Signature] = field(default_factory=dict)
    statements: list[ir.Stmt] = field(default_factory=list)  # of the block that is being read
    results: Results | None = None  # of the innermost loop or branch
    loops: list[str] = field(default_factory=list)  # kinds of the loops around, the innermost last
    splits: list[ir.SplitMode] = field(default_factory=list)  # of the split_aiv scopes around
    kernel_depth: int = 0  # InCore scopes around
    in_type: bool = False  # inside an annotation
    in_extent: bool = False  # inside an extent of one
    lane_symbols: set[str] = field(default_factory=set)  # lane indices of the name of a dimension
    signature: ast.FunctionDef | None = None  # whose parameters and results are being read
    _bound: frozenset[str] | None = None
    target: str = ""  # name that the statement binds
    root: ast.expr | None = None  # the whole value of the statement
    pending_comments: list[str] = field(default_factory=list)
    params: list[ir.Var] = field(default_factory=list)
    scopes: list[str] = field(default_factory=list)  # kinds of the scopes around, the innermost last
    unreached: int = 0  # blocks around that no run reaches, see reached.py
    assigned_once: frozenset[str] = frozenset()  # names that one statement of the function binds
    constants: dict[ir.Var, ir.Expr] = field(default_factory=dict)  # what such variables are in every run
    left_out: set[str] = field(default_factory=set)  # names that statements there would have bound
    errors: list[ParserError] = field(default_factory=list)  # of statements that were passed over
    failed: set[str] = field(default_factory=set)  # names that such statements would have bound
    expanding: list[InlineFunction] = field(default_factory=list)  # inline functions, the innermost last
    dump_tags: dict[ir.Var, ast.Call] = field(default_factory=dict)  # tensors that later tasks dump
    without_yield: list[tuple[int, list[str]]] = field(default_factory=list)  # loops: line, carried names
    idle_tags: list[ast.Call] = field(default_factory=list)  # marks of tensors that no task has taken yet

    def span(self, node: ast.AST) -> ir.Span:
        """Where ``node`` begins."""
        return self.module.source.span(node)

    def bound_names(self, function: ast.FunctionDef) -> frozenset[str]:
        """The names that the parameters and statements of the function bind."""
        if self._bound is None:
            nodes = list(ast.walk(function))
            names = [node for node in nodes if isinstance(node, ast.Name)]
            stored = {name.id for name in names if isinstance(name.ctx, ast.Store)}
            self._bound = frozenset(stored.union(node.arg for node in nodes if isinstance(node, ast.arg)))
        return self._bound

    def warn(self, node: ast.AST, message: str, kind: type[Warning] = UserWarning) -> None:
        """A warning at ``node``."""
        span = self.span(node)
        warnings.warn_explicit(message, kind, span.filename, span.begin_line)

    def error(
        self,
        kind: type[ParserError],
        node: ast.AST,
        message: str,
        hint: str | None = None,
        note: str | None = None,
        concerns_values: bool | None = None,
    ) -> ParserError:
        """An error of that kind at ``node``; ``concerns_values`` where it is not as the kind says."""
        span = self.span(node)
        found = kind(message, span, hint, note, self.module.source.lines_of(span))
        if concerns_values is not None:
            found.concerns_values = concerns_values
        return found
