"""What the parts of one kernel's emission share: names, constants, lines, and what variables stand for."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendType
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.streams.names import Constants, Names
from pypto_tmpl.streams.problems import Obstacle
from pypto_tmpl.streams.spelling import mlir_dtype
from pypto_tmpl.streams.templates import PtoTemplates
from pypto_tmpl.streams.values import Meaning, Value
from pypto_tmpl.streams.writer import Writer


class Kernel:
    """The state of one function while it is emitted."""

    def __init__(
        self, function: ir.Function, backend: BackendType, templates: PtoTemplates, with_places: bool
    ) -> None:
        self.function = function
        self.is_910b = backend is BackendType.Ascend910B
        self.templates = templates
        self.names = Names()
        self.constants = Constants(self.names, templates.values)
        self.writer = Writer(with_places)
        self.meanings: dict[ir.Var, Meaning] = {}
        self.sdma_workspace: Value | None = None
        self._by_name: dict[str, Meaning] = {}

    @property
    def is_cube(self) -> bool:
        """Whether the function runs on the cube core."""
        return self.function.func_type is ir.FunctionType.AIC

    def line(self, text: str) -> None:
        """One or more operations of the body."""
        self.writer.line(text)

    def temp(self, dtype: DataType) -> Value:
        """A numbered scalar."""
        return Value(self.names.temp(), mlir_dtype(dtype), dtype)

    def named(self, hint: str, dtype: DataType) -> Value:
        """A scalar named after a variable."""
        return Value(self.names.named(hint), mlir_dtype(dtype), dtype)

    def index_constant(self, value: int) -> Value:
        """A constant of type index."""
        return self.constants.integer(value, DataType.INDEX)

    def meaning(self, var: ir.Expr) -> Meaning:
        """What a variable stands for. Raises Obstacle where nothing binds it."""
        if not isinstance(var, ir.Var):
            what = (
                f"a {type(var).__name__} stands where a variable is expected: FlattenCallExpr binds it to one"
            )
            raise Obstacle(what, var.span)
        name, found = var.name_hint, self.meanings.get(var)
        if found is None and isinstance(var.type, ir.ScalarType):
            found = self._by_name.get(name)  # types may name the lane index of another kernel of the group
        if found is None:
            raise Obstacle(
                f"PTO codegen cannot materialize symbol '{name}' in function '{self.function.name}': "
                "nothing in it binds the symbol",
                var.span,
            )
        return found

    def is_bound(self, var: ir.Var) -> bool:
        """Whether a variable stands for something already."""
        return var in self.meanings

    def bind(self, var: ir.Var, meaning: Meaning) -> None:
        """Let a variable stand for something from here on."""
        self.meanings[var] = meaning
        if isinstance(var.type, ir.ScalarType):
            self._by_name[var.name_hint] = meaning
