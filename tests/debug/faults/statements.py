"""Statements of a program by their places, and rewriting one of them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from pypto_tmpl import ir
from pypto_tmpl.ir.fields import node_fields_of
from pypto_tmpl.ops import load_table
from pypto_tmpl.rewrite import Replacement, Rewriter, build

N = TypeVar("N")


@dataclass(frozen=True, slots=True)
class Place:
    """A statement and where it stands: ``body[4].body[0]`` is the first of the loop that is fifth.

    ``before`` holds the statements that have run whenever this one runs, in order.
    """

    function: str
    path: str
    statement: ir.Stmt
    before: tuple[ir.Stmt, ...] = ()

    @property
    def signature(self) -> str:
        """The statement without types, which passes change without touching what it computes."""
        return signature(self.statement)


def places(program: ir.Program) -> Iterator[Place]:
    """Every statement of a program in the order of its text, sequences themselves left out."""
    for function in program.functions.values():
        yield from _places(function.name, "body", function.body, ())


def _places(function: str, path: str, statement: ir.Stmt, before: tuple[ir.Stmt, ...]) -> Iterator[Place]:
    if isinstance(statement, ir.SeqStmts):
        for index, item in enumerate(statement.stmts):
            yield from _places(function, f"{path}[{index}]", item, before)
            before += (item,)
        return
    yield Place(function, path, statement, before)
    for name in ("body", "then_body", "else_body"):
        inner = getattr(statement, name, None)
        if isinstance(inner, ir.Stmt):
            yield from _places(function, f"{path}.{name}", inner, before)


def header(statement: ir.Stmt) -> str:
    """The first line of a statement's text: all of it, but for loops, branches and scopes."""
    return str(statement).strip().splitlines()[0]


def signature(statement: ir.Stmt) -> str:
    if isinstance(statement, ir.AssignStmt):
        return f"{statement.var.name_hint} = {statement.value}"
    return header(statement)


def own_expressions(statement: ir.Stmt) -> list[ir.Expr]:
    """What a statement evaluates itself, the bodies below it and all types left out."""
    match statement:
        case ir.AssignStmt():
            return [statement.value]
        case ir.EvalStmt():
            return [statement.expr]
        case ir.YieldStmt() | ir.ReturnStmt():
            return list(statement.value)
        case ir.IfStmt():
            return [statement.condition]
        case ir.WhileStmt():
            return [argument.initValue for argument in statement.iter_args] + [statement.condition]
        case ir.ForStmt():
            initial = [argument.initValue for argument in statement.iter_args]
            return [statement.start, statement.stop, statement.step, *initial]
        case ir.SpmdScopeStmt():
            return [statement.core_num]
    return []


def expressions(root: ir.Expr) -> Iterator[ir.Expr]:
    """An expression and all below it, variables not entered."""
    yield root
    if isinstance(root, ir.Var):
        return
    for spec in node_fields_of(type(root)):
        if spec.name == "type":
            continue
        value = getattr(root, spec.name)
        for item in value if spec.many else (value,):
            if isinstance(item, ir.Expr):
                yield from expressions(item)


def reads(statement: ir.Stmt, variable: ir.Var) -> bool:
    """True for a statement that evaluates the variable itself."""
    return any(found is variable for root in own_expressions(statement) for found in expressions(root))


class Replacing(Rewriter):
    """Puts other nodes in the place of some; a statement that is replaced by None is taken out."""

    def __init__(self, replaced: Iterable[tuple[ir.IRNode, ir.IRNode | None]]) -> None:
        super().__init__()
        self._pairs = tuple(replaced)  # keeps the nodes alive: ids are not reused
        self._replaced = {id(old): new for old, new in self._pairs}
        self._entered: list[ir.Stmt] = []
        self.became: dict[int, ir.Stmt] = {}

    def before(self, stmt: ir.Stmt) -> Replacement:
        if id(stmt) in self._replaced:
            return self._replaced[id(stmt)]
        self._entered.append(stmt)
        return stmt

    def statement(self, stmt: ir.Stmt) -> Replacement:
        self.became[id(self._entered.pop())] = stmt
        return stmt

    def expression(self, expr: ir.Expr) -> ir.Expr:
        return self._replaced.get(id(expr), expr)

    def use(self, var: ir.Var) -> ir.Expr:
        return self._replaced.get(id(var), super().use(var))


def with_expression(statement: ir.Stmt, old: ir.Expr, new: ir.Expr) -> ir.Stmt:
    """The statement with one of its own expressions replaced, the variables that it makes kept."""
    field = {ir.AssignStmt: "value", ir.EvalStmt: "expr", ir.IfStmt: "condition"}.get(type(statement))
    if field is None:
        raise TypeError(f"the expressions of a {type(statement).__name__} are not replaced")
    return build(statement, **{field: Replacing([(old, new)]).rewrite(getattr(statement, field))})


def calls(statement: ir.Stmt) -> Iterator[ir.Call]:
    """The calls of ops that a statement evaluates itself."""
    for root in own_expressions(statement):
        for found in expressions(root):
            if isinstance(found, ir.Call) and not isinstance(found.op, ir.GlobalVar):
                yield found


def operand(call: ir.Call, *names: str) -> int | None:
    """Position of the first operand that has one of the names and is given."""
    entry = load_table().get(call.op.name)
    for position, spec in enumerate(entry.operands if entry else ()):
        if spec.name in names and position < len(call.args):
            return position
    return None


def with_argument(call: ir.Call, position: int, value: ir.Expr) -> ir.Call:
    return build(call, args=(*call.args[:position], value, *call.args[position + 1 :]))


def with_keyword(call: ir.Call, name: str, value: int | float) -> ir.Call:
    """The call with another value of one keyword, stored as the old one was."""
    stored = call.kwargs.items()
    changed = ((key, call.kwargs.kinds[key], value if key == name else old) for key, old in stored)
    return build(call, kwargs=ir.AttrMap.of_stored(changed))


def same_form(one: ir.Type, other: ir.Type) -> bool:
    """True for tiles or tensors that differ at most in the buffer that holds them."""
    if type(one) is not type(other) or not isinstance(one, ir.TileType | ir.TensorType):
        return False
    return bool(build(one, memref=None) == build(other, memref=None))


@dataclass(frozen=True, slots=True)
class Mutation:
    """One statement made wrong: ``replacement`` stands for it, or nothing if it is None.

    ``variables`` are replaced wherever they are read. ``options`` are those of the script with which the
    fault is to be looked for.
    """

    place: Place
    how: str
    replacement: ir.Stmt | None
    variables: tuple[tuple[ir.Var, ir.Expr], ...] = ()
    options: Mapping[str, int] = field(default_factory=dict)

    def apply(self, program: ir.Program) -> tuple[ir.Program, str | None]:
        """The faulty program, and the path in it of the statement that is wrong.

        Of a dropped statement that is the first one that reads what takes the place of its value; None if
        there is none.
        """
        replacing = Replacing([(self.place.statement, self.replacement), *self.variables])
        faulty = replacing.rewrite(program)
        if self.replacement is not None:
            return faulty, self.place.path
        users = [found.statement for found in places(program) if self._reads_lost(found.statement)]
        if not users:
            return faulty, None
        first = replacing.became[id(users[0])]
        return faulty, next(found.path for found in places(faulty) if found.statement is first)

    def _reads_lost(self, statement: ir.Stmt) -> bool:
        return any(reads(statement, lost) for lost, _ in self.variables)
