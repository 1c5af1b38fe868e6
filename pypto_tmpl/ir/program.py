"""Functions and programs (spec: IR, section 9)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Annotated

from pypto_tmpl.ir.attrs import AttrMap, AttrSource, attrs_of
from pypto_tmpl.ir.base import (
    DEFINITION,
    IGNORED,
    InternalError,
    IRNode,
    Stmt,
    Type,
    check_kind,
    node_tuple,
    set_fields,
)
from pypto_tmpl.ir.enums import FunctionType, Level, ParamDirection, Role, SplitMode
from pypto_tmpl.ir.expr import GlobalVar
from pypto_tmpl.ir.leaves import Var
from pypto_tmpl.ir.span import Span

_PLACES: dict[FunctionType, tuple[Level, Role]] = {
    FunctionType.Orchestration: (Level.CHIP, Role.Orchestrator),
    FunctionType.Graph: (Level.CHIP, Role.Orchestrator),
    FunctionType.InCore: (Level.CHIP_DIE, Role.SubWorker),
    FunctionType.AIC: (Level.AIC, Role.SubWorker),
    FunctionType.AIV: (Level.AIV, Role.SubWorker),
    FunctionType.Group: (Level.CORE_GROUP, Role.SubWorker),
}


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class Function(IRNode):
    """A function; level and role are derived from its type where that fixes them.

    Raises TypeError for params that are no list of Var or (Var, ParamDirection), ValueError for an
    explicit level or role that contradicts the function type.
    """

    params: Annotated[tuple[Var, ...], DEFINITION]
    param_directions: tuple[ParamDirection, ...]
    func_type: FunctionType
    level: Level | None
    role: Role | None
    attrs: AttrMap
    requires_runtime_binding: bool
    return_types: tuple[Type, ...]
    body: Stmt
    name: Annotated[str, IGNORED]

    def __init__(
        self,
        name: str,
        params: Sequence[Var | tuple[Var, ParamDirection]],
        return_types: Iterable[Type],
        body: Stmt,
        span: Span,
        type: FunctionType = FunctionType.Opaque,
        level: Level | None = None,
        role: Role | None = None,
        attrs: AttrSource = None,
        requires_runtime_binding: bool = False,
    ) -> None:
        check_kind(name, str, "name", self)
        check_kind(params, list, "params", self)
        check_kind(body, Stmt, "body", self)
        check_kind(type, FunctionType, "type", self)
        check_kind(span, Span, "span", self)
        check_kind(level, (Level, NoneType), "level", self)
        check_kind(role, (Role, NoneType), "role", self)
        check_kind(requires_runtime_binding, bool, "requires_runtime_binding", self)
        pairs = [_param(self, i, param) for i, param in enumerate(params)]
        found_level, found_role = _place(name, type, level, role)
        set_fields(
            self,
            span=span,
            params=tuple(var for var, _ in pairs),
            param_directions=tuple(direction for _, direction in pairs),
            func_type=type,
            level=found_level,
            role=found_role,
            attrs=attrs_of(attrs, "attrs", self),
            requires_runtime_binding=requires_runtime_binding,
            return_types=node_tuple(return_types, Type, "return_types", self),
            body=body,
            name=name,
        )

    @property
    def split(self) -> SplitMode | None:
        """Split mode of the attributes, None when absent or 0; ValueError for another code."""
        code = self.attrs.get("split", 0)
        return SplitMode(code) if code else None

    def __repr__(self) -> str:
        return f"<Function {self.name}>"


def _param(owner: Function, index: int, param: object) -> tuple[Var, ParamDirection]:
    if isinstance(param, Var):
        return param, ParamDirection.In
    if isinstance(param, tuple) and len(param) == 2:
        check_kind(param[0], Var, f"params[{index}][0]", owner)
        check_kind(param[1], ParamDirection, f"params[{index}][1]", owner)
        return param
    raise TypeError(f"Function.params[{index}] must be a Var or a (Var, ParamDirection) pair")


def _place(
    name: str, type: FunctionType, level: Level | None, role: Role | None
) -> tuple[Level | None, Role | None]:
    if type not in _PLACES:
        return level, role
    fixed_level, fixed_role = _PLACES[type]
    if level not in (None, fixed_level):
        raise ValueError(f"{name}: a function of type {type.name} has level {fixed_level.name}, not {level}")
    if role not in (None, fixed_role):
        raise ValueError(f"{name}: a function of type {type.name} has role {fixed_role.name}, not {role}")
    return fixed_level, fixed_role


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class Program(IRNode):
    """Functions by name, in byte order of their names.

    Raises InternalError for an empty name, ValueError for two functions of one name.
    """

    name: Annotated[str, IGNORED]
    functions: dict[GlobalVar, Function]

    def __init__(self, functions: Iterable[Function], name: str, span: Span) -> None:
        check_kind(name, str, "name", self)
        check_kind(span, Span, "span", self)
        by_name: dict[str, Function] = {}
        for index, function in enumerate(node_tuple(functions, (Function, NoneType), "functions", self)):
            if function is None:
                raise InternalError(f"Program.functions[{index}] must be Function, got NoneType")
            if not function.name:
                raise InternalError(f"Program.functions[{index}] must have a name")
            if function.name in by_name:
                raise ValueError(f"Program.functions[{index}]: two functions are named {function.name!r}")
            by_name[function.name] = function
        ordered = sorted(by_name, key=lambda key: key.encode("utf-8", "surrogatepass"))
        set_fields(self, span=span, name=name, functions={GlobalVar(key): by_name[key] for key in ordered})

    def get_function(self, name: str) -> Function | None:
        return self.functions.get(GlobalVar(name))

    def __getitem__(self, name: str) -> Function | None:
        return self.get_function(name)

    def get_global_var(self, name: str) -> GlobalVar | None:
        return GlobalVar(name) if GlobalVar(name) in self.functions else None

    def __repr__(self) -> str:
        return f"<Program {self.name}>"
