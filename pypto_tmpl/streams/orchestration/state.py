"""What the parts of one orchestration function's emission share: names, blocks, lines, variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendFacts
from pypto_tmpl.streams.orchestration.names import CppNames, base_of
from pypto_tmpl.streams.orchestration.values import Cpp, Meaning
from pypto_tmpl.streams.problems import BrokenError, Obstacle
from pypto_tmpl.streams.templates import CppTemplates

_STEP = "    "


class State:
    """One orchestration function while it is emitted.

    ``hoists`` says of variables before how many of the scopes around them they are declared: scopes hide
    no names in the IR, blocks of C++ do. Variables that would have to be declared further out are gathered
    in ``escaped``, and the function is emitted again.
    """

    def __init__(
        self,
        function: ir.Function,
        facts: BackendFacts,
        templates: CppTemplates,
        hoists: Mapping[ir.Var, int],
    ) -> None:
        self.function = function
        self.facts = facts
        self.templates = templates
        self.hoists = hoists
        self.names = CppNames()
        self.lines: list[str] = []
        self.meanings: dict[ir.Var, Meaning] = {}
        self.broken: set[ir.Var] = set()
        self.escaped: set[ir.Var] = set()
        self.tensors: dict[str, str] = {}  # of the caller, with the names of the parameters
        self.symbols: dict[ir.Var, str] = {}  # extents that the text names
        self.barriers = 0
        self._batches = 0
        self._depth = 1
        self._block = 0
        self._blocks: list[int] = [0]
        self._declared: dict[str, tuple[ir.Var, int]] = {}
        self._extents = _extents(function)

    # Lines and blocks

    def line(self, text: str) -> None:
        """Lines of the body; each is indented as the block at hand is."""
        for line in text.removesuffix("\n").split("\n"):
            self.lines.append(f"{_STEP * self._depth}{line}" if line else "")

    @contextmanager
    def block(self) -> Iterator[None]:
        """The lines between the braces of a block; what is declared there ends with it."""
        self._depth += 1
        self._block += 1
        self._blocks.append(self._block)
        yield
        self._blocks.pop()
        self._depth -= 1

    def next_batch(self) -> str:
        """The name of a batch of tensors."""
        self._batches += 1
        return f"alloc_{self._batches - 1}"

    # Names

    def declare(self, var: ir.Var, *, whole: bool = False) -> str:
        """A name for a variable that is declared in the block at hand, or has been before it."""
        known = self.meanings.get(var)
        if var in self.hoists and isinstance(known, Cpp):
            return known.name
        name = self.names.take(var.name_hint, whole=whole)
        self._declared[name] = var, self._blocks[-1]
        return name

    def declare_loop_variable(self, var: ir.Var) -> str:
        """The name of what counts the rounds of a loop: others may have had it, but none that can be seen."""
        visible = {name for name, (_, block) in self._declared.items() if block in self._blocks}
        name = base_of(var.name_hint) or "i"
        if name in visible:
            name = self.names.take(var.name_hint, whole=True)
        return name

    def declare_in_block(self, name: str, var: ir.Var) -> None:
        """Note that a name belongs to a variable in the block at hand."""
        self._declared[name] = var, self._blocks[-1]

    def is_declared_for(self, name: str, var: ir.Var) -> bool:
        """Whether a name is that of a variable, and not of another one that it is the same as."""
        return name in self._declared and self._declared[name][0] is var

    def is_declared(self, name: str) -> bool:
        """Whether a name is declared in an open block."""
        return name in self._declared and self._declared[name][1] in self._blocks

    def own_name(self, tensor: str) -> str | None:
        """The name of the parameter that a tensor of the caller is; None for any other tensor."""
        return self.tensors.get(tensor)

    @property
    def first_tensor(self) -> str:
        """The first tensor of the caller, "" where there is none."""
        return next(iter(self.tensors), "")

    def is_hoisted(self, var: ir.Var) -> bool:
        """Whether the declaration of a variable stands before the scope that it is in."""
        return var in self.hoists and var in self.meanings

    # Meanings

    def bind(self, var: ir.Var, meaning: Meaning) -> None:
        """Let a variable stand for something from here on."""
        self.meanings[var] = meaning

    def meaning(self, expr: ir.Expr) -> Meaning:
        """What a variable stands for. Raises Obstacle where nothing binds it."""
        if not isinstance(expr, ir.Var):
            raise Obstacle(f"a {type(expr).__name__} stands where a variable is expected", expr.span)
        if expr in self.broken:
            raise BrokenError
        found = self.meanings.get(expr)
        if found is None and expr in self._extents:
            found = self._symbol(expr)
        if found is None:
            raise Obstacle(f"nothing binds {expr.name_hint!r}", expr.span)
        if isinstance(found, Cpp) and not self.is_visible(found):
            self.escaped.add(self._declared[found.name][0])
        return found

    def is_visible(self, meaning: Cpp) -> bool:
        """Whether the block that declares a name is still open."""
        declared = self._declared.get(meaning.name)
        return declared is None or declared[1] in self._blocks

    def variable(self, expr: ir.Expr) -> Cpp:
        """The C++ variable of a variable."""
        found = self.meaning(expr)
        if not isinstance(found, Cpp):
            raise Obstacle(f"the results of a launch are no single value: {expr}", expr.span)
        return found

    def _symbol(self, var: ir.Var) -> Cpp:
        """The extent of a tensor of the caller."""
        name = self.names.take(var.name_hint, whole=True)
        self.symbols[var] = name
        self.bind(var, Cpp(name))
        return Cpp(name)

    def symbol_sources(self) -> list[tuple[str, int, int]]:
        """The extents that the text names: name, number of the tensor, axis."""
        used = {var: self._extents[var] for var in self.symbols}
        return [(self.symbols[var], *at) for var, at in sorted(used.items(), key=lambda item: item[1])]


def _extents(function: ir.Function) -> dict[ir.Var, tuple[int, int]]:
    """Where symbolic extents stand: the first tensor among the parameters, and the axis."""
    found: dict[ir.Var, tuple[int, int]] = {}
    params = set(function.params)
    tensors = [param for param in function.params if isinstance(param.type, ir.TensorType)]
    for number, param in enumerate(tensors):
        assert isinstance(param.type, ir.TensorType)
        for axis, extent in enumerate(param.type.shape):
            if isinstance(extent, ir.Var) and extent not in params:
                found.setdefault(extent, (number, axis))
    return found
