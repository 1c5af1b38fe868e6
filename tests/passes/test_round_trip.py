"""The instrument that reads the text of every stage again: what it refuses, and what text cannot tell."""

from pathlib import Path

import pytest
from passes.kernels import kernel

from pypto_tmpl import ir, passes
from pypto_tmpl.passes import round_trip
from pypto_tmpl.rewrite import Rewriter, build

TESTS = Path(__file__).resolve().parents[1]
S = ir.Span.unknown()
SAME = passes.create_program_pass(lambda program: program, "Same")


def recorded(stage: str) -> ir.Program:
    node = ir.deserialize_from_file(str(TESTS / f"{stage}.msgpack"))
    assert isinstance(node, ir.Program)
    return node


def warnings_about(node: ir.Program, caplog) -> list[str]:
    caplog.clear()
    with passes.PassContext([passes.make_roundtrip_instrument()]):
        SAME(node)
    return caplog.messages


def test_how_sequences_nest_means_nothing(caplog):
    node = recorded("pass_corpus/dumps/fir_unrolled/Ascend910B/02_after_UnrollLoops")
    assert any(isinstance(part, ir.SeqStmts) for part in ir.walk(node) if part is not node["main"].body)
    assert warnings_about(node, caplog) == []


def test_types_of_what_loops_carry_are_warned_of(caplog):
    """The tiles were halved, which the declared types of the two carries do not say."""
    node = recorded("corpus/dumps/swiglu_scope/Ascend910B/22_after_ExpandMixedKernel")
    place = "['scope_incore_2_aiv'].body[5].iter_args[{}].type.shape[0].value: 16 and 8 differ"
    what = "the program after Same reads back with another type of what a loop carries: "
    assert warnings_about(node, caplog) == [what + place.format(0), what + place.format(1)]


def test_domains_are_warned_of(caplog):
    node = recorded("pass_corpus/dumps/two_domains/Ascend910B/43_after_LowerHostTensorCollectives")
    assert warnings_about(node, caplog) == [
        "the program after Same reads back without its communication domains: text has them as comments"
    ]


def test_windows_are_named_without_the_version_of_their_variable(caplog):
    node = recorded("pass_corpus/dumps/two_domains/Ascend910B/05_after_Simplify")
    names = {part.kwargs["name"] for part in ir.walk(node) if is_allocation(part)}
    assert "data_buf" in names and not any("__ssa" in name for name in names)
    assert warnings_about(node, caplog) == []


def is_allocation(part: object) -> bool:
    return isinstance(part, ir.Call) and part.op.name == "pld.tensor.alloc_window_buffer"


class _Renaming(Rewriter):
    def expression(self, expr: ir.Expr) -> ir.Expr:
        return build(expr, kwargs=expr.kwargs.with_(name="another")) if is_allocation(expr) else expr


def test_a_window_of_another_name_is_another_program():
    node = _Renaming().rewrite(recorded("pass_corpus/dumps/two_domains/Ascend910B/05_after_Simplify"))
    with (
        passes.PassContext([passes.make_roundtrip_instrument()]),
        pytest.raises(
            RuntimeError, match=r"reads back as another one: .*kwargs\['name'\]: 'another' and '.*' d"
        ),
    ):
        SAME(node)


def test_a_program_that_a_pass_leaves_alone_is_read_once(monkeypatch):
    read = []
    parse = round_trip.parse
    monkeypatch.setattr(round_trip, "parse", lambda text: read.append(text) or parse(text))
    node = kernel("t = pl.load(x, [0, 0], [16, 16])", "out = pl.store(t, [0, 0], out)", "return out")
    with passes.PassContext([passes.make_roundtrip_instrument()]):
        SAME(node)
        SAME(node)
        assert len(read) == 1
        passes.convert_to_ssa()(node)
        assert len(read) == 2
