"""Carries of loops say whether they are values of their own or the storage that they begin with."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir import DataType, ForKind, FunctionType, IRProperty
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ops.returned_parameters import ReturnedParameters, Versions
from pypto_tmpl.passes.base import PassError, ProgramPass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.pipelining.loops import rounds_of
from pypto_tmpl.passes.structure.yields import yielded
from pypto_tmpl.rewrite import Rewriter, build

_REBIND, _SIZE = "iter_arg_rebind_", "iter_arg_array_size_"


class ClassifyIterArgCarry(ProgramPass):
    """Say of each carry of a counted loop whether it is a value of its own or the storage it begins with.

    In manual scopes, the ids of tasks that a loop hands on are as many as it has rounds, or as the loop in it
    has that yields them. Error: rounds of a parallel loop that cannot be counted.
    """

    __slots__ = ()
    requires = frozenset({IRProperty.CallDirectionsResolved, IRProperty.RuntimeScopesMaterialized})
    produces = frozenset({IRProperty.IterArgCarryClassified, IRProperty.RuntimeScopesMaterialized})

    def run(self, program: ir.Program, context: PassContext) -> ir.Program:
        returned = ReturnedParameters(program.functions.values())
        functions = [
            _Classifying(function, Versions(function, returned)).rewrite(function)
            if function.func_type is FunctionType.Orchestration
            else function
            for function in program.functions.values()
        ]
        return build(program, functions=functions)


class _Classifying(Rewriter):
    def __init__(self, function: ir.Function, versions: Versions) -> None:
        super().__init__()
        self._owner = function
        self._versions = versions
        self._values = {id(s.var): s.value for s in statements(function.body) if isinstance(s, ir.AssignStmt)}
        self._starts: dict[int, ir.Expr] = {}  # of results that are the storage which the loop began with
        self._sizes: dict[int, int] = {}  # of results that are ids of tasks, one for each round
        self._in_manual: set[int] = set()  # loops, by what counts their rounds

    def before(self, stmt: ir.Stmt) -> ir.Stmt:
        if isinstance(stmt, ir.RuntimeScopeStmt) and stmt.manual:
            loops = (inner for inner in statements(stmt.body) if isinstance(inner, ir.ForStmt))
            self._in_manual |= {id(loop.loop_var) for loop in loops}
        return stmt

    def statement(self, stmt: ir.Stmt) -> ir.Stmt:
        if not isinstance(stmt, ir.ForStmt) or not stmt.iter_args:
            return stmt
        found: dict[str, bool | int] = {}
        carries = zip(stmt.iter_args, yielded(stmt.body), stmt.return_vars, strict=True)
        for place, (arg, value, result) in enumerate(carries):
            is_storage = self._is_storage_of(arg, value)
            found[f"{_REBIND}{place}"] = not is_storage
            if is_storage:
                self._starts[id(result)] = arg.initValue
            size = None if is_storage else self._size(stmt, arg, value)
            if size is not None:
                self._sizes[id(result)] = found[f"{_SIZE}{place}"] = size
        return build(stmt, attrs=stmt.attrs.with_(**found))

    def _is_storage_of(self, arg: ir.IterArg, value: ir.Expr) -> bool:
        """Whether what a round yields is the storage that the round was given, written further or not at all.

        Arrays are values: one of which an element is replaced is another one.
        """
        if isinstance(arg.type, ir.ArrayType):
            return value is arg
        shown: ir.Expr | None = value
        while isinstance(shown, ir.Var) and shown is not arg:
            definition = self._values.get(id(shown))
            if definition is None:
                shown = self._starts.get(id(shown))
            else:
                shown = None if isinstance(definition, ir.Var) else self._versions.before(definition)
        return shown is arg

    def _size(self, loop: ir.ForStmt, arg: ir.IterArg, value: ir.Expr) -> int | None:
        """How many ids of tasks a carry is; None where it is one, or something else."""
        is_id = isinstance(arg.type, ir.ScalarType) and arg.type.dtype == DataType.TASK_ID
        if not is_id or id(loop.loop_var) not in self._in_manual:
            return None
        if loop.kind is not ForKind.Parallel:
            return self._sizes.get(id(value))
        rounds = rounds_of(loop)
        if rounds is None:
            what = (
                f"the parallel loop over {loop.loop_var.name_hint!r} hands on the ids of the tasks of its"
                f" rounds in {arg.name_hint!r}: how many these are has to be known, by constant bounds"
            )
            raise PassError(what, self._owner, loop)
        return len(rounds.numbers) or None
