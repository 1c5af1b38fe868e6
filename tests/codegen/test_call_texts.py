"""Texts of calls are taken again only where all that their macros have asked for is the same."""

from collections.abc import Hashable, Sequence

import pytest
from codegen.builders import (
    AIV,
    assign,
    binary,
    evaluate,
    function,
    load,
    program,
    store,
    tensor,
    tile,
)

from pypto_tmpl import ir
from pypto_tmpl.codegen import call_texts
from pypto_tmpl.codegen.call_texts import Asked, CallTexts, Key, Question
from pypto_tmpl.codegen.script import generator
from pypto_tmpl.debug import torch_codegen

INSIDE, SHAPE = ("is_inside", -1), ("shape", 0)


class Facts:
    """What calls are asked for, in order."""

    def __init__(self, known: dict[Question, Hashable]) -> None:
        self.known = known
        self.asked: list[Question] = []

    def __call__(self, question: Question) -> Hashable:
        self.asked.append(question)
        return self.known[question]


def text_of(texts: CallTexts, key: Key, answer: Facts) -> str | None:
    found = texts.find(key)
    return found.told(answer) if isinstance(found, Asked) else found


def test_a_text_is_found_by_key_and_answers() -> None:
    texts, key = CallTexts(), ("tile.load", "x")
    texts.keep(key, {INSIDE: True, SHAPE: ("16",)}, "x[0:16]")
    texts.keep(key, {INSIDE: False}, "_tile_load(x)")
    inside = Facts({INSIDE: True, SHAPE: ("16",)})
    assert text_of(texts, key, inside) == "x[0:16]"
    assert inside.asked == [INSIDE, SHAPE]
    outside = Facts({INSIDE: False})
    assert text_of(texts, key, outside) == "_tile_load(x)"
    assert outside.asked == [INSIDE]
    assert text_of(texts, key, Facts({INSIDE: True, SHAPE: ("32",)})) is None
    assert text_of(texts, ("tile.load", "y"), Facts({})) is None


def test_what_asks_otherwise_than_before_is_not_kept() -> None:
    texts, key = CallTexts(), ("tile.load", "x")
    texts.keep(key, {INSIDE: True}, "first")
    texts.keep(key, {SHAPE: ("16",)}, "second")
    assert text_of(texts, key, Facts({INSIDE: True})) == "first"


def test_only_so_many_texts_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_texts, "MAX_TEXTS", 2)
    texts = CallTexts()
    for number in range(5):
        texts.keep((number,), {}, str(number))
    found = [text_of(texts, (number,), Facts({})) for number in range(5)]
    assert found == [None, None, None, None, "4"]


def kernel(
    extents: list[int],
    shape: list[int],
    *,
    dtype: ir.DataType = ir.DataType.FP32,
    value: float = 1.5,
    valid: Sequence[int] = (),
    writes_source: bool = False,
) -> ir.Program:
    """Load a window of x, scale it, store it to out; the names are those of all such kernels."""
    x, out = tensor("x", extents, dtype), tensor("out", extents, dtype)
    t, u = (tile(name, shape, dtype, valid=valid) for name in ("t", "u"))
    body = [assign(t, load(x, [0, 0], shape, valid))]
    if writes_source:
        body.append(evaluate(store(t, [0, 0], x)))
    body += [
        assign(u, binary("tile.muls", t, ir.ConstFloat(value, dtype, ir.Span.unknown()))),
        evaluate(store(u, [0, 0], out)),
    ]
    return program(function("main", [x, out], *body, type=AIV))


ALIKE = [
    kernel([16, 32], [16, 32]),
    kernel([16, 32], [16, 64]),
    kernel([16, 32], [16, 32], writes_source=True),
    kernel([16, 32], [16, 32], valid=[8, 32]),
    kernel([16, 32], [16, 32], valid=[8, 16]),
    kernel([16, 32], [16, 32], value=0.0),
    kernel([16, 32], [16, 32], value=-0.0),
    kernel([16, 32], [16, 32], value=1e30),
    kernel([16, 32], [16, 32], dtype=ir.DataType.FP16),
    kernel([16, 32], [16, 32], dtype=ir.DataType.BF16, value=1e30),
]


@pytest.mark.parametrize("step", [1, -1])
def test_no_program_gets_the_texts_of_another(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    ops, alone = generator().ops, []
    for node in ALIKE:
        monkeypatch.setattr(ops, "texts", CallTexts())
        alone.append(torch_codegen(node, check_shapes=True))
    assert len(set(alone)) == len(ALIKE)
    monkeypatch.setattr(ops, "texts", CallTexts())
    for node, text in [*zip(ALIKE, alone, strict=True)][::step] * 2:
        assert torch_codegen(node, check_shapes=True) == text
