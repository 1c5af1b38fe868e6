"""``ir.IRVisitor`` and ``ir.IRMutator``: PyPTO's methods, in its order."""

import pytest
from codegen.builders import as_expr, assign, evaluate, for_loop, function, if_, program, scalar

from pypto_tmpl import ir

U = ir.Span.unknown()
X = scalar("x")


def add(left, right):
    return ir.Add(as_expr(left), as_expr(right), X.type.dtype, U)


def mul(left, right):
    return ir.Mul(as_expr(left), as_expr(right), X.type.dtype, U)


NAMES = """
visit_program visit_function visit_expr visit_stmt visit_binary_expr visit_unary_expr visit_var
visit_iter_arg visit_mem_ref visit_window_buffer visit_const_int visit_const_float visit_const_bool
visit_call visit_submit visit_make_tuple visit_tuple_get_item_expr visit_add visit_sub visit_mul
visit_floor_div visit_floor_mod visit_float_div visit_min visit_max visit_pow visit_eq visit_ne
visit_lt visit_le visit_gt visit_ge visit_and visit_or visit_xor visit_bit_and visit_bit_or
visit_bit_xor visit_bit_shift_left visit_bit_shift_right visit_abs visit_neg visit_not visit_bit_not
visit_cast visit_assign_stmt visit_if_stmt visit_for_stmt visit_while_stmt visit_in_core_scope_stmt
visit_cluster_scope_stmt visit_hierarchy_scope_stmt visit_spmd_scope_stmt visit_split_aiv_scope_stmt
visit_runtime_scope_stmt visit_seq_stmts visit_yield_stmt visit_return_stmt visit_eval_stmt
visit_break_stmt visit_continue_stmt
"""


def test_the_methods_are_those_of_pypto():
    def own(cls):
        return {name for name in dir(cls) if name.startswith("visit_")}

    assert own(ir.IRMutator) == set(NAMES.split())
    assert own(ir.IRVisitor) == {*NAMES.split(), "visit_var_like"}


class Log(ir.IRVisitor):
    def __init__(self):
        self.seen = []

    def visit_const_int(self, op):
        self.seen.append(op.value)

    def visit_mul(self, op):
        self.seen.append("*")
        super().visit_mul(op)

    def visit_binary_expr(self, op):
        self.seen.append(type(op).__name__)
        super().visit_binary_expr(op)


def test_nodes_are_visited_in_order_by_the_method_that_fits():
    log = Log()
    log.visit_stmt(ir.SeqStmts([assign(X, add(1, mul(2, 3))), if_(True, evaluate(as_expr(4)))], U))
    assert log.seen == ["Add", 1, "*", "Mul", 2, 3, 4]


def test_what_is_overridden_is_not_entered_unless_it_asks():
    class Outer(ir.IRVisitor):
        seen = ()

        def visit_for_stmt(self, op):
            self.seen += (op.loop_var.name_hint,)

    outer = Outer()
    outer.visit_program(program(function("f", [], for_loop(scalar("i"), 2, for_loop(scalar("j"), 2)))))
    assert outer.seen == ("i",)


def test_every_class_of_variable_is_var_like():
    class Names(ir.IRVisitor):
        def __init__(self):
            self.names = []

        def visit_var_like(self, op):
            self.names.append(op.name_hint)

    names = Names()
    carry = ir.IterArg("acc", X.type, X, U)
    names.visit_stmt(ir.WhileStmt(ir.ConstBool(True, U), [carry], ir.YieldStmt([carry], U), [scalar("r")], U))
    assert names.names == ["acc", "acc", "r"]


def test_all_expressions_and_statements_can_be_met_in_one_place():
    class Kinds(ir.IRVisitor):
        def __init__(self):
            self.kinds = []

        def visit_expr(self, op):
            self.kinds.append(type(op).__name__)
            super().visit_expr(op)

        def visit_stmt(self, op):
            self.kinds.append(type(op).__name__)
            super().visit_stmt(op)

    kinds = Kinds()
    kinds.visit_stmt(assign(X, add(1, 2)))
    assert kinds.kinds == ["AssignStmt", "Var", "Add", "ConstInt", "ConstInt"]


def test_a_node_of_another_kind_is_refused():
    with pytest.raises(TypeError, match="visit_expr does not take a AssignStmt"):
        ir.IRVisitor().visit_expr(assign(X, as_expr(1)))


class Doubled(ir.IRMutator):
    def visit_const_int(self, op):
        return ir.ConstInt(op.value * 2, op.dtype, op.span)


def test_a_mutator_rewrites_and_keeps_what_does_not_change():
    kept = if_(ir.ConstBool(True, U), evaluate(X))
    new = Doubled().visit_stmt(ir.SeqStmts([assign(X, add(1, 2)), kept], U))
    assert (new.stmts[0].value.left.value, new.stmts[0].value.right.value) == (2, 4)
    assert new.stmts[1] is kept
    assert ir.IRMutator().visit_stmt(new) is new


def test_a_mutator_may_look_at_a_node_after_its_parts():
    class Folded(ir.IRMutator):
        def visit_binary_expr(self, op):
            new = super().visit_binary_expr(op)
            match new:
                case ir.Add(left=ir.ConstInt(value=left), right=ir.ConstInt(value=right)):
                    return ir.ConstInt(left + right, ir.DataType.INDEX, U)
            return new

    assert Folded().visit_expr(add(add(1, 2), add(3, 4))).value == 10
    assert isinstance(Folded().visit_expr(mul(add(1, 2), 5)), ir.Mul)


def test_a_renamed_variable_is_one_variable_wherever_it_stands():
    class Renamed(ir.IRMutator):
        def visit_var(self, op):
            return ir.Var(op.name_hint + "_r", op.type, op.span)

    new = Renamed().visit_function(function("f", [X], assign(scalar("y"), add(X, X)), evaluate(X)))
    (param,) = new.params
    first, second = new.body.stmts
    assert param.name_hint == "x_r"
    assert param is first.value.left is first.value.right is second.expr
    assert first.var.name_hint == "y_r"


def test_where_a_variable_is_bound_it_stays_a_variable():
    class Constant(ir.IRMutator):
        def visit_var(self, op):
            return as_expr(1)

    assert Constant().visit_stmt(evaluate(X)).expr.value == 1
    with pytest.raises(TypeError, match="'x' is bound here: it becomes a Var, not a ConstInt"):
        Constant().visit_stmt(assign(X, as_expr(2)))


def test_a_statement_may_become_a_sequence():
    class Twice(ir.IRMutator):
        def visit_eval_stmt(self, op):
            return ir.SeqStmts([op, op], U)

    assert len(Twice().visit_stmt(ir.SeqStmts([evaluate(X), evaluate(X)], U)).stmts) == 4
    assert len(Twice().visit_stmt(if_(True, evaluate(X))).then_body.stmts) == 2


def test_program_and_function_have_methods():
    class Marked(ir.IRMutator):
        def visit_function(self, op):
            new = super().visit_function(op)
            return ir.Function(new.name + "_m", list(new.params), new.return_types, new.body, new.span)

    new = Marked().visit_program(program(function("f", [X], evaluate(X))))
    assert [key.name for key in new.functions] == ["f_m"]


def test_what_is_not_overridden_does_not_recurse():
    body = evaluate(as_expr(1))
    for _ in range(5_000):
        body = if_(ir.ConstBool(True, U), body)
    log = Log()
    log.visit_stmt(body)
    assert log.seen == [1]
    new = Doubled().visit_stmt(body)
    for _ in range(5_000):
        new = new.then_body
    assert new.expr.value == 2
