"""What all parts of the emitter of one function share: its facts, its templates, and its obstacles."""

from __future__ import annotations

from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.codegen.lazy import lazy
from pypto_tmpl.codegen.script_context import ScriptContext
from pypto_tmpl.codegen.unsupported import Unsupported
from pypto_tmpl.codegen.waiting import may_wait
from pypto_tmpl.domains.host import is_chip_orchestrator

Lines = list[str]


class Context:
    """One function of a script, and where in it the emitter is."""

    def __init__(self, script: ScriptContext, function: ir.Function) -> None:
        self.script = script
        self.function = function
        self.facts = script.kernels.facts[function.name]
        self.table = script.generator.table
        self.macros: Any = script.generator.expressions
        self.forms: Any = script.generator.statements
        self.on_host = function is script.host.function
        self.in_kernel = function.name in script.kernels.loading_functions
        self.in_manual_scope = self.in_task = False
        self.current_variable: ir.Var | None = None
        self.current_span = function.span
        self._wrong_dtypes: set[int] = set()

    @property
    def runs_tasks(self) -> bool:
        """Whether launches are tasks: of an orchestrator on a rank, some of which wait for other ranks."""
        return self._launches_waiters and not self.in_task

    @lazy
    def _launches_waiters(self) -> bool:
        if self.script.host.function is None or not is_chip_orchestrator(self.function):
            return False
        return may_wait(self.script.kernels, self.function)

    def report(self, what: str, span: ir.Span, unbound: str = "") -> None:
        """Note an obstacle; generation goes on, so that one error lists them all."""
        where = span if span.is_valid() else self.current_span
        variable = self.current_variable.name_hint if self.current_variable is not None else ""
        self.script.unsupported.append(Unsupported(what, self.function.name, variable, where, unbound))

    def check_dtype(self, node: ir.Expr) -> bool:
        """Whether a script can hold what ``node`` is; if not, its dtype is reported, once a function."""
        type_ = node.type
        if isinstance(type_, ir.ShapedType):
            is_known = type_.dtype.name in self.script.carriers
        elif isinstance(type_, ir.ScalarType):
            is_known = type_.dtype.get_bit() > 0
        else:
            return True
        if is_known:
            return True
        code = type_.dtype.code()
        if code not in self._wrong_dtypes:
            self._wrong_dtypes.add(code)
            self.report(f"dtype {type_.dtype.name} (code {code})", node.span)
        return False
