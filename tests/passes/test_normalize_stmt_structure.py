"""NormalizeStmtStructure: PyPTO's changed nothing in any program on record, so these are made by hand."""

from codegen.builders import function, program
from ir.printer_samples import NOWHERE, sequence
from ir.verifier_samples import FLAG, WORK, A, N, counted

from pypto_tmpl import ir, passes


def shape(stmt: ir.Stmt) -> object:
    """The statements of a body: a list for a sequence, the kind of any other, with its bodies."""
    if isinstance(stmt, ir.SeqStmts):
        return [shape(part) for part in stmt.stmts]
    bodies = [getattr(stmt, name, None) for name in ("body", "then_body", "else_body")]
    return (type(stmt).__name__, *(shape(part) for part in bodies if part is not None))


def normalized(*body: ir.Stmt) -> ir.Program:
    made = ir.Function("f", [A, N, FLAG], [], ir.SeqStmts(body, NOWHERE), NOWHERE)
    return passes.normalize_stmt_structure()(program(made))


def test_sequences_are_opened_at_every_depth():
    branch = ir.IfStmt(
        FLAG, sequence(sequence(WORK)), sequence(WORK, sequence(WORK, sequence())), [], NOWHERE
    )
    loop = counted(sequence(sequence(branch)))
    got = normalized(sequence(loop, sequence(WORK, WORK)), WORK)
    eval_ = ("EvalStmt",)
    expected = [("ForStmt", ("IfStmt", eval_, [eval_, eval_])), eval_, eval_, eval_]
    assert shape(got["f"].body) == expected
    ir.verify_or_throw(got, [ir.IRProperty.NormalizedStmtStructure])


def test_what_has_that_form_is_the_same_object():
    before = program(function("f", [A, N], counted(sequence(WORK, WORK)), WORK))
    assert passes.normalize_stmt_structure()(before) is before
