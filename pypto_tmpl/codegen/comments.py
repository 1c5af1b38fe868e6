"""Comments that say what a reader cannot see in a script: types of values, and source lines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from pypto_tmpl import ir
from pypto_tmpl.codegen.context import Context, Lines
from pypto_tmpl.codegen.expressions import Expressions
from pypto_tmpl.codegen.lazy import lazy
from pypto_tmpl.codegen.values import Values
from pypto_tmpl.codegen.variables import Variables


class _KnownNames:
    """The names that a comment may use: those of the script, else those of the IR; none is made up for it."""

    def __init__(self, variables: Variables) -> None:
        self._variables = variables
        self.unbound: list[ir.Var] = []

    def name_of(self, var: ir.Var) -> str:
        return self._variables.name_of(var) if self._variables.is_bound(var) else var.name_hint

    def forget(self, reported: int) -> None:
        """There is nothing to forget."""


class Comments:
    """Texts of comments in one function; none is made unless it is asked for."""

    def __init__(self, context: Context, variables: Variables, values: Values) -> None:
        self._context, self._forms = context, context.forms
        self._variables, self._values = variables, values
        self._last_place = ("", 0)

    @lazy
    def _extents(self) -> Expressions:
        return Expressions(self._context, _KnownNames(self._variables))

    def source_line(self, stmt: ir.Stmt) -> Lines:
        """The source line of a statement, unless the one before it has the same."""
        span = stmt.span
        place = (PurePath(span.filename).name, span.begin_line)
        if not span.is_valid() or place == self._last_place:
            return []
        self._last_place = place
        return [self._forms.comment(self._forms.source_place(*place))]

    def note_types(self, stmt: ir.AssignStmt) -> None:
        """Have the line of a statement end in the types of the tiles and tensors that it binds."""
        quiet = self._values.quiet
        parts = quiet.parts.get(id(stmt)) if quiet is not None else None
        bound = [stmt.var] if parts is None else [parts[index] for index in sorted(parts)]
        if all(isinstance(var.type, ir.TensorType | ir.TileType) for var in bound):
            remark = self._forms.remark([self._type_text(var) for var in bound])
            self._context.script.marks.remark(stmt, remark)

    def _type_text(self, var: ir.Var) -> str:
        type_ = var.type
        assert isinstance(type_, ir.ShapedType)
        valid = self._values.known_extents(var)
        region = None if valid is None else self._texts(valid)
        return str(self._forms.value_type(type_.dtype.name, self._texts(type_.shape), region))

    def _texts(self, extents: Sequence[ir.Expr]) -> list[str]:
        return [self._extents.again(extent) for extent in extents]
