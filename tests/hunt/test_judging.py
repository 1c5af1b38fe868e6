"""What is found in programs: nothing where nothing is wrong, and what faults do, shrunk and reported."""

import json
import shlex
from dataclasses import replace
from unittest.mock import patch

import pytest
import torch
from click.testing import CliRunner
from hunt.seeded import FAULTS, edit, is_op, loads_first, swapped

from pypto_tmpl import ir, passes
from pypto_tmpl.cli import main
from pypto_tmpl.hunt.blame import blamed
from pypto_tmpl.hunt.compilers import CompilerError, OurPasses, compiler_of
from pypto_tmpl.hunt.examine import examine
from pypto_tmpl.hunt.findings import Finding
from pypto_tmpl.hunt.naming import message_kind, op_of
from pypto_tmpl.hunt.programs.drawing import HEAD, HuntedProgram, Settings, function
from pypto_tmpl.hunt.programs.kinds import draw_program
from pypto_tmpl.hunt.report.fault import fault_of
from pypto_tmpl.hunt.shrinking.edits import statement_count
from pypto_tmpl.hunt.shrinking.shrink import is_same, shrunk
from pypto_tmpl.rewrite import build

T = "pl.Tensor[[16, 16], pl.FP32]"
KERNEL = "with pl.at(level=pl.Level.CORE_GROUP):"


def given(*lines, out="InOut"):
    head = (
        f"    @pl.function\n    def main(self, x: {T}, y: {T}, n: pl.Scalar[pl.INDEX], out: pl.{out}[{T}]):"
    )
    return HuntedProgram("given", 1, HEAD + function(head, [*lines, "return out"]), ranges={"n": (2, 3)})


SUM = given(KERNEL, "    t = pl.sub(x, y)", "    u = pl.mul(t, 0.5)", "    out = pl.assemble(out, u, [0, 0])")


def fault(name):
    return next(one for one in FAULTS if one.name == name)


def test_nothing_is_wrong_with_a_right_compiler():
    found = examine(SUM, OurPasses())
    assert found.finding is None
    torch.testing.assert_close(found.expected["out"], (found.inputs["x"] - found.inputs["y"]) * 0.5)
    assert {"tensor.sub", "tile.sub", "tile.store"} <= found.coverage.ops.keys()
    assert found.coverage.passes["ConvertTensorToTileOps"] == 1


def test_rounds_may_be_sequences_within_one():
    rounds = ["    for i in pl.range(2):", "        for k in pl.unroll(2):"]
    work = ["            t = pl.add(x, y)", "            out = pl.assemble(out, t, [0, 0])"]
    with patch("pypto_tmpl.hunt.judge._OF_FORMS", 1.0):  # every stage is asked
        found = examine(given(KERNEL, *rounds, *work), OurPasses())
    assert found.finding is None
    assert found.coverage.passes["UnrollLoops"] == 1


def test_a_program_that_is_none_is_told_so():
    found = examine(given("out = pl.assemble(out, z, [0, 0])"), OurPasses())
    assert found.finding is not None and found.finding.wrong == "program" and "'z'" in found.finding.detail
    assert found.finding.op.endswith("undefined variable _")  # one that is made smaller is refused alike


def test_wrong_values_have_a_stage_and_a_statement():
    with fault("operands of nested calls exchanged").at_work():
        found = examine(
            given(KERNEL, "    out = pl.assemble(out, pl.sub(pl.neg(x), y), [0, 0])"), OurPasses()
        )
        finding = blamed(found)
    assert str(finding.signature) == "FlattenCallExpr / values / tensor.sub"
    assert (finding.before, finding.stage) == ("04_after_ConvertToSSA", "07_after_FlattenCallExpr")
    assert "out" in finding.detail


def after(name, made):
    """The pass of a name makes something else."""
    cls = passes.PASSES[name]
    transform = cls.transform
    return patch.object(cls, "transform", lambda self, node, context: made(transform(self, node, context)))


def raising(error):
    def made(_):
        raise error

    return made


@pytest.mark.parametrize(
    ("error", "wrong", "op"),
    [
        (KeyError("x"), "crash", "KeyError in test_judging.made"),
        (passes.PassError("no 'x12' here"), "refused", "PassError: no _ here"),
    ],
)
def test_passes_that_raise(error, wrong, op):
    with after("MemoryReuse", raising(error)):
        finding = examine(SUM, OurPasses()).finding
    assert finding is not None
    assert (finding.pass_name, finding.wrong, finding.op) == ("MemoryReuse", wrong, op)
    assert finding.before == "32_after_InitMemRef"


def test_a_report_tells_what_the_passes_were_told():
    told = replace(SUM, settings=Settings("PTOAS", buffers=True))
    with after("Simplify", raising(KeyError("x"))):
        found = examine(told, OurPasses())
    text = fault_of(found, told).files["report.md"].decode()
    assert "compiled for Ascend910B, memory_planner=PTOAS, buffers=True: the compiler crashes" in text
    assert "pypto-tmpl lower program.py --backend Ascend910B --planner ptoas --buffers --dump again" in text


def test_a_pass_that_breaks_what_it_promises():
    with after("ConvertToSSA", lambda node: SUM.parsed()):
        finding = examine(SUM, OurPasses()).finding
    assert finding is None or finding.pass_name == "ConvertToSSA"


def test_a_pass_that_does_not_end():
    def forever(_):
        while True:
            pass

    with after("Simplify", forever):
        finding = examine(SUM, OurPasses(), seconds=1.5).finding
    assert finding is not None and (finding.wrong, finding.detail.split()[-2:]) == ("time", ["1.5", "s"])
    assert (finding.before, finding.pass_name) == ("04_after_ConvertToSSA", "Simplify")


def test_a_stage_that_checks_stumble_over_is_wrong():
    with patch("pypto_tmpl.hunt.judge.overwrites", side_effect=KeyError("x")):
        finding = examine(SUM, OurPasses()).finding
    assert finding is not None and (finding.pass_name, finding.wrong) == ("MemoryReuse", "script")


def test_an_input_that_is_written_to():
    """Calls of a kernel get the input in the place of the output."""

    def wrong(node):
        from pypto_tmpl.rewrite import Rewriter, build

        class ToInput(Rewriter):
            def function(self, one):
                return one

        main = node.functions[next(key for key in node.functions if key.name == "main")]
        x, out = main.params[0], main.params[3]

        class Swapped(Rewriter):
            def expression(self, expr):
                if isinstance(expr, ir.Call) and isinstance(expr.op, ir.GlobalVar):
                    return build(expr, args=[x if arg is out else arg for arg in expr.args])
                return expr

        rest = [f for f in node.functions.values() if f is not main]
        return build(node, functions=[*rest, Swapped().rewrite(main)])

    with after("OptimizeOrchTensors", wrong):
        finding = examine(SUM, OurPasses()).finding
    assert finding is not None and finding.wrong in ("values", "input", "verifier")


def test_shrinking_keeps_the_fault_and_little_else(tmp_path):
    with fault("arguments of outlined kernels exchanged").at_work():
        for seed in range(12):
            drawn = draw_program("tensors", seed)
            found = examine(drawn, OurPasses())
            if found.finding is not None and found.finding.pass_name == "OutlineIncoreScopes":
                break
        finding = blamed(found)
        small = shrunk(drawn, finding, OurPasses(), seconds=40)
        assert is_same(small, finding)
    assert statement_count(small.program.text) <= 12 < statement_count(drawn.text)
    fault_ = fault_of(small, drawn)
    data = json.loads(fault_.files["fault.json"])
    assert data["signature"]["stage"] == "OutlineIncoreScopes"
    assert {"program.py", "inputs.pt", "expected.pt", "stages.diff", "report.md"} <= fault_.files.keys()
    text = fault_.files["report.md"].decode()
    assert small.program.text.strip() in text and "pypto-tmpl bisect passes_dump" in text
    assert len([name for name in fault_.files if name.startswith("passes_dump/")]) == 4


CARRY = HuntedProgram(
    "given",
    1,
    HEAD
    + function(
        f"    @pl.function(type=pl.FunctionType.InCore)\n"
        f"    def main(self, x: {T}, y: {T}, out: pl.InOut[{T}]) -> {T}:",
        [
            "a = pl.load(x, [0, 0], [16, 16])",
            "b = pl.load(y, [0, 0], [16, 16])",
            "for i, (c,) in pl.range(2, init_values=(a,)):",
            "    d = pl.add(c, a)",
            "    e = pl.yield_(b)",
            "f = pl.add(e, b)",
            "out = pl.store(f, [0, 0], out)",
            "return out",
        ],
    ),
)


def slightly_more(expr):
    return build(expr, value=0.505) if isinstance(expr, ir.ConstFloat) else expr


@pytest.mark.parametrize(
    ("wrong", "program", "command", "says"),
    [
        (
            lambda: after("ConvertToSSA", edit(expression=slightly_more)),
            SUM,
            "bisect",
            "wrong  04_after_ConvertToSSA",
        ),
        (lambda: fault("carries not copied").at_work(), CARRY, "memory", "wrong: "),
    ],
)
def test_the_commands_of_a_report_show_the_fault(tmp_path, monkeypatch, wrong, program, command, says):
    with wrong():
        found = examine(program, OurPasses())
    assert found.finding is not None, program.text
    for name, data in fault_of(found, program).files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    lines = (tmp_path / "report.md").read_text().splitlines()
    [line] = [line for line in lines if line.startswith("pypto-tmpl")]
    monkeypatch.chdir(tmp_path)
    ran = CliRunner().invoke(main, shlex.split(line)[1:])
    assert line.split()[1] == command and ran.exit_code == 1 and says in ran.output, ran.output


def test_what_is_returned_alone_is_told_so():
    lines = [KERNEL, "    t = pl.sub(x, y)", "    out = pl.assemble(out, x, [0, 0])", "return t"]
    head = f"    @pl.function\n    def main(self, x: {T}, y: {T}, out: pl.InOut[{T}]):"
    program = HuntedProgram("given", 1, HEAD + function(head, lines))
    with after("FlattenCallExpr", edit(expression=swapped("tensor.sub"))):
        found = examine(program, OurPasses())
    assert found.finding is not None and found.finding.shows == "results"
    text = fault_of(found, program).files["report.md"].decode()
    assert "pypto-tmpl gen" in text and "pypto-tmpl bisect passes_dump" not in text
    visible = replace(found.finding, shows="parameters")
    assert not found.finding.is_like(visible) and visible.is_like(found.finding)


@pytest.mark.parametrize(
    ("statement", "op"),
    [
        ("x: pl.Tile[[8, 8], pl.FP32] = pl.tile.load(a, [0, 0])", "tile.load"),
        ("pl.tile.store(t, [0, 0], o)", "tile.store"),
        ("o = self.kernel(a, o)", "call"),
        ("for i in pl.range(3):", "for"),
        ("a = b", "assignment"),
        ("", ""),
    ],
)
def test_ops_of_statements(statement, op):
    assert op_of(statement) == op


def test_messages_without_what_belongs_to_the_program():
    assert message_kind("'v12__iter_v1' needs 4096 bytes of Vec\nmore") == "_ needs _ bytes of Vec"


def test_findings_are_told_apart():
    one = Finding("04_after_Simplify", "values", "a", op="tile.add")
    assert one.signature == Finding("33_after_Simplify", "values", "b", op="tile.add").signature
    assert one.signature != Finding("04_after_Simplify", "values", "a", op="tile.sub").signature


def test_no_compiler():
    with pytest.raises(CompilerError, match="empty command"):
        compiler_of("  ")
    with pytest.raises(CompilerError, match="is no command: No closing quotation"):
        compiler_of("python 'my compiler.py")


def test_seeded_faults_are_of_many_kinds_and_passes():
    assert sum(not one.was_missed for one in FAULTS) == 24
    assert len({one.stage for one in FAULTS}) >= 20
    assert len({one.kind for one in FAULTS}) >= 7
    assert not is_op(None, "tile.add")


def test_a_seeded_fault_moves_loads_above_stores():
    def kernel(*lines):
        of = f"    @pl.function(type=pl.FunctionType.InCore)\n    def main(self, x: {T}, out: pl.InOut[{T}]):"
        body = [*lines, "out = pl.store(u, [0, 0], out)", "return out"]
        return HuntedProgram("given", 1, HEAD + function(of, body)).parsed()

    whole = "pl.load({}, [0, 0], [16, 16])"
    first, store, load = f"t = {whole.format('x')}", "pl.store(t, [0, 0], out)", f"u = {whole.format('out')}"
    ir.assert_structural_equal(loads_first(kernel(first, store, load)), kernel(first, load, store))
