"""Traced scripts: what they record, in which order, how much, and that all others are as they were."""

import json
import pickle
from pathlib import Path

import pytest
import torch
from codegen.builders import program_part
from corpus_check import compare_with_golden, load_program
from scaled_dumps import inputs, scaled_text, write_dump

from pypto_tmpl import ir
from pypto_tmpl.compare.tensors import Rules
from pypto_tmpl.compare.tolerance import Tolerance
from pypto_tmpl.debug import TraceSelection, diff_traces, load_trace, save_trace, torch_codegen, trace_dump
from pypto_tmpl.debug.trace.records import Trace
from pypto_tmpl.debug.trace.run import TraceError
from pypto_tmpl.debug.trace.store import TraceStoreError
from pypto_tmpl.execution.load import load_script

CORPUS = Path(__file__).resolve().parents[2] / "corpus"
PROGRAMS = sorted(path.name for path in (CORPUS / "dumps").iterdir())
EXACT = Rules(Tolerance(0, 0))


@pytest.fixture
def dump(tmp_path):
    return write_dump(tmp_path / "dump", scaled_text()) / "00_frontend.py"


def mixed(name="mixed_bidirect_up_down"):
    dump = next((CORPUS / f"dumps/{name}/Ascend910B").glob("22_*.msgpack"))
    return dump, load_program(CORPUS / f"programs/{name}.py").make_inputs()


def named(trace, name, kind="value"):
    sites = {i for i, site in enumerate(trace.sites) if site.kind == kind and site.variable == name}
    return [record for record in trace.records if record.site in sites]


def test_every_named_value_is_recorded_with_its_place(dump):
    trace = trace_dump(dump, inputs())
    found = named(trace, "b")
    assert [record.at for record in found] == [(0,), (16,), (32,), (48,)]
    whole = inputs()["x"]
    for record, row in zip(found, (8, 24, 40, 56), strict=True):
        assert torch.equal(record.value, whole[row : row + 8] * 2)
    place = trace.place(found[1])
    assert (place.function, place.path, place.variable) == ("main", "body/0/body/1", "b")
    assert place.iteration == {"r": 16} and place.lane == "caller"
    assert place.text.startswith("b: pl.Tensor[[8, 32], pl.FP32] = pl.tensor.muls(")
    assert place.source == f"{dump}:10"
    assert trace.script.splitlines()[place.generated_line - 1].strip() == place.generated_text
    assert place.generated_text.startswith("b = ")


def test_nested_calls_parameters_loops_and_writes_are_recorded(dump):
    trace = trace_dump(dump, inputs())
    assert {site.kind for site in trace.sites} == {"parameter", "loop", "operand", "value", "write"}
    assert [record.value for record in named(trace, "r", "loop")] == [0, 16, 32, 48]
    writes = named(trace, "out", "write")
    assert [record.window for record in writes[:3]] == [(0, 0), (8, 0), (16, 0)]
    assert torch.equal(writes[1].value, inputs()["x"][8:16] * 2)
    nested = [record for record in trace.records if trace.sites[record.site].kind == "operand"]
    assert torch.equal(nested[0].value, inputs()["x"][0:8])


def test_values_are_copies(dump):
    trace = trace_dump(dump, inputs())
    (before,) = named(trace, "out", "parameter")
    assert bool((before.value == -7).all()), "the tensor was overwritten after it was recorded"


def test_valid_regions_are_recorded():
    program = load_program(CORPUS / "programs/ragged_tail_max.py")
    (dump,) = (CORPUS / "dumps/ragged_tail_max/Ascend910B").glob("22_*.msgpack")
    trace = trace_dump(dump, program.make_inputs())
    widths = [r.valid for r in trace.records if trace.variable(r).startswith("t__") and r.valid is not None]
    assert widths and widths[-1] == (32, 22)  # 150 valid columns in blocks of 64
    last = next(r for r in reversed(trace.records) if r.valid == (32, 22))
    assert last.region().shape == (32, 22)


@pytest.mark.parametrize(
    ("selection", "names"),
    [
        ({"names": ("a",)}, {"a"}),
        ({"names": ("o*", "r")}, {"out", "r"}),
        ({"kernels": ("other",)}, set()),
        ({"statements": ("main:body/0/body/1",)}, {"b", ""}),
        ({"statements": ("00_frontend.py:9",)}, {"a", ""}),
        ({"statements": ("frontend.py:9",)}, set()),
    ],
)
def test_a_selection(dump, selection, names):
    trace = trace_dump(dump, inputs(), TraceSelection(**selection))
    assert {trace.variable(record) for record in trace.records} == names


@pytest.mark.parametrize(
    ("keep", "rows"),
    [
        ({"first": 1}, [0]),
        ({"last": 2}, [32, 48]),
        ({"first": 1, "last": 1}, [0, 48]),
        ({"first": 9}, [0, 16, 32, 48]),
    ],
)
def test_first_and_last_rounds(dump, keep, rows):
    trace = trace_dump(dump, inputs(), TraceSelection(names=("a",), **keep))
    assert [record.at[0] for record in trace.records] == rows
    assert trace.size == len(rows) * 8 * 32 * 4


def test_beyond_the_limit_values_are_left_out_and_counted(dump):
    size = 8 * 32 * 4
    trace = trace_dump(dump, inputs(), TraceSelection(names=("a",), limit=2 * size + 1))
    assert [record.value is None for record in trace.records] == [False, False, True, True]
    assert trace.left_out == 2 and trace.size == 2 * size
    assert trace.left_out_note().startswith("2 of 4 values were left out: more than the limit of 2049 bytes")


@pytest.mark.parametrize("bad", [{"first": 0}, {"last": -1}, {"limit": 0}])
def test_a_selection_that_makes_no_sense(bad):
    with pytest.raises(ValueError, match=r"must be 1"):
        TraceSelection(**bad)


def test_a_script_without_trace_has_nothing_of_it():
    """A trace keeps every statement; a plain script leaves out moves and results that nothing reads."""
    node = ir.deserialize_from_file(str(mixed()[0]))
    plain, traced = torch_codegen(node), torch_codegen(node, trace=True)
    assert torch_codegen(node, trace=False) == plain
    assert not [line for line in plain.splitlines() if "_trace" in line or "_TRACE" in line]
    records = ("_trace(", "_trace_call(")
    lines = [line.strip() for line in program_part(traced).splitlines()]
    kept = [line for line in lines if not line.startswith(records)]
    program = [line.strip() for line in program_part(plain).splitlines()]
    assert [line for line in program if line not in kept] == [
        "t__tile = torch.matmul(scaled__tile_Left_mat, bt__tile).float()"
    ]
    assert [line for line in kept if line not in program] == [
        "scaled__tile_Left = scaled__tile_Left_mat",
        "bt__tile_Right = bt__tile",
        "t__tile = torch.matmul(scaled__tile_Left, bt__tile_Right).float()",
        "c__rv_v2 = c__iter_v1",
    ]


def test_lanes_are_recorded_in_one_order_whatever_the_schedule():
    dump, tensors = mixed()
    runs = [trace_dump(dump, tensors) for _ in range(3)]
    assert {record.lane for record in runs[0].records} == {"caller", "aic", "aiv0", "aiv1"}
    for other in runs[1:]:
        assert [r.order for r in other.records] == [r.order for r in runs[0].records]
        assert diff_traces(runs[0], other, EXACT).is_same
    halves = {record.lane: record.value for record in named(runs[0], "a__tile")}
    assert torch.equal(torch.cat([halves["aiv0"], halves["aiv1"]]), tensors["a"])


def test_the_limit_is_divided_among_lanes_whatever_the_schedule():
    dump, tensors = mixed()
    runs = [trace_dump(dump, tensors, TraceSelection(limit=400_000)) for _ in range(3)]
    kept = [[r.order for r in run.records if r.value is not None] for run in runs]
    assert kept[0] == kept[1] == kept[2]
    assert 0 < len(kept[0]) < len(runs[0].records)
    assert runs[0].size <= 400_000


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_traced_script_computes_what_it_did(program):
    golden = load_program(CORPUS / f"programs/{program}.py")
    dumps = sorted((CORPUS / f"dumps/{program}/Ascend910B").glob("*.msgpack"))
    for dump in {dumps[0], dumps[-1]}:
        node = ir.deserialize_from_file(str(dump))
        script = torch_codegen(node, True, trace=TraceSelection(inputs=True))
        namespace = load_script(script, f"<traced {program} {dump.stem}>")
        functions = [f.name for f in node.functions.values()]
        entry = golden.entry if golden.entry in functions else functions[-1]
        assert compare_with_golden(golden, namespace[entry]) is None
        trace = Trace.of(namespace, script, node, selection=TraceSelection(inputs=True))
        assert trace.records and all(trace.place(r).generated_line for r in trace.records)


def test_a_trace_is_read_as_it_was_written(tmp_path):
    dump, tensors = mixed()
    trace = trace_dump(dump, tensors)
    save_trace(trace, tmp_path / "t")
    save_trace(trace_dump(dump, {**tensors, "a": tensors["a"] + 1}), tmp_path / "t")
    save_trace(trace, tmp_path / "t")
    assert len(list((tmp_path / "t").iterdir())) == 3, "older values are removed"
    back = load_trace(tmp_path / "t")
    assert (back.sites, back.statements, back.script) == (trace.sites, trace.statements, trace.script)
    assert [trace.place(r) for r in trace.records] == [back.place(r) for r in back.records]
    found = diff_traces(trace, back, EXACT)
    assert found.is_same and sum(row.compared for row in found.rows) > 50


class Evil:
    def __reduce__(self):
        return print, ("run",)


def test_what_is_no_trace_is_refused_and_not_run(tmp_path, dump, capsys):
    with pytest.raises(TraceStoreError, match="there is no trace"):
        load_trace(tmp_path)
    save_trace(trace_dump(dump, inputs()), tmp_path / "t")
    (values,) = (tmp_path / "t").glob("values-*.pt")
    values.write_bytes(pickle.dumps({"0": Evil()}))
    with pytest.raises(TraceStoreError, match="cannot be read"):
        load_trace(tmp_path / "t")
    assert capsys.readouterr().out == ""
    index = tmp_path / "t/index.json"
    index.write_text(json.dumps(json.loads(index.read_text()) | {"format": 99}))
    with pytest.raises(TraceStoreError, match="trace format 99, expected 2"):
        load_trace(tmp_path / "t")


def test_the_first_value_that_differs(tmp_path):
    folder = write_dump(tmp_path / "dump", scaled_text(), scaled_text(odd=3.0, ssa="__ssa_v0"))
    one, other = (trace_dump(path, inputs()) for path in sorted(folder.iterdir()))
    found = diff_traces(one, other, EXACT)
    assert found.first is not None and found.first.name == "b"
    assert found.first.right.iteration == {"r": 0}
    assert found.first.verdict.max_abs_diff == 512.0  # x[15, 31] = 512, times 3 and not 2
    rows = {row.name: row for row in found.rows if row.differing}
    assert set(rows) == {"b", "out"} and rows["b"].differing == rows["b"].compared == 4


def test_a_write_to_another_place_differs_though_its_values_do_not(tmp_path):
    dump, tensors = mixed()
    text = dump.with_suffix(".py").read_text()
    right = "store(nxt__tile, [0 + subblock_idx * 16,"
    assert text.count(right) == 1
    edited = tmp_path / dump.with_suffix(".py").name
    edited.write_text(text.replace(right, right.replace("16", "8")))
    found = diff_traces(trace_dump(dump.with_suffix(".py"), tensors), trace_dump(edited, tensors), EXACT)
    assert found.first is not None and found.first.name == "c__tile"
    assert (found.first.right.lane, found.first.verdict.max_abs_diff) == ("aiv1", 0.0)
    assert found.first.verdict.reason == "the same values go to [8, 0], not to [16, 0]"


def test_a_failure_is_told_with_its_statement(tmp_path):
    text = scaled_text().replace("            b: pl.Tensor[[8, 32]", "            b: pl.Tensor[[8, 16]")
    folder = write_dump(tmp_path / "dump", text)
    trace = trace_dump(folder / "00_frontend.py", inputs())
    assert trace.failure is not None and "got shape [8, 32], expected [8, 16]" in trace.failure.text
    assert trace.failure.place is not None
    assert (trace.failure.place.path, trace.failure.place.variable) == ("body/0/body/1", "b")
    assert len(named(trace, "a")) == 1


def test_a_folder_of_several_dumps_is_refused(tmp_path):
    folder = write_dump(tmp_path / "dump", scaled_text(), scaled_text())
    with pytest.raises(TraceError, match="has 2 dumps; name one"):
        trace_dump(folder, inputs())
