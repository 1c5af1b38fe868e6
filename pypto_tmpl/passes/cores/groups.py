"""Groups of a cube kernel and a vector kernel."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendFacts
from pypto_tmpl.ir import FunctionType
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ops import facts
from pypto_tmpl.passes.base import PassError
from pypto_tmpl.passes.cores.kernel import TensorParams, evaluated_call
from pypto_tmpl.rewrite import Rewriter, build, clone

Pair = tuple[ir.Function, ir.Function]


def with_members_called(
    functions: Sequence[ir.Function], pairs: Mapping[str, Pair], backend: BackendFacts | None
) -> list[ir.Function]:
    """The functions with two in the place of each mixed kernel, and what calls both.

    A kernel that only groups call is called by these; any other becomes a group itself.
    """
    callers: dict[str, list[ir.Function]] = defaultdict(list)
    for function in functions:
        for node in ir.walk(function.body):
            if isinstance(node, ir.Call | ir.Submit) and isinstance(node.op, ir.GlobalVar):
                callers[node.op.name].append(function)
    taken = {function.name for function in functions}
    in_groups = {
        name: pairs[name]
        for name in pairs
        if callers[name] and all(caller.func_type is FunctionType.Group for caller in callers[name])
    }
    found: list[ir.Function] = []
    for function in functions:
        pair = pairs.get(function.name)
        if pair is None:
            is_group = function.func_type is FunctionType.Group
            found.append(_CallingBoth(in_groups).rewrite(function) if is_group and in_groups else function)
            continue
        for member in pair:
            if member.name in taken:
                what = f"a function named {member.name!r} exists: the kernel cannot be shared out"
                raise PassError(what, function, function)
        found += pair
        if function.name not in in_groups:
            found.append(group_of(function, pair))
    return _with_both_lanes(found) if backend and backend.requires.no_split_dual_aiv_dispatch else found


def group_of(kernel: ir.Function, pair: Pair) -> ir.Function:
    """The group that stands for a mixed kernel: it calls both and returns what the vector one gives."""
    span = kernel.span
    returned = next((s.value for s in statements(kernel.body) if isinstance(s, ir.ReturnStmt)), ())
    origins = TensorParams(kernel)
    params = [origins.of(value) for value in returned]
    cube, vector = (_call(member, kernel.params, kernel) for member in pair)
    body: list[ir.Stmt] = [ir.EvalStmt(cube, span)]
    values = [param for param in params if param is not None]
    if len(values) == len(params):
        body.append(ir.EvalStmt(vector, span))
        if values:
            body.append(ir.ReturnStmt(values, span))
    else:
        result = ir.Var("result", vector.type, span)
        body += [ir.AssignStmt(result, vector, span), ir.ReturnStmt([result], span)]
    group = build(kernel, func_type=FunctionType.Group, body=ir.SeqStmts(body, span))
    return with_own_variables(group)


def with_own_variables(function: ir.Function) -> ir.Function:
    """A function made of another, with variables of its own; its parameters stand where it does."""
    params = set(map(id, function.params))
    return clone(function, place=lambda var: function.span if id(var) in params else var.span)


def _call(member: ir.Function, args: Sequence[ir.Expr], kernel: ir.Function) -> ir.Call:
    """The call of a member with the arguments of its kernel."""
    types = kernel.return_types if member.func_type is FunctionType.AIV else ()
    type_ = ir.UnknownType() if not types else types[0] if len(types) == 1 else ir.TupleType(types)
    return ir.Call(ir.GlobalVar(member.name), list(args), None, None, type_, kernel.span)


class _CallingBoth(Rewriter):
    """Two calls in the place of one, in a group."""

    def __init__(self, pairs: Mapping[str, Pair]) -> None:
        super().__init__()
        self._pairs = pairs

    def statement(self, stmt: ir.Stmt) -> list[ir.Stmt]:
        call = evaluated_call(stmt)
        pair = (
            self._pairs.get(call.op.name) if call is not None and isinstance(call.op, ir.GlobalVar) else None
        )
        if call is None or pair is None:
            return [stmt]
        cube, vector = (build(call, op=ir.GlobalVar(member.name), span=stmt.span) for member in pair)
        first = ir.EvalStmt(build(cube, type=ir.UnknownType()), stmt.span)
        if isinstance(stmt, ir.AssignStmt):
            return [first, build(stmt, value=vector)]
        return [first, ir.EvalStmt(vector, stmt.span)]


def _with_both_lanes(functions: list[ir.Function]) -> list[ir.Function]:
    """Both lanes run the vector member of a group whose transfers all are of whole tiles."""
    by_name = {function.name: function for function in functions}
    marked: set[str] = set()
    for group in functions:
        if group.func_type is not FunctionType.Group:
            continue
        members = [by_name.get(call.op.name) for call in map(evaluated_call, statements(group.body)) if call]
        pair = [m for m in members if m is not None and m.func_type in (FunctionType.AIC, FunctionType.AIV)]
        codes = [code for member in pair for code in _codes(member)]
        if codes and not any(codes) and len({member.func_type for member in pair}) > 1:
            marked |= {m.name for m in pair if m.func_type is FunctionType.AIV and m.split is None}
    return [
        build(f, attrs=f.attrs.with_(dual_aiv_dispatch=True))
        if f.name in marked and not f.attrs.get("dual_aiv_dispatch") and "split_aiv" not in f.attrs
        else f
        for f in functions
    ]


def _codes(member: ir.Function) -> list[int]:
    """The split codes of what a member pushes and pops."""
    calls = [call for call in map(evaluated_call, statements(member.body)) if call is not None]
    return [call.kwargs.get("split", 0) for call in calls if facts.of_value(call).is_transfer]
