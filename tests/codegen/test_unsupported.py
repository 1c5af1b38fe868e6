"""What no script can be made of: one error that lists all of it."""

from dataclasses import dataclass

import pytest
from codegen.builders import (
    AIV,
    INDEX,
    U,
    as_expr,
    assign,
    call,
    evaluate,
    for_loop,
    function,
    if_,
    load,
    op,
    program,
    ret,
    scalar,
    store,
    submit,
    tensor,
    tensor_type,
    tile,
    tile_type,
)

from pypto_tmpl import ir
from pypto_tmpl.codegen.unsupported import UnsupportedProgramError
from pypto_tmpl.debug import torch_codegen
from pypto_tmpl.errors import PyptoTmplError

FP64 = ir.DataType(0x35)
x, out = tensor("x", [4, 4]), tensor("out", [4, 4])


def at(line: int) -> ir.Span:
    return ir.Span("kernel.py", line, 5)


def refused(*functions: ir.Function) -> UnsupportedProgramError:
    with pytest.raises(UnsupportedProgramError) as caught:
        torch_codegen(program(*functions) if len(functions) > 1 else functions[0])
    return caught.value


def notes(*body: ir.Stmt, params: tuple[ir.Var, ...] = (x,), **rest) -> tuple[str, ...]:
    return refused(function("f", params, *body, **rest)).notes


@pytest.mark.parametrize(
    "dtype", [ir.DataType.FP4, ir.DataType.HF8, ir.DataType.INT4, ir.DataType.UINT16], ids=str
)
@pytest.mark.parametrize("name", ["tile.store", "tensor.assemble"])
def test_an_atomic_addition_to_what_cannot_be_added_to_is_refused(name, dtype):
    out = tensor("out", [4, 4], dtype)
    part = tile("part", [4, 4], dtype) if name == "tile.store" else tensor("part", [4, 4], dtype)
    args = [part, [0, 0], out] if name == "tile.store" else [out, part, [0, 0]]
    call = op(name, args, out.type, atomic=ir.AtomicType.Add)
    with pytest.raises(ValueError, match=f"operator '{name}' adds atomically to {dtype.name}"):
        torch_codegen(program(function("f", [out, part], ret(call), type=ir.FunctionType.InCore)))


def test_two_unknown_ops_and_an_unknown_dtype_in_two_functions():
    t, u = tile("t", [4, 4]), tile("u", [4, 4])
    y, v = tensor("y", [4, 4], FP64), tile("v", [4, 4], FP64)
    first = function(
        "first",
        [x],
        ir.AssignStmt(t, ir.Call(ir.Op("tile.frobnicate"), [x], t.type, at(7)), at(7)),
        assign(u, op("tile.add", [t, t], t.type)),
        ir.EvalStmt(ir.Call(ir.Op("tile.vanish"), [u], at(9)), at(9)),
        type=AIV,
    )
    second = function(
        "second",
        [y, out],
        assign(v, load(y, [0, 0], [4, 4])),
        assign(v, op("tile.add", [v, v], v.type)),
        type=AIV,
    )
    error = refused(first, second)
    assert isinstance(error, ValueError)
    assert isinstance(error, PyptoTmplError)
    assert str(error) == (
        "error[unsupported]: 3 things in this program cannot be emitted\n"
        "   = operator 'tile.frobnicate' is not in the op table"
        " (function 'first', variable 't', kernel.py:7:5)\n"
        "   = operator 'tile.vanish' is not in the op table (function 'first', kernel.py:9:5)\n"
        "   = dtype UNKNOWN (code 53) (function 'second', variable 'y', no source line)"
    )


def test_one_thing():
    assert str(refused(function("f", [x], evaluate(op("tile.vanish"))))) == (
        "error[unsupported]: 1 thing in this program cannot be emitted\n"
        "   = operator 'tile.vanish' is not in the op table (function 'f', no source line)"
    )


def test_the_statement_s_line_stands_in_for_an_expression_without_one():
    nested = ir.EvalStmt(op("tile.vanish", [op("tile.shrink", [x])]), at(3))
    assert notes(for_loop(scalar("i"), 2, nested)) == (
        "operator 'tile.shrink' is not in the op table (function 'f', kernel.py:3:5)",
        "operator 'tile.vanish' is not in the op table (function 'f', kernel.py:3:5)",
    )


def test_every_place_of_an_op_is_listed():
    t = tile("t", [4, 4])
    body = [ir.AssignStmt(t, op("tile.vanish"), at(line)) for line in (1, 2)]
    assert notes(if_(True, body[0], body[1])) == (
        "operator 'tile.vanish' is not in the op table (function 'f', variable 't', kernel.py:1:5)",
        "operator 'tile.vanish' is not in the op table (function 'f', variable 't', kernel.py:2:5)",
    )


def test_a_dtype_that_torch_lacks_is_named_where_it_first_stands():
    t, u = tile("t", [4, 4], ir.DataType.HF4), tile("u", [4, 4], ir.DataType.HF4)
    body = [
        assign(t, load(x, [0, 0], [4, 4])),
        assign(t, op("tile.cast", [t], t.type)),
        assign(u, op("tile.add", [t, t], u.type)),
    ]
    assert notes(*body) == ("dtype HF4 (code 65) (function 'f', variable 't', no source line)",)


def test_a_dtype_that_the_op_does_not_take():
    t = tile("t", [4, 4], ir.DataType.BOOL)
    y = tensor("y", [4, 4], ir.DataType.BOOL)
    body = [assign(t, load(y, [0, 0], [4, 4])), assign(t, op("tile.exp", [t], t.type))]
    assert notes(*body, params=(y,)) == (
        "operator 'tile.exp' on dtype BOOL (function 'f', variable 't', no source line)",
    )


def test_a_scalar_of_an_unknown_dtype():
    s = scalar("s", FP64)
    assert notes(assign(s, ir.Add(as_expr(1), as_expr(2), FP64, U))) == (
        "dtype UNKNOWN (code 53) (function 'f', variable 's', no source line)",
    )
    assert notes(ret(1), params=(s,)) == (
        "dtype UNKNOWN (code 53) (function 'f', variable 's', no source line)",
    )


def test_a_scalar_operand_of_a_dtype_that_torch_lacks():
    half = ir.ConstFloat(0.5, ir.DataType.HF4, U)
    strange = ir.ConstFloat(0.5, FP64, U)
    assert notes(evaluate(op("tensor.adds", [x, half], x.type))) == (
        "operator 'tensor.adds' on dtype HF4 (function 'f', no source line)",
    )
    assert notes(evaluate(op("tensor.adds", [x, strange], x.type))) == (
        "dtype UNKNOWN (code 53) (function 'f', no source line)",
    )


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (op("tile.exp", [x, x], x.type), "tile.exp takes 1 operands, the call has 2"),
        (op("tile.add", [x], x.type), "tile.add needs the operand 'rhs', the call does not have it"),
        (
            op("tile.load", [x, [0, 0], [4, 4], [4, 4]], tile_type([4, 4]), target_memry=1),
            "operator 'tile.load' has no keyword 'target_memry', did you mean 'target_memory'?",
        ),
        (op("tile.exp", [x], x.type, zzz=1), "operator 'tile.exp' has no keyword 'zzz'"),
        (
            op("tile.fillpad", [x], x.type),
            "tile.fillpad needs the keyword 'pad_value', the call does not have it",
        ),
        (
            op("tile.store", [x, [0, 0], x], x.type, atomic=7),
            "operator 'tile.store': atomic=7 is none of 0, 1",
        ),
    ],
)
def test_calls_that_do_not_fit_their_op(wrong, problem):
    assert notes(evaluate(wrong)) == (f"{problem} (function 'f', no source line)",)


def test_attributes_that_could_mean_anything():
    i = scalar("i")
    marked = ir.Call(ir.Op("tile.exp"), [x], {}, {"shiny": 1, "dump_vars": [x]}, x.type, U)
    loop = for_loop(i, 2, evaluate(marked), attrs={"unroll_by": 2, "pipeline_overlap_stores": True})
    scope = ir.RuntimeScopeStmt(body=loop, span=U, attrs={"task_id_var": scalar("t"), "colour": "red"})
    launch = evaluate(
        ir.Submit(ir.GlobalVar("g"), [], [], {}, {"wild": True}, ir.ScalarType(ir.DataType.TASK_ID), U)
    )
    f = function("f", [x], scope, launch, any_attribute_of_a_function=1)
    assert refused(f, function("g", [])).notes == (
        "attribute 'shiny' of a Call (function 'f', no source line)",
        "attribute 'wild' of a Submit (function 'f', no source line)",
        "attribute 'colour' of a RuntimeScopeStmt (function 'f', no source line)",
        "attribute 'unroll_by' of a ForStmt (function 'f', no source line)",
    )


def test_calls_of_functions():
    f = function(
        "f",
        [x],
        evaluate(call("nowhere", [x])),
        evaluate(call("g", [x, x])),
        evaluate(ir.Call(ir.GlobalVar("g"), [x], {"mode": 1}, ir.UnknownType(), U)),
        evaluate(submit("h", [])),
    )
    assert refused(f, function("g", [x]), function("h", [x])).notes == (
        "call of 'nowhere', which is no function of this program (function 'f', no source line)",
        "call of 'g', which takes 1 arguments, with 2 (function 'f', no source line)",
        "keyword 'mode' of a call of 'g' (function 'f', no source line)",
        "a submit of 'h' without its parameter 'x' (function 'f', no source line)",
    )


def test_a_variable_that_nothing_binds():
    y = scalar("y")
    assert notes(ret(y + y)) == (
        "variable 'y' is used, but nothing before binds it (function 'f', no source line)",
    )


def test_a_variable_of_another_function():
    y = scalar("y")
    error = refused(function("f", [y], ret(y)), function("g", [], ret(y)))
    assert error.notes == (
        "variable 'y' is used, but nothing before binds it (function 'g', no source line)",
    )


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class StrangeStmt(ir.Stmt):
    def __init__(self) -> None:
        object.__setattr__(self, "span", at(1))
        object.__setattr__(self, "leading_comments", ())


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class StrangeExpr(ir.Expr):
    def __init__(self) -> None:
        object.__setattr__(self, "span", at(2))
        object.__setattr__(self, "type", ir.ScalarType(INDEX))


class StrangeOperator(ir.BinaryExpr):
    __slots__ = ()


class StrangeSign(ir.UnaryExpr):
    __slots__ = ()


def test_unknown_nodes():
    odd = StrangeOperator(as_expr(1), as_expr(2), INDEX, at(3))
    sign = StrangeSign(as_expr(1), INDEX, at(4))
    assert notes(StrangeStmt(), ret(StrangeExpr(), odd, sign)) == (
        "statement StrangeStmt (function 'f', kernel.py:1:5)",
        "expression StrangeExpr (function 'f', kernel.py:2:5)",
        "operator StrangeOperator (function 'f', kernel.py:3:5)",
        "operator StrangeSign (function 'f', kernel.py:4:5)",
    )


def test_nodes_that_stand_for_no_value():
    handle = ir.Var("handle", ir.PtrType(), U)
    buffer = ir.MemRef(handle, 0, 64, span=U)
    window = ir.WindowBuffer(handle, 64, span=U)
    assert notes(ret(buffer, window)) == (
        "expression MemRef (function 'f', no source line)",
        "expression WindowBuffer (function 'f', no source line)",
    )


def test_an_external_kernel():
    assert notes(ret(), external_source="/kernels/fast.cpp") == (
        "a function whose body is an external kernel source (function 'f', no source line)",
    )


def test_obstacles_come_in_the_order_of_the_functions():
    names = ["b", "a", "c"]
    functions = [function(name, [], evaluate(op(f"tile.no_{name}"))) for name in names]
    assert [item.function for item in refused(*functions).found] == ["a", "b", "c"]


def test_a_store_into_something_unknown_is_reported_once():
    """The target stands twice in the text of a store that lands on one lane only."""
    t = tile("t", [4, 4])
    strange = op("tensor.vanish", [], tensor_type([4, 4]))
    kernel = function(
        "k",
        [x],
        assign(t, load(x, [0, 0], [4, 4])),
        evaluate(store(t, [0, 0], strange)),
        type=AIV,
        dual_aiv_dispatch=True,
    )
    assert len(refused(kernel).found) == 1


def test_a_keyword_that_an_op_without_effect_does_not_have_is_reported():
    call = ir.Call(ir.Op("system.bar_all"), [], {"pipe_mask": 3}, U)
    function = ir.Function("kernel", [], [], ir.EvalStmt(call, U), U, type=ir.FunctionType.InCore)
    with pytest.raises(ValueError) as caught:
        torch_codegen(function)
    assert "operator 'system.bar_all' has no keyword 'pipe_mask'" in str(caught.value)


def test_an_operand_that_an_op_without_effect_does_not_have_is_reported():
    call = ir.Call(ir.Op("system.bar_all"), [ir.ConstInt(1, ir.DataType.INT32, U)], U)
    function = ir.Function("kernel", [], [], ir.EvalStmt(call, U), U, type=ir.FunctionType.InCore)
    with pytest.raises(ValueError, match=r"system\.bar_all takes 0 operands, the call has 1"):
        torch_codegen(function)


@pytest.mark.parametrize("pad, shown", [(7, "7"), (ir.PadValue.null, "null")])
def test_a_pad_value_that_does_not_pad_is_reported(pad, shown):
    tile = ir.TileType([8, 16], ir.DataType.FP32, None, None, ir.MemorySpace.Vec)
    t, u = ir.Var("t", tile, U), ir.Var("u", tile, U)
    fill = ir.Call(ir.Op("tile.fillpad"), [t], {"pad_value": pad}, tile, U)
    body = ir.AssignStmt(u, fill, U)
    function = ir.Function("kernel", [t], [], body, U, type=ir.FunctionType.InCore)
    with pytest.raises(ValueError) as caught:
        torch_codegen(function)
    assert f"operator 'tile.fillpad': pad_value={shown} is none of zero, max, min" in str(caught.value)
