"""Structural equality and hashing by hand-built pairs: what counts, what does not, and how variables pair."""

from __future__ import annotations

import math
from typing import Any

import pytest
from ir.printer_samples import (
    BOOL,
    FP32,
    INDEX,
    INT32,
    INT64,
    NOWHERE,
    TENSOR,
    assign,
    branch,
    call,
    carry,
    evaluate,
    function,
    integer,
    loop,
    program,
    real,
    returns,
    scalar,
    sequence,
    tensor,
    tuple_of,
    while_loop,
    yields,
)

from pypto_tmpl import ir

SOMEWHERE = ir.Span("kernel.py", 3, 7)
X, N = scalar("x"), scalar("n")
WORK = evaluate(call("system.bar_all"))
VEC = ir.MemorySpace.Vec


def equal(a: Any, b: Any, auto_mapping: bool = False) -> bool:
    """Whether two things are equal, either way round; equal ones must have equal hashes."""
    found = ir.structural_equal(a, b, auto_mapping)
    assert found == ir.structural_equal(b, a, auto_mapping)
    if found:
        assert ir.structural_hash(a, auto_mapping) == ir.structural_hash(b, auto_mapping)
    return found


def differs(a: Any, b: Any, auto_mapping: bool = False) -> str:
    """Path and reason of the first difference; things that differ here have other hashes too."""
    found = ir.structural_diff(a, b, auto_mapping)
    assert found is not None and not equal(a, b, auto_mapping)
    assert ir.structural_hash(a, auto_mapping) != ir.structural_hash(b, auto_mapping)
    return str(found)


def commented(stmt: ir.Stmt, *comments: str) -> ir.Stmt:
    ir.attach_leading_comments(stmt, comments)
    return stmt


# What does not count


def test_positions_and_comments() -> None:
    assert equal(integer(4), ir.ConstInt(4, INDEX, SOMEWHERE))
    assert equal(returns(X), commented(ir.ReturnStmt([X], SOMEWHERE), "why", "and how"))


def test_name_hints_of_what_is_defined() -> None:
    a, b = scalar("a"), scalar("b")
    assert equal(function("f", [a], returns(a)), function("f", [b], returns(b)))
    base = ir.Var("base", ir.PtrType(), NOWHERE)
    other = ir.MemRef(base, 0, 8)
    object.__setattr__(other, "name_hint", "other")
    assert equal(ir.MemRef(base, 0, 8), other)


def test_names_of_functions_and_programs() -> None:
    f, g = function("f", [X], returns(X)), function("g", [X], returns(X))
    assert equal(f, g)
    assert equal(program(f, name="One"), program(f, name="Two"))
    difference = ir.structural_diff(program(f), program(g))
    assert str(difference) == "['f']: the function exists on one side only"


def test_order_of_functions_and_attributes() -> None:
    f, g = function("f", [X], WORK), function("g", [X], returns(X))
    assert equal(program(f, g), program(g, f))
    one, two = {"a": 1, "b": "x"}, {"b": "x", "a": 1}
    assert equal(
        ir.Call(ir.Op("op"), [], one, two, TENSOR, NOWHERE),
        ir.Call(ir.Op("op"), [], two, one, TENSOR, NOWHERE),
    )
    assert equal(function("f", [X], WORK, attrs=one), function("f", [X], WORK, attrs=two))
    assert equal(loop(X, N, N, N, WORK, attrs=one), loop(X, N, N, N, WORK, attrs=two))


@pytest.mark.parametrize("kind", [ir.TensorType, ir.DistributedTensorType, ir.TileType])
def test_memory_references_of_types(kind: Any) -> None:
    options = {"memory_space": VEC} if kind is ir.TileType else {}
    plain, placed = kind([4], FP32, **options), kind([4], FP32, ir.MemRef("m"), **options)
    assert equal(plain, placed) and plain == placed and hash(plain) == hash(placed)
    assert equal(function("f", [tensor("t", plain)], WORK), function("f", [tensor("t", placed)], WORK))


def test_sharing_of_objects() -> None:
    one = integer(1)
    assert equal(tuple_of(one, one), tuple_of(integer(1), integer(1)))
    assert equal(sequence(WORK, WORK), sequence(WORK, evaluate(call("system.bar_all"))))


# What counts


def test_names_of_scopes_count() -> None:
    first, second = (ir.ClusterScopeStmt(name, WORK, NOWHERE) for name in ("one", "two"))
    assert differs(first, second) == "name_hint: 'one' and 'two' differ"


def test_parts_of_a_memory_reference_count() -> None:
    base, other = (ir.Var("base", ir.PtrType(), NOWHERE) for _ in range(2))
    first = ir.MemRef(base, 0, 8)
    assert equal(first, ir.MemRef(base, 0, 8))
    assert differs(first, ir.MemRef(base, 4, 8)) == "byte_offset_.value: 0 and 4 differ"
    assert differs(first, ir.MemRef(base, 0, 16)) == "size_: 8 and 16 differ"
    assert differs(first, ir.MemRef(base, 0, 8, is_pinned=True)) == "is_pinned_: False and True differ"
    assert differs(first, ir.MemRef(base, 0, 8, slots=2)) == "slot_count_: 1 and 2 differ"
    assert differs(first, ir.MemRef(base, 0, 8, slot=X)) == "slot_index_: kinds differ: NoneType and Var"
    assert differs(first, ir.MemRef(other, 0, 8)) == "base_: free variables are different objects"


def test_windows_count() -> None:
    base = ir.Var("base", ir.PtrType(), NOWHERE)

    def bound(size: int) -> ir.Type:
        return ir.DistributedTensorType([4], FP32, ir.WindowBuffer(base, size))

    assert equal(bound(64), bound(64))
    assert differs(bound(64), bound(32)) == "window_buffer.size.value: 64 and 32 differ"
    unbound = ir.DistributedTensorType([4], FP32)
    assert differs(bound(64), unbound) == "window_buffer: kinds differ: WindowBuffer and NoneType"


def test_kinds_count() -> None:
    assert differs(ir.TensorType([4], FP32), ir.DistributedTensorType([4], FP32)) == (
        "root: kinds differ: TensorType and DistributedTensorType"
    )
    assert differs(integer(1), real(1.0)) == "root: kinds differ: ConstInt and ConstFloat"
    assert differs(call("f"), ir.Call(ir.GlobalVar("f"), [], {}, TENSOR, NOWHERE)) == (
        "op: kinds differ: Op and GlobalVar"
    )
    assert differs(X, carry("x", N), True) == "root: kinds differ: Var and IterArg"


def test_lengths_count() -> None:
    assert differs(returns(X), returns(X, X)) == "value: lengths differ: 1 and 2"
    assert differs(sequence(WORK), sequence()) == "root: lengths differ: 1 and 0"


def test_keys_and_stored_types_of_attributes_count() -> None:
    def with_attrs(**attrs: Any) -> ir.Call:
        return call("op", attrs=attrs)

    assert differs(with_attrs(a=1), with_attrs(b=1)) == "attrs['a']: present on one side only"
    assert differs(with_attrs(a=1), with_attrs(a=1.0)) == "attrs['a']: stored as int and as float"
    assert differs(with_attrs(a=1), with_attrs(a=True)) == "attrs['a']: stored as int and as bool"
    assert differs(with_attrs(a=X), with_attrs(a=N)) == "attrs['a']: free variables are different objects"


# Variables


def test_free_variables_are_their_objects() -> None:
    assert equal(X, X)
    assert differs(X, scalar("x")) == "root: free variables are different objects"
    assert equal(ir.Add(X, N, INDEX, NOWHERE), ir.Add(X, N, INDEX, NOWHERE))


def test_free_variables_pair_on_request() -> None:
    y, m = scalar("y"), scalar("m")
    first, second = ir.Add(X, N, INDEX, NOWHERE), ir.Add(y, m, INDEX, NOWHERE)
    assert not equal(first, second)
    assert equal(first, second, auto_mapping=True)
    assert differs(first, ir.Add(y, scalar("m", INT32), INDEX, NOWHERE), True) == (
        "right.type.dtype: index and int32 differ"
    )


def test_pairing_is_one_to_one() -> None:
    y = scalar("y")
    once, twice = ir.Add(X, N, INDEX, NOWHERE), ir.Add(y, y, INDEX, NOWHERE)
    message = "right: the variables stand for different definitions"
    assert differs(once, twice, True) == message
    assert differs(twice, once, True) == message


def definitions() -> dict[str, Any]:
    """Statements and functions that define a variable and use it, by what defines it."""

    def parameter() -> ir.Function:
        a = scalar("a")
        return function("f", [a], returns(a))

    def assigned() -> ir.Stmt:
        a = scalar("a")
        return sequence(assign(a, N), evaluate(ir.Neg(a, INDEX, NOWHERE)))

    def loop_variable() -> ir.Stmt:
        i = scalar("i")
        return loop(i, N, N, N, evaluate(ir.Neg(i, INDEX, NOWHERE)))

    def carried() -> ir.Stmt:
        c = carry("c", N)
        return loop(X, N, N, N, yields(c), [c], [X])

    def result_of_a_loop() -> ir.Stmt:
        c, r = carry("c", N), scalar("r")
        return sequence(loop(X, N, N, N, yields(c), [c], [r]), returns(r))

    def carried_by_a_while() -> ir.Stmt:
        c, r = carry("c", N), scalar("r")
        return sequence(while_loop(ir.Lt(c, N, BOOL, NOWHERE), yields(c), [c], [r]), returns(r))

    def result_of_a_branch() -> ir.Stmt:
        r = scalar("r")
        return sequence(branch(scalar_flag(), yields(X), yields(N), [r]), returns(r))

    return dict(locals())


FLAG = scalar("flag", BOOL)


def scalar_flag() -> ir.Var:
    return FLAG


@pytest.mark.parametrize("name", definitions())
def test_definitions_pair(name: str) -> None:
    build = definitions()[name]
    assert equal(build(), build())
    assert equal(build(), build(), auto_mapping=True)


def test_uses_follow_the_definition() -> None:
    a, b, c, d = (scalar(name) for name in "abcd")
    first = function("f", [a, b], returns(a))
    assert equal(first, function("f", [c, d], returns(c)))
    assert differs(first, function("f", [c, d], returns(d))) == (
        "body.value[0]: the variables stand for different definitions"
    )


def test_types_of_definitions_match() -> None:
    first, second = function("f", [scalar("a")], WORK), function("f", [scalar("a", INT32)], WORK)
    assert differs(first, second) == "params[0].type.dtype: index and int32 differ"
    assert differs(assign(tensor("t"), X), assign(scalar("t"), X)) == (
        "var.type: kinds differ: TensorType and ScalarType"
    )


def shaped(extent: ir.Var) -> ir.TensorType:
    return ir.TensorType([extent, 4], FP32)


def test_dynamic_extents_pair_in_the_types_of_parameters() -> None:
    def sample(*, returned: bool, separate: bool = False) -> ir.Function:
        m = scalar("m")
        other = scalar("m") if separate else m
        return function(
            "f",
            [tensor("a", shaped(m)), tensor("b", shaped(other))],
            returns(m),
            [shaped(m)] if returned else [],
        )

    assert equal(sample(returned=True), sample(returned=True))
    assert differs(sample(returned=True), sample(returned=True, separate=True)) == (
        "params[1].type.shape[0]: the variables stand for different definitions"
    )


def test_dynamic_extents_that_no_definition_names_stay_free() -> None:
    first, second = (function("f", [], WORK, [shaped(scalar("m"))]) for _ in range(2))
    assert differs(first, second) == "return_types[0].shape[0]: free variables are different objects"
    assert equal(first, second, auto_mapping=True)


def test_an_initial_value_is_inside_a_definition() -> None:
    """So free variables in it pair, and no others do."""

    def sample(start: ir.Var, stop: ir.Var) -> ir.Stmt:
        c = carry("c", start)
        return loop(scalar("i"), N, stop, N, yields(c), [c], [scalar("r")])

    assert equal(sample(scalar("a"), N), sample(scalar("b"), N))
    assert differs(sample(N, scalar("a")), sample(N, scalar("b"))) == (
        "stop: free variables are different objects"
    )


def test_variables_pair_across_the_functions_of_a_program() -> None:
    def sample(*, shared: bool) -> ir.Program:
        m = scalar("m")
        f = function("f", [tensor("a", shaped(m))], WORK)
        g = function("g", [tensor("a", shaped(m if shared else scalar("m")))], WORK)
        return program(f, g)

    assert equal(sample(shared=True), sample(shared=True))
    assert not equal(sample(shared=True), sample(shared=False))


def test_what_was_written_and_read_again_is_equal_without_mapping() -> None:
    a, m, r = tensor("a", shaped(N)), scalar("m"), scalar("r")
    c = carry("c", m)
    body = sequence(loop(scalar("i"), N, m, N, yields(c), [c], [r]), returns(r))
    node = program(function("f", [a, m], body, [r.type]))
    assert equal(node, ir.deserialize(ir.serialize(node)))


# Leniencies and floats


def test_index_and_int64_are_one_for_constants_and_loop_variables() -> None:
    assert equal(integer(4), integer(4, INT64))
    assert not equal(integer(4), integer(4, INT32))
    assert equal(ir.TensorType([integer(4)], FP32), ir.TensorType([integer(4, INT64)], FP32))
    assert equal(loop(scalar("i"), N, N, N, WORK), loop(scalar("i", INT64), N, N, N, WORK))
    assert not equal(loop(scalar("i"), N, N, N, WORK), loop(scalar("i", INT32), N, N, N, WORK))


def test_index_and_int64_are_two_elsewhere() -> None:
    assert differs(ir.ScalarType(INDEX), ir.ScalarType(INT64)) == "dtype: index and int64 differ"
    assert (
        differs(ir.Neg(X, INDEX, NOWHERE), ir.Neg(X, INT64, NOWHERE)) == "type.dtype: index and int64 differ"
    )
    assert not equal(function("f", [scalar("a")], WORK), function("f", [scalar("a", INT64)], WORK))
    assert not equal(assign(scalar("a"), N), assign(scalar("a", INT64), N))
    assert not equal(function("f", [], WORK, [X.type]), function("f", [], WORK, [ir.ScalarType(INT64)]))
    first, second = (
        loop(X, N, N, N, yields(N), [carry("c", integer(0, dtype))], [X]) for dtype in (INDEX, INT64)
    )
    assert differs(first, second) == "iter_args[0].type.dtype: index and int64 differ"


def test_floats_compare_by_value() -> None:
    assert equal(real(0.0), real(-0.0))
    assert differs(real(0.1), real(0.1 + 2**-55)) == "value: 0.1 and 0.10000000000000003 differ"
    assert equal(real(math.inf), real(math.inf))


def test_nan_is_equal_to_its_own_object_only() -> None:
    nan = real(math.nan)
    assert equal(nan, nan) and equal(returns(nan), returns(nan))
    assert str(ir.structural_diff(nan, real(math.nan))) == "value: nan and nan differ"


def test_types_and_views_compare_and_hash_by_structure() -> None:
    first, second = (ir.TileType([16, 64], FP32, None, ir.TileView([8, 64]), VEC) for _ in range(2))
    assert first == second and len({first, second}) == 1
    assert first.tile_view == second.tile_view and hash(first.tile_view) == hash(second.tile_view)
    assert first != ir.TileType([16, 64], FP32, memory_space=VEC) and first != "tile"


def test_hashes_of_free_variables_depend_on_the_variable() -> None:
    assert ir.structural_hash(X) != ir.structural_hash(scalar("x"))
    assert ir.structural_hash(X, True) == ir.structural_hash(scalar("y"), True)


def test_assertion_says_where_and_why() -> None:
    first, second = (program(function("main", [], sequence(WORK, returns(integer(n))))) for n in (1, 2))
    ir.assert_structural_equal(first, first)
    with pytest.raises(ValueError) as raised:
        ir.assert_structural_equal(first, second)
    assert str(raised.value) == "not structurally equal: ['main'].body[1].value[0].value: 1 and 2 differ"
