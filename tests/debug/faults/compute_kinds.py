"""Faults in what is computed: ops, their operands and constants, rounding, loops, accumulation."""

from collections.abc import Iterator

from debug.faults.statements import (
    Mutation,
    Place,
    calls,
    expressions,
    operand,
    own_expressions,
    places,
    same_form,
    with_argument,
    with_expression,
    with_keyword,
)

from pypto_tmpl import ir
from pypto_tmpl.ops import load_table
from pypto_tmpl.rewrite import build

# The order of their operands does not count, so swapping these is no fault.
COMMUTATIVE = ("add", "mul", "maximum", "minimum", "and_", "or_", "xor", "eq", "ne")
# Constants of these are sizes, ports and names.
WITHOUT_VALUES = ("alloc", "create", "initialize_pipe", "reserve_buffer", "import_peer_buffer")
ORDERED_SCALARS = (ir.Sub, ir.FloorDiv, ir.FloorMod, ir.FloatDiv, ir.Lt, ir.Le, ir.Gt, ir.Ge)


def dropped_op(program: ir.Program) -> Iterator[Mutation]:
    """An op is left out: what read its result reads one of its operands, of the same form."""
    definitions: dict[tuple[str, str], int] = {}
    for place in places(program):
        if isinstance(place.statement, ir.AssignStmt):
            key = (place.function, place.statement.var.name_hint)
            definitions[key] = definitions.get(key, 0) + 1
    for place in places(program):
        statement = place.statement
        if not isinstance(statement, ir.AssignStmt) or not isinstance(statement.value, ir.Call):
            continue
        if isinstance(statement.value.op, ir.GlobalVar):
            continue
        if definitions[place.function, statement.var.name_hint] > 1:
            continue  # before SSA form: what reads this assignment is not known from the name
        for argument in statement.value.args:
            if isinstance(argument, ir.Var) and same_form(argument.type, statement.var.type):
                op, lost = statement.value.op.name, statement.var
                how = f"no {op}: {argument.name_hint} instead of {lost.name_hint}"
                yield Mutation(place, how, None, ((lost, argument),))


def swapped_operands(program: ir.Program) -> Iterator[Mutation]:
    """Two operands of the same form change places."""
    for place in places(program):
        if not isinstance(place.statement, ir.AssignStmt | ir.EvalStmt):
            continue
        for root in own_expressions(place.statement):
            for found in expressions(root):
                if isinstance(found, ORDERED_SCALARS):
                    wrong = build(found, left=found.right, right=found.left)
                    yield Mutation(
                        place, f"{wrong} instead of {found}", with_expression(place.statement, found, wrong)
                    )
                elif isinstance(found, ir.Call) and not found.op.name.endswith(COMMUTATIVE):
                    yield from _arguments_swapped(place, found)


def _arguments_swapped(place: Place, call: ir.Call) -> Iterator[Mutation]:
    for second in range(1, len(call.args)):
        for first in range(second):
            left, right = call.args[first], call.args[second]
            if left is right or not same_form(left.type, right.type):
                continue
            args = list(call.args)
            args[first], args[second] = right, left
            how = f"{call.op.name} with {right} and {left} swapped"
            wrong = build(call, args=tuple(args))
            yield Mutation(place, how, with_expression(place.statement, call, wrong))


def wrong_rounding_mode(program: ir.Program) -> Iterator[Mutation]:
    """A cast rounds in another way."""
    for place in places(program):
        for call in calls(place.statement):
            if not call.op.name.endswith(".cast") or "mode" not in call.kwargs:
                continue
            codes = next(spec.values for spec in load_table()[call.op.name].kwargs if spec.name == "mode")
            names = {code: name for name, code in codes.items()}
            right = call.kwargs["mode"]
            for code in (codes[name] for name in ("rint", "round", "floor", "ceil", "trunc")):
                if code != right:
                    how = f"rounds by {names[code]} instead of {names[right]}"
                    wrong = with_keyword(call, "mode", code)
                    yield Mutation(place, how, with_expression(place.statement, call, wrong))


def lost_init_cond(program: ir.Program) -> Iterator[Mutation]:
    """An accumulation never starts anew, or always: its condition is dropped, or has become a constant."""
    for place in places(program):
        for call in calls(place.statement):
            position = operand(call, "init_cond")
            if position is None or isinstance(call.args[position], ir.ConstBool):
                continue
            condition = call.args[position]
            dropped = build(call, args=call.args[:position])
            # What a new accumulator holds is zero unless poisoned, and adding to zero shows nothing.
            yield Mutation(
                place,
                f"accumulates without the condition {condition}",
                with_expression(place.statement, call, dropped),
                options={"poison": 1},
            )
            always = ir.ConstBool(True, condition.span)
            yield Mutation(
                place,
                f"starts anew always, not only if {condition}",
                with_expression(place.statement, call, with_argument(call, position, always)),
            )


def wrong_loop_bound(program: ir.Program) -> Iterator[Mutation]:
    """A loop leaves out its first or last round, does one more, or every second one."""
    for place in places(program):
        loop = place.statement
        if not isinstance(loop, ir.ForStmt):
            continue
        right = f"({loop.start}, {loop.stop}, {loop.step})"
        for field, value in (
            ("start", ir.add(loop.start, loop.step)),
            ("stop", ir.sub(loop.stop, loop.step)),
            ("stop", ir.add(loop.stop, loop.step)),
            ("step", ir.mul(loop.step, 2)),
        ):
            wrong = build(loop, **{field: _folded(value)})
            how = f"range({wrong.start}, {wrong.stop}, {wrong.step}) instead of range{right}"
            yield Mutation(place, how, wrong)


def _folded(value: ir.Expr) -> ir.Expr:
    assert isinstance(value, ir.Add | ir.Sub | ir.Mul)
    left, right = value.left, value.right
    if not isinstance(left, ir.ConstInt) or not isinstance(right, ir.ConstInt):
        return value
    results = {
        ir.Add: left.value + right.value,
        ir.Sub: left.value - right.value,
        ir.Mul: left.value * right.value,
    }
    return ir.ConstInt(results[type(value)], left.dtype, left.span)


def wrong_constant(program: ir.Program) -> Iterator[Mutation]:
    """A number among the operands of an op, a call or a condition is another one."""
    for place in places(program):
        if not isinstance(place.statement, ir.AssignStmt | ir.EvalStmt | ir.IfStmt):
            continue
        for root in own_expressions(place.statement):
            for constant in _constants(root):
                for wrong in _wrong_values(constant):
                    how = f"{wrong} instead of {constant}"
                    yield Mutation(place, how, with_expression(place.statement, constant, wrong))
        for call in calls(place.statement):
            value = call.kwargs.get("value")
            if isinstance(value, float) and isinstance(place.statement, ir.AssignStmt):
                how = f"value={value + 1.0} instead of value={value}"
                wrong = with_keyword(call, "value", value + 1.0)
                yield Mutation(place, how, with_expression(place.statement, call, wrong))


def _constants(root: ir.Expr) -> Iterator[ir.ConstInt | ir.ConstFloat]:
    """Constants that are values; those in tuples are offsets and sizes."""
    if isinstance(root, ir.ConstInt | ir.ConstFloat):
        yield root
    elif isinstance(root, ir.Call) and not root.op.name.endswith(WITHOUT_VALUES):
        for argument in root.args:
            yield from _constants(argument)
    elif isinstance(root, ir.BinaryExpr):
        yield from _constants(root.left)
        yield from _constants(root.right)


def _wrong_values(constant: ir.ConstInt | ir.ConstFloat) -> list[ir.Expr]:
    value = constant.value
    if isinstance(constant, ir.ConstInt):
        integers = {value + 1, 2 * value} - {value}
        return [ir.ConstInt(wrong, constant.dtype, constant.span) for wrong in sorted(integers)]
    floats = {2 * value, -value, value + 1.0} - {value}
    return [ir.ConstFloat(wrong, constant.dtype, constant.span) for wrong in sorted(floats)]
