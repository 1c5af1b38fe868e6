"""Binding variables: one to a value, with the checks of it, or several at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.codegen.calls import OperatorCalls
from pypto_tmpl.codegen.context import Context, Lines
from pypto_tmpl.codegen.expressions import Expressions
from pypto_tmpl.codegen.facts import BOXES
from pypto_tmpl.codegen.lazy import lazy
from pypto_tmpl.codegen.operands import CallError
from pypto_tmpl.codegen.packed import carrier_name, is_packed
from pypto_tmpl.codegen.precedence import without_brackets_of_tuple
from pypto_tmpl.codegen.valid_regions import ValidRegions
from pypto_tmpl.codegen.values import Values
from pypto_tmpl.codegen.variables import Variables
from pypto_tmpl.ops.sources import identifiers


@lru_cache(maxsize=4096)
def _check_text(forms: Any, macros: Any, name: str, extents: tuple[int | None, ...], carrier: str) -> str:
    """The check of a tensor or tile; an extent that is not known is not checked."""
    shape = [macros.nothing() if extent is None else macros.literal(extent) for extent in extents]
    return str(forms.check_tensor(name, shape, carrier))


class Assignments:
    """Texts that give variables their values and regions."""

    def __init__(
        self,
        context: Context,
        variables: Variables,
        values: Values,
        expressions: Expressions,
        valid: ValidRegions,
        calls: OperatorCalls,
    ) -> None:
        self._context, self._macros, self._forms = context, context.macros, context.forms
        self._variables, self._values, self._expressions = variables, values, expressions
        self._valid, self._calls = valid, calls
        self._has_poison = context.script.options.poison

    def assign(self, var: ir.Var, value: ir.Expr) -> Lines:
        context = self._context
        context.current_variable = var
        context.check_dtype(var)
        if self._has_poison:
            self._calls.suspects.clear()
        text = (
            self._expressions.viewed(value, var)
            if isinstance(value, ir.Var)
            else self._expressions.alone(value)
        )
        if self._has_quiet and self._needs_no_name(var, value, text):
            context.current_variable = None
            return []
        bind = self._with_companions if self._has_companions else self._named
        lines = bind(var, value, text)
        context.current_variable = None
        if self._has_poison:
            lines += self._check_poison(var)
        if context.script.check_shapes:
            lines += self._check(var, value)
        return lines

    @lazy
    def _has_quiet(self) -> bool:
        quiet = self._values.quiet
        return quiet is not None and bool(quiet.unread or quiet.moves)

    @lazy
    def _has_companions(self) -> bool:
        """Whether variables of the function have names besides their own."""
        return self._values.runtime_regions.holds_any or self._values.edges.holds_any

    def _named(self, var: ir.Var, value: ir.Expr, text: str) -> Lines:
        """Give the name of a variable its value."""
        name = self._variables.bind(var)
        return [] if name == text else [self._forms.assign(name, text)]

    def _with_companions(self, var: ir.Var, value: ir.Expr, text: str) -> Lines:
        """An assignment with those of the names besides, all at once where one needs what another had."""
        regions = self._values.runtime_regions
        holds_region = regions.holds(var)
        region = None if not holds_region or regions.is_new(value) else self._valid.region_text(value)
        if region is None:
            lines = self._named(var, value, text)
            if holds_region:
                name = self._variables.name_of(var)
                lines.append(self._forms.assign(self._variables.companion(var), self._macros.region(name)))
        else:
            pairs = [(self._variables.bind(var), text), (self._variables.companion(var), region)]
            if pairs[0][0] in identifiers(region):  # the region is the old value's
                lines = self.assign_all(pairs)
            else:
                lines = [*self._named(var, value, text), *self.assign_all(pairs[1:])]
        if self._values.edges.holds_any:
            lines += self.assign_all(self._starts(var, value))
        return lines

    def _starts(self, var: ir.Var, value: ir.Expr | None) -> list[tuple[str, str]]:
        """The names of where the cells of ``var`` begin, if it has some, and their texts."""
        try:
            starts = [*self._values.edges.bound(var, value)]
        except CallError as error:
            self._context.report(error.what, var.span)
            return []
        texts = [self._expressions.alone(start) for _, start in starts]
        return [(self._variables.bind(name), text) for (name, _), text in zip(starts, texts, strict=True)]

    def whole(self, var: ir.Var) -> Lines:
        """What tells of a variable, if it has names for that, that no cell of it lies before its tensor."""
        return self.assign_all(self._starts(var, None)) if self._values.edges.holds_any else []

    def freed(self, value: ir.Expr) -> Lines:
        """What is done besides where a slot of a pipe is given back."""
        return []

    def _needs_no_name(self, var: ir.Var, value: ir.Expr, text: str) -> bool:
        """Whether a statement can be left out: it makes what nobody reads, or a second name of a value."""
        quiet = self._values.quiet
        if quiet is None:
            return False
        if id(var) in quiet.unread:
            self._variables.bind(var)  # a workspace has a name where ops take it, which none of them writes
            return True
        if quiet.may_share_name(var, value):
            source = value.args[0] if isinstance(value, ir.Call) else None
            if isinstance(source, ir.Var) and text == self._variables.name_of(source):
                self._variables.share_name(var, source)
                if self._values.runtime_regions.holds(var):
                    self._variables.share_companion(var, source)
                return True
        return False

    def unpack(self, made: ir.Var, value: ir.Expr, parts: Mapping[int, ir.Var]) -> Lines:
        """Bind elements of a tuple, by index, without a name for it."""
        assert isinstance(made.type, ir.TupleType)
        self._context.current_variable = made
        text = self._expressions.alone(value)
        self._context.current_variable = None
        names = [
            self._variables.bind(parts[index]) if index in parts else self._macros.unused()
            for index in range(len(made.type.types))
        ]
        return [self._forms.assign_all(names, [without_brackets_of_tuple(text)])]

    def unpacked(self, var: ir.Var, value: ir.Expr) -> Lines:
        """The check of an element that has been bound."""
        self._context.check_dtype(var)
        return self._check(var, value)

    def _check_poison(self, var: ir.Var) -> Lines:
        """A check of the value just bound, if poison may have reached valid cells of it."""
        name, type_ = self._variables.name_of(var), var.type
        found = dict.fromkeys(suspect for suspect in self._calls.suspects if suspect.text != name)
        if not found or not isinstance(type_, ir.ShapedType) or not type_.dtype.is_float():
            return []
        region = self._valid.region(var)
        valid = self._macros.nothing() if region is None else region[0]
        sources = [
            self._macros.tuple_of([suspect.text, suspect.region or self._macros.nothing()])
            for suspect in found
        ]
        mixes = any(suspect.mixes for suspect in found)
        return [self._forms.check_poison(name, valid, sources, mixes)]

    def _check(self, var: ir.Var, value: ir.Expr) -> Lines:
        type_ = var.type
        if self._context.on_host and isinstance(type_, ir.DistributedTensorType):
            return []  # a view of all ranks, which is no tensor
        if not self._context.script.check_shapes or not isinstance(type_, BOXES):
            return []
        if type_.dtype.name not in self._context.script.carriers:
            return []
        return self.check_of(var, self._values.is_window(value))

    def check_of(self, var: ir.Var, may_be_clipped: bool) -> Lines:
        """The check of a tensor or tile: its dtype, and those extents that are fixed and never clipped."""
        type_ = var.type
        assert isinstance(type_, ir.ShapedType)
        extents = [
            dim.value if type(dim) is ir.ConstInt and not may_be_clipped else None for dim in type_.shape
        ]
        if extents and extents[-1] is not None and is_packed(type_):
            extents[-1] //= 2
        name, carrier = self._variables.name_of(var), carrier_name(type_)
        return [_check_text(self._forms, self._macros, name, tuple(extents), carrier)]

    @contextmanager
    def in_loop(self) -> Iterator[Lines]:
        """Take the statements of a loop; what they give is complete behind it, and stands before the loop."""
        yield []

    # Simultaneous assignment

    def carry(self, targets: Sequence[ir.Var], values: Sequence[ir.Expr]) -> Lines:
        """Bind all targets at once: every value is computed before any variable changes."""
        texts = []
        for target, value in zip(targets, values, strict=False):
            self._context.current_variable = target
            texts.append(self._expressions.viewed(value, target))
        self._context.current_variable = None
        pairs: list[tuple[str, str]] = []
        before, after = Lines(), Lines()
        for target, value, text in zip(targets, values, texts, strict=False):
            is_held = self._values.runtime_regions.holds(target)
            region = (
                self._valid.region_text(value)
                if is_held and not self._values.runtime_regions.is_new(value)
                else None
            )
            pairs += self._carried(target, value, text, before)
            if self._values.edges.holds_any:
                pairs += self._starts(target, value)
            if region is not None:
                pairs.append((self._variables.companion(target), region))
            elif is_held:
                name = self._variables.bind(target)
                after.append(self._forms.assign(self._variables.companion(target), self._macros.region(name)))
        return before + self._carried_together() + self.assign_all(pairs) + after

    def _carried_together(self) -> Lines:
        """What moves values to where those lie that have just been carried, behind what makes these."""
        return []

    def results(self, loop: ir.ForStmt | ir.WhileStmt) -> Lines:
        """Bind what a loop leaves behind, but for what nothing reads."""
        targets, values, quiet = loop.return_vars, loop.iter_args, self._values.quiet
        if quiet is not None and any(map(quiet.is_unread_result, targets)):
            read = [at for at, var in enumerate(targets) if not quiet.is_unread_result(var)]
            targets, values = tuple(targets[at] for at in read), tuple(values[at] for at in read)
        return self.carry(targets, values)

    def _carried(self, target: ir.Var, value: ir.Expr, text: str, before: Lines) -> Iterable[tuple[str, str]]:
        """Names with what they are assigned, so that a variable has its value; ``before`` runs first."""
        return [(self._variables.bind(target), text)]

    def assign_all(self, pairs: Iterable[tuple[str, str]]) -> Lines:
        changing = [pair for pair in pairs if pair[0] != pair[1]]
        if not changing:
            return []
        if len(changing) == 1:
            return [self._forms.assign(*changing[0])]
        targets, texts = zip(*changing, strict=True)
        return [self._forms.assign_all(list(targets), list(texts))]
