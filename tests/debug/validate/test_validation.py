"""Validating a whole dump: what is printed, what is raised, what is run and what is not."""

import inspect
import json
import multiprocessing
import os
import pickle
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from scaled_dumps import expected, inputs, scaled_text, write_dump

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.debug import (
    EntryError,
    MissingTensorError,
    Options,
    Tolerance,
    Validation,
    ValidationError,
    WorkerPool,
    validate_pass_ir_codegen_results,
)
from pypto_tmpl.debug.checking import check_stages


@pytest.fixture(scope="module")
def pool():
    with WorkerPool(2) as workers:
        yield workers


@pytest.fixture(params=["this process", "workers"])
def where(request):
    """The options that have stages run in this process, or in worker processes."""
    return {"jobs": 1} if request.param == "this process" else {"executor": request.getfixturevalue("pool")}


GOOD, BAD = scaled_text(), scaled_text(odd=3.0)
RIGHT_LINE = "validate tensor: 'out', max_abs_diff: 0.000000e+00, pass: True, rtol: 5e-02, atol: 5e-02"
# The last cell is 2048; 3 * 2048 instead of 2 * 2048.
WRONG_LINE = "validate tensor: 'out', max_abs_diff: 2.048000e+03, pass: False, rtol: 5e-02, atol: 5e-02"


def check(path, tensors=None, wanted=None, **options):
    return validate_pass_ir_codegen_results(
        path, inputs() if tensors is None else tensors, expected() if wanted is None else wanted, **options
    )


@pytest.fixture
def dump(tmp_path):
    """Five stages, of which the second is like the first and the third is wrong."""
    return write_dump(
        tmp_path, GOOD, scaled_text(ssa="__ssa_v0"), BAD, GOOD, scaled_text(2.0, 2.0, "__ssa_v1")
    )


def rerun(dump, name, more=""):
    return f"validate_pass_ir_codegen_results('{dump / name}.py', tensors, {{'out': expected['out']}}{more})"


def details(command):
    return [
        "bad cells: 1024 of 2048 (50 %)",
        "max abs diff: 2.048000e+03 at [63, 31]: got 6144.0, expected 4096.0",
        "max rel diff: 5.000000e-01 at [8, 0]: got 771.0, expected 514.0",
        "first bad cell: 2.570000e+02 at [8, 0]: got 771.0, expected 514.0",
        # Every cell of lane 0 is right; nearest ranks of the 2048 sorted differences.
        "abs diff quantiles: 50 % 2.570e+02, 90 % 1.843e+03, 99 % 2.028e+03, 99.9 % 2.046e+03",
        "where: all in rows 8-15 of each 16",
        "where: the second half: what lane 1 of a split by rows computes",
        f"rerun: {command}",
    ]


def test_the_first_bad_stage_ends_the_validation(dump, capsys):
    with pytest.raises(AssertionError) as caught:
        check(dump)
    shape = details(rerun(dump, "02_after_Pass2"))
    assert capsys.readouterr().out.splitlines() == [
        "==================== 00_frontend ====================",
        "read from 00_frontend.py",
        RIGHT_LINE,
        "==================== 01_after_Pass1 ====================",
        "read from 01_after_Pass1.py",
        "same IR as 00_frontend: not run again",
        RIGHT_LINE,
        "==================== 02_after_Pass2 ====================",
        "read from 02_after_Pass2.py",
        WRONG_LINE,
        *(f"    {line}" for line in shape),
    ]
    assert isinstance(caught.value, ValidationError)
    assert str(caught.value).splitlines() == [
        "error[validation]: 02_after_Pass2: 'out' not as expected, max diff 2.048000e+03",
        f"  --> {dump / '02_after_Pass2.py'}",
        f"   = {WRONG_LINE}",
        *(f"   =   {line}" for line in shape),
        "   = the last good stage before it: 01_after_Pass1",
    ]
    assert [stage.passed for stage in caught.value.result.stages] == [True, True, False]


def test_all_stages_are_checked_where_that_is_asked_for(dump, capsys):
    with pytest.raises(AssertionError) as caught:
        check(dump, stop_at_first=False)
    result = caught.value.result
    assert [stage.passed for stage in result.stages] == [True, True, False, True, True]
    assert [stage.same_as for stage in result.stages] == ["", "00_frontend", "", "", "03_after_Pass3"]
    assert not result.passed and result.total == 5
    assert capsys.readouterr().out.count("=" * 20 + " ") == 5


def test_every_bad_stage_is_named_at_the_end(tmp_path):
    write_dump(tmp_path, BAD, GOOD, scaled_text(odd=4.0))
    with pytest.raises(AssertionError) as caught:
        check(tmp_path, stop_at_first=False)
    first, *_, last = str(caught.value).splitlines()
    assert first == "error[validation]: 00_frontend: 'out' not as expected, max diff 2.048000e+03"
    assert last == "   = bad too: 02_after_Pass2"


def test_a_dump_that_is_right_gives_its_result(tmp_path, capsys):
    result = check(write_dump(tmp_path, GOOD, scaled_text(ssa="__ssa_v0")))
    assert result.passed and [stage.stage.name for stage in result.stages] == [
        "00_frontend",
        "01_after_Pass1",
    ]
    assert capsys.readouterr().out.splitlines()[-1] == RIGHT_LINE


def test_a_single_file_is_checked_alone(dump):
    assert check(dump / "03_after_Pass3.py").total == 1
    assert check(str(dump / "03_after_Pass3.py")).passed
    with pytest.raises(AssertionError):
        check(dump / "02_after_Pass2.py")


@pytest.mark.parametrize("jobs", [None, 1, 2])
def test_jobs_do_not_change_what_is_found(dump, jobs, capsys):
    with pytest.raises(AssertionError) as caught:
        check(dump, stop_at_first=False, jobs=jobs)
    assert [stage.same_as for stage in caught.value.result.stages] == [
        "",
        "00_frontend",
        "",
        "",
        "03_after_Pass3",
    ]
    assert capsys.readouterr().out.count(WRONG_LINE) == 1


def processes():
    return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))


@pytest.mark.parametrize("make", [lambda: ThreadPoolExecutor(2), processes], ids=["threads", "processes"])
def test_any_executor_serves(dump, make):
    with make() as executor:
        with pytest.raises(AssertionError) as caught:
            check(dump, stop_at_first=False, executor=executor)
        assert [stage.passed for stage in caught.value.result.stages] == [True, True, False, True, True]
        assert executor.submit(sum, [1, 2]).result() == 3  # the caller's executor is not shut down


def test_a_dask_cluster_serves(dump):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
        pytest.raises(AssertionError) as caught,
    ):
        check(dump, stop_at_first=False, executor=client.get_executor())
    assert [stage.passed for stage in caught.value.result.stages] == [True, True, False, True, True]


class ByValueExecutor(Executor):
    """Knows nothing of this machine: pickles what it is given, as a cluster would."""

    def __init__(self):
        self.sizes = []

    def submit(self, fn, /, *args, **kwargs):
        data = pickle.dumps((fn, args, kwargs))
        self.sizes.append(len(data))
        function, values, keywords = pickle.loads(data)
        future = Future()
        future.set_result(function(*values, **keywords))
        return future


def test_tasks_for_another_machine_carry_everything_with_them(dump, monkeypatch):
    executor = ByValueExecutor()
    monkeypatch.setattr("tempfile.mkstemp", None)  # a file would be of no use there
    with pytest.raises(AssertionError) as caught:
        check(dump, stop_at_first=False, executor=executor)
    assert [stage.passed for stage in caught.value.result.stages] == [True, True, False, True, True]
    assert max(executor.sizes) > 3 * 64 * 32 * 4


def test_results_stream_and_the_rest_is_not_run(tmp_path):
    write_dump(tmp_path, GOOD, *(scaled_text(2.0 + 0.001 * n) for n in range(1, 40)))
    executor = ByValueExecutor()
    validation = Validation(tmp_path, inputs(), expected(), Options(executor=executor, jobs=2))
    results = validation.results()
    assert next(results).passed
    assert len(executor.sizes) < 12
    results.close()


def test_stages_do_not_see_what_another_computed(tmp_path):
    doubled = GOOD.replace("pl.Out[", "pl.InOut[").replace("slice(x,", "slice(out,")
    write_dump(tmp_path, doubled, scaled_text(odd=2.0000001).replace("slice(x,", "slice(out,"), GOOD)
    tensors, wanted = inputs(), {"out": torch.full((64, 32), -14.0)}
    with pytest.raises(AssertionError) as caught:
        check(tmp_path, tensors, wanted, stop_at_first=False)
    assert [stage.passed for stage in caught.value.result.stages] == [True, True, False]
    assert torch.equal(tensors["out"], inputs()["out"]) and torch.equal(tensors["x"], inputs()["x"])


def test_expected_may_be_the_very_tensor_that_is_written(tmp_path):
    tensors = inputs()
    with pytest.raises(AssertionError):
        check(write_dump(tmp_path, GOOD), tensors, {"out": tensors["out"]})
    assert torch.equal(tensors["out"], inputs()["out"])


def test_names_match_without_ssa_suffix(tmp_path):
    write_dump(tmp_path, scaled_text(ssa="__ssa_v0"))
    assert check(tmp_path).passed
    assert check(tmp_path, {"x__ssa_v0": inputs()["x"], "out": inputs()["out"]}).passed
    assert check(tmp_path, wanted={"out__ssa_v3": expected()["out"]}).passed


def test_a_pure_output_need_not_be_given(tmp_path):
    assert check(write_dump(tmp_path, GOOD), {"x": inputs()["x"]}).passed


def test_numbers_serve_for_scalar_parameters(tmp_path):
    text = GOOD.replace("self, x:", "self, n: pl.Scalar[pl.INDEX], x:").replace(
        "pl.range(0, 64, 16)", "pl.range(0, n, 16)"
    )
    write_dump(tmp_path, text)
    assert check(tmp_path, {**inputs(), "n": 64}).passed
    assert check(tmp_path, {**inputs(), "n": torch.tensor(64)}).passed
    half = expected()["out"].clone()
    half[32:] = -7.0
    assert check(tmp_path, {**inputs(), "n": 32}, {"out": half}).passed


def test_tolerances_are_applied_and_printed(tmp_path, capsys):
    write_dump(tmp_path, GOOD, scaled_text(odd=2.004))
    assert check(tmp_path).passed
    # What the default hides: 2048 * (float32(2.004) - 2).
    assert "max_abs_diff: 8.191895e+00, pass: True, rtol: 5e-02, atol: 5e-02" in capsys.readouterr().out
    with pytest.raises(AssertionError) as caught:
        check(tmp_path, rtol=1e-3, atol=1e-3)
    assert "pass: False, rtol: 1e-03, atol: 1e-03" in capsys.readouterr().out
    assert f"rerun: {rerun(tmp_path, '01_after_Pass1', ', rtol=0.001, atol=0.001')}" in str(caught.value)


@pytest.mark.parametrize("tight", [1e-3, (1e-3, 0.0), Tolerance(1e-3, 0.0)])
def test_a_tensor_may_have_its_own_tolerance(tmp_path, tight):
    write_dump(tmp_path, scaled_text(odd=2.004))
    with pytest.raises(AssertionError) as caught:
        check(tmp_path, tolerances={"out": tight})
    assert "tolerances={'out': (0.001, 0" in str(caught.value)
    assert check(tmp_path, rtol=0, atol=0, tolerances={"out": (3e-3, 0.0)}).passed


def test_a_comparator_may_be_a_closure_and_sees_all_tensors(dump, where, capsys):
    seen = []

    def lane_0(actual, expected, *, actual_outputs, expected_outputs, inputs, rtol, atol):
        seen.append((sorted(actual_outputs), sorted(expected_outputs), sorted(inputs), rtol, atol))
        same = torch.equal(actual.view(4, 16, 32)[:, :8], expected.view(4, 16, 32)[:, :8])
        return same, "lane 0 differs"

    assert check(dump, comparators={"out": lane_0}, **where).passed
    assert seen == [(["out"], ["out"], ["x"], 5e-2, 5e-2)] * 3  # two of the five stages were not run again
    assert f"{WRONG_LINE.replace('False', 'True')}, comparator: lane_0" in capsys.readouterr().out


def test_a_comparator_that_says_no_is_reported_with_its_message(tmp_path):
    with pytest.raises(AssertionError) as caught:
        check(write_dump(tmp_path, GOOD), comparators={"out": lambda *_, **__: (False, "    3 bad points")})
    assert "   =       3 bad points" in str(caught.value).splitlines()
    assert ", comparators={'out': comparators['out']})" in str(caught.value)


def test_nan_is_equal_to_nan_where_that_is_asked_for(tmp_path):
    write_dump(tmp_path, GOOD)
    tensors, wanted = inputs(), expected()
    tensors["x"][3, 4] = wanted["out"][3, 4] = torch.nan
    with pytest.raises(AssertionError):
        check(tmp_path, tensors, wanted)
    assert check(tmp_path, tensors, wanted, equal_nan=True).passed


def test_dtypes_are_widened_where_that_is_asked_for(tmp_path):
    write_dump(tmp_path, GOOD)
    wanted = {"out": expected()["out"].double()}
    with pytest.raises(AssertionError) as caught:
        check(tmp_path, wanted=wanted)
    assert "   =   dtype torch.float32, expected torch.float64: the values agree" in str(caught.value)
    assert check(tmp_path, wanted=wanted, widen_dtypes=True).passed


def test_a_stage_that_cannot_be_read_is_bad(tmp_path, capsys):
    write_dump(tmp_path, GOOD, "def main(:\n", GOOD)
    with pytest.raises(AssertionError) as caught:
        check(tmp_path)
    lines = str(caught.value).splitlines()
    path = tmp_path / "01_after_Pass1.py"
    assert (
        lines[0]
        == f"error[validation]: 01_after_Pass1: error[stage]: {path} does not parse and has no companion"
    )
    assert lines[-2:] == [
        f"   = rerun: validate_pass_ir_codegen_results('{path}', tensors, expected)",
        "   = the last good stage before it: 00_frontend",
    ]
    assert f"no verdict: error[stage]: {path} does not parse" in capsys.readouterr().out


def test_a_script_that_raises_is_bad(tmp_path, capsys):
    wrong = GOOD.replace("a: pl.Tensor[[8, 32], pl.FP32] = ", "a: pl.Tensor[[8, 16], pl.FP32] = ")
    with pytest.raises(AssertionError) as caught:
        check(write_dump(tmp_path, GOOD, wrong))
    first, where, frame, line, *_ = str(caught.value).splitlines()
    assert first == "error[validation]: 01_after_Pass1: ValueError: a: got shape [8, 32], expected [8, 16]"
    assert where == f"  --> {tmp_path / '01_after_Pass1.py'}"
    assert '<pypto_tmpl scaled 01_after_Pass1>", line ' in frame and frame.endswith(", in main")
    assert line.replace('"', "'") == "   =     _check_tensor('a', a, [8, 16], torch.float32)"


def test_the_companion_is_used_and_named(tmp_path, capsys):
    write_dump(tmp_path, GOOD.replace("muls", "mulls"))
    ir.serialize_to_file(pl.parse(GOOD), tmp_path / "00_frontend.msgpack")
    result = check(tmp_path)
    assert result.stages[0].read_from == str(tmp_path / "00_frontend.msgpack")
    line = capsys.readouterr().out.splitlines()[1]
    assert line.startswith(
        "read from 00_frontend.msgpack: the text cannot be emitted (operator 'tensor.mulls'"
    )


def test_the_same_text_is_read_once(tmp_path, monkeypatch):
    write_dump(tmp_path, GOOD, GOOD, GOOD, BAD.replace("3.0", "2.0"))
    read = []
    parse = pl.parse
    monkeypatch.setattr(
        "pypto_tmpl.debug.stages.preparation.pl.parse", lambda *a: read.append(a[1]) or parse(*a)
    )
    result = check(tmp_path, jobs=1)
    assert [stage.same_as for stage in result.stages] == [
        "",
        "00_frontend",
        "01_after_Pass1",
        "02_after_Pass2",
    ]
    assert [stage.read_from for stage in result.stages] == [str(stage.stage.path) for stage in result.stages]
    assert len(read) == 1


def test_the_same_text_with_other_companions_is_not_the_same(tmp_path, monkeypatch):
    """Buffer text may leave out what the companion knows."""
    write_dump(tmp_path, "buffers\n", "buffers\n")
    for name, text in (("00_frontend", GOOD), ("01_after_Pass1", BAD)):
        ir.serialize_to_file(pl.parse(text), tmp_path / f"{name}.msgpack")
    monkeypatch.setattr(ir, "python_print", lambda node, format: "buffers")
    with pytest.raises(AssertionError) as caught:
        check(tmp_path, jobs=1)
    assert [(s.passed, s.same_as) for s in caught.value.result.stages] == [(True, ""), (False, "")]


def test_the_same_script_is_not_run_again(tmp_path, capsys):
    """A loop whose rounds may run at once is other IR, but the same script."""
    parallel = GOOD.replace("pl.range", "pl.parallel")
    result = check(write_dump(tmp_path, GOOD, parallel), jobs=1)
    assert [(s.same_as, s.same_what) for s in result.stages] == [("", ""), ("00_frontend", "script")]
    assert "same script as 00_frontend: not run again" in capsys.readouterr().out


def test_a_wrong_constant_after_an_equal_stage_is_run(tmp_path):
    with pytest.raises(AssertionError) as caught:
        check(
            write_dump(tmp_path, scaled_text(-1.0, -1.0), scaled_text(-2.0, -2.0)),
            wanted={"out": -inputs()["x"]},
        )
    assert [(s.passed, s.same_as) for s in caught.value.result.stages] == [(True, ""), (False, "")]


def test_a_renamed_parameter_is_not_the_same_call(tmp_path):
    """Structural equality does not look at names, but arguments meet parameters by them."""
    renamed = GOOD.replace("x:", "y:").replace("slice(x,", "slice(y,")
    with pytest.raises(MissingTensorError) as caught:
        check(write_dump(tmp_path, GOOD, renamed))
    assert "parameter 'y' of the entry 'main' is not among the inputs" in str(caught.value)
    assert "the input 'x' is no parameter of the entry" in str(caught.value)


def test_a_missing_input_is_an_error_of_its_own(tmp_path):
    write_dump(tmp_path, GOOD)
    with pytest.raises(KeyError) as caught:
        check(tmp_path, {"out": inputs()["out"]})
    assert isinstance(caught.value, MissingTensorError)
    assert str(caught.value) == (
        "error[missing-tensor]: parameter 'x' of the entry 'main' is not among the inputs\n"
        "   = parameters: x, out\n"
        "   = inputs: out"
    )


def test_an_entry_that_is_not_clear_is_an_error_of_its_own(tmp_path, where):
    text = GOOD + scaled_text(3.0, 3.0, name="other").partition("class Scaled:\n")[2]
    write_dump(tmp_path, text)
    with pytest.raises(EntryError) as caught:
        check(tmp_path, **where)
    assert str(caught.value).splitlines()[-3:] == [
        "   =   main(x, out), Opaque",
        "   =   other(x, out), Opaque",
        "   = make it the only orchestration function; `validate` also takes its name as entry",
    ]
    assert check(tmp_path, entry="main", **where).passed
    with pytest.raises(ValidationError) as wrong:
        check(tmp_path, entry="other", **where)
    assert "entry='other')" in str(wrong.value)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (
            {"tensors": [torch.ones(2)]},
            TypeError,
            "tensors must be a dict of tensors by the names of parameters, got list",
        ),
        (
            {"wanted": torch.ones(2)},
            TypeError,
            "expected must be a dict of tensors by the names of parameters, got Tensor",
        ),
        ({"tensors": {"x": [1.0]}}, TypeError, "tensors['x'] must be a torch.Tensor, got list"),
        ({"wanted": {"out": 1.0}}, TypeError, "expected['out'] must be a torch.Tensor, got float"),
        ({"wanted": {}}, ValueError, "expected is empty: there is nothing to compare"),
        ({"rtol": -1.0}, ValueError, "rtol must be 0 or more, got -1.0"),
        ({"jobs": 0}, ValueError, "jobs must be 1 or more, got 0"),
        ({"executor": 3}, TypeError, "executor must be a concurrent.futures.Executor, got int"),
        (
            {"report": "out.txt"},
            ValueError,
            "error[report]: a report is a .html or .json file, got 'out.txt'",
        ),
        ({"time_limit": 0}, ValueError, "time_limit must be more than 0 s, got 0"),
        (
            {"tolerances": {"ouut": 1.0}},
            ValueError,
            "tolerances has 'ouut', which is not among the expected tensors; "
            "expected: out; did you mean 'out'?",
        ),
        (
            {"comparators": {"x": max}},
            ValueError,
            "comparators has 'x', which is not among the expected tensors; expected: out",
        ),
    ],
)
def test_arguments_that_do_not_fit(dump, arguments, error, text):
    with pytest.raises(error) as caught:
        check(dump, **arguments)
    assert str(caught.value) == text


def test_a_folder_without_dumps(tmp_path):
    with pytest.raises(FileNotFoundError):
        check(tmp_path)


def test_the_report_holds_all_that_was_found(dump, tmp_path):
    report = tmp_path / "sub" / "report.json"
    with pytest.raises(AssertionError):
        check(dump, report=report)
    found = json.loads(report.read_text())
    assert {key: found[key] for key in ("passed", "complete", "total", "checked", "bad")} == {
        "passed": False,
        "complete": False,
        "total": 5,
        "checked": 3,
        "bad": ["02_after_Pass2"],
    }
    [tensor] = found["stages"][2]["tensors"]
    assert {key: tensor[key] for key in ("name", "passed", "max_abs_diff", "rtol", "atol")} == {
        "name": "out",
        "passed": False,
        "max_abs_diff": 2048.0,
        "rtol": 0.05,
        "atol": 0.05,
    }
    assert tensor["error"]["bad"] == 1024
    assert tensor["error"]["places"][0] == "all in rows 8-15 of each 16"


def test_the_report_is_strict_json_for_infinities(tmp_path):
    tensors = inputs()
    tensors["x"][0, 0] = torch.inf
    with pytest.raises(AssertionError):
        check(write_dump(tmp_path, GOOD), tensors, report=tmp_path / "r.json")
    text = (tmp_path / "r.json").read_text()
    found = json.loads(text, parse_constant=lambda constant: pytest.fail(f"{constant} is no JSON"))
    assert found["stages"][0]["tensors"][0]["max_abs_diff"] == "inf"


def test_an_interruption_leaves_what_was_found(dump, tmp_path, capsys):
    validation = Validation(dump, inputs(), expected(), Options(jobs=1))
    first = next(validation.results())
    validation.results = lambda: _interrupted(first)
    with pytest.raises(KeyboardInterrupt):
        check_stages(validation, True, tmp_path / "r.json")
    found = json.loads((tmp_path / "r.json").read_text())
    assert (found["complete"], found["checked"], found["stages"][0]["passed"]) == (False, 1, True)
    assert RIGHT_LINE in capsys.readouterr().out


def _interrupted(first):
    yield first
    raise KeyboardInterrupt


def test_what_was_computed_is_kept_where_that_is_asked_for(dump, where):
    def kept(**more):
        return [s.tensors for s in Validation(dump, inputs(), expected(), Options(**where, **more)).results()]

    assert kept() == [{}] * 5
    first, second, third, *_ = kept(keep_tensors=True)
    assert torch.equal(first["out"], expected()["out"]) and torch.equal(second["out"], expected()["out"])
    assert torch.equal(third["out"].view(4, 16, 32)[:, 8:], 3 * inputs()["x"].view(4, 16, 32)[:, 8:])


class DyingAt(Executor):
    """Passes tasks on, but the one of this number ends its process."""

    def __init__(self, executor, number):
        self.executor, self.number, self.jobs = executor, number, 1

    def submit(self, fn, /, *args, **kwargs):
        self.number -= 1
        return self.executor.submit(*((fn, *args) if self.number != -1 else (os._exit, 9)), **kwargs)


@pytest.mark.parametrize(("number", "kind"), [(2, "unreadable"), (3, "script")])
def test_a_process_that_dies_costs_one_stage(tmp_path, pool, number, kind):
    write_dump(tmp_path, GOOD, scaled_text(2.0000001), scaled_text(2.0000002))
    options = Options(executor=DyingAt(pool, number))
    results = list(Validation(tmp_path, inputs(), expected(), options).results())
    assert [stage.passed for stage in results] == [True, False, True]
    failure = results[1].failure
    assert failure is not None and failure.kind == kind
    assert failure.text == "error[worker]: the worker process ended with exit code 9"


def test_the_options_are_those_of_the_function():
    keywords = set(inspect.signature(validate_pass_ir_codegen_results).parameters)
    assert keywords - {"ir_dir", "tensors", "expected", "stop_at_first", "report"} == set(
        inspect.signature(Options).parameters
    ) - {"template_dirs", "keep_tensors", "keep_for_report"}


MIXED = Path(__file__).resolve().parents[2] / "corpus" / "dumps" / "mixed_c2v_up_down" / "Ascend910B"


@pytest.mark.corpus
def test_a_deadlock_names_the_lines_of_the_dump(tmp_path, where):
    """Without the push of the cube core its lanes wait for ever."""
    text = (MIXED / "22_after_ExpandMixedKernel.py").read_text()
    lines = [line for line in text.splitlines() if "tpush_to_aiv" not in line]
    assert len(lines) == len(text.splitlines()) - 1
    (tmp_path / "22_after_ExpandMixedKernel.py").write_text("\n".join(lines))
    tensors = {"a": torch.zeros(32, 64), "b": torch.zeros(64, 256), "c": torch.zeros(32, 256)}
    with pytest.raises(AssertionError) as caught:
        check(tmp_path, tensors, {"c": torch.zeros(32, 256)}, **where)
    pop = next(number for number, line in enumerate(lines, start=1) if "tpop_from_aic" in line)
    found = [line for line in str(caught.value).splitlines() if "pop_from_aic" in line and "missing" in line]
    assert len(found) == 2  # one for each lane
    assert all(f"(from {tmp_path / '22_after_ExpandMixedKernel.py'}:{pop})" in line for line in found)
