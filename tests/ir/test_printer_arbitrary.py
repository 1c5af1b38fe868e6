"""Arbitrary IR prints, the same way each time, or is refused with a reason."""

import ast
from typing import Any

import pytest
from drawn_examples import examples
from hypothesis import HealthCheck, assume, given, settings
from ir.strategies import TEXT, nodes, programs, types

from pypto_tmpl import ir


def text_of(node: Any, **options: bool) -> str:
    try:
        return ir.python_print(node, format=False, **options)
    except ir.PrintError as error:
        assert str(error).startswith("error[unprintable]: ")
        assume(False)
        raise


def is_python(node: ir.IRNode | ir.Type) -> bool:
    """False where the text holds foreign text, or the operator that Python does not have."""
    return not any(isinstance(found, (ir.InlineStmt, ir.Xor)) for found in ir.walk(node))


several = settings(
    max_examples=examples(50), suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)


@several
@given(nodes())
def test_text_is_python(node: ir.IRNode) -> None:
    for options in ({}, {"concise": True}, {"explicit_layout": True}):
        printed = text_of(node, **options)
        if is_python(node):
            ast.parse(printed)


@several
@given(nodes(names=TEXT.filter(bool)))
def test_any_hint_becomes_an_identifier(node: ir.IRNode) -> None:
    printed = text_of(node)
    if is_python(node):
        ast.parse(printed)


@several
@given(types())
def test_types_are_python(type_: ir.Type) -> None:
    printed = text_of(type_)
    if is_python(type_):
        ast.parse(printed)


@several
@given(programs())
def test_text_depends_on_the_ir_alone(program: ir.Program) -> None:
    printed = text_of(program)
    assert printed == text_of(program)
    again = ir.deserialize(ir.serialize(program))
    # The binary form drops the sign of a zero.
    assert text_of(again).replace("-0.0", "0.0") == printed.replace("-0.0", "0.0")


@pytest.mark.parametrize("cls", [ir.IRNode, ir.Type])
def test_printing_is_a_method_too(cls: type) -> None:
    assert {"as_python", "__str__"} <= vars(cls).keys()
