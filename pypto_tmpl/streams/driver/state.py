"""What is known while one host function is emitted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pypto_tmpl import ir
from pypto_tmpl.streams.driver.names import BlockNames
from pypto_tmpl.streams.driver.values import Buffer, Created, HostTensor, Meaning, Scalar, Window
from pypto_tmpl.streams.problems import BrokenError, Obstacle
from pypto_tmpl.streams.templates import CppTemplates

_STEP = "    "


class State:
    """The lines, names and meanings of one host function.

    ``definitions`` are the scalars that it computes: windows are sized where their domain begins, which may
    stand before the size is computed.
    """

    def __init__(self, templates: CppTemplates, definitions: Mapping[ir.Var, ir.Expr]) -> None:
        self.templates = templates
        self.macros = templates.driver
        self.definitions = definitions
        self.lines: list[str] = []
        self.names = BlockNames()
        self.keys = BlockNames()
        self.domains: list[str] = []
        self.created: list[Created] = []
        self.broken: set[ir.Var] = set()
        self.meanings: dict[ir.Var, Meaning] = {}
        self._depth = 1
        self._blocks = 0
        self._tasks = 0

    def line(self, text: str) -> None:
        """Lines of the body; each is indented as the block at hand is."""
        for line in text.removesuffix("\n").split("\n"):
            self.lines.append(f"{_STEP * self._depth}{line}" if line else "")

    @contextmanager
    def suite(self) -> Iterator[None]:
        """The lines below one that ends with a colon."""
        self._depth += 1
        count = len(self.lines)
        yield
        if len(self.lines) == count:
            self.line(self.macros.nothing())
        self._depth -= 1

    @contextmanager
    def block(self) -> Iterator[None]:
        """A loop or a branch, whose names end with it."""
        self._blocks += 1
        with self.names.block(), self.keys.block():
            yield
        self._blocks -= 1

    @property
    def is_outermost(self) -> bool:
        """Whether the statement at hand runs exactly once."""
        return not self._blocks

    def next_task(self) -> str:
        """The name of a task's arguments."""
        self._tasks += 1
        return f"_ta_{self._tasks - 1}"

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
        if found is None:
            raise Obstacle(f"nothing binds {expr.name_hint!r}", expr.span)
        return found

    def tensor(self, expr: ir.Expr) -> HostTensor:
        """A tensor of the host. Raises Obstacle for anything else."""
        found = self.meaning(expr)
        if not isinstance(found, HostTensor):
            raise Obstacle("a tensor of the host is expected here", expr.span)
        return found

    def window(self, expr: ir.Expr) -> Window:
        """A window. Raises Obstacle for anything else."""
        found = self.meaning(expr)
        if not isinstance(found, Window):
            raise Obstacle("a window is expected here", expr.span)
        return found

    def buffer(self, expr: ir.Expr) -> Buffer:
        """A window buffer. Raises Obstacle for anything else."""
        found = self.meaning(expr)
        if not isinstance(found, Buffer):
            raise Obstacle("a window buffer of an open domain is expected here", expr.span)
        return found

    def named(self, var: ir.Var) -> Scalar:
        """A variable of Python for a scalar."""
        found = Scalar(self.names.take(var.name_hint))
        self.bind(var, found)
        return found

    def keyed(self, var: ir.Var) -> HostTensor:
        """A place among the tensors for a tensor of the host."""
        found = HostTensor(self.keys.take(var.name_hint))
        self.bind(var, found)
        return found
