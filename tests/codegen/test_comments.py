"""Comments on types and source lines: there only if asked for, and no part of what a script does."""

import ast

import torch
from codegen.builders import (
    InCore,
    assign,
    binary,
    body_text,
    call,
    for_loop,
    function,
    load,
    numbers,
    op,
    program,
    program_part,
    ret,
    run,
    scalar,
    store,
    tensor,
    tensor_type,
    tile,
)

from pypto_tmpl import ir
from pypto_tmpl.debug import torch_codegen

x, out, width = tensor("x", [32, 64]), tensor("out", [32, 64]), scalar("width")
t, u = tile("t", [32, 64], valid=[32, width]), tile("u", [32, 64], ir.DataType.BF16)
BODY = [
    assign(t, load(x, [0, 0], [32, 64], [32, width])),
    assign(u, op("tile.cast", [t], u.type, target_type=ir.DataType.BF16, mode=2)),
    ret(store(t, [0, 0], out)),
]


def lines(*body, **options):
    return body_text(*body, params=[x, out, width], comments=True, **options).splitlines()


def test_a_line_that_binds_a_tile_ends_in_its_type():
    assert lines(*BODY) == [
        '_compare_shapes({"x": (x.shape, [32, 64]), "out": (out.shape, [32, 64])})',
        "t = _tile_load(x, [0, 0], [32, 64], [32, width])  # FP32[32, 64] valid [32, width]",
        "u = _round_to_bf16(t)  # BF16[32, 64]",
        "return _tile_store(t, [0, 0], out, [32, width])",
    ]


def test_there_is_none_unless_it_is_asked_for_and_none_beside_checks():
    f = program(function("f", [x, out, width], *BODY))
    for options in ({}, {"comments": True, "check_shapes": True}):
        assert "#" not in program_part(torch_codegen(f, **options))


def test_a_scalar_has_no_type_in_a_comment():
    n = scalar("n")
    assert lines(assign(n, width + 1), ret(n))[1:] == ["n = width + 1", "return n"]


def test_a_line_has_100_columns_with_its_comment_or_none():
    """What counts is where the line stands: four columns further in, the comment has no place."""

    def body_of(length):
        short = tile("u" * length, [32, 64])
        return [
            assign(short, load(x, [0, 0], [32, 64])),
            assign(tile("v", [32, 64]), binary("tile.add", short, short)),
        ]

    def longest(indentation, wrap):
        kept = [
            line
            for length in range(1, 80)
            for line in torch_codegen(
                program(function("f", [x, out], *wrap(body_of(length)), type=InCore)), comments=True
            ).splitlines()
            if line.endswith("  # FP32[32, 64]")
        ]
        assert all(line.startswith(indentation) for line in kept)
        return max(map(len, kept))

    assert longest("    ", lambda body: body) == 100
    assert longest("        ", lambda body: [for_loop(scalar("i"), 2, *body)]) == 100


def test_black_keeps_the_comments():
    text = torch_codegen(program(function("f", [x, out, width], *BODY)), comments=True, format=True)
    assert "    u = _round_to_bf16(t)  # BF16[32, 64]\n" in text


def test_an_extent_in_a_comment_adds_nothing_to_the_program():
    """`rows` is read off `a` where code needs it; a comment needs the name only."""
    rows = scalar("rows")
    a = tensor("a", [rows, 8])
    b = tensor("b", [rows, 8])
    f = program(function("f", [a], assign(b, binary("tensor.add", a, a)), ret(b)))
    plain, noted = torch_codegen(f), torch_codegen(f, comments=True)
    assert "    b = a + a  # FP32[rows, 8]\n" in noted
    assert ast.dump(ast.parse(plain)) == ast.dump(ast.parse(noted))


def test_all_types_of_a_tuple_that_is_unpacked():
    pair_type = ir.TupleType([tensor_type([32, 64]), tensor_type([4], ir.DataType.INT32)])
    pair, p = ir.Var("pair", pair_type, ir.Span.unknown()), tensor("p", [32, 64])
    q, y = tensor("q", [4], ir.DataType.INT32), tensor("y", [4], ir.DataType.INT32)
    g = function("g", [x, y], ret(x, y), returns=list(pair_type.types))
    items = [
        assign(var, ir.TupleGetItemExpr(pair, index, ir.Span.unknown())) for index, var in enumerate([p, q])
    ]
    f = function("f", [x, y], assign(pair, call("g", [x, y], pair_type)), *items, ret(p))
    assert "p, q = g(x, y)  # FP32[32, 64], INT32[4]" in torch_codegen(program(f, g), comments=True)


# Source lines


def at(line, stmt_of):
    return stmt_of(ir.Span("folder/kernel.py", line, 1))


def test_source_lines_stand_above_their_statements_once_each():
    body = [
        at(3, lambda span: ir.AssignStmt(t, load(x, [0, 0], [32, 64], [32, width]), span)),
        at(4, lambda span: ir.AssignStmt(u, binary("tile.add", t, t), span)),
        at(4, lambda span: ir.ReturnStmt([t], span)),
    ]
    text = body_text(*body, params=[x, width], source_comments=True)
    assert text.splitlines()[1:] == [
        "# kernel.py:3",
        "t = _tile_load(x, [0, 0], [32, 64], [32, width])",
        "# kernel.py:4",
        "u = t + t",
        "return t",
    ]
    assert "kernel.py" not in body_text(*body, params=[x, width])


def test_a_script_with_comments_computes_the_same():
    f = program(function("f", [x, out, width], *BODY))
    text = torch_codegen(f, comments=True, source_comments=True)
    got = run(text)["f"](numbers(32, 64), torch.zeros(32, 64), 7)
    assert torch.equal(got[:, :7], numbers(32, 64)[:, :7]) and not got[:, 7:].any()


def test_a_comment_of_a_user_brings_no_helper():
    """All others say what helpers there are, and whether cores run at the same time."""
    for form in ("script", "import"):
        texts = []
        for comment in ("see this", "see _run_lanes and _TRACE"):
            stored = ret(store(t, [0, 0], out))
            ir.attach_leading_comments(stored, [comment])
            texts.append(
                torch_codegen(program(function("f", [x, out, width], BODY[0], stored)), preamble=form)
            )
        assert texts[1] == texts[0].replace("see this", "see _run_lanes and _TRACE")
