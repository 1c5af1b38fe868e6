"""The function of a stage that is run, and how its parameters meet the tensors by name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from pypto_tmpl import ir
from pypto_tmpl.domains.host import is_host
from pypto_tmpl.errors import PyptoTmplError, allowed_note
from pypto_tmpl.ir.bodies import last_of

_ENTRY_TYPES = (ir.FunctionType.Orchestration, ir.FunctionType.Opaque)
_REMEDY = "make it the only orchestration function; `validate` also takes its name as entry"
_SSA_SUFFIX = re.compile(r"__(?:ssa|iter|rv|phi|idx|tmp)_v\d+$")


class EntryError(PyptoTmplError, ValueError):
    """It is not clear which function to run."""

    slug = "entry"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the entry; ``name`` is the user's, without the suffix that SSA form gives it.

    ``direction`` is In, Out or InOut. The extents in the ``shape`` of a tensor are numbers, names of dynamic
    dimensions, or None for other expressions; what is no tensor has none. ``exact`` is the name in the IR,
    which is ``name`` too where two parameters differ by the suffix only; it is "" where it is not known. A
    handle is of unknown type, as the runtime of a host is, which has no value here.
    """

    name: str
    direction: str
    dtype: str = ""
    shape: tuple[int | str | None, ...] | None = None
    is_scalar: bool = False
    exact: str = ""
    is_handle: bool = False

    @property
    def is_pure_output(self) -> bool:
        return self.direction == ir.ParamDirection.Out.name

    @property
    def is_written(self) -> bool:
        return self.direction != ir.ParamDirection.In.name

    @property
    def is_packed(self) -> bool:
        """Whether two elements share one of torch's."""
        return self.dtype == "FP4"


@dataclass(frozen=True, slots=True)
class Entry:
    """A function to run: its name in the IR and in the script, its parameters, the names it returns.

    ``is_kernel`` tells that it is one that others launch, perhaps on a part of a tensor.
    """

    name: str
    script_name: str
    parameters: tuple[Parameter, ...]
    returned: tuple[str, ...] = ()
    is_kernel: bool = False

    def is_called_like(self, other: Entry) -> bool:
        """Whether the same tensors are an entry's arguments, and its outputs are found alike."""
        return self._call() == other._call()

    def _call(self) -> tuple[object, ...]:
        parameters = [(p.name, p.is_scalar, p.is_pure_output) for p in self.parameters]
        return self.name, self.script_name, parameters, self.returned, self.is_kernel


def user_name(name: str) -> str:
    """The user's name of an SSA variable: ``attn__ssa_v0`` is ``attn``."""
    return _SSA_SUFFIX.sub("", name)


def functions_of(node: ir.Program | ir.Function) -> list[ir.Function]:
    """The functions of a program, or the one function."""
    return list(node.functions.values()) if isinstance(node, ir.Program) else [node]


def select_entry(
    node: ir.Program | ir.Function, tensors: Collection[str] = (), wanted: str | None = None
) -> ir.Function:
    """The function to run: ``wanted``, else the only candidate.

    Candidates are those that orchestrate ranks from the host, else the orchestration functions, else the
    opaque ones, else all; of several those that no other function calls. Of several of these the only one
    whose parameters are all among ``tensors``, else the only function of all of which that holds, else the
    same where pure outputs may be missing.
    Raises EntryError with the candidates.
    """
    functions = functions_of(node)
    if wanted is not None:
        return _named(functions, wanted)
    if not functions:
        raise EntryError("the program has no function to run")
    candidates = entry_candidates(functions)
    if len(candidates) == 1:
        return candidates[0]
    known = {user_name(name) for name in tensors}
    for needed in (_parameters, _inputs) if known else ():
        for group in (candidates, functions):
            matching = [f for f in group if needed(f) <= known]
            if len(matching) == 1:
                return matching[0]
    raise EntryError(
        f"which of {len(functions)} functions is the entry is not clear",
        notes=["candidates:", *(f"  {_signature(f)}" for f in candidates), _REMEDY],
    )


def _parameters(function: ir.Function) -> set[str]:
    return {user_name(parameter.name_hint) for parameter in function.params}


def _inputs(function: ir.Function) -> set[str]:
    """The parameters but for pure outputs."""
    pairs = zip(function.params, function.param_directions, strict=True)
    return {user_name(p.name_hint) for p, direction in pairs if direction is not ir.ParamDirection.Out}


def entry_candidates(functions: list[ir.Function]) -> list[ir.Function]:
    """The functions among which ``select_entry`` chooses, as far as their kinds and calls tell."""
    hosts = [function for function in functions if is_host(function)]
    if hosts:
        return hosts
    for kind in _ENTRY_TYPES:
        found = [function for function in functions if function.func_type is kind]
        if found:
            break
    else:
        found = functions
    if len(found) == 1:
        return found
    called = _called(functions)
    return [function for function in found if function.name not in called] or found


def _named(functions: list[ir.Function], wanted: str) -> ir.Function:
    for function in functions:
        if function.name == wanted:
            return function
    names = [function.name for function in functions]
    raise EntryError(f"there is no function {wanted!r}", notes=[allowed_note("functions", names, wanted)])


def _called(functions: Iterable[ir.Function]) -> set[str]:
    """Names of the functions that another one calls or launches."""
    return {
        node.op.name
        for function in functions
        for node in ir.walk(function)
        if isinstance(node, ir.Call | ir.Submit) and node.op.name != function.name
    }


def _signature(function: ir.Function) -> str:
    parameters = ", ".join(user_name(parameter.name_hint) for parameter in function.params)
    return f"{function.name}({parameters}), {function.func_type.name}"


def describe_entry(function: ir.Function, script_name: str) -> Entry:
    """What a caller has to know of the entry."""
    pairs = zip(function.params, function.param_directions, strict=True)
    same = Counter(user_name(var.name_hint) for var in function.params)
    parameters = tuple(
        _parameter(var, direction, same[user_name(var.name_hint)] == 1) for var, direction in pairs
    )
    is_kernel = function.func_type not in _ENTRY_TYPES
    return Entry(function.name, script_name, parameters, returned_names(function.body), is_kernel)


def _parameter(var: ir.Var, direction: ir.ParamDirection, is_unique: bool) -> Parameter:
    type_ = var.type
    has_shape = isinstance(type_, ir.TensorType) and not isinstance(type_, ir.DistributedTensorType)
    return Parameter(
        name=user_name(var.name_hint) if is_unique else var.name_hint,
        direction=direction.name,
        dtype=type_.dtype.name if isinstance(type_, ir.ShapedType | ir.ScalarType) else "",
        shape=tuple(map(_extent, type_.shape)) if isinstance(type_, ir.TensorType) and has_shape else None,
        is_scalar=isinstance(type_, ir.ScalarType),
        exact=var.name_hint,
        is_handle=isinstance(type_, ir.UnknownType),
    )


def _extent(dim: ir.Expr) -> int | str | None:
    if isinstance(dim, ir.ConstInt):
        return dim.value
    return user_name(dim.name_hint) if isinstance(dim, ir.Var) else None


def returned_names(body: ir.Stmt) -> tuple[str, ...]:
    """The user's names of the values in a return statement at the end of the body; "" for other values."""
    last = last_of(body)
    if not isinstance(last, ir.ReturnStmt):
        return ()
    return tuple(user_name(v.name_hint) if isinstance(v, ir.Var) else "" for v in last.value)
