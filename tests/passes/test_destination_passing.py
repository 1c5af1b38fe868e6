"""The property that LowerToBuffers produces, and what violates it."""

import pytest
from passes.buffered import buffered
from storage.placed_kernels import placed

from pypto_tmpl import ir, passes
from pypto_tmpl.ir.destinations import copy, declaration, slot, write
from pypto_tmpl.rewrite import Rewriter, build

LINES = """
    a @ 0 FP32[16, 64] = load(x)
    b @ 0x1000 FP32[16, 64] = pl.tile.adds(a, 1.0)
    c @ 0x2000 FP32[16, 32] = pl.tile.slice(b, [16, 32], [0, 32])
    store(b)
"""


def violations(program: ir.Program) -> list[str]:
    found = passes.checks.verify(program, [ir.IRProperty.DestinationPassing])
    assert all(item.function == "kernel" and item.rule_name == "DestinationPassing" for item in found)
    return [item.message for item in found]


class Replacing(Rewriter):
    """Puts other statements for those that print as the keys say."""

    def __init__(self, others):
        super().__init__()
        self.others = others

    def statement(self, stmt):
        text = ir.python_print(stmt).strip()
        make = next((make for start, make in self.others.items() if text.startswith(start)), None)
        return stmt if make is None else make(stmt)


def changed(others) -> list[str]:
    return violations(Replacing(others).rewrite(buffered(LINES)))


def variables(program: ir.Program) -> dict[str, ir.Var]:
    return {node.name_hint: node for node in ir.walk(program) if isinstance(node, ir.Var)}


def test_it_holds_of_what_the_pass_makes():
    assert violations(buffered(LINES)) == []
    assert violations(buffered(LOOP)) == []


LOOP = """
    a @ 0 FP32[16, 64] = load(x)
    for i, (c,) in pl.range(2, init_values=(a,)):
        b @ 0 FP32[16, 64] = pl.tile.adds(c, 1.0)
        r = pl.yield_(b)
    store(r)
"""


def test_values_violate_it():
    assert violations(placed(LOOP)) == [
        "the tile 'a' is made by tile.load, which is given no destination",
        "the tile 'c' is carried by a loop, and has to be copied to a buffer",
        "the tile 'r' is carried by a loop, and has to be copied to a buffer",
        "the tile 'b' is made by tile.adds, which is given no destination",
    ]
    branch = """
        a @ 0 FP32[16, 64] = load(x)
        if n > 0:
            r @ 0 FP32[16, 64] = pl.yield_(a)
        else:
            r @ 0 FP32[16, 64] = pl.yield_(a)
        store(r)
    """
    assert violations(placed(branch))[1] == (
        "the tile 'r' is the result of a branch, and has to be copied to a buffer"
    )


def test_an_error_says_where():
    with pytest.raises(ir.VerificationError) as caught:
        passes.verify_properties([ir.IRProperty.DestinationPassing], placed(LOOP), "LowerToBuffers")
    assert str(caught.value).splitlines()[1] == (
        "   = error: DestinationPassing 0: the tile 'a' is made by tile.load, which is given no destination "
        "[<string>:10:9] (function 'kernel')"
    )


def test_a_declaration_is_in_the_allocation_of_its_type():
    other = next(v for v in variables(buffered(LINES)).values() if v.name_hint == "other")
    found = changed({"a: pl.Buffer": lambda stmt: declaration(stmt.var, other)})
    assert found == ["the tile 'a' is declared in another allocation than its type says"]


def test_what_is_written_fits():
    def written_with(value):
        return changed({"b[...]": lambda stmt: write(stmt.expr.args[0], value(stmt), stmt.span)})

    narrow = variables(buffered(LINES))["c"]
    assert written_with(lambda stmt: stmt.expr.args[1].args[0]) == [
        "the tile 'b' is written with what no op makes: copy it"
    ]
    assert written_with(lambda stmt: build(stmt.expr.args[1], type=narrow.type)) == [
        "the tile 'b' is given a tile of another dtype or of other extents"
    ]
    assert written_with(lambda stmt: stmt.expr) == [
        "the tile 'b' is written with what no op makes: copy it",
        "the tile 'b' is given what is no tile",
    ]


def test_what_is_copied_fits():
    def copied_from(value):
        return changed({"b[...]": lambda stmt: copy(stmt.expr.args[0], value(stmt), stmt.span)})

    narrow = variables(buffered(LINES))["c"]
    assert copied_from(lambda stmt: stmt.expr.args[1].args[0]) == []
    assert copied_from(lambda stmt: stmt.expr.args[1]) == [
        "the tile 'b' is copied from what is no tile: write it"
    ]
    assert copied_from(lambda stmt: narrow) == [
        "the tile 'b' is given a tile of another dtype or of other extents"
    ]


def test_a_second_name_lies_where_the_tile_does():
    a = next(v for v in variables(buffered(LINES)).values() if v.name_hint == "a")
    found = changed({"c: ": lambda stmt: ir.AssignStmt(stmt.var, a, stmt.span)})
    assert found == ["the tile 'c' is a second name of 'a', which lies in another allocation"]


def test_slots_come_out_of_pipes():
    n = variables(buffered(LINES))["n"]
    found = changed({"c: ": lambda stmt: slot(stmt.var, n, stmt.value, stmt.span)})
    assert found == ["the tile 'c' is the slot of a pipe, and nothing takes it out of one"]


def test_ops_over_buffers_stand_alone():
    def nested(stmt):
        return [stmt, ir.EvalStmt(ir.Call(ir.Op("tile.exp"), [stmt.expr], stmt.span), stmt.span)]

    assert changed({"b[...]": nested}) == ["buffer.write stands in another expression"]
    assert changed({"c: ": lambda stmt: ir.AssignStmt(stmt.var, stmt_write(stmt), stmt.span)}) == [
        "buffer.write makes no value for 'c'"
    ]


def stmt_write(stmt: ir.AssignStmt) -> ir.Call:
    return write(stmt.var, stmt.value, stmt.span).expr
